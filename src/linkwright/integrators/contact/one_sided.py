"""Of one-sided rows that push together, an independent set that gives the same push."""

from __future__ import annotations

import numpy as np

from linkwright.numerics.linalg import factor

MOVES = 1e-9  # a row whose entries are smaller is held by the others
PUSHES = 1e-10  # share of the largest push that counts as none
SAME_ROWS = 1e-9  # of the largest singular value: rows of length 1 that differ by less say the same


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
