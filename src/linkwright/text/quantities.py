"""Values with dimensions: expressions are read in the units of the file and come out in SI.

A bare value takes the file's unit of its place; a value with a dimension must
match the place. Where a bare number could mean two things the message shows both readings.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from linkwright.errors import ModelError, Source, UsageError, nearest
from linkwright.files import is_text
from linkwright.properties import cached_property
from linkwright.text.expressions import Evaluation, Expr, apply, combine, evaluate, free_variables, variable
from linkwright.text.parser import parse
from linkwright.text.unit_meaning import reading, typed_angle, unit_of_literal
from linkwright.text.units import (
    ANGLE,
    ANGULAR_SPEED,
    FREQUENCY,
    NONE,
    TIME,
    UNITS,
    Dimension,
    UnitSystem,
    describe,
    display_unit,
    matches,
    multiply,
    parse_unit,
)

SI = UnitSystem(())
TIMES, ANGLES = TIME.index(1), ANGLE.index(1)  # places of their exponents in a dimension
COUNTS = tuple(multiply(NONE, TIME, -n) for n in (1, 2, 3))
MOST_PARSED = 10_000  # texts
_numbers: dict[Any, int] = {}  # of the units and names of models
_parsed: dict[Any, Quantity] = {}  # what texts mean, by everything that this depends on: a model is read again for every design


class WrittenValue(Protocol):
    """A value in a text or a call, with its place: a node of a model file, or a `GivenValue`."""

    @property
    def where(self) -> Source: ...
    @property
    def text(self) -> str | None: ...  # None: a list or a mapping
    @property
    def scope(self) -> Mapping[str, int]: ...  # indices of the repeat block it came from
    @property
    def si(self) -> bool: ...  # bare numbers are SI and radians
    @property
    def kind(self) -> str: ...
    def error(self, message: str, *more: str, **data: Any) -> ModelError: ...


@dataclass(frozen=True)
class GivenValue:
    """A value of a call: a number, or a text with a unit."""

    where: Source
    text: str | None
    kind: str
    scope: Mapping[str, int] = field(default_factory=dict)
    si: bool = False

    @classmethod
    def of(cls, value: Any, what: str) -> GivenValue:
        """The value as text; raise ModelError for what no text can be."""
        where = Source(what)
        if isinstance(value, Mapping):
            return cls(where, None, "a mapping")
        if isinstance(value, (list, tuple)) or (hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0):
            return cls(where, None, "a list")
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            text = repr(int(value)) if isinstance(value, numbers.Integral) else repr(float(value))
        elif value is None or isinstance(value, (bool, str, Expr)):
            text = "" if value is None else str(value)
        else:
            raise ModelError(f"a {type(value).__name__} is not allowed in a model. Use dicts, lists, numbers and strings.", where)
        if not is_text(text):
            raise ModelError(f"'{text}' is not valid Unicode. Write it in letters that UTF-8 has.", where, name=text)
        return cls(where, text, f"'{text}'" if text else "nothing")

    def error(self, message: str, *more: str, **data: Any) -> ModelError:
        return ModelError(message, self.where, *more, **data)


@dataclass(frozen=True)
class Quantity:
    """A value in SI (bare: as written) and its dimension; `NONE` is a bare value.

    A count has no angle although revolutions may be meant: `3 1/s`, `1/T`, and what is made of them. v/L and sqrt(g/L) are none: they
    come out in radians.
    """

    value: Any
    dimension: Dimension = NONE
    count: bool = False

    @property
    def is_zero(self) -> bool:
        return not isinstance(self.value, Expr) and self.value == 0.0


@dataclass(frozen=True)
class QuantityAlgebra:
    """The grammar's operations on quantities, for the names of one model."""

    units: UnitSystem = SI
    names: Mapping[str, Quantity] | None = None  # parameters and repeat indices
    channel: Callable[[str], Quantity | None] | None = None  # where results may be used (loads)

    @cached_property
    def key(self) -> int:
        """A number for everything that a text read without channels depends on: units, names and their dimensions."""
        return _numbers.setdefault((self.units.units, tuple((self.names or {}).items())), len(_numbers))

    def number(self, value: float, unit: str) -> Quantity:
        if not unit:
            return Quantity(value)
        factor, dimension = parse_unit(unit)
        return Quantity(scaled(value, factor), dimension, dimension in COUNTS)

    def is_name(self, name: str) -> bool:
        return bool(self.names) and name in (self.names or {})

    def name(self, name: str) -> Quantity:
        found = self.channel(name) if self.channel else None
        if self.names and name in self.names:
            if found is not None:
                raise ModelError(f"'{name}' is a parameter and a channel (joint or cylinder) at once. Rename one of them.", name=name)
            return self.names[name]
        if found is not None:
            return found
        if name in UNITS:
            return Quantity(*UNITS[name], UNITS[name][1] in COUNTS)
        kind = "parameter, unit or channel" if self.channel else "parameter or unit"
        known = list(self.names or {})
        raise ModelError(
            f"there is no {kind} '{name}'. {nearest(name, known, 'Parameters')} Define it under `parameters:`.", name=name, allowed=known
        )

    def negative(self, a: Quantity) -> Quantity:
        return Quantity(-a.value, a.dimension, a.count)

    def combine(self, op: str, a: Quantity, b: Quantity) -> Quantity:
        value = combine(op, a.value, b.value)
        count = a.count or b.count
        if op in ("mul", "div"):
            self._need_one_kind_of_turns(a, b, op)
        if op == "mul":
            return Quantity(value, multiply(a.dimension, b.dimension), count)
        if op == "div":
            dimension = multiply(a.dimension, b.dimension, -1)
            return Quantity(value, dimension, count or (a.dimension == NONE and dimension in COUNTS))
        if op == "pow":
            dimension = self._power(a, b)
            return Quantity(value, dimension, count or (a.dimension == TIME and dimension in COUNTS))
        return Quantity(value, self._common(a, b, "added up" if op == "add" else "subtracted"), count)

    def _power(self, a: Quantity, b: Quantity) -> Dimension:
        if b.dimension != NONE:
            raise ModelError(f"an exponent must be a pure number, not {describe(b.dimension)}.")
        if a.dimension == NONE:
            return NONE
        if isinstance(b.value, Expr):
            raise ModelError(
                f"{describe(a.dimension)} to the power '{b.value}' has no fixed dimension. Use a number as the exponent.", name=b.value
            )
        return multiply(NONE, a.dimension, b.value)

    def _common(self, a: Quantity, b: Quantity, verb: str) -> Dimension:
        """The dimension of a sum: both sides must agree; zero fits anything."""
        if a.dimension == b.dimension or b.is_zero:
            return a.dimension
        if a.is_zero:
            return b.dimension
        self._one_kind_of_speed(a, b, verb)
        if matches(a.dimension, b.dimension) and not (self.units.degrees and NONE in (a.dimension, b.dimension)):
            return a.dimension if b.dimension == NONE else b.dimension
        bare, other = (a, b) if a.dimension == NONE else (b, a)
        if bare.dimension == NONE:
            unit = display_unit(self.units, other.dimension)[0]
            raise ModelError(
                f"the bare value {_show(bare.value)} cannot be {verb} with a {describe(other.dimension)}. Give it a unit as well, e.g. "
                f"{_show(bare.value)} {unit}."
            )
        raise ModelError(f"{describe(a.dimension)} and {describe(b.dimension)} cannot be {verb}. Check the units of both sides.")

    def _one_kind_of_speed(self, a: Quantity, b: Quantity, verb: str) -> None:
        """Raise ModelError for rad/s beside Hz, which may mean revolutions."""
        if {a.dimension, b.dimension} == {FREQUENCY, ANGULAR_SPEED}:
            raise ModelError(
                f"{describe(a.dimension)} and {describe(b.dimension)} cannot be {verb}. Write rad/s or rev/s in place of 1/s or Hz."
            )

    def _need_one_kind_of_turns(self, a: Quantity, b: Quantity, op: str) -> None:
        """Raise ModelError where the time of a speed of rotation, also in a product, cancels that of a count: revolutions may be meant."""
        sign = -1 if op == "div" else 1
        for turning, counted in ((a, b), (b, a)):
            if turning.dimension[ANGLES] > 0 and turning.dimension[TIMES] < 0 and counted.count and sign * counted.dimension[TIMES] > 0:
                verb = "divided" if op == "div" else "multiplied"
                both = f"{describe(a.dimension)} and {describe(b.dimension)}"
                raise ModelError(f"{both} cannot be {verb}. Write rad/s or rev/s in place of 1/s or Hz.", name=both)

    def call(self, function: str, args: list[Quantity]) -> Quantity:
        value = apply(function, *(a.value for a in args))
        first = args[0]
        if function in ("sin", "cos", "tan"):
            if not matches(first.dimension, NONE):
                raise ModelError(f"{function}() takes an angle, not {describe(first.dimension)}.")
            if first.dimension == NONE and self.units.degrees and not first.is_zero:
                shown = _show(first.value)
                raise ModelError(
                    f"{function}({shown}): in a file with `deg` a bare angle could mean {shown} deg or {shown} rad. Write the unit: "
                    f"{function}({shown} deg), or {function}(({shown})*1 rad) for an expression."
                )
            return Quantity(value)
        if function in ("asin", "acos", "atan", "exp", "log", "log10"):
            if first.dimension != NONE:
                raise ModelError(f"{function}() takes a pure number, not {describe(first.dimension)}.")
            return Quantity(value, ANGLE if function in ("asin", "acos", "atan") else NONE)
        if function == "sqrt":
            return Quantity(value, multiply(NONE, first.dimension, 0.5), first.count)
        if function == "abs":
            return Quantity(value, first.dimension, first.count)
        dimension = self._common(args[0], args[1], "compared")
        return Quantity(value, ANGLE) if function == "atan2" else Quantity(value, dimension, args[0].count or args[1].count)


def scaled(value: Any, factor: float) -> Any:
    """value * factor; a decimal fraction divides instead, so that 39.3 mm is the float 0.0393."""
    inverse = round(1.0 / factor) if factor < 1.0 else 0
    if not isinstance(value, Expr) and inverse and 1.0 / inverse == factor:
        return value / inverse
    return combine("mul", value, factor)


def _show(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def read_quantity(node: WrittenValue, algebra: QuantityAlgebra) -> Quantity:
    """The value of the node, with its own dimension."""
    if node.text is None:
        raise node.error(f"a number or an expression is needed here, not {node.kind}.", value=node.kind)
    known = None if algebra.channel else (node.text, node.si, algebra.key, tuple(node.scope.items()) if node.scope else ())
    if known in _parsed:
        return _parsed[known]
    names = {**(algebra.names or {}), **{k: Quantity(float(v)) for k, v in node.scope.items()}} if node.scope else algebra.names
    local = QuantityAlgebra(SI if node.si else algebra.units, names, algebra.channel)
    try:
        quantity = parse(node.text, local)
    except ModelError as error:
        raise ModelError(error.message, node.where, name=error.name) from error
    except UsageError as error:
        raise ModelError(str(error), node.where, name=error.name) from error
    if isinstance(quantity.value, complex) or not (isinstance(quantity.value, Expr) or math.isfinite(quantity.value)):
        raise node.error(f"'{node.text}' is not a finite number. Check it for overflow.", name=node.text)
    if known is not None:
        if len(_parsed) > MOST_PARSED:
            _parsed.clear()
        _parsed[known] = quantity
    return quantity


def place(quantity: Quantity, dimension: Dimension, units: UnitSystem, node: WrittenValue, what: str) -> Any:
    """The SI value of a quantity in a place that needs `dimension`."""
    text = (node.text or "").strip()
    if quantity.dimension == NONE and not (dimension != NONE and text.endswith(("%", "percent"))):
        if quantity.is_zero:
            return 0.0
        factor = (SI if node.si else units).bare_factor(dimension)
        if factor is None:
            raise node.error(f"{what} has no unit: {text} could mean {units.readings(text, dimension)}. Write the unit.", name=what)
        if dimension[3] and factor != 1.0 and re.search(r"\bpi\b", text):
            raise node.error(
                f"{what}: '{text}' looks like radians, but bare numbers of this file are not. Write for example pi/2*1 rad or 90 deg.",
                name=text,
            )
        return scaled(quantity.value, factor)
    if not matches(quantity.dimension, dimension):
        raise node.error(
            f"{what} must be {describe(dimension)}, but '{text}' is {describe(quantity.dimension)}. Check its unit.", name=text
        )
    try:
        factor = reading(quantity.dimension, dimension, text, what, unit_of_literal(text), count=quantity.count)
    except UsageError as error:
        raise node.error(str(error)) from error
    return quantity.value if factor == 1.0 else combine("mul", quantity.value, factor)


def si_value(text_or_number: Any, dimension: Dimension, what: str) -> float:
    """An SI float from a number (SI, radians) or a text with a unit."""
    if isinstance(text_or_number, float) and not math.isfinite(text_or_number):
        raise UsageError(f"{what} is {text_or_number}. It must be a finite number.", name=what)
    if dimension == ANGLE:
        typed_angle(text_or_number, what)
    try:
        node = text_or_number if hasattr(text_or_number, "scope") else GivenValue.of(text_or_number, what)
        value = place(read_quantity(node, QuantityAlgebra()), dimension, SI, node, what)
    except ModelError as error:
        raise UsageError(error.message, name=error.name or what) from error
    return float(value)


def numeric(value: Any, env: Mapping[str, Any] | Evaluation, node: WrittenValue | None = None) -> float:
    """The float an expression has with the parameters' present values."""
    if not isinstance(value, Expr):
        return float(value)
    try:
        number = env(value) if isinstance(env, Evaluation) else evaluate(value, env)
    except ModelError as error:
        raise ModelError(error.message, node.where if node else None) from error
    if isinstance(number, Expr):
        raise ModelError(
            f"'{number}' depends on {', '.join(sorted(free_variables(number)))}, which has no value here.",
            node.where if node else None,
            name=number,
        )
    if not math.isfinite(number):
        raise ModelError(f"'{value}' is not a finite number. Check it for overflow.", node.where if node else None, name=value)
    return float(number)


@lru_cache(MOST_PARSED)
def parameter(name: str, dimension: Dimension, count: bool = False) -> Quantity:
    """The quantity a parameter's name stands for in expressions."""
    return Quantity(variable(name), dimension, count)
