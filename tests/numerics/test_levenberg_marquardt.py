"""Batched Levenberg-Marquardt against scipy's least_squares, one candidate at a time, and against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

from linkwright.numerics.levenberg_marquardt import levenberg_marquardt

T = np.linspace(0.0, 3.0, 12)


def decay(x: np.ndarray, rows: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Residuals of a exp(-b t) + c and their derivatives."""
    a, b, c = (x[:, k, None] for k in range(3))
    falling = np.exp(-b * T)
    return a * falling + c - data[rows], np.stack([falling, -a * T * falling, np.ones_like(falling)], axis=-1)


@pytest.fixture
def data() -> np.ndarray:
    rng = np.random.default_rng(4)
    true = rng.uniform([0.5, 0.4, -1.0], [2.0, 2.0, 1.0], (20, 3))
    return decay(true, np.arange(20), np.zeros((20, len(T))))[0] + 0.05 * rng.standard_normal((20, len(T)))


def test_every_candidate_ends_where_scipy_does(data: np.ndarray) -> None:
    start = np.tile([1.0, 1.0, 0.0], (20, 1))
    low, high = np.array([0.0, 0.0, -0.3]), np.array([1.5, 3.0, 0.3])  # some optima are on these bounds
    found = levenberg_marquardt(lambda x, rows: decay(x, rows, data), start, low, high, iterations=300, tolerance=1e-12)
    bound = 0
    for k in range(20):
        known = least_squares(
            lambda x, k=k: decay(x[None], np.array([k]), data)[0][0], start[k], bounds=(low, high), xtol=1e-14, ftol=1e-14
        )
        # both stop at relative decreases of 1e-12 to 1e-14
        assert found.cost[k] == pytest.approx(2.0 * known.cost, rel=1e-8)
        bound += bool((np.abs(found.x[k] - low) < 1e-12).any() or (np.abs(found.x[k] - high) < 1e-12).any())
    assert bound >= 5, "the bounds matter in this test"
    assert (found.x >= low).all() and (found.x <= high).all()


def test_candidates_do_not_influence_each_other(data: np.ndarray) -> None:
    start = np.random.default_rng(1).uniform(0.1, 2.0, (20, 3))
    low, high = np.full(3, -5.0), np.full(3, 5.0)
    together = levenberg_marquardt(lambda x, rows: decay(x, rows, data), start, low, high)
    for k in (0, 7, 19):
        alone = levenberg_marquardt(lambda x, rows, k=k: decay(x, rows + k, data), start[k : k + 1], low, high)
        assert np.allclose(alone.x[0], together.x[k], rtol=1e-9, atol=0.0) and alone.iterations[0] == together.iterations[k]


def test_held_variables_stay_and_idle_ones_do_no_harm(data: np.ndarray) -> None:
    start = np.tile([1.0, 1.0, 0.25, 7.0], (20, 1))

    def with_idle(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        residual, jacobian = decay(x[:, :3], rows, data)
        return residual, np.concatenate([jacobian, np.zeros((*residual.shape, 1))], axis=-1)  # the last variable has no influence

    free = np.array([True, True, False, True])
    found = levenberg_marquardt(with_idle, start, np.full(4, -9.0), np.full(4, 9.0), free=free)
    assert (found.x[:, 2] == 0.25).all() and (found.x[:, 3] == 7.0).all()
    held = least_squares(lambda x: decay(np.array([[x[0], x[1], 0.25]]), np.array([3]), data)[0][0], [1.0, 1.0])
    assert found.cost[3] == pytest.approx(2.0 * held.cost, rel=1e-7)


def test_starts_that_are_not_finite_stay_apart(data: np.ndarray) -> None:
    start = np.tile([1.0, 1.0, 0.0], (20, 1))
    start[4] = [1.0, -400.0, 0.0]  # overflows
    with np.errstate(over="ignore", invalid="ignore"):
        found = levenberg_marquardt(lambda x, rows: decay(x, rows, data), start, np.full(3, -500.0), np.full(3, 500.0))
    assert np.isinf(found.cost[4]) and found.iterations[4] == 0 and np.isfinite(np.delete(found.cost, 4)).all()
    assert 4 not in found.best(19)


def test_an_exact_fit_ends_at_rounding_and_early() -> None:
    def product(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x y = 2 and x - y = 1 have the root (2, 1)."""
        r = np.stack([x[:, 0] * x[:, 1] - 2.0, x[:, 0] - x[:, 1] - 1.0], axis=1)
        J = np.stack([x[:, ::-1], np.tile([1.0, -1.0], (len(x), 1))], axis=1)
        return r, J

    found = levenberg_marquardt(product, np.array([[3.0, 3.0], [1.0, 0.1]]), np.zeros(2), np.full(2, 9.0), target=1e-30)
    assert found.cost.max() <= 1e-30 and np.allclose(found.x, [2.0, 1.0]) and found.iterations.max() < 30


def test_penalties_outside_of_the_scaling_do_not_damp_motion_along_a_limit() -> None:
    """A curved valley with x + y <= 1 as a penalty of weight 1000, on which the optimum lies: 30 iterations do with scaling only."""

    def valley(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        over = np.maximum(x.sum(axis=1) - 1.0, 0.0)
        r = np.stack([3.0 * (x[:, 1] - x[:, 0] ** 2), 1.0 - x[:, 0], 1e3 * over], axis=1)
        J = np.zeros((len(x), 3, 2))
        J[:, 0, 0], J[:, 0, 1], J[:, 1, 0] = -6.0 * x[:, 0], 3.0, -1.0
        J[:, 2] = 1e3 * (over > 0.0)[:, None]
        return r, J

    start = np.array([[0.0, 0.9]])
    low, high = np.full(2, -9.0), np.full(2, 9.0)
    scaled, plain = (levenberg_marquardt(valley, start, low, high, scaling=k, iterations=30, tolerance=1e-13) for k in (2, None))
    x = np.linspace(0.5, 0.8, 300_001)  # on the line y = 1 - x
    known = (9.0 * (1.0 - x - x * x) ** 2 + (1.0 - x) ** 2).min()
    assert scaled.cost[0] == pytest.approx(known, rel=1e-5), "the penalty lets the limit be passed by 1e-6"
    assert plain.cost[0] > 10.0 * known, "it creeps along the limit"
