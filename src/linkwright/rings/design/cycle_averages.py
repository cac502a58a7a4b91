"""Averages and extremes over a cycle, shared by the designer's tools."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.results.measures.extremes import SharpenedCurves, first_extremes


def time_mean(t: np.ndarray, y: np.ndarray) -> float:
    """Average over the samples' time (trapezoidal: exact to all digits for smooth periodic y at equal steps)."""
    span = float(t[-1] - t[0])
    return integral(t, y) / span if span > 0.0 else float(np.mean(y))


def integral(x: np.ndarray, y: np.ndarray) -> float:
    """Trapezoidal integral of y over x."""
    return float(np.sum(0.5 * (y[1:] + y[:-1]) * np.diff(x)))


class CycleExtremes(NamedTuple):
    """Extremes of a curve over a cycle, between samples: values, places in the cycle, and the samples next to them."""

    low: float
    high: float
    at_low: float
    at_high: float
    sample_low: int
    sample_high: int


def extremes(t: np.ndarray, y: np.ndarray, where: np.ndarray) -> CycleExtremes:
    """Locate the least and the largest value of y over t; `where` is the place of each sample in the cycle."""
    found = SharpenedCurves.of(np.asarray(t, dtype=float)[None], np.asarray(y, dtype=float)[None])
    low, high = first_extremes(found.x[0])
    places = [place_between(t, where, float(found.place[0, i]), i) for i in (low, high)]
    return CycleExtremes(float(found.x[0, low]), float(found.x[0, high]), *places, low, high)


def place_between(t: np.ndarray, where: np.ndarray, at: float, i: int) -> float:
    """Place in the cycle at a time next to sample i; in a full turn places begin again at its end."""
    k = i if at == t[i] else i + 1 if (at > t[i]) == (t[-1] > t[0]) else i - 1
    if k == i or not 0 <= k < len(t) or abs(where[k] - where[i]) > 0.5 * np.ptp(where):
        return float(where[i])
    return float(where[i] + (at - t[i]) / (t[k] - t[i]) * (where[k] - where[i]))


def cleaned(x: float, scale: float) -> float:
    """Zero for what sampling and round-off leave of nothing: the work of a conservative cycle, against what was braked in it."""
    return 0.0 if abs(x) < 1e-6 * abs(scale) else x
