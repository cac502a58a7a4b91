"""Errors fall with the tolerance, on every built-in model: each is simulated at several tolerances and compared with 1e-14.

A step errs by at most the tolerance (relative to the size of states), some ten to hundred steps are taken, and in so short a time
no motion amplifies errors much: the error of the end stays below FACTOR tolerances. Measured: 5 at most in free motion, 40 of the
press, whose load table has eight corners that it passes 49 times.
"""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from tests.sweeps import every_model, led_by_drives

FACTOR = 100.0
ROUND_OFF = 2e-13  # of the reference itself, after some thousand operations on numbers of size one
PRESS = "punch-press"


def errors(s, st, duration, tolerances, **how):
    """Largest differences to the reference, in rad and the size of the mechanism."""
    times = [0.0, 0.5 * duration, duration]

    def run(tolerance):
        return s.simulate(st, duration, tolerance=tolerance, sample_interval=times, **how)

    best = run(1e-14)
    size = np.array([compiled_of(s).loops.kappa if k == "length" else 1.0 for jt in best.skel.types for k in jt.coordinate_kinds])
    return [float(np.abs((run(x).q - best.q) / size).max()) for x in tolerances]


def fall(found, tolerances):
    for error, tolerance in zip(found, tolerances, strict=True):
        assert error <= FACTOR * tolerance + ROUND_OFF, f"{error:.1e} at {tolerance:.0e}"


@pytest.mark.parametrize("name", every_model("3-rrr-motors", "carpet-scraper"))
def test_errors_fall_with_the_tolerance(name):
    s = lw.compile(lw.load(name))
    fall(errors(s, s.start, 0.3, (1e-6, 1e-9, 1e-12)), (1e-6, 1e-9, 1e-12))


def test_errors_of_the_press_fall_with_the_tolerance():
    """A tabulated load: without break points 1.9e-3 at 1e-6 and 2.2e-6 at 1e-9, 2000 tolerances; no tolerance between is safe."""
    tolerances = (1e-6, 1e-7, 2e-8, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
    s = lw.compile(lw.load(PRESS))
    fall(errors(s, s.assemble(v={"E": 9.0}), 2.0, tolerances), tolerances)


@pytest.mark.slow
@pytest.mark.parametrize("name", led_by_drives())
def test_errors_of_every_model_fall_with_the_tolerance(name):
    tolerances = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
    s = lw.compile(lw.load(name))
    fall(errors(s, s.start, 0.3, tolerances), tolerances)
    fall(errors(s, s.start, 0.2, tolerances[::2], integrator="dopri5"), tolerances[::2])


@pytest.mark.slow
@pytest.mark.parametrize("name", led_by_drives())
def test_errors_of_every_driven_model_fall_with_the_tolerance(name):
    m, tolerances = lw.load(name), (1e-6, 1e-9, 1e-12)
    best, *found = [m.simulate(duration=0.3, tolerance=x, sample_interval=0.1) for x in (1e-14, *tolerances)]
    fall([float(np.abs(run.q - best.q).max()) for run in found], tolerances)
