"""Tolerances: effects of deviations of the workshop on a measure, by exact derivatives and by computed designs.

    t = m.tolerances({"rod": "200 +- 0.1 mm", "crank": "50 +- 0.05 mm"}, measure="range guide", limits=("99.8 mm", "100.2 mm"))
    print(t)                                            both estimates, contributions ranked, share outside the limits
    m.tolerances(["L1", "L2"], "peak A.torque")         derivatives without tolerances: which number matters most

The linear estimate takes every deviation as independent and normal, its tolerance three standard deviations: the spread of a measure is the
root of the sum of squares of derivative times deviation, the worst case the sum of derivative times tolerance. Plays of joints, gears and
gearboxes count beside them by their lost motion (`play_effects`). Drawn designs and designs at
the corners of the tolerances assume no linearity. Where they differ the measure is not linear over the tolerances, and they are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import (
    KINDS,
    Description,
    Measure,
    Place,
    Result,
    System,
    Table,
    Trajectory,
    UsageError,
    compiled_of,
    counted,
    errors,
    every_parameter,
    listing,
    meaning,
    motion_checks,
    nearest,
    parameters,
    quantity,
    ranges,
    singular_positions,
    text_tables,
)
from linkwright.api import cycles as cycle
from linkwright.results.measures import dimension_of_measure
from linkwright.results.measures.extreme_positions import extreme_place
from linkwright.rings.design.measure_slopes import measure_slopes
from linkwright.rings.design.studies.analyses import Cycle
from linkwright.rings.design.studies.play_effects import PlayEffect, drawn_effects, play_effects
from linkwright.rings.design.studies.request import study as study_of
from linkwright.rings.design.studies.request import without_rows
from linkwright.rings.design.studies.statistics import CONSTANT_SHARE
from linkwright.rings.design.studies.study import Study
from linkwright.rings.design.studies.variations import SIGMAS, Law, ListedValues, ToleranceBand, ValueRange, Variation

METHODS = ("linear", "corners", "sobol", "latin", "random")
DRAWN = METHODS[2:]
STEP = 1e-3  # of a tolerance: central differences, where a result has no derivatives
SHARES = (0.00135, 0.5, 0.99865)  # quantiles that a normal law has at -3, 0 and 3 standard deviations


@dataclass(frozen=True)
class Contribution:
    """Effect of one number on a measure. `share` is its part of the variance, `shown` its tolerance as text, "" without one.

    `per_percent` is the change by 1 % of the value (of a coordinate by 1 % of its body's size), `per_milli` by 0.001 SI: 1 mm or 1 g.
    """

    name: str
    shown: str  # of a play "play 0.05 mm", half its size
    tolerance: float | None  # half the band, or three standard deviations of a distribution; None without one
    derivative: float
    makes: float  # derivative times tolerance
    share: float
    value: float
    per_percent: float

    @property
    def per_milli(self) -> float:
        """Change by 0.001 in SI, 1 mm or 1 g."""
        return self.derivative / 1000.0


@dataclass(frozen=True)
class ToleranceResult(errors.Renamed):
    """One measure under tolerances; SI. `shown` is the unit for people and its size; numbers of designs are NaN where none was drawn."""

    measure: str
    unit: str
    shown: tuple[str, float]
    nominal: float
    deviation: float  # standard deviation, linear
    worst: float  # all deviations at their worst, linear
    contributions: tuple[Contribution, ...]  # strongest first
    drawn_mean: float
    drawn_deviation: float
    drawn_between: tuple[float, float, float]  # the quantiles of -3, 0, 3 standard deviations
    limits: tuple[float | None, float | None]
    outside: float | None  # share of the drawn designs outside the limits, or failed; None where none was drawn
    outside_linear: float | None  # the same by the normal law of the linear estimate
    corners: tuple[float, float] | None = None  # least and greatest value at the corners of the tolerances
    corners_outside: int | None = None  # corners outside the limits, or failed
    at: str = ""  # position of an extreme in the cycle, "A = 66.9 deg"

    def __getitem__(self, name: str) -> Contribution:
        """Return the effect of one number."""
        for c in self.contributions:
            if c.name == name:
                return c
        raise UsageError(f"'{name}' was not varied.", nearest(name, [c.name for c in self.contributions], "Numbers"))

    @property
    def rss(self) -> float:
        """Root of the sum of squares of derivative times tolerance."""
        return float(np.sqrt(sum(c.makes**2 for c in self.contributions)))

    @property
    def has_tolerances(self) -> bool:
        """True unless only derivatives were asked for."""
        return any(c.tolerance is not None for c in self.contributions)

    def effects(self) -> Table:
        """Contributions: the tolerance in the file's unit, the derivative in SI, what it makes in the unit shown."""
        unit, size = self.shown
        if not self.has_tolerances:
            heads = [
                ("number", ""), ("value", "SI", ".5g"), ("derivative", "SI", ".6g"), ("per 1 %", unit, ".5g"), ("per mm, g", unit, ".5g"),
            ]  # fmt: skip
            plain = [(c.name, c.value, c.derivative, c.per_percent / size, c.per_milli / size) for c in self.contributions]
            return Table.of(heads, plain, self.measure)
        heads = [("tolerance of", ""), ("tolerance", ""), ("derivative", "SI", ".6g"), ("makes +-", unit, ".5g"), ("share", "%", ".1f")]
        rows = [(c.name, c.shown, c.derivative, c.makes / size, 100.0 * c.share) for c in self.contributions]
        return Table.of(heads, rows, self.measure)

    def estimates(self) -> Table:
        """Deviation, from and to of all estimates and of the worst case, in the unit shown; empty without tolerances."""
        (unit, size), (low, _, high) = self.shown, self.drawn_between
        rows: list[tuple[Any, ...]] = []
        if self.has_tolerances:
            rows.append(("linear", self.deviation, self.nominal - 3 * self.deviation, self.nominal + 3 * self.deviation))
            rows += [("drawn", self.drawn_deviation, low, high)] if np.isfinite(low) else []
            rows += [("corners", None, *self.corners)] if self.corners is not None else []
            rows.append(("worst case, linear", None, self.nominal - self.worst, self.nominal + self.worst))
        shown = [(name, *(None if x is None else x / size for x in found)) for name, *found in rows]
        return Table.of([("estimate", ""), ("deviation", unit, ".4g"), ("from", unit, ".6g"), ("to", unit, ".6g")], shown, self.measure)

    def verdict(self, rows: int | None) -> str:
        """The share outside the limits as text; empty without limits. `rows` designs were computed, None: only the linear estimate was."""
        if self.limits == (None, None):
            return ""
        unit, size = self.shown
        low, high = (None if x is None else f"{x / size:.6g} {unit}" for x in self.limits)
        where = f"outside {low} .. {high}" if low and high else f"above {high}" if high else f"below {low}"
        linear = "" if self.outside_linear is None else f", {100 * self.outside_linear:.3g} % by the linear estimate"
        if self.corners_outside is not None:
            return f"{where}: {self.corners_outside:,} of {rows:,} corners{linear}"
        if rows is None:
            return f"{where}: {linear.removeprefix(', ')}" if linear else ""
        if not rows:
            return f"{where}: not known, no design was drawn{linear}"
        return f"{where}: {100 * (self.outside or 0.0):.3g} % of {rows:,} drawn designs{linear}"


@dataclass(frozen=True)
class ToleranceAnalysis(Result):
    """All measures; `study` has the designs that were computed, `method` is how."""

    results: tuple[ToleranceResult, ...]
    study: Study
    exact: bool  # derivatives are exact, not differences
    method: str  # "linear", "corners", "sobol", "latin" or "random"
    notes: tuple[str, ...] = ()
    held: str = ""  # what every design has in common with the file's: positions of the drives at the start

    @property
    def rows(self) -> int | None:
        """Number of designs that were computed; None with the method "linear", which computes none."""
        return None if self.method == "linear" else len(self.study)

    def __getitem__(self, name: str) -> ToleranceResult:
        for r in self.results:
            if r.measure == name:
                return r
        raise UsageError(f"'{name}' was not measured. Measures are {', '.join(r.measure for r in self.results)}.", name=name)

    def __str__(self) -> str:
        out = []
        for r in self.results:
            unit, size = r.shown
            out.append(f"{r.measure} = {r.nominal / size:.6g} {unit}" + (f" at {r.at}" if r.at else ""))
            out += [*([r.estimates().text()] if r.has_tolerances else []), r.effects().text()]
            out += [r.verdict(self.rows)] if r.verdict(self.rows) else []
        computed = len(self.study) > 0
        held = [f"held in every design, by both estimates: {self.held}"] if self.held and computed else []
        missing = self.study.not_checked if computed else ()
        not_checked = [f"not checked of drawn designs: {', '.join(missing)}"] if missing else []
        return "\n".join([*out, *held, *not_checked, *self.notes])

    def table(self) -> Table:
        """Return the contributions of all tolerances to all measures; the estimates are a part of the table."""
        effects, estimates = ([_measured(r.measure, t) for r, t in zip(self.results, x, strict=True)] for x in self._tables())
        return Table.stacked(effects, "tolerances", self.notes, parts=(Table.stacked(estimates, "estimates"),))

    def _tables(self) -> tuple[list[Table], list[Table]]:
        return [r.effects() for r in self.results], [r.estimates() for r in self.results]

    def as_dict(self) -> dict[str, Any]:
        return {
            "rows": len(self.study),
            "failed": len(self.study.why),
            "unknown": len(self.study.unknown),
            "not_checked": list(self.study.not_checked),
            "exact": self.exact,
            "method": self.method,
            "notes": list(self.notes),
            "held": self.held,
            "measures": {
                r.measure: {
                    "unit": r.unit,
                    "nominal": r.nominal,
                    "at": r.at,
                    "linear": {"deviation": r.deviation, "rss": r.rss, "worst": r.worst, "outside": r.outside_linear},
                    "drawn": {"mean": r.drawn_mean, "deviation": r.drawn_deviation, "between": list(r.drawn_between), "outside": r.outside},
                    "corners": None if r.corners is None else {"between": list(r.corners), "outside": r.corners_outside},
                    "limits": list(r.limits),
                    "contributions": [{**vars(c), "per_milli": c.per_milli} for c in r.contributions],
                }
                for r in self.results
            },
        }


def _measured(measure: str, t: Table) -> Table:
    """A table with the measure as its first column."""
    return Table((text_tables.Column.of("measure", "", [measure] * len(t)), *t.columns), t.title)


def tolerances(
    mechanism: Any,
    vary: Any,
    measure: Any,
    case: Any,
    *,
    limits: Any,
    method: str | None,
    count: int,
    seed: int,
    options: Mapping[str, Any],
) -> ToleranceAnalysis:
    """See `Mechanism.tolerances`."""
    named = vary is None or isinstance(vary, str) or (isinstance(vary, Sequence) and all(isinstance(x, str) for x in vary))
    how = _method(method, named)
    described: Description = holding(mechanism.description, mechanism.system, case)
    if how == "linear" and options:
        raise UsageError(f"{listing(options)} belong to designs that are computed. The method 'linear' computes none.")
    if named:
        chosen = parameters.choose(every_parameter(described), vary, described)
        if not chosen:
            raise UsageError("tolerances: no number is named, so nothing varies.", name="tolerance")
        return _analysis(without_rows(described, {p.name: [p.value] for p in chosen}, measure, case), limits, how, named=True)
    given = half_widths(vary)
    if how == "linear":
        return _analysis(without_rows(described, given, measure, case), limits, how)
    plan: dict[str, Any] = {"plan": how} if how == "corners" else {"plan": how, "count": count, "seed": seed}
    return _analysis(study_of(type(mechanism)(described), given, measure, case, **plan, **options), limits, how, seed=seed)


def _method(given: str | None, named: bool) -> str:
    if given is None:
        return "linear" if named else "sobol"
    if given not in METHODS:
        raise UsageError(f"there is no method '{given}'.", nearest(str(given), METHODS, "Methods"))
    if named and given != "linear":
        raise UsageError(
            f"names without tolerances have derivatives only: method='{given}' needs tolerances, {{'rod': '+- 0.1 mm'}}.", name=given
        )
    return given


def _analysis(study: Study, limits: Any, how: str, named: bool = False, seed: int = 0) -> ToleranceAnalysis:
    """The analysis of a study whose designs lie within the tolerances, or of numbers that are only named."""
    assert study.work is not None and study.plan is not None
    variations = study.plan.variations
    for v in () if named else variations:
        if isinstance(v, ListedValues):
            raise Place(v.name).refused(meaning(list(v.given)), "a tolerance")
    middle = np.array([v.middle for v in variations])
    in_file = np.array([t.nominal for t in study.work.numbers.targets])
    nominal = study.work.of_file if np.array_equal(middle, in_file) else study.work.result(middle)
    linear = _linear(study, nominal, middle, variations, named)
    notes = [n for n in nominal.notes if n != singular_positions.PEAKS] if named and isinstance(nominal, Trajectory) else []
    notes += linear.notes
    notes += [_elsewhere(study, v, x) for v, x in zip(variations, in_file, strict=True) if _is_elsewhere(v, x)]
    places = [_extreme(nominal, m) for m in study.work.measures]
    notes += [text for _, text in places if text]
    plays = [([], "") if named else play_effects(nominal, m) for m in study.work.measures]
    notes += [text for _, text in plays if text]
    ends, sizes, differentiable = _limits(limits, study, nominal), _sizes(study), linear.differentiable
    failed, unknown = study.verdicts == "failed", study.unknown
    out = []
    for k, name in enumerate(study.measures):
        low, high = ends[name]
        loose, more = plays[k][0], sum(x.makes for x in plays[k][0]) if how == "corners" else 0.0
        y = study[name] + (drawn_effects(loose, len(study), seed + k) if how in DRAWN else 0.0)
        beyond = failed | ~np.isfinite(y) | (y - more < (-np.inf if low is None else low)) | (y + more > (np.inf if high is None else high))
        designs = _Designs(y[np.isfinite(y)], beyond, how, more)
        effects = _Effects([variations[i] for i in differentiable], linear.slopes[k][differentiable], sizes[differentiable], named, loose)
        texts = ["" if named else study._shown_number(v.name, _band(v)) for v in effects.variations]
        units = study.units.get(name, ""), study.shown(name)
        out.append(_result(name, *units, linear.values[k], effects, texts, designs, (low, high), study.scale(name), places[k][0]))
    if not study.complete:
        total = counted(study.total, "design", spec=",")
        notes.append(f"Interrupted after {len(study):,} of {total}: shares and deviations of drawn designs count only these designs.")
    if failed.any():
        drawn = counted(len(study), "drawn design", spec=",")
        notes.append(f"{int(failed.sum()):,} of {drawn} failed and count as outside. study.why has the reasons.")
    if unknown:
        drawn, first = counted(len(study), "drawn design", spec=","), next(iter(unknown.values()))
        notes.append(f"{len(unknown):,} of {drawn} are unknown and count by their numbers: {first}. study.unknown has all reasons.")
    return ToleranceAnalysis(tuple(out), study, linear.exact, how, tuple(dict.fromkeys(notes)), _held(study, nominal))


def _sizes(study: Study) -> np.ndarray:
    """Sizes of the numbers, of which a change by 1 % is one."""
    assert study.work is not None
    known = every_parameter(study.work.numbers.described)
    return np.array([known[t.inner].size if not t.where else abs(t.nominal) for t in study.work.numbers.targets])


def _extreme(c: Any, m: Any) -> tuple[str, str]:
    """Position of an extreme in a cycle, and what should be known about it; "" for other measures."""
    if not isinstance(c, Trajectory) or not isinstance(m, Measure):
        return "", ""
    if m.reduction not in ("peak", "max", "min"):
        grows = m.reduction in ("mean", "rms", "std") and c.dimension(m.channel) not in ("length", "angle") and c.near_singular.any()
        return "", f"{m.name}: samples near a singular position are part of it. It depends on how close they are." if grows else ""
    top = extreme_place(m, c)
    if m.read_from(c).grows:
        return top.place, singular_positions.NEAR_PEAK
    if top.end:
        return top.place, f"{m.name}: the extreme lies at an end of the motion, {top.place}. Derivatives are taken there."
    if top.rivals:
        return top.place, f"{m.name}: at {listing(top.rivals)} it is nearly as high. That extreme may overtake this one."
    return top.place, ""


def half_widths(vary: Any) -> Any:
    """Return the tolerances that are given, with single values as half widths; raise UsageError for lists of values."""
    if not isinstance(vary, Mapping):
        raise UsageError('tolerances are a dict by the names of numbers, {"rod": "+- 0.1 mm", "*.mass": "2 %"}.', name="tolerance")
    out = {}
    for name, given in vary.items():
        out[name] = given if hasattr(given, "ppf") else ranges.half_width(meaning(given, str(name)), str(name))
        if isinstance(out[name], ranges.Values):
            raise Place(str(name)).refused(out[name], "a tolerance")
    return out


def holding(described: Description, system: System, of: Any) -> Description:
    """Return the model with its drives held where its drawing has them: a tolerance must not move the beginning of the cycle as well.

    Derivatives are taken at fixed positions of the drives. A named parameter that the drawing is written with would otherwise let the
    drive of a drawn design begin elsewhere, and the two estimates would answer different questions.
    """
    if not (of == "cycle" or (isinstance(of, Cycle) and of.asked["start"] is None)) or system.mobility.freedoms == 0:
        return described
    given = {name.removesuffix(".v") for name, _ in described.start}
    if given:  # the file says itself what is held
        return described
    at = system.start.instant
    held = [(d.joint, float(cycle.coordinate_now(compiled_of(system).loops, d.joint, at))) for d in described.drives]
    return replace(described, start=(*described.start, *held))


def _held(study: Study, nominal: Any) -> str:
    """`A = 60 deg at the start`: positions that all designs have in common."""
    assert study.work is not None
    start = [(name, float(x)) for name, x in study.work.numbers.described.numbers().start if not name.endswith(".v")]
    if not isinstance(nominal, Trajectory) or not isinstance(study.work.case, Cycle):
        return ""
    out = []
    for name, x in start:
        symbol, size = nominal.unit(name) if name in nominal.channels else ("", 1.0)
        out.append(f"{name} = {round(x / size, 9) + 0.0:.6g} {symbol}".rstrip())
    return f"{', '.join(out)} at the start" if out else ""


def _is_elsewhere(v: Variation, in_file: float) -> bool:
    """True if the number of the file lies outside a tolerance: another design is measured than that of the file."""
    return isinstance(v, ToleranceBand) and abs(v.nominal - in_file) > v.band * (1.0 + 1e-9)


def _elsewhere(study: Study, v: Variation, in_file: float) -> str:
    said = study._shown_number(v.name, in_file)
    return f"This design differs from the file: {v.name} is {said} there, outside {v.text}; '+- ...' alone is about the file's number."


@dataclass(frozen=True)
class _Designs:
    """A measure of the computed designs: finite values, and which designs are outside the limits or failed."""

    y: np.ndarray
    beyond: np.ndarray
    how: str
    more: float  # what plays add to each side of a corner

    @property
    def drawn(self) -> np.ndarray:
        return self.y if self.how in DRAWN else np.zeros(0)

    @property
    def corners(self) -> tuple[float, float] | None:
        return (float(self.y.min()) - self.more, float(self.y.max()) + self.more) if self.how == "corners" and len(self.y) else None


@dataclass(frozen=True)
class _Effects:
    """The parameters that vary with the derivatives of one measure by them, and what plays do to it."""

    variations: Sequence[Variation]
    slopes: np.ndarray
    sizes: np.ndarray
    named: bool
    plays: Sequence[PlayEffect] = ()

    @property
    def bands(self) -> np.ndarray:
        return np.array([0.0 if self.named else _band(v) for v in self.variations])

    @property
    def made(self) -> np.ndarray:
        """What every tolerance makes, then every play."""
        return np.concatenate([self.slopes * self.bands, [x.makes for x in self.plays]])

    @property
    def variance(self) -> np.ndarray:
        own = self.slopes * np.array([0.0 if self.named else _deviation(v) for v in self.variations])
        return np.concatenate([own, [x.deviation for x in self.plays]]) ** 2

    @property
    def order(self) -> np.ndarray:
        """Strongest first: by the share of the variance, without tolerances by what one per cent does."""
        return np.argsort(-(np.abs(self.slopes * self.sizes) if self.named else self.variance), kind="stable")


def _result(
    name: str,
    unit: str,
    shown: tuple[str, float],
    nominal: float,
    effects: _Effects,
    texts: Sequence[str],
    designs: _Designs,
    limits: Any,
    scale: float,
    at: str,
) -> ToleranceResult:
    bands, variance, y = effects.bands, effects.variance, designs.drawn
    made, total = effects.made, float(variance.sum())
    # round-off has no ranking
    shares = variance / total if np.sqrt(total) > CONSTANT_SHARE * max(abs(nominal), scale) else np.zeros(len(made))

    def contribution(i: int) -> Contribution:
        if i >= len(bands):
            play = effects.plays[i - len(bands)]
            per = play.makes / play.half
            return Contribution(play.name, f"play {play.shown}", play.half, per, play.makes, float(shares[i]), 0.0, 0.0)
        v, slope = effects.variations[i], float(effects.slopes[i])
        band = None if effects.named else float(bands[i])
        return Contribution(
            v.name, texts[i], band, slope, float(abs(made[i])), float(shares[i]), float(v.middle), slope * float(effects.sizes[i]) / 100.0
        )

    deviation = float(np.sqrt(total))
    quantiles = np.quantile(y, SHARES) if len(y) else np.full(3, np.nan)
    computed = len(designs.beyond) > 0
    return ToleranceResult(
        name,
        unit,
        shown,
        nominal,
        deviation,
        float(np.abs(made).sum()),
        tuple(contribution(i) for i in effects.order),
        float(y.mean()) if len(y) else float("nan"),
        float(y.std(ddof=1)) if len(y) > 1 else float("nan"),
        (float(quantiles[0]), float(quantiles[1]), float(quantiles[2])),
        limits,
        float(designs.beyond.mean()) if computed and designs.how in DRAWN else None,
        _outside(nominal, deviation, limits),
        designs.corners,
        int(designs.beyond.sum()) if computed and designs.how == "corners" else None,
        at,
    )


def _outside(nominal: float, deviation: float, limits: tuple[float | None, float | None]) -> float | None:
    """Share of a normal law outside the limits."""
    if limits == (None, None):
        return None
    from math import erfc, sqrt

    low, high = limits
    if deviation == 0.0:
        return float((low is not None and nominal < low) or (high is not None and nominal > high))
    below = 0.0 if low is None else 0.5 * erfc((nominal - low) / (deviation * sqrt(2.0)))
    above = 0.0 if high is None else 0.5 * erfc((high - nominal) / (deviation * sqrt(2.0)))
    return below + above


def _band(v: Variation) -> float:
    """Half the band of a tolerance or a range; of laws without ends three standard deviations."""
    if isinstance(v, ToleranceBand):
        return v.band
    return 0.5 * (v.high - v.low) if isinstance(v, ValueRange) else SIGMAS * _deviation(v)


def _deviation(v: Variation) -> float:
    """Standard deviation: of a tolerance a third of it, of a range that of equal likelihood."""
    if isinstance(v, ToleranceBand):
        return v.deviation
    if isinstance(v, ValueRange):
        return (v.high - v.low) / np.sqrt(12.0)
    if isinstance(v, Law) and v.law == "normal":
        return v.numbers[1]
    return float(np.std(v.at((np.arange(20_000) + 0.5) / 20_000.0)))


@dataclass(frozen=True)
class _Linear:
    """Derivatives of every measure by every number, and the nominal values."""

    slopes: np.ndarray  # (measures, numbers)
    values: Sequence[float]
    differentiable: np.ndarray  # numbers that have derivatives
    exact: bool
    notes: tuple[str, ...] = ()


def _linear(study: Study, nominal: Any, middle: np.ndarray, variations: Sequence[Variation], named: bool) -> _Linear:
    work = study.work
    assert work is not None
    values = [float(x) for x in (work.row(middle).values if len(study) else work.measured(nominal))]
    slopes, why = np.full((len(work.measures), len(middle)), np.nan), dict[str, str]()
    every = np.arange(len(middle))
    cycle_alone = isinstance(nominal, Trajectory) and work.numbers.plain and all(isinstance(m, Measure) for m in work.measures)
    if cycle_alone:
        measures = [m for m in work.measures if isinstance(m, Measure)]
        found = measure_slopes(nominal, measures, [t.inner for t in work.numbers.targets])
        slopes, why = found.values, dict(found.why)
        # designs that are computed have their own verdicts
        loads = None if len(study) else motion_checks.measured_loads_check(nominal, [m.channel for m in measures])
        said = [f"{loads.text}: these numbers are unknown."] if loads is not None and not loads else []
        if np.isfinite(slopes).all():
            return _Linear(slopes, values, every, True, tuple(said))
        if named:
            good = np.isfinite(slopes).all(axis=0)
            left = [work.numbers.targets[i].name for i in np.flatnonzero(~good)]
            reasons = dict.fromkeys(why.get(name, "no derivative").replace(f"'{name}' ", "").rstrip(".") for name in left)
            because = f"{listing(left)} ({'; '.join(reasons)})"
            if not good.any():
                raise UsageError(f"{listing(study.measures)} has no derivative by {because}.", name=left[0])
            return _Linear(slopes, values, np.flatnonzero(good), True, (*said, f"left out: {because}."))
    if named:
        raise UsageError(
            "derivatives of this result are not known. Give tolerances, {'rod': '+- 0.1 mm'}: differences are over these.",
            name="derivative",
        )
    columns = []
    for i, h in enumerate(STEP * np.array([_band(v) for v in variations])):
        if np.isfinite(slopes[:, i]).all():
            columns.append(slopes[:, i])
            continue
        ends = [np.array(work.row(middle + sign * h * np.eye(len(middle))[i])[0]) for sign in (1.0, -1.0)]
        columns.append((ends[0] - ends[1]) / (2.0 * h))
    note = "Derivatives are differences over a thousandth of each tolerance: this result has no exact ones."
    return _Linear(np.array(columns).T, values, every, False, (note,))


def _limits(given: Any, study: Study, nominal: Any) -> dict[str, tuple[float | None, float | None]]:
    """Limits of every measure in SI; raise UsageError for those that cannot be read."""
    out: dict[str, tuple[float | None, float | None]] = dict.fromkeys(study.measures, (None, None))
    if given is None:
        return out
    if not isinstance(given, Mapping):
        if len(study.measures) > 1:
            raise UsageError(
                f"limits of several measures are a dict by measure: {{{study.measures[0]!r}: ('1 mm', '2 mm')}}.", name=study.measures[0]
            )
        given = {study.measures[0]: given}
    for name, pair in given.items():
        if name not in out:
            raise UsageError(f"limits: '{name}' is not measured. Measures are {', '.join(map(repr, study.measures))}.", name=name)
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise UsageError(
                f"limits of '{name}' are two values, ('1 mm', '2 mm'), with None for a missing one, not "
                f"{pair!r:.40}.", name=name, value=pair
            )
        ends = [None if x is None else _si(x, name, study, nominal) for x in pair]
        if ends[0] is not None and ends[1] is not None and not ends[0] < ends[1]:
            raise UsageError(f"limits of '{name}': the first must be below the second.", name=name)
        out[name] = (ends[0], ends[1])
    return out


def _si(given: Any, name: str, study: Study, nominal: Any) -> float:
    assert study.work is not None
    m = study.work.measures[study.measures.index(name)]
    dimension = dimension_of_measure(m, nominal) if isinstance(m, Measure) and isinstance(nominal, Trajectory) else None
    if isinstance(given, str) and dimension not in KINDS:
        raise UsageError(f"limits of '{name}' have no unit here: write numbers in SI.", name=name)
    return quantity(given, KINDS[str(dimension)], f"limits of {name}") if dimension in KINDS else float(given)
