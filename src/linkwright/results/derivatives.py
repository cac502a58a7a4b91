"""Derivatives of a motion by parameters of the model: every channel, over all samples.

    d = c.derivatives(["L1", "crank.mass"])        d["A.torque", "L1"]   (n,)        d["coupler.P"]   (n, 2, 2), parameters last

How positions, velocities, accelerations and loads change is known (`q`, `v`, `a`, `lam`, `u`); a channel is a function of these and of
the numbers themselves. It is read once on symbols, and its program is differentiated in forward mode over arrays of all samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.known_motion import Acted
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.numerics.memory_and_threads import essentials
from linkwright.results.channel_programs import Batch, ChannelGraph, Structure
from linkwright.results.channels import Channel, Channels
from linkwright.results.composed_channels import composed_slopes
from linkwright.results.cycle_loads import LoadSymbols
from linkwright.results.driven_channels import MotionChannels
from linkwright.results.driven_readings import MotionReading, slopes_held
from linkwright.results.driven_samples import HeldMotion
from linkwright.results.records import cut_rows
from linkwright.results.trajectories import NamedDerivatives
from linkwright.results.undefined_derivatives import refused

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class MotionDerivatives(NamedDerivatives):
    """Derivatives of the channels of a motion. Samples without an answer (`ok` is False) are NaN; `why` has the reasons.

    A single channel may have no derivative at a sample that has others, such as a speed at rest: it is NaN, and `undefined` has the reason.
    """

    __getstate__ = essentials

    motion: Trajectory = field(repr=False)
    names: tuple[str, ...]  # of the parameters
    values: np.ndarray
    varied: Callable[[Any], Loops] = field(repr=False)  # the loops with (traced) values of the parameters
    q: np.ndarray  # (n, nv, parameters), in the space of v
    v: np.ndarray
    a: np.ndarray
    efforts: Mapping[str, np.ndarray]  # by drive, (n,): what acted
    lam_values: np.ndarray | None = None  # (n, nc)
    u: np.ndarray | None = None  # (n, drives, parameters); None where loads are not known
    lam: np.ndarray | None = None
    wrench: np.ndarray | None = None  # (n, joints, 6, parameters)
    recorded: Mapping[str, np.ndarray] = field(default_factory=dict)  # derivatives of recorded channels
    why: Mapping[int, str] = field(default_factory=dict)
    unloaded: str = "without loads"  # why u is None
    sizes: np.ndarray = field(default_factory=lambda: np.ones(1), repr=False)  # of the parameters: changes that count as one
    kernels: Any = field(default=None, repr=False)  # whose free numbers are the parameters: channels are traced once for all their motions
    strict: bool = True  # derivatives that do not exist are NaN; else of a kink some value between those of its sides

    def __repr__(self) -> str:
        return f"<Derivatives of {self.motion!r} by {', '.join(self.names)}>"

    @property
    def ok(self) -> np.ndarray:
        """Mask of the samples that have derivatives."""
        out = np.ones(len(self.motion), dtype=bool)
        out[list(self.why)] = False
        return out

    def read(self, channels: Sequence[str]) -> dict[str, np.ndarray]:
        """Derivatives of several channels, (n, ..., parameters) each."""
        wanted = {name: self._channel(name) for name in channels if name not in self._known}
        missing = [name for name in wanted if name not in self._known]
        held = [wanted[name] for name in missing if wanted[name].needs]
        if held:
            self._known.update(self._of_held(held))
            missing = [name for name in missing if name not in self._known]
        if missing:
            found = self._batch.slopes([wanted[name] for name in missing], self._changes)
            found |= self._composed([wanted[name] for name in missing if name not in found])
            for name in missing:
                if name not in found:
                    raise UsageError(
                        f"channel '{name}' chooses between formulas and has no derivative here. Use the channels it is made of.", name=name
                    )
                self._known[name] = found[name]
        for name in (n for n in channels if self.strict and n not in self._undefined):
            self._refuse(name)
        return {name: self._known[name] for name in channels}

    def undefined(self, channel: str) -> dict[int, str]:
        """Return the samples at which a channel has no derivative, each with the reason; its derivatives are NaN there."""
        self.read([channel])
        return {**self._undefined.get(channel, {}), **self.why}

    def _refuse(self, name: str) -> None:
        """NaN where the derivative of a channel does not exist or has no digits."""
        channel = self.motion._channel(name)
        self._known[name], why = refused(self.motion.read([name])[name], self._known[name], self.sizes, channel.kink)
        self._undefined[name] = {i: f"'{name}': {text}" for i, text in why.items() if i not in self.why}

    def need(self, channels: Sequence[str]) -> None:
        """Raise UsageError for channels that have no derivatives here."""
        for name in channels:
            self._channel(name)

    def slopes(self, name: str, read: Callable[[Instant], Any]) -> np.ndarray | None:
        """Derivatives of anything that is read from an instant, (n, ..., parameters); None where that needs numbers."""
        return self._batch.slopes([Channel(name, "none", read)], self._changes).get(name)

    def _composed(self, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        """Derivatives of channels that are made of several quantities."""
        made = {c.name: c for c in channels if c.raw is not None and c.cook is not None}
        if not made:
            return {}
        raw = {name: Channel(f"raw {name}", "none", c.raw) for name, c in made.items() if c.raw is not None}
        slopes, values = self._batch.slopes(list(raw.values()), self._changes), self._batch.values({c.name: c.read for c in raw.values()})
        known = {name: c.name for name, c in raw.items() if c.name in slopes and c.name in values}
        return {name: composed_slopes(made[name], values[key], slopes[key]) for name, key in known.items()}

    def _of_held(self, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        """Derivatives of jerks, advantages and transmissions by force, whose terms are solved for."""
        c, moving, out = self.motion, MotionReading(self.motion), dict[str, np.ndarray]()
        changes = {name: x for name, x in self._changes.items() if name in ("q", "v", "a", "parameters")}
        for some, held, third in moving.groups(channels):
            motion = HeldMotion(c.frame, self._rows, held, third, self._graph)
            table = MotionChannels(self._graph.loops, held)
            out |= slopes_held(motion, [table[x.name] for x in some], changes)
        return out

    @cached_property
    def _undefined(self) -> dict[str, dict[int, str]]:
        """Samples without a derivative of the channels read so far."""
        return {}

    @cached_property
    def _known(self) -> dict[str, np.ndarray]:
        """Channels read so far."""
        return dict(self.recorded)

    def _channel(self, name: str) -> Channel:
        self.motion._channel(name)  # says what is meant, if there is none
        if name in self._table:
            return self._table[name]
        found = self.motion._channel(name)
        if found.needs:
            return found
        if name in self.motion._load_channels:
            raise UsageError(f"channel '{name}' has no derivatives here: {self.unloaded}.", name=name)
        raise UsageError(f"channel '{name}' was recorded and is not a function of the state: it has no derivative.", name=name)

    @cached_property
    def _table(self) -> Channels:
        """Channels on the skeleton whose numbers are symbols."""
        loads = {} if self.u is None else LoadSymbols.of(self._graph, self.motion.frame, tuple(self.efforts)).channels
        return Channels(self._graph.skel, {name: x for name, x in loads.items() if name in self.motion._load_channels})

    @cached_property
    def _rows(self) -> dict[str, np.ndarray]:
        c = self.motion
        rows = {"q": c.q, "v": c.v, "a": c.a, "t": c.t[:, None], "near": cut_rows(c.skel, c.references)}
        return {**rows, "parameters": np.tile(self.values, (len(c), 1))}

    @cached_property
    def _graph(self) -> ChannelGraph:
        if self.kernels is not None:
            return ChannelGraph.shared(self.motion.frame, Structure(self.kernels, self.varied, self.values), self._rows)
        return ChannelGraph(self.motion.frame, frozenset(("a", "near")), self.varied, len(self.values))

    @cached_property
    def _batch(self) -> Batch:
        acted = None if self.lam_values is None else Acted(self.lam_values, self.efforts, {})
        return Batch(self.motion.frame, self._rows, acted, self._graph)

    @cached_property
    def _changes(self) -> dict[str, np.ndarray]:
        """Derivatives of the rows, (n, entries, parameters)."""
        n, size = len(self.motion), len(self.names)
        out = {"q": self.dq, "v": self.v, "a": self.a, "parameters": np.broadcast_to(np.eye(size), (n, size, size))}
        if self.u is not None and self.lam is not None:
            out["lam"] = self.lam
            out |= {f"effort {name}": self.u[:, i : i + 1] for i, name in enumerate(self.efforts)}
        return out

    @cached_property
    def dq(self) -> np.ndarray:
        """Derivatives of the coordinates themselves, quaternions included: (n, nq, parameters)."""
        skel = self.motion.skel
        if skel.tree.nq == skel.tree.nv:
            return self.q
        moved = [[qdot(skel, q, step) for step in steps.T] for q, steps in zip(self.motion.q, self.q, strict=True)]
        return np.array(moved).transpose(0, 2, 1)
