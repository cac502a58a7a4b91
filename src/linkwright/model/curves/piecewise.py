"""Piecewise polynomials with exact derivatives and integrals, once or again and again.

Numbers find their piece by bisection. A traced value cannot look anything up: there the coefficients of its piece are chosen by
conditions, one after the other, and only then multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from linkwright.model.curves import MOST_TRACED, Curve, Jet
from linkwright.numerics.scalars import real, where
from linkwright.numerics.tolerances import NEGLIGIBLE

ON_THE_LINE = 1e-9  # of a piece's width: roots this near to the real line or to the piece count


@dataclass(frozen=True, eq=False)
class Piecewise(Curve):
    """Row j of c: coefficients (constant first) from breaks[j - 1] on; row 0 before the first, both counted from there."""

    breaks: np.ndarray
    c: np.ndarray  # (breaks + 1, degree + 1)

    @property
    def traceable(self) -> bool:
        return len(self.breaks) <= MOST_TRACED

    def value(self, x: Any, /) -> Any:
        return polynomial_value(*self._piece(x))

    def __call__(self, x: Any, /) -> Jet:
        """f, f', f'' at once: a traced value chooses its piece only once."""
        row, d = self._piece(x)
        first = derived_row(row)
        return polynomial_value(row, d), polynomial_value(first, d), polynomial_value(derived_row(first), d)

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
        j = np.searchsorted(self.breaks, real(x), side="right")
        return list(np.moveaxis(self.c[j], -1, 0)), x - self.breaks[np.maximum(j - 1, 0)]

    def corners(self, first: float, last: float, /) -> np.ndarray:
        """Breaks between two places beyond which the piece before, continued over the next interval, misses the curve."""
        widths = np.diff(self.breaks)
        ahead, behind = np.append(widths, widths[-1]), np.insert(widths, 0, 0.0)
        gap = np.abs(polynomial_value(list(self.c[:-1].T), behind + ahead) - polynomial_value(list(self.c[1:].T), ahead))
        inside = (self.breaks > first) & (self.breaks < last)
        return self.breaks[inside & (gap > NEGLIGIBLE * np.ptp(self.c[1:, 0]))]

    def roots(self) -> np.ndarray:
        """Places between the first and the last break where the curve is zero."""
        out = []
        for begin, end, row in zip(self.breaks, self.breaks[1:], self.c[1:-1], strict=False):
            # a polynomial stays between the largest and the smallest of its Bernstein coefficients
            n, scaled = len(row) - 1, row * (end - begin) ** np.arange(len(row))
            bounds = [sum(comb(i, k) / comb(n, k) * scaled[k] for k in range(i + 1)) for i in range(n + 1)]
            if min(bounds) <= 0.0 <= max(bounds) and any(scaled):
                found = np.polynomial.polynomial.polyroots(np.trim_zeros(scaled, "b"))
                real_ones = found[np.abs(found.imag) < ON_THE_LINE].real
                out += [begin + (end - begin) * r for r in real_ones if abs(r - 0.5) <= 0.5 + ON_THE_LINE]
        return np.clip(out, self.breaks[0], self.breaks[-1])

    def integral(self) -> Piecewise:
        """From the first break on."""
        c = np.concatenate([np.zeros((len(self.c), 1)), self.c / np.arange(1, self.c.shape[1] + 1)], axis=1)
        for j in range(1, len(self.breaks)):
            width = self.breaks[j] - self.breaks[j - 1]
            c[j + 1, 0] = np.polynomial.polynomial.polyval(width, c[j])
        return Piecewise(self.breaks, c)


@dataclass(frozen=True, eq=False)
class Periodic(Curve):
    """A curve over one period, from its first break to its last, again and again; each period adds `gain` (an integral's)."""

    curve: Any  # a curve with breaks: Piecewise, or a program of moves
    gain: Any = 0.0

    @property
    def breaks(self) -> np.ndarray:
        return self.curve.breaks

    @property
    def traceable(self) -> bool:
        return self.curve.traceable

    def value(self, x: Any, /) -> Any:
        once, periods = self._once(x)
        return self._gained(self.curve.value(once), periods)

    def __call__(self, x: Any, /) -> Jet:
        once, periods = self._once(x)
        f, df, ddf = self.curve(once)
        return self._gained(f, periods), df, ddf

    def _gained(self, f: Any, periods: Any) -> Any:
        return f if isinstance(self.gain, float) and self.gain == 0.0 else f + self.gain * periods

    def integral(self) -> Periodic:
        """From the first break on, of pieces that are polynomials."""
        whole = self.curve.integral()
        return Periodic(whole, float(whole.value(float(self.breaks[-1]))))

    def corners(self, first: float, last: float, /) -> np.ndarray:
        """As of the curve, in every period; seams count."""
        begin, period = float(self.breaks[0]), float(self.breaks[-1] - self.breaks[0])
        once = np.append(self.curve.corners(begin, begin + period), begin)
        turns = np.arange(np.floor((first - begin) / period), np.ceil((last - begin) / period))
        found = np.unique(once[:, None] + period * turns)
        return found[(found > first) & (found < last)]

    def _once(self, x: Any) -> tuple[Any, Any]:
        """Whole periods taken off, and their number; at a seam rounding may leave it on either side, where the curve is the same."""
        first, period = self.breaks[0], self.breaks[-1] - self.breaks[0]
        if isinstance(period, float):
            first, period = float(first), float(period)
        periods = np.rint((x - first) / period - 0.5)
        return x - period * periods, periods


def polynomial_value(row: Sequence[Any], d: Any) -> Any:
    """The polynomial with these coefficients, constant first."""
    out = row[-1]
    for a in row[-2::-1]:
        out = out * d + a
    return out


def derived_row(row: Sequence[Any]) -> list[Any]:
    """Coefficients of its derivative."""
    return [k * a for k, a in enumerate(row)][1:] or [0.0 * row[0]]
