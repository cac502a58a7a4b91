"""Statistics of the rows of a study: means, spread, percentiles, extremes, correlations, and Sobol indices.

First- and total-order indices are those of Saltelli and Jansen,

    S_i = mean(f_B (f_ABi - f_A)) / V          T_i = mean((f_A - f_ABi)^2) / (2 V)

with f_ABi at the rows of A whose variable i is that of B; V is the variance over A and B together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import Cell, Result, Table, UsageError, counted, readings
from linkwright.results.measures.measured_number import DEPENDS, STATED

CONSTANT_SHARE = 1e-11  # of the largest: what differs by less does not vary
PERCENTILES = (1, 5, 25, 50, 75, 95, 99)


@dataclass(frozen=True)
class MeasureStatistics:
    """Statistics of one measure over the rows that have it, in SI; `shown` is the unit for people and its size."""

    name: str
    unit: str
    shown: tuple[str, float]
    count: int
    mean: float
    deviation: float
    percentiles: Mapping[int, float]
    least: tuple[float, int]  # value and row
    greatest: tuple[float, int]
    correlations: Mapping[str, float]  # with every variable
    ranks: Mapping[str, float]  # the same of ranks (Spearman): 1 for any curve that only rises
    growing: int = 0  # rows in which it grows without bound: its values depend on the number of samples
    error: float = 0.0  # largest sampling error of the other rows

    def marked(self, x: float | None, style: str) -> Any:
        """A number in the unit shown, with * if the measure grows without bound in some rows."""
        if x is None or not np.isfinite(x):
            return None
        value = x / self.shown[1]
        return Cell(value, f"{value:{style}}*") if self.growing else value

    @property
    def note(self) -> str:
        """Return what should be known about the numbers; empty if all are located between samples."""
        unit, size = self.shown
        if self.growing:
            return f"* {self.name} grows without bound in {counted(self.growing, 'row', spec=',')}: {DEPENDS}."
        if self.error > STATED * max(abs(self.least[0]), abs(self.greatest[0])):
            return f"{self.name}: curves with a kink or jump may go further by up to {self.error / size:.2g} {unit} between two samples."
        return ""


@dataclass(frozen=True)
class StudySummary(Result):
    """All measures, and how many rows failed or are unknown for which reason; `not_checked` are checks that rows do not have."""

    rows: int
    failures: Mapping[str, int]  # reason -> rows
    measures: tuple[MeasureStatistics, ...]
    unknown: Mapping[str, int] = field(default_factory=dict)  # reason -> rows
    not_checked: tuple[str, ...] = ()

    @property
    def passed(self) -> int:
        """Return how many rows passed every check."""
        return self.rows - sum(self.failures.values()) - sum(self.unknown.values())

    @property
    def headline(self) -> str:
        """`70 of 81 rows met every check, 6 unknown, 5 failed`."""
        unknown, failed = sum(self.unknown.values()), sum(self.failures.values())
        ends = [*([f"{unknown:,} unknown"] if unknown else []), f"{f'{failed:,}' if failed else 'none'} failed"]
        return ", ".join([f"{self.passed:,} of {counted(self.rows, 'row', spec=',')} met every check", *ends])

    def __getitem__(self, name: str) -> MeasureStatistics:
        for m in self.measures:
            if m.name == name:
                return m
        raise UsageError(f"'{name}' was not measured. Measures are {', '.join(m.name for m in self.measures)}.", name=name)

    def as_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "rows": self.rows,
            "passed": self.passed,
            "unknown": dict(self.unknown),
            "failures": dict(self.failures),
            "not_checked": list(self.not_checked),
            "measures": {},
        }
        for m in self.measures:
            out["measures"][m.name] = {
                "unit": m.unit,
                "count": m.count,
                "mean": m.mean,
                "deviation": m.deviation,
                "percentiles": {str(k): v for k, v in m.percentiles.items()},
                "least": {"value": m.least[0], "row": m.least[1]},
                "greatest": {"value": m.greatest[0], "row": m.greatest[1]},
                "correlations": dict(m.correlations),
                "ranks": dict(m.ranks),
                "grows_without_bound": m.growing,
                "sampling_error": m.error,
            }
        return out

    def __str__(self) -> str:
        failed = sum(self.failures.values())
        lines = [self.headline, *_reasons(self.failures, "failed"), *_reasons(self.unknown, "unknown")]
        lines += [f"  not checked: {', '.join(self.not_checked)}"] if self.not_checked else []
        for m in self.measures:
            if m.count < self.rows - failed:
                without = self.rows - failed - m.count
                lines.append(f"  {counted(without, 'row', spec=',')} without a value of {m.name}")
        t = self.table()
        lines += [t.text(), *self.notes, *(x.text() for x in t.parts)]
        return "\n".join(lines)

    @property
    def notes(self) -> tuple[str, ...]:
        """Measures that grow without bound, or whose curves have kinks or jumps."""
        return tuple(m.note for m in self.measures if m.note)

    def table(self) -> Table:
        """Return a row for each measure in the unit of the file; the strongest rank correlations are a part of the table."""
        heads = [
            ("measure", ""), ("unit", ""), ("mean", "", ".6g"), ("deviation", "", ".4g"), ("percentile 5", "", ".6g"),
            ("median", "", ".6g"), ("percentile 95", "", ".6g"), ("least", "", ".6g"), ("row of least", ""), ("greatest", "", ".6g"),
            ("row of greatest", ""),
        ]  # fmt: skip
        rows: list[tuple[Any, ...]] = []
        for m in self.measures:
            cells = [m.percentiles.get(k) for k in (5, 50, 95)]
            mean, least, greatest, *between = [m.marked(x, ".6g") for x in (m.mean, m.least[0], m.greatest[0], *cells)]
            at = [None if row < 0 else row for row in (m.least[1], m.greatest[1])]
            rows.append((m.name, m.shown[0], mean, m.marked(m.deviation, ".4g"), *between, least, at[0], greatest, at[1]))
        return Table.of(heads, rows, "measures", self.notes, parts=tuple(self._correlations()))

    def _correlations(self) -> list[Table]:
        strongest = [
            (m.name, *x) for m in self.measures for x in sorted(m.ranks.items(), key=lambda x: -abs(x[1]))[:4] if np.isfinite(x[1])
        ]
        heads = [("measure", ""), ("goes with", ""), ("rank correlation", "-", "+.3f")]
        return [Table.of(heads, strongest, "correlations")] if strongest else []


def _reasons(found: Mapping[str, int], verdict: str) -> list[str]:
    """Lines of the most common reasons; those that differ only in their numbers are one."""
    alike: dict[str, list[tuple[str, int]]] = {}
    for why, n in found.items():
        alike.setdefault(readings.without_numbers(why), []).append((why, n))
    most = sorted(alike.values(), key=lambda x: -sum(n for _, n in x))[:5]
    return [f"  {sum(n for _, n in x):,} {verdict}: {x[0][0]}{' (and the like)' if len(x) > 1 else ''}" for x in most]


def statistics(
    name: str,
    unit: str,
    y: np.ndarray,
    numbers: Mapping[str, np.ndarray],
    shown: tuple[str, float] | None = None,
    errors: np.ndarray | None = None,
    scale: float = 0.0,
) -> MeasureStatistics:
    """Statistics of a measure over all rows; nan where a row has none. What varies by round-off of `scale` goes with nothing."""
    known, shown = np.flatnonzero(np.isfinite(y)), shown or (unit, 1.0)
    if not len(known):
        nan = float("nan")
        return MeasureStatistics(name, unit, shown, 0, nan, nan, {}, (nan, -1), (nan, -1), {}, {})
    x = y[known]
    size = _size(x)
    z = x / size
    low, high = int(known[np.argmin(x)]), int(known[np.argmax(x)])
    several = {k: v[known] for k, v in numbers.items()}
    return MeasureStatistics(
        name,
        unit,
        shown,
        len(x),
        float(size * z.mean()),
        float(size * z.std(ddof=1)) if len(x) > 1 else 0.0,
        {k: float(v) for k, v in zip(PERCENTILES, np.percentile(x, PERCENTILES), strict=True)},
        (float(y[low]), low),
        (float(y[high]), high),
        {k: float("nan") if _constant(x, scale) else correlation(v, x) for k, v in several.items()},
        {k: float("nan") if _constant(v) or _constant(x, scale) else correlation(_ranks(v), _ranks(x)) for k, v in several.items()},
        0 if errors is None else int(np.isinf(errors[known]).sum()),
        0.0 if errors is None else float(np.max(errors[known], where=np.isfinite(errors[known]), initial=0.0)),
    )


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's coefficient; nan where one of them does not vary."""
    if _constant(a) or _constant(b):
        return float("nan")
    a, b = a / _size(a), b / _size(b)
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b) / float(np.sqrt((a @ a) * (b @ b)))


def _size(x: np.ndarray) -> float:
    """A power of two near the largest number: dividing by it rounds nothing, and squares do not overflow."""
    return float(2.0 ** (np.frexp(np.abs(x).max())[1] - 1))


def _constant(x: np.ndarray, scale: float = 0.0) -> bool:
    """True if numbers differ by round-off only, of their own size or of a scale: a coordinate that is zero has none of its own."""
    return bool(np.ptp(x) <= CONSTANT_SHARE * max(float(np.abs(x).max(initial=0.0)), scale))


def _ranks(x: np.ndarray) -> np.ndarray:
    """Ranks, equal values with their mean rank."""
    order = np.argsort(x, kind="stable")
    _, first, counts = np.unique(x[order], return_index=True, return_counts=True)
    ranks = np.empty(len(x))
    ranks[order] = np.repeat(first + 0.5 * (counts - 1), counts)
    return ranks


@dataclass(frozen=True)
class SobolIndices(Result):
    """Shares of the variance of a measure: by one variable alone, and with everything it acts together with."""

    measure: str
    names: tuple[str, ...]
    first: np.ndarray
    total: np.ndarray
    deviation_first: np.ndarray  # standard errors, by resampling
    deviation_total: np.ndarray
    samples: int
    lost: int = 0  # samples of which a row failed

    def as_dict(self) -> dict[str, Any]:
        rows = zip(self.names, self.first, self.total, self.deviation_first, self.deviation_total, strict=True)
        each = {n: {"first": float(a), "total": float(b), "first_error": float(c), "total_error": float(d)} for n, a, b, c, d in rows}
        return {"measure": self.measure, "samples": self.samples, "indices": each}

    def table(self) -> Table:
        """Return the shares of each variable with their standard errors."""
        numbers = (self.first, self.deviation_first, self.total, self.deviation_total)
        rows = [(n, *map(float, x)) for n, *x in zip(self.names, *numbers, strict=True)]
        names = ("alone", "alone +-", "in all", "in all +-")
        return Table.of([("variable", ""), *((x, "-", ".3f") for x in names)], rows, "shares of the variance")

    def __str__(self) -> str:
        lost = f"; {self.lost:,} with failed designs are left out: shares count the rest" if self.lost else ""
        head = f"shares of the variance of {self.measure}, {counted(self.samples, 'sample', spec=',')}{lost}"
        return f"{head}\n{self.table().text()}"


def sobol_indices(measure: str, names: Sequence[str], y: np.ndarray, *, resamples: int = 200) -> SobolIndices:
    """Indices from the rows of a plan "saltelli", in its order; samples of which a row failed are left out."""
    d = len(names)
    every = y.reshape(-1, d + 2)
    f = every[np.isfinite(every).all(axis=1)]
    if len(f) < 8:
        raise UsageError(f"Sobol indices of '{measure}' need more rows that did not fail: {len(f)} whole samples are left.", name=measure)
    first, total = _indices(f)
    rng = np.random.default_rng(0)
    again = [_indices(f[rng.integers(0, len(f), len(f))]) for _ in range(resamples)]
    errors = [np.std([x[k] for x in again], axis=0) for k in (0, 1)]
    return SobolIndices(measure, tuple(names), first, total, errors[0], errors[1], len(f), len(every) - len(f))


def _indices(f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    middle = f[:, :2].mean()
    f = f - middle  # the estimators are exact for any offset; without it they lose digits
    A, B, AB = f[:, :1], f[:, 1:2], f[:, 2:]
    variance = f[:, :2].var()
    if not np.sqrt(variance) > CONSTANT_SHARE * (abs(middle) + np.abs(f).max()):
        return np.full(AB.shape[1], np.nan), np.full(AB.shape[1], np.nan)
    return (B * (AB - A)).mean(axis=0) / variance, 0.5 * ((A - AB) ** 2).mean(axis=0) / variance
