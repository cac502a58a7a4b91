"""The implicit method: its coefficients by order conditions, its order on problems, and systems explicit methods creep through."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from linkwright.integrators import INTEGRATORS, Problem, StepKernel, integrate
from tests.integrators.problems import PENDULUM, pendulum_angle, pendulum_start, spinning
from tests.integrators.test_engines import assert_same
from tests.integrators.test_tableaux import density, trees

ROUND_OFF = 1e-13  # coefficients up to 35 in size, with sixteen digits


# -------------------------------------------------------------------- coefficients


def stages() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The table as [Hairer1996] has it in (7.4): alpha, gamma, and the weights as rows, new state and embedded one."""
    t = INTEGRATORS["rodas"].table
    s = slice(1, t.stages)  # row 0 is the derivative at the start
    gamma = np.linalg.inv(np.eye(t.stages - 1) / t.gamma - t.coupling[s, s])
    new = t.a[t.stages, s]
    return t.a[s, s] @ gamma, gamma, new @ gamma, (new - t.error[0, s]) @ gamma


def weight(tree: tuple, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Elementary weights: a node with one branch takes alpha + gamma, one with several alpha."""
    if len(tree) == 1:
        return beta @ weight(tree[0], alpha, beta)
    out = np.ones(len(alpha))
    for branch in tree:
        out = out * (alpha @ weight(branch, alpha, beta))
    return out


def worst(b: np.ndarray, order: int) -> float:
    alpha, gamma, *_ = stages()
    return max(abs(b @ weight(t, alpha, alpha + gamma) - 1.0 / density(t)) for t in trees(order))


def test_weights_have_order_four_and_three():
    *_, new, embedded = stages()
    assert max(worst(new, k) for k in range(1, 5)) < ROUND_OFF < worst(new, 5)
    assert max(worst(embedded, k) for k in range(1, 4)) < ROUND_OFF < worst(embedded, 4)


def test_times_and_slopes_are_the_sums_of_their_rows():
    alpha, gamma, *_ = stages()
    t = INTEGRATORS["rodas"].table
    np.testing.assert_allclose(alpha.sum(axis=1), t.c[1 : t.stages], atol=ROUND_OFF)
    np.testing.assert_allclose(gamma.sum(axis=1), t.slope[1 : t.stages], atol=ROUND_OFF)


def test_it_is_stiffly_accurate_and_l_stable():
    alpha, gamma, b, embedded = stages()
    beta, one = alpha + gamma, np.ones(6)
    np.testing.assert_allclose(beta[-1], b, atol=ROUND_OFF)
    assert abs(1.0 - b @ np.linalg.solve(beta, one)) < ROUND_OFF, "R(infinity) = 0"
    assert abs(1.0 - embedded @ np.linalg.solve(beta[:, :], one)) < ROUND_OFF, "of the embedded method as well"
    for z in 1j * np.geomspace(1e-3, 1e5, 200):
        assert abs(1.0 + z * b @ np.linalg.solve(np.eye(6) - z * beta, one)) <= 1.0 + ROUND_OFF


# -------------------------------------------------------------------- order


def riccati(x, y, w):
    """[a, b, t]: a = tan(t^2 / 2 + 0.1), b = exp(sin 3t) (1 + t); nonlinear and with time in it."""
    y[0] = x[2] * (1.0 + x[0] * x[0])
    y[1] = x[1] * (3.0 * math.cos(3.0 * x[2]) + 1.0 / (1.0 + x[2]))
    return 0


def coupled(x, y, w):
    """[a, b, t] with a = 1 / (1 + t), b = a^2 + cos t."""
    y[0] = -x[1] + math.cos(x[2])
    y[1] = -2.0 * x[0] * (x[1] - math.cos(x[2])) - math.sin(x[2]) + (x[0] - 1.0 / (1.0 + x[2])) ** 3
    return 0


@pytest.mark.parametrize(
    ("rates", "exact"),
    [
        (riccati, lambda t: [math.tan(0.5 * t * t + 0.1), math.exp(math.sin(3.0 * t)) * (1.0 + t)]),
        (coupled, lambda t: [1.0 / (1.0 + t), 1.0 / (1.0 + t) ** 2 + math.cos(t)]),
    ],
)
def test_errors_fall_with_the_fourth_power_of_the_step(rates, exact):
    errors = []
    for count in (48, 96, 192):
        run = integrate(
            Problem(StepKernel(3, 2, function=rates), 1, 1), exact(0.0), 0.0, 1.2, "rodas", tolerance=0.1, step=1.2 / count,
            largest_step=1.2 / count,
        )  # fmt: skip
        assert run.counters["steps"] == count
        errors.append(np.abs(run.end_state - exact(1.2)).max())
    assert 3.5 < math.log2(errors[0] / errors[1]) < 4.5
    assert 3.7 < math.log2(errors[1] / errors[2]) < 4.3


# -------------------------------------------------------------------- stiff systems


def test_a_fast_transient_onto_a_known_slow_motion():
    """q' = v, v' = -1e6 (v - cos t) - sin t, and the work of v^2: the slow motion is followed with steps of its own time."""

    def prothero_robinson(x, y, w):
        y[0] = x[1]
        y[1] = -1e6 * (x[1] - math.cos(x[2])) - math.sin(x[2])
        y[2] = x[1] * x[1]
        return 0

    problem = Problem(StepKernel(3, 3, function=prothero_robinson), 1, 1, 1, n_power=1)
    t = np.linspace(0.0, 10.0, 41)
    start = [0.0, 3.0, 0.0]
    runs = [integrate(problem, start, 0.0, 10.0, "rodas", tolerance=1e-7, samples=t, engine=e) for e in ("native", "python")]
    assert_same(*runs)
    y = runs[0].y[1:]
    assert np.abs(y[:, 1] - np.cos(t[1:])).max() < 1e-6, "inside of steps as at their ends"
    assert np.abs(y[:, 0] - np.sin(t[1:])).max() < 1e-5  # 2e-6 by the fast beginning
    assert np.abs(y[:, 2] - 0.5 * t[1:] - 0.25 * np.sin(2.0 * t[1:])).max() < 1e-4  # it has no say in the steps
    assert runs[0].counters["steps"] < 300
    few = integrate(problem, start, 0.0, 10.0, "dopri5", tolerance=1e-7, most_steps=2000)
    assert few.status == "too many steps" and few.end_time < 0.02


def relaxing(x, y, w):
    y[0] = x[1]
    y[1] = x[3] * (1.0 - x[0] * x[0]) * x[1] - x[0]
    return 0


def test_van_der_pol_with_jumps_against_another_code():
    mu, end = 1e3, 2000.0
    problem = Problem(StepKernel(4, 2, function=relaxing), 1, 1, parameters=(mu,))
    run = integrate(problem, [2.0, 0.0], 0.0, end, "rodas", tolerance=1e-7)
    other = solve_ivp(
        lambda t, y: [y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]], (0.0, end), [2.0, 0.0], "LSODA", [end], rtol=1e-9, atol=1e-10,
        jac=lambda t, y: [[0.0, 1.0], [-2.0 * mu * y[0] * y[1] - 1.0, mu * (1.0 - y[0] ** 2)]],
    )  # fmt: skip
    assert abs(run.end_state[0] - other.y[0, 0]) < 1e-5  # two jumps, whose times carry errors of 1e-7 of 1000 s
    assert run.counters["steps"] + run.counters["rejected"] < 2000 and run.counters["jacobians"] == run.counters["steps"]
    explicit = integrate(problem, [2.0, 0.0], 0.0, end, "dopri8", tolerance=1e-7, most_steps=2000)
    assert explicit.status == "too many steps" and explicit.end_time < 0.02 * end


def test_robertson_against_another_code():
    def chemistry(x, y, w):
        a, b, c = 0.04 * x[0], 1e4 * x[1] * x[2], 3e7 * x[1] * x[1]
        y[0], y[1], y[2] = b - a, a - b - c, c
        return 0

    problem = Problem(StepKernel(4, 3, function=chemistry), 3, 0, scale=(1.0, 1e-4, 1.0))
    run = integrate(problem, [1.0, 0.0, 0.0], 0.0, 1e4, "rodas", tolerance=1e-7)

    def rates(_t, x):
        y = np.zeros(3)
        chemistry(x, y, None)
        return y

    other = solve_ivp(rates, (0.0, 1e4), [1.0, 0.0, 0.0], "Radau", [1e4], rtol=1e-9, atol=1e-13).y[:, 0]
    np.testing.assert_allclose(run.end_state, other, rtol=1e-6)
    assert run.counters["steps"] < 400


def test_a_stiff_spring_beside_a_pendulum_on_its_circle():
    """A point on a circle and, hung from nothing, a third coordinate with an overdamped spring of 1e8/s^2."""

    def rates(x, y, w):
        out = np.zeros(4)
        PENDULUM.rates.callable(np.array([x[0], x[1], x[3], x[4], 0.0]), out, w)
        y[0], y[1], y[3], y[4] = out
        y[2] = x[5]
        y[5] = -1e8 * (x[2] - x[0]) - 2e4 * (x[5] - x[3]) + y[3]  # the spring's other end is the pendulum: z = x is a solution
        return 0

    def project(x, y, w):
        out = np.zeros(7)
        assert PENDULUM.project is not None
        PENDULUM.project.callable(np.array([x[0], x[1], x[3], x[4], 0.0]), out, w)
        y[0], y[1], y[3], y[4] = out[:4]
        y[2], y[5] = x[2], x[5]
        y[6:9] = out[4:]
        return 0

    problem = Problem(StepKernel(7, 6, function=rates), 3, 3, project=StepKernel(7, 9, function=project))
    q = pendulum_start(1.0)
    t = np.linspace(0.0, 2.0, 9)
    run = integrate(problem, [q[0], q[1], q[0] + 1e-3, 0.0, 0.0, 0.0], 0.0, 2.0, "rodas", tolerance=1e-7, samples=t)
    assert run.counters["steps"] < 400
    np.testing.assert_allclose(np.arctan2(run.y[:, 0], -run.y[:, 1]), pendulum_angle(1.0, t), atol=1e-5)
    np.testing.assert_allclose(run.y[1:, 2], run.y[1:, 0], atol=1e-6)
    assert np.abs(np.hypot(run.y[:, 0], run.y[:, 1]) / 0.7 - 1.0).max() < 1e-14


def test_quaternions_keep_their_length():
    problem = Problem(StepKernel(8, 7, function=spinning), 4, 3, quaternions=(0,))
    rates = np.array([0.3, -1.1, 0.8])
    t = np.linspace(0.0, 3.0, 10)
    run = integrate(problem, [1.0, 0.0, 0.0, 0.0, *rates], 0.0, 3.0, "rodas", tolerance=1e-8, samples=t)
    assert np.abs(np.linalg.norm(run.y[:, :4], axis=1) - 1.0).max() < 1e-15
    half = 0.5 * np.linalg.norm(rates) * t
    exact = np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * rates / np.linalg.norm(rates)], axis=1)
    assert np.abs(run.y[:, :4] - exact).max() < 1e-6


def test_rates_that_exist_on_one_side_only_are_differentiated_there():
    """y' = -sqrt(y) from y = 1: the increment goes the way the motion goes, and back where that leaves the domain."""

    def draining(x, y, w):
        if x[0] > 1.0 or x[0] < 0.0:
            return 1
        y[0] = -math.sqrt(x[0]) if x[2] == 0.0 else math.sqrt(x[0]) * 0.0 + 0.1 * (1.0 - x[0])
        return 0

    problem = Problem(StepKernel(3, 1, function=draining), 1, 0, parameters=(0.0,))
    run = integrate(problem, [1.0], 0.0, 1.5, "rodas", tolerance=1e-8)
    assert run.complete and abs(run.end_state[0] - 0.0625) < 1e-7
    rest = integrate(replace(problem, parameters=(1.0,)), [1.0], 0.0, 1.0, "rodas", tolerance=1e-8)
    assert rest.complete and rest.end_state[0] == 1.0
