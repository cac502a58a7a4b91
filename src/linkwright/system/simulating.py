"""The simulating side of a System: one run, or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import SimulationError, UsageError, nearest
from linkwright.results.state import State
from linkwright.simulation.compiled import Compiled

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory
    from linkwright.simulation.batch import BatchRun


OPEN = 1e-6  # dimensionless gap of speeds above which a state is not on the loops


class Simulating(Compiled):
    """What System gains by time loops."""

    if TYPE_CHECKING:

        def _ready(self, st: State, off: Any, closed: bool) -> None: ...
        def _with_source(self, run: Trajectory) -> Trajectory: ...

    def simulate(
        self,
        st: State,
        duration: Any,
        *,
        drive: Mapping[str, Any] | None = None,
        control: Any = None,
        integrator: Any = "dopri",
        step: Any = None,
        tolerance: float = 1e-9,
        stabiliser: Any = "project",
        output: Any = None,
        **options: Any,
    ) -> Trajectory:
        """Simulate from a state, for `duration` seconds.

        drive: by joint or cylinder, lw.torque, lw.speed, lw.position or lw.voltage each; what is not named moves freely.
        control: lw.pd, lw.projected, lw.hybrid, lw.inverse_dynamics or lw.lqr(...), which drives the joints it names.
        integrator: "dopri" (adaptive, order 8; order 5 for tolerances from 1e-5 on), "rk4" (fixed step), "rodas" (stiff), or a Method of
        linkwright.integrators.
        step: the fixed step, or the first one. tolerance: relative to the size of states, per step.
        stabiliser: "project", "none", "baumgarte", "post_adjust", lw.baumgarte(...), or several.
        output: seconds between samples, times, or "steps"; 500 intervals if nothing is said.

        Further options: `formulation` (sslm, slm, kkt, ..., or an object), `events` (lw.when(...)), `off` (constraints switched off at the
        start), `wrench` (by body), `free` (values of free parameters), `actuators`, `noise`
        and `delay` (of a controller: lw.actuator, lw.noise, seconds), `certify=True` (runs again with half the step and
        states the error), `engine` ("native" or "python"), `progress` (True, False, or a function of t), `largest_step`,
        `smallest_step`, `most_steps`. An interrupt from the keyboard gives what was computed so far; a run that cannot continue
        raises SimulationError, which holds it as `run`.
        """
        from linkwright.simulation import simulate

        self._checked(st, options.get("off", ()), options.get("free") is None)
        given = {
            "drive": drive,
            "control": control,
            "integrator": integrator,
            "step": step,
            "tolerance": tolerance,
            "stabiliser": stabiliser,
        }
        try:
            return self._with_source(simulate(self, st, duration, output=output, **_known(given, options)))
        except SimulationError as problem:  # what there is has its loads too
            if problem.run is not None and problem.run.source is None:
                problem.run = self._with_source(problem.run)
            raise

    def simulate_batch(self, states: Sequence[State] | State, duration: Any, *, threads: int | None = None, **options: Any) -> BatchRun:
        """Simulate many runs: from several states, or with several sets of free parameters (`free`: rows, or arrays by name).

        Options as in `simulate`, without events. Every run is the same bit by bit as if it were done alone.
        """
        from linkwright.simulation.batch import simulate_batch

        given = [states] if isinstance(states, State) else list(states)
        if given:
            self._checked(given[0], (), options.get("free") is None)
        return simulate_batch(self, states, duration, threads=threads, **_known({}, options))

    def starting(self, drive: Mapping[str, Any]) -> State:
        """The start of a run: that of the file, with prescribed motions at their own position and speed."""
        from linkwright.drives import prescribed

        told = prescribed(self, drive, self.start)
        if not told:
            return self.start
        speeds = {k.removesuffix(".v"): v for k, v in self.description.start if k.endswith(".v")}
        there = {name: value for name, (value, _) in told.items() if abs(value - float(self.start[name])) > 1e-12}
        return self.assembler.assemble(there, {**speeds, **{name: speed for name, (_, speed) in told.items()}})

    def _checked(self, st: State, off: Any, closed: bool) -> None:
        """That a run can start here: masses, closed loops, and a velocity along them."""
        self._ready(st, off, closed)
        if not closed or off or not len(self.loops.row_scale):
            return
        c = self.loops.at(st.q, st.v, st.t, st.near)
        gap = np.abs((c.J @ st.v + c.b) / self.loops.row_scale).max() / max(1.0, np.abs(st.v / self.loops.columns).max())
        if not gap < OPEN:
            raise UsageError(
                f"the velocity of this state tears the loops apart ({gap:.2g} of its size); s.assemble(v=...) completes speeds."
            )


OPTIONS = (
    "drive", "control", "actuators", "noise", "delay", "integrator", "step", "tolerance", "stabiliser", "output", "formulation", "events",
    "off", "wrench", "free", "certify", "engine", "progress", "largest_step", "smallest_step", "most_steps",
)  # fmt: skip


def _known(given: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """All options, or an error that names the nearest one."""
    for name in options:
        if name not in OPTIONS:
            raise UsageError(f"simulate has no option '{name}'. {nearest(name, OPTIONS, 'Options')}")
    return {**given, **options}
