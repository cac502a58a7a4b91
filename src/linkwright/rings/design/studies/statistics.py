"""Statistics of the rows of a study: means, spread, percentiles, extremes, correlations, and Sobol indices.

First- and total-order indices are those of Saltelli and Jansen,

    S_i = mean(f_B (f_ABi - f_A)) / V          T_i = mean((f_A - f_ABi)^2) / (2 V)

with f_ABi at the rows of A whose variable i is that of B; V is the variance over A and B together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, counted
from linkwright.files.columns import table
from linkwright.results.measures.numbers import DEPENDS, STATED

ROUND_OFF = 1e-11  # of the largest: what differs by less does not vary
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
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

    @property
    def mark(self) -> str:
        return "*" if self.growing else ""

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
class StudySummary:
    """All measures, and how many rows failed for which reason."""

    rows: int
    failures: Mapping[str, int]  # reason -> rows
    measures: tuple[MeasureStatistics, ...]

    def __getitem__(self, name: str) -> MeasureStatistics:
        for m in self.measures:
            if m.name == name:
                return m
        raise UsageError(f"'{name}' was not measured; measures are {', '.join(m.name for m in self.measures)}.")

    def as_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"rows": self.rows, "failures": dict(self.failures), "measures": {}}
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
        lines = [f"{counted(self.rows, 'row', spec=',')}, {f'{failed:,}' if failed else 'none'} failed"]
        alike: dict[str, list[tuple[str, int]]] = {}
        for why, n in self.failures.items():
            alike.setdefault(_NUMBER.sub("#", why), []).append((why, n))
        for same in sorted(alike.values(), key=lambda x: -sum(n for _, n in x))[:5]:
            lines.append(f"  {sum(n for _, n in same):,}: {same[0][0]}{' (and the like)' if len(same) > 1 else ''}")
        for m in self.measures:
            if m.count < self.rows - failed:
                without = self.rows - failed - m.count
                lines.append(f"  {counted(without, 'row', spec=',')} without a value of {m.name}")
        header = ("measure", "unit", "mean", "deviation", "5 %", "median", "95 %", "least (row)", "greatest (row)")
        rows = []
        for m in self.measures:
            unit, size = m.shown
            p = [f"{m.percentiles[k] / size:.6g}" for k in (5, 50, 95)] if m.count else ["-"] * 3
            ends = [f"{x / size:.6g} ({row})" for x, row in (m.least, m.greatest)] if m.count else ["-"] * 2
            rows.append((m.name, unit, *(f"{x}{m.mark}" for x in (f"{m.mean / size:.6g}", f"{m.deviation / size:.4g}", *p, *ends))))
        lines.append(table(header, rows, left=2))
        lines += [m.note for m in self.measures if m.note]
        strongest = [
            (m.name, *x) for m in self.measures for x in sorted(m.ranks.items(), key=lambda x: -abs(x[1]))[:4] if np.isfinite(x[1])
        ]
        if strongest:
            lines.append(table(("measure", "goes with", "rank correlation"), [(a, b, f"{c:+.3f}") for a, b, c in strongest], left=2))
        return "\n".join(lines)


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
    return bool(np.ptp(x) <= ROUND_OFF * max(float(np.abs(x).max(initial=0.0)), scale))


def _ranks(x: np.ndarray) -> np.ndarray:
    """Ranks, equal values with their mean rank."""
    order = np.argsort(x, kind="stable")
    _, first, counts = np.unique(x[order], return_index=True, return_counts=True)
    ranks = np.empty(len(x))
    ranks[order] = np.repeat(first + 0.5 * (counts - 1), counts)
    return ranks


@dataclass(frozen=True)
class SobolIndices:
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

    def __str__(self) -> str:
        rows = [
            (n, f"{a:.3f} +- {da:.3f}", f"{b:.3f} +- {db:.3f}")
            for n, a, b, da, db in zip(self.names, self.first, self.total, self.deviation_first, self.deviation_total, strict=True)
        ]
        lost = f"; {self.lost:,} with failed designs are left out: shares are those of the rest" if self.lost else ""
        head = f"shares of the variance of {self.measure}, {counted(self.samples, 'sample', spec=',')}{lost}"
        return f"{head}\n{table(('variable', 'alone', 'in all'), rows, left=1)}"


def sobol_indices(measure: str, names: Sequence[str], y: np.ndarray, *, resamples: int = 200) -> SobolIndices:
    """Indices from the rows of a plan "saltelli", in its order; samples of which a row failed are left out."""
    d = len(names)
    every = y.reshape(-1, d + 2)
    f = every[np.isfinite(every).all(axis=1)]
    if len(f) < 8:
        raise UsageError(f"Sobol indices of '{measure}' need more rows that did not fail: {len(f)} whole samples are left.")
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
    if not np.sqrt(variance) > ROUND_OFF * (abs(middle) + np.abs(f).max()):
        return np.full(AB.shape[1], np.nan), np.full(AB.shape[1], np.nan)
    return (B * (AB - A)).mean(axis=0) / variance, 0.5 * ((A - AB) ** 2).mean(axis=0) / variance
