"""Measured columns by name, in SI: from CSV and Parquet files, pandas tables, dicts of arrays and trajectories.

A head `A [deg]` or `A (deg)` names a column and its unit; without a unit numbers are SI and radians. `columns={"A": "enc1"}` says which
column holds a quantity under another name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import Dimension, Trajectory, UsageError, files, nearest, package, sheets
from linkwright.model.curves.csv_columns import CsvSheet, read_sheet, unit_factor


@dataclass(frozen=True)
class MeasuredTable:
    """Columns by head; `units` those of a pandas table's `attrs`."""

    source: Any  # CsvSheet, Trajectory, or a dict of arrays
    what: str
    renamed: Mapping[str, str]
    units: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        if isinstance(self.source, CsvSheet):
            return list(self.source.table.names)
        return list(self.source.channels) if isinstance(self.source, Trajectory) else [_head(str(k))[0] for k in self.source]

    @property
    def quantities(self) -> list[str]:
        """Names of what the columns hold: their own, or those that `columns` gives them."""
        held = {head: name for name, head in self.renamed.items()}
        return [held.get(name, name) for name in self.names]

    def has(self, name: str) -> bool:
        return self.renamed.get(name, name) in self.names

    def column(self, name: str, dimension: Dimension) -> np.ndarray:
        """Return a column in SI; raise UsageError where it is missing, not finite, or of another dimension."""
        held = self.renamed.get(name, name)
        if not self.has(name):
            raise UsageError(
                f"{self.what}: there is no column '{held}'. {nearest(held, self.names, 'Columns')} "
                f"Name its column: columns={{'{name}': ...}}, on the command line --column {name}=HEAD.",
                name=held,
                allowed=self.names,
            )
        if isinstance(self.source, Trajectory):
            return _finite(np.asarray(self.source[held], dtype=float), held, self.what)
        if isinstance(self.source, CsvSheet):
            k = self.source.place(held, self.what)
            return _finite(self.source.values(k, dimension, self.source.unit(k), self.what), held, self.what)
        key = next(k for k in self.source if _head(str(k))[0] == held)
        try:
            values = np.asarray(self.source[key], dtype=float)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"{self.what}: column '{held}' does not hold numbers. Give numbers, and the unit in its head.", name=held
            ) from error
        if values.ndim != 1:
            raise UsageError(
                f"{self.what}: column '{held}' has the shape {values.shape}. It must be one number for each sample.", name=held
            )
        unit = _head(str(key))[1] or self.units.get(str(key), "")
        return _finite(values, held, self.what) * unit_factor(unit, dimension, f"{self.what}: column '{held}'")


def measured_table(data: Any, columns: Mapping[str, str] | None, what: str) -> MeasuredTable:
    """Return the columns of a file, table, dict or trajectory."""
    renamed = dict(columns or {})
    if isinstance(data, Trajectory):
        return MeasuredTable(data, what, renamed, {})
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        if path.lower().endswith(".parquet"):
            return _of_parquet(path, what, renamed)
        return MeasuredTable(read_sheet(path, what), what, renamed, {})
    if isinstance(data, Mapping):
        found: Any = dict(data)
    elif hasattr(data, "columns") and hasattr(data, "__getitem__"):
        named = getattr(getattr(data, "index", None), "name", None)
        found = {} if named is None else {named: data.index}
        found |= {name: data[name] for name in data.columns}
    else:
        raise UsageError(
            f"{what}: measurements are a CSV or Parquet file, a pandas table, a dict of arrays or a trajectory, not {type(data).__name__}.",
            name=what,
            value=data,
        )
    lengths = {str(k): np.shape(x)[0] if np.ndim(x) else 0 for k, x in found.items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(
            f"{what}: the columns differ in length ({', '.join(f'{k}: {n}' for k, n in list(lengths.items())[:6])}).", name=what
        )
    return MeasuredTable(found, what, renamed, getattr(data, "attrs", {}).get("units", {}))


def _of_parquet(path: str, what: str, renamed: Mapping[str, str]) -> MeasuredTable:
    parquet = package("pyarrow.parquet", "pyarrow")
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{what}: '{files.shown(path)}' cannot be read as a Parquet table: {str(error).splitlines()[0]}", name=what
        ) from error
    units = {}
    for k in range(table.num_columns):
        meta = table.schema.field(k).metadata or {}
        units[table.column_names[k]] = meta.get(b"unit", b"").decode()
    return MeasuredTable({n: table[n].to_numpy() for n in table.column_names}, what, renamed, units)


def _head(text: str) -> tuple[str, str]:
    """Name and unit of a head."""
    found = sheets.HEADER.fullmatch(text)
    return (text, "") if found is None else (found["name"].strip(), (found["unit"] or "").strip())


def _finite(values: np.ndarray, name: str, what: str) -> np.ndarray:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise UsageError(
            f"{what}: column '{name}' has {len(bad)} entries that are not finite numbers (first: sample {bad[0]}). "
            "Remove these samples from all columns, or repair them.",
            name=name,
        )
    return values
