"""Curves through points: the tables of the model file, splines of references, samples of a motion.

monotone   quintic pieces that rise, fall or rest as their ends do (`monotone`)
linear     straight lines; the slope jumps at the points
cubic      the natural cubic spline; it may overshoot
periodic   monotone and closed: the last value is the first, and the curve repeats
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.curves import Curve, Jet
from linkwright.model.curves.cubic import cubic_pieces
from linkwright.model.curves.monotone import monotone, quintics
from linkwright.model.curves.piecewise import Periodic, Piecewise

LARGEST = 1e300  # coefficient of a piece, about
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
    if not (max(1.0, np.abs(y).max()) < LARGEST * h[k] ** 5 and h.max() < LARGEST ** (1.0 / 5.0)):  # also true for NaN
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
