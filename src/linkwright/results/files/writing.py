"""Writers of runs, one a format."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from linkwright import files
from linkwright.errors import package
from linkwright.files.tables import ENDINGS, Table, style_for
from linkwright.results.files.facts_sheet import facts
from linkwright.results.files.size_limits import plausible
from linkwright.results.files.table_content import KEY, content
from linkwright.results.tables import flat

FAST = 1  # of nine levels of compression: floating-point numbers hardly get smaller beyond


def save(
    c: Any, path: str | os.PathLike[str], channels: Iterable[str] | None, *, sep: str | None = None, decimal: str | None = None
) -> Path:
    """Write a trajectory in the format of the file's ending; an older file is replaced, atomically."""
    place = files.checked(path, tuple(sorted({*WHOLE, *ENDINGS})))
    ending = place.suffix.lower()
    style_for(place, sep, decimal)
    if ending not in WHOLE:
        table = c.table(channels)
        more = Table.of(["fact", "value", "unit"], facts(c), "model") if ending == ".xlsx" else None
        return replace(table, parts=(more,) if more else ()).save(path, sep=sep, decimal=decimal)
    with files.replacing(path, tuple(WHOLE)) as temporary:
        WHOLE[ending](c, temporary, channels)
    return Path(path)


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


WHOLE: dict[str, Callable[[Any, Path, Iterable[str] | None], None]] = {".npz": _write_npz, ".parquet": _write_parquet}  # runs to read again
