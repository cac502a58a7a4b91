"""Plain tables and averages over a cycle, shared by the designer's tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.files.columns import table

ROUND_OFF = 1e-10  # of the largest of a curve's values: two that are closer are the same


def time_mean(t: np.ndarray, y: np.ndarray) -> float:
    """Average over the samples' time (trapezoidal: exact to all digits for smooth periodic y at equal steps)."""
    span = float(t[-1] - t[0])
    return integral(t, y) / span if span > 0.0 else float(np.mean(y))


def integral(x: np.ndarray, y: np.ndarray) -> float:
    """Trapezoidal integral of y over x."""
    return float(np.sum(0.5 * (y[1:] + y[:-1]) * np.diff(x)))


def extremes(y: np.ndarray) -> tuple[int, int]:
    """Samples of the least and the largest value; of values that are equal up to round-off the first, which is the beginning of a dwell."""
    near = ROUND_OFF * float(np.abs(y).max())
    return int(np.argmax(y <= y.min() + near)), int(np.argmax(y >= y.max() - near))


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
