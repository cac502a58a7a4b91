"""Runs of a System: one, or many, and the states they start from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from linkwright.errors import UsageError, call_explained
from linkwright.motion.compiled import Compiled
from linkwright.numerics.pickling import essentials
from linkwright.results.state import State

if TYPE_CHECKING:
    from linkwright.results.derivatives import MotionDerivatives
    from linkwright.results.trajectory import Trajectory
    from linkwright.simulation.options import Options
    from linkwright.simulation.single_steps import Stepping
    from linkwright.simulation.stepper import Stepper


class Runs:
    """Simulations of a compiled mechanism."""

    __getstate__ = essentials

    def __init__(self, core: Compiled):
        self.core = core

    def one(self, st: State, duration: Any, options: Options) -> Trajectory:
        """See `System.simulate`."""
        from linkwright.simulation import simulate

        self.core.need_start(st, options.off, options.free is None)
        return simulate(self.core, st, duration, options)

    def derivatives(self, run: Trajectory, by: str | Sequence[str], of: str | None, at: Any) -> MotionDerivatives | dict[str, float]:
        """See `Trajectory.derivatives`."""
        if of is not None:
            from linkwright.simulation.run_adjoint import run_gradient

            return run_gradient(self.core, run, by, of, at)
        from linkwright.simulation.run_derivatives import run_derivatives

        return run_derivatives(self.core, run, by)

    @cached_property
    def step(self) -> Stepping:
        """See `System.step`."""
        from linkwright.simulation.single_steps import Stepping

        return Stepping(self.core)

    def stepper(self, n: int, options: Mapping[str, Any]) -> Stepper:
        """See `System.stepper`."""
        from linkwright.simulation.stepper import Stepper

        return call_explained(Stepper, "stepper")(self.core, n, **options)

    def start(self, drive: Mapping[str, Any]) -> State:
        """See `System._starting`."""
        from linkwright.drives import prescribed

        start = self.core.start
        moved = prescribed(self.core, drive, start)
        if not moved:
            return start
        speeds = {k.removesuffix(".v"): v for k, v in self.core.description.start if k.endswith(".v")}
        there = {name: value for name, (value, _) in moved.items() if abs(value - float(start[name])) > 1e-12}
        return self.core.assembler.assemble(there, {**speeds, **{name: speed for name, (_, speed) in moved.items()}})


def chosen_drives(system: Any, drive: Mapping[str, Any] | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Drives of a run: those given, or those of the file without the ones that a controller takes."""
    from linkwright.drives import drives_of_description

    if drive is not None and not isinstance(drive, Mapping):
        raise UsageError(f"drive is a dict by joint name, drive={{'A': lw.drives.torque('2 N m')}}, not {drive!r:.60}.")
    chosen = drives_of_description(system.described) if drive is None else dict(drive)
    if drive is None and options.get("control") is not None:
        given = getattr(options["control"], "drives", None)
        taken = list(chosen) if given is None else [given] if isinstance(given, str) else list(given)
        chosen = {name: d for name, d in chosen.items() if name not in taken}
    return chosen
