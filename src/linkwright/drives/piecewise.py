"""Curves through points: straight lines or a natural cubic spline, with exact derivatives and integrals.

Numbers find their piece by bisection. A traced value cannot look anything up: there the coefficients of its piece are chosen by
conditions, one after the other, and only then multiplied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.scalars import where


@dataclass(frozen=True, eq=False)
class Piecewise:
    """Row j of c: coefficients (constant first) from breaks[j - 1] on; row 0 before the first, both counted from there."""

    breaks: np.ndarray
    c: np.ndarray  # (breaks + 1, degree + 1)

    def __call__(self, x: Any) -> Any:
        if hasattr(x, "where"):  # traced
            origin: Any = float(self.breaks[0])
            row: list[Any] = [float(a) for a in self.c[0]]
            for at, coefficients in zip(self.breaks, self.c[1:], strict=True):
                later = x >= float(at)
                origin = where(later, float(at), origin)
                row = [where(later, float(new), old) for new, old in zip(coefficients, row, strict=True)]
        else:
            j = np.searchsorted(self.breaks, x, side="right")
            origin, row = self.breaks[np.maximum(j - 1, 0)], list(np.moveaxis(self.c[j], -1, 0))
        d, out = x - origin, row[-1]
        for a in row[-2::-1]:
            out = out * d + a
        return out

    def derivative(self) -> Piecewise:
        if self.c.shape[1] == 1:
            return Piecewise(self.breaks, 0.0 * self.c)
        return Piecewise(self.breaks, self.c[:, 1:] * np.arange(1, self.c.shape[1]))

    def integral(self) -> Piecewise:
        """From the first break on."""
        c = np.concatenate([np.zeros((len(self.c), 1)), self.c / np.arange(1, self.c.shape[1] + 1)], axis=1)
        for j in range(1, len(self.breaks)):
            width = self.breaks[j] - self.breaks[j - 1]
            c[j + 1, 0] = np.polynomial.polynomial.polyval(width, c[j])
        return Piecewise(self.breaks, c)


def lines(x: np.ndarray, y: np.ndarray) -> Piecewise:
    """Straight lines through the points, constant outside."""
    slopes = np.concatenate([[0.0], np.diff(y) / np.diff(x), [0.0]])
    values = np.concatenate([y[:1], y[:-1], y[-1:]])
    return Piecewise(x, np.stack([values, slopes], axis=1))


def spline(x: np.ndarray, y: np.ndarray) -> Piecewise:
    """The natural cubic spline (no curvature at its ends), continued straight."""
    h = np.diff(x)
    m = _second_derivatives(h, np.diff(y) / h)
    slope = np.diff(y) / h - h * (2.0 * m[:-1] + m[1:]) / 6.0
    last = slope[-1] + h[-1] * (m[-2] + m[-1]) / 2.0
    pieces = np.stack([y[:-1], slope, m[:-1] / 2.0, np.diff(m) / (6.0 * h)], axis=1)
    before, after = [y[0], slope[0], 0.0, 0.0], [y[-1], last, 0.0, 0.0]
    return Piecewise(x, np.concatenate([[before], pieces, [after]]))


def _second_derivatives(h: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The tridiagonal system h m_- + 2 (h + h_+) m + h_+ m_+ = 6 (slope_+ - slope), m = 0 at both ends."""
    n = len(h) + 1
    m, share, rest = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(1, n - 1):
        pivot = 2.0 * (h[i - 1] + h[i]) - h[i - 1] * share[i - 1]
        share[i] = h[i] / pivot
        rest[i] = (6.0 * (slope[i] - slope[i - 1]) - h[i - 1] * rest[i - 1]) / pivot
    for i in range(n - 2, 0, -1):
        m[i] = rest[i] - share[i] * m[i + 1]
    return m
