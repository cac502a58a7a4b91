"""Inputs with states of their own, work done along the way, motions prescribed in time: against closed forms, in both engines."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

from linkwright.errors import UsageError
from linkwright.integrators import EventSpec, Problem, StepKernel, integrate, integration
from tests.integrators.problems import every_method
from tests.integrators.test_engines import assert_same
from tests.refusals import refused

LAG, SPRING = 0.3, 4.0  # s, 1/s^2
METHODS = every_method(0.01, 1e-9, dopri8=1e-11)


def lagging_force(x, y, w):
    """Full row [q, v, force, work, t, u]: the force follows cos 2t with a lag; u is the force."""
    y[0] = x[2]
    y[1] = (math.cos(2.0 * x[4]) - x[2]) / LAG
    return 0


def sprung_mass(x, y, w):
    """Mechanism row [q, v, t, u] -> [v, a, power of u]."""
    y[0] = x[1]
    y[1] = x[3] - SPRING * x[0]
    y[2] = x[3] * x[1]
    return 0


def force_is_zero(x, y, w):
    y[0] = x[5]  # of the full row: u as the inputs give it at this very state
    return 0


DRIVEN = Problem(
    StepKernel(4, 3, function=sprung_mass), 1, 1, 2, parameters=(7.0,), inputs=StepKernel(6, 2, function=lagging_force), n_u=1, n_power=1,
    events=StepKernel(6, 1, function=force_is_zero), event_specs=(EventSpec("force"),),
)  # fmt: skip
START = np.array([0.5, 0.0, -1.0, 0.0])
MATRIX = np.zeros((5, 5))  # q, v, force, cos 2t, sin 2t
MATRIX[0, 1], MATRIX[1, 0], MATRIX[1, 2], MATRIX[2, 2], MATRIX[2, 3], MATRIX[3, 4], MATRIX[4, 3] = 1, -SPRING, 1, -1 / LAG, 1 / LAG, -2, 2


def exact(t: np.ndarray) -> np.ndarray:
    return np.array([expm(MATRIX * s)[:3] @ [*START[:3], 1.0, 0.0] for s in t])


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_an_input_with_a_state_and_its_work(method, options):
    t = np.linspace(0.0, 3.0, 16)
    run = integrate(DRIVEN, START, 0.0, 3.0, method, samples=t, **options)
    assert np.abs(run.y[:, :3] - exact(t)).max() < 1e-7  # local errors of 1e-9 over some hundred steps
    energy = 0.5 * (run.y[:, 1] ** 2 + SPRING * run.y[:, 0] ** 2)
    np.testing.assert_allclose(run.y[:, 3], energy - energy[0], rtol=0.0, atol=1e-7)
    zeros = np.array([e.time for e in run.events])
    assert len(zeros) == 3 and np.abs(exact(zeros)[:, 2]).max() < 1e-7
    assert_same(run, integrate(DRIVEN, START, 0.0, 3.0, method, samples=t, engine="python", **options))


def test_quadratures_have_no_say_in_the_steps():
    """The same run with the work left out, and with work of a scale that would need steps of nothing."""
    plain = replace(
        DRIVEN, nx=1, n_power=0, events=None, event_specs=(), inputs=StepKernel(5, 2, function=lambda x, y, w: _without_work(x, y))
    )
    huge = replace(DRIVEN, events=None, event_specs=(), scale=(1.0, 1.0, 1.0, 1e-12))
    a = integrate(plain, START[:3], 0.0, 3.0, tolerance=1e-9)
    b = integrate(huge, START, 0.0, 3.0, tolerance=1e-9)
    np.testing.assert_array_equal(a.t, b.t)
    np.testing.assert_array_equal(a.y, b.y[:, :3])


def _without_work(x, y):
    y[0], y[1] = x[2], (math.cos(2.0 * x[3]) - x[2]) / LAG
    return 0


def sliding_frame(x, y, w):
    """Inputs of a slide whose place is sin t: value, rate, second derivative."""
    t = x[4]
    y[0], y[1], y[2] = math.sin(t), math.cos(t), -math.sin(t)
    return 0


def carried(x, y, w):
    """[s, h, vs, vh, t, place, speed, acceleration]: h swings, its spring stretched by the slide."""
    y[0], y[1], y[2], y[3] = x[2], x[3], x[7], -x[1] + 0.5 * x[0]
    return 0


def onto_the_slide(x, y, w):
    y[0], y[1], y[2], y[3] = x[5], x[1], x[6], x[3]
    y[4], y[5], y[6] = abs(x[0] - x[5]), abs(x[2] - x[6]), abs(x[0] - x[5])
    return 0


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_a_projection_sees_the_prescribed_motion_of_its_own_time(method, options):
    problem = Problem(
        StepKernel(8, 4, function=carried), 2, 2, project=StepKernel(8, 7, function=onto_the_slide), parameters=(0.0, 0.0, 0.0),
        inputs=StepKernel(8, 3, function=sliding_frame), n_u=3, inputs_move=True,
    )  # fmt: skip
    t = np.linspace(0.0, 4.0, 23)
    run = integrate(problem, [0.0, 0.2, 1.0, 0.0], 0.0, 4.0, method, samples=t, **options)
    assert np.abs(run.y[:, 0] - np.sin(t)).max() < 1e-15  # samples lie inside of steps: their time is rounded once
    assert np.abs(run.y[:, 2] - np.cos(t)).max() < 1e-15
    resonance = 0.2 * np.cos(t) + 0.25 * (np.sin(t) - t * np.cos(t))  # h'' + h = sin(t) / 2
    assert np.abs(run.y[:, 1] - resonance).max() < 1e-7
    assert_same(run, integrate(problem, [0.0, 0.2, 1.0, 0.0], 0.0, 4.0, method, samples=t, engine="python", **options))


@pytest.mark.parametrize("samples", [None, [0.5, 2.0]])
def test_every_step_can_be_observed(samples, monkeypatch):
    monkeypatch.setattr(integration, "BUFFER", 64)
    rows, told = [], []
    run = integrate(
        DRIVEN, START, 0.0, 3.0, "rk4", step=0.01, samples=samples, observe=rows.append, progress=lambda t, h: told.append((t, h)),
        slice_steps=50,
    )  # fmt: skip
    seen = np.concatenate(rows)
    assert len(rows) > 4 and seen.shape == (301, 5)
    np.testing.assert_allclose(seen[:, 0], 0.01 * np.arange(301), rtol=1e-14)
    np.testing.assert_array_equal(seen[0, 1:], START)
    np.testing.assert_array_equal(seen[-1, 1:], run.end_state)
    assert np.abs(seen[::10, 1:4] - exact(seen[::10, 0])).max() < 1e-7
    assert len(told) >= 5 and all(h == 0.01 for _, h in told)


def test_observation_ends_with_a_terminal_event():
    problem = replace(DRIVEN, event_specs=(EventSpec("force", terminal=True),))
    rows = []
    run = integrate(problem, START, 0.0, 3.0, samples=[], observe=rows.append)
    assert rows[-1][-1, 0] == run.end_time == run.events[0].time
    np.testing.assert_array_equal(rows[-1][-1, 1:], run.end_state)


def test_rows_that_do_not_fit_are_refused():
    with refused(UsageError, name="extra"):
        replace(DRIVEN, inputs=None)
    with refused(UsageError, name="inputs"):
        replace(DRIVEN, inputs=StepKernel(5, 2, function=lagging_force))
    with refused(UsageError, name="rates"):
        replace(DRIVEN, rates=StepKernel(6, 4, function=sprung_mass))
    with refused(UsageError, name="quadratures"):
        replace(DRIVEN, n_power=3)
