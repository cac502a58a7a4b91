"""Motions of a System that need no time stepping: cycles, motions along paths, ranges of joints, static equilibria."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
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
KEPT = 4  # turns of a mechanism
MOST_KEPT = 3600  # steps of a turn that is kept: larger ones need much memory


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
        if drive is not None:
            core.need_drive(drive)
        value = None if speed is None else quantity(speed, KINDS[self._kind_of_speed(drive)])
        seconds = None if duration is None else quantity(duration, KINDS["time"])
        if steps > MOST_KEPT:
            return self._computed_turn(drive, steps, value, seconds)
        start = core.start.q.tobytes(), core.skel.pack(core.start.near).tobytes()
        return _with_own_arrays(self._kept_turn(drive, steps, value, seconds, start))

    def _kind_of_speed(self, drive: str | None) -> str:
        lead = drive or cycle.plan(self.core.loops, self.core.start.instant, None, None).lead
        return "angular speed" if cycle.is_rotary(self.core.description, lead) else "speed"

    @cached_property
    def _kept_turn(self) -> Callable[..., Trajectory]:
        """The turns computed last: pages, reports and summaries of one mechanism share them."""
        return lru_cache(KEPT)(self._computed_turn)

    def _computed_turn(self, drive: str | None, steps: int, speed: float | None, seconds: float | None, start: Any = None) -> Trajectory:
        """Compute a turn; `start` only distinguishes turns from different positions."""
        return cycle.turn(self.core.loops, self.core.start.instant, drive, steps=steps, speed=speed, duration=seconds)

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


def _with_own_arrays(c: Trajectory) -> Trajectory:
    """Copy the samples, so that writing into them changes no other turn."""
    near = [{name: x.copy() for name, x in one.items()} for one in c.near]
    arrays = {name: x.copy() for name, x in c.arrays.items()}
    return replace(c, t=c.t.copy(), q=c.q.copy(), v=c.v.copy(), a=c.a.copy(), near=near, arrays=arrays)
