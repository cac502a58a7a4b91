"""Runs in files: .npz (nothing to install) and .parquet hold everything, .csv the channels only.

Both hold one table, a row for every sample: t, then the recorded columns, the coordinates, speeds and accelerations of the
tree's joints, multipliers, references of cut joints, and channels for people without this program (points, body angles).
Columns are called like channels. A text of JSON, `linkwright` (an entry of the npz, metadata of the Parquet schema), says which
column is what and carries the model as YAML, its cuts, parameters, settings, certificate, events, versions and a
fingerprint of the numbers. Nothing is pickled.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import platform
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from linkwright import files, modelfile
from linkwright.description import Description
from linkwright.errors import LinkwrightError, UsageError
from linkwright.recorded import CutReferences, RunEvent, coordinate_names, cut_rows, plain
from linkwright.skeleton import Skeleton
from linkwright.table_views import Variable, flat, package, variables

FORMAT, VERSION = "linkwright run", 1
KEY = "linkwright"
FAST = 1  # of nine levels of compression: floating-point numbers hardly get smaller beyond
CHOSEN = "chosen by the user"  # what a tree says of cuts it was given
HINT = "runs are saved with run.save('run.npz') or run.save('run.parquet')"


# -------------------------------------------------------------------- writing


def save(c: Any, path: str | os.PathLike[str], channels: Iterable[str] | None) -> Path:
    """Write a trajectory in the format of the file's ending; an older file is replaced, atomically."""
    with files.replacing(path, tuple(WRITERS)) as temporary:
        WRITERS[temporary.suffix.lower()](c, temporary, channels)
    return Path(path)


def _write_csv(c: Any, path: Path, channels: Iterable[str] | None) -> None:
    header, values = c.table(channels)
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerow(header)  # quoted: one of the marks of a table of ours
        writer = csv.writer(stream)
        writer.writerows([[repr(float(x)) for x in row] for row in values])


def _write_npz(c: Any, path: Path, channels: Iterable[str] | None) -> None:
    """As numpy would, with entries of any name and the same bytes for the same run."""
    about, table, extras = _content(c, channels)
    entries = {KEY: np.array(json.dumps(about)), **table, **{v.name: v.values for v in extras}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in entries.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.asarray(values, order="C"), allow_pickle=False)
            archive.writestr(info, stream.getvalue(), zipfile.ZIP_DEFLATED, FAST)


def _write_parquet(c: Any, path: Path, channels: Iterable[str] | None) -> None:
    pa, pq = package("pyarrow"), package("pyarrow.parquet")
    about, table, extras = _content(c, channels)
    columns = {**table, **{x.name: np.ascontiguousarray(x.values) for v in extras for x in flat(v) if x.name not in table}}
    made = pa.table(columns).replace_schema_metadata({KEY: json.dumps(about)})
    pq.write_table(made, path, use_dictionary=False, write_page_checksum=True)


WRITERS: dict[str, Callable[[Any, Path, Iterable[str] | None], None]] = {
    ".csv": _write_csv,
    ".npz": _write_npz,
    ".parquet": _write_parquet,
}


def _content(c: Any, channels: Iterable[str] | None) -> tuple[dict[str, Any], dict[str, np.ndarray], list[Variable]]:
    """(what the JSON says, the columns that are the run, channels that are there to be read)."""
    table: dict[str, np.ndarray] = {"t": c.t}
    layout = _Layout(table)
    recorded = {
        name: {"dimension": x.dimension, "vector": x.values.ndim == 2, "columns": layout.add(x.values, _entries(name, x.values))}
        for name, x in c.columns.items()
    }
    names = {"q": coordinate_names(c.skel, "q_names"), "v": coordinate_names(c.skel, "v_names")}
    where: dict[str, Any] = {
        "columns": recorded,
        "q": layout.add(c.q, names["q"]),
        "v": layout.add(c.v, [f"{n}.v" for n in names["v"]]),
        "a": layout.add(c.a, [f"{n}.a" for n in names["v"]]),
        "near": layout.add(cut_rows(c.skel, c.near), _cut_names(c.skel)),
        "arrays": {name: layout.add(x, _array_names(c.skel, name, x)) for name, x in c.arrays.items()},
    }
    extras = [v for v in variables(c, channels, None) if v.name not in table and v.name != KEY]
    about = {
        "format": FORMAT,
        "version": VERSION,
        "versions": versions(),
        **_mechanism(c),
        "samples": len(c.t),
        "where": where,
        "coordinates": names,
        "units": {v.name: v.unit for v in extras},
        "settings": c.settings,
        "certificate": plain(c.certificate, "certificate"),
        "events": [[e.time, e.name, dict(e.values)] for e in c.events],
        "passages": [plain(x, "passages") for x in c.passages],
        "notes": list(c.notes),
        "full_turn": bool(c.full_turn),
        "drive": c.drive,
        "origin": None if c.origin is None else c.origin.tolist(),
    }
    return {**about, "fingerprint": _fingerprint(about, table)}, table, extras


class _Layout:
    """Columns of a table under names that are still free."""

    def __init__(self, table: dict[str, np.ndarray]):
        self.table = table

    def add(self, values: np.ndarray, names: list[str]) -> list[str]:
        out = []
        for name, x in zip(names, values.reshape(len(values), len(names)).T, strict=True):
            while name in self.table or name == KEY:
                name = f"{name}'"
            self.table[name] = np.ascontiguousarray(x)
            out.append(name)
        return out


def _entries(name: str, values: np.ndarray) -> list[str]:
    return [name] if values.ndim == 1 else [f"{name}[{i}]" for i in range(values.shape[1])]


def _cut_names(skel: Skeleton) -> list[str]:
    return [f"near/{name}/{i}" for name in skel.tree.cuts for i in range(len(skel.start_coordinates[name]))]


def _array_names(skel: Skeleton, name: str, values: np.ndarray) -> list[str]:
    rows = [f"lam.{loop.name}.{label}" for loop in skel.tree.loops for label in loop.labels] if name == "lam" else []
    return [rows[i] if i < len(rows) else f"{name}/{i}" for i in range(values.shape[1])]


def _mechanism(c: Any) -> dict[str, Any]:
    """The model as written where it is known, else its numbers; and how its tree was made."""
    tree = c.skel.tree
    reader = getattr(c.source, "reader", c.source)
    system = getattr(reader, "system", None)
    described = getattr(system, "described", None)
    if not isinstance(described, Description) or described.numbers() != tree.description:
        described = tree.description
    return {
        "model": modelfile.write(described),
        "parameters": {name: value for name, value in tree.description.parameters if isinstance(value, (int, float))},
        "cuts": list(tree.cuts),
        "cuts_given": tree.reason == CHOSEN,
        "length": float(c.frame.kappa),
        "drives": list(getattr(reader, "drives", ())),
    }


def versions() -> dict[str, str]:
    """What a result was made with."""
    own = import_module("linkwright").__version__
    return {"linkwright": own, "numpy": np.__version__, "python": platform.python_version(), "platform": platform.platform()}


def _fingerprint(about: Mapping[str, Any], table: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps({k: x for k, x in about.items() if k != "fingerprint"}, sort_keys=True).encode())
    for name, values in table.items():
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
    return digest.hexdigest()


def identical(one: Any, other: Any) -> bool:
    """Whether two trajectories hold the same bits, words and mechanism."""
    if list(one.columns) != list(other.columns) or list(one.arrays) != list(other.arrays):
        return False
    bits, words = [], []
    for c in (one, other):
        blocks = [c.t, c.q, c.v, c.a, c.counted_from, cut_rows(c.skel, c.near), *(x.values for x in c.columns.values()), *c.arrays.values()]
        bits.append([(x.shape, np.ascontiguousarray(x).tobytes()) for x in blocks])
        proof = [plain(c.certificate), [plain(x) for x in c.passages]]
        told = [c.settings, proof, c.events, list(c.notes), c.full_turn, c.drive, c.skel.tree.cuts]
        words.append(repr([told, [x.dimension for x in c.columns.values()]]))
    return bits[0] == bits[1] and words[0] == words[1] and one.skel.tree.description == other.skel.tree.description


# -------------------------------------------------------------------- reading


@dataclass(frozen=True)
class Stored:
    """A run as it came out of a file: what its JSON says, and its columns."""

    path: Path
    about: Mapping[str, Any]
    table: Mapping[str, np.ndarray]

    @property
    def model(self) -> Description:
        """The mechanism, read from the YAML inside."""
        return modelfile.read_text(self.about["model"], f"model in {self.path.name}")

    def fields(self, skel: Skeleton) -> dict[str, Any]:
        """The arguments of the trajectory, on the skeleton of its model."""
        about, where = self.about, self.about["where"]
        here = {"q": coordinate_names(skel, "q_names"), "v": coordinate_names(skel, "v_names")}
        if here != about["coordinates"] or list(skel.tree.cuts) != about["cuts"]:
            raise LinkwrightError(
                f"'{self.path}' was written on a spanning tree that this version does not make of its model: "
                f"Linkwright {about['versions']['linkwright']} wrote it."
            )
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
            "near": CutReferences(skel, q, self._block(where["near"])),
            "columns": columns,
            "arrays": {name: self._block(x) for name, x in where["arrays"].items()},
            "events": tuple(RunEvent(*x) for x in about["events"]),
            "notes": tuple(about["notes"]),
            "origin": None if about["origin"] is None else np.array(about["origin"], dtype=float),
            **{key: about[key] for key in ("settings", "full_turn", "drive")},
        }

    def _block(self, names: list[str]) -> np.ndarray:
        n = self.about["samples"]
        return np.array([self.table[name] for name in names]).T.reshape(n, len(names)).copy() if names else np.zeros((n, 0))


def read(path: str | os.PathLike[str]) -> Stored:
    """A file written by `save`; what kind it is shows in its first bytes."""
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"a file's path is needed, not {type(path).__name__}.")
    path = Path(path)
    try:
        with files.open_regular(path) as stream:
            first = stream.read(4)
    except files.Unreadable as problem:
        raise UsageError(f"cannot read '{files.shown(path)}': {problem.reason}; {HINT}.") from problem
    if first == b"PAR1":
        text, columns = _open_parquet(path)
    elif first[:2] == b"PK":
        text, columns = _open_npz(path)
    else:
        more = " A .csv holds channels only." if path.suffix.lower() == ".csv" else ""
        raise UsageError(f"'{path}' is not a run: neither .npz nor .parquet by its first bytes.{more} {HINT[0].upper()}{HINT[1:]}.")
    about = _about(path, text)
    try:
        table = columns(["t", *_names(about["where"])])
        whole = all(x.shape == (about["samples"],) for x in table.values()) and _fingerprint(about, table) == about["fingerprint"]
    except (KeyError, TypeError, AttributeError) as lost:
        raise _damaged(path, f"{lost} is missing or of another kind") from lost
    if not whole:
        raise _damaged(path, "its numbers are not those that were written")
    return Stored(path, about, table)


def _names(where: Mapping[str, Any]) -> list[str]:
    """The columns that are the run, in the order they were written."""
    out = [x for block in where["columns"].values() for x in block["columns"]]
    out += [x for key in ("q", "v", "a", "near") for x in where[key]]
    return out + [x for block in where["arrays"].values() for x in block]


def _damaged(path: Path, why: str) -> LinkwrightError:
    text = " ".join("".join(x if x.isprintable() else " " for x in why).split())[:200].rstrip(".")
    return LinkwrightError(f"'{path}' is damaged or was changed by another program: {text}. Take another copy, or simulate again.")


def _foreign(path: Path) -> UsageError:
    return UsageError(f"'{path}' was not written by Linkwright as a run; {HINT}.")


def _about(path: Path, text: str) -> dict[str, Any]:
    try:
        about = json.loads(text)
    except ValueError as problem:
        raise _damaged(path, "its description is not readable") from problem
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise _foreign(path)
    if about.get("version") != VERSION:
        made = about.get("versions", {}).get("linkwright", "?")
        raise UsageError(
            f"'{path}' has format {about.get('version')}, written by Linkwright {made}; this version reads format {VERSION}. "
            "Upgrade Linkwright to open it."
        )
    return about


Columns = Callable[[list[str]], dict[str, np.ndarray]]


BROKEN_ZIP = (OSError, ValueError, EOFError, RuntimeError, NotImplementedError, OverflowError, zipfile.BadZipFile, zlib.error, struct.error)


def _open_npz(path: Path) -> tuple[str, Columns]:
    """Entries are taken out whole, which checks their sums, before anything is made of their bytes."""

    def taken(names: list[str]) -> dict[str, np.ndarray]:
        try:
            with zipfile.ZipFile(path) as archive:
                raw = {name: archive.read(f"{name}.npy") for name in names}
            return {name: np.lib.format.read_array(io.BytesIO(x), allow_pickle=False) for name, x in raw.items()}
        except BROKEN_ZIP as problem:
            raise _damaged(path, str(problem)) from problem

    try:
        text = str(taken([KEY])[KEY])
    except KeyError as missing:
        raise _foreign(path) from missing
    return text, taken


def _open_parquet(path: Path) -> tuple[str, Columns]:
    pa, pq = package("pyarrow"), package("pyarrow.parquet")
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            text = (file.schema_arrow.metadata or {}).get(KEY.encode())
            if text is None:
                raise _foreign(path)
            found = file.read()
    except (OSError, pa.ArrowException) as problem:
        raise _damaged(path, str(problem)) from problem

    def columns(names: list[str]) -> dict[str, np.ndarray]:
        return {name: np.array(found[name].to_numpy(), dtype=float) for name in names}

    return text.decode(errors="replace"), columns
