"""Events against closed forms: when, in which order, with which state, and where the run ends."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from linkwright.integrators import EventSpec, Problem, StepKernel, integrate
from tests.integrators.problems import GRAVITY, LENGTH, OSCILLATOR, PENDULUM, every_method, falling, pendulum_angle, pendulum_start

EVERY = every_method(0.01, 1e-9)


def height(x, y, w):
    y[0] = x[0]
    return 0


@pytest.mark.parametrize(("method", "options"), EVERY)
def test_a_ball_hits_the_ground_when_it_must_and_bounces(method, options):
    ball = Problem(
        StepKernel(3, 2, function=falling),
        1,
        1,
        events=StepKernel(3, 1, function=height),
        event_specs=(EventSpec("ground", -1, terminal=True),),
    )
    t, y, speed = 0.0, np.array([1.3, 0.0]), math.sqrt(2.0 * GRAVITY * 1.3)
    expected = speed / GRAVITY
    for _ in range(4):
        run = integrate(ball, y, t, 10.0, method, **options)
        assert run.status == "event" and run.events[-1].name == "ground"
        assert run.end_time == run.events[-1].time == run.t[-1]
        assert abs(run.end_time - expected) < 1e-12 * expected  # the flight is a parabola: every method is exact on it
        assert abs(run.end_state[0]) < 1e-11 and abs(run.end_state[1] + speed) < 1e-11
        assert run.end_state[0] <= 0.0, "the recorded state is just beyond the crossing"
        speed *= 0.8
        t, y = run.end_time, np.array([run.end_state[0], -0.8 * run.end_state[1]])
        expected += 2.0 * speed / GRAVITY


def test_zeros_of_an_oscillation_with_directions():
    def values(x, y, w):
        y[0] = y[1] = y[2] = x[0]
        return 0

    specs = (EventSpec("any"), EventSpec("up", 1), EventSpec("down", -1))
    problem = replace(OSCILLATOR, events=StepKernel(3, 3, function=values), event_specs=specs)
    run = integrate(problem, [1.0, 0.0], 0.0, 30.0, tolerance=1e-12, largest_step=1.0, samples=[30.0])
    assert run.status == "finished"
    zeros = np.arange(0.5, 10.0) * math.pi
    times = {name: np.array([e.time for e in run.events if e.name == name]) for name in ("any", "up", "down")}
    np.testing.assert_allclose(times["any"], zeros, rtol=0.0, atol=1e-11)  # the run's own error
    np.testing.assert_allclose(times["down"], zeros[0::2], rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(times["up"], zeros[1::2], rtol=0.0, atol=1e-11)
    assert [e.time for e in run.events] == sorted(e.time for e in run.events)


def test_events_in_one_step_come_in_order_and_a_terminal_one_cuts_the_rest():
    def clock(x, y, w):
        y[0], y[1], y[2], y[3] = x[2] - 0.9, x[2] - 0.2, x[2] - 0.6, 0.2 - x[2]
        return 0

    specs = (EventSpec("late"), EventSpec("early"), EventSpec("end", terminal=True), EventSpec("same as early"))
    problem = replace(OSCILLATOR, events=StepKernel(3, 4, function=clock), event_specs=specs)
    samples = [0.0, 0.1, 0.2, 0.5, 0.7, 1.0]
    run = integrate(problem, [1.0, 0.0], 0.0, 1.0, "dopri8", tolerance=1e-10, step=1.0, samples=samples)
    assert [e.name for e in run.events] == ["early", "same as early", "end"]
    np.testing.assert_allclose([e.time for e in run.events], [0.2, 0.2, 0.6], rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(run.t, samples[:4])
    np.testing.assert_allclose(run.y[:, 0], np.cos(run.t), atol=1e-8)
    np.testing.assert_allclose(run.end_state, [math.cos(0.6), -math.sin(0.6)], atol=1e-8)


def test_a_function_that_starts_at_zero_or_only_touches_it_is_no_event():
    def values(x, y, w):
        y[0], y[1] = x[1], 1.0 - x[0]  # velocity: zero at the start; 1 - cos t: touches zero every cycle
        return 0

    problem = replace(OSCILLATOR, events=StepKernel(3, 2, function=values), event_specs=(EventSpec("turn"), EventSpec("touch")))
    run = integrate(problem, [1.0, 0.0], 0.0, 3.0, tolerance=1e-10)
    assert run.events == ()
    run = integrate(problem, [1.0, 0.0], 0.0, 4.0, tolerance=1e-10)
    assert [e.name for e in run.events] == ["turn"] and abs(run.events[0].time - math.pi) < 1e-9


def test_events_are_located_on_the_projected_state():
    """A pendulum passes its lowest point: a quarter of its period, on the circle to the last digits."""
    problem = replace(PENDULUM, events=StepKernel(5, 1, function=height), event_specs=(EventSpec("lowest"),))
    run = integrate(problem, pendulum_start(1.2), 0.0, 5.0, tolerance=1e-11)
    from scipy.special import ellipk

    quarter = math.sqrt(LENGTH / GRAVITY) * ellipk(math.sin(0.6) ** 2)
    times = np.array([e.time for e in run.events])
    np.testing.assert_allclose(times, quarter * np.arange(1, 2 * len(times), 2), atol=1e-9)
    assert len(times) == int((5.0 / quarter + 1) / 2)
    for e in run.events:
        assert abs(math.hypot(*e.state[:2]) / LENGTH - 1.0) < 1e-15 * 4
        assert abs(e.state[0]) < 1e-11
    assert abs(pendulum_angle(1.2, times)).max() < 1e-8
