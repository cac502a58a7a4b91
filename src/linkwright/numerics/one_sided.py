"""One-sided rows of a linear system with a mass matrix: which of them push, so that all others stay within their limits.

    M x = right + J' P + G' S,   J x = rates,   G x <= limits,   S <= 0,   S = 0 where G x < limits

is the x nearest, in the mass metric, to the one without the one-sided rows: a convex problem with one answer. It is solved among the x
that the two-sided rows leave; the rows that push are independent of each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwright.numerics.constrained_gauss_newton import step_with_inequalities
from linkwright.numerics.linalg import factor, least_squares

LEAST_MASS = 1e-13  # share of the largest: directions without inertia
MOVES = 1e-9  # a row whose entries are smaller is held by the two-sided ones
WITHIN = 1e-11  # share of the largest rate by which a limit may be passed
PUSHES = 1e-10  # share of the largest push that counts as none


def pushing_rows(
    M: np.ndarray, right: np.ndarray, J: np.ndarray, rates: np.ndarray, G: np.ndarray, limits: np.ndarray
) -> Sequence[int] | None:
    """Return the rows of G that push; None if no x keeps all limits."""
    n = len(M)
    if not len(G):
        return []
    base = least_squares(J, rates, 1e-11) if len(J) else np.zeros(n)
    Z = factor(J, 1e-11).null if len(J) else np.eye(n)
    w, V = np.linalg.eigh(Z.T @ M @ Z)
    root = np.sqrt(np.maximum(w, LEAST_MASS * max(float(w.max(initial=0.0)), 1e-300)))
    drawn = (V.T @ (Z.T @ (right - M @ base))) / root  # R y of the free motion, with R = root V' and R'R the mass matrix
    rows, room = G @ Z, limits - G @ base
    free = rows @ (V @ (drawn / root))
    size = max(float(np.abs(room).max()), float(np.abs(free).max()), float(np.abs(limits).max()), 1e-300)
    movable = np.abs(rows).max(axis=1, initial=0.0) > MOVES
    if np.any(room[~movable] < -MOVES * size):
        return None
    places = np.flatnonzero(movable & (np.abs(rows).max(axis=1, initial=0.0) > 0.0))
    if not len(places) or np.all(free[places] <= room[places] + WITHIN * size):
        return []
    none = np.full(Z.shape[1], np.inf)
    found = step_with_inequalities(root[:, None] * V.T, -drawn / size, rows[places], room[places] / size + WITHIN, -none, none, 0.0)
    if found is None:
        return None
    push = found[1][: len(places)] * np.linalg.norm(rows[places], axis=1)
    return [int(i) for i in places[push > PUSHES * float(push.max(initial=0.0))]]
