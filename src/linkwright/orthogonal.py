"""Small rank-revealing factorisations as plain loops over float arrays: complete orthogonal and pivoted Cholesky.

The loops keep to the subset that Numba compiles: run as they are they are the reference, compiled they serve native
code. Rank is decided as in `linalg`: against an absolute tolerance on dimensionless matrices, so that a single
vanishing row counts as lost. The decomposition is

    A Pi = Q [ T 0 ] Z          Householder QR with column pivoting, then the trapezoid reduced from the right (RZ)
             [ 0 0 ]

and carries minimum-norm least squares of A and of A', and orthonormal bases of row and null space.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

STALE = 1e-8  # a downdated squared norm below this share of its last exact value has lost half of its digits


class Cod(NamedTuple):
    """Factors in place: T above the diagonal, reflectors of Q below it, those of Z right of column `rank`."""

    A: np.ndarray  # (m, n)
    order: np.ndarray  # (n,): column k of the factors is column order[k] of the matrix
    q_weights: np.ndarray  # of the reflectors 1 - w u u'
    z_weights: np.ndarray
    rank: int


def decompose(matrix: np.ndarray, tolerance: float) -> Cod:
    """Complete orthogonal decomposition; pivots not above the absolute tolerance end it."""
    m, n = matrix.shape
    A = matrix.copy()
    order = np.arange(n)
    most = min(m, n)
    q_weights, z_weights = np.zeros(most), np.zeros(most)
    squares, exact = np.zeros(n), np.zeros(n)
    for j in range(n):
        squares[j] = _column_square(A, 0, j)
        exact[j] = squares[j]
    rank = 0
    for k in range(most):
        largest = k
        for j in range(k + 1, n):
            if squares[j] > squares[largest]:
                largest = j
        if largest != k:
            _swap_columns(A, order, k, largest)
            squares[largest], exact[largest] = squares[k], exact[k]
        pivot = math.sqrt(_column_square(A, k, k))
        if not pivot > tolerance:
            break
        rank = k + 1
        if A[k, k] > 0.0:
            pivot = -pivot
        q_weights[k] = (pivot - A[k, k]) / pivot
        scale = 1.0 / (A[k, k] - pivot)
        for i in range(k + 1, m):
            A[i, k] *= scale
        A[k, k] = pivot
        for j in range(k + 1, n):
            _reflect_column(A, k, j, q_weights[k])
            squares[j] -= A[k, j] * A[k, j]
            if squares[j] <= STALE * exact[j]:
                squares[j] = _column_square(A, k + 1, j)
                exact[j] = squares[j]
    _clear_right(A, rank, z_weights)
    return Cod(A, order, q_weights, z_weights, rank)


def _column_square(A: np.ndarray, first: int, j: int) -> float:
    s = 0.0
    for i in range(first, A.shape[0]):
        s += A[i, j] * A[i, j]
    return s


def _swap_columns(A: np.ndarray, order: np.ndarray, a: int, b: int) -> None:
    for i in range(A.shape[0]):
        kept = A[i, a]
        A[i, a] = A[i, b]
        A[i, b] = kept
    place = order[a]
    order[a] = order[b]
    order[b] = place


def _reflect_column(A: np.ndarray, k: int, j: int, weight: float) -> None:
    """Column j times the reflector that is stored below the diagonal of column k."""
    m = A.shape[0]
    d = A[k, j]
    for i in range(k + 1, m):
        d += A[i, k] * A[i, j]
    d *= weight
    A[k, j] -= d
    for i in range(k + 1, m):
        A[i, j] -= d * A[i, k]


def _clear_right(A: np.ndarray, rank: int, weights: np.ndarray) -> None:
    """[R11 R12] = [T 0] Z: one reflector per row, last row first."""
    n = A.shape[1]
    for k in range(rank - 1, -1, -1):
        s = 0.0
        for j in range(rank, n):
            s += A[k, j] * A[k, j]
        if s == 0.0:
            continue
        pivot = math.sqrt(A[k, k] * A[k, k] + s)
        if A[k, k] > 0.0:
            pivot = -pivot
        weights[k] = (pivot - A[k, k]) / pivot
        scale = 1.0 / (A[k, k] - pivot)
        for j in range(rank, n):
            A[k, j] *= scale
        A[k, k] = pivot
        for i in range(k):
            d = A[i, k]
            for j in range(rank, n):
                d += A[k, j] * A[i, j]
            d *= weights[k]
            A[i, k] -= d
            for j in range(rank, n):
                A[i, j] -= d * A[k, j]


def _times_z_transposed(f: Cod, y: np.ndarray) -> None:
    """y = Z' y in place."""
    n = f.A.shape[1]
    for k in range(f.rank):
        if f.z_weights[k] != 0.0:
            d = y[k]
            for j in range(f.rank, n):
                d += f.A[k, j] * y[j]
            d *= f.z_weights[k]
            y[k] -= d
            for j in range(f.rank, n):
                y[j] -= d * f.A[k, j]


def solve(f: Cod, b: np.ndarray) -> np.ndarray:
    """Minimum-norm least-squares x of A x = b."""
    m, n = f.A.shape
    c = b.copy()
    for k in range(f.rank):
        d = c[k]
        for i in range(k + 1, m):
            d += f.A[i, k] * c[i]
        d *= f.q_weights[k]
        c[k] -= d
        for i in range(k + 1, m):
            c[i] -= d * f.A[i, k]
    y = np.zeros(n)
    for k in range(f.rank - 1, -1, -1):
        s = c[k]
        for j in range(k + 1, f.rank):
            s -= f.A[k, j] * y[j]
        y[k] = s / f.A[k, k]
    _times_z_transposed(f, y)
    x = np.zeros(n)
    for k in range(n):
        x[f.order[k]] = y[k]
    return x


def solve_transposed(f: Cod, b: np.ndarray) -> np.ndarray:
    """Minimum-norm least-squares x of A' x = b, with the factors of A."""
    m, n = f.A.shape
    y = np.zeros(n)
    for k in range(n):
        y[k] = b[f.order[k]]
    for k in range(f.rank - 1, -1, -1):  # y = Z y
        if f.z_weights[k] != 0.0:
            d = y[k]
            for j in range(f.rank, n):
                d += f.A[k, j] * y[j]
            d *= f.z_weights[k]
            y[k] -= d
            for j in range(f.rank, n):
                y[j] -= d * f.A[k, j]
    x = np.zeros(m)
    for k in range(f.rank):  # T' x = y
        s = y[k]
        for j in range(k):
            s -= f.A[j, k] * x[j]
        x[k] = s / f.A[k, k]
    for k in range(f.rank - 1, -1, -1):  # x = Q x
        d = x[k]
        for i in range(k + 1, m):
            d += f.A[i, k] * x[i]
        d *= f.q_weights[k]
        x[k] -= d
        for i in range(k + 1, m):
            x[i] -= d * f.A[i, k]
    return x


def basis(f: Cod) -> np.ndarray:
    """(n, n) orthonormal: the first `rank` columns span the row space of A, the others its null space."""
    n = f.A.shape[1]
    B = np.zeros((n, n))
    y = np.zeros(n)
    for column in range(n):
        for k in range(n):
            y[k] = 0.0
        y[column] = 1.0
        _times_z_transposed(f, y)
        for k in range(n):
            B[f.order[k], column] = y[k]
    return B


def null_projector(f: Cod) -> np.ndarray:
    """Orthogonal projector onto the null space, 1 - J^+ J; from the smaller of the two bases."""
    n = f.A.shape[1]
    B = basis(f)
    P = np.zeros((n, n))
    lean = f.rank > n - f.rank  # sum over the null space
    first, last = (f.rank, n) if lean else (0, f.rank)
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(first, last):
                s += B[i, k] * B[j, k]
            P[i, j] = s if lean else -s
        if not lean:
            P[i, i] += 1.0
    return P


def cod_solve(A: np.ndarray, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    """(x, rank): minimum-norm least-squares solution of A x = b."""
    f = decompose(A, tolerance)
    return solve(f, b), f.rank


class Cholesky(NamedTuple):
    """G[order][:, order] = L L' as far as the rank goes; G symmetric, positive semidefinite."""

    L: np.ndarray
    order: np.ndarray
    rank: int


def cholesky_pivoted(G: np.ndarray, tolerance: float) -> Cholesky:
    """Largest remaining diagonal entry first; one that is not above the absolute tolerance ends it."""
    n = G.shape[0]
    L = G.copy()
    order = np.arange(n)
    rank = 0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if L[i, i] > L[p, p]:
                p = i
        if not L[p, p] > tolerance:
            break
        rank = k + 1
        if p != k:
            _swap_symmetric(L, order, k, p)
        root = math.sqrt(L[k, k])
        L[k, k] = root
        for i in range(k + 1, n):
            L[i, k] /= root
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                L[i, j] -= L[i, k] * L[j, k]
    for i in range(n):
        for j in range(i + 1 if i < rank else rank, n):
            L[i, j] = 0.0
    return Cholesky(L, order, rank)


def _swap_symmetric(L: np.ndarray, order: np.ndarray, k: int, p: int) -> None:
    """Rows and columns k < p change places; only the lower triangle is kept up."""
    n = L.shape[0]
    for j in range(k):
        L[k, j], L[p, j] = L[p, j], L[k, j]
    for i in range(k + 1, p):
        L[i, k], L[p, i] = L[p, i], L[i, k]
    for i in range(p + 1, n):
        L[i, k], L[i, p] = L[i, p], L[i, k]
    L[k, k], L[p, p] = L[p, p], L[k, k]
    order[k], order[p] = order[p], order[k]


def cholesky_solve(f: Cholesky, b: np.ndarray) -> np.ndarray:
    """A solution of G x = b with zeros in the n - rank places that were left over."""
    n = f.L.shape[0]
    y, x = np.zeros(n), np.zeros(n)
    for i in range(f.rank):
        s = b[f.order[i]]
        for j in range(i):
            s -= f.L[i, j] * y[j]
        y[i] = s / f.L[i, i]
    for i in range(f.rank - 1, -1, -1):
        s = y[i]
        for j in range(i + 1, f.rank):
            s -= f.L[j, i] * y[j]
        y[i] = s / f.L[i, i]
    for i in range(f.rank):
        x[f.order[i]] = y[i]
    return x
