"""Forward dynamics in time: `simulate` and everything a run consists of.

options.py      what a run is told, checked            run.py           modes, events, the loop
switching.py    what events do, impacts                recording.py     rows -> Trajectory
evidence.py     accepted steps, looked at afterwards   passages.py      singular positions on the way
finish.py       the end of a run, its proof            certificate.py   the verdict
batch.py        many runs at once                      verbs.py         s.simulate, s.simulate_batch
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwright.simulation.switching import engage, lock, release, unlock, when

if TYPE_CHECKING:
    from linkwright.compiled import Compiled
    from linkwright.results import Trajectory
    from linkwright.state import State


def simulate(system: Compiled, st: State, duration: Any, *, certify: bool = False, **options: Any) -> Trajectory:
    """The motion from a state; see `System.simulate`."""
    from linkwright.simulation.finish import finished
    from linkwright.simulation.run import simulation

    sim = simulation(system, st, duration, **options)
    again = (lambda **other: simulation(system, st, duration, **{**options, **other})) if certify else None
    return finished(sim, again)


__all__ = ["engage", "lock", "release", "simulate", "unlock", "when"]
