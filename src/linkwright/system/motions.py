"""Motions of a System that need no time stepping: cycles, motions along paths, ranges of joints, static equilibria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics.closing.mobility import Mobility, mobility
from linkwright.model.curves.lines import Line
from linkwright.model.file import quantity
from linkwright.model.file.units import KINDS
from linkwright.motion import cycle
from linkwright.motion.compiled import Compiled
from linkwright.motion.following import follow, sample_times
from linkwright.motion.statics import settle
from linkwright.numerics.pickling import essentials
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory

MOST_STEPS = 100_000


class Motions:
    """Motions and ranges of a compiled mechanism."""

    __getstate__ = essentials

    def __init__(self, core: Compiled):
        self.core = core

    @cached_property
    def mobility(self) -> Mobility:
        """See `System.mobility`."""
        return mobility(self.core.loops, self.core.start.q, dict(self.core.start.near))

    def turn(self, drive: str | None, steps: int, speed: Any, duration: Any) -> Trajectory:
        """See `System.turn`."""
        core = self.core
        if not isinstance(steps, int) or isinstance(steps, bool) or not 2 <= steps <= MOST_STEPS:
            raise UsageError(f"steps must be a whole number from 2 to {MOST_STEPS}, not {steps!r}.")
        here = core.start.instant
        if drive is not None:
            core.need_drive(drive)
        lead = drive or cycle.plan(core.loops, here, None, None).lead
        kind = "angular speed" if cycle.is_rotary(core.description, lead) else "speed"
        value = None if speed is None else quantity(speed, KINDS[kind])
        seconds = None if duration is None else quantity(duration, KINDS["time"])
        return cycle.turn(core.loops, here, drive, steps=steps, speed=value, duration=seconds)

    def follow(self, motion: Mapping[str, Any], t: Any, duration: Any, steps: int, drives: Sequence[str]) -> Trajectory:
        """See `System.follow`."""
        return follow(self.core.assembler, self.core.start, motion, sample_times(t, duration, steps, MOST_STEPS), drives)

    def settled(self, start: State | None, hold: Sequence[str]) -> State:
        """See `System.settle`."""
        core = self.core
        core.kernels.need_masses()
        st = core.start if start is None else start
        held = [cycle.driven(core.description, n, Line(cycle.coordinate_now(core.loops, n, st.instant), 0.0)) for n in hold]
        return settle(core, State(core.skel, st.q, np.zeros(core.tree.nv), st.near, st.t), held)

    def jacobian(self, st: State, of: str, wrt: str | Sequence[str]) -> np.ndarray:
        """See `System.jacobian`."""
        names = self.core.drive_names if wrt == "drives" else [wrt] if isinstance(wrt, str) else list(wrt)
        for name in names:
            self.core.need_drive(name)
        return self.core.assembler.jacobian(st, of, names)

    def limits(self, joint: str) -> cycle.Limits:
        """See `System.limits`."""
        self.core.need_drive(joint)
        others = [name for name in self.core.drive_names if name != joint]
        return cycle.limits(self.core.loops, self.core.start.instant, joint, others[: max(0, self.mobility.freedoms - 1)])
