"""Ranges, tolerances and values of a number, in one grammar for every call that takes them.

    "880..930 mm"                 a range; "0.88 m..930 mm" and "2*440..930 mm" are the same one; " / 20" behind it: so many values
    (0.88, 0.93)                  a range in SI, also ("880 mm", "930 mm"); (0.88, 0.93, 20) with the number of its values
    "+- 0.1 mm", "+- 2 %", "2 %"  a tolerance about the present value; per cent are always those of the present value
    "200 +- 0.1 mm"               a tolerance about a value
    "0.1 mm", 0.0001              one value; where a tolerance is needed its half width
    [0.18, 0.2, "220 mm"]         values one by one
    "normal(200 mm, 0.1 mm)"      a distribution

Numbers are SI, bare numbers of a text are in the units of the model file. `meaning` reads what a caller gives, a `Place` turns it into SI.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwright.errors import UsageError, counted
from linkwright.text.expressions import FUNCTIONS
from linkwright.text.phrases import DOTS, PLUS_MINUS, SHARE, SI, Amount, Phrase, alike, amount, number_text, size_of, with_unit
from linkwright.text.quantities import scaled
from linkwright.text.unit_meaning import reading
from linkwright.text.units import Dimension, describe, matches, parse_unit

MOST_VALUES = 1_000_000
DEFAULT_COUNT = 11  # values of a range, if nothing is said
_COUNT = re.compile(r"/\s*(\d+)$")
_CALL = re.compile(r"(\w+)\s*\((.*)\)$")
Sizes = Callable[[Dimension], float]  # of bare numbers in a place of a dimension


def _number(value: Any, what: str) -> float:
    try:
        if isinstance(value, (bool, str)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{what} is a number, not {value!r:.40}. The unit has a place of its own.", name=what, value=value) from None
    if not math.isfinite(number):
        raise UsageError(f"{what} is {number}. It is not a finite number.", name=what)
    return number


@dataclass(frozen=True)
class Range:
    """A range of a number, `lw.Range(880, 930, "mm")`: every call that reads "880..930 mm" takes it instead.

    `unit` is SI if it is left out. An empty one means the units of the model file, as in a text without a unit. `count` is the number of
    values where a range is divided.
    """

    low: float
    high: float
    unit: str = SI
    count: int | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, _number(getattr(self, name), f"`{name}` of a range"))
        size_of(self.unit)
        if not self.low < self.high:
            raise UsageError(f"the range {self._ends} is empty: its first number must be the smaller one.", name="range")
        if self.count is not None and (isinstance(self.count, bool) or not 2 <= int(self.count) <= MOST_VALUES):
            raise UsageError(f"{counted(int(self.count), 'value')} of a range. 2 to {MOST_VALUES:,} are possible.", name="range")

    @classmethod
    def parse(cls, text: str) -> Range:
        """Read "880..930 mm" or "880..930 mm / 20"."""
        p = Phrase.of(text)
        found = _of_phrase(p)
        if not isinstance(found, Range):
            raise p.error(f"{kind(found)} is not a range. Write '880..930 mm'.")
        return found

    @property
    def _ends(self) -> str:
        return with_unit(f"{number_text(self.low)}..{number_text(self.high)}", self.unit)

    def __str__(self) -> str:
        return self._ends + ("" if self.count is None else f" / {self.count}")


@dataclass(frozen=True)
class Tolerance:
    """A half width, `lw.Tolerance(0.1, "mm")` or `lw.Tolerance(2, "%")`: every call that reads "+- 0.1 mm" takes it instead.

    It is about the present value of a number, or about another one in the same unit, `lw.Tolerance(0.1, "mm", about=200)`.
    """

    width: float
    unit: str = SI
    about: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", _number(self.width, "the half width of a tolerance"))
        if self.about is not None:
            object.__setattr__(self, "about", _number(self.about, "`about` of a tolerance"))
        size_of(self.unit)
        if self.width < 0.0:
            raise UsageError(f"the tolerance {self} is a half width, zero or more.", name="tolerance")
        if self.relative and self.about is not None:
            raise UsageError(
                f"{number_text(self.width)} % refer to the present value: leave out about={number_text(self.about)}.", name="about"
            )

    @classmethod
    def parse(cls, text: str) -> Tolerance:
        """Read "+- 0.1 mm", "0.1 mm", "2 %" or "200 +- 0.1 mm"."""
        p = Phrase.of(text)
        found = _of_phrase(p)
        if isinstance(found, Values) and found.single:
            found = half_width(found, "the tolerance")
        if not isinstance(found, Tolerance):
            raise p.error(f"{kind(found)} is not a tolerance. Write '+- 0.1 mm'.")
        return found

    @property
    def relative(self) -> bool:
        """True for per cent of the present value."""
        return self.unit == SHARE

    def __str__(self) -> str:
        about = "" if self.about is None else f"{number_text(self.about)} "
        return with_unit(f"{about}+- {number_text(self.width)}", self.unit)


@dataclass(frozen=True)
class Values:
    """Values one by one; `single`: one that is not in a list."""

    items: tuple[Amount, ...]
    single: bool = False

    def __str__(self) -> str:
        shown = ", ".join(x.text or str(x) for x in self.items[:8])
        return shown + (", ..." if len(self.items) > 8 else "")


@dataclass(frozen=True)
class Distribution:
    """A distribution by its name with its numbers."""

    law: str
    numbers: tuple[Amount, ...]
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text


Meaning = Range | Tolerance | Values | Distribution
WAYS = {  # what a place needs, and how it is written
    "a range": "Write '880..930 mm', '+- 20 mm' or '+- 2 %' about the present value, or (low, high) in SI.",
    "a tolerance": "Write '+- 0.1 mm', '2 %', '200 +- 0.1 mm', a range '199.9..200.1 mm', or a distribution 'normal(200 mm, 0.05 mm)'.",
    "values": "Write a range with its number of values, '1..2 mm / 5', (low, high) in SI, or a list.",
    "a limit": "Write the largest value, '1.5 N m', or a range, '-1..2 N m'.",
}
LACKS = {"a range": "is not a range", "a tolerance": "is not a tolerance", "values": "has no single values", "a limit": "is not a limit"}
SHAPES = "Write '180..260 mm / 20', '200 +- 0.1 mm', '+- 0.1 mm', '+- 2 %', (low, high) in SI, or a list of values."


def kind(meaning: Meaning) -> str:
    """Return the kind of phrase, for a message."""
    if isinstance(meaning, Values):
        return "one value" if meaning.single else "a list of values"
    return "a range" if isinstance(meaning, Range) else "a tolerance" if isinstance(meaning, Tolerance) else "a distribution"


# -------------------------------------------------------------------- reading


def meaning(given: Any, name: str = "") -> Meaning:
    """Read what a caller gave for a number; raise UsageError that begins with its name."""
    try:
        if isinstance(given, str):
            if not any(c.isdigit() for c in given):
                raise UsageError(f"{given.strip()!r:.60} is not a range, tolerance or distribution.")
            return _of_phrase(Phrase.of(given))
        if isinstance(given, (Range, Tolerance, Values, Distribution)):
            return given
        if isinstance(given, Mapping):
            raise UsageError("a dict is not a range.")
        if isinstance(given, tuple):
            return _of_pair(given)
        listed = isinstance(given, Sequence) or (hasattr(given, "__array__") and getattr(given, "ndim", 0) > 0)
        items = list(given) if listed else [given]
        if not items:
            raise UsageError("an empty list has no values.")
        return Values(tuple(_of_number(x) for x in items), single=not listed)
    except UsageError as problem:
        raise UsageError(f"{name}: {problem} {SHAPES}" if name else f"{problem} {SHAPES}", name=name or problem.name) from None


def _of_phrase(p: Phrase) -> Meaning:
    dots = p.cut(DOTS)
    if dots is not None:
        return _range(p, dots[0], dots[2])
    band = p.cut(PLUS_MINUS)
    if band is not None:
        return _tolerance(p, band[0], band[2])
    call = _CALL.match(p.text)
    if call is not None and call[1] not in FUNCTIONS:
        return _distribution(p, call)
    found = amount(p)
    return Tolerance(found.value, SHARE) if found.share else Values((found,), single=True)


def _range(p: Phrase, low: Phrase, high: Phrase) -> Range:
    count = _COUNT.search(high.text)
    ends = high if count is None else high.part(0, count.start())
    a, b = alike(amount(low), amount(ends), p)
    return _made(p, lambda: Range(a.value, b.value, b.unit, None if count is None else int(count[1])))


def _tolerance(p: Phrase, about: Phrase, width: Phrase) -> Tolerance:
    half = amount(width)
    if not about:
        return _made(p, lambda: Tolerance(half.value, half.unit))
    middle = amount(about)
    if half.share:  # of the value that is written beside it
        half = Amount(abs(middle.value) * half.value / 100.0, middle.unit)
    middle, half = alike(middle, half, p)
    return _made(p, lambda: Tolerance(half.value, half.unit, middle.value))


def _distribution(p: Phrase, call: re.Match[str]) -> Distribution:
    rest, out = p.part(call.start(2), call.end(2)), []
    while (found := rest.cut(_COMMA)) is not None:
        out.append(amount(found[0]))
        rest = found[2]
    return Distribution(call[1], (*out, amount(rest)), p.text)


_COMMA = re.compile(",")


def _made(p: Phrase, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except UsageError as problem:
        raise p.error(problem) from None


def _of_pair(given: tuple[Any, ...]) -> Range:
    """(low, high) or (low, high, number of values); ends are numbers in SI or texts."""
    counts = len(given) == 3 and isinstance(given[2], int | float) and not isinstance(given[2], bool) and float(given[2]).is_integer()
    if len(given) != 2 and not (counts and not isinstance(given[2], float)):
        raise UsageError(f"a tuple is a range, (low, high) or (low, high, count), not {counted(len(given), 'number')}. A list is values.")
    a, b = (_of_number(x) for x in given[:2])
    if {a.unit, b.unit} == {"", SI}:
        raise UsageError(f"({a.text}, {b.text}): one end is in SI, the other has no unit. Write the unit.")
    a, b = alike(a, b)
    return Range(a.value, b.value, b.unit, int(given[2]) if len(given) == 3 else None)


def _of_number(given: Any) -> Amount:
    if isinstance(given, str) and any(c.isdigit() for c in given):
        return amount(Phrase.of(given))
    try:
        value = float(given)
    except (TypeError, ValueError):
        raise UsageError(f"{given!r:.40} is not a number.", name=given) from None
    if not math.isfinite(value):
        raise UsageError(f"{value} is not a finite number.", name=value)
    return Amount(value, SI, str(given))


def tolerance_in(given: Any) -> Tolerance | None:
    """The tolerance that was given; None for everything else, also for what cannot be read."""
    try:
        found = meaning(given)
    except UsageError:
        return None
    return found if isinstance(found, Tolerance) else None


def half_width(meant: Meaning, name: str) -> Meaning:
    """One value as the half width of a tolerance, which it is where a tolerance is needed; everything else as it is."""
    if isinstance(meant, Values) and meant.single:
        value, unit = meant.items[0].value, meant.items[0].unit
        if value < 0.0:
            raise UsageError(f"{name} = {meant}: a tolerance is a half width, zero or more.", name=name)
        return Tolerance(value, unit)
    return meant


# -------------------------------------------------------------------- in SI


@dataclass(frozen=True)
class Place:
    """A number that is given: its name in messages, and how it is counted.

    `dimension` is None for a parameter that the file writes without a unit. `bare` are the sizes of bare numbers in the file: a text
    without a unit is one of them, and a parameter without a unit is counted in them. `present` is the value about which a tolerance is.
    """

    name: str
    dimension: Dimension | None = None
    bare: Sizes | None = None
    present: float | None = None

    def si(self, value: float, unit: str) -> float:
        """A number in SI; raise UsageError where its unit does not suit."""
        if unit == SI:
            return self._finite(value)
        if not unit:  # as in the file: millimeters or degrees where it writes these
            return self._finite(value if self.bare is None or self.dimension is None else scaled(value, self.bare(self.dimension)))
        factor, found = parse_unit(unit)
        text = with_unit(number_text(value), unit)
        if self.dimension is None:
            return self._finite(scaled(value, factor) if self.bare is None else scaled(value, factor) / self.bare(found))
        if not matches(found, self.dimension):
            raise UsageError(f"{self.name} must be {describe(self.dimension)}, but {text} is {describe(found)}.", name=self.name)
        means = reading(found, self.dimension, text, self.name, unit)
        return self._finite(scaled(value, factor) if means == 1.0 else scaled(value, factor) * means)

    def _finite(self, value: float) -> float:
        if not math.isfinite(value):
            raise UsageError(f"{self.name}: {value} is not a finite number.", name=self.name)
        return value

    def ends(self, meant: Meaning, needed: str = "a range") -> tuple[float, float]:
        """Low and high of a range, or of a tolerance about its value."""
        if isinstance(meant, Range):
            return self.si(meant.low, meant.unit), self.si(meant.high, meant.unit)
        if isinstance(meant, Tolerance):
            middle, width = self.middle(meant), self.width(meant)
            return middle - width, middle + width
        raise self.refused(meant, needed)

    def middle(self, meant: Tolerance) -> float:
        """The value about which a tolerance is."""
        if meant.about is not None:
            return self.si(meant.about, meant.unit)
        if self.present is None:
            raise UsageError(
                f"{self.name}: {meant} is a tolerance of the present value, and there is none here: it is not a range. {SHAPES}",
                name=self.name,
            )
        return self.present

    def width(self, meant: Meaning) -> float:
        """Half width of a tolerance or a range."""
        if isinstance(meant, Range):
            low, high = self.ends(meant)
            return 0.5 * (high - low)
        if not isinstance(meant, Tolerance):
            raise self.refused(meant, "a tolerance")
        if not meant.relative:
            return self.si(meant.width, meant.unit)
        middle = self.middle(meant)
        if middle == 0.0 and meant.width > 0.0:
            raise UsageError(f"{self.name} = {meant}: its present value is zero, give a unit.", name=self.name)
        return abs(middle) * meant.width / 100.0

    def values(self, meant: Meaning, count: int = DEFAULT_COUNT) -> list[float]:
        """Values one by one: of a list, or so many of a range at equal distances."""
        if isinstance(meant, Values):
            return [self.si(x.value, x.unit) for x in meant.items]
        if not isinstance(meant, Range):
            raise self.refused(meant, "values")
        low, high = self.ends(meant)
        n = meant.count or count
        return [low + (high - low) * k / (n - 1) for k in range(n - 1)] + [high]

    def refused(self, meant: Meaning, needed: str) -> UsageError:
        """The sentence for a phrase that has a meaning, but not one that can be used here."""
        return UsageError(f"{self.name} = {meant} {LACKS[needed]}: it is {kind(meant)}. {WAYS[needed]}", name=self.name, value=meant)


def limits(given: Any, place: Place) -> tuple[float, float]:
    """Low and high of a limit: of a range, or of a largest value, which holds in both directions."""
    meant = meaning(given, place.name)
    both = isinstance(meant, Tolerance) and not meant.relative and meant.about is None  # about zero
    if both or (isinstance(meant, Values) and meant.single):
        width = place.width(meant) if isinstance(meant, Tolerance) else place.values(meant)[0]
        if not width > 0.0:
            raise UsageError(f"{place.name} must be larger than zero, not {meant}: it allows no motion.", name=place.name, value=meant)
        return -width, width
    return place.ends(meant, "a limit")


def open_ends(given: Any, place: Place, needed: str = "a range") -> tuple[float, float]:
    """Low and high in SI of a range; an end of a pair that is None is infinite."""
    if isinstance(given, (tuple, list)) and len(given) == 2 and None in given:
        low, high = (None if x is None else place.values(meaning(x, place.name))[0] for x in given)
        return (-math.inf if low is None else low), (math.inf if high is None else high)
    return place.ends(meaning(given, place.name), needed)


def unit_written(given: Any) -> str:
    """The unit in which a range, a tolerance, a value or the first number of a distribution is written; "" without one."""
    try:
        meant = meaning(given)
    except UsageError:
        return ""
    first = meant.items[0] if isinstance(meant, Values) else meant.numbers[0] if isinstance(meant, Distribution) else meant
    return "" if first.unit in (SI, SHARE) else first.unit
