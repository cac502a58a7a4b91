"""`lw.study`: many designs of a mechanism, measured; a table at the end."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from linkwright.api import (
    Mechanism,
    Result,
    State,
    Table,
    Trajectory,
    UsageError,
    calls_explained,
    check_results,
    compiled_of,
    counted,
    essentials,
    nearest,
    package,
    shown,
    text_tables,
)
from linkwright.rings.design.studies.evaluation import Work
from linkwright.rings.design.studies.plans import Grid, Plan, Saltelli
from linkwright.rings.design.studies.statistics import SobolIndices, StudySummary, sobol_indices, statistics
from linkwright.rings.design.studies.store import FolderStore, MemoryStore, Part

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset

    from linkwright.rings.studio.plots.common_parts import StudyPlotOptions

VERDICT_COLUMNS = ("ok", "verdict", "why")


class RowVerdict(NamedTuple):
    """The verdict of a row, and why it did not pass."""

    verdict: check_results.Verdict
    why: str


def _verdicts(p: Part) -> list[RowVerdict]:
    return [
        RowVerdict("failed", why) if why else RowVerdict("unknown", unknown) if unknown else RowVerdict("passed", "")
        for why, unknown in zip(p.why, p.unknown, strict=True)
    ]


@calls_explained
@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """Rows of designs and their measures. `study.table()` has the rows, with the result of each row's checks and its reason in `why`.

    A row has the result of its worst check: "failed" rows have nan, "unknown" ones have numbers that are not known to hold.
    """

    __getstate__ = essentials

    work: Work | None  # None of a study that was opened and has objects or functions of its own
    plan: Plan | None
    store: MemoryStore | FolderStore
    names: tuple[str, ...]
    measures: tuple[str, ...]
    units: Mapping[str, str]  # SI units of measures
    manifest: Mapping[str, Any]
    total: int = 0
    said: str = ""

    def __len__(self) -> int:
        """Rows that are done."""
        return sum(last - first for first, last in self.store.spans())

    def __repr__(self) -> str:
        name = self.manifest["name"]
        return (
            f"<Study of {name!r}: {len(self):,} of {counted(self.total, 'row', spec=',')}, {', '.join(self.names)} -> "
            f"{', '.join(self.measures)}>"
        )

    @property
    def complete(self) -> bool:
        """True if every row of the plan is done."""
        return len(self) == self.total

    @property
    def folder(self) -> Path | None:
        return self.store.folder

    # ---------------------------------------------------------------- tables

    def parts(self) -> Iterator[Part]:
        """Rows in stretches, in their order. For a folder, one stretch is in memory at a time."""
        return self.store.parts()

    def _ipython_key_completions_(self) -> list[str]:
        """Names after `study["` and Tab."""
        return [*self.names, *self.measures]

    def __getitem__(self, name: str) -> np.ndarray:
        """Return one variable or measure over all rows, in SI."""
        if name in self.names:
            return self._gathered(lambda p: p.numbers[:, self.names.index(name)])
        at = self._place(name)
        return self._gathered(lambda p: p.values[:, at])

    def sampling_errors(self, name: str) -> np.ndarray:
        """Return how far a measure that is an extreme may go beyond its value between samples, over all rows, in SI: 0 where it is located,
        infinite where it grows without bound toward a singular position."""
        at = self._place(name)
        return self._gathered(lambda p: p.errors[:, at])

    def _gathered(self, read: Callable[[Part], np.ndarray]) -> np.ndarray:
        found = [read(p) for p in self.parts()]
        return np.concatenate(found) if found else np.zeros(0)

    def _place(self, name: str) -> int:
        if name not in self.measures:
            raise UsageError(f"'{name}' is neither varied nor measured.", nearest(name, [*self.names, *self.measures], "Columns"))
        return self.measures.index(name)

    @property
    def rows(self) -> np.ndarray:
        """Return the numbers of the rows that are done."""
        return self._gathered(lambda p: np.arange(p.first, p.last))

    @property
    def why(self) -> dict[int, str]:
        """Return the reasons of the rows that failed."""
        return {p.first + i: text for p in self.parts() for i, text in enumerate(p.why) if text}

    @property
    def unknown(self) -> dict[int, str]:
        """Return the unknown checks of the rows that have some, with their reasons."""
        return {p.first + i: text for p in self.parts() for i, text in enumerate(p.unknown) if text}

    @property
    def verdicts(self) -> np.ndarray:
        """Return the result of every row, which is the result of its worst check: "passed", "unknown" or "failed"."""
        return self._gathered(lambda p: np.array([x.verdict for x in _verdicts(p)], dtype=object))

    @property
    def ok(self) -> np.ndarray:
        """Return a mask of the rows that passed every check."""
        return self.verdicts == "passed"

    @property
    def not_checked(self) -> tuple[str, ...]:
        """Return the checks of single motions that the rows of this study do not have."""
        return tuple(map(str, self.manifest.get("not_checked", ())))

    def table(self) -> Table:
        """Return all rows in SI: parameters that vary, measures (nan if a row failed), the result of its checks and why."""
        parts = [(np.arange(p.first, p.last), p.numbers, p.values, _verdicts(p)) for p in self.parts()]
        empty = (np.zeros(0, dtype=int), np.zeros((0, len(self.names))), np.zeros((0, len(self.measures))))
        rows, numbers, values = (np.concatenate([x[k] for x in parts]) if parts else empty[k] for k in range(3))
        found = [x for *_, every in parts for x in every]
        varied = [text_tables.Column.of(n, "SI", numbers[:, i], "varied", ".6g") for i, n in enumerate(self.names)]
        measured = [
            text_tables.Column.of(n, self.units.get(n) or "-", values[:, i], "measured", ".6g") for i, n in enumerate(self.measures)
        ]
        passed = text_tables.Column.of("ok", "", np.array([x.verdict == "passed" for x in found], dtype=bool))
        outcome = [
            passed,
            text_tables.Column.of("verdict", "", [x.verdict for x in found]),
            text_tables.Column.of("why", "", [x.why for x in found]),
        ]
        return Table((text_tables.Column.of("row", "", rows), *varied, *measured, *outcome), "study", parts=(self._facts(),))

    def _facts(self) -> Table:
        plan = [("plan", json.dumps(self.manifest["plan"]), ""), ("rows", str(len(self)), ""), ("rows of the plan", str(self.total), "")]
        facts = [("model", self.manifest["name"], ""), *plan, *(("measure", m, self.units.get(m, "")) for m in self.measures)]
        return Table.of(["fact", "value", "unit"], facts, "model")

    def to_pandas(self) -> DataFrame:
        """Return all rows as a pandas table in SI, indexed by row. `frame.attrs["units"]` has the units."""
        out = self.table().to_pandas().set_index("row")
        out.attrs |= {"units": dict(self.units), "not_checked": list(self.not_checked)}
        return out

    def __str__(self) -> str:
        return f"{self!r}\n{self.summary()}"

    def as_dict(self) -> dict[str, Any]:
        """Return the table as plain data, and how many rows are done."""
        return {"rows": len(self), "of": self.total, **self.table().as_dict()}

    def to_xarray(self) -> Dataset:
        """Return the measures as an xarray Dataset: over the axes of the grid if the plan is one, else over rows."""
        xr = package("xarray")
        attrs = {"mechanism": self.manifest["name"]}
        if isinstance(self.plan, Grid):
            shape, axes = self.plan.shape, self.plan.axes
            coords = {name: ("" or name, axis) for name, axis in zip(self.names, axes, strict=True)}
            data = {}
            for name in self.measures:
                whole = np.full(len(self.plan), np.nan)
                whole[self.rows.astype(int)] = self[name]
                data[name] = (list(self.names), whole.reshape(shape), {"units": self.units.get(name, "")})
            return xr.Dataset(data, coords, attrs)
        coords = {"row": self.rows.astype(int), **{name: ("row", self[name]) for name in self.names}}
        return xr.Dataset({n: ("row", self[n], {"units": self.units.get(n, "")}) for n in self.measures}, coords, attrs)

    def traces(self, row: int) -> dict[str, np.ndarray]:
        """Return the thinned samples that were stored of a row."""
        for p in self.parts():
            if p.first <= row < p.last:
                return dict(p.traces.get(row - p.first, {}))
        raise UsageError(f"row {row} is not done. Rows go from 0 to {self.total - 1}.", name="row")

    # ---------------------------------------------------------------- what they say

    def summary(self) -> StudySummary:
        """Return means, spread, percentiles, extremes with their rows, correlations, and the reasons of rows that failed or are unknown."""
        numbers = {name: self[name] for name in self.names}
        failures, unknown = Counter(self.why.values()), Counter(self.unknown.values())
        found = []
        for name in self.measures:
            said = self.units.get(name, ""), self[name], numbers, self.shown(name)
            found.append(statistics(name, *said, self.sampling_errors(name), self.scale(name)))
        return StudySummary(len(self), failures, tuple(found), unknown, self.not_checked)

    def scale(self, name: str) -> float:
        """Return the size by which round-off of a measure is judged: the characteristic length for lengths, 1 rad for angles, else 0."""
        unit = self.units.get(name, "")
        if unit == "m" and self.work is not None:
            return float(compiled_of(self.work.system).loops.kappa)
        return 1.0 if unit == "rad" else 0.0

    def shown(self, name: str) -> tuple[str, float]:
        """Return (symbol, size in SI) of the unit that the model's file would use for a measure."""
        symbol, size = self.manifest["shown"].get(name, (self.units.get(name, ""), 1.0))
        return str(symbol), float(size)

    def _shown_number(self, name: str, x: float) -> str:
        """A number that varies as text, in the unit that the file would use; a parameter without a unit as the file counts it."""
        t = next((t for t in self.work.numbers.targets if t.name == name), None) if self.work is not None else None
        if t is None or t.dimension is None or self.work is None:
            return f"{x:.6g}"
        return shown(x, t.dimension, self.work.numbers.described.units, 6)

    def indices(self, measure: str | None = None) -> SobolIndices:
        """Return first- and total-order Sobol indices of a measure. The plan must be "saltelli"."""
        name = self._one(measure)
        if self.manifest["plan"].get("plan") != Saltelli.kind:
            raise UsageError(
                f"Sobol indices need rows made for them, lw.study(..., plan='saltelli', count=64), not '{self.manifest['plan']['plan']}'.",
                name="plan",
            )
        if not self.complete:
            raise UsageError(f"{len(self):,} of {self.total:,} rows are done. Sobol indices need all.")
        return sobol_indices(name, self.names, self[name])

    def _one(self, measure: str | None) -> str:
        if measure is None and len(self.measures) == 1:
            return self.measures[0]
        if measure is None:
            raise UsageError(f"there are several measures. Name one: {', '.join(map(repr, self.measures))}.")
        return self.measures[self._place(measure)]

    # ---------------------------------------------------------------- designs

    def values(self, row: int) -> dict[str, float]:
        """Return the numbers of a row by name, in SI."""
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise UsageError(f"a row is a whole number from 0 to {self.total - 1}, not {row!r}.", value=row)
        if self.plan is not None and 0 <= row < len(self.plan):
            return dict(zip(self.names, map(float, self.plan.rows(row, row + 1)[0]), strict=True))
        for p in self.parts():
            if p.first <= row < p.last:
                return dict(zip(self.names, map(float, p.numbers[row - p.first]), strict=True))
        raise UsageError(f"there is no row {row}. Rows go from 0 to {self.total - 1}.")

    def mechanism(self, row: int) -> Mechanism:
        """Return the mechanism of a row."""
        work = self._need_work()
        numbers = np.array(list(self.values(row).values()))
        return Mechanism(work.numbers.design(work.case, numbers)[0])

    def result(self, row: int) -> Trajectory | State:
        """Return the cycle, run or state of a row, computed again."""
        return self._need_work().result(np.array(list(self.values(row).values())))

    def best_row(self, goal: str) -> int:
        """Return the row with the least or greatest measure: "min max A.torque", "max end tool.T.x"."""
        word, _, rest = " ".join(goal.split()).partition(" ")
        if word not in ("min", "max") or not rest:
            raise UsageError(f"'{goal}' is not a goal: write min or max and a measure, {('min ' + self.measures[0])!r}.", name=goal)
        y = self[rest] if rest in self.measures else self[self.measures[self._place(rest)]]
        known = np.flatnonzero(np.isfinite(y))
        if not len(known):
            failed = len(self.why)
            raise UsageError(
                f"no row has a value of '{rest}': {failed:,} of {len(self):,} failed, in the others it is not there.", name=rest
            )
        at = known[np.argmin(y[known]) if word == "min" else np.argmax(y[known])]
        return int(self.rows[at])

    def best(self, goal: str) -> Mechanism:
        """Return the mechanism with the least or greatest measure: `study.best("min max A.torque")`."""
        return self.mechanism(self.best_row(goal))

    def _need_work(self) -> Work:
        if self.work is None:
            raise UsageError("this study was opened from a folder and has functions of its own: call lw.study(...) with them again.")
        return self.work

    # ---------------------------------------------------------------- pictures

    def plot(
        self, what: str | Sequence[str] | None = None, path: str | os.PathLike[str] | None = None, **options: Unpack[StudyPlotOptions]
    ) -> Figure | Path:
        """Plot the study: "histogram", "tornado", "scatter", "map", "curves", or None for what suits the plan.

        Return the Figure, or with `path` the file written.
        """
        from importlib import import_module

        return import_module("linkwright.rings.studio.study_plots").plot(self, what, path, **options)

    def show(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Open a page with sliders over the grid (or a table of points) and curves of the measures. With `path`, write it there."""
        from importlib import import_module

        write = import_module("linkwright.rings.studio.study_page").write
        return import_module("linkwright.rings.studio.page").shown("study", lambda place: write(self, place), path)
