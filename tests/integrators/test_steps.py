"""The loops of single steps as plain Python are the native ones, to the last bit; interrupts and mistakes in callbacks are raised."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.integrators import Problem, StepKernel, python_kernel
from linkwright.integrators.environment_steps import BACKED
from linkwright.integrators.environments import Environments, scheme_of
from linkwright.simulation.step_inputs import equations
from tests.sweeps import sweep


def several(s, n, integrator, engine=None):
    """Environments of a mechanism in states of its fall, with torques."""
    eq = equations(compiled_of(s), integrator == "midpoint")
    options = {"qdot": eq.qdot, "settling": eq.settling, "read": eq.read, "often": eq.often, "limit": 1, "engine": engine}
    env = Environments(eq.problem, scheme_of(integrator), n, **options)
    run = s.simulate(s.start, 0.2, sample_interval=0.2 / n)
    env.rows[:, eq.row.spans["q"]], env.rows[:, eq.row.spans["v"]] = run.q[:n], run.v[:n]
    env.efforts[...] = np.random.default_rng(0).normal(size=env.efforts.shape)
    return env


@pytest.mark.parametrize("integrator", ["rk4", "midpoint"])
@sweep("name", ["five-bar", "change-point-four-bar", "stewart"], now=2)
def test_python_and_native_loops_have_the_same_bits(name, integrator):
    native, python = (several(lw.compile(name), 3, integrator, engine) for engine in (None, "python"))
    for env in (native, python):
        env.step(1e-3, 4)
    assert native.native and not python.native
    np.testing.assert_array_equal(native.rows, python.rows)
    np.testing.assert_array_equal(native.codes, python.codes)


def test_turns_that_are_counted_now_and_then_are_those_counted_after_every_step():
    """The crank turns up to nine times within a call; some environments fail on the way and stay where they were."""
    s = lw.compile("carpet-scraper")
    eq, found = equations(compiled_of(s)), []
    for often in (True, False):
        env = Environments(eq.problem, scheme_of("rk4"), 9, qdot=eq.qdot, read=eq.read, often=often, limit=1)
        env.rows[:, eq.row.spans["q"]] = s.start.q
        env.efforts[:, 0] = np.linspace(5.0, 20.0, 9)
        env.step(1e-3, 2000)
        found.append((env.rows, env.codes))
    assert not eq.often and not eq.read
    assert np.ptp(found[0][0][:, eq.row.spans["near"]][:, 0]) > 12 * np.pi and (found[0][1] > 0).any()
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


@sweep("name", ["five-bar", "stewart"], now=1)
@pytest.mark.parametrize("integrator", ["rk4", "midpoint"])
def test_every_lane_has_the_bits_of_an_environment_alone(name, integrator):
    """Eight lanes and one more; one is masked and one fails."""
    wide = several(lw.compile(name), 9, integrator)
    wide.chosen[2] = 0
    wide.efforts[5] = 1e9
    start = wide.rows.copy()
    wide.step(1e-3, 3)
    assert wide.lanes == 8 and wide.codes[5] > 0 and (np.delete(wide.codes, 5) == 0).all()
    for k in range(9):
        alone = several(lw.compile(name), 1, integrator)
        alone.rows[0], alone.efforts[0], alone.chosen[0] = start[k], wide.efforts[k], wide.chosen[k]
        alone.step(1e-3, 3)
        assert alone.lanes == 1 and alone.codes[0] == wide.codes[k]
        np.testing.assert_array_equal(alone.rows[0], wide.rows[k])


def falling(x, y, w):
    """A mass that falls, degenerate above a height of 1."""
    y[0], y[1] = x[1], -9.81 + x[3]
    return 2 if x[0] > 1.0 else 0


def test_callbacks_answer_fail_or_interrupt():
    """Without loops and without code for lanes: rates in Python, an answer behind them."""
    raised: list[BaseException | None] = [None]

    def answer(x):
        if raised[0] is not None:
            raise raised[0]
        return np.array([x[1], -9.81 + x[3]])

    rates = StepKernel(4, 2, function=falling, backup=python_kernel(answer, 4, 2)).with_address()
    env = Environments(Problem(rates, 1, 1, parameters=(0.0,)), scheme_of("rk4"), 7)
    env.rows[:, 0] = np.linspace(0.0, 1.5, 7)
    env.step(0.01, 1)
    assert (env.codes == np.where(env.rows[:, 0] > 1.0, BACKED, 0)).all()
    np.testing.assert_allclose(env.rows[:, 1], -0.0981, rtol=1e-14)
    raised[0] = lw.SingularityError("nothing to be had.")
    env.step(0.01, 1)
    failed = env.codes > 0
    assert failed.sum() == 2 and env.reason(6) == "nothing to be had" and (env.rows[failed, 2] == 0.01).all()
    env.forget(np.arange(7))
    assert not env.errors
    raised[0] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        env.step(0.01, 1)
    env.forget(np.arange(7))
    env.efforts[0] = np.inf
    raised[0] = None
    env.step(0.01, 1)
    assert env.codes[0] > 0 and env.reason(0) == "accelerations are no longer finite" and (env.codes[1:] <= 0).all()
