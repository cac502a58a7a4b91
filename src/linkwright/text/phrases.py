"""Phrases: slices of a text that know their place in it, and the numbers in them.

Every phrase that people write outside a model file is read from here: ranges and tolerances (`ranges`), windows (`windows`), measures
(`measures`) and goals (`goals`). A slice is cut at keywords and signs. A number in it is a quantity of the model file's grammar
(`parser`), so that `0.88 m`, `2*440 mm` and `sqrt(2)*3 N` mean the same everywhere. Errors name the column of the text.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from linkwright.errors import LinkwrightError, ModelError, UsageError, nearest
from linkwright.text.expressions import Expr
from linkwright.text.parser import MOST_CHARACTERS, parse
from linkwright.text.quantities import Quantity, QuantityAlgebra, scaled
from linkwright.text.unit_meaning import LITERAL, channel_unit
from linkwright.text.units import NONE, UNIT_NAMES, UNITS, Dimension, describe, parse_unit

SI = "SI"  # the unit of numbers that a call gives; a bare number of a text has none
SHARE = "%"
PLUS_MINUS = re.compile(r"\+\s?/?\s?-|±")
DOTS = re.compile(r"\.\.")
COMMA = re.compile(r",")
NUMBER_BEGINS = re.compile(r"[-+]?[\d.(]")
SIGNS = re.compile(r">=|<=|==|>|<|=")


@dataclass(frozen=True)
class Phrase:
    """A slice of a text, `whole[start:end]` without the blanks around it."""

    whole: str
    start: int
    end: int

    @classmethod
    def of(cls, text: str) -> Phrase:
        """The phrase of a text; blanks in a row are one."""
        whole = " ".join(text.split())
        if len(whole) > MOST_CHARACTERS:
            raise UsageError(f"'{whole[:30]}...' is too long: at most {MOST_CHARACTERS} characters are read.")
        return cls(whole, 0, len(whole))

    @property
    def text(self) -> str:
        return self.whole[self.start : self.end]

    def __bool__(self) -> bool:
        return self.end > self.start

    def part(self, start: int, end: int | None = None) -> Phrase:
        """The slice from `start` to `end`, both counted from the begin of this one."""
        first, last = self.start + start, self.end if end is None else self.start + end
        while first < last and self.whole[first] == " ":
            first += 1
        while last > first and self.whole[last - 1] == " ":
            last -= 1
        return Phrase(self.whole, first, last)

    def cut(self, pattern: re.Pattern[str], *, last: bool = False) -> tuple[Phrase, str, Phrase] | None:
        """Return the slices before and behind the first or last match outside of parentheses, the match between them; None without one."""
        found = None
        for match in pattern.finditer(self.text):
            before = self.text[: match.start()]
            if before.count("(") == before.count(")"):
                found = match
                if not last:
                    break
        return None if found is None else (self.part(0, found.start()), found[0].strip(), self.part(found.end()))

    def at_keyword(self, *keywords: str, last: bool = False) -> tuple[Phrase, str, Phrase] | None:
        """Return `cut` at a keyword between blanks."""
        return self.cut(_between_blanks(keywords), last=last)

    def split(self, most: int = 0) -> list[Phrase]:
        """Return the slices between blanks; behind `most` of them the rest is one."""
        out, at = [], 0
        for match in re.finditer(r"\S+", self.text):
            if most and len(out) == most:
                break
            out.append(self.part(match.start(), match.end()))
            at = match.end()
        rest = self.part(at)
        return [*out, rest] if rest else out

    def error(self, why: Any, at: int = 0, **data: Any) -> UsageError:
        """The error that a slice cannot be read, with the column of the whole text."""
        data.setdefault("name", self.whole)
        return UsageError(f"'{self.whole}', column {self.start + at + 1}: {why}", **data)


@lru_cache
def _between_blanks(keywords: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<=\s)(?:{'|'.join(map(re.escape, keywords))})(?=\s)")


# -------------------------------------------------------------------- numbers with units


def size_of(unit: str) -> float:
    """Size of a unit in SI; bare numbers and numbers in SI have the size 1."""
    return 1.0 if unit in ("", SI) else parse_unit(unit)[0]


def number_text(value: float) -> str:
    """The shortest text that is read as the same number: `880`, `0.1`."""
    shown = repr(float(value))
    return shown.removesuffix(".0")


def with_unit(number: str, unit: str) -> str:
    """A number with its unit behind it; a bare one without."""
    return f"{number} {unit}" if unit else number


@dataclass(frozen=True)
class Amount:
    """A number and its unit as written; the unit of a bare number is empty, of a number of a call `SI`."""

    value: float
    unit: str = SI
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return with_unit(number_text(self.value), self.unit)

    @property
    def bare(self) -> bool:
        return not self.unit

    @property
    def share(self) -> bool:
        """True for a number in per cent."""
        return self.unit == SHARE

    @property
    def dimension(self) -> Dimension | None:
        """Dimension of the unit; None without one."""
        return None if self.unit in ("", SI) else channel_unit(self.unit)[1]

    @property
    def si(self) -> float:
        """The number in SI as a channel counts it: 1 Hz is a revolution per second."""
        return self.value if self.unit in ("", SI) else scaled(self.value, channel_unit(self.unit)[0])

    def in_unit(self, unit: str) -> Amount:
        """The same amount in another unit of its dimension; a bare number is one of that unit already."""
        if unit == self.unit or self.bare:
            return Amount(self.value, unit, self.text)
        if SI in (unit, self.unit):
            return Amount(self.si if unit == SI else _digits(self.value / channel_unit(unit)[0]), unit, self.text)
        (mine, own), (size, other) = parse_unit(self.unit), parse_unit(unit)
        if own != other:
            raise UsageError(f"{self} is {describe(own)}, and {unit} is a unit of {describe(other)}.", name=self)
        return Amount(_digits(scaled(self.value, mine) / size), unit, self.text)


def _digits(value: float) -> float:
    """A number without the last bit of a conversion: 0.88 m are 880 mm."""
    return float(f"{value:.15g}")


@dataclass(frozen=True)
class _NotedUnits(QuantityAlgebra):
    """The algebra of quantities that remembers its units; a name is a unit or nothing, as a phrase belongs to no model."""

    seen: list[str] = field(default_factory=list)

    def number(self, value: float, unit: str) -> Quantity:
        if unit:
            self.seen.append(unit)
        return super().number(value, unit)

    def name(self, name: str) -> Quantity:
        if name not in UNITS:
            raise ModelError(f"'{name}' is neither a number nor a unit.", None, nearest(name, UNITS, "Units", UNIT_NAMES))
        return self.number(1.0, name)


def amount(p: Phrase) -> Amount:
    """The number of a slice, with its unit; raise UsageError with the column where there is none."""
    if not p:
        raise p.error("a number is missing here.", name="number")
    text = re.sub(r"\bper ?cent\b", SHARE, p.text)
    body, si = (text[:-2].rstrip(), True) if re.search(r"(?<=[\s\d)])SI$", text) else (text, False)
    literal = LITERAL.match(body)
    wrong: UsageError | None = None
    if literal is not None:
        number, unit = float(literal["number"].replace(" ", "")), literal["unit"].strip()
        if not math.isfinite(number):
            raise p.error(f"{literal['number'][:20]} is too large for a number.")
        if not unit:
            return Amount(number, SI if si else "", p.text)
        try:
            parse_unit(unit)
            return Amount(number, unit, p.text)
        except UsageError as problem:
            wrong = p.error(problem, literal.start("unit")) if unit[0].isalpha() else None
    try:
        return _expression(body, SI if si else "", p.text)
    except LinkwrightError as problem:
        if wrong is not None:
            raise wrong from None
        why = problem.message if isinstance(problem, ModelError) else problem
        raise p.error(why, getattr(problem, "at", None) or 0) from None


def amounts(p: Phrase) -> list[Amount]:
    """The numbers of a slice, one after another with blanks between them: `60 240`, `60 mm 2*120 mm`."""
    if not p:
        raise p.error("a number is missing here.", name="number")
    found: list[Phrase] = []
    for word in p.split():
        if found and not NUMBER_BEGINS.match(word.text):  # the unit of the number before it
            found[-1] = Phrase(p.whole, found[-1].start, word.end)
        else:
            found.append(word)
    return [amount(x) for x in found]


def places(text: str) -> list[list[Amount]]:
    """The numbers of places with commas between them: `60 240, 140 220`."""
    rest, out = Phrase.of(text), []
    while (cut := rest.cut(COMMA)) is not None:
        out.append(amounts(cut[0]))
        rest = cut[2]
    return [*out, amounts(rest)]


def _expression(text: str, unit: str, written: str) -> Amount:
    algebra = _NotedUnits()
    found = parse(text, algebra)
    if isinstance(found.value, (Expr, complex)) or not math.isfinite(found.value):
        raise UsageError("it is not a finite number.")
    if not algebra.seen:
        return Amount(float(found.value), unit, written)
    like = [u for u in algebra.seen if parse_unit(u)[1] == found.dimension]
    if not like:
        cancel = found.dimension == NONE
        raise UsageError("its units cancel: write a number." if cancel else f"it is {describe(found.dimension)}: write one number.")
    return Amount(_digits(found.value / parse_unit(like[-1])[0]), like[-1], written)


def alike(a: Amount, b: Amount, p: Phrase | None = None) -> tuple[Amount, Amount]:
    """Two amounts in one unit: a bare one takes the unit of the other, else the first is converted into the unit of the second."""
    try:
        return (a, b.in_unit(a.unit)) if b.bare or (b.unit == SI and not a.bare) else (a.in_unit(b.unit), b)
    except UsageError as problem:
        raise (problem if p is None else p.error(problem)) from None
