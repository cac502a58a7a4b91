"""Signals of a drive: a curve over time, or a value of the instant.

    2.5   "2 N m"   "5 V * sin(3 rad/s * t)"   (times, values)      curves, see `model.curves.reading`
    "2 N m * sin(A)"   a table over a channel                       an expression of channels (SI where no unit is given)
    f(t)   f(t, st)                                                 a Python function; st is the State: st["A.v"], st["rocker.P.x"]

A function shall depend on its arguments only: it is traced and compiled where that is possible, and else called in every stage
of every step, accepted or not. A sampled one is called once per sample, in order, and may remember.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.compiler.graph import Sym
from linkwright.errors import UsageError
from linkwright.mechanics.instant import Instant
from linkwright.model.curves import Curve
from linkwright.model.curves.formula import Formula
from linkwright.model.curves.functions import Function, takes_state
from linkwright.model.curves.lines import Constant
from linkwright.model.curves.reading import is_list, read_points, read_text, short, through_points
from linkwright.model.description import Description, Table
from linkwright.model.file import quantity
from linkwright.results.state import State
from linkwright.text.expressions import Expr, free_variables
from linkwright.text.units import Dimension


@dataclass(frozen=True)
class ChannelLaw:
    """An expression of channels, or a table over a channel."""

    law: Expr | Table
    what: str

    def at(self, here: Instant) -> Any:
        value = here.value(self.law)
        if type(value) is not Sym and not np.isfinite(value):
            raise UsageError(f"{self.what}: '{self.law}' is {value} at t = {float(here.t):.6g} s; it must be finite.")
        return value


@dataclass(frozen=True, eq=False)
class Called:
    """A Python function of t, or of t and the state."""

    function: Function
    with_state: bool

    def at(self, here: Instant) -> Any:
        return self.function(here.t, State.of(here)) if self.with_state else self.function(here.t)


@dataclass(frozen=True, eq=False)
class Commanded:
    """Command of a controller to this drive: an effort, or a motor's voltage."""

    index: int

    def at(self, here: Instant) -> Any:
        return here.acting.commands[self.index]


OfInstant = ChannelLaw | Called | Commanded
Signal = Curve | OfInstant


def value_at(signal: Signal, here: Instant) -> Any:
    return signal.at(here) if isinstance(signal, OfInstant) else signal.value(here.t)


def read_signal(given: Any, dimension: Dimension, what: str, desc: Description) -> Signal:
    """The signal a caller (or the model file) wrote."""
    if isinstance(given, Table):
        return ChannelLaw(given, what)
    if callable(given):
        return Called(Function(given, what), takes_state(given, what))
    value = _read_expression(given, dimension, what, desc)
    if isinstance(value, Expr):
        return Formula(value, what) if free_variables(value) <= {"t"} else ChannelLaw(value, what)
    return read_points(value, dimension, "", what) if is_list(value) else Constant(value)


def read_motion(given: Any, dimension: Dimension, motion: str, what: str, desc: Description) -> Curve | Called:
    """The `position` or `speed` a caller (or the model file) wrote, which depends on time only."""
    if isinstance(given, Table):
        _need_time([given.channel], what)
        return through_points(given.x, given.y, given.interpolation, motion, what)
    if callable(given):
        return Called(Function(given, what), takes_state(given, what, motion=True))
    value = _read_expression(given, dimension, what, desc)
    if isinstance(value, Expr):
        _need_time(sorted(free_variables(value)), what)
        return Formula(value, what)
    return read_points(value, dimension, motion, what) if is_list(value) else Constant(value)


def _need_time(channels: list[str], what: str) -> None:
    others = [c for c in channels if c != "t"]
    if others:
        raise UsageError(f"{what} depends on '{others[0]}'; a prescribed motion depends on t only. Use a coupling instead.")


def _read_expression(given: Any, dimension: Dimension, what: str, desc: Description) -> Any:
    """A number in SI, an expression of channels, or points as they are."""
    if isinstance(given, Expr):
        return given
    if isinstance(given, str):
        value = read_text(given, dimension, what, desc)
        return value if isinstance(value, Expr) else float(value)
    if isinstance(given, (tuple, list)) and len(given) in (2, 3) and all(is_list(x) for x in given[:2]):
        return given
    if is_list(given) or isinstance(given, bool) or given is None:
        raise UsageError(f"{what} is a number, a text with a unit, (times, values) or a function, not {short(given)}.")
    return quantity(given, dimension, what)
