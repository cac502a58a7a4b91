"""One-sided rows of a linear system with a mass matrix: which of them push, so that all others stay within their limits.

    M x = right + J' P + G' S,   J x = rates,   G x <= limits,   S <= 0,   S = 0 where G x < limits

is the x nearest, in the mass metric, to the one without the one-sided rows: the contact problem without friction, whose x is unique. It is
solved among the x that the two-sided rows leave; the rows that push are independent of each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwright.integrators.contact import ONE_SIDED, ContactSolver
from linkwright.numerics.linalg import factor, least_squares

LEAST_MASS = 1e-13  # share of the largest: directions without inertia
MOVES = 1e-9  # a row whose entries are smaller is held by the two-sided ones
WITHIN = 1e-11  # share of the largest rate by which a limit may be passed
PUSHES = 1e-10  # share of the largest push that counts as none
SAME_ROWS = 1e-9  # of the largest singular value: rows of length 1 that differ by less say the same


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
    places = np.flatnonzero(movable)
    if not len(places) or np.all(free[places] <= room[places] + WITHIN * size):
        return []
    B = rows[places] @ (V / root)
    lengths = np.linalg.norm(B, axis=1)
    B /= lengths[:, None]  # rows of one size: their pushes compare
    found = ContactSolver([ONE_SIDED] * len(places)).solve(B @ B.T, (room - free)[places] / lengths + WITHIN * size / lengths)
    return [int(places[i]) for i in independent(B, found.p)] if found.solved else None


def independent(B: np.ndarray, p: np.ndarray) -> list[int]:
    """Return rows of B that are independent and give the push p @ B with pushes of one sign; p is such a push of all of them."""
    p = np.where(p > PUSHES * float(p.max(initial=0.0)), p, 0.0)
    while True:
        chosen = np.flatnonzero(p)
        null = factor(B[chosen].T, SAME_ROWS).null
        if not null.shape[1]:
            return [int(i) for i in chosen]
        along = null[:, 0] if null[:, 0].max() > 0.0 else -null[:, 0]  # p may change by it and moves nothing: until one of them ends
        up = along > 0.0
        left = p[chosen] - float(np.min(p[chosen][up] / along[up])) * along
        p[chosen] = np.where(left > PUSHES * float(left.max()), left, 0.0)
