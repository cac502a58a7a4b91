"""Efforts of least weighted norm that do what is wanted, over any scalar; damped where the drives lose their grip.

    A u = r,   sum (u_j / w_j)^2 least:        u = W A' (A W A')^-1 r,   W = diag(w^2)        [Aghili2005 (46), (47)]

Rows are measured in their usual size, so that the pivots of K = A W A' are 1 where all is well and fall as the square of a
singular value where the drives can no longer push a direction. Below `damping`^2 a term is added to the diagonal that grows
smoothly from zero: efforts stay finite, and what nobody can push is let go.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright.scalars import common_type, minimum, real, where


class Least(NamedTuple):
    efforts: Any
    grip: Any  # smallest pivot against its usual size: the square of what is left of the weakest direction
    damped: Any  # what was added to the diagonal


def usual_sizes(A: Any, weights: np.ndarray) -> np.ndarray:
    """Sizes of the rows of A W A' where a controller begins; a row nobody moves counts as one."""
    squares = np.sum((np.asarray(A, dtype=float) * weights) ** 2, axis=1)
    return np.sqrt(np.where(squares > 0.0, squares, 1.0))


def least(A: Any, r: Any, weights: np.ndarray, sizes: np.ndarray, damping: float) -> Least:
    """Efforts for the right side r, a vector or several columns."""
    Aw = A * weights / sizes[:, None]
    K = Aw @ Aw.T
    right = r / (sizes if np.ndim(r) == 1 else sizes[:, None])
    grip: Any = 1.0
    for pivot in _eliminated(K, right)[1]:
        grip = minimum(grip, pivot)
    limit = damping * damping
    lack = 1.0 - grip / limit if limit else 0.0
    added = where(real(grip) < limit, limit * lack * lack, 0.0) if limit else 0.0
    z, _ = _eliminated(K + added * np.eye(len(K)), right)
    return Least((weights * (Aw.T @ z).T).T, grip, added)


def _eliminated(K: Any, right: Any) -> tuple[Any, list[Any]]:
    """K z = right for a symmetric positive K, and its pivots in the given order."""
    K, z = np.array(K, dtype=common_type(K)), np.array(right, dtype=common_type(K, right))
    n, pivots = len(K), []
    for k in range(n):
        pivots.append(K[k, k])
        for i in range(k + 1, n):
            f = K[i, k] / K[k, k]
            K[i, k:] = K[i, k:] - f * K[k, k:]
            z[i] = z[i] - f * z[k]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            z[k] = z[k] - K[k, j] * z[j]
        z[k] = z[k] / K[k, k]
    return z, pivots
