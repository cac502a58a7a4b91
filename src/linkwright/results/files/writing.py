"""Writers of runs, one a format."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linkwright import files
from linkwright.results.files.bounds import plausible
from linkwright.results.files.content import KEY, content
from linkwright.results.tables import flat, package

FAST = 1  # of nine levels of compression: floating-point numbers hardly get smaller beyond


def save(c: Any, path: str | os.PathLike[str], channels: Iterable[str] | None) -> Path:
    """Write a trajectory in the format of the file's ending; an older file is replaced, atomically."""
    with files.replacing(path, tuple(WRITERS)) as temporary:
        WRITERS[temporary.suffix.lower()](c, temporary, channels)
    return Path(path)


def _write_csv(c: Any, path: Path, channels: Iterable[str] | None) -> None:
    header, values = c.table(channels)
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerow(map(files.safe_cell, header))  # quoted: one of the marks of a table of ours
        writer = csv.writer(stream)
        writer.writerows([[repr(float(x)) for x in row] for row in values])


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
}
