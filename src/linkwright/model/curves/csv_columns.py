"""Curves over time from CSV files: columns by name or number, in the unit of their header; errors with file and line."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import files
from linkwright.errors import LinkwrightError, Source, UsageError, counted, listing
from linkwright.model.file import parse_unit, quantity
from linkwright.text.unit_meaning import unit_size
from linkwright.text.units import TIME, Dimension, describe, matches

Column = str | int


def unit_factor(unit: str, dimension: Dimension, column: str) -> float:
    """Return the size of a column's unit in SI, 1 without one; raise UsageError, which begins with `column`, where it does not fit."""
    if not unit or unit == "-":
        return 1.0
    try:
        _, has = parse_unit(unit)
    except LinkwrightError as error:
        raise UsageError(f"{column}: its unit: {error}", name=column) from error
    if not matches(has, dimension):
        raise UsageError(
            f"{column} is in {unit}, {describe(has)}, but it must be {describe(dimension)}. Choose another column or give its unit.",
            name=column,
        )
    try:
        return unit_size(unit, dimension, column)
    except UsageError as error:
        raise UsageError(f"{error} It is the unit of the column.", name=error) from error


@dataclass(frozen=True)
class CsvSheet:
    """The columns of a CSV file as numbers."""

    table: files.CsvTable

    @property
    def path(self) -> str:
        return self.table.path

    def place(self, column: Column, what: str) -> int:
        """Index of a column: by number from 0, by its name, or by its name with its unit."""
        width = self.table.width
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < width:
            return int(column)
        for known in (self.table.header, self.table.names):
            if isinstance(column, str) and known.count(column.strip()) == 1:
                return known.index(column.strip())
        shown = listing(f"{i}: {n}" for i, n in enumerate(self.table.header)) or f"0 to {width - 1}, it has no header"
        raise UsageError(f"{what}: {self.path} has no single column {column!r}. Columns: {shown}.", name=column)

    def label(self, k: int) -> str:
        return f"column '{self.table.names[k]}'" if self.table.names else f"column {k}"

    def unit(self, k: int) -> str:
        return self.table.units[k] if self.table.units else ""

    def values(self, k: int, dimension: Dimension, unit: str, what: str) -> np.ndarray:
        """A column in SI: bare numbers in its unit, or with units of their own."""
        factor = unit_factor(unit, dimension, f"{what}: {self.label(k)} of {self.path}")
        return np.array([self._number(line, cells, k, dimension, factor, what) for line, cells in self.table.rows])

    def _number(self, line: int, cells: list[str], k: int, dimension: Dimension, factor: float, what: str) -> float:
        here = Source(self.path, line)
        if k >= len(cells) or not cells[k]:
            raise UsageError(
                f"{here}: {what} needs {self.label(k)}, but this row has {counted(len(cells), 'cell')} and nothing there. Fill "
                "or remove it.",
                name=here,
            )
        try:
            x = _plain(cells[k]) * factor
        except ValueError:
            try:
                x = quantity(cells[k], dimension, self.label(k))
            except LinkwrightError as error:
                raise UsageError(
                    f"{here}: {what}: '{cells[k]}' in {self.label(k)} is not a number of {describe(dimension)}. Write it with a point, as "
                    "in 0.5, and a unit after it if you like.",
                    name=cells[k],
                ) from error
        if not math.isfinite(x):
            raise UsageError(
                f"{here}: {what}: '{cells[k]}' in {self.label(k)} is not a finite number. Remove the row or repair it.", name=cells[k]
            )
        return x


def _plain(cell: str) -> float:
    """A bare number; digits of other scripts and Python's underscores are not numbers here."""
    if not cell.isascii() or "_" in cell:
        raise ValueError(cell)
    return float(cell)


def read_sheet(path: Any, what: str, fewest: int = 2) -> CsvSheet:
    """The columns of a file with so many rows of numbers or more."""
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"{what}: a CSV file is given by its path, not by a {type(path).__name__}.", name=what)
    most_bytes = 50_000_000
    try:
        table = files.read_csv_table(path, most_bytes)
    except files.Unreadable as error:
        place = f"'{files.shown(path)}'"
        raise UsageError(
            f"{what}: {place} cannot be read: {error.reason}. The path is relative to the present folder.", name=what
        ) from error
    except files.TableError as error:
        raise UsageError(f"{error.where}: {what}: {error.reason}", name=error.where) from error
    if len(table.rows) < fewest:
        needed = "a curve needs two or more" if fewest > 1 else "one or more are needed"
        raise UsageError(f"{what}: {table.path} has {counted(len(table.rows), 'row')} of numbers; {needed}.", name=what)
    return CsvSheet(table)


def read_columns(
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
    width = sheet.table.width
    wanted = [k for k in range(width) if k != at] if columns is None else [columns] if isinstance(columns, (str, int)) else list(columns)
    if len(wanted) != len(dimensions):
        named = f"these are {len(wanted)}" if columns is not None else f"{sheet.path} has {len(wanted)} besides the time"
        advice = " Choose with columns=." if columns is None and len(wanted) > len(dimensions) else ""
        raise UsageError(f"{what} needs {counted(len(dimensions), 'column')} of values, {named}.{advice}", name=what)
    t = sheet.values(at, TIME, sheet.unit(at), what)
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if len(back):
        k = int(back[0])
        here = Source(sheet.path, sheet.table.rows[k + 1][0])
        raise UsageError(
            f"{here}: {what}: the times must increase, but {t[k + 1]:g} s follows {t[k]:g} s. Sort the rows, or remove one.", name=here
        )
    places = [sheet.place(c, f"{what}: columns") for c in wanted]
    values = [sheet.values(k, d, u or sheet.unit(k), what) for k, d, u in zip(places, dimensions, units, strict=True)]
    return t, values
