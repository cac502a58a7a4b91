"""Plain tables and averages over a cycle, shared by the designer's tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright.files.columns import table
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


def marked(x: float, near: bool) -> Any:
    """A number for a table, with * if it is taken near a singular position."""
    return f"{show(x)}*" if near else x


def columns(header: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], left: int = 1) -> str:
    """Aligned text: (name, unit) heads, numbers to four digits; the first `left` columns are flush left."""
    return table([f"{name} [{unit}]" if unit else name for name, unit in header], [[show(x) for x in row] for row in rows], left)


def show(x: Any) -> str:
    """A number to four digits, without exponents where they only confuse; a dash for nothing."""
    if x is None:
        return "-"
    if isinstance(x, str):
        return x
    if isinstance(x, bool | np.bool_):
        return "yes" if x else "no"
    if x == 0.0 or abs(x) < 1e-12:
        return "0"
    if not 1e-3 <= abs(x) < 1e7:
        return f"{x:.3e}"
    decimals = int(np.clip(3 - np.floor(np.log10(abs(x))), 0, 6))
    return f"{x:.{decimals}f}"
