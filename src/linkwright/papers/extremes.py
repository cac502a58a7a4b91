"""Extremes of a sampled smooth curve, located between its samples.

An item prints the extremes of a curve, not the extremes of the samples that happen to be there: over 120 positions of a turn the
scraper's torque seems to end at 99.87 N m, its curve goes to 100.32. Each highest sample, and every other local one near to it,
is replaced by the highest place of the polynomial of degree 8 through the nine samples around it. Residuals of single steps of a
method, and deviations from a reference that is known at some places only, are not curves: their largest sample is the result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

AROUND = 4  # samples on either side of the highest one: a polynomial of degree 8
RIVAL = 0.05  # share of the range below the highest sample within which another peak may be the higher one between samples


class Extremes(NamedTuple):
    """Lowest and highest value of a curve."""

    low: float
    high: float

    @property
    def size(self) -> float:
        """Largest absolute value."""
        return max(abs(self.low), abs(self.high))


def extremes(t: Any, x: Any) -> Extremes:
    """Locate the lowest and the highest value of the smooth curve through x at the increasing places t."""
    places, curve = np.asarray(t, dtype=float), np.asarray(x, dtype=float)
    if places.ndim != 1 or places.shape != curve.shape or len(places) <= 2 * AROUND:
        raise ValueError(f"extremes are located among at least {2 * AROUND + 1} samples of one curve, not {places.shape} and {curve.shape}")
    return Extremes(-_highest(places, -curve), _highest(places, curve))


def _highest(t: np.ndarray, x: np.ndarray) -> float:
    padded = np.concatenate([[-np.inf], x, [-np.inf]])
    peaks = np.flatnonzero((x >= padded[:-2]) & (x >= padded[2:]))
    return max(_peak(t, x, int(i)) for i in peaks if x[i] >= x.max() - RIVAL * np.ptp(x))


def _peak(t: np.ndarray, x: np.ndarray, i: int) -> float:
    """The highest value between the neighbours of sample i."""
    first = min(max(i - AROUND, 0), len(t) - 2 * AROUND - 1)
    window = slice(first, first + 2 * AROUND + 1)
    curve = np.polynomial.Polynomial.fit(t[window], x[window] - x[i], 2 * AROUND)
    roots = curve.deriv().roots()
    real = roots[np.abs(roots.imag) <= 1e-9 * abs(curve.domain[1] - curve.domain[0])].real
    between = real[(real >= t[max(i - 1, 0)]) & (real <= t[min(i + 1, len(t) - 1)])]
    return float(x[i] + max(0.0, *curve(between))) if len(between) else float(x[i])
