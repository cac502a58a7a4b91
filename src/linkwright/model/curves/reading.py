"""Curves as a caller writes them: numbers and texts with units, expressions of t, points over time.

2.5   "2 N m"   "5 V * sin(3 rad/s * t)"      a constant, or an expression (SI where no unit is given)
(times, values)                               a monotone curve through points, as a table of the model file; other curves by
                                              name: (times, values, "linear"), "cubic" or "periodic"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError, ModelError, UsageError
from linkwright.model.curves.piecewise import Periodic, Piecewise
from linkwright.model.curves.tables import INTERPOLATIONS, SPLINES, table
from linkwright.model.description import Description, Table
from linkwright.model.file import quantity
from linkwright.model.file.channel_laws import ChannelDimensions
from linkwright.model.file.text_nodes import from_python
from linkwright.numerics.tolerances import SAME_NUMBER
from linkwright.text.quantities import SI, QuantityAlgebra, place, read_quantity
from linkwright.text.unit_meaning import typed_angle
from linkwright.text.units import ANGLE, TIME, Dimension


def read_number(given: Any, dimension: Dimension, what: str) -> float:
    """A number in SI or a text with a unit."""
    try:
        return quantity(given.item() if isinstance(given, np.ndarray) and given.ndim == 0 else given, dimension, what)
    except LinkwrightError as error:
        raise _named(str(error), what) from error


def read_text(text: str, dimension: Dimension, what: str, desc: Description) -> Any:
    """A number with a unit, or an expression of t and channels, in SI."""
    if dimension == ANGLE:
        typed_angle(text, what)
    try:
        node = from_python(text, what)
        return place(read_quantity(node, QuantityAlgebra(channel=ChannelDimensions.of(desc).quantity)), dimension, SI, node, what)
    except ModelError as error:
        raise _named(error.message, what) from error


def _named(said: str, what: str) -> UsageError:
    return UsageError(said if said.startswith(what) else f"{what}: {said}")


def read_points(given: Sequence[Any], dimension: Dimension, motion: str, what: str) -> Piecewise | Periodic:
    """(times, values) or (times, values, interpolation)."""
    t, y = time_points(given[0], given[1], dimension, what)
    return through_points(t, y, given[2] if len(given) == 3 else Table.interpolation, motion, what)


def through_points(t: Iterable[float], y: Iterable[float], interpolation: Any, motion: str, what: str) -> Piecewise | Periodic:
    """Points as a curve over time. Beyond its ends a position continues at its end speed, all else keeps its end value."""
    if not isinstance(interpolation, str) or interpolation not in INTERPOLATIONS:
        raise UsageError(f"{what}: there is no interpolation {interpolation!r:.40}. Take {', '.join(INTERPOLATIONS)}.", name=interpolation)
    if motion == "position" and interpolation == "linear":
        raise UsageError(f"{what}: straight lines have corners, and the speed would jump there. Take 'monotone' or 'cubic'.", name=what)
    x, f = tuple(float(a) for a in t), np.array([float(a) for a in y])
    if interpolation == "periodic":
        f = _closed(f, f"{what}: a periodic curve", "another interpolation")
    return table(x, tuple(f.tolist()), interpolation, straight=motion == "position")


def read_spline(t: np.ndarray, y: np.ndarray, ends: str, what: str) -> Piecewise | Periodic:
    """The cubic spline with these ends."""
    if ends not in SPLINES:
        raise UsageError(f"{what}: ends is {' or '.join(repr(e) for e in SPLINES)}, not {ends!r}.", name=what, value=ends)
    return SPLINES[ends](t, _closed(y, f"{what}: a periodic spline", "ends='natural'") if ends == "periodic" else y)


def _closed(y: np.ndarray, what: str, other: str) -> np.ndarray:
    """Values whose last is exactly their first."""
    if abs(y[-1] - y[0]) > SAME_NUMBER * np.ptp(y):
        raise UsageError(
            f"{what} ends where it begins, but it begins at {y[0]:.7g} and ends at {y[-1]:.7g}. Add a point at the end that repeats "
            f"the first value, or use {other}.",
            name=what,
        )
    return np.append(y[:-1], y[0])


def time_points(times: Any, values: Any, dimension: Dimension, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and values in SI, as many of each, the times increasing."""
    t, y = _array(times, TIME, f"{what}: times"), _array(values, dimension, f"{what}: values")
    if len(t) != len(y) or len(t) < 2:
        raise UsageError(f"{what}: {len(t)} times and {len(y)} values do not make points. Give two or more of each.", name=what)
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if len(back):
        k = int(back[0])
        raise UsageError(f"{what}: the times must increase, but {t[k + 1]:g} s follows {t[k]:g} s.", name=what)
    return t, y


def _array(values: Any, dimension: Dimension, what: str) -> np.ndarray:
    try:
        x = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        try:
            x = np.array([quantity(v, dimension, what) for v in values])
        except LinkwrightError as error:
            raise UsageError(f"{what}: {error}", name=what) from error
    if x.ndim != 1 or not np.isfinite(x).all():
        raise UsageError(f"{what} must be a list of finite numbers.", name=what)
    return x


# ---------------------------------------------------------------- what a caller wrote, in messages


def is_list(x: Any) -> bool:
    return isinstance(x, (list, tuple)) or (isinstance(x, np.ndarray) and x.ndim > 0)


def short(value: Any) -> str:
    """A value as written in messages and reprs."""
    if is_list(value) and len(value) > 6:
        return f"a list of {len(value)}"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    text = repr(value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value)
    return text if len(text) <= 80 else text[:76] + " ..."
