"""Curves through points: straight lines or cubic splines (natural, clamped, periodic), with exact derivatives and integrals.

Numbers find their piece by bisection. A traced value cannot look anything up: there the coefficients of its piece are chosen by
conditions, one after the other, and only then multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
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
        return _polynomial(*self._piece(x))

    def jet(self, x: Any) -> tuple[Any, Any, Any]:
        """f, f', f'' at once: a traced value chooses its piece only once."""
        row, d = self._piece(x)
        first = _derived(row)
        return _polynomial(row, d), _polynomial(first, d), _polynomial(_derived(first), d)

    def _piece(self, x: Any) -> tuple[list[Any], Any]:
        """The coefficients that hold at x, and how far x is from where they count."""
        if hasattr(x, "where"):  # traced
            origin: Any = float(self.breaks[0])
            row: list[Any] = [float(a) for a in self.c[0]]
            for at, coefficients in zip(self.breaks, self.c[1:], strict=True):
                later = x >= float(at)
                origin = where(later, float(at), origin)
                row = [where(later, float(new), old) for new, old in zip(coefficients, row, strict=True)]
            return row, x - origin
        j = np.searchsorted(self.breaks, x, side="right")
        return list(np.moveaxis(self.c[j], -1, 0)), x - self.breaks[np.maximum(j - 1, 0)]

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


@dataclass(frozen=True, eq=False)
class Repeated:
    """A curve over one period, from its first break to its last, again and again."""

    curve: Piecewise

    @property
    def breaks(self) -> np.ndarray:
        return self.curve.breaks

    def __call__(self, x: Any) -> Any:
        return self.curve(self._once(x))

    def jet(self, x: Any) -> tuple[Any, Any, Any]:
        return self.curve.jet(self._once(x))

    def _once(self, x: Any) -> Any:
        """Whole periods taken off; at a seam rounding may leave it on either side, where the curve is the same."""
        first, period = float(self.breaks[0]), float(self.breaks[-1] - self.breaks[0])
        return x - period * np.rint((x - first) / period - 0.5)


def _polynomial(row: Sequence[Any], d: Any) -> Any:
    out = row[-1]
    for a in row[-2::-1]:
        out = out * d + a
    return out


def _derived(row: Sequence[Any]) -> list[Any]:
    return [k * a for k, a in enumerate(row)][1:] or [0.0 * row[0]]


def lines(x: np.ndarray, y: np.ndarray) -> Piecewise:
    """Straight lines through the points, constant outside."""
    slopes = np.concatenate([[0.0], np.diff(y) / np.diff(x), [0.0]])
    values = np.concatenate([y[:1], y[:-1], y[-1:]])
    return Piecewise(x, np.stack([values, slopes], axis=1))


def spline(x: np.ndarray, y: np.ndarray) -> Piecewise:
    """The natural cubic spline (no curvature at its ends), continued straight."""
    pieces, last = _cubics(x, y, _curvatures(x, y))
    before, after = [y[0], pieces[0, 1], 0.0, 0.0], [y[-1], last, 0.0, 0.0]
    return Piecewise(x, np.concatenate([[before], pieces, [after]]))


def clamped(x: np.ndarray, y: np.ndarray) -> Piecewise:
    """The cubic spline at rest at both ends, constant outside; its curvature jumps to zero there."""
    free, first, last = _curvatures(x, y), _curvatures(x, 0.0 * y, first=1.0), _curvatures(x, 0.0 * y, last=1.0)
    speeds = [_end_speeds(x, values, m) for values, m in ((y, free), (0.0 * y, first), (0.0 * y, last))]
    a, b = np.linalg.solve(np.stack(speeds[1:], axis=1), -speeds[0])
    pieces, _ = _cubics(x, y, free + a * first + b * last)
    pieces[0, 1] = 0.0
    return Piecewise(x, np.concatenate([[[y[0], 0.0, 0.0, 0.0]], pieces, [[y[-1], 0.0, 0.0, 0.0]]]))


def periodic(x: np.ndarray, y: np.ndarray) -> Repeated:
    """The cubic spline that goes on as it began, with speed and curvature; y[-1] is y[0]."""
    free, both = _curvatures(x, y), _curvatures(x, 0.0 * y, first=1.0, last=1.0)
    gap, change = (float(np.subtract(*_end_speeds(x, values, m))) for values, m in ((y, free), (0.0 * y, both)))
    pieces, _ = _cubics(x, y, free - gap / change * both)
    before = [*pieces[0, :3], pieces[-1, 3]]  # of the last piece, counted from the beginning
    return Repeated(Piecewise(x, np.concatenate([[before], pieces, pieces[:1]])))


def _cubics(x: np.ndarray, y: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, float]:
    """The pieces with curvatures m at the points, and the speed at the end of the last."""
    h = np.diff(x)
    slope = np.diff(y) / h - h * (2.0 * m[:-1] + m[1:]) / 6.0
    last = slope[-1] + h[-1] * (m[-2] + m[-1]) / 2.0
    return np.stack([y[:-1], slope, m[:-1] / 2.0, np.diff(m) / (6.0 * h)], axis=1), float(last)


def _end_speeds(x: np.ndarray, y: np.ndarray, m: np.ndarray) -> np.ndarray:
    pieces, last = _cubics(x, y, m)
    return np.array([pieces[0, 1], last])


def _curvatures(x: np.ndarray, y: np.ndarray, first: float = 0.0, last: float = 0.0) -> np.ndarray:
    """The tridiagonal system h m_- + 2 (h + h_+) m + h_+ m_+ = 6 (slope_+ - slope), m given at both ends."""
    h, n = np.diff(x), len(x)
    slope = np.diff(y) / h
    m, share, rest = np.zeros(n), np.zeros(n), np.zeros(n)
    rest[0], m[-1] = first, last
    for i in range(1, n - 1):
        pivot = 2.0 * (h[i - 1] + h[i]) - h[i - 1] * share[i - 1]
        share[i] = h[i] / pivot
        rest[i] = (6.0 * (slope[i] - slope[i - 1]) - h[i - 1] * rest[i - 1]) / pivot
    for i in range(n - 2, 0, -1):
        m[i] = rest[i] - share[i] * m[i + 1]
    m[0] = first
    return m
