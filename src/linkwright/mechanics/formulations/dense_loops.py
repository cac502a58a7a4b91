"""The formulations `nullspace` and `projection` on dense M, h, J, k as plain loops that can be made native.

Kernels deliver M, h, J, k; these solve with them at any rank, by one complete orthogonal decomposition of the
dimensionless J, which gives J^+, the projector and the multipliers. Same equations and same metric as the float
versions beside them  [Hoang2023 (18)-(23)], [Aghili2005 (21)-(29)]:

    nullspace     [ N' M ]       [ N' (tau - h) ]         N: orthonormal basis of the null space of J; in the basis
                  [  J   ] a  =  [      -k      ]         [row space, N] the system is block triangular

    projection    (P M + gamma (1 - P)) a = P (tau - h) + gamma a_perp          P = 1 - J^+ J,  a_perp = -J^+ k
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.numerics.orthogonal import Cod, basis, cod, decompose, null_projector, solve, solve_transposed

ROUND_OFF = 1e-13  # share of the inertia's size below which a pivot of the reduced inertia is none


class Dense(NamedTuple):
    """Terms at a state, applied efforts, scales; and the answers a, lam."""

    M: np.ndarray
    h: np.ndarray
    J: np.ndarray
    k: np.ndarray
    tau: np.ndarray
    columns: np.ndarray
    row_scale: np.ndarray
    a: np.ndarray
    lam: np.ndarray


class Room(NamedTuple):
    """What the loops need to work in; one for every thread."""

    J: Cod  # of the dimensionless J
    K: Cod  # of the inertia that is solved with
    M: np.ndarray  # dimensionless inertia and load
    load: np.ndarray
    B: np.ndarray  # basis, projector
    P: np.ndarray
    right: np.ndarray
    y: np.ndarray
    rows: np.ndarray


def room(n: int, m: int) -> Room:
    """Room for n velocities and m constraint rows."""
    square, vector = (n, n), n
    zeros = np.zeros
    return Room(cod(m, n), cod(n, n), zeros(square), zeros(vector), zeros(square), zeros(square), zeros(vector), zeros(vector), zeros(m))


def nullspace_loop(d: Dense, w: Room, tolerance: float) -> int:
    """Fill d.a and d.lam; returns the rank of J."""
    n = d.M.shape[0]
    K, B, M = w.K.A, w.B, w.M
    size = _prepare(d, w, tolerance)
    basis(w.J, B)
    rank = w.J.rank[0]
    free = n - rank
    for i in range(n):  # the reduced inertia N'MN, filled up by a diagonal for as many rows as J has
        w.right[i] = 0.0
        for j in range(n):
            K[i, j] = size if i == j else 0.0
    for c in range(free):
        for i in range(n):
            w.y[i] = 0.0
            for j in range(n):
                w.y[i] += M[i, j] * B[j, rank + c]
        for e in range(free):
            K[e, c] = 0.0
            for i in range(n):
                K[e, c] += B[i, rank + e] * w.y[i]
        for i in range(n):
            w.right[c] += B[i, rank + c] * w.load[i] - w.y[i] * d.a[i]
    decompose(w.K, ROUND_OFF * size)
    solve(w.K, w.right, w.y)
    for i in range(n):
        for c in range(free):
            d.a[i] += B[i, rank + c] * w.y[c]
    _finish(d, w)
    return rank


def projection_loop(d: Dense, w: Room, tolerance: float, gamma: float) -> int:
    """Fill d.a and d.lam; returns the rank of J. gamma has the size of the inertia, which is taken where it is 0."""
    n = d.M.shape[0]
    K, P = w.K.A, w.P
    size = _prepare(d, w, tolerance)
    weight = gamma if gamma > 0.0 else size
    basis(w.J, w.B)
    null_projector(w.J, w.B, P)
    for i in range(n):
        w.right[i] = weight * d.a[i]
        for j in range(n):
            K[i, j] = weight * (1.0 - P[i, j]) if i == j else -weight * P[i, j]
        for l in range(n):
            w.right[i] += P[i, l] * w.load[l]
            for j in range(n):
                K[i, j] += P[i, l] * w.M[l, j]
    decompose(w.K, ROUND_OFF * weight)
    solve(w.K, w.right, d.a)
    _finish(d, w)
    return w.J.rank[0]


def _prepare(d: Dense, w: Room, tolerance: float) -> float:
    """Dimensionless terms, J decomposed, d.a = -J^+ k: what the constraints prescribe. Returns the size of the inertia."""
    n, m = d.M.shape[0], d.J.shape[0]
    J = w.J.A
    size = 1e-300
    for i in range(n):
        row = 0.0
        w.load[i] = (d.tau[i] - d.h[i]) * d.columns[i]
        for j in range(n):
            w.M[i, j] = d.M[i, j] * d.columns[i] * d.columns[j]
            row += abs(w.M[i, j])
        size = max(size, row)
    for i in range(m):
        w.rows[i] = -d.k[i] / d.row_scale[i]
        for j in range(n):
            J[i, j] = d.J[i, j] * d.columns[j] / d.row_scale[i]
    decompose(w.J, tolerance)
    solve(w.J, w.rows, d.a)
    return size


def _finish(d: Dense, w: Room) -> None:
    """Multipliers of least norm from the constraint force M a + h - tau, and the scales put back."""
    n = d.M.shape[0]
    for i in range(n):
        w.right[i] = -w.load[i]
        for j in range(n):
            w.right[i] += w.M[i, j] * d.a[j]
    solve_transposed(w.J, w.right, d.lam)
    for i in range(d.J.shape[0]):
        d.lam[i] /= d.row_scale[i]
    for i in range(n):
        d.a[i] *= d.columns[i]


def nullspace_solve(
    M: np.ndarray,
    h: np.ndarray,
    J: np.ndarray,
    k: np.ndarray,
    tau: np.ndarray,
    columns: np.ndarray,
    row_scale: np.ndarray,
    tolerance: float,
) -> tuple[np.ndarray, np.ndarray, int]:
    """(a, lam, rank of J) by `nullspace_loop`, run as Python."""
    d = Dense(M, h, J, k, tau, columns, row_scale, np.zeros(len(M)), np.zeros(len(k)))
    rank = nullspace_loop(d, room(len(M), len(k)), tolerance)
    return d.a, d.lam, int(rank)


def projection_solve(
    M: np.ndarray,
    h: np.ndarray,
    J: np.ndarray,
    k: np.ndarray,
    tau: np.ndarray,
    columns: np.ndarray,
    row_scale: np.ndarray,
    tolerance: float,
    gamma: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, int]:
    """(a, lam, rank of J) by `projection_loop`, run as Python."""
    d = Dense(M, h, J, k, tau, columns, row_scale, np.zeros(len(M)), np.zeros(len(k)))
    rank = projection_loop(d, room(len(M), len(k)), tolerance, gamma)
    return d.a, d.lam, int(rank)
