"""Channels of a motion of the drives as one kernel: names are read on symbols, for many designs and with exact derivatives.

Positions, speeds, accelerations, energies and loads are read as at any instant (`results.channels`, `results.load_channels`). A channel
that chooses between formulas is read as its `raw` quantities and made of them afterwards; whole turns of bodies are counted afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.compiler.graph import Sym, TracingError
from linkwright.kernels.channel_program import ReadingKernel, ReadPlace, hidden
from linkwright.kernels.source_modules import digest
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.known_motion import Acted, loads_of_known_motion
from linkwright.mechanics.inverse.loads import Loads
from linkwright.mechanics.kinematics.motion import node_motion, pose_of
from linkwright.model.coordinates import lengths
from linkwright.model.parameters import Parameter, with_values
from linkwright.motion.driven_terms import HeldTerms
from linkwright.results.channel_programs import UNTRACEABLE
from linkwright.results.channels import Channel, Channels
from linkwright.results.driven_channels import MotionChannels
from linkwright.results.load_channels import load_channels
from linkwright.results.state_loads import KernelLoads
from linkwright.results.trajectories import STATE

if TYPE_CHECKING:
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels

DETERMINANT = "determinant"  # of the driven Jacobian, every pivot against its typical size: its sign is that of the branch
CANNOT = (TracingError, *UNTRACEABLE)


class ChannelTables:
    """Channels by name from two tables."""

    def __init__(self, first: Channels, second: Mapping[str, Channel]):
        self._tables: tuple[Any, ...] = (first, second)

    def __contains__(self, name: object) -> bool:
        return any(name in table for table in self._tables)

    def __getitem__(self, name: str) -> Channel:
        return next(table[name] for table in self._tables if name in table)


@dataclass(frozen=True, eq=False)
class ChannelReading:
    """Channels of the mechanism whose `chosen` numbers are inputs, moved by these drives, differentiated by some of the numbers."""

    kernels: Kernels
    chosen: tuple[Parameter, ...]
    drives: tuple[str, ...]
    by: tuple[int, ...] = ()
    moving: frozenset[str] = frozenset()  # drives whose constant speeds are written with these numbers

    def kernel(self, names: Sequence[str]) -> Kernel:
        """The kernel of those of the named channels that can be read on symbols: they are its outputs."""
        made = self._made(tuple(names))
        try:
            _ = made.inputs  # code from the disk, or traced now
        except CANNOT:
            return self._made(tuple(name for name in names if self._traceable(name)))
        return made

    def _made(self, names: tuple[str, ...]) -> Kernel:
        loads = any(name in self.load_names for name in names)
        speeds = self._speeds if self.moving and self.by else None
        reading = ReadingKernel(self.kernels, self.drives, lambda place: self.read(place, names), loads, self.by, speeds)
        return reading.kernel(["channels", list(names), sorted(self.moving), digest("motion.readings")])

    def _traceable(self, name: str) -> bool:
        try:
            return self._made((name,)).program.n_out > 0
        except CANNOT:
            return False

    @cached_property
    def load_names(self) -> frozenset[str]:
        return frozenset(load_channels(self.kernels.tree.description, self.drives))

    def _speeds(self, parameters: Any) -> list[Any]:
        """Speeds of the drives for symbols of the numbers; 0 for those that do not depend on them."""
        every = {d.joint: d.value for d in with_values(self.kernels.described, self.chosen, list(parameters)).drives}
        return [every[name] if name in self.moving and isinstance(every[name], Sym) else 0.0 for name in self.drives]

    def read(self, p: ReadPlace, names: Sequence[str]) -> dict[str, Any]:
        """Named quantities on symbols."""
        skel = p.eq.loops.skel
        at = Instant(skel, p.q, p.v, p.t[0], skel.unpack(p.q, p.near), p.a, loops=p.eq.loops, solver=lambda at: self._loads(p, at))
        at.terms = HeldTerms(p, at)
        table, out = self.channels(p.eq.loops), {}
        for name in names:
            if name in STATE:
                out[name] = p.eq.counted(p.q, p.near) if name == "state near" else getattr(p, STATE[name])
            elif name == DETERMINANT:
                out[name] = p.eq.branch_determinant(p.q, p.near)
            else:
                if name not in table:
                    raise TracingError(f"channel '{name}' cannot be read here", name=name)
                c = table[name]
                out[name] = np.asarray((c.raw or c.read)(at), dtype=object)
                formula = self._formula(c, at) if self.by and c.raw is not None else None
                if formula is not None:
                    out[hidden(name)] = formula
        return out

    def channels(self, loops: Loops) -> ChannelTables:
        """Every channel of the mechanism, on numbers or on symbols."""
        own = Channels(loops.skel, load_channels(loops.skel.tree.description, self.drives))
        return ChannelTables(own, MotionChannels(loops, self.drives) if self._held else {})

    @property
    def _held(self) -> bool:
        """True if terms of the motion that drives hold follow from the kernels' rows: of joints, none of them redundant."""
        distances = lengths(self.kernels.tree.description)
        return self.kernels.plan.keep is None and not distances.keys() & set(self.drives)

    def _formula(self, c: Channel, at: Instant) -> Any:
        """A channel that is made of other quantities as one formula, to be differentiated; None where it chooses between several."""
        try:
            return np.asarray(c.read(at), dtype=object)
        except CANNOT:
            return None

    def _loads(self, p: ReadPlace, at: Instant) -> Loads:
        """Loads of known multipliers and efforts: reactions by recursion, anything else when it is asked for."""
        skel, m = at.skel, at.motion
        seconds = [(skel.node(j.second), j) for j in skel.tree.description.joints]
        points = [(node_motion(skel, m, i)[0] @ pose_of(j.frame_second)).p + skel.origin(i) for i, j in seconds]
        wrench = p.eq.wrenches(p.q, p.v, p.a, p.lam, p.u, p.t, p.near)["wrench"]
        acted = Acted(p.lam, dict(zip(self.drives, p.u, strict=True)), {})

        def whole() -> Loads:
            found = loads_of_known_motion(at.loops, at.q, at.v, at.known_a, at.t, at.references, acted)
            return replace(found, u=p.u)

        found = SimpleNamespace(u=p.u, wrench=wrench, point=points)
        return KernelLoads(at.loops, at, self.drives, found, whole)
