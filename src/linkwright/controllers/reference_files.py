"""Tables of numbers over time in CSV files: optional header (`A [deg]` names a column and its unit), errors with file and line."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError, Source, UsageError, listing
from linkwright.modelfile import parse_unit, quantity
from linkwright.modelfile.units import TIME, Dimension, describe, matches

MOST_BYTES = 50_000_000
NUMBER = re.compile(r"[-+]?\.?\d")  # how a number begins, with or without a unit after it
HEADER = re.compile(r"(?P<name>.*?)\s*(?:[\[(](?!\d+\])(?P<unit>[^\[\]()]*)[\])])?")  # `A [deg]`, `A (deg)`; `lam[0]` is a name
Column = str | int


@dataclass(frozen=True)
class Sheet:
    """The rows of a file with their lines; names and units are the header's, none where there is none."""

    path: str
    header: tuple[str, ...]  # as written
    names: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[int, list[str]], ...]

    def place(self, column: Column, what: str) -> int:
        """Which column that is: by number from 0, by its name, or by its name with its unit."""
        width = len(self.names) or len(self.rows[0][1])
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < width:
            return int(column)
        for known in (self.header, self.names):
            if isinstance(column, str) and known.count(column.strip()) == 1:
                return known.index(column.strip())
        shown = listing(f"{i}: {n}" for i, n in enumerate(self.header)) or f"0 to {width - 1}, it has no header"
        raise UsageError(f"{what}: {self.path} has no single column {column!r}. Columns: {shown}.")

    def label(self, k: int) -> str:
        return f"column '{self.names[k]}'" if self.names else f"column {k}"

    def unit(self, k: int) -> str:
        return self.units[k] if self.units else ""

    def values(self, k: int, dimension: Dimension, unit: str, what: str) -> np.ndarray:
        """A column in SI: bare numbers in its unit, or with units of their own."""
        factor = self._factor(k, dimension, unit, what)
        return np.array([self._number(line, cells, k, dimension, factor, what) for line, cells in self.rows])

    def _factor(self, k: int, dimension: Dimension, unit: str, what: str) -> float:
        if not unit or unit == "-":
            return 1.0
        try:
            factor, has = parse_unit(unit)
        except LinkwrightError as error:
            raise UsageError(f"{what}: the unit of {self.label(k)} in {self.path}: {error}") from error
        if not matches(has, dimension):
            raise UsageError(
                f"{what}: {self.label(k)} of {self.path} is in {unit}, {describe(has)}, but it must be {describe(dimension)}. "
                "Choose another column or give its unit."
            )
        return factor

    def _number(self, line: int, cells: list[str], k: int, dimension: Dimension, factor: float, what: str) -> float:
        here = Source(self.path, line)
        if k >= len(cells) or not cells[k]:
            raise UsageError(
                f"{here}: {what} needs {self.label(k)}, but this row has {len(cells)} cells and nothing there. Fill or remove it."
            )
        try:
            x = float(cells[k]) * factor
        except ValueError:
            try:
                x = quantity(cells[k], dimension, self.label(k))
            except LinkwrightError as error:
                raise UsageError(
                    f"{here}: {what}: '{cells[k]}' in {self.label(k)} is not a number of {describe(dimension)}. Write it with a point, as "
                    "in 0.5, and a unit after it if you like."
                ) from error
        if not math.isfinite(x):
            raise UsageError(f"{here}: {what}: '{cells[k]}' in {self.label(k)} is not a finite number. Remove the row or repair it.")
        return x


def read_sheet(path: Any, what: str) -> Sheet:
    """The file's cells. Separated by commas, semicolons or tabs; empty lines and lines that begin with # are passed over."""
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"{what}: a CSV file is given by its path, not by a {type(path).__name__}.")
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise UsageError(f"{what}: '{file}' is not a file. Give the path of a CSV file.")
        if file.stat().st_size > MOST_BYTES:
            raise UsageError(f"{what}: {file} is larger than {MOST_BYTES // 10**6} MB. Keep fewer rows.")
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"{what}: '{file}' cannot be read ({reason}). The path is relative to the present folder.") from error
    kept = [(i, line) for i, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")]
    first = kept[0][1] if kept else ""
    separator = next((s for s in (";", "\t") if s in first), ",")
    rows = [(i, _cells(line, separator, Source(str(file), i))) for i, line in kept]
    header: list[str] = []
    if rows and not any(NUMBER.match(cell) for cell in rows[0][1]):
        header = rows.pop(0)[1]
    if len(rows) < 2:
        raise UsageError(f"{what}: {file} has {len(rows)} rows of numbers; a curve needs two or more.")
    found = [HEADER.fullmatch(cell) for cell in header]
    names, units = (tuple((m[part] or "").strip() if m else "" for m in found) for part in ("name", "unit"))
    return Sheet(str(file), tuple(header), names, units, tuple(rows))


def _cells(line: str, separator: str, here: Source) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
    except csv.Error as error:
        raise UsageError(f"{here}: the line cannot be read as cells ({error}). Write numbers separated by commas.") from error


def read_curves(
    path: Any,
    time: Column | None,
    columns: Sequence[Column] | Column | None,
    units: Sequence[str | None],
    dimensions: Sequence[Dimension],
    what: str,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Times and one array of values for each dimension, in SI. A unit given here goes before the header's."""
    sheet = read_sheet(path, what)
    at = sheet.place(0 if time is None else time, f"{what}: time")
    width = len(sheet.names) or len(sheet.rows[0][1])
    wanted = [k for k in range(width) if k != at] if columns is None else [columns] if isinstance(columns, (str, int)) else list(columns)
    if len(wanted) != len(dimensions):
        named = f"these are {len(wanted)}" if columns is not None else f"{sheet.path} has {len(wanted)} besides the time"
        advice = " Choose with columns=." if columns is None and len(wanted) > len(dimensions) else ""
        raise UsageError(f"{what} needs {len(dimensions)} columns of values, {named}.{advice}")
    t = sheet.values(at, TIME, sheet.unit(at), what)
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if len(back):
        k = int(back[0])
        here = Source(sheet.path, sheet.rows[k + 1][0])
        raise UsageError(f"{here}: {what}: the times must increase, but {t[k + 1]:g} s follows {t[k]:g} s. Sort the rows, or remove one.")
    places = [sheet.place(c, f"{what}: columns") for c in wanted]
    values = [sheet.values(k, d, u or sheet.unit(k), what) for k, d, u in zip(places, dimensions, units, strict=True)]
    return t, values
