"""A state of a mechanism on its loops: positions and velocities of every joint, cut or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.errors import calls_explained
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Skeleton, body_jacobian, counted_references, motion
from linkwright.numerics.memory_and_threads import essentials
from linkwright.properties import cached_property
from linkwright.results.channels import Channels
from linkwright.results.channels.channel_list import ChannelList


class LaterReferences(Mapping[str, np.ndarray]):
    """Reference coordinates of every joint at q, counted from a packed row of another position on first use."""

    def __init__(self, skel: Skeleton, q: np.ndarray, row: np.ndarray):
        self.skel, self.q, self.row = skel, q, row

    @cached_property
    def found(self) -> dict[str, np.ndarray]:
        return counted_references(self.skel, self.q, self.skel.unpack(self.q, self.row))

    def __getitem__(self, name: str) -> np.ndarray:
        return self.found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __reduce__(self) -> Any:
        return dict, (self.found,)


@calls_explained
@dataclass(frozen=True)
class State:
    """A position with velocities: q and v of the tree joints, with the counted turns of the cut joints. Read anything with `st["A.v"]`."""

    __getstate__ = essentials

    skel: Skeleton = field(repr=False)
    q: np.ndarray
    v: np.ndarray
    references: Mapping[str, Any] = field(repr=False)
    t: float = 0.0
    a: np.ndarray | None = field(default=None, repr=False)  # known for states of a cycle or a run
    origin: np.ndarray | None = field(default=None, repr=False)  # q from which turns of bodies are counted; None: angles within +-pi

    @classmethod
    def of(cls, at: Instant) -> State:
        """The state at an instant."""
        st = cls(at.skel, at.q, at.v, at.references, at.t, at.a)
        vars(st)["instant"] = at
        if at.channels is not None:
            vars(st)["_channels"] = at.channels()  # a table of closures: made once, not in every stage
        return st

    @cached_property
    def instant(self) -> Instant:
        return Instant(self.skel, self.q, self.v, self.t, self.references, self.a)

    @cached_property
    def _channels(self) -> Channels:
        return Channels(self.skel)

    @property
    def channels(self) -> ChannelList:
        """Return the names that can be read. They print as a table with units and meanings, and `st.channels("speed")` filters them."""
        d = self.skel.tree.description
        return ChannelList(self._channels.names, self._channels.__getitem__, d.units, repr(d.name))

    def _ipython_key_completions_(self) -> list[str]:
        """Names after `st["` and Tab."""
        return self._channels.names

    def __getitem__(self, key: str | tuple[str, str]) -> Any:
        """`st["A"]` in SI, `st["A", "deg"]` in a unit."""
        name, unit = (key, None) if isinstance(key, str) else key
        channel = self._channels[name]
        value = channel.read(self.instant)
        if channel.winds is not None and self.origin is not None:
            value = wound(self.skel, self.origin, self.q, value, channel.winds)
        return value if unit is None else value / channel.size_of(unit)


def wound(skel: Skeleton, origin: np.ndarray, q: np.ndarray, angle: Any, node: int) -> Any:
    """Whole turns added to the angle of a body in the plane: it is a sum of joint coordinates q, counted from the `origin`."""
    m = motion(skel, origin, np.zeros(skel.tree.nv))
    R = m.X[node].R
    counted = np.arctan2(R[1, 0], R[0, 0]) + (q - origin) @ body_jacobian(skel, m, node)[2]
    return angle + 2.0 * np.pi * np.rint((counted - angle) / (2.0 * np.pi))
