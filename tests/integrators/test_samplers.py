"""Sampled controllers: values held between ticks, against the exact discrete system; ticks and steps of any ratio."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.linalg import expm

from linkwright.errors import UsageError
from linkwright.integrators import EventSpec, Problem, StepKernel, integrate, python_kernel
from tests.integrators.problems import every_method
from tests.integrators.test_engines import assert_same
from tests.refusals import refused

EVERY, KP, KD, KI = 0.07, 9.0, 2.0, 1.5
PLANT = np.array([[0.0, 1.0, 0.0], [-2.0, -0.3, 1.0], [0.0, 0.0, 0.0]])  # q, v, held force


def plant(x, y, w):
    """[q, v, t, force, sum of errors]"""
    y[0] = x[1]
    y[1] = -2.0 * x[0] - 0.3 * x[1] + x[3]
    return 0


def controller(x, y, w):
    """Force toward q = 1 and the sum of errors, which it finds in what it has held."""
    y[1] = x[4] + EVERY * (1.0 - x[0])
    y[0] = KP * (1.0 - x[0]) - KD * x[1] + KI * y[1]
    return 0


def force(x, y, w):
    y[0] = x[3] - 2.0
    return 0


HELD = Problem(
    StepKernel(5, 2, function=plant), 1, 1, parameters=(5.0, 0.0), sampler=StepKernel(5, 2, function=controller), every=EVERY, n_held=2,
)  # fmt: skip
START = np.array([0.2, -0.5])
METHODS = [*every_method(0.03, 1e-10, dopri8=1e-11, rodas=1e-9), ("rk4", {"step": 0.5})]


@cache
def over(dt: float) -> np.ndarray:
    return expm(PLANT * dt)


def exact(t: float) -> tuple[np.ndarray, np.ndarray]:
    """State at t and held values at all ticks before or at it."""
    z, held = START.copy(), [np.array([0.0, 0.0])]
    ticks = [EVERY * k for k in range(int(t / EVERY + 1e-9) + 1)]
    for k, tick in enumerate(ticks):
        out = np.zeros(2)
        controller(np.array([*z, tick, *held[-1]]), out, None)
        held.append(out)
        z = (over(EVERY if k + 1 < len(ticks) else t - tick) @ [*z, out[0]])[:2]
    return z, np.array(held[1:])


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_values_are_held_between_ticks(method, options):
    t = np.linspace(0.0, 2.0, 9)
    run = integrate(HELD, START, 0.0, 2.0, method, samples=t, **options)
    limit = 1e-5 if method == "rk4" else 1e-8  # steps up to 0.07 s at rates of 1.4/s leave (0.1)^4 / 120
    assert np.abs(run.y - [exact(s)[0] for s in t]).max() < limit
    held = exact(2.0)[1]
    np.testing.assert_allclose(run.ticks[:, 0], EVERY * np.arange(len(held)), rtol=1e-15)
    np.testing.assert_allclose(run.ticks[:, 1:], held, atol=100 * limit)
    for engine, cut in (("python", None), ("native", 1), ("native", 7)):
        other = integrate(HELD, START, 0.0, 2.0, method, samples=t, engine=engine, slice_steps=cut, **options)
        assert_same(run, other)
        np.testing.assert_array_equal(run.ticks, other.ticks)


def test_fixed_steps_keep_their_grid_and_are_cut_only_by_ticks():
    run = integrate(HELD, START, 0.0, 0.3, "rk4", step=0.03)
    expected = np.unique(np.round([*0.03 * np.arange(11), *EVERY * np.arange(5)], 12))
    np.testing.assert_allclose(run.t, expected, rtol=1e-14)
    assert len(integrate(replace(HELD, every=0.06), START, 0.0, 0.3, "rk4", step=0.02).t) == 16, "ticks on the grid cut nothing"
    assert len(integrate(replace(HELD, every=0.1), START, 0.0, 0.3, "rk4", step=0.1).ticks) == 3, "none at the very end"


def test_ticks_do_not_wear_down_adaptive_steps():
    """One step from tick to tick; with rare ticks as many steps as the motion needs, and two for every tick."""
    often = integrate(HELD, START, 0.0, 14.0, tolerance=1e-8)
    assert often.counters["steps"] <= 200 + 5 and often.counters["rejected"] <= 2
    free = integrate(replace(HELD, sampler=None, n_held=0), START, 0.0, 14.0, tolerance=1e-8)
    rare = integrate(replace(HELD, every=1.0), START, 0.0, 14.0, tolerance=1e-8)
    assert rare.counters["steps"] <= free.counters["steps"] + 2 * 14
    assert np.diff(rare.t).max() > 0.5 * min(1.0, np.diff(free.t).max())


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_a_run_goes_on_where_another_ended(method, options):
    first = integrate(HELD, START, 0.0, 0.99, method, **options)
    held = tuple(first.ticks[-1, 1:])
    rest = integrate(replace(HELD, parameters=held), first.end_state, 0.99, 2.0, method, origin=0.0, **options)
    assert np.abs(rest.end_state - exact(2.0)[0]).max() < (1e-5 if method == "rk4" else 1e-8)
    np.testing.assert_allclose(np.concatenate([first.ticks, rest.ticks])[:, 0], EVERY * np.arange(29), rtol=1e-14)


@pytest.mark.parametrize("terminal", [False, True])
def test_a_held_value_that_jumps_through_zero_is_an_event_at_its_tick(terminal):
    watched = replace(HELD, events=StepKernel(5, 1, function=force), event_specs=(EventSpec("force", terminal=terminal),))
    run = integrate(watched, START, 0.0, 2.0, tolerance=1e-10)
    above = exact(2.0)[1][:, 0] > 2.0
    crossings = EVERY * (1 + np.nonzero(above[1:] != above[:-1])[0])
    times = np.array([e.time for e in run.events])
    np.testing.assert_allclose(times, crossings[:1] if terminal else crossings, rtol=0.0, atol=1e-12)
    assert np.abs(run.events[0].state - exact(times[0])[0]).max() < 1e-8


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_sampler_that_raises_ends_the_run_at_its_tick(engine):
    def picky(x):
        if x[2] > 0.5:
            raise ValueError("no such reference")
        return [0.0, 0.0]

    run = integrate(replace(HELD, sampler=python_kernel(picky, 5, 2)), START, 0.0, 2.0, engine=engine)
    assert run.status == "failed" and "no such reference" in run.message
    assert abs(run.end_time - 8 * EVERY) < 1e-15 and run.t[-1] == run.end_time


def test_wrong_samplers_are_refused():
    with refused(UsageError, value=0.0):
        replace(HELD, every=0.0)
    with refused(UsageError, name="inputs"):
        replace(HELD, n_held=3)
    with refused(UsageError, name="origin"):
        integrate(HELD, START, 0.0, 1.0, origin=0.5)
