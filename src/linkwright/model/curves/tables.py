"""Curves through points: the tables of the model file, splines of references, samples of a motion.

monotone   quintic pieces that rise, fall or rest as their ends do (`monotone`)
linear     straight lines; the slope jumps at the points
cubic      the natural cubic spline; it may overshoot
periodic   monotone and closed: the last value is the first, and the curve repeats
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.curves import Curve, Jet
from linkwright.model.curves.piecewise import Periodic, Piecewise

INTERPOLATIONS = ("monotone", "linear", "cubic", "periodic")


@lru_cache(maxsize=256)
def table(x: tuple[float, ...], y: tuple[float, ...], interpolation: str = "monotone", *, straight: bool = False) -> Piecewise | Periodic:
    """The curve of a table. Beyond its ends it keeps the end value, or with `straight` (motions, which may not stop at once) continues
    at its end slope; a periodic one repeats."""
    at, values = np.array(x, dtype=float), np.array(y, dtype=float)
    _need_room(at, values)
    if interpolation == "periodic":
        return Periodic(monotone(at, values, closed=True))
    curve = {"monotone": monotone, "linear": polyline, "cubic": natural_spline}[interpolation](at, values)
    if straight or interpolation == "linear":
        return curve
    c = curve.c.copy()
    c[[0, -1], 1] = 0.0
    return Piecewise(curve.breaks, c)


def polyline(x: np.ndarray, y: np.ndarray) -> Piecewise:
    """Straight lines through the points, constant outside."""
    _need_room(x, y)
    slopes = np.concatenate([[0.0], np.diff(y) / np.diff(x), [0.0]])
    values = np.concatenate([y[:1], y[:-1], y[-1:]])
    return Piecewise(x, np.stack([values, slopes], axis=1))


def natural_spline(x: np.ndarray, y: np.ndarray) -> Piecewise:
    """The cubic spline without curvature at its ends, continued straight."""
    _need_room(x, y)
    pieces, last = cubic_pieces(x, y, "natural")
    before, after = [y[0], pieces[0, 1], 0.0, 0.0], [y[-1], last, 0.0, 0.0]
    return Piecewise(x, np.concatenate([[before], pieces, [after]]))


def clamped_spline(x: np.ndarray, y: np.ndarray) -> Piecewise:
    """The cubic spline at rest at both ends, constant outside; its curvature jumps to zero there."""
    _need_room(x, y)
    pieces, _ = cubic_pieces(x, y, "clamped")
    return Piecewise(x, np.concatenate([[[y[0], 0.0, 0.0, 0.0]], pieces, [[y[-1], 0.0, 0.0, 0.0]]]))


def periodic_spline(x: np.ndarray, y: np.ndarray) -> Periodic:
    """The periodic cubic spline, with speed and curvature; y[-1] is y[0]."""
    _need_room(x, y)
    pieces, _ = cubic_pieces(x, y, "periodic")
    before = [*pieces[0, :3], pieces[-1, 3]]  # of the last piece, counted from the beginning
    return Periodic(Piecewise(x, np.concatenate([[before], pieces, pieces[:1]])))


def _need_room(x: np.ndarray, y: np.ndarray) -> None:
    """Raise UsageError if points are so near to each other, or so far apart, that coefficients of fifth degree overflow."""
    h = np.abs(np.diff(x))
    k = int(np.argmin(h))
    largest = 1e300  # coefficient of a piece, about
    if not (max(1.0, np.abs(y).max()) < largest * h[k] ** 5 and h.max() < largest ** (1.0 / 5.0)):  # also true for NaN
        raise UsageError(
            f"no curve is computed through points at {x[k]:.7g} and {x[k + 1]:.7g}: too near to each other, or others too far away."
        )


SPLINES: dict[str, Callable[[np.ndarray, np.ndarray], Piecewise | Periodic]] = {
    "natural": natural_spline, "clamped": clamped_spline, "periodic": periodic_spline,
}  # fmt: skip


def through_motion(t: np.ndarray, f: np.ndarray, df: np.ndarray, ddf: np.ndarray) -> Piecewise:
    """Quintic pieces through value, speed and acceleration at samples; at rest before and after."""
    before, after = [f[0], *[0.0] * 5], [f[-1], *[0.0] * 5]
    c = np.concatenate([[before], quintics(np.diff(t), f, df, ddf), [after]])
    return Piecewise(np.append(t[:-1], np.nextafter(t[-1], np.inf)), c)  # the last piece holds up to its end


@dataclass(frozen=True, eq=False)
class SampledSpline(Curve):
    """The spline of fifth degree through samples (n, entries) at times t."""

    t: np.ndarray
    samples: np.ndarray
    traceable = False

    @property
    def size(self) -> int:
        return self.samples.shape[1]

    def __call__(self, x: Any, /) -> Jet:
        f, df, ddf = (list(np.moveaxis(d, -1, 0)) for d in _quintic_spline(self.t, self.samples, x))
        return f, df, ddf

    def doubt(self, x: np.ndarray, /) -> Any:
        """From the spline through every second sample, whose error is 16 times as large where samples are dense; 8 to be careful."""
        every, second = _quintic_spline(self.t, self.samples, x), _quintic_spline(self.t[::2], self.samples[::2], x)
        return list(np.moveaxis(np.abs(every[2] - second[2]) / 8.0, -1, 0))


def _quintic_spline(at: np.ndarray, samples: np.ndarray, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    spline = import_module("scipy.interpolate").make_interp_spline(at, samples, k=min(5, len(at) - 1))
    return spline(x), spline.derivative(1)(x), spline.derivative(2)(x)


# Cubic splines: slopes at the points that make the second derivative continuous.
#
#     h_i s_(i-1) + 2 (h_(i-1) + h_i) s_i + h_(i-1) s_(i+1) = 3 (h_i d_(i-1) + h_(i-1) d_i)      widths h, secants d
#
# Own code, because importing the library that has it takes 0.43 s, longer than loading a model and computing its cycle.
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


# The monotone quintic through points: between them it never leaves their range, and it is twice continuously differentiable.
#
# Slope and curvature at a point are those of the quartic through its neighbors, reduced until every piece rises, falls or rests as
# its ends do. Between rests a piece is the 3-4-5 polynomial of cam design.


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
