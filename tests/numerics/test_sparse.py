"""Ranks, null spaces and minimum-norm solutions of large sparse matrices against the singular value decomposition."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwright.numerics import linalg
from linkwright.numerics.linalg import LARGE, SparseMatrix, sparse_rows


def banded(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Rows with four entries side by side: a chain of loops."""
    rng, A = np.random.default_rng(seed), np.zeros((rows, columns))
    for i in range(rows):
        first = min(i * columns // rows, columns - 4)
        A[i, first : first + 4] = np.array([0.0, 3.0, 0.0, 0.0]) + rng.normal(size=4)
    return A


def with_implied(A: np.ndarray) -> np.ndarray:
    return np.vstack([A[:60], A[3] + 2.0 * A[40], A[60:], 0.5 * A[7] - A[90]])


@pytest.mark.parametrize("A", [banded(200, 230), banded(200, 200, 1), with_implied(banded(180, 230, 2))])
def test_sparse_factors_agree_with_singular_values(A):
    f, (U, s, Vt) = linalg.factor(A), np.linalg.svd(A)
    rank, b = int(np.count_nonzero(s > 1e-9)), np.random.default_rng(3).normal(size=(len(A), 2))
    assert sparse_rows(A) is not None
    assert f.rank == rank and f.null.shape == (A.shape[1], A.shape[1] - rank) and f.left_null.shape == (len(A), len(A) - rank)
    condition = s[0] / s[rank - 1]
    assert np.abs(A @ f.null).max(initial=0.0) < 1e-13 and np.abs(f.left_null.T @ A).max(initial=0.0) < 1e-13 * condition
    for N in (f.null, f.left_null):
        assert np.abs(N.T @ N - np.eye(N.shape[1])).max(initial=0.0) < 1e-13
    exact = Vt[:rank].T @ ((U[:, :rank].T @ b).T / s[:rank]).T
    assert np.abs(f.solve(b) - exact).max() < 1e-13 * condition * np.abs(exact).max()
    assert np.abs(f.solve(b[:, 0]) - exact[:, 0]).max() < 1e-13 * condition * np.abs(exact).max()
    assert f.regular(0.0) == (rank == len(A)) and f.strong(1e-3) == rank
    damped = np.linalg.solve(A.T @ A + 0.1 * np.eye(A.shape[1]), A.T @ b)
    assert np.abs(f.solve(b, 0.1) - damped).max() < 1e-11 * np.abs(damped).max()
    assert pickle.loads(pickle.dumps(f)).rank == rank


def test_the_smallest_singular_value_is_estimated():
    A = banded(200, 230)
    assert linalg.factor(A).smallest == pytest.approx(np.linalg.svd(A)[1][-1], rel=0.1)


def test_doubtful_ranks_are_left_to_the_singular_values():
    A = banded(180, 230, 2)
    nearly = np.vstack([A, A[3] + 2.0 * A[40]])
    nearly[-1, 150] += 1e-5
    assert sparse_rows(nearly) is None and linalg.factor(nearly).rank == 181
    assert sparse_rows(np.vstack([A, 1e-12 * A[:1]])) is None
    assert sparse_rows(np.random.default_rng(0).normal(size=(200, 200))) is None  # full
    assert sparse_rows(banded(LARGE - 1, LARGE)) is None  # small
    assert linalg.factor(A).at_most(100).rank == 100


def test_a_sparse_matrix_in_place_of_an_array():
    """It multiplies and is factored as it is, and is the same numbers as an array for everything else."""
    A = banded(200, 230)
    rows, columns = np.nonzero(A)
    S = SparseMatrix.of(A[rows, columns], rows, columns, A.shape)
    x = np.random.default_rng(0).normal(size=A.shape[1])
    assert np.allclose(S @ x, A @ x, rtol=1e-14, atol=1e-14) and np.array_equal(np.asarray(S), A) and len(S) == len(A)
    assert np.array_equal(S * 2.0 + A, 3.0 * A) and np.array_equal(S[3:5], A[3:5]) and np.array_equal(S.T.dense, A.T)
    assert np.array_equal(np.concatenate([S, A]), np.concatenate([A, A]))
    f, g = linalg.factor(S), linalg.factor(A)
    assert f.rank == g.rank and np.abs(f.solve(A @ x) - g.solve(A @ x)).max() < 1e-12 * np.abs(x).max()
    scale = 1.0 + np.arange(len(A))
    assert np.array_equal(S.scaled(scale, np.ones(A.shape[1])).dense, A * scale[:, None])
