"""The kinds of references a caller can write, one frozen class each, and how each is bound to coordinates.

`bind(to)` reads numbers in the units of the components and gives a curve of all of them. Adding a kind: a class here, a function in
`references`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import ModelError, UsageError, counted
from linkwright.model.curves import Curve
from linkwright.model.curves.combined import ScaledCurve, Together
from linkwright.model.curves.csv_columns import read_columns
from linkwright.model.curves.polynomial import Constant
from linkwright.model.curves.profiles import MinimumJerkRise, synchronized, trapezoidal_rise
from linkwright.model.curves.reading import is_list, read_number, read_points, read_spline, short, time_points
from linkwright.model.curves.sine import Sine
from linkwright.model.description import Description, Table
from linkwright.model.file.text_nodes import from_python
from linkwright.text.quantities import QuantityAlgebra, read_quantity
from linkwright.text.units import ANGLE, ANGULAR_SPEED, KINDS, TIME, Dimension, matches, multiply, quantity


class Components(NamedTuple):
    """Target of a reference: coordinates with their kinds, their values at t, and their names for messages."""

    kinds: tuple[str, ...]
    now: tuple[float, ...]
    t: float
    what: str
    names: tuple[str, ...]
    description: Description

    @property
    def size(self) -> int:
        return len(self.kinds)

    @property
    def dimensions(self) -> list[Dimension]:
        return [KINDS[k] for k in self.kinds]

    def component(self, i: int) -> Components:
        return self._replace(kinds=self.kinds[i : i + 1], now=self.now[i : i + 1], what=self.names[i], names=self.names[i : i + 1])

    def each(self, given: Any, dimensions: Sequence[Dimension], called: str, spread: bool = False) -> list[float]:
        """One number per component; `spread`: a single one may stand for all."""
        entries = list(given) if is_list(given) else [given] * (self.size if spread else 1)
        if len(entries) != self.size:
            raise UsageError(f"{self.what}: {called} needs {count(self.kinds)}, not {short(given)}.", name=self.what)
        return [read_number(x, d, f"{name}: {called}") for x, d, name in zip(entries, dimensions, self.names, strict=True)]

    def places(self, given: Any, called: str) -> list[float]:
        """Values of the components; None: the present ones."""
        return list(self.now) if given is None else self.each(given, self.dimensions, called)

    def beginning(self, at: Any) -> float:
        """When a move begins: at the time given, or when it is bound."""
        return self.t if at is None else self.seconds(at, "at", positive=False)

    def seconds(self, given: Any, called: str, positive: bool = True) -> float:
        t = read_number(given, TIME, f"{self.what}: {called}")
        if positive and t <= 0.0:
            raise UsageError(f"{self.what}: {called} is {t:g} s. It must be longer than zero.", name=self.what, value=t)
        return t

    def limits(self, given: Any, per: int, called: str) -> list[float]:
        """Top speeds or accelerations: the dimension of a component per time or time^2."""
        found = self.each(given, [multiply(d, TIME, -per) for d in self.dimensions], called, spread=True)
        low = next((i for i, x in enumerate(found) if x <= 0.0), None)
        if low is not None:
            raise UsageError(
                f"{self.names[low]}: {called} is {found[low]:g}. It must be larger than zero.", name=self.names[low], value=found[low]
            )
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Reference(ABC):
    """Base of all references a caller writes; the repr is how they are written."""

    kind = ""

    @abstractmethod
    def bind(self, to: Components) -> Curve: ...

    def __repr__(self) -> str:
        parts = []
        for f in fields(self):
            value = getattr(self, f.name)
            if repr(value) != repr(f.default):
                parts.append(short(value) if not f.kw_only else f"{f.name}={short(value)}")
        return f"lw.control.{self.kind}({', '.join(parts)})"


@dataclass(frozen=True, eq=False, repr=False)
class Setpoint(Reference):
    value: Any
    kind = "setpoint"

    def bind(self, to: Components) -> Curve:
        return constants(to.each(self.value, to.dimensions, "the set-point"))


@dataclass(frozen=True, eq=False, repr=False)
class MinimumJerk(Reference):
    to: Any
    duration: Any
    start: Any = field(default=None, kw_only=True)
    at: Any = field(default=None, kw_only=True)
    kind = "minimum_jerk"

    def bind(self, to: Components) -> Curve:
        rise = MinimumJerkRise(to.beginning(self.at), to.seconds(self.duration, "duration"))
        return move(rise, to.places(self.start, "start"), to.each(self.to, to.dimensions, "to"))


@dataclass(frozen=True, eq=False, repr=False)
class Trapezoidal(Reference):
    to: Any
    duration: Any = None
    speed: Any = field(default=None, kw_only=True)
    acceleration: Any = field(default=None, kw_only=True)
    start: Any = field(default=None, kw_only=True)
    at: Any = field(default=None, kw_only=True)
    kind = "trapezoidal"

    def bind(self, to: Components) -> Curve:
        start, end = to.places(self.start, "start"), to.each(self.to, to.dimensions, "to")
        at = to.beginning(self.at)
        limits = (self.speed, self.acceleration)
        if (self.duration is None) == (limits == (None, None)) or limits.count(None) == 1:
            raise UsageError(
                f"{to.what}: a trapezoidal move takes either a duration or both speed and acceleration, but this is {self!r}.", name=self
            )
        if self.duration is not None:
            third = to.seconds(self.duration, "duration") / 3.0
            return move(trapezoidal_rise(at, third, third), start, end)
        speeds, accelerations = to.limits(self.speed, 1, "speed"), to.limits(self.acceleration, 2, "acceleration")
        strokes = [b - a for a, b in zip(start, end, strict=True)]
        if not any(strokes):
            return constants(end)
        return move(trapezoidal_rise(at, *synchronized(strokes, speeds, accelerations)), start, end)


@dataclass(frozen=True, eq=False, repr=False)
class Spline(Reference):
    times: Any
    values: Any
    ends: str = field(default="natural", kw_only=True)
    kind = "spline"

    def bind(self, to: Components) -> Curve:
        points = [time_points(self.times, c, d, n) for c, d, n in zip(self._columns(to), to.dimensions, to.names, strict=True)]
        return Together(tuple(read_spline(t, y, self.ends, name) for (t, y), name in zip(points, to.names, strict=True)))

    def _columns(self, to: Components) -> list[Any]:
        """The values of each component."""
        rows = self.values
        if not is_list(self.times) or not is_list(rows) or any(is_list(t) for t in self.times):
            raise UsageError(
                f"{to.what}: a spline goes through a list of times and a list of values, not {short(self.times)} and {short(rows)}.",
                name=to.what,
            )
        if to.size == 1 and not any(is_list(row) for row in rows):
            return [rows]
        wrong = next((i for i, row in enumerate(rows) if not is_list(row) or len(row) != to.size), None)
        if wrong is not None:
            raise UsageError(
                f"{to.what}: the values of a spline are a row per time, each of {count(to.kinds)}. Row {wrong + 1} of {len(rows)} "
                f"is {short(rows[wrong])}.",
                name=to.what,
            )
        return list(rows.T) if isinstance(rows, np.ndarray) else [list(column) for column in zip(*rows, strict=True)]

    def __repr__(self) -> str:
        ends = "" if self.ends == "natural" else f", ends={self.ends!r}"
        return f"lw.control.spline({_amount(self.times, 'times')}, {_amount(self.values, 'values')}{ends})"


@dataclass(frozen=True, eq=False, repr=False)
class Points(Spline):
    """(times, values[, interpolation]): the curve of a table, as drives and the model file read it."""

    interpolation: str = Table.interpolation
    kind = "points"

    def bind(self, to: Components) -> Curve:
        columns = zip(self._columns(to), to.dimensions, to.names, strict=True)
        return Together(tuple(read_points((self.times, c, self.interpolation), d, "position", name) for c, d, name in columns))

    def __repr__(self) -> str:
        how = "" if self.interpolation == Table.interpolation else f", {self.interpolation!r}"
        return f"({_amount(self.times, 'times')}, {_amount(self.values, 'values')}{how})"


@dataclass(frozen=True, eq=False, repr=False)
class Csv(Reference):
    path: Any
    time: Any = field(default=None, kw_only=True)
    columns: Any = field(default=None, kw_only=True)
    unit: Any = field(default=None, kw_only=True)
    ends: str = field(default="clamped", kw_only=True)
    kind = "from_csv"

    def bind(self, to: Components) -> Curve:
        units = list(self.unit) if is_list(self.unit) else [self.unit] * to.size
        if len(units) != to.size or not all(u is None or isinstance(u, str) for u in units):
            raise UsageError(
                f"{to.what}: unit is the unit of all columns, as 'mm', or a list with one for each of {to.size}, not {short(self.unit)}.",
                name=to.what,
            )
        t, columns = read_columns(self.path, self.time, self.columns, units, to.dimensions, to.what)
        return Together(tuple(read_spline(t, y, self.ends, name) for y, name in zip(columns, to.names, strict=True)))


@dataclass(frozen=True, eq=False, repr=False)
class Sinusoid(Reference):
    amplitude: Any
    frequency: Any
    center: Any = field(default=None, kw_only=True)
    phase: Any = field(default=0.0, kw_only=True)
    kind = "sinusoid"

    def bind(self, to: Components) -> Curve:
        frequencies = list(self.frequency) if is_list(self.frequency) else [self.frequency] * to.size
        if len(frequencies) != to.size:
            raise UsageError(
                f"{to.what}: frequency is one for all components or one for each of {to.size}, not {short(self.frequency)}.", name=to.what
            )
        columns = (
            to.places(self.center, "center"),
            to.each(self.amplitude, to.dimensions, "amplitude"),
            [angular_frequency(f, f"{name}: frequency") for f, name in zip(frequencies, to.names, strict=True)],
            to.each(self.phase, [ANGLE] * to.size, "phase", spread=True),
        )
        return Together(tuple(Sine(*numbers) for numbers in zip(*columns, strict=True)))


# ---------------------------------------------------------------- reading


def constants(values: Sequence[float]) -> Curve:
    return Together(tuple(Constant(x) for x in values))


def move(rise: Curve, start: Sequence[float], end: Sequence[float]) -> Curve:
    """All components straight from one place to another, by one rise for all of them."""
    return Together(tuple(ScaledCurve(rise, a, b - a) for a, b in zip(start, end, strict=True)))


def angular_frequency(given: Any, what: str) -> float:
    """rad/s. Cycles and radians must be distinguished, so a bare number is refused."""
    try:
        read = read_quantity(from_python(given, what), QuantityAlgebra())
    except ModelError as error:
        raise UsageError(f"{what}: {error.message}", name=what) from error
    if not matches(read.dimension, ANGULAR_SPEED):
        raise UsageError(
            f"{what} is written in Hz (cycles) or in rad/s, rpm, deg/s (angle), as in '0.5 Hz' or '3 rad/s', not {short(given)}.", name=what
        )
    w = quantity(given, ANGULAR_SPEED, what)
    if w <= 0.0:
        raise UsageError(f"{what} is {given}. It must be larger than zero.", name=what)
    return w


def count(kinds: Sequence[str]) -> str:
    return f"{counted(len(kinds), 'value')} ({', '.join(kinds)})"


def _amount(x: Any, kind: str) -> str:
    return f"{len(x)} {kind}" if is_list(x) else short(x)
