"""Efforts of least weighted norm that do what is wanted, over any scalar; damped where the drives lose control authority.

    A u = r,   sum (u_j / w_j)^2 least:        u = W A' (A W A')^-1 r,   W = diag(w^2)        [Aghili2005 (46), (47)]

Rows are measured in their typical size. A pivot of K = A W A' is the square of what its row can do that the rows before it do not
already; it falls where the drives can no longer push a direction. Below `damping`^2 of what it was at the start, something is
added to that pivot alone, which grows smoothly from zero: efforts stay finite, that row is let go, and all others are still obeyed
exactly. Rows that come first have priority: motions go before forces, and coordinates in the order they are named. This minimum norm
is traced into the code of a controller; `linalg.Factored.solve`, which decides ranks, needs numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright.numerics.scalars import eliminate, minimum, real, where

NOTHING = 1e-30  # a pivot below this is none
FIRM = 1e-12  # at the start


class Least(NamedTuple):
    efforts: Any
    authority: Any  # smallest pivot against that of the start: the square of what is left of the weakest direction
    damped: Any  # the most that was added to a pivot, in the same measure


class NominalSizes(NamedTuple):
    """Nominal sizes where a controller begins: of the outputs' rows, and the pivots of K."""

    sizes: np.ndarray
    firm: np.ndarray


def nominal(A: Any, weights: np.ndarray) -> NominalSizes:
    """Of the outputs A at the start; a row that no drive moves counts as one."""
    squares = np.sum((np.asarray(A, dtype=float) * weights) ** 2, axis=1)
    sizes = np.sqrt(np.where(squares > 0.0, squares, 1.0))
    Aw = np.asarray(A, dtype=float) * weights / sizes[:, None]
    pivots = np.array(_damped(Aw @ Aw.T, np.zeros(len(sizes)), np.ones(len(sizes)), 0.0)[1], dtype=float)
    return NominalSizes(sizes, np.where(pivots > FIRM, pivots, 1.0))


def least(A: Any, r: Any, weights: np.ndarray, nominal: NominalSizes, damping: float) -> Least:
    """Efforts for the right side r, a vector or several columns."""
    sizes = nominal.sizes
    Aw = A * weights / sizes[:, None]
    right = r / (sizes if np.ndim(r) == 1 else sizes[:, None])
    z, pivots, added = _damped(Aw @ Aw.T, right, nominal.firm, damping * damping)
    authority: Any = 1.0
    most: Any = 0.0
    for pivot, firm, more in zip(pivots, nominal.firm, added, strict=True):
        authority = minimum(authority, pivot / firm)
        most = -minimum(-most, -more)
    return Least((weights * (Aw.T @ z).T).T, authority, most)


def _damped(K: Any, right: Any, firm: np.ndarray, limit: float) -> tuple[Any, list[Any], list[Any]]:
    """(K + E) z = right, pivots as they were before E in the given order, and the diagonal E in the measure of the start."""
    added: list[Any] = []

    def mended(k: int, pivot: Any) -> Any:
        share = pivot / firm[k]
        lack = 1.0 - share / limit if limit else 0.0
        added.append(where(real(share) < limit, limit * lack * lack, 0.0) if limit else 0.0)
        more = pivot + added[k] * firm[k]
        return where(real(more) > NOTHING, more, NOTHING)  # what is asked of a row of zeros stays finite

    z, pivots = eliminate(K, right, mended=mended)
    return z, pivots, added
