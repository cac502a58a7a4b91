"""Cubic splines: slopes at the points that make the second derivative continuous.

    h_i s_(i-1) + 2 (h_(i-1) + h_i) s_i + h_(i-1) s_(i+1) = 3 (h_i d_(i-1) + h_(i-1) d_i)      widths h, secants d

Own code, because importing the library that has it takes 0.43 s, longer than loading a model and turning it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def cubic_pieces(x: np.ndarray, y: np.ndarray, ends: str) -> tuple[np.ndarray, float]:
    """The pieces of a "natural", "clamped" or "periodic" spline, constants first, and the slope at the end of the last."""
    h = np.diff(x)
    d = np.diff(y) / h
    s = _periodic(h, d) if ends == "periodic" else _open(h, d, natural=ends == "natural")
    bend = (s[:-1] + s[1:] - 2.0 * d) / h
    return np.stack([y[:-1], s[:-1], (d - s[:-1]) / h - bend, bend / h], axis=1), float(s[-1])


def _open(h: np.ndarray, d: np.ndarray, *, natural: bool) -> np.ndarray:
    """Slopes with no curvature, or no slope, at both ends."""
    below, middle, above, right = _inner(h, d)
    ends = (1.0, 3.0 * d[0], 3.0 * d[-1]) if natural else (0.0, 0.0, 0.0)
    first = 2.0 if natural else 1.0
    return _tridiagonal(
        [*below, ends[0]], [first, *middle, first], [ends[0], *above], np.array([[ends[1]], *([r] for r in right), [ends[2]]])
    )[:, 0]


def _periodic(h: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Slopes of a closed curve: the corner entries of the matrix as a change of rank one (Sherman and Morrison)."""
    n = len(h)
    below, middle, above, right = _inner(np.concatenate([h[-1:], h]), np.concatenate([d[-1:], d]))
    if n < 3:
        A = np.zeros((n, n))
        for i in range(n):
            A[i, i] += middle[i]
            A[i, i - 1] += below[i]
            A[i, (i + 1) % n] += above[i]
        s = np.linalg.solve(A, np.array(right))
    else:
        corner, other, shift = below[0], above[-1], -middle[0]
        diagonal = [middle[0] - shift, *middle[1:-1], middle[-1] - corner * other / shift]
        u = np.zeros(n)
        u[0], u[-1] = shift, other
        found = _tridiagonal(below[1:], diagonal, above[:-1], np.stack([right, u], axis=1))
        a, b = found.T
        share = corner / shift
        s = a - b * (a[0] + share * a[-1]) / (1.0 + b[0] + share * b[-1])
    return np.append(s, s[0])


def _inner(h: np.ndarray, d: np.ndarray) -> tuple[list[float], list[float], list[float], list[float]]:
    """Below, on and above the diagonal, and the right sides, of the points between."""
    right = 3.0 * (h[1:] * d[:-1] + h[:-1] * d[1:])
    return h[1:].tolist(), (2.0 * (h[:-1] + h[1:])).tolist(), h[:-1].tolist(), right.tolist()


def _tridiagonal(below: Sequence[float], middle: Sequence[float], above: Sequence[float], right: np.ndarray) -> np.ndarray:
    """Solve for several right sides; the diagonal dominates."""
    pivots, x = list(middle), [row.copy() for row in right]
    for i in range(1, len(pivots)):
        share = below[i - 1] / pivots[i - 1]
        pivots[i] -= share * above[i - 1]
        x[i] = x[i] - share * x[i - 1]
    x[-1] = x[-1] / pivots[-1]
    for i in range(len(pivots) - 2, -1, -1):
        x[i] = (x[i] - above[i] * x[i + 1]) / pivots[i]
    return np.array(x)
