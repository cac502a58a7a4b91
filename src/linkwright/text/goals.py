"""Goals and requirements as text.

min rms A.torque                               a goal: min or max, then a measure (`measures`)
min 2 * rms A.torque + max C.load / 200 N      a weighted sum; a term may be divided by a quantity, which makes it dimensionless
min counterweight.mass                         a number of the model itself; `mass`: of all moving bodies
straight coupler.P while 100..180 deg          straightness and distance are minimized unless something else is said

C.transmission_angle > 40 deg                        a requirement: a channel at all samples, a measure, a number, or a sum of them
range guide < 1 mm while 100..180 deg
stroke guide = 100 mm +- 0.1 mm
dwell guide within 1 mm > 80 deg
coupler.P within 0..300 x -50..200 mm          a point in a box; `A.torque within -5..5 N m` for any channel
full turn                                      the drive turns fully
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwright.errors import UsageError
from linkwright.properties import cached_property
from linkwright.text.phrases import PLUS_MINUS, SIGNS, Amount, Phrase, alike, amount, number_text, with_unit
from linkwright.text.units import Dimension

DIRECTIONS = {"min": 1.0, "minimize": 1.0, "max": -1.0, "maximize": -1.0}
SMALL_BY_NATURE = ("distance", "straight", "straightness")  # measures that are minimized where nothing is said
FULL_TURN = ("full turn", "full turns", "turns fully")
GOALS = '"min rms A.torque", "min max C.load", "max min C.transmission_angle", "min range guide while 100..180 deg"'
CONSTRAINTS = '"C.transmission_angle > 40 deg", "range guide < 1 mm while 100..180 deg", "coupler.P within 0..300 x 0..200 mm", "full turn"'
_SUMMANDS = re.compile(r"(?<=\s)[+-](?=\s)")
_TIMES = re.compile(r"\*")
_OVER = re.compile(r"/(?=\s*[\d.(])")
_ENDS = re.compile(r"\.\.|,")
_AXES = re.compile(r"(?<=\s)(?:x|by)(?=\s)|;")


@dataclass(frozen=True)
class GoalTerm:
    """A weighted term of a sum: `what` is a measure, a channel or a number of the model."""

    weight: float  # for the value in SI
    what: str
    divisor: Dimension | None = None  # dimension of the quantity the term is divided by


@dataclass(frozen=True)
class Goal:
    """A sum of measures to make small or large, `lw.Goal("min", "rms A.torque")`: `m.optimize` takes it in place of its text.

    `what` may be a Measure.
    """

    direction: str
    what: str
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise UsageError(f"the direction of a goal is min or max, not {self.direction!r}.", value=self.direction)
        object.__setattr__(self, "what", str(self.what))
        _ = self.terms
        if not self.text:
            object.__setattr__(self, "text", f"{self.direction} {self.what}")

    @classmethod
    def parse(cls, text: str) -> Goal:
        """Read "min rms A.torque", a sum of measures, or "straight coupler.P"."""
        p = Phrase.of(text)
        parts = p.split(1)
        if len(parts) == 2 and parts[0].text in DIRECTIONS:
            _ = _sum(parts[1])
            return cls(parts[0].text, parts[1].text, p.whole)
        if parts and parts[0].text in SMALL_BY_NATURE:
            return cls("min", p.whole, p.whole)
        raise UsageError(f"'{p.whole}' is not a goal: it begins with min or max, then comes a measure. Examples: {GOALS}.", name=p.whole)

    @cached_property
    def terms(self) -> tuple[GoalTerm, ...]:
        return _sum(Phrase.of(self.what))

    @property
    def sign(self) -> float:
        """1 for a sum that is minimized, -1 for one that is maximized."""
        return DIRECTIONS[self.direction]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Requirement:
    """Limits of a channel, a measure or a sum of them, `lw.Requirement("C.transmission_angle", low=40, unit="deg")`.

    `m.optimize(require=...)` and the requirements of `linkwright cycle` take it in place of its text. `what` may be a Measure.
    `components` are ranges for every component of a point. Numbers are in `unit`. "full turn" has none.
    """

    what: str
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    components: tuple[tuple[float, float], ...] = ()
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", str(self.what))
        object.__setattr__(self, "components", tuple((float(a), float(b)) for a, b in self.components))
        _ = Amount(1.0, self.unit).dimension
        if self.full_turn:
            object.__setattr__(self, "text", self.text or self.what)
            return
        for low, high in self.components or ((self.low, self.high),):
            if math.isnan(low) or math.isnan(high) or low > high or (self.components and low == high):
                raise UsageError(f"the range {number_text(low)}..{number_text(high)} is empty: its first number must be the smaller one.")
        if not self.components and self.low == -math.inf and self.high == math.inf:
            raise UsageError(f"a requirement on '{self.what}' needs a limit: low=, high=, or a range for each component.", name=self.what)
        if self.components and (len(self.terms) != 1 or self.terms[0].weight != 1.0):
            raise UsageError("a box limits one point, not a sum.")
        if not self.text:
            object.__setattr__(self, "text", self._written())

    def _written(self) -> str:
        if self.components:
            sides = " x ".join(f"{number_text(a)}..{number_text(b)}" for a, b in self.components)
            return with_unit(f"{self.what} within {sides}", self.unit)
        if self.low == self.high:
            return with_unit(f"{self.what} = {number_text(self.low)}", self.unit)
        if math.isfinite(self.low) and math.isfinite(self.high):
            return with_unit(f"{self.what} within {number_text(self.low)}..{number_text(self.high)}", self.unit)
        sign, end = (">", self.low) if math.isfinite(self.low) else ("<", self.high)
        return with_unit(f"{self.what} {sign} {number_text(end)}", self.unit)

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read "C.transmission_angle > 40 deg", "stroke guide = 100 mm +- 0.1 mm", "coupler.P within 0..300 x 0..200 mm", "full turn"."""
        p = Phrase.of(text)
        if p.whole.lower() in FULL_TURN:
            return cls(p.whole, text=p.whole)
        try:
            return _requirement(p)
        except UsageError as problem:
            if str(problem).startswith(f"'{p.whole}'"):
                raise
            raise p.error(problem) from None

    @property
    def full_turn(self) -> bool:
        return self.what.lower() in FULL_TURN

    @cached_property
    def terms(self) -> tuple[GoalTerm, ...]:
        return () if self.full_turn else _sum(Phrase.of(self.what))

    def __str__(self) -> str:
        return self.text


def _requirement(p: Phrase) -> Requirement:
    body, span = p, ""
    parts = p.at_keyword("while")
    if parts is not None and (parts[0].cut(SIGNS) or parts[0].at_keyword("within", "in")):
        body, span = parts[0], f" while {parts[2].text}"  # a window after the comparison belongs to what is compared
    compared = body.cut(SIGNS, last=True)
    if compared is None:
        within = body.at_keyword("within", "in")
        if within is None:
            raise UsageError(f"'{p.whole}' is not a constraint: compare something with a quantity. Examples: {CONSTRAINTS}.", name=p.whole)
        return _boxed(p, f"{within[0].text}{span}", within[2])
    left, sign, right = compared
    _ = _sum(left)
    band = right.cut(PLUS_MINUS)
    value = amount(right if band is None else band[0])
    if band is None and not sign.startswith("="):
        ends = (value.value, math.inf) if sign.startswith(">") else (-math.inf, value.value)
        return Requirement(f"{left.text}{span}", *ends, value.unit, text=p.whole)
    if not sign.startswith("="):
        raise right.error(f"a tolerance belongs to an equality, write {left.text} = {right.text}.")
    width = Amount(0.0, value.unit) if band is None else amount(band[2])
    if width.share and not value.share:
        width = Amount(abs(value.value) * width.value / 100.0, value.unit)
    value, width = alike(value, width, right)
    return Requirement(f"{left.text}{span}", value.value - width.value, value.value + width.value, width.unit, text=p.whole)


def _boxed(p: Phrase, what: str, given: Phrase) -> Requirement:
    """`0..300 mm`, or `0..300 x -50..200 mm` for a point."""
    rows, rest = [], given
    while (parts := rest.cut(_AXES)) is not None:
        rows.append(_side(parts[0], given))
        rest = parts[2]
    rows.append(_side(rest, given))
    unit = next((b.unit for _, b in reversed(rows) if b.unit), "")
    try:
        ends = [tuple(x.in_unit(unit).value for x in row) for row in rows]
    except UsageError as problem:
        raise given.error(problem) from None
    pairs = tuple((a, b) for a, b in ends)
    for low, high in pairs:
        if not low < high:
            shown = with_unit(f"{number_text(low)}..{number_text(high)}", unit)
            raise given.error(f"the range {shown} is empty: its first number must be the smaller one.")
    if len(pairs) == 1:
        return Requirement(what, *pairs[0], unit, text=p.whole)
    return Requirement(what, unit=unit, components=pairs, text=p.whole)


def _side(p: Phrase, given: Phrase) -> tuple[Amount, Amount]:
    """Two ends of a range, `-5..5 N m` or `[-5, 5] N m`."""
    inner, unit = p, ""
    if p.text.startswith("["):
        end = p.text.find("]")
        inner, unit = p.part(1, end if end > 0 else None), p.text[end + 1 :].strip() if end > 0 else ""
    parts = inner.cut(_ENDS)
    if parts is None:
        raise given.error(f"after within comes a range for each component, 0..300 x -50..200 mm, not '{given.text}'.", value=given.text)
    a, b = alike(amount(parts[0]), amount(parts[2]), p)
    return (a, b) if not unit else (a.in_unit(unit), b.in_unit(unit))


def box_sides(axes: int) -> tuple[tuple[str, str], ...]:
    """Names of the sides of a box, lower and upper of each axis."""
    if axes == 2:
        return ("left side", "right side"), ("bottom side", "top side")
    return tuple((f"least {axis}", f"largest {axis}") for axis in "xyz"[:axes])


def _sum(p: Phrase) -> tuple[GoalTerm, ...]:
    """Terms between plus and minus signs that have blanks around them; `100..180 deg` and `1e-3` have none."""
    out, sign, rest = [], 1.0, p
    while (parts := rest.cut(_SUMMANDS)) is not None:
        out.append(_term(parts[0], sign))
        sign, rest = 1.0 if parts[1] == "+" else -1.0, parts[2]
    return (*out, _term(rest, sign))


def _term(p: Phrase, sign: float) -> GoalTerm:
    weight, what, span, divisor = sign, p, "", None
    times = p.cut(_TIMES)
    if times is not None and times[0] and not times[0].text[0].isalpha():
        factor = amount(times[0])
        if factor.unit:
            raise times[0].error("the weight of a term is a number without a unit.", name="weight")
        weight, what = sign * factor.value, times[2]
    over = what.cut(_OVER)
    if over is not None:
        window = over[2].at_keyword("while")
        size = amount(over[2] if window is None else window[0])
        if not size.value > 0.0:
            raise over[2].error(f"a term is divided by a positive quantity, not by {size}.")
        weight, divisor, what = weight / size.si, size.dimension, over[0]
        span = "" if window is None else f" while {window[2].text}"
    if not what:
        raise p.error("a term of the sum is empty.")
    return GoalTerm(weight, f"{what.text}{span}", divisor)


def channel_in(what: str) -> tuple[str, str] | None:
    """(channel, window) of a term that is a channel, perhaps in a window, ` while 0..90 deg`; None for every other term."""
    p = Phrase.of(what)
    parts = p.at_keyword("while")
    body, span = (p, "") if parts is None else (parts[0], f" while {parts[2].text}")
    return (body.text, span) if len(body.split()) == 1 else None


def measure_text(what: str) -> str:
    """Return a term as the text of a measure: `straight coupler.P` is `straightness coupler.P`."""
    return f"straightness {what.removeprefix('straight ')}" if what.startswith("straight ") else what


def requirements(given: Any) -> list[Requirement]:
    """One requirement or several, as texts or objects."""
    one = isinstance(given, (str, Requirement))
    items = [] if given is None else [given] if one else list(given) if isinstance(given, Sequence) else [given]
    for x in items:
        if not isinstance(x, (str, Requirement)):
            raise UsageError(f"a constraint is a text such as {CONSTRAINTS}, or an lw.Requirement, not {x!r:.40}.", value=x)
    return [Requirement.parse(x) if isinstance(x, str) else x for x in items]
