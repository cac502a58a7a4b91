"""Rows of a study where they are stored: in memory, or in a folder that is still right after a crash.

    results/study.json                                     which study is the current one, and those before it
    results/3f9c.../manifest.json                          model, options, plan, seed, versions: all that the rows follow from
    results/3f9c.../rows/000000000000-000000001024.parquet   a part: numbers, measures, and the reason where a row failed

A part is written beside its place and moved there, with checksums on its pages and the key of its study inside. One that is torn, foreign
or damaged counts as missing. A changed model has another key and so a folder of its own: nothing that was computed is overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import UsageError, files, package
from linkwright.files.writing import atomic

FORMAT = 1
POINTER, MANIFEST, ROWS = "study.json", "manifest.json", "rows"
MARK = b"linkwright study"
OLDER = "stored by an earlier version, which did not record unknown checks. Call lw.study(...) again to have them"


class Part(NamedTuple):
    """Rows first .. last - 1: numbers (rows, variables), measures (rows, measures), reasons, thinned samples by row."""

    first: int
    last: int
    numbers: np.ndarray
    values: np.ndarray
    why: list[str]
    traces: Mapping[int, Mapping[str, np.ndarray]]
    errors: np.ndarray  # (rows, measures): sampling errors of extremes; infinite where they grow without bound
    unknown: list[str]  # checks that are unknown, with their reasons; "" of rows that failed, or passed every check


class MemoryStore:
    """Parts in memory."""

    folder: Path | None = None

    def __init__(self) -> None:
        self._parts: dict[int, Part] = {}

    def add(self, part: Part) -> None:
        self._parts[part.first] = part

    def spans(self) -> list[tuple[int, int]]:
        """Rows that are there, as stretches in order."""
        return sorted((p.first, p.last) for p in self._parts.values())

    def parts(self) -> Iterator[Part]:
        """All parts in the order of their rows."""
        for first in sorted(self._parts):
            yield self._parts[first]


class FolderStore:
    """Parts as Parquet files."""

    def __init__(self, place: Path, key: str, names: Sequence[str], measures: Sequence[str]):
        self.folder, self.key, self.names, self.measures = place, key, tuple(names), tuple(measures)
        self._pa, self._pq = package("pyarrow"), package("pyarrow.parquet")
        self._seen: dict[Path, tuple[tuple[int, int], tuple[int, int] | None]] = {}  # time and size of parts, and their rows

    @property
    def _rows(self) -> Path:
        return self.folder / self.key[:16] / ROWS

    def begin(self, manifest: Mapping[str, Any]) -> str:
        """Make the folder, or find the same study in it; return what is to be said about it."""
        said = _pointed(self.folder, self.key, manifest)
        self._rows.mkdir(parents=True, exist_ok=True)
        files.writing.remove_leftovers(self._rows)
        _write(self._rows.parent / MANIFEST, {**manifest, "key": self.key})
        return said

    def add(self, part: Part) -> None:
        table = self._table(part)
        name = f"{part.first:012d}-{part.last:012d}.parquet"
        with atomic(self._rows / name) as temporary:
            self._pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)

    def _table(self, part: Part) -> Any:
        pa = self._pa
        columns: dict[str, Any] = {"row": pa.array(np.arange(part.first, part.last))}
        columns |= {f"vary {name}": pa.array(part.numbers[:, i]) for i, name in enumerate(self.names)}
        columns |= {f"measure {name}": pa.array(part.values[:, i]) for i, name in enumerate(self.measures)}
        columns |= {f"error {name}": pa.array(part.errors[:, i]) for i, name in enumerate(self.measures) if part.errors[:, i].any()}
        columns |= {name: pa.array(texts, type=pa.string()) for name, texts in (("why", part.why), ("unknown", part.unknown))}
        for name in dict.fromkeys(n for trace in part.traces.values() for n in trace):
            cells = [part.traces.get(i, {}).get(name) for i in range(part.last - part.first)]
            columns[f"trace {name}"] = pa.array([None if x is None else np.ravel(x).tolist() for x in cells], type=pa.list_(pa.float64()))
            width = max((x.shape[1] if x.ndim > 1 else 1 for x in cells if x is not None), default=1)
            columns[f"trace {name}"] = columns[f"trace {name}"] if width == 1 else _rows_of_rows(pa, cells)
        return pa.table(columns).replace_schema_metadata({MARK: self.key.encode()})

    def spans(self) -> list[tuple[int, int]]:
        """Rows that are there and whole, as stretches in order."""
        found = []
        for path in sorted(self._rows.glob("*.parquet")):
            span = self._seen_span(path)
            if span is not None and (not found or span[0] >= found[-1][1]):
                found.append(span)
        return found

    def _seen_span(self, path: Path) -> tuple[int, int] | None:
        """The same as `_span`, read again only if the file has changed."""
        try:
            there = path.stat()
        except OSError:
            return None
        state = there.st_mtime_ns, there.st_size
        if path not in self._seen or self._seen[path][0] != state:
            self._seen[path] = state, self._span(path)
        return self._seen[path][1]

    def _span(self, path: Path) -> tuple[int, int] | None:
        """Rows of a part by its name, if it is one of this study and whole."""
        try:
            first, last = (int(x) for x in path.stem.split("-"))
            file = self._pq.ParquetFile(path, page_checksum_verification=True)
            whole = file.metadata.num_rows == last - first and (file.schema_arrow.metadata or {}).get(MARK) == self.key.encode()
            whole = whole and self._has_columns(file.schema_arrow)
            if whole:
                file.read()  # a part whose end is there may still have lost or damaged pages
            return (first, last) if whole else None
        except (ValueError, OSError, self._pa.ArrowException):
            return None

    def _has_columns(self, schema: Any) -> bool:
        """True if every number of this study has its column of floats, and rows their reasons."""
        wanted = [f"vary {name}" for name in self.names] + [f"measure {name}" for name in self.measures]
        types = dict(zip(schema.names, schema.types, strict=True))
        floats = all(name in types and self._pa.types.is_floating(types[name]) for name in wanted)
        return floats and "row" in types and "why" in types and self._pa.types.is_string(types["why"])

    def parts(self) -> Iterator[Part]:
        """All whole parts in the order of their rows, one in memory at a time."""
        for first, last in self.spans():
            table = self._pq.ParquetFile(self._rows / f"{first:012d}-{last:012d}.parquet", page_checksum_verification=True).read()
            yield self._part(table, first, last)

    def _part(self, table: Any, first: int, last: int) -> Part:
        def block(prefix: str, names: Iterable[str]) -> np.ndarray:
            columns = [table.column(f"{prefix} {name}").to_numpy() for name in names]
            return np.stack(columns, axis=1) if columns else np.zeros((last - first, 0))

        traces: dict[int, dict[str, np.ndarray]] = {}
        for name in table.column_names:
            if name.startswith("trace "):
                for i, cell in enumerate(table.column(name).to_pylist()):
                    if cell is not None:
                        traces.setdefault(i, {})[name.removeprefix("trace ")] = np.array(cell)
        why = [x or "" for x in table.column("why").to_pylist()]
        unknown = (
            [x or "" for x in table.column("unknown").to_pylist()] if "unknown" in table.column_names else ["" if w else OLDER for w in why]
        )
        there, none = set(table.column_names), np.zeros(last - first)
        errors = [table.column(f"error {n}").to_numpy() if f"error {n}" in there else none for n in self.measures]
        numbers, values = block("vary", self.names), block("measure", self.measures)
        return Part(first, last, numbers, values, why, traces, np.stack(errors, axis=1) if errors else np.zeros(values.shape), unknown)


def _rows_of_rows(pa: Any, cells: Sequence[Any]) -> Any:
    """Vectors over samples, as lists of lists."""
    return pa.array([None if x is None else x.tolist() for x in cells], type=pa.list_(pa.list_(pa.float64())))


def manifest_of(place: Path) -> dict[str, Any]:
    """The manifest of the current study of a folder."""
    pointer = _read(place / POINTER)
    if not isinstance(pointer, dict) or not isinstance(pointer.get("current"), str):
        raise UsageError(
            f"cannot read {place}: it is a folder without a study (no {POINTER}). Runs are files, .npz or .parquet.", name=place
        )
    found = _read(place / pointer["current"][:16] / MANIFEST)
    if not isinstance(found, dict) or found.get("format") != FORMAT or not _is_whole(found):
        raise unusable(place)
    return found


def unusable(place: Path) -> UsageError:
    """Return the error for a manifest that cannot be read."""
    return UsageError(f"{place}: the manifest of its study is missing, damaged, or of another version of Linkwright.")


def _is_whole(manifest: Mapping[str, Any]) -> bool:
    """True if the entries by which rows are read have their types."""
    lists = [manifest.get(name) for name in ("names", "measures")]
    named = all(isinstance(x, list) and all(isinstance(y, str) for y in x) for x in lists)
    texts = all(isinstance(manifest.get(name), str) for name in ("key", "name", "model"))
    units, plan, shown = (manifest.get(name) for name in ("units", "plan", "shown"))
    return (
        named
        and texts
        and isinstance(units, dict)
        and all(isinstance(x, str) for x in units.values())
        and isinstance(plan, dict)
        and isinstance(plan.get("rows"), int)
        and isinstance(shown, dict)
        and all(isinstance(x, list) and len(x) == 2 and isinstance(x[0], str) and isinstance(x[1], (int, float)) for x in shown.values())
    )


def is_study(path: Any) -> bool:
    """True for a folder of a study."""
    try:
        return (Path(path) / POINTER).is_file()
    except (TypeError, OSError):
        return False


def _pointed(place: Path, key: str, manifest: Mapping[str, Any]) -> str:
    """Make this the current study of the folder; say what differs from the one before."""
    if place.exists() and not place.is_dir():
        raise UsageError(f"{place} is a file. A study needs a folder.", name=place)
    others = [x for x in place.iterdir() if not x.name.startswith(".")] if place.exists() else []
    pointer = _read(place / POINTER) if others else None
    if others and not isinstance(pointer, dict):
        raise UsageError(
            f"{place} holds other files ({others[0].name}, ...) and no study: name another folder, or an empty one.", name=place
        )
    said, before = "", []
    if isinstance(pointer, dict):
        before = [x for x in (*pointer.get("before", []), pointer.get("current")) if x and x != key]
        if pointer.get("current") != key:
            said = f"a new study: {_difference(_read(place / str(pointer.get('current'))[:16] / MANIFEST), manifest)}."
    place.mkdir(parents=True, exist_ok=True)
    _write(place / POINTER, {"current": key, "before": list(dict.fromkeys(before))})
    return said


REASONS = {
    "model": "the model has changed",
    "work": "the computation or the measures have changed",
    "plan": "the plan or the ranges have changed",
    "equations": "the equations of this version of Linkwright are others",
}


def _difference(old: Any, new: Mapping[str, Any]) -> str:
    if not isinstance(old, dict):
        return "the one before has lost its manifest"
    found = [text for name, text in REASONS.items() if old.get(name) != new.get(name)]
    return " and ".join(found) or "its numbers have changed"


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write(path: Path, content: Mapping[str, Any]) -> None:
    with atomic(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, sort_keys=True, default=str) + "\n", encoding="utf-8", newline="\n")
