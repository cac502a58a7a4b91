"""The formulations `nullspace` and `projection` on dense M, h, J, k as plain loops that Numba compiles.

Kernels deliver M, h, J, k; these solve with them at any rank, by one complete orthogonal decomposition of the
dimensionless J, which gives J^+, the projector and the multipliers. Same equations and same metric as the float
versions beside them  [Hoang2023 (18)-(23)], [Aghili2005 (21)-(29)]:

    nullspace     [ N' M ]       [ N' (tau - h) ]         N: orthonormal basis of the null space of J; in the basis
                  [  J   ] a  =  [      -k      ]         [row space, N] the system is block triangular

    projection    (P M + gamma (1 - P)) a = P (tau - h) + gamma a_perp          P = 1 - J^+ J,  a_perp = -J^+ k
"""

from __future__ import annotations

import numpy as np

from linkwright.orthogonal import Cod, basis, cod_solve, decompose, null_projector, solve, solve_transposed

ROUND_OFF = 1e-13  # share of the inertia's size below which a pivot of the reduced inertia is none


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
    """(a, lam, rank of J)."""
    n = M.shape[0]
    S, load, size = _scaled(M, h, tau, columns)
    f = decompose(_dimensionless(J, columns, row_scale), tolerance)
    a = _prescribed(f, k, row_scale)
    B = basis(f)
    free = n - f.rank
    reduced, right = np.zeros((free, free)), np.zeros(free)
    carried = np.zeros(n)
    for c in range(free):
        for i in range(n):
            carried[i] = 0.0
            for j in range(n):
                carried[i] += S[i, j] * B[j, f.rank + c]
        for d in range(free):
            for i in range(n):
                reduced[d, c] += B[i, f.rank + d] * carried[i]
        for i in range(n):
            right[c] += B[i, f.rank + c] * load[i] - carried[i] * a[i]
    y, _ = cod_solve(reduced, right, ROUND_OFF * size)
    for i in range(n):
        for c in range(free):
            a[i] += B[i, f.rank + c] * y[c]
    return _finished(f, S, load, a, columns, row_scale)


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
    """(a, lam, rank of J); gamma has the size of the inertia, which is taken where none is given."""
    n = M.shape[0]
    S, load, size = _scaled(M, h, tau, columns)
    weight = gamma if gamma > 0.0 else size
    f = decompose(_dimensionless(J, columns, row_scale), tolerance)
    a_perp = _prescribed(f, k, row_scale)
    P = null_projector(f)
    inertia, right = np.zeros((n, n)), np.zeros(n)
    for i in range(n):
        right[i] = weight * a_perp[i]
        for l in range(n):
            right[i] += P[i, l] * load[l]
            for j in range(n):
                inertia[i, j] += P[i, l] * S[l, j]
            inertia[i, l] -= weight * P[i, l]
        inertia[i, i] += weight
    a, _ = cod_solve(inertia, right, ROUND_OFF * weight)
    return _finished(f, S, load, a, columns, row_scale)


def _scaled(M: np.ndarray, h: np.ndarray, tau: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Dimensionless velocities: inertia, load, and the size of the inertia (its largest row sum)."""
    n = M.shape[0]
    S, load, size = np.zeros((n, n)), np.zeros(n), 1e-300
    for i in range(n):
        row = 0.0
        load[i] = (tau[i] - h[i]) * columns[i]
        for j in range(n):
            S[i, j] = M[i, j] * columns[i] * columns[j]
            row += abs(S[i, j])
        size = max(size, row)
    return S, load, size


def _dimensionless(J: np.ndarray, columns: np.ndarray, row_scale: np.ndarray) -> np.ndarray:
    m, n = J.shape
    D = np.zeros((m, n))
    for i in range(m):
        for j in range(n):
            D[i, j] = J[i, j] * columns[j] / row_scale[i]
    return D


def _prescribed(f: Cod, k: np.ndarray, row_scale: np.ndarray) -> np.ndarray:
    """a_perp = -J^+ k: what the constraints prescribe."""
    right = np.zeros(k.shape[0])
    for i in range(k.shape[0]):
        right[i] = -k[i] / row_scale[i]
    return solve(f, right)


def _finished(
    f: Cod, S: np.ndarray, load: np.ndarray, a: np.ndarray, columns: np.ndarray, row_scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Multipliers of least norm from the constraint force M a + h - tau, and the scales put back."""
    n = S.shape[0]
    force = np.zeros(n)
    for i in range(n):
        force[i] = -load[i]
        for j in range(n):
            force[i] += S[i, j] * a[j]
    lam = solve_transposed(f, force)
    for i in range(row_scale.shape[0]):
        lam[i] /= row_scale[i]
    for i in range(n):
        a[i] *= columns[i]
    return a, lam, f.rank
