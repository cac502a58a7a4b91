"""References: what coordinates shall do over time, as a caller writes it, and the path they become once bound.

    lw.control.setpoint("60 deg")
    lw.control.minimum_jerk("60 deg", "1 s")
    lw.control.trapezoidal(["0.3 m", "0.1 m"], speed="0.5 m/s", acceleration="2 m/s^2")
    lw.control.spline([0, 1, 2], ["0 deg", "40 deg", "0 deg"], ends="periodic")
    lw.control.from_csv("path.csv", columns=["x", "y"], unit="mm")
    lw.control.sinusoid("5 mm", "2 Hz")
    lw.control.polyline([(0, 0.2), (0.1, 0.2), (0.1, 0.3)], rounding="20 mm")
    "60 deg"   "0.1 m * sin(3 rad/s * t)"   (times, values)   f(t)          the short ways, or one of all these per component

A reference of several components takes a sequence where a reference of one takes a value. Numbers without unit are SI.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from linkwright.errors import UsageError, call_explained
from linkwright.model.curves import Curve, Jet
from linkwright.model.curves.combined import Finite, Together
from linkwright.model.curves.formula import Formula
from linkwright.model.curves.functions import Function, differentiated, explained, takes_state
from linkwright.model.curves.polyline import Polyline
from linkwright.model.curves.polynomial import Constant
from linkwright.model.curves.reading import is_list, read_number, read_text, short
from linkwright.model.curves.reference_kinds import (
    Components,
    Csv,
    MinimumJerk,
    Points,
    Reference,
    Setpoint,
    Sinusoid,
    Spline,
    Trapezoidal,
    count,
)
from linkwright.model.description import Description
from linkwright.text.expressions import Expr, free_variables

WAYS = (
    "a number or text with a unit, an expression of t, (times, values), a function of t, or one of lw.control.setpoint, minimum_jerk, "
    "trapezoidal, spline, from_csv, sinusoid and polyline"
)


@call_explained
def setpoint(value: Any) -> Setpoint:
    """A constant reference: a value, or at one value per component: lw.control.setpoint("60 deg")."""
    return Setpoint(_frozen(value))


@call_explained
def minimum_jerk(to: Any, duration: Any, *, start: Any = None, at: Any = None) -> MinimumJerk:
    """From rest to rest with the least jerk (degree five): no jump in speed or acceleration, peak speed 15/8 of the mean.

    start and at: where and when it begins. By default the present position, at the time the reference is bound. Several
    components move together.
    """
    return MinimumJerk(_frozen(to), duration, start=_frozen(start), at=at)


@call_explained
def trapezoidal(
    to: Any, duration: Any = None, *, speed: Any = None, acceleration: Any = None, start: Any = None, at: Any = None
) -> Trapezoidal:
    """Move from rest to rest at a speed that rises, holds and falls in straight lines.

    Give either a duration, which is divided into thirds, or a top speed and an acceleration. Several components go straight, all at once.

    Parameters
    ----------
    to : float, str or sequence
        Target, with an entry for each component.
    duration : float or str, optional
        Duration of the motion.
    speed : float, str or sequence, optional
        Top speed, one for all components or one for each. A short motion does not reach it.
    acceleration : float, str or sequence, optional
        Acceleration, one for all components or one for each.
    start : float, str or sequence, optional
        Start (default: start of the run).
    at : float or str, optional
        Time at which the motion begins (default: with the run).

    Returns
    -------
    Trapezoidal
        Reference for a controller or a drive.

    Examples
    --------
    >>> lw.control.trapezoidal("90 deg", "1 s")
    lw.control.trapezoidal('90 deg', '1 s')
    """
    return Trapezoidal(_frozen(to), duration, speed=_frozen(speed), acceleration=_frozen(acceleration), start=_frozen(start), at=at)


@call_explained
def spline(times: Any, values: Any, *, ends: str = "natural") -> Spline:
    """A cubic spline through points. Values: one per time, or a row per time with an entry per component.

    ends: "natural" (no curvature there, straight on outside), "clamped" (at rest there, and stays) or "periodic" (again and again).
    """
    return Spline(_frozen(times), _frozen(values), ends=ends)


@call_explained
def from_csv(path: str | os.PathLike[str], *, time: Any = None, columns: Any = None, unit: Any = None, ends: str = "clamped") -> Csv:
    """A cubic spline through the rows of a CSV file.

    time and columns: names of the header (`A` or `A [deg]`), or numbers from 0. By default the first column is the time (s) and
    all others are values. unit: of the values, one for all or one each, else the header's, else SI. ends: as in `spline`.
    """
    return Csv(path, time=time, columns=_frozen(columns), unit=_frozen(unit), ends=ends)


@call_explained
def sinusoid(amplitude: Any, frequency: Any, *, center: Any = None, phase: Any = 0.0) -> Sinusoid:
    """center + amplitude sin(frequency t + phase). Frequency "0.5 Hz" (cycles) or "3 rad/s".

    center: by default the position when the reference is bound. frequency and phase: one for all or one each.
    """
    return Sinusoid(_frozen(amplitude), _frozen(frequency), center=_frozen(center), phase=_frozen(phase))


@call_explained
def polyline(points: Any, *, rounding: Any = 0.0, duration: Any = 1.0) -> Polyline:
    """Straight lines from point to point at a constant rate, a row per point with an entry per component, in `duration` (1 s).

    rounding: distance from a corner at which its line is left for a smooth curve. By default corners are sharp.
    """
    return Polyline(_frozen(points), rounding=rounding, duration=duration)


# ---------------------------------------------------------------- bound


@dataclass(frozen=True, eq=False)
class Path:
    """The curve of all components of a reference, and how the reference was written."""

    curve: Together
    text: str

    def __call__(self, t: Any) -> Jet:
        return self.curve(t)


def read_reference(
    given: Any,
    kinds: Sequence[str],
    now: Sequence[float],
    what: str,
    description: Description,
    *,
    t: float = 0.0,
    names: Sequence[str] = (),
) -> Path:
    """The path of components that are angles or lengths (`kinds`), are at `now` at time t, and are called `names` in messages."""
    called = tuple(names) or ((what,) if len(kinds) == 1 else tuple(f"{what}, component {i + 1}" for i in range(len(kinds))))
    to = Components(tuple(kinds), tuple(float(x) for x in now), float(t), what, called, description)
    return Path(Together(tuple(_curves(given, to))), _text(given))


def _curves(given: Any, to: Components) -> list[Curve]:
    """A sequence has one reference per component; everything else is a reference of all of them."""
    if not is_list(given) or _is_curve(given):
        return [_curve(given, to)]
    if len(given) != to.size:
        raise UsageError(f"{to.what} needs {count(to.kinds)}, but {short(given)} has {len(given)}. Each is {WAYS}.", name=to.what)
    return [_curve(x, to.component(i)) for i, x in enumerate(given)]


def _curve(given: Any, to: Components) -> Curve:
    if isinstance(given, Reference):
        return given.bind(to)
    if _is_curve(given):
        return Points(*given).bind(to)
    if callable(given):
        takes_state(given, to.what, motion=True)
        function = Function(given, to.what, size=to.size)
        explained(lambda: function(to.t), to.t, to.what)  # says what is wrong with it, where tracing would just give up
        return _begun(Finite(differentiated(function, to.t, to.what, to.size), to.what), to)
    if to.size > 1:
        raise UsageError(
            f"{to.what} needs {count(to.kinds)}: give a sequence with one for each, not {short(given)}. Each is {WAYS}.", name=to.what
        )
    if isinstance(given, str):
        value = read_text(given, to.dimensions[0], to.what, to.description)
        if isinstance(value, Expr):
            return _begun(Formula(_of_time(value, to.what), to.what), to)
        return Constant(float(value))
    if isinstance(given, bool) or not isinstance(given, (Real, np.ndarray)) or is_list(given):
        raise UsageError(f"{to.what} is {WAYS}, not {short(given)}.", name=to.what)
    return Constant(read_number(given, to.dimensions[0], to.what))


def _begun(curve: Curve, to: Components) -> Curve:
    """A curve that is finite with its derivatives, at least where it begins."""
    explained(lambda: curve(to.t), to.t, to.what)
    return curve


def _of_time(expression: Expr, what: str) -> Expr:
    others = sorted(free_variables(expression) - {"t"})
    if others:
        raise UsageError(
            f"{what} depends on '{others[0]}', but a reference depends on t only. Use a function of t, or points over time.", name=others[0]
        )
    return expression


def _is_curve(given: Any) -> bool:
    """(times, values) or (times, values, interpolation): two lists, the first of single entries, and a name."""
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 3) or not all(is_list(x) for x in given[:2]):
        return False
    return not any(is_list(x) for x in given[0]) and (len(given) == 2 or isinstance(given[2], str))


def _frozen(given: Any) -> Any:
    """Lists and arrays as they are now, whatever the caller does to them later."""
    if isinstance(given, np.ndarray):
        copy = given.copy()
        copy.setflags(write=False)
        return copy
    return tuple(_frozen(x) for x in given) if isinstance(given, (list, tuple)) else given


def _text(given: Any) -> str:
    if _is_curve(given):
        return repr(Points(*given))
    if is_list(given):
        return f"({', '.join(_text(x) for x in given)})"
    return given if isinstance(given, str) else short(given)
