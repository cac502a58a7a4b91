"""Runs against closed forms: errors follow the tolerance or the step, at the samples as at the end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from linkwright.errors import UsageError
from linkwright.integrators import IntegrationError, Problem, StepKernel, integrate
from tests.integrators.problems import (
    ADAPTIVE,
    CIRCLE,
    KEPLER,
    LENGTH,
    METHODS,
    OSCILLATOR,
    PENDULUM,
    VAN_DER_POL,
    every_method,
    onto_the_circle,
    pendulum,
    pendulum_angle,
    pendulum_start,
    spinning,
)
from tests.refusals import refused
from tests.sweeps import sweep


@pytest.mark.parametrize("method", ["dopri5", "dopri8"])
def test_oscillator_at_samples(method):
    t = np.linspace(0.0, 20.0, 57)
    run = integrate(OSCILLATOR, [1.0, 0.0], 0.0, 20.0, method, tolerance=1e-9, samples=t)
    assert run.status == "finished"
    np.testing.assert_array_equal(run.t, t)
    exact = np.stack([np.cos(t), -np.sin(t)], axis=1)
    assert np.abs(run.y - exact).max() < 1e-7  # local errors of 1e-9 over some hundred steps
    assert run.counters["steps"] < 60 if method == "dopri8" else run.counters["steps"] < 400


def test_rk4_has_order_four_and_lands_on_the_end():
    errors = []
    for step in (0.1, 0.05, 0.025):
        run = integrate(OSCILLATOR, [1.0, 0.0], 0.3, 2.345, "rk4", step=step)
        assert run.t[-1] == run.end_time == 2.345
        np.testing.assert_allclose(np.diff(run.t)[:-1], step, rtol=1e-12)
        assert np.diff(run.t)[-1] <= step * (1 + 1e-9)
        errors.append(abs(run.y[-1, 0] - math.cos(2.345 - 0.3)))
    assert 3.8 < math.log2(errors[0] / errors[1]) < 4.2
    assert 3.8 < math.log2(errors[1] / errors[2]) < 4.2


def test_a_step_that_divides_the_time_gives_exactly_that_many():
    run = integrate(OSCILLATOR, [1.0, 0.0], 0.0, 1.0, "rk4", step=0.1)
    assert run.counters["steps"] == 10 and run.counters["evaluations"] == 41
    assert run.t[-1] == 1.0


@pytest.mark.parametrize("method", ADAPTIVE)
def test_fixed_steps_of_the_adaptive_methods_show_their_order(method):
    """Steps held by largest_step; the orbit's error falls with the power of the step."""
    order = METHODS[method].order
    parts = 8 if order > 5 else 32  # finer, the error is that of the arithmetic
    y0 = [1.0 - 0.3, 0.0, 0.0, math.sqrt(1.3 / 0.7)]
    reference = integrate(KEPLER, y0, 0.0, 1.6, "dopri8", tolerance=1e-14).end_state
    errors = []
    for count in (parts, 2 * parts):
        run = integrate(KEPLER, y0, 0.0, 1.6, method, tolerance=0.1, step=1.6 / count, largest_step=1.6 / count)
        assert run.counters["steps"] == count and run.counters["rejected"] == 0
        errors.append(np.abs(run.end_state - reference).max())
    assert order - 0.7 < math.log2(errors[0] / errors[1]) < order + 1.0


def test_kepler_orbit_closes_after_its_period():
    e = 0.6
    y0 = np.array([1.0 - e, 0.0, 0.0, math.sqrt((1.0 + e) / (1.0 - e))])
    run = integrate(KEPLER, y0, 0.0, 10.0 * math.pi, tolerance=1e-12)
    assert np.abs(run.end_state - y0).max() < 3e-9  # five turns; errors along the orbit grow with the square of time


def test_van_der_pol_against_another_code():
    from scipy.integrate import solve_ivp

    t = np.linspace(0.0, 15.0, 40)

    def rates(_t, y):
        return [y[1], 5.0 * (1.0 - y[0] ** 2) * y[1] - y[0]]

    other = solve_ivp(rates, (0.0, 15.0), [2.0, 0.0], "DOP853", t, rtol=1e-12, atol=1e-12)
    ours = integrate(VAN_DER_POL, [2.0, 0.0], 0.0, 15.0, tolerance=1e-12, samples=t)
    np.testing.assert_allclose(ours.y, other.y.T, atol=1e-8)  # fast jumps stretch both codes' errors by some thousand


@sweep(("method", "options"), every_method(0.004, 1e-9), later=["rodas"], ids=list(METHODS))
def test_pendulum_in_two_coordinates_stays_on_its_circle(method, options):
    t = np.linspace(0.0, 6.0, 31)
    run = integrate(PENDULUM, pendulum_start(2.0), 0.0, 6.0, method, samples=t, **options)
    angle = np.arctan2(run.y[:, 0], -run.y[:, 1])
    assert np.abs(angle - pendulum_angle(2.0, t)).max() < 2e-7
    assert np.abs(np.hypot(run.y[:, 0], run.y[:, 1]) / LENGTH - 1.0).max() < 1e-14, "samples inside steps are projected too"
    assert np.abs(run.y[:, 0] * run.y[:, 2] + run.y[:, 1] * run.y[:, 3]).max() < 1e-14
    assert run.counters["position residual"] < 3e-13
    assert run.counters["projections"] >= 2 * run.counters["steps"], "no gate: a correction and its check after every step"


def test_without_projection_the_circle_is_lost():
    run = integrate(replace(PENDULUM, project=None), pendulum_start(2.0), 0.0, 6.0, "rk4", step=0.01)
    assert abs(np.hypot(*run.end_state[:2]) / LENGTH - 1.0) > 1e-8


def test_a_correction_that_would_jump_to_another_branch_rejects_the_step():
    def flipping(x, y, w):  # far from the circle it finds the opposite point, which also closes the loop
        status = onto_the_circle(x, y, w)
        if y[4] > 1e-5:
            for i in range(4):
                y[i] = -y[i]
            y[6] = 2.0
        return status

    start = pendulum_start(2.5)
    rough = {"tolerance": 1e-4, "step": 0.3}
    jumping = replace(PENDULUM, project=StepKernel(5, 7, function=flipping))
    run = integrate(jumping, start, 0.0, 2.0, "dopri8", **rough)
    assert run.complete and run.counters["refused"] > 0
    angle = math.atan2(run.end_state[0], -run.end_state[1])
    assert abs(angle - pendulum_angle(2.5, np.array([2.0]))[0]) < 1e-2  # the tolerance over two seconds


def test_loops_that_cannot_be_closed_end_the_run_with_a_reason():
    stuck = StepKernel(5, 7, function=lambda x, y, w: (onto_the_circle(x, y, w), y.__setitem__(4, 1e-3))[0])
    for method, options in (("rk4", {"step": 0.01}), ("dopri", {})):
        run = integrate(replace(PENDULUM, project=stuck), pendulum_start(1.0), 0.0, 1.0, method, **options)
        assert run.status == "open" and run.end_time < 1.0 and np.isfinite(run.y).all()
        with pytest.raises(IntegrationError, match="loops cannot be closed again"):
            run.check()


def test_quaternions_keep_their_length_and_turn_by_the_right_angle():
    problem = Problem(StepKernel(8, 7, function=spinning), 4, 3, quaternions=(0,))
    rates = np.array([0.3, -1.1, 0.8])
    t = np.linspace(0.0, 9.0, 10)
    run = integrate(problem, [1.0, 0.0, 0.0, 0.0, *rates], 0.0, 9.0, "dopri5", tolerance=1e-8, samples=t)
    assert np.abs(np.linalg.norm(run.y[:, :4], axis=1) - 1.0).max() < 1e-15
    half = 0.5 * np.linalg.norm(rates) * t
    exact = np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * rates / np.linalg.norm(rates)], axis=1)
    assert np.abs(run.y[:, :4] - exact).max() < 1e-6


def test_a_solution_that_grows_without_bound_stops_with_a_reason_and_finite_numbers():
    def blow_up(x, y, w):
        a, b = float(x[0]), float(x[1])  # Python's own floats overflow to inf without a word
        y[0], y[1] = b, 2.0 * a * b  # x' = x^2 with x(0) = 1: infinite at t = 1
        return 0

    run = integrate(Problem(StepKernel(3, 2, function=blow_up), 1, 1), [1.0, 1.0], 0.0, 2.0)
    assert run.status in ("smallest step", "not finite", "too many steps")
    assert 0.99 < run.end_time < 1.0 + 1e-9
    assert np.isfinite(run.y).all()
    fixed = integrate(Problem(StepKernel(3, 2, function=blow_up), 1, 1), [1.0, 1.0], 0.0, 2.0, "rk4", step=0.1)
    assert fixed.status == "not finite" and np.isfinite(fixed.y).all()


def test_step_limits_are_kept():
    run = integrate(OSCILLATOR, [1.0, 0.0], 0.0, 5.0, largest_step=0.1, tolerance=1e-6)
    assert np.diff(run.t).max() <= 0.1 * 1.02
    few = integrate(OSCILLATOR, [1.0, 0.0], 0.0, 5.0, "dopri5", tolerance=1e-12, most_steps=10)
    assert few.status == "too many steps" and few.counters["steps"] + few.counters["rejected"] == 10
    small = integrate(VAN_DER_POL, [2.0, 0.0], 0.0, 15.0, tolerance=1e-10, smallest_step=0.05)
    assert small.status == "smallest step" and "smallest allowed step" in small.message


def test_nothing_to_do():
    run = integrate(OSCILLATOR, [1.0, 0.5], 2.0, 2.0)
    assert run.status == "finished" and run.t.tolist() == [2.0] and run.y.tolist() == [[1.0, 0.5]]
    assert integrate(OSCILLATOR, [1.0, 0.5], 0.0, 1.0, samples=[]).y.shape == (0, 2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "rk5"}, "Did you mean 'rk4'"),
        ({"method": "rk4"}, "fixed step"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"t1": -1.0}, "forward"),
        ({"y0": [1.0]}, "2 finite numbers"),
        ({"y0": [1.0, math.nan]}, "2 finite numbers"),
        ({"samples": [0.0, 7.0]}, "between"),
        ({"samples": [0.5, 0.2]}, "ascending"),
        ({"step": 0.0}, "positive"),
        ({"engine": "fast"}, "'native' or 'python'"),
    ],
)
def test_wrong_calls_say_what_is_allowed(changes, words):
    call = {"y0": [1.0, 0.0], "t0": 0.0, "t1": 1.0} | changes
    with pytest.raises(UsageError, match=words):
        integrate(OSCILLATOR, **call)


def test_kernels_of_the_wrong_size_are_refused():
    with refused(UsageError, name="rates"):
        Problem(StepKernel(3, 2, function=pendulum), 2, 2)
    with refused(UsageError, name="project"):
        Problem(StepKernel(5, 4, function=pendulum), 2, 2, project=StepKernel(5, 4, function=pendulum))
    with refused(UsageError, name="kernel"):
        StepKernel(3, 2)
    assert CIRCLE.n_out == 7
