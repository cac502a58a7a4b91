"""Least squares with inequalities: conditions of optimality, bounds against scipy, infeasible limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from linkwright.numerics.constrained_gauss_newton import constrained_least_squares, step_with_inequalities


@pytest.mark.parametrize("seed", range(6))
def test_a_step_meets_the_conditions_of_optimality(seed: int) -> None:
    rng = np.random.default_rng(seed)
    J, r, G = rng.standard_normal((9, 5)), rng.standard_normal(9), rng.standard_normal((7, 5))
    h = rng.uniform(-0.2, 0.5, 7)
    least, most = np.full(5, -0.4), np.full(5, 0.6)
    found = step_with_inequalities(J, r, G, h, least, most, 1e-12)
    assert found is not None
    d, multipliers = found
    every = np.vstack([G, -np.eye(5), np.eye(5)])
    slack = np.concatenate([h, -least, most]) - every @ d
    # J'(J d + r) + G' lambda = 0 with lambda >= 0 where the slack is 0; rounding of a 5 x 5 QR and of the damping 1e-12
    assert slack.min() > -1e-9 and multipliers.min() >= 0.0 and np.abs(multipliers * slack).max() < 1e-8
    assert np.abs(2.0 * J.T @ (J @ d + r) + multipliers @ every).max() < 1e-8
    assert (multipliers > 1e-9).any(), "limits bind in this test"


def test_bounds_alone_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    J, r = rng.standard_normal((12, 6)), rng.standard_normal(12)
    low, high = np.full(6, -0.1), np.full(6, 0.15)
    known = lsq_linear(J, -r, (low, high), tol=1e-14)
    fit = constrained_least_squares(lambda x: (J @ x + r, J, np.zeros(0), np.zeros((0, 6))), np.zeros(6), low, high)
    assert fit.converged and np.allclose(fit.x, known.x, atol=1e-8)


def test_a_curved_problem_on_a_curved_limit() -> None:
    """The point of the circle of radius 1 nearest to p = (1.2, 0.5): p / |p|."""
    p = np.array([1.2, 0.5])

    def evaluated(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return x - p, np.eye(2), np.array([x @ x - 1.0]), 2.0 * x[None]

    fit = constrained_least_squares(evaluated, np.array([0.1, -0.5]), np.full(2, -5.0), np.full(2, 5.0))
    # 2 (x - p) + lambda 2 x = 0: lambda = |p| - 1 = 0.3; without the limit's curvature errors fall by that factor a step
    assert np.allclose(fit.x, p / 1.3, atol=1e-6) and fit.multipliers[0] == pytest.approx(0.3, rel=1e-3)


def test_limits_that_exclude_each_other_have_no_step() -> None:
    rows, limits = np.array([[1.0], [-1.0]]), np.array([-1.0, -1.0])  # d <= -1 and d >= 1
    assert step_with_inequalities(np.eye(1), np.zeros(1), rows, limits, np.array([-9.0]), np.array([9.0]), 1e-9) is None
