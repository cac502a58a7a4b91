"""Tolerances: what the workshop's deviations do to a measure, by drawing designs and by exact derivatives.

    t = m.tolerances({"rod": "200 +- 0.1 mm", "crank": "50 +- 0.05 mm"}, measure="range guide", limits=("99.8 mm", "100.2 mm"))
    print(t)                 both estimates, contributions ranked, share outside the limits

The linear estimate takes every deviation as independent and normal, its tolerance three standard deviations: the spread of a measure is the
root of the sum of squares of derivative times deviation, the worst case the sum of derivative times tolerance. The drawn one knows no
linearity. Where they differ the measure is not linear over the tolerances, and the drawn one is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError, Renamed, UsageError, counted
from linkwright.files.tables import Column, Result, Table
from linkwright.model.description import Description
from linkwright.model.file import quantity
from linkwright.motion import cycle
from linkwright.results.measures import Measure, dimension_of_measure
from linkwright.results.trajectory import Trajectory
from linkwright.rings.design.studies.cases import Cycle
from linkwright.rings.design.studies.statistics import CONSTANT_SHARE
from linkwright.rings.design.studies.study import Study
from linkwright.rings.design.studies.variations import SIGMAS, Law, ListedValues, ToleranceBand, ValueRange, Variation
from linkwright.system.system import System
from linkwright.text.ranges import Place, Values, half_width, meaning
from linkwright.text.units import KINDS

STEP = 1e-3  # of a tolerance: central differences, where a result has no derivatives
SHARES = (0.00135, 0.5, 0.99865)  # quantiles that a normal law has at -3, 0 and 3 standard deviations


@dataclass(frozen=True)
class Contribution:
    """Effect of one tolerance on a measure. `share` is its part of the variance, `shown` the tolerance as text."""

    name: str
    shown: str
    tolerance: float  # half the band, or three standard deviations of a distribution
    derivative: float
    makes: float  # derivative times tolerance
    share: float


@dataclass(frozen=True)
class ToleranceResult(Renamed):
    """One measure under tolerances, linear and drawn; SI. `shown` is the unit for people and its size."""

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

    def effects(self) -> Table:
        """Contributions: the tolerance in the file's unit, the derivative in SI, what it makes in the unit shown."""
        unit, size = self.shown
        heads = [("tolerance of", ""), ("tolerance", ""), ("derivative", "SI", ".6g"), ("makes +-", unit, ".5g"), ("share", "%", ".1f")]
        rows = [(c.name, c.shown, c.derivative, c.makes / size, 100.0 * c.share) for c in self.contributions]
        return Table.of(heads, rows, self.measure)

    def estimates(self) -> Table:
        """Deviation, from and to of both estimates and of the worst case, in the unit shown."""
        (unit, size), (low, _, high) = self.shown, self.drawn_between
        ends = {
            "linear": (self.deviation, self.nominal - 3 * self.deviation, self.nominal + 3 * self.deviation),
            "drawn": (self.drawn_deviation, low, high),
        }
        rows: list[tuple[Any, ...]] = [(name, *(x / size for x in found)) for name, found in ends.items()]
        rows.append(("worst case, linear", None, (self.nominal - self.worst) / size, (self.nominal + self.worst) / size))
        return Table.of([("estimate", ""), ("deviation", unit, ".4g"), ("from", unit, ".6g"), ("to", unit, ".6g")], rows, self.measure)

    def verdict(self, rows: int) -> str:
        """The share outside the limits as text; empty without limits."""
        if self.limits == (None, None):
            return ""
        unit, size = self.shown
        low, high = (None if x is None else f"{x / size:.6g} {unit}" for x in self.limits)
        where = f"outside {low} .. {high}" if low and high else f"above {high}" if high else f"below {low}"
        if not rows:
            return f"{where}: not known, no design was drawn"
        linear = "" if self.outside_linear is None else f", {100 * self.outside_linear:.3g} % by the linear estimate"
        return f"{where}: {100 * (self.outside or 0.0):.3g} % of {rows:,} drawn designs{linear}"


@dataclass(frozen=True)
class ToleranceAnalysis(Result):
    """All measures; `study` has the drawn designs."""

    results: tuple[ToleranceResult, ...]
    study: Study
    exact: bool  # derivatives are exact, not differences
    notes: tuple[str, ...] = ()
    held: str = ""  # what every design has in common with the file's: positions of the drives at the start

    def __getitem__(self, name: str) -> ToleranceResult:
        for r in self.results:
            if r.measure == name:
                return r
        raise UsageError(f"'{name}' was not measured; measures are {', '.join(r.measure for r in self.results)}.")

    def __str__(self) -> str:
        out = []
        for r in self.results:
            unit, size = r.shown
            out.append(f"{r.measure} = {r.nominal / size:.6g} {unit}")
            out += [r.estimates().text(), r.effects().text()]
            out += [r.verdict(len(self.study))] if r.verdict(len(self.study)) else []
        held = [f"held in every design, by both estimates: {self.held}"] if self.held else []
        not_checked = [f"not checked of drawn designs: {', '.join(self.study.not_checked)}"] if self.study.not_checked else []
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
            "notes": list(self.notes),
            "held": self.held,
            "measures": {
                r.measure: {
                    "unit": r.unit,
                    "nominal": r.nominal,
                    "linear": {"deviation": r.deviation, "worst": r.worst, "outside": r.outside_linear},
                    "drawn": {"mean": r.drawn_mean, "deviation": r.drawn_deviation, "between": list(r.drawn_between), "outside": r.outside},
                    "limits": list(r.limits),
                    "contributions": [vars(c) for c in r.contributions],
                }
                for r in self.results
            },
        }


def _measured(measure: str, t: Table) -> Table:
    """A table with the measure as its first column."""
    return Table((Column.of("measure", "", [measure] * len(t)), *t.columns), t.title)


def tolerances(study: Study, limits: Any) -> ToleranceAnalysis:
    """The analysis of a study whose rows were drawn."""
    if study.work is None or study.plan is None:
        raise UsageError("tolerances need a study of this process.")
    variations = study.plan.variations
    for v in variations:
        if isinstance(v, ListedValues):
            raise Place(v.name).refused(meaning(list(v.given)), "a tolerance")
    middle = np.array([v.middle for v in variations])
    nominal = study.work.result(middle)
    slopes, values, exact = _linear(study, nominal, middle, variations)
    notes = [] if exact else ["Derivatives are differences over a thousandth of each tolerance: this result has no exact ones."]
    in_file = [t.nominal for t in study.work.numbers.targets]
    notes += [_elsewhere(study, v, x) for v, x in zip(variations, in_file, strict=True) if _is_elsewhere(v, x)]
    out = []
    ends = _limits(limits, study, nominal)
    failed, unknown = study.verdicts == "failed", study.unknown
    for k, name in enumerate(study.measures):
        y = study[name]
        low, high = ends[name]
        beyond = failed | ~np.isfinite(y)
        if low is not None:
            beyond |= y < low
        if high is not None:
            beyond |= y > high
        units = study.units.get(name, ""), study.shown(name)
        texts = [study._shown_number(v.name, _band(v)) for v in variations]
        finite = y[np.isfinite(y)]
        out.append(_result(name, *units, values[k], slopes[k], variations, texts, finite, (low, high), beyond, study.scale(name)))
    if not study.complete:
        total = counted(study.total, "design", spec=",")
        notes.append(f"Interrupted after {len(study):,} of {total}: shares and deviations of drawn designs are those of these alone.")
    if failed.any():
        drawn = counted(len(study), "drawn design", spec=",")
        notes.append(f"{int(failed.sum()):,} of {drawn} failed and count as outside; study.why has the reasons.")
    if unknown:
        drawn, first = counted(len(study), "drawn design", spec=","), next(iter(unknown.values()))
        notes.append(f"{len(unknown):,} of {drawn} are unknown and count by their numbers: {first}; study.unknown has all reasons.")
    return ToleranceAnalysis(tuple(out), study, exact, tuple(notes), _held(study, nominal))


def half_widths(vary: Any) -> Any:
    """Return the tolerances that are given, with single values as half widths; raise UsageError for lists of values."""
    if not isinstance(vary, Mapping):
        raise UsageError('tolerances are a dict by the names of numbers, {"rod": "+- 0.1 mm", "*.mass": "2 %"}.')
    out = {}
    for name, given in vary.items():
        out[name] = given if hasattr(given, "ppf") else half_width(meaning(given, str(name)), str(name))
        if isinstance(out[name], Values):
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
    held = [(d.joint, float(cycle.coordinate_now(system.loops, d.joint, at))) for d in described.drives]
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
    return f"Another design than that of the file: {v.name} is {said} there, outside {v.text}; '+- ...' alone is about the file's number."


def _result(
    name: str,
    unit: str,
    shown: tuple[str, float],
    nominal: float,
    slopes: np.ndarray,
    variations: Sequence[Variation],
    texts: Sequence[str],
    y: np.ndarray,
    limits: Any,
    beyond: np.ndarray,
    scale: float,
) -> ToleranceResult:
    bands = np.array([_band(v) for v in variations])
    made = slopes * bands
    variance = (slopes * np.array([_deviation(v) for v in variations])) ** 2
    total = float(variance.sum())
    # round-off has no ranking
    shares = variance / total if np.sqrt(total) > CONSTANT_SHARE * max(abs(nominal), scale) else np.zeros(len(bands))
    order = np.argsort(-shares, kind="stable")
    contributions = tuple(
        Contribution(variations[i].name, texts[i], float(bands[i]), float(slopes[i]), float(abs(made[i])), float(shares[i])) for i in order
    )
    deviation = float(np.sqrt(total))
    quantiles = np.quantile(y, SHARES) if len(y) else np.full(3, np.nan)
    return ToleranceResult(
        name,
        unit,
        shown,
        nominal,
        deviation,
        float(np.abs(made).sum()),
        contributions,
        float(y.mean()) if len(y) else float("nan"),
        float(y.std(ddof=1)) if len(y) > 1 else float("nan"),
        (float(quantiles[0]), float(quantiles[1]), float(quantiles[2])),
        limits,
        float(beyond.mean()) if len(beyond) else None,
        _outside(nominal, deviation, limits),
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


def _linear(study: Study, nominal: Any, middle: np.ndarray, variations: Sequence[Variation]) -> tuple[list[np.ndarray], list[float], bool]:
    """Derivatives of every measure by every number, the nominal values, and whether the derivatives are exact."""
    work = study.work
    assert work is not None
    values = [float(x) for x in work.row(middle)[0]]
    if isinstance(nominal, Trajectory) and work.numbers.plain and all(isinstance(m, Measure) for m in work.measures):
        try:
            d = nominal.derivatives([t.inner for t in work.numbers.targets])
            found = [m.slopes(nominal, d) for m in work.measures if isinstance(m, Measure)]
            if all(np.isfinite(x).all() for x in found):
                return found, values, True
        except LinkwrightError:
            pass  # no exact derivatives of this motion: differences, and False says so
    steps = STEP * np.array([_band(v) for v in variations])
    columns = []
    for i, h in enumerate(steps):
        ends = [np.array(work.row(middle + sign * h * np.eye(len(middle))[i])[0]) for sign in (1.0, -1.0)]
        columns.append((ends[0] - ends[1]) / (2.0 * h))
    return list(np.array(columns).T), values, False


def _limits(given: Any, study: Study, nominal: Any) -> dict[str, tuple[float | None, float | None]]:
    """Limits of every measure in SI; raise UsageError for those that cannot be read."""
    out: dict[str, tuple[float | None, float | None]] = dict.fromkeys(study.measures, (None, None))
    if given is None:
        return out
    if not isinstance(given, Mapping):
        if len(study.measures) > 1:
            raise UsageError(f"limits of several measures are a dict by measure: {{{study.measures[0]!r}: ('1 mm', '2 mm')}}.")
        given = {study.measures[0]: given}
    for name, pair in given.items():
        if name not in out:
            raise UsageError(f"limits: '{name}' is not measured; measures are {', '.join(map(repr, study.measures))}.")
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise UsageError(f"limits of '{name}' are two values, ('1 mm', '2 mm'), None where there is none, not {pair!r:.40}.")
        ends = [None if x is None else _si(x, name, study, nominal) for x in pair]
        if ends[0] is not None and ends[1] is not None and not ends[0] < ends[1]:
            raise UsageError(f"limits of '{name}': the first must be below the second.")
        out[name] = (ends[0], ends[1])
    return out


def _si(given: Any, name: str, study: Study, nominal: Any) -> float:
    assert study.work is not None
    m = study.work.measures[study.measures.index(name)]
    dimension = dimension_of_measure(m, nominal) if isinstance(m, Measure) and isinstance(nominal, Trajectory) else None
    if isinstance(given, str) and dimension not in KINDS:
        raise UsageError(f"limits of '{name}' have no unit here: write numbers in SI.")
    return quantity(given, KINDS[str(dimension)], f"limits of {name}") if dimension in KINDS else float(given)
