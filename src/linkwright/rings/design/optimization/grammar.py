"""Goals and constraints as text.

min rms A.torque                               a goal: min or max, then a measure (`results.measures`)
min 2 * rms A.torque + max C.load / 200 N      a weighted sum; a term may be divided by a quantity, which makes it dimensionless
min counterweight.mass                         a number of the model itself; `mass`: of all moving bodies
straight coupler.P while 100..180 deg          straightness and distance are minimized unless something else is said

C.transmission > 40 deg                        a constraint: a channel at all samples, a measure, a number, or a sum of them
range guide < 1 mm while 100..180 deg
stroke guide = 100 mm +- 0.1 mm
dwell guide within 1 mm > 80 deg
coupler.P within 0..300 x -50..200 mm          a point in a box; `A.torque within -5..5 N m` for any channel
full turn                                      the drive turns fully
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.file.readings import channel_unit
from linkwright.model.file.units import Dimension

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
DIRECTIONS = {"min": 1.0, "minimize": 1.0, "max": -1.0, "maximize": -1.0}
SMALL_BY_NATURE = ("distance", "straight", "straightness")  # measures that are minimized where nothing is said
FULL_TURN = ("full turn", "full turns", "turns fully")
_WEIGHT = re.compile(rf"^({NUMBER})\s*\*\s*(.+)$")
_DIVISOR = re.compile(rf"^(.+?)\s*/\s*({NUMBER})\s*(.*)$")
_COMPARED = re.compile(rf"^(.+?)\s*(>=|<=|==|>|<|=)\s*({NUMBER})\s*([^+]*?)\s*(?:(?:\+-|\+/-|±)\s*({NUMBER})\s*(.*?))?\s*$")
_WITHIN = re.compile(r"^(\S.*?)\s+(?:within|in)\s+(.+)$")
_RANGE = re.compile(rf"^\[?\s*({NUMBER})\s*(?:\.\.|,)\s*({NUMBER})\s*\]?\s*(.*?)$")
_WHILE = re.compile(r"^(.*?)\s+while\s+(.+)$")
CHANNEL = re.compile(r"^(\S+)(\s+while\s+.+)?$")  # a term that is a channel, perhaps in a window
GOALS = '"min rms A.torque", "min max C.load", "max min C.transmission", "min range guide while 100..180 deg"'
CONSTRAINTS = '"C.transmission > 40 deg", "range guide < 1 mm while 100..180 deg", "coupler.P within 0..300 x 0..200 mm", "full turn"'


@dataclass(frozen=True)
class TermText:
    """A weighted term of a sum: `what` is a measure, a channel or a number of the model."""

    weight: float  # for the value in SI
    what: str
    divisor: Dimension | None = None  # dimension of the quantity the term is divided by


@dataclass(frozen=True)
class GoalText:
    """A sum to be minimized (sign 1) or maximized (sign -1)."""

    text: str
    sign: float
    terms: tuple[TermText, ...]


@dataclass(frozen=True)
class LimitText:
    """A sum with limits; `components` are ranges for every component of a point. Numbers are as written, `unit` is theirs."""

    text: str
    terms: tuple[TermText, ...] = ()
    low: float = -np.inf
    high: float = np.inf
    unit: str = ""
    components: tuple[tuple[float, float], ...] = field(default=())

    @property
    def full_turn(self) -> bool:
        return not self.terms


def goal(text: str) -> GoalText:
    """Read a goal."""
    name = " ".join(text.split())
    word, _, rest = name.partition(" ")
    if word in DIRECTIONS and rest:
        return GoalText(name, DIRECTIONS[word], _sum(rest, name))
    if word in SMALL_BY_NATURE:
        return GoalText(name, 1.0, _sum(name, name))
    raise UsageError(f"'{name}' is no goal: it begins with min or max, then comes a measure. Examples: {GOALS}.")


def limit(text: str) -> LimitText:
    """Read a constraint."""
    name = " ".join(text.split())
    if name.lower() in FULL_TURN:
        return LimitText(name)
    body, window = name, ""
    found = _WHILE.match(name)
    # a window after the comparison belongs to what is compared
    if found is not None and (_COMPARED.match(found[1]) or _WITHIN.match(found[1])):
        body, window = found[1], f" while {found[2]}"
    compared, within = _COMPARED.match(body), _WITHIN.match(body)
    if compared is None and within is not None:  # what is compared may have a band: dwell guide within 1 mm > 80 deg
        return _boxed(name, f"{within[1]}{window}", within[2])
    if compared is None:
        raise UsageError(f"'{name}' is no constraint: compare something with a quantity. Examples: {CONSTRAINTS}.")
    left, sign, number, unit, band, band_unit = compared.groups()
    terms, value = _sum(f"{left}{window}", name), float(number)
    if sign.startswith(("=", "==")) or band is not None:
        if not sign.startswith("="):
            raise UsageError(f"'{name}': a tolerance belongs to an equality, write {left} = {number} {unit} +- {band}.")
        if band is not None and unit and band_unit and unit != band_unit:
            raise UsageError(f"'{name}': write value and tolerance in one unit.")
        width = 0.0 if band is None else float(band)
        return LimitText(name, terms, value - width, value + width, unit or band_unit or "")
    above = sign.startswith(">")
    return LimitText(name, terms, value if above else -np.inf, np.inf if above else value, unit)


def _boxed(name: str, left: str, given: str) -> LimitText:
    """`0..300 mm`, or `0..300 x -50..200 mm` for a point."""
    ranges, units = [], []
    for part in re.split(r"\s+(?:x|by)\s+|\s*;\s*", given):
        found = _RANGE.match(part)
        if found is None:
            raise UsageError(f"'{name}': after within comes a range for each component, 0..300 x -50..200 mm, not '{given}'.")
        low, high = float(found[1]), float(found[2])
        if not low < high:
            raise UsageError(f"'{name}': the range {part} is empty: its first number must be the smaller one.")
        ranges.append((low, high))
        units.append(found[3].strip())
    known = {u for u in units if u}
    if len(known) > 1:
        raise UsageError(f"'{name}': write all ranges in one unit, at the end.")
    unit = known.pop() if known else ""
    terms = _sum(left, name)
    if len(ranges) == 1:
        return LimitText(name, terms, ranges[0][0], ranges[0][1], unit)
    if len(terms) != 1 or terms[0].weight != 1.0:
        raise UsageError(f"'{name}': a box limits one point, not a sum.")
    return LimitText(name, terms, unit=unit, components=tuple(ranges))


def box_sides(axes: int) -> tuple[tuple[str, str], ...]:
    """Names of the sides of a box, lower and upper of each axis."""
    if axes == 2:
        return ("left side", "right side"), ("bottom side", "top side")
    return tuple((f"least {axis}", f"largest {axis}") for axis in "xyz"[:axes])


def _sum(text: str, name: str) -> tuple[TermText, ...]:
    out = []
    for sign, part in _summands(text):
        weighted = _WEIGHT.match(part)
        weight, what = (float(weighted[1]), weighted[2]) if weighted else (1.0, part)
        divided, divisor = _DIVISOR.match(what), None
        if divided is not None:
            what = divided[1]
            size, divisor = _quantity(divided[2], divided[3], name)
            if not size > 0.0:
                raise UsageError(f"'{name}': a term is divided by a positive quantity, not by {divided[2]} {divided[3]}.")
            weight /= size
        what = what.strip()
        if not what:
            raise UsageError(f"'{name}': a term of the sum is empty.")
        out.append(TermText(sign * weight, what, divisor))
    return tuple(out)


def _summands(text: str) -> list[tuple[float, str]]:
    """Terms between plus and minus signs that have spaces around them; `100..180 deg` and `1e-3` have none."""
    parts = re.split(r"\s([+-])\s", text)
    signs = [1.0, *(1.0 if s == "+" else -1.0 for s in parts[1::2])]
    return list(zip(signs, (p.strip() for p in parts[::2]), strict=True))


def _quantity(number: str, unit: str, name: str) -> tuple[float, Dimension | None]:
    if not unit.strip():
        return float(number), None
    try:
        size, dimension = channel_unit(unit)
    except UsageError as problem:
        raise UsageError(f"'{name}': {problem}") from None
    return float(number) * size, dimension


def measure_text(what: str) -> str:
    """Return a term as the text of a measure: `straight coupler.P` is `straightness coupler.P`."""
    return f"straightness {what.removeprefix('straight ')}" if what.startswith("straight ") else what


def texts(given: str | Sequence[str] | None) -> list[str]:
    """One text or several."""
    return [] if given is None else [given] if isinstance(given, str) else list(given)
