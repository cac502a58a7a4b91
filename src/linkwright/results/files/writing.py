"""Writers of runs, one a format."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linkwright import files
from linkwright.errors import UsageError
from linkwright.results.files.bounds import plausible
from linkwright.results.files.content import KEY, content
from linkwright.results.files.facts import facts
from linkwright.results.files.sheets import PLAIN, CsvStyle, WorkbookSheet, csv_style, write_csv, write_workbook
from linkwright.results.tables import flat, package

FAST = 1  # of nine levels of compression: floating-point numbers hardly get smaller beyond


def save(
    c: Any, path: str | os.PathLike[str], channels: Iterable[str] | None, *, sep: str | None = None, decimal: str | None = None
) -> Path:
    """Write a trajectory in the format of the file's ending; an older file is replaced, atomically."""
    style = csv_style(sep, decimal)
    place = files.checked(path, tuple(WRITERS))
    if place.suffix.lower() != ".csv" and (sep is not None or decimal is not None):
        raise UsageError(f"sep and decimal are for .csv files; '{place.name}' is none. Leave them out.")
    with files.replacing(path, tuple(WRITERS)) as temporary:
        if temporary.suffix.lower() == ".csv":
            _write_csv(c, temporary, channels, style)
        else:
            WRITERS[temporary.suffix.lower()](c, temporary, channels)
    return Path(path)


def _write_csv(c: Any, path: Path, channels: Iterable[str] | None, style: CsvStyle = PLAIN) -> None:
    header, values = c.table(channels)
    write_csv(path, header, values, style)


def _write_xlsx(c: Any, path: Path, channels: Iterable[str] | None) -> None:
    """The table in the file's units, and a second sheet that says what it is a table of."""
    header, values = c.table(channels)
    title = "cycle" if c.proof is None else "run"
    write_workbook(path, [WorkbookSheet(title, header, values), WorkbookSheet("model", ("fact", "value", "unit"), facts(c), width=18.0)])


def _write_npz(c: Any, path: Path, channels: Iterable[str] | None) -> None:
    """As numpy would, with entries of any name and the same bytes for the same run."""
    about, table, extras = content(c, channels)
    entries = {KEY: np.array(json.dumps(about)), **table, **{v.name: v.values for v in extras}}
    _write_zip(path, entries, zipfile.ZIP_DEFLATED)
    if not plausible(path.stat().st_size, sum(x.nbytes for x in table.values())):  # a run at rest shrinks like a forged one
        _write_zip(path, entries, zipfile.ZIP_STORED)


def _write_zip(path: Path, entries: Mapping[str, np.ndarray], method: int) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, values in entries.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.asarray(values, order="C"), allow_pickle=False)
            archive.writestr(info, stream.getvalue(), method, FAST)


def _write_parquet(c: Any, path: Path, channels: Iterable[str] | None) -> None:
    pa, pq = package("pyarrow"), package("pyarrow.parquet")
    about, table, extras = content(c, channels)
    columns = {**table, **{x.name: np.ascontiguousarray(x.values) for v in extras for x in flat(v) if x.name not in table}}
    made = pa.table(columns).replace_schema_metadata({KEY: json.dumps(about)})
    pq.write_table(made, path, use_dictionary=False, write_page_checksum=True)


WRITERS: dict[str, Callable[[Any, Path, Iterable[str] | None], None]] = {
    ".csv": _write_csv,
    ".npz": _write_npz,
    ".parquet": _write_parquet,
    ".xlsx": _write_xlsx,
}
