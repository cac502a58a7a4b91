"""Loops over blocks of lanes, written in the subset of `python_loops`: what the walk of designs and runs in lockstep share."""

from __future__ import annotations

import numpy as np

LANES = 8  # states in a block; every entry of a block has so many numbers, one after the other


def corrected(g: np.ndarray, x: int, y: int, entries: int, active: int) -> None:
    """Entries at x of the lanes whose Newton steps continue become those just found at y."""
    for i in range(entries):
        for l in range(LANES):
            old, new = g[x + LANES * i + l], g[y + LANES * i + l]
            g[x + LANES * i + l] = new if g[active + l] > 0.0 else old
