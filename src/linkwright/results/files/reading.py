"""Reading runs from files that anybody may have written: nothing is executed, no other file is read, sizes are bounded, and
every field is checked before it is used. The fingerprint recognizes damage; it is no signature."""

from __future__ import annotations

import io
import json
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from linkwright import files
from linkwright.errors import LinkwrightError, UsageError, counted, package
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.model import file as modelfile
from linkwright.model.description import Description
from linkwright.properties import cached_property
from linkwright.results.files import schema
from linkwright.results.files.size_limits import MOST_CHARACTERS, plausible
from linkwright.results.files.table_content import FORMAT, KEY, VERSION, fingerprint, not_finite
from linkwright.results.records import CutReferences, RunEvent, coordinate_names

HINT = "runs are saved with run.save('run.npz') or run.save('run.parquet')"
HEADER = 16_384  # bytes of an entry of an npz before its numbers, at most
BROKEN = (
    OSError, ValueError, EOFError, RuntimeError, NotImplementedError, OverflowError, SyntaxError, TypeError, MemoryError, RecursionError,
    KeyError, zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """A run as it came out of a file: its JSON, checked, and its columns."""

    path: Path
    about: Mapping[str, Any]
    table: Mapping[str, np.ndarray]

    @cached_property
    def model(self) -> Description:
        """The mechanism of the YAML inside, which may not name other files. Joints are ideal in all results but runs."""
        found = modelfile.read_enclosed(self.about["model"], f"model in {self.path.name}")
        return found.ideal if self.about["certificate"] is None else found

    def fields(self, skel: Skeleton) -> dict[str, Any]:
        """The arguments of the trajectory, on the skeleton of its model."""
        about, where = self.about, self.about["where"]
        here = {"q": coordinate_names(skel, "q_names"), "v": coordinate_names(skel, "v_names")}
        if here != about["coordinates"] or list(skel.tree.cuts) != about["cuts"]:
            raise LinkwrightError(
                f"'{files.shown(self.path)}' was written on a spanning tree that this version does not make of its model: "
                f"Linkwright {about['versions']['linkwright'][:40]} wrote it."
            )
        self._check_sizes(skel)
        q = self._block(where["q"])
        columns = {
            name: (self._block(x["columns"]) if x["vector"] else self.table[x["columns"][0]], x["dimension"])
            for name, x in where["columns"].items()
        }
        return {
            "t": self.table["t"],
            "q": q,
            "v": self._block(where["v"]),
            "a": self._block(where["a"]),
            "references": CutReferences(skel, q, self._block(where["near"])),
            "columns": columns,
            "arrays": {name: self._block(x) for name, x in where["arrays"].items()},
            "events": tuple(RunEvent(*x) for x in about["events"]),
            "notes": tuple(about["notes"]),
            "origin": None if about["origin"] is None else np.array(about["origin"], dtype=float),
            **{key: about[key] for key in ("settings", "full_turn", "drive")},
        }

    def _check_sizes(self, skel: Skeleton) -> None:
        """Blocks have as many columns as the mechanism has coordinates and constraints."""
        tree, where = skel.tree, self.about["where"]
        widths = {"q": tree.nq, "v": tree.nv, "a": tree.nv}
        arrays = {"lam": tree.nc, "closed": len(tree.loops), "path.v": tree.nv, "path.a": tree.nv}
        for name, wide in (*widths.items(), *((n, arrays[n]) for n in where["arrays"] if n in arrays)):
            found = len(where[name] if name in widths else where["arrays"][name])
            if found != wide:
                raise damaged(self.path, f"'{name}' has {found} columns, its mechanism {wide}")
        if self.about["origin"] is not None and len(self.about["origin"]) != tree.nq:
            raise damaged(self.path, f"'origin' has {counted(len(self.about['origin']), 'number')}, its mechanism {tree.nq}")

    def _block(self, names: list[str]) -> np.ndarray:
        n = self.about["samples"]
        return np.array([self.table[name] for name in names]).T.reshape(n, len(names)).copy() if names else np.zeros((n, 0))


class Archive(Protocol):
    """A file that holds JSON and columns of numbers."""

    def json(self) -> str | None: ...
    def columns(self, names: Sequence[str], samples: int) -> dict[str, np.ndarray]: ...


def read(path: str | os.PathLike[str]) -> Stored:
    """A file written by `save`; its kind shows in its first bytes."""
    files.need_path(path)
    path = Path(path)
    try:
        stream = files.open_regular(path)
    except files.Unreadable as problem:
        raise UsageError(f"cannot read '{files.shown(path)}': {problem.reason}; {HINT}.", name=files.shown(path)) from problem
    with stream:
        try:
            first = stream.read(4) or b""
            stream.seek(0)
        except OSError as problem:  # such as files in /proc
            raise UsageError(f"cannot read '{files.shown(path)}': {problem.strerror}; {HINT}.", name=files.shown(path)) from problem
        if first == b"PAR1":
            return _read(path, lambda: Parquet(stream))
        if first[:2] == b"PK":
            return _read(path, lambda: Npz(stream))
    more = " A .csv holds channels only." if path.suffix.lower() == ".csv" else ""
    kinds = "neither .npz nor .parquet by its first bytes"
    raise UsageError(f"'{files.shown(path)}' is not a run: {kinds}.{more} {HINT[0].upper()}{HINT[1:]}.", name=files.shown(path))


def _read(path: Path, opened: Any) -> Stored:
    try:
        archive: Archive = opened()
        text = archive.json()
        if text is None:
            raise UsageError(f"'{files.shown(path)}' was not written by Linkwright as a run; {HINT}.", name=files.shown(path))
        about = _about(path, text)
        names = schema.columns(about)
        table = archive.columns(["t", *names], about["samples"])
        _check_numbers(about, table)
    except LinkwrightError:
        raise
    except schema.Misfit as problem:
        raise damaged(path, str(problem)) from problem
    except BROKEN as problem:
        raise damaged(path, str(problem) or type(problem).__name__) from problem
    return Stored(path, about, table)


def _about(path: Path, text: str) -> dict[str, Any]:
    try:
        about = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise damaged(path, "its description is not readable") from problem
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise UsageError(f"'{files.shown(path)}' was not written by Linkwright as a run; {HINT}.", name=files.shown(path))
    version = about.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        made = about.get("versions")
        by = str(made.get("linkwright", "?"))[:40] if isinstance(made, dict) else "?"
        raise UsageError(
            f"'{files.shown(path)}' has format {version}, written by Linkwright {by}. This version reads format {VERSION}. "
            "Upgrade Linkwright to open it.",
            name=files.shown(path),
        )
    schema.chosen(VERSION)(version, "version")
    schema.ABOUT(about, "")
    return about


def _check_numbers(about: Mapping[str, Any], table: Mapping[str, np.ndarray]) -> None:
    if fingerprint(about, table) != about["fingerprint"]:
        raise schema.Misfit("its numbers were changed after it was written")
    schema.states(about["where"], table)
    schema.need(not_finite(table) == list(about.get("not_finite", [])), "not_finite", "the list of columns that are not finite")


def damaged(path: Path, why: str) -> LinkwrightError:
    text = " ".join("".join(x if x.isprintable() else " " for x in why[:2000]).split())[:200].rstrip(".")
    return LinkwrightError(
        f"'{files.shown(path)}' is damaged or was changed by another program: {text}. Take another copy, or simulate again.",
        name=path,
    )


# -------------------------------------------------------------------- formats


class Npz:
    """Entries are taken out whole, which checks their sums, and never as more than their sizes allow."""

    def __init__(self, stream: BinaryIO):
        self.size = os.fstat(stream.fileno()).st_size
        self.archive = zipfile.ZipFile(stream)

    def json(self) -> str | None:
        if f"{KEY}.npy" not in self.archive.namelist():
            return None
        raw = self._raw(KEY, 4 * MOST_CHARACTERS)
        shape, dtype, body = _array(raw, KEY)
        schema.need(dtype.kind == "U" and shape == () and len(body) == dtype.itemsize, KEY, "a text")
        return str(np.frombuffer(body, dtype=dtype)[0]) if dtype.itemsize else ""

    def columns(self, names: Sequence[str], samples: int) -> dict[str, np.ndarray]:
        _check_size(self.size, len(names), samples)
        out = {}
        for name in names:
            shape, dtype, body = _array(self._raw(name, 8 * samples), name)
            schema.need(
                dtype == np.dtype(float) and shape == (samples,) and len(body) == 8 * samples,
                name,
                f"a column of {counted(samples, 'number')}",
            )
            out[name] = np.frombuffer(body, dtype=dtype).copy()
        return out

    def _raw(self, name: str, most: int) -> bytes:
        try:
            info = self.archive.getinfo(f"{name}.npy")
        except KeyError as missing:
            raise schema.Misfit(f"'{name}' is missing") from missing
        schema.need(info.file_size <= most + HEADER, name, "of the size that it should have")
        schema.need(info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), name, "stored or deflated, as numpy writes it")
        with self.archive.open(info) as entry:
            return entry.read(info.file_size)  # read() without a size unpacks whatever follows the declared bytes, too


def _array(raw: bytes, name: str) -> tuple[tuple[int, ...], np.dtype[Any], bytes]:
    """(shape, type, bytes) of an entry; types that would need pickle are refused."""
    stream = io.BytesIO(raw)
    version = np.lib.format.read_magic(stream)
    schema.need(version in ((1, 0), (2, 0)), name, "an array of plain numbers")
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of headers in the way of Python 2, as some damaged ones are
            shape, _, dtype = header(stream)
    except (tokenize.TokenError, SyntaxError):
        raise schema.Misfit(f"the header of '{name}' cannot be read") from None
    schema.need(not dtype.hasobject and dtype.kind in "fU", name, "an array of plain numbers")
    return shape, dtype, raw[stream.tell() :]


class Parquet:
    """All columns are numbers; how many there are is known before they are read."""

    def __init__(self, stream: BinaryIO):
        self.arrow = package("pyarrow")
        self.size = os.fstat(stream.fileno()).st_size
        stream.seek(max(0, self.size - 8))
        schema.need(int.from_bytes(stream.read(4), "little") <= files.FOOTER, "footer", "of the size that it should have")
        try:
            self.file = package("pyarrow.parquet").ParquetFile(stream, page_checksum_verification=True)
        except self.arrow.ArrowException as problem:
            raise schema.Misfit(str(problem)) from problem

    def json(self) -> str | None:
        found = (self.file.schema_arrow.metadata or {}).get(KEY.encode())
        schema.need(found is None or len(found) <= 4 * MOST_CHARACTERS, KEY, "of the size that it should have")
        return None if found is None else found.decode(errors="replace")

    def columns(self, names: Sequence[str], samples: int) -> dict[str, np.ndarray]:
        arrow = self.file.schema_arrow
        _check_size(self.size, len(arrow.names), max(samples, self.file.metadata.num_rows))
        for name in names:
            schema.need(len(arrow.get_all_field_indices(name)) == 1, name, "there")
        schema.need(all(t == self.arrow.float64() for t in arrow.types), "table", "a table of numbers")
        self._check_groups(samples)
        try:
            found = self.file.read(use_threads=False)
        except self.arrow.ArrowException as problem:
            raise schema.Misfit(str(problem)) from problem
        return {name: np.array(found[name].to_numpy(), dtype=float) for name in names}

    def _check_groups(self, samples: int) -> None:
        """As many rows as samples, in pages that cannot unpack to much more than their size (Snappy: 21 times)."""
        about = self.file.metadata
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        schema.need(samples == about.num_rows == sum(g.num_rows for g in groups), "table", f"a table of {counted(samples, 'row')}")
        for g in groups:
            for column in map(g.column, range(g.num_columns)):
                schema.need(column.num_values == g.num_rows, "table", f"a table of {counted(samples, 'row')}")
                schema.need(column.compression in ("SNAPPY", "UNCOMPRESSED"), "table", "compressed by Snappy")


def _check_size(size: int, columns: int, samples: int) -> None:
    unpacked = 8 * samples * columns
    if not plausible(size, unpacked):
        amount = f"{columns} columns of {counted(samples, 'sample')} ({unpacked / 1e9:.3g} GB)"
        raise schema.Misfit(f"a file of {size / 1e6:.3g} MB cannot hold {amount}")
