"""Curves through points: monotone quintics, straight lines or cubic splines, with exact derivatives and integrals.

`through` is what a table of the model file means. By default the curve is monotone between its points, so it never leaves their
range, and twice continuously differentiable, so that a follower's acceleration has no jumps:

    monotone   quintic pieces; slope and curvature at a point are those of the quartic through its neighbours, reduced until every
               piece rises, falls or rests as its ends do. Between rests a piece is the 3-4-5 polynomial of cam design.
    linear     straight lines; the slope jumps at the points
    cubic      the natural cubic spline; it may overshoot
    periodic   monotone and closed: the last value is the first, and the curve repeats

Numbers find their piece by bisection. A traced value cannot look anything up: there the coefficients of its piece are chosen by
conditions, one after the other, and only then multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from linkwright.numerics.scalars import real, where

NEGLIGIBLE = 1e-9  # of the range of values: corners that the error control of a run sees without help


@dataclass(frozen=True, eq=False)
class Piecewise:
    """Row j of c: coefficients (constant first) from breaks[j - 1] on; row 0 before the first, both counted from there."""

    breaks: np.ndarray
    c: np.ndarray  # (breaks + 1, degree + 1)
    order: int = 3  # lowest derivative that may jump at the breaks

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
        j = np.searchsorted(self.breaks, real(x), side="right")
        return list(np.moveaxis(self.c[j], -1, 0)), x - self.breaks[np.maximum(j - 1, 0)]

    def corners(self, first: float, last: float) -> np.ndarray:
        """Breaks between two places beyond which the piece before, continued over the next interval, misses the curve."""
        widths = np.diff(self.breaks)
        ahead, behind = np.append(widths, widths[-1]), np.insert(widths, 0, 0.0)
        gap = np.abs(_polynomial(list(self.c[:-1].T), behind + ahead) - _polynomial(list(self.c[1:].T), ahead))
        inside = (self.breaks > first) & (self.breaks < last)
        return self.breaks[inside & (gap > NEGLIGIBLE * np.ptp(self.c[1:, 0]))]

    def derivative(self) -> Piecewise:
        if self.c.shape[1] == 1:
            return Piecewise(self.breaks, 0.0 * self.c, max(0, self.order - 1))
        return Piecewise(self.breaks, self.c[:, 1:] * np.arange(1, self.c.shape[1]), max(0, self.order - 1))

    def integral(self) -> Piecewise:
        """From the first break on."""
        c = np.concatenate([np.zeros((len(self.c), 1)), self.c / np.arange(1, self.c.shape[1] + 1)], axis=1)
        for j in range(1, len(self.breaks)):
            width = self.breaks[j] - self.breaks[j - 1]
            c[j + 1, 0] = np.polynomial.polynomial.polyval(width, c[j])
        return Piecewise(self.breaks, c, self.order + 1)


@dataclass(frozen=True, eq=False)
class Repeated:
    """A curve over one period, from its first break to its last, again and again; each period adds `gain` (an integral's)."""

    curve: Piecewise
    gain: float = 0.0

    @property
    def breaks(self) -> np.ndarray:
        return self.curve.breaks

    @property
    def order(self) -> int:
        return self.curve.order

    def __call__(self, x: Any) -> Any:
        once, periods = self._once(x)
        return self.curve(once) + self.gain * periods if self.gain else self.curve(once)

    def jet(self, x: Any) -> tuple[Any, Any, Any]:
        once, periods = self._once(x)
        f, df, ddf = self.curve.jet(once)
        return (f + self.gain * periods if self.gain else f), df, ddf

    def integral(self) -> Repeated:
        """From the first break on."""
        whole = self.curve.integral()
        return Repeated(whole, float(whole(float(self.breaks[-1]))))

    def corners(self, first: float, last: float) -> np.ndarray:
        """As of the curve, in every period; seams count."""
        begin, period = float(self.breaks[0]), float(self.breaks[-1] - self.breaks[0])
        once = np.append(self.curve.corners(begin, begin + period), begin)
        turns = np.arange(np.floor((first - begin) / period), np.ceil((last - begin) / period))
        found = np.unique(once[:, None] + period * turns)
        return found[(found > first) & (found < last)]

    def _once(self, x: Any) -> tuple[Any, Any]:
        """Whole periods taken off, and their number; at a seam rounding may leave it on either side, where the curve is the same."""
        first, period = float(self.breaks[0]), float(self.breaks[-1] - self.breaks[0])
        periods = np.rint((x - first) / period - 0.5)
        return x - period * periods, periods


def _polynomial(row: Sequence[Any], d: Any) -> Any:
    out = row[-1]
    for a in row[-2::-1]:
        out = out * d + a
    return out


def _derived(row: Sequence[Any]) -> list[Any]:
    return [k * a for k, a in enumerate(row)][1:] or [0.0 * row[0]]


INTERPOLATIONS = ("monotone", "linear", "cubic", "periodic")


@lru_cache(maxsize=256)
def through(x: tuple[float, ...], y: tuple[float, ...], interpolation: str = "monotone", *, straight: bool = False) -> Piecewise | Repeated:
    """The curve of a table. Beyond its ends it keeps the end value, or with `straight` (motions, which may not stop at once) goes
    on at its end slope; a periodic one repeats."""
    at, values = np.array(x, dtype=float), np.array(y, dtype=float)
    if interpolation == "periodic":
        return Repeated(monotone(at, values, closed=True))
    curve = {"monotone": monotone, "linear": lines, "cubic": spline}[interpolation](at, values)
    if interpolation == "linear":
        return curve
    c = curve.c.copy()
    c[[0, -1], 1] = c[[0, -1], 1] if straight else 0.0
    flat = bool(np.all(curve.c[[0, -1], 1] == 0.0))
    return Piecewise(curve.breaks, c, curve.order if straight or flat else 1)


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
            share[[0, -1]] = share[[0, -1]].min()
    else:
        d, m = safe, 0.0 * bends
    pieces = _quintics(h, y, d, m)
    ends = [pieces[0], pieces[0]] if closed else [[y[0], d[0], 0, 0, 0, 0], [y[-1], d[-1], 0, 0, 0, 0]]
    return Piecewise(x, np.concatenate([ends[:1], pieces, ends[1:]]))


def _local(x: np.ndarray, y: np.ndarray, closed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Slope and curvature at every point of the quartic through it and its four nearest neighbours in order."""
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


def _quintics(h: np.ndarray, y: np.ndarray, d: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Coefficients of the pieces with these values, slopes and curvatures at the points."""
    rise, d0, d1, m0, m1 = np.diff(y), d[:-1] * h, d[1:] * h, m[:-1] * h * h, m[1:] * h * h
    c3 = (20.0 * rise - 8.0 * d1 - 12.0 * d0 - 3.0 * m0 + m1) / (2.0 * h**3)
    c4 = (-30.0 * rise + 14.0 * d1 + 16.0 * d0 + 3.0 * m0 - 2.0 * m1) / (2.0 * h**4)
    c5 = (12.0 * rise - 6.0 * d1 - 6.0 * d0 - m0 + m1) / (2.0 * h**5)
    return np.stack([y[:-1], d[:-1], m[:-1] / 2.0, c3, c4, c5], axis=1)


def _monotone(h: float, s: float, d: np.ndarray, m: np.ndarray) -> bool:
    """Whether the piece of unit secant never turns: its derivative has no negative minimum."""
    if s == 0.0:
        return True  # both ends rest
    row = _quintics(np.ones(1), np.array([0.0, 1.0]), d / s, m * h / s)[0]
    first = row[1:] * np.arange(1, 6)
    inside = np.roots((first[1:] * np.arange(1, 5))[::-1])
    at = [0.0, 1.0, *(float(r.real) for r in inside if abs(r.imag) < 1e-9 and 0.0 < r.real < 1.0)]
    return min(float(np.polynomial.polynomial.polyval(u, first)) for u in at) >= -1e-12


def lines(x: np.ndarray, y: np.ndarray) -> Piecewise:
    """Straight lines through the points, constant outside."""
    slopes = np.concatenate([[0.0], np.diff(y) / np.diff(x), [0.0]])
    values = np.concatenate([y[:1], y[:-1], y[-1:]])
    return Piecewise(x, np.stack([values, slopes], axis=1), 1)


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
    return Piecewise(x, np.concatenate([[[y[0], 0.0, 0.0, 0.0]], pieces, [[y[-1], 0.0, 0.0, 0.0]]]), 2)


def periodic(x: np.ndarray, y: np.ndarray) -> Repeated:
    """The periodic cubic spline, with speed and curvature; y[-1] is y[0]."""
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
