"""`m.optimize`: everything it is given read and checked before the search begins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from linkwright.api import (
    NONE,
    Description,
    LinkwrightError,
    State,
    UsageError,
    counted,
    every_parameter,
    file_editing,
    matches,
    measures,
    nearest,
    parse_unit,
    readings,
    unit_kinds,
)
from linkwright.api import goals as phrases
from linkwright.results.measures import measure
from linkwright.rings.design.optimization.dwell_bands import OfRest
from linkwright.rings.design.optimization.problem import DesignProblem, Goal, Limit
from linkwright.rings.design.optimization.quantities import MeasuredValue, OfFunction, OfModel, OfMotion, OfNumbers, moving_mass
from linkwright.rings.design.optimization.variables import DesignVariable, variables
from linkwright.rings.design.studies.analyses import case_of

MASS = ("mass", "moving mass", "total mass")
ENDS = ("lower end", "upper end")  # of a range


def problem(
    described: Description,
    goal: Any,
    vary: Any,
    require: Any,
    case: Any,
) -> DesignProblem:
    """Read goals, constraints and variables; raise UsageError where they do not suit the mechanism or each other."""
    done = case_of(case)
    numbers = variables(vary, described, done)
    bare = DesignProblem(described, numbers, done, (), ())
    try:
        c = bare.work.result(np.array([v.nominal for v in numbers]))
    except LinkwrightError as found:
        raise UsageError(f"the model with the numbers of its file cannot be computed: {found}") from found
    if isinstance(c, State):
        raise UsageError(
            "an equilibrium has no exact gradients here. Optimize a cycle or a run: case='cycle', case=lw.Run('2 s').", name="case"
        )
    reading = QuantityReader(described, numbers, c)
    goals = reading.goals(goal)
    limits, full = reading.limits(_with_reach(require, described))
    _need_unknowns(limits, numbers)
    _need_agreement(limits)
    whole = full or bool(getattr(c, "full_turn", False))
    why = unwritten(described, [v.name for v in numbers])
    return replace(bare, goals=goals, limits=limits, full_turn=whole, unwritten=why)


def _with_reach(given: Any, described: Description) -> list[Any]:
    """The constraints with those that elements set: a gas spring works between its stroke and its extended length."""
    several = [] if given is None else list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    shares = [f"{x.name}.{x.share}" for x in described.acting if x.share]
    return [*several, *(f"{name} {end}" for name in shares for end in ("> 0", "< 1"))]


class QuantityReader:
    """Texts and functions as quantities of a motion like c."""

    def __init__(self, described: Description, numbers: Sequence[DesignVariable], c: Any):
        self.described, self.numbers, self.c = described, {v.name: (k, v) for k, v in enumerate(numbers)}, c
        self.units = described.units

    def goals(self, given: Any) -> tuple[Goal, ...]:
        """One goal or several; a dict has weights by measure."""
        if isinstance(given, Mapping):
            items: list[Any] = [given]
        else:
            items = [given] if not isinstance(given, Sequence) or isinstance(given, str) else list(given)
        if not items:
            raise UsageError(f"goal is what to make best: {phrases.GOALS}.", name="goal")
        return tuple(self._goal(x) for x in items)

    def _goal(self, given: Any) -> Goal:
        if callable(given):
            q = OfFunction(getattr(given, "__name__", "function"), call=given)
            return Goal(f"min {q.name}", 1.0, ((1.0, q),))
        if isinstance(given, Mapping):
            parts = [(_weight(x, w), self._term(x, str(x))) for x, w in given.items()]
            return Goal("min " + " + ".join(f"{w:g} * {q.name}" for w, q in parts), 1.0, tuple(parts))
        if not isinstance(given, (str, phrases.Goal)):
            raise UsageError(
                f"a goal is a text such as {phrases.GOALS}, or a function of the result, not {given!r:.40}.", value=given, name="goal"
            )
        text = phrases.Goal.parse(given) if isinstance(given, str) else given
        terms = tuple((t.weight, self._term(t.what, text.text)) for t in text.terms)
        self._same_divisors(text.terms, terms, text.text)
        plain = len(terms) == 1 and text.terms[0].divisor is None and terms[0][0] == 1.0
        return Goal(text.text, text.sign, tuple((w, q) for w, q in terms), terms[0][1].shown if plain else ("", 1.0))

    def _term(self, what: Any, name: str) -> MeasuredValue:
        """A measure, a number that varies, or the mass."""
        if callable(what):
            return OfFunction(getattr(what, "__name__", "function"), call=what)
        if what in self.numbers:
            k, v = self.numbers[what]
            return OfNumbers(what, "", v.shown, k)
        if what in MASS:
            return OfModel("mass", "kg", ("kg", 1.0), moving_mass)
        if what in every_parameter(self.described):
            raise UsageError(f"'{name}': '{what}' does not vary. Name it in vary=, or leave it out.", name=name)
        found = phrases.channel_in(what)
        if found is not None and found[0] in self.c.channels:
            tries = ", ".join(f"{w} {found[0]}" for w in ("max", "rms", "range", "mean"))
            raise UsageError(f"'{name}': '{found[0]}' is a curve. Say which number of it is meant: {tries}.", name=name)
        return self._measured(what, name)

    def _measured(self, text: str, name: str) -> OfMotion:
        try:
            m = measure(phrases.measure_text(text))
            measures.check([m], self.c)
        except LinkwrightError as problem:
            raise UsageError(f"'{name}': {problem}", name=name) from None
        switching = self.c.proof is not None and (self.described.one_sided or self.described.rubs)
        shown = measures.unit_of_measure(m, self.c, self.units)
        return OfMotion(m.text, measures.unit_of_measure(m, self.c)[0], shown, m, switching)

    def _same_divisors(self, texts: Sequence[phrases.GoalTerm], terms: Sequence[tuple[float, MeasuredValue]], name: str) -> None:
        """Raise UsageError where a term is divided by a quantity of another dimension."""
        for t, (_, q) in zip(texts, terms, strict=True):
            if t.divisor is not None and not matches(_dimension(q), t.divisor):
                raise UsageError(
                    f"'{name}': {t.what} is {unit_kinds.describe(_dimension(q))}, it is divided by {unit_kinds.describe(t.divisor)}.",
                    name=name,
                )

    # ---------------------------------------------------------------- limits

    def limits(self, given: Any) -> tuple[tuple[Limit, ...], bool]:
        """Constraints, and whether a full turn is among them."""
        items = [given] if not isinstance(given, Sequence) or isinstance(given, str) else list(given)
        out: list[Limit] = []
        full = False
        for x in items:
            if callable(x):
                q = OfFunction(getattr(x, "__name__", "function"), call=x)
                out.append(Limit(f"{q.name} >= 0", ((1.0, q),), 0.0, np.inf))
                continue
            (text,) = phrases.requirements([x])
            if text.full_turn:
                full = True
            else:
                out += self._limit(text)
        return tuple(out), full

    def _limit(self, text: phrases.Requirement) -> list[Limit]:
        if text.components:
            return self._box(text)
        if len(text.terms) == 1 and text.terms[0].weight == 1.0:
            found = phrases.channel_in(text.terms[0].what)
            curve = found is not None and found[0] in self.c.channels and found[0] not in self.numbers
            if found is not None and curve:
                return self._everywhere(text.text, *found, (text.low, text.high), text.unit)
        terms = tuple((t.weight, self._term(t.what, text.text)) for t in text.terms)
        self._same_divisors(text.terms, terms, text.text)
        size, *_ = [self._size(text.text, text.unit, q, divided=t.divisor is not None) for t, (_, q) in zip(text.terms, terms, strict=True)]
        shown = terms[0][1].shown if text.terms[0].divisor is None else ("", 1.0)
        low, high = text.low * size, text.high * size
        return [Limit(text.text, terms, low, high, shown, self._rest(text.text, terms, low, high))]

    def _rest(self, text: str, terms: Sequence[tuple[float, MeasuredValue]], low: float, high: float) -> Limit | None:
        """The least length of a dwell as the largest height of its band; None for every other limit."""
        q = terms[0][1]
        if len(terms) > 1 or not isinstance(q, OfMotion) or q.measure is None or q.measure.reduction != "dwell":
            return None
        if terms[0][0] != 1.0 or q.measure.window is not None or np.isfinite(high) or not low > 0.0:
            return None
        band = measure(f"range {q.measure.channel}")
        shown = measures.unit_of_measure(band, self.c, self.units)
        height = OfRest(f"band of {text}", measures.unit_of_measure(band, self.c)[0], shown, q.measure, low)
        return Limit(text, ((1.0, height),), -np.inf, q.measure.limit, shown)

    def _everywhere(
        self, text: str, channel: str, window: str, ends: tuple[float, float], unit: str, sides: tuple[str, str] = ENDS
    ) -> list[Limit]:
        """A channel at all samples: its least value and its largest one, named by side where both are limited."""
        low, high = ends
        both = np.isfinite(ends).all()
        out = []
        for word, side, pair in (("min", sides[0], (low, np.inf)), ("max", sides[1], (-np.inf, high))):
            if np.isfinite(pair).any():
                q = self._measured(f"{word} {channel}{window}", text)
                size = self._size(text, unit, q)
                named = f"{text}: {side}" if both else text
                out.append(Limit(named, ((1.0, q),), pair[0] * size, pair[1] * size, q.shown))
        return out

    def _box(self, text: phrases.Requirement) -> list[Limit]:
        found = phrases.channel_in(text.terms[0].what)
        if found is None:
            raise UsageError(f"'{text.text}': a box limits a point, such as coupler.P.", name=text.text)
        axes = self.described.plane or "xyz"
        names = [f"{found[0]}.{axis}" for axis in axes]
        if len(text.components) != len(axes):
            raise UsageError(f"'{text.text}': give a range for each of {', '.join(axes)}.", name=text.text, allowed=axes)
        for name in names:
            if name not in self.c.channels:
                raise UsageError(f"'{text.text}': there is no point '{found[0]}'.", nearest(found[0], self.c.channels, "Channels"))
        rows = zip(names, text.components, phrases.box_sides(len(axes)), strict=True)
        return [x for name, ends, sides in rows for x in self._everywhere(text.text, name, found[1], ends, text.unit, sides)]

    def _size(self, text: str, unit: str, q: MeasuredValue, *, divided: bool = False) -> float:
        """Size in SI of the unit of a limit; raise UsageError where it does not suit."""
        wanted = NONE if divided else _dimension(q)
        if not unit:
            if wanted == NONE or (isinstance(q, OfFunction) and not q.si):
                return 1.0
            if isinstance(q, OfNumbers) and self.numbers[q.name][1].target.bare:
                return 1.0
            raise UsageError(f"'{text}': write the unit of the number. {q.name} is in {q.shown[0] or q.si} here.", name=text)
        try:
            dimension = parse_unit(unit)[1]
        except UsageError as problem:
            raise UsageError(f"'{text}': {problem}", name=text) from None
        if not matches(wanted, dimension):
            raise UsageError(f"'{text}': {q.name} is {unit_kinds.describe(wanted)}, not {unit_kinds.describe(dimension)}.", name=text)
        return readings.unit_size(unit, wanted, f"'{text}': {q.name}", energy=q.si == "J")


def unwritten(described: Description, names: Sequence[str]) -> str:
    """Why new values of these numbers cannot be written into the model file; empty where they can."""
    known = every_parameter(described)
    shift = 1e-6  # of a number, to see whether the file has a place for it
    moved = {name: float(known[name].value) * (1.0 + shift) + shift for name in names}
    try:
        file_editing.edited(described, moved)
    except LinkwrightError as found:
        return str(found)
    return ""


def _weight(measure: Any, weight: Any) -> float:
    """Weight of a measure in a goal of several."""
    if isinstance(weight, bool) or not isinstance(weight, Real) or not math.isfinite(weight) or not isinstance(measure, str):
        raise UsageError(
            f"a goal as a dict has weights by measure, such as {{'max A.torque': 1, 'max C.load': 0.1}}, not {{{measure!r}: {weight!r}}}.",
            name=measure,
        )
    return float(weight)


def _dimension(q: MeasuredValue) -> Any:
    unit = q.si or (q.shown[0] if isinstance(q, OfNumbers) else "")
    return parse_unit(unit)[1] if unit else NONE


def _need_unknowns(limits: Sequence[Limit], numbers: Sequence[DesignVariable]) -> None:
    """Raise UsageError where more equalities are demanded than numbers vary."""
    demands = [lim.text for lim in limits if lim.equality]
    if len(demands) > len(numbers):
        raise UsageError(
            f"{counted(len(demands), 'equality')} ({'; '.join(demands)}) cannot be met by {counted(len(numbers), 'number')} "
            "that vary: vary more of them, or "
            "give tolerances, = 100 mm +- 0.5 mm.",
            name="vary",
        )


def _need_agreement(limits: Sequence[Limit]) -> None:
    """Raise UsageError where two limits of the same quantity exclude each other."""
    for i, a in enumerate(limits):
        for b in limits[i + 1 :]:
            below, above = (a, b) if a.low > b.high else (b, a)
            if len(a.terms) == len(b.terms) == 1 and _contradict(below, above):
                raise UsageError(f"'{below.text}' and '{above.text}' exclude each other. Relax one of them.", name=below.text)


def _contradict(needs: Limit, forbids: Limit) -> bool:
    """True if one limit needs more than another allows, of the same number or of the least and largest value of one curve."""
    x, y = needs.terms[0][1], forbids.terms[0][1]
    if not needs.low > forbids.high:
        return False
    if x.name == y.name:
        return True
    if not (isinstance(x, OfMotion) and isinstance(y, OfMotion)) or x.measure is None or y.measure is None:
        return False
    same = x.measure.channel == y.measure.channel and x.measure.window == y.measure.window
    return same and (x.measure.reduction, y.measure.reduction) in (("min", "max"), ("min", "mean"), ("mean", "max"))
