"""Small rank-revealing factorisations as plain loops over float arrays: complete orthogonal and pivoted Cholesky.

The loops keep to the subset that `compiler.loops` makes native and allocate nothing: run as they are they are the
reference, compiled they serve native code. Rank is decided as in `linalg`: against an absolute tolerance on
dimensionless matrices, so that a single vanishing row counts as lost. The decomposition is

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
    """The matrix, then its factors in place: T above the diagonal, reflectors of Q below it, those of Z right of the rank."""

    A: np.ndarray  # (m, n)
    order: np.ndarray  # (n,): column k of the factors is column order[k] of the matrix
    q_weights: np.ndarray  # of the reflectors 1 - w u u'
    z_weights: np.ndarray
    squares: np.ndarray  # (n,) of the columns: running, and as last computed
    exact: np.ndarray
    left: np.ndarray  # (m,) and (n,): room for right sides
    right: np.ndarray
    rank: np.ndarray  # (1,)


def cod(m: int, n: int) -> Cod:
    """Room for the decomposition of an (m, n) matrix."""
    zeros = np.zeros
    least = min(m, n)
    order, rank = zeros(n, dtype=np.int64), zeros(1, dtype=np.int64)
    return Cod(zeros((m, n)), order, zeros(least), zeros(least), zeros(n), zeros(n), zeros(m), zeros(n), rank)


def decompose(f: Cod, tolerance: float) -> int:
    """Factor f.A in place; pivots not above the absolute tolerance end it. Returns the rank."""
    A, squares, exact = f.A, f.squares, f.exact
    m, n = A.shape
    for j in range(n):
        f.order[j] = j
        squares[j] = _column_square(A, 0, j)
        exact[j] = squares[j]
    f.rank[0] = 0
    for k in range(min(m, n)):
        largest = k
        for j in range(k + 1, n):
            if squares[j] > squares[largest]:
                largest = j
        if largest != k:
            _swap_columns(A, f.order, k, largest)
            squares[largest], exact[largest] = squares[k], exact[k]
        pivot = math.sqrt(_column_square(A, k, k))
        if not pivot > tolerance:
            break
        f.rank[0] = k + 1
        if A[k, k] > 0.0:
            pivot = -pivot
        f.q_weights[k] = (pivot - A[k, k]) / pivot
        scale = 1.0 / (A[k, k] - pivot)
        for i in range(k + 1, m):
            A[i, k] *= scale
        A[k, k] = pivot
        for j in range(k + 1, n):
            _reflect_column(A, k, j, f.q_weights[k])
            squares[j] -= A[k, j] * A[k, j]
            if squares[j] <= STALE * exact[j]:
                squares[j] = _column_square(A, k + 1, j)
                exact[j] = squares[j]
    _clear_right(A, f.rank[0], f.z_weights)
    return f.rank[0]


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
        weights[k] = 0.0
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


def _reflect_right(f: Cod, k: int) -> None:
    """f.right times reflector k of Z."""
    y, n, rank = f.right, f.A.shape[1], f.rank[0]
    if f.z_weights[k] != 0.0:
        d = y[k]
        for j in range(rank, n):
            d += f.A[k, j] * y[j]
        d *= f.z_weights[k]
        y[k] -= d
        for j in range(rank, n):
            y[j] -= d * f.A[k, j]


def _reflect_left(f: Cod, k: int) -> None:
    """f.left times reflector k of Q."""
    x, m = f.left, f.A.shape[0]
    d = x[k]
    for i in range(k + 1, m):
        d += f.A[i, k] * x[i]
    d *= f.q_weights[k]
    x[k] -= d
    for i in range(k + 1, m):
        x[i] -= d * f.A[i, k]


def solve(f: Cod, b: np.ndarray, x: np.ndarray) -> None:
    """x becomes the minimum-norm least-squares solution of A x = b."""
    m, n = f.A.shape
    rank, c, y = f.rank[0], f.left, f.right
    for i in range(m):
        c[i] = b[i]
    for j in range(n):
        y[j] = 0.0
    for k in range(rank):
        _reflect_left(f, k)
    for k in range(rank - 1, -1, -1):
        s = c[k]
        for j in range(k + 1, rank):
            s -= f.A[k, j] * y[j]
        y[k] = s / f.A[k, k]
    for k in range(rank):
        _reflect_right(f, k)
    for k in range(n):
        x[f.order[k]] = y[k]


def solve_transposed(f: Cod, b: np.ndarray, x: np.ndarray) -> None:
    """x becomes the minimum-norm least-squares solution of A' x = b, with the factors of A."""
    m, n = f.A.shape
    rank, c, y = f.rank[0], f.left, f.right
    for k in range(n):
        y[k] = b[f.order[k]]
    for k in range(rank - 1, -1, -1):
        _reflect_right(f, k)
    for k in range(m):
        c[k] = 0.0
    for k in range(rank):  # T' c = y
        s = y[k]
        for j in range(k):
            s -= f.A[j, k] * c[j]
        c[k] = s / f.A[k, k]
    for k in range(rank - 1, -1, -1):
        _reflect_left(f, k)
    for i in range(m):
        x[i] = c[i]


def basis(f: Cod, B: np.ndarray) -> None:
    """B (n, n) becomes orthonormal: its first `rank` columns span the row space of A, the others its null space."""
    n, y = f.A.shape[1], f.right
    for column in range(n):
        for k in range(n):
            y[k] = 0.0
        y[column] = 1.0
        for k in range(f.rank[0]):
            _reflect_right(f, k)
        for k in range(n):
            B[f.order[k], column] = y[k]


def null_projector(f: Cod, B: np.ndarray, P: np.ndarray) -> None:
    """P becomes the orthogonal projector onto the null space, 1 - J^+ J; from the smaller part of the basis B."""
    n, rank = f.A.shape[1], f.rank[0]
    lean = rank > n - rank  # sum over the null space
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(rank if lean else 0, n if lean else rank):
                s += B[i, k] * B[j, k]
            P[i, j] = s if lean else -s
        if not lean:
            P[i, i] += 1.0


def cod_solve(A: np.ndarray, b: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    """(x, rank): minimum-norm least-squares solution of A x = b."""
    f = cod(*A.shape)
    f.A[:] = A
    x = np.zeros(A.shape[1])
    decompose(f, tolerance)
    solve(f, b, x)
    return x, int(f.rank[0])


class Cholesky(NamedTuple):
    """G, then L with G[order][:, order] = L L' as far as the rank goes; G symmetric, positive semidefinite."""

    L: np.ndarray
    order: np.ndarray
    room: np.ndarray
    rank: np.ndarray  # (1,)


def cholesky(n: int) -> Cholesky:
    """Room for the factors of an (n, n) matrix."""
    return Cholesky(np.zeros((n, n)), np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(1, dtype=np.int64))


def cholesky_pivoted(f: Cholesky, tolerance: float) -> int:
    """Factor f.L in place, largest remaining diagonal entry first; one not above the absolute tolerance ends it."""
    L = f.L
    n = L.shape[0]
    for i in range(n):
        f.order[i] = i
    f.rank[0] = 0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if L[i, i] > L[p, p]:
                p = i
        if not L[p, p] > tolerance:
            break
        f.rank[0] = k + 1
        if p != k:
            _swap_symmetric(L, f.order, k, p)
        root = math.sqrt(L[k, k])
        L[k, k] = root
        for i in range(k + 1, n):
            L[i, k] /= root
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                L[i, j] -= L[i, k] * L[j, k]
    for i in range(n):
        for j in range(min(i + 1, f.rank[0]), n):
            L[i, j] = 0.0
    return f.rank[0]


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


def cholesky_solve(f: Cholesky, b: np.ndarray, x: np.ndarray) -> None:
    """x becomes a solution of G x = b, with zeros in the n - rank places that were left over."""
    L, y, rank = f.L, f.room, f.rank[0]
    for i in range(rank):
        s = b[f.order[i]]
        for j in range(i):
            s -= L[i, j] * y[j]
        y[i] = s / L[i, i]
    for i in range(rank - 1, -1, -1):
        s = y[i]
        for j in range(i + 1, rank):
            s -= L[j, i] * y[j]
        y[i] = s / L[i, i]
    for i in range(L.shape[0]):
        x[f.order[i]] = y[i] if i < rank else 0.0
