"""Forward dynamics in time: `simulate` and everything a run consists of.

options.py      options of a run, listed              option_checks.py  their values, checked
run.py          modes, events, the loop
mode_switching.py   what events do, impacts            run_records.py   rows -> Trajectory
certificate_evidence.py   accepted steps               passages.py      singular positions on the way
run_end.py      the end of a run, its proof            certificate.py   its summary, passed or not
accuracy.py     its error, estimated by cheaper runs   run_derivatives.py, run_adjoint.py   derivatives by numbers of the model
run_batch.py    many runs at once                      stepper.py       one step, many mechanisms (single_steps.py: one)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwright.motion.compiled import Compiled
    from linkwright.results.state import State
    from linkwright.results.trajectory import Trajectory
    from linkwright.simulation.options import Options
    from linkwright.simulation.run import Simulation


def simulate(system: Compiled, st: State, duration: Any, options: Options) -> Trajectory:
    """The motion from a state; see `System.simulate`."""
    from dataclasses import replace

    from linkwright.simulation.accuracy import Rerun
    from linkwright.simulation.run import simulation
    from linkwright.simulation.run_end import finished

    def make(other: State | None = None, **changed: Any) -> Simulation:
        return simulation(system, st if other is None else other, duration, replace(options, **changed))

    sim = make()
    return finished(sim, Rerun(make, sim.options.method), options.certify)
