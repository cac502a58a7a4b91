"""Five seconds of free motion of the carpet scraper: the run every program is asked to do, and what its end is judged by.

The crank starts at 0 with 4.7124 rad/s and nothing drives it. The angle at the end is compared with a run of ours at tolerance
1e-13, which itself has to meet the angles that quadrature of the energy gave with 34 digits, and to repeat after its period.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.bench.cases import SETTINGS, BenchCase, BenchRow
from linkwright.api import compiled_of
from linkwright.errors import LinkwrightError
from linkwright.integrators import Solution, integrate
from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.simulation import time_stepping
from linkwright.system.system import System

MECHANISM, ANGLE, QUANTITY = "carpet-scraper", "J1", "run"
DURATION = 5.0
TIGHT = 1e-13
PRINTED = ((0.1, 0.54200573664415776955), (0.5, 2.8431082051077173436), (1.0, 1.4350053445717531559))  # t, angle of the crank
PERIOD = 1.6468574063786907
DOUBT = 1e-11  # rad the tight run may differ from those; it differs by 1e-13


@dataclass(frozen=True)
class FreeRun:
    """The scraper at its start, how long it runs, and the angle and energy its end must have."""

    case: BenchCase
    duration: float
    setup: time_stepping.Setup = field(repr=False)
    start: np.ndarray = field(repr=False)
    angle: float
    doubt: float  # rad: how far the tight run is from what is known otherwise
    energy: float

    def go(self, tolerance: float, samples: Any = None) -> Solution:
        """The native loop alone, output at the end only."""
        return integrate(
            self.setup.problem, self.start, 0.0, self.duration, tolerance=tolerance, samples=[self.duration] if samples is None else samples
        )

    @property
    def index(self) -> int:
        return self.case.system.names.q.index(ANGLE)

    def judged(self, q: Any, v: Any) -> tuple[float, float]:
        """(error of the angle, change of energy) at the end of a run, coordinates in our order."""
        q, v = np.asarray(q, float), np.asarray(v, float)
        return abs(float(q[self.index]) - self.angle), energy(self.case.system, q, v) - self.energy

    def judged_state(self, y: Any) -> tuple[float, float]:
        nq = len(self.case.state.q)
        return self.judged(y[:nq], y[nq : nq + len(self.case.state.v)])

    def row(self, engine: str, number: str, judged: tuple[float, float], more: str = "") -> BenchRow:
        """A row still without its time; the note has the energy."""
        note = f"energy drift {abs(judged[1]):.0e} J"
        return BenchRow(engine, number, self.case.name, QUANTITY, accuracy=judged[0], note=f"{note}, {more}" if more else note)


def energy(system: System, q: np.ndarray, v: np.ndarray) -> float:
    """Kinetic and potential energy of a state, its loops closed or not."""
    found = system.kernel("energy")(q, v)
    return float(np.ravel(found.kinetic)[0] + np.ravel(found.potential)[0])


def free_run(duration: float = DURATION) -> FreeRun:
    """The mechanism, its time stepper, and the reference."""
    setting = SETTINGS[MECHANISM]
    system = System(modelfile.read(models.path(MECHANISM)))
    state = system.assemble(q=setting.q, v=setting.v)
    case = BenchCase(MECHANISM, system, state, {}, system.forward(state).a)
    setup = time_stepping.setup(compiled_of(system), references=state.references)
    start = np.concatenate([state.q, state.v])
    bare = FreeRun(case, duration, setup, start, 0.0, 0.0, energy(system, state.q, state.v))
    angle, doubt = _reference(bare)
    return FreeRun(case, duration, setup, start, angle, doubt, bare.energy)


def _reference(run: FreeRun) -> tuple[float, float]:
    """(angle at the end, largest difference from what is known otherwise)."""
    known = [(t, angle) for t, angle in PRINTED if t <= run.duration]
    rest = run.duration % PERIOD  # the motion repeats: a run of less than a period ends where the long one does
    tight = run.go(TIGHT, samples=[*(t for t, _ in known), run.duration]).y[:, run.index]
    short = integrate(run.setup.problem, run.start, 0.0, rest, tolerance=TIGHT, samples=[rest]).y[-1, run.index]
    doubt = float(np.abs(tight - np.array([*(angle for _, angle in known), short])).max())
    if not doubt < DOUBT:
        raise LinkwrightError(f"the reference run of {MECHANISM} is off by {doubt:.1e} rad; errors against it would mean nothing.")
    return float(tight[-1]), doubt
