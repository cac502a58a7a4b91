"""Rank-revealing loops against the singular value decomposition, as Python and compiled."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.compiler.loops import native
from linkwright.numerics import orthogonal
from linkwright.numerics.linalg import factor

SHAPES = [(6, 6, 6), (6, 6, 4), (4, 9, 3), (9, 4, 2), (1, 5, 1), (5, 1, 1), (3, 3, 0), (0, 3, 0), (3, 0, 0), (0, 0, 0), (18, 24, 16)]
TOLERANCE = 1e-9


def matrix(rng, m, n, rank):
    """Random, of given rank, with singular values between 0.3 and 3."""
    U, V = (np.linalg.qr(rng.normal(size=(k, k)))[0] if k else np.zeros((0, 0)) for k in (m, n))
    return U[:, :rank] * rng.uniform(0.3, 3.0, size=rank) @ V[:rank]


def decomposed(A):
    f = orthogonal.cod(*A.shape)
    f.A[:] = A
    orthogonal.decompose(f, TOLERANCE)
    return f


@pytest.mark.parametrize(("m", "n", "rank"), SHAPES)
def test_minimum_norm_least_squares(rng, m, n, rank):
    A, b, d = matrix(rng, m, n, rank), rng.normal(size=m), rng.normal(size=n)
    reference = factor(A, TOLERANCE)
    x, found = orthogonal.cod_solve(A, b, TOLERANCE)
    assert found == rank == reference.rank
    np.testing.assert_allclose(x, reference.solve(b), atol=1e-13)  # condition 10
    f, z = decomposed(A), np.zeros(m)
    orthogonal.solve_transposed(f, d, z)
    np.testing.assert_allclose(z, factor(A.T, TOLERANCE).solve(d), atol=1e-13)


@pytest.mark.parametrize(("m", "n", "rank"), SHAPES)
def test_bases_and_projector(rng, m, n, rank):
    A = matrix(rng, m, n, rank)
    f, B, P = decomposed(A), np.zeros((n, n)), np.zeros((n, n))
    orthogonal.basis(f, B)
    orthogonal.null_projector(f, B, P)
    np.testing.assert_allclose(B.T @ B, np.eye(n), atol=1e-14)
    np.testing.assert_allclose(A @ B[:, rank:], 0.0, atol=1e-14)
    N = factor(A, TOLERANCE).null
    np.testing.assert_allclose(P, N @ N.T, atol=1e-13)


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
    f, y = orthogonal.cholesky(n), np.ones(n)
    f.L[:] = G
    assert orthogonal.cholesky_pivoted(f, 1e-12) == rank
    np.testing.assert_allclose(f.L @ f.L.T, G[np.ix_(f.order, f.order)], atol=1e-13)
    orthogonal.cholesky_solve(f, G @ x, y)
    np.testing.assert_allclose(G @ y, G @ x, atol=1e-12)
    assert np.count_nonzero(y) <= rank


def test_room_can_be_used_again(rng):
    """Nothing of an earlier matrix, of higher or lower rank, is left."""
    f, x = orthogonal.cod(4, 6), np.zeros(6)
    for rank in (4, 2, 3, 0, 4):
        A, b = matrix(rng, 4, 6, rank), rng.normal(size=4)
        f.A[:] = A
        assert orthogonal.decompose(f, TOLERANCE) == rank
        orthogonal.solve(f, b, x)
        np.testing.assert_allclose(x, factor(A, TOLERANCE).solve(b), atol=1e-13)


def test_compiled_loops_give_the_same_bits(rng):
    room, gram, vector = orthogonal.cod(1, 1), orthogonal.cholesky(1), np.zeros(1)
    calls = [
        (orthogonal.decompose, (room, 1.0)),
        (orthogonal.solve, (room, vector, vector)),
        (orthogonal.solve_transposed, (room, vector, vector)),
        (orthogonal.basis, (room, room.A)),
        (orthogonal.cholesky_pivoted, (gram, 1.0)),
        (orthogonal.cholesky_solve, (gram, vector, vector)),
    ]
    compiled = [native(function, example) for function, example in calls]
    for m, n, rank in SHAPES:
        A, b, d = matrix(rng, m, n, rank), rng.normal(size=m), rng.normal(size=n)
        found = []
        for versions in ([function for function, _ in calls], compiled):
            f, g, x, y, B, z = orthogonal.cod(m, n), orthogonal.cholesky(m), np.zeros(n), np.zeros(m), np.zeros((n, n)), np.zeros(m)
            f.A[:] = A
            g.L[:] = A @ A.T
            decompose, solve, solve_transposed, basis, pivoted, back = versions
            assert decompose(f, TOLERANCE) == pivoted(g, 1e-12) == rank
            solve(f, b, x)
            solve_transposed(f, d, y)
            basis(f, B)
            back(g, b, z)
            found.append([x, y, B, z, f.A, f.order, g.L])
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_array_equal(ours, theirs)
