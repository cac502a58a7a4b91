"""The monotone quintic through points: between them it never leaves their range, and it is twice continuously differentiable.

Slope and curvature at a point are those of the quartic through its neighbors, reduced until every piece rises, falls or rests as
its ends do. Between rests a piece is the 3-4-5 polynomial of cam design.
"""

from __future__ import annotations

import numpy as np

from linkwright.model.curves.piecewise import Piecewise


def monotone(x: np.ndarray, y: np.ndarray, *, closed: bool = False) -> Piecewise:
    """The monotone quintic through the points, straight beyond its ends; `closed`: periodic, y[-1] is y[0]."""
    h = np.diff(x)
    s = np.diff(y) / h
    left, right = (np.concatenate([s[-1:], s]), np.concatenate([s, s[:1]])) if closed else (np.append(s[0], s), np.append(s, s[-1]))
    slopes, bends = _local(x, y, closed)
    same, least = left * right > 0.0, np.minimum(np.abs(left), np.abs(right))
    slopes = np.where(same & (slopes * right > 0.0), slopes, 0.0)
    safe = np.clip(slopes, -2.0 * least, 2.0 * least)  # with these and no curvature every piece is monotone: f' >= (2 - 30/16) s
    rests = (left == 0.0) | (right == 0.0)
    turns = left * right < 0.0
    bends = np.where(rests | (turns & (bends * right < 0.0)), 0.0, bends)
    if not closed:
        bends[[0, -1]] = 0.0
    share = np.ones(len(x))
    for _ in range(6):
        d, m = safe + share * (slopes - safe), share * bends
        wrong = np.flatnonzero(~np.array([_monotone(h[i], s[i], d[i : i + 2], m[i : i + 2]) for i in range(len(h))]))
        if not len(wrong):
            break
        reduced = np.unique(np.concatenate([wrong, wrong + 1]))
        share[reduced] = np.where(share[reduced] > 0.2, 0.5 * share[reduced], 0.0)
        if closed:
            share[[0, -1]] = np.min(share[[0, -1]])
    else:
        d, m = safe, 0.0 * bends
    pieces = quintics(h, y, d, m)
    ends = [pieces[0], pieces[0]] if closed else [[y[0], d[0], 0, 0, 0, 0], [y[-1], d[-1], 0, 0, 0, 0]]
    return Piecewise(x, np.concatenate([ends[:1], pieces, ends[1:]]))


def _local(x: np.ndarray, y: np.ndarray, closed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Slope and curvature at every point of the quartic through it and its four nearest neighbors in order."""
    n = len(x)
    if closed:  # two more points on either side, from the periods before and after
        span = x[-1] - x[0]
        more = min(2, n - 1)
        x = np.concatenate([x[-1 - more : -1] - span, x, x[1 : 1 + more] + span])
        y = np.concatenate([y[-1 - more : -1], y, y[1 : 1 + more]])
    slopes, bends, shift = np.zeros(n), np.zeros(n), (len(x) - n) // 2
    for i in range(n):
        k = i + shift
        low = max(0, min(k - 2, len(x) - 5))
        at, values = x[low : low + 5] - x[k], y[low : low + 5]
        size = float(np.abs(at).max())
        c = np.linalg.solve(np.vander(at / size, increasing=True), values)
        slopes[i], bends[i] = c[1] / size, 2.0 * c[2] / size**2 if len(c) > 2 else 0.0
    if closed:
        slopes[-1], bends[-1] = slopes[0], bends[0]
    return slopes, bends


def quintics(h: np.ndarray, y: np.ndarray, d: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Coefficients of the pieces with these values, slopes and curvatures at the points."""
    rise, d0, d1, m0, m1 = np.diff(y), d[:-1] * h, d[1:] * h, m[:-1] * h * h, m[1:] * h * h
    c3 = (20.0 * rise - 8.0 * d1 - 12.0 * d0 - 3.0 * m0 + m1) / (2.0 * h**3)
    c4 = (-30.0 * rise + 14.0 * d1 + 16.0 * d0 + 3.0 * m0 - 2.0 * m1) / (2.0 * h**4)
    c5 = (12.0 * rise - 6.0 * d1 - 6.0 * d0 - m0 + m1) / (2.0 * h**5)
    return np.stack([y[:-1], d[:-1], m[:-1] / 2.0, c3, c4, c5], axis=1)


def _monotone(h: float, s: float, d: np.ndarray, m: np.ndarray) -> bool:
    """True if the piece of unit secant never turns: its derivative has no negative minimum."""
    if s == 0.0:
        return True  # both ends rest
    row = quintics(np.ones(1), np.array([0.0, 1.0]), d / s, m * h / s)[0]
    first = row[1:] * np.arange(1, 6)
    inside = np.roots((first[1:] * np.arange(1, 5))[::-1])
    at = [0.0, 1.0, *(float(r.real) for r in inside if abs(r.imag) < 1e-9 and 0.0 < r.real < 1.0)]
    return min(float(np.polynomial.polynomial.polyval(u, first)) for u in at) >= -1e-12
