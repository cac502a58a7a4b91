"""Columns of a study for people: variables and measures in the units of their ranges and of the model's file, read in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import NONE, Description, LinkwrightError, UsageError, display_unit, modelfile, nearest, parse_unit, written_values
from linkwright.properties import cached_property
from linkwright.rings.design.studies.study import Study
from linkwright.rings.studio.plots.common_parts import four, with_unit, written
from linkwright.text.ranges_and_tolerances import unit_written

FEWEST = 4  # digits of a value
SHOWN_AS_THEY_ARE = ("J",)  # of the dimension of a torque, which is shown in N m


@dataclass(frozen=True, eq=False)
class StudyColumn:
    """A variable or measure over the rows that are done, in the unit shown; nan where a row failed."""

    name: str
    symbol: str  # "-": no unit
    size: float  # of that unit, in SI
    varied: bool
    values: np.ndarray

    @property
    def label(self) -> str:
        return with_unit(self.name, self.symbol)

    def text(self, x: float) -> str:
        """A value of it with its unit, and with digits that show a thousandth of the spread."""
        return with_symbol(four(x) if self.digits == FEWEST else f"{float(f'{x:.{self.digits}g}'):.12g}", self.symbol)

    @cached_property
    def digits(self) -> int:
        known = self.values[self.known]
        span, most = (float(np.ptp(known)), float(np.abs(known).max())) if len(known) else (0.0, 0.0)
        if not span > 1e-12 * most:  # round-off has no digits worth reading
            return FEWEST
        return int(np.clip(np.ceil(np.log10(most / span)) + 3, FEWEST, 12))

    @property
    def known(self) -> np.ndarray:
        return np.isfinite(self.values)


def with_symbol(number: str, symbol: str) -> str:
    return number if symbol == "-" else f"{number} {written(symbol)}"


@dataclass(frozen=True, eq=False)
class StudyTable:
    """Rows of a study that are done."""

    study: Study
    rows: np.ndarray
    failed: np.ndarray  # mask
    unknown: np.ndarray  # mask
    columns: dict[str, StudyColumn]

    @property
    def variables(self) -> list[StudyColumn]:
        return [c for c in self.columns.values() if c.varied]

    @property
    def measures(self) -> list[StudyColumn]:
        return [c for c in self.columns.values() if not c.varied]

    @cached_property
    def kind(self) -> str:
        return str(self.study.manifest["plan"].get("plan", ""))

    def chosen(self, given: Any, what: str, among: Sequence[StudyColumn], most: int) -> list[StudyColumn]:
        """Columns by name; without names all of `among`, the first `most` of them."""
        if given is None:
            return list(among)[:most]
        names = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else [given]
        known = [c.name for c in among]
        for name in names:
            if name not in known:
                raise UsageError(f"{what}: there is no '{name}'.", nearest(str(name), known, "Known"))
        if not 1 <= len(names) <= most:
            raise UsageError(f"{what}: name 1 to {most} columns, not {len(names)}.", name=what)
        return [self.columns[name] for name in names]


def table(study: Study) -> StudyTable:
    """All rows that are done; raise UsageError where there is none."""
    # one part at a time: samples stored with it are not needed and may be large
    parts = [(p.numbers, p.values, _given(p.why), _given(p.unknown), np.arange(p.first, p.last)) for p in study.parts()]
    if not parts:
        raise UsageError("no row of the study is done, so there is nothing to show.", name="rows")
    numbers, values, failed, unknown, rows = (np.concatenate(x) for x in zip(*parts, strict=True))
    units = units_of(study)
    columns = {}
    for names, block, varied in ((study.names, numbers, True), (study.measures, values, False)):
        for i, name in enumerate(names):
            symbol, size = units[name]
            columns[name] = StudyColumn(name, symbol, size, varied, block[:, i] / size)
    return StudyTable(study, rows, failed, unknown, columns)


def _given(texts: Sequence[str]) -> np.ndarray:
    """Mask of the texts that are not empty."""
    return np.array([bool(x) for x in texts], dtype=bool)


def units_of(study: Study) -> dict[str, tuple[str, float]]:
    """Symbol and size in SI of the unit of every column: that of the range as it was written, else that of the model's file."""
    described = _described(study)
    file = () if described is None else tuple(described.units)
    ranges = study.manifest["plan"].get("vary", {})
    targets = {} if study.work is None else {t.name: t.dimension for t in study.work.numbers.targets}
    out = {}
    for name in study.names:
        text = str(ranges.get(name, ""))
        symbol = unit_written(text) or unit_written(text.split(",")[0])  # the second of a list of values
        if symbol:
            out[name] = symbol, parse_unit(symbol)[0]
            continue
        dimension = targets.get(name)
        if dimension is None and described is not None:
            dimension = written_values.parameter_dimension(described, name)
        out[name] = _shown(file, dimension or NONE)
    for name in study.measures:
        symbol = study.units.get(name, "")
        plain = symbol in ("", "-") or symbol in SHOWN_AS_THEY_ARE
        out[name] = (symbol or "-", 1.0) if plain else _shown(file, parse_unit(symbol)[1])
    return out


def _shown(file: tuple[str, ...], dimension: Any) -> tuple[str, float]:
    symbol, per_si = display_unit(file, dimension)
    return ("-" if dimension == NONE else symbol), 1.0 / per_si


def _described(study: Study) -> Description | None:
    if study.work is not None:
        return study.work.numbers.described
    try:
        return modelfile.read_text(study.manifest["model"], "study")
    except LinkwrightError:  # a model of another version: its units are lost, not its numbers
        return None


def dimension_of(c: StudyColumn) -> Any:
    """Dimension of a column's unit."""
    return NONE if c.symbol == "-" else parse_unit(c.symbol)[1]


def outcome(done: int, failed: int, unknown: int = 0) -> str:
    """How many designs are shown, and how many of them failed or have unknown checks."""
    shown = "1 design" if done == 1 else f"{done:,} designs"
    return ", ".join([shown, *(f"{n:,} {word}" for n, word in ((unknown, "unknown"), (failed, "failed")) if n)])


def signed(r: float) -> str:
    """A correlation with its sign; a dash where one of the two is constant."""
    if not np.isfinite(r):
        return "\u2013"
    return f"{r:+.2f}".replace("-", "\u2212") if abs(r) >= 0.005 else "0.00"


def x_axis_of(axes: Any, c: StudyColumn, **options: Any) -> None:
    """Name and unit below an axes; ticks with all their digits, however narrow a tolerance is."""
    axes.set_xlabel(c.label, parse_math=False, **options)
    plain_ticks(axes, "x")


def plain_ticks(axes: Any, axis: str) -> None:
    """Ticks without an offset; a common power of ten for very large or small numbers."""
    axes.ticklabel_format(axis=axis, style="sci", scilimits=(-3, 5), useOffset=False, useMathText=True)
