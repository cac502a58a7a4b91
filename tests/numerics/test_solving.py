"""Minimum-norm solutions of matrices and stacks, and elimination over any scalar, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.numerics.linalg import factor, least_squares
from linkwright.numerics.scalars import eliminate


def lost(rng: np.random.Generator, m: int, n: int, rank: int) -> np.ndarray:
    return rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))


@pytest.mark.parametrize("thin", [False, True])
def test_a_stack_of_different_ranks_is_solved_like_its_matrices(rng: np.random.Generator, thin: bool) -> None:
    A = np.array([lost(rng, 4, 6, r) for r in (4, 2, 0, 3)])
    b, several, damping = rng.normal(size=(4, 4)), rng.normal(size=(4, 4, 3)), np.array([0.0, 0.1, 2.0, 0.0])
    f = factor(A, thin=thin)
    assert f.rank.tolist() == [4, 2, 0, 3]
    for i, single in enumerate(A):
        alone = factor(single, thin=thin)
        np.testing.assert_allclose(f.solve(b)[i], np.linalg.pinv(single, rcond=1e-9) @ b[i], atol=1e-11)
        np.testing.assert_allclose(f.solve(several)[i], alone.solve(several[i]), atol=1e-12)
        np.testing.assert_allclose(f.solve(b, damping)[i], alone.solve(b[i], float(damping[i])), atol=1e-12)
    np.testing.assert_allclose(f.at_most(2).solve(b)[0], factor(A[0]).at_most(2).solve(b[0]), atol=1e-12)


def test_damping_solves_the_damped_normal_equations(rng: np.random.Generator) -> None:
    A, b, d = rng.normal(size=(5, 3)), rng.normal(size=5), 0.3
    np.testing.assert_allclose(factor(A).solve(b, d), np.linalg.solve(A.T @ A + d * np.eye(3), A.T @ b), atol=1e-13)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_without_rows_or_columns_nothing_is_solved(shape: tuple[int, int]) -> None:
    for A, b in ((np.zeros(shape), np.zeros(shape[0])), (np.zeros((2, *shape)), np.zeros((2, shape[0])))):
        assert not factor(A).solve(b).any() and factor(A).solve(b).shape == (*A.shape[:-2], shape[1])


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_least_squares_does_not_depend_on_the_unit(rng: np.random.Generator, size: float) -> None:
    A, b = size * lost(rng, 6, 4, 3), rng.normal(size=6)
    np.testing.assert_allclose(least_squares(A, b, 1e-10) * size, np.linalg.lstsq(A / size, b, rcond=1e-10)[0], atol=1e-11)


def test_elimination_in_any_order_of_any_columns(rng: np.random.Generator) -> None:
    A, b = rng.normal(size=(5, 5)) + 1j * rng.normal(size=(5, 5)), rng.normal(size=(5, 2))
    order = [3, 1, 4, 0, 2], [1, 0, 4, 2, 3]
    for x, pivots in (eliminate(A, b, order), eliminate(A, b, order, quotients=True)):
        np.testing.assert_allclose(x, np.linalg.solve(A, b), atol=1e-12)
        np.testing.assert_allclose(abs(np.prod(pivots)), abs(np.linalg.det(A)))


def test_a_mended_pivot_is_a_change_of_the_diagonal(rng: np.random.Generator) -> None:
    A, b = rng.normal(size=(3, 3)) + 3.0 * np.eye(3), rng.normal(size=3)
    x, pivots = eliminate(A, b, mended=lambda k, pivot: pivot + (0.5 if k == 1 else 0.0))
    np.testing.assert_allclose(x, np.linalg.solve(A + np.diag([0.0, 0.5, 0.0]), b), atol=1e-13)
    assert pivots[1] == eliminate(A, b)[1][1]
