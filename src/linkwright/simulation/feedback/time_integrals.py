"""Integrals over time of what a run recorded at its samples.

What changes smoothly between samples is integrated as a polynomial through the six samples nearest to each interval (sixth
order, any spacing). A moment that occurs twice, before and after an event, parts the curve. What a sampled controller holds is
integrated exactly, as steps, if every hold has a sample. If some have none, straight lines join the samples.
"""

from __future__ import annotations

import numpy as np

SMOOTH = 6  # samples a polynomial goes through
GAUSS = ((-np.sqrt(0.6), 5.0 / 9.0), (0.0, 8.0 / 9.0), (np.sqrt(0.6), 5.0 / 9.0))  # exact for degree 5


def integral(t: np.ndarray, y: np.ndarray, a: float, b: float, nodes: int = SMOOTH) -> float:
    """Of y over t from a to b, by polynomials through `nodes` samples each; 2 are straight lines."""
    ends = np.flatnonzero(np.diff(t) <= 0.0) + 1
    pieces = zip(np.split(t, ends), np.split(y, ends), strict=True)
    return sum(_piece(tt, yy, a, b, min(nodes, len(tt))) for tt, yy in pieces if len(tt) > 1)


def _piece(t: np.ndarray, y: np.ndarray, a: float, b: float, k: int) -> float:
    low, high = np.maximum(t[:-1], a), np.minimum(t[1:], b)
    inside = np.flatnonzero(high > low)
    if not len(inside):
        return 0.0
    middle, half = 0.5 * (low + high)[inside], 0.5 * (high - low)[inside]
    first = np.clip(inside - (k - 2) // 2, 0, len(t) - k)
    at = first[:, None] + np.arange(k)
    return float(sum(weight * (half @ _through(t[at], y[at], middle + x * half)) for x, weight in GAUSS))


def _through(t: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Values at x (n,) of the polynomials through t, y (n, k)  (Lagrange)."""
    out = np.zeros(len(x))
    for j in range(t.shape[1]):
        term = y[:, j].copy()
        for m in range(t.shape[1]):
            if m != j:
                term *= (x - t[:, m]) / (t[:, j] - t[:, m])
        out += term
    return out


def held_integral(t: np.ndarray, y: np.ndarray, every: float, origin: float, a: float, b: float) -> float | None:
    """Of y that is held for `every` from origin on; None where a hold between a and b has no sample."""
    number = np.floor((t - origin) / every + 1e-6).astype(int)
    first, last = int(np.floor((a - origin) / every + 1e-6)), int(np.ceil((b - origin) / every - 1e-6))
    holds = np.arange(first, max(last, first + 1))
    # the last sample of a hold, or of the instant at which it begins, has the held value
    place = np.searchsorted(number, holds, side="right") - 1
    if (place < 0).any() or (number[place] != holds).any():
        return None
    begin, end = origin + holds * every, origin + (holds + 1) * every
    return float(np.maximum(np.minimum(end, b) - np.maximum(begin, a), 0.0) @ y[place])
