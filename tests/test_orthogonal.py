"""Rank-revealing loops against the singular value decomposition, as Python and compiled."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright import orthogonal
from linkwright.compiler.numba_bridge import native
from linkwright.linalg import factor

SHAPES = [(6, 6, 6), (6, 6, 4), (4, 9, 3), (9, 4, 2), (1, 5, 1), (5, 1, 1), (3, 3, 0), (0, 3, 0), (3, 0, 0), (0, 0, 0), (18, 24, 16)]
TOLERANCE = 1e-9


def matrix(rng, m, n, rank):
    """Random, of given rank, with singular values between 0.3 and 3."""
    U, V = (np.linalg.qr(rng.normal(size=(k, k)))[0] if k else np.zeros((0, 0)) for k in (m, n))
    return U[:, :rank] * rng.uniform(0.3, 3.0, size=rank) @ V[:rank]


@pytest.mark.parametrize(("m", "n", "rank"), SHAPES)
def test_minimum_norm_least_squares(rng, m, n, rank):
    A, b, d = matrix(rng, m, n, rank), rng.normal(size=m), rng.normal(size=n)
    reference = factor(A, TOLERANCE)
    x, found = orthogonal.cod_solve(A, b, TOLERANCE)
    assert found == rank == reference.rank
    np.testing.assert_allclose(x, reference.solve(b), atol=1e-13)  # condition 10
    f = orthogonal.decompose(A, TOLERANCE)
    np.testing.assert_allclose(orthogonal.solve_transposed(f, d), factor(A.T, TOLERANCE).solve(d), atol=1e-13)


@pytest.mark.parametrize(("m", "n", "rank"), SHAPES)
def test_bases_and_projector(rng, m, n, rank):
    A = matrix(rng, m, n, rank)
    f = orthogonal.decompose(A, TOLERANCE)
    B = orthogonal.basis(f)
    np.testing.assert_allclose(B.T @ B, np.eye(n), atol=1e-14)
    np.testing.assert_allclose(A @ B[:, rank:], 0.0, atol=1e-14)
    N = factor(A, TOLERANCE).null
    np.testing.assert_allclose(orthogonal.null_projector(f), N @ N.T, atol=1e-13)


def test_rank_is_decided_by_an_absolute_tolerance():
    for size, rank in ((2e-9, 1), (0.5e-9, 0)):
        A = np.array([[size, 0.0, 0.0]])
        x, found = orthogonal.cod_solve(A, np.array([size]), TOLERANCE)
        assert found == rank
        np.testing.assert_allclose(x, [float(rank), 0.0, 0.0], atol=1e-15)


def test_columns_of_very_different_size_keep_their_digits():
    """Norms are downdated; where that loses digits they are taken anew."""
    A = np.array([[1.0, 1.0, 1.0], [1e-7, 0.0, 0.0], [0.0, 1e-7, 0.0], [0.0, 0.0, 1e-7]])
    x = np.array([3.0, -2.0, 1.0])
    found, rank = orthogonal.cod_solve(A, A @ x, TOLERANCE)
    assert rank == 3
    np.testing.assert_allclose(found, x, atol=1e-8)  # condition 2e7


@pytest.mark.parametrize(("n", "rank"), [(5, 5), (7, 4), (1, 1), (1, 0), (3, 0), (0, 0)])
def test_pivoted_cholesky(rng, n, rank):
    A = matrix(rng, n, n, rank)
    G, x = A @ A.T, rng.normal(size=n)
    f = orthogonal.cholesky_pivoted(G, 1e-12)
    assert f.rank == rank
    np.testing.assert_allclose(f.L @ f.L.T, G[np.ix_(f.order, f.order)], atol=1e-13)
    y = orthogonal.cholesky_solve(f, G @ x)
    np.testing.assert_allclose(G @ y, G @ x, atol=1e-12)
    assert np.count_nonzero(y) <= rank


def test_compiled_loops_give_the_same_bits(rng):
    square, vector = np.zeros((1, 1)), np.zeros(1)
    solve = native(orthogonal.cod_solve, (square, vector, 1.0), "solver")
    cholesky = native(orthogonal.cholesky_pivoted, (square, 1.0), "solver")
    for m, n, rank in SHAPES:
        A, b = matrix(rng, m, n, rank), rng.normal(size=m)
        x, found = orthogonal.cod_solve(A, b, TOLERANCE)
        y, again = solve(A, b, TOLERANCE)
        assert found == again
        np.testing.assert_array_equal(x, y)
        for ours, theirs in zip(orthogonal.cholesky_pivoted(A @ A.T, 1e-12), cholesky(A @ A.T, 1e-12), strict=True):
            np.testing.assert_array_equal(ours, theirs)
