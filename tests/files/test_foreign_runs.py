"""Files of runs that somebody else wrote: opened as what they are, or refused with a reason; nothing is run, no other file is read.

The fingerprint is no secret, so every forgery here carries the right one.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import resource
import struct
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.model import file as modelfile
from linkwright.results import files as run_files
from linkwright.results.files import size_limits, writing
from linkwright.results.files.table_content import fingerprint
from linkwright.system import load
from tests.refusals import refused
from tests.sweeps import sweep

MODEL = {
    "plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0], "B": [0.1, 0.1], "C": [0.5, 0.3], "D": [0.6, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"], "mass": 1}, "coupler": {"pins": ["B", "C"], "mass": 2},
        "rocker": {"pins": ["C", "D"], "mass": 1},
    },
    "drive": {"A": "2 rad/s"},
}  # fmt: skip


@cache
def honest() -> Any:
    return lw.load(MODEL).simulate(0.1, sample_interval=0.02)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    path = honest().save(tmp_path_factory.mktemp("run") / "run.npz")
    with np.load(path) as found:
        about = json.loads(str(found["linkwright"]))
        return about, {n: found[n] for n in ["t", *run_files.schema.columns(about)]}  # without channels for other programs


def forged(folder: Path, about: Any, table: dict[str, Any], raw: dict[str, bytes] | None = None, parquet: bool = False) -> Path:
    """A file with that content, and the fingerprint that belongs to it where one can be computed."""
    if isinstance(about, dict) and "fingerprint" in about:
        try:
            columns = ["t", *run_files.schema.columns(about)]
            about = {**about, "fingerprint": fingerprint(about, {n: table[n] for n in columns})}
        except Exception:
            about = {**about, "fingerprint": "0" * 64}
    if parquet:
        import pyarrow as pa
        import pyarrow.parquet as pq

        made = pa.table(table).replace_schema_metadata({"linkwright": json.dumps(about)})
        pq.write_table(made, folder / "forged.parquet")
        return folder / "forged.parquet"
    path = folder / "forged.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, x in {"linkwright": np.array(json.dumps(about)), **table}.items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.asarray(x), allow_pickle=True)
            archive.writestr(f"{name}.npy", (raw or {}).get(name, stream.getvalue()))
    return path


def places(x: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every key of the JSON, at every depth; of lists the first entry."""
    if path:
        yield path
    inside = x.items() if isinstance(x, dict) else list(enumerate(x))[:1] if isinstance(x, list) else ()
    for key, entry in inside:
        yield from places(entry, (*path, key))


def put(about: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    out = copy.deepcopy(about)
    at: Any = out
    for key in path[:-1]:
        at = at[key]
    if value is MISSING:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return out


MISSING = object()
VALUES = {
    "missing": MISSING,
    "none": None,
    "text": "forged",
    "empty": "",
    "number": 3.5,
    "whole": 7,
    "negative": -1,
    "true": True,
    "nan": float("nan"),
    "infinite": float("inf"),
    "huge": 10**30,
    "list": [],
    "lists": [["x", 1], None],
    "mapping": {},
    "deep": {"a": {"b": [{}]}},
    "long": "x" * 300_000,
    "control": "\x1b[2J\x00",
}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same model again and again: read and built once."""
    made: dict[str, Any] = {}
    read, build = modelfile.read_enclosed, load.System

    def once(kind: str, make: Callable[..., Any]) -> Callable[..., Any]:
        def get(*given: Any, **options: Any) -> Any:
            key = f"{kind} {given}"
            made[key] = made[key] if key in made else make(*given, **options)
            return made[key]

        return get

    monkeypatch.setattr(modelfile, "read_enclosed", once("model", read))
    monkeypatch.setattr(load, "System", once("system", build))


OWN = ("certificate", "passages", "notes", "events", "settings", "full_turn", "drive", "model", "where", "origin")


def check_forged(path: tuple[Any, ...], value: Any, original: Any, folder: Path, parquet: bool) -> bool:
    """Whether that value at that place is refused. What opens has all its numbers, prints, and is the same run or differs only in
    what the file may say of itself."""
    about, table = original
    where = ".".join(map(str, path))
    try:
        run = lw.load_result(forged(folder, put(about, path, value), table, parquet=parquet))
    except lw.LinkwrightError as error:
        assert len(str(error)) < 1000 and str(error).isprintable(), where
        return True
    assert run.q.tobytes() == honest().q.tobytes() and repr(run) and run.channels, where
    assert run.identical(honest()) or path[0] in OWN, where
    assert run.proof is None or str(run.checks()), where
    return False


@pytest.mark.slow
@pytest.mark.parametrize("parquet", [False, True])
def test_every_field_forged_is_refused_or_is_said_by_the_file_alone(parquet: bool, original: Any, tmp_path: Path, quick: None) -> None:
    every = list(VALUES.values())
    chosen = [(path, every[(5 + parquet) * i % len(every)]) for i, path in enumerate(places(original[0]))]
    found = [check_forged(path, value, original, tmp_path, parquet) for path, value in chosen]
    assert len(found) > 100 and sum(found) > 0.6 * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("value", VALUES)
def test_every_field_with_every_value(value: str, original: Any, tmp_path: Path, quick: None) -> None:
    found = [check_forged(path, VALUES[value], original, tmp_path, i % 2 == 0) for i, path in enumerate(places(original[0]))]
    assert sum(found) > 60


def test_columns_forged_one_by_one(original: Any, tmp_path: Path) -> None:
    about, table = original
    names = ["t", *run_files.schema.columns(about)]
    n = about["samples"]
    bad: dict[str, Callable[[np.ndarray], Any]] = {
        "nan": lambda x: np.where(np.arange(n) == 2, np.nan, x),
        "infinite": lambda x: np.where(np.arange(n) == 2, np.inf, x),
        "longer": lambda x: np.append(x, 0.0),
        "shorter": lambda x: x[:-1],
        "scalar": lambda x: np.array(1.0),
        "square": lambda x: x.reshape(1, -1),
        "whole": lambda x: np.zeros(n, dtype=int),
        "single": lambda x: x.astype(np.float32),
        "texts": lambda x: np.array(["x"] * n),
        "objects": lambda x: np.array([1.0, "x", *[None] * (n - 2)], dtype=object),
        "structure": lambda x: np.zeros(n, dtype=[("a", "f8")]),
        "complex": lambda x: x.astype(complex),
    }
    for name in names[::3]:
        for kind, change in bad.items():
            with pytest.raises(lw.LinkwrightError, match="damaged or was changed") as caught:
                lw.load_result(forged(tmp_path, about, {**table, name: change(table[name])}))
            assert len(str(caught.value)) < 400, (name, kind)
        with refused(lw.LinkwrightError, file="forged.npz"):
            lw.load_result(forged(tmp_path, about, {k: x for k, x in table.items() if k != name}))


def test_object_arrays_run_nothing(original: Any, tmp_path: Path) -> None:
    """Of pickles in a file not a byte is looked at: unpickling this one would make a file."""
    witness = tmp_path / "witness"
    about, table = original

    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(witness),)

    for name in ("A", "linkwright"):
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.array([Evil()], dtype=object), allow_pickle=True)
        with refused(lw.LinkwrightError, file="forged.npz"):
            lw.load_result(forged(tmp_path, about, table, {name: stream.getvalue()}))
    assert not witness.exists()


def test_object_arrays_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        writing._write_zip(tmp_path / "a.npz", {"x": np.array([object()])}, zipfile.ZIP_STORED)


@pytest.mark.parametrize("what", ["mesh", "csv"])
def test_the_model_inside_names_no_files(what: str, original: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about, table = original
    os.mkfifo(tmp_path / "pipe")  # reading it would block
    monkeypatch.chdir(tmp_path)
    inside = {
        "mesh": "bodies: {ground: {points: {A: [0, 0, 0]}}, b: {points: {A: [0, 0, 0]}, mesh: {file: pipe, density: 1}}}\n",
        "csv": about["model"] + "loads: {x: {on: crank.B, force: [0, {over: t, csv: /etc/passwd}]}}\n",
    }[what]
    with pytest.raises(lw.LinkwrightError, match="a model inside another file cannot name files"):
        lw.load_result(forged(tmp_path, {**about, "model": inside}, table))


def test_models_with_files_are_saved_without_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f.csv").write_text("0;0\n1;5,5\n")
    model = {**MODEL, "loads": {"x": {"on": "crank.B", "force": [0, {"over": "t", "csv": str(tmp_path / "f.csv")}]}}}
    run = lw.load(model).simulate(0.02, sample_interval=0.01)
    path = run.save(tmp_path / "run.npz")
    (tmp_path / "f.csv").unlink()
    assert lw.load_result(path).identical(run)


def test_a_small_file_does_not_fill_the_memory(original: Any, tmp_path: Path) -> None:
    """3 GB of zeros in 3 MB: refused before anything is unpacked, be it declared or not."""
    about, table = original
    zeros = bytes(64_000_000)
    bomb = tmp_path / "bomb.npz"
    n = 400_000_000
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.array(json.dumps({**about, "samples": n})))
        archive.writestr("linkwright.npy", stream.getvalue())
        with archive.open("t.npy", "w", force_zip64=True) as entry:
            np.lib.format.write_array_header_1_0(entry, {"descr": "<f8", "fortran_order": False, "shape": (n,)})
            for _ in range(3):
                entry.write(zeros)
    hidden = forged(tmp_path, about, table, {"t": zeros})
    with room(300_000_000):
        with refused(lw.LinkwrightError, file="bomb.npz"):
            lw.load_result(bomb)
        with refused(lw.LinkwrightError, file="forged.npz"):
            lw.load_result(hidden)


@contextlib.contextmanager
def room(size: int) -> Iterator[None]:
    """At most that many bytes more than now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@sweep(
    ("method", "size", "why"),
    [(zipfile.ZIP_BZIP2, 1_000_000, "stored or deflated"), (zipfile.ZIP_DEFLATED, 200_000_000, "Bad CRC-32")],
    now=1,
)
def test_an_entry_that_is_longer_than_it_declares(method: int, size: int, why: str, original: Any, tmp_path: Path) -> None:
    """Zeros behind a declared size of 200 bytes: the rest is not unpacked."""
    about, table = original
    path = forged(tmp_path, about, {n: x for n, x in table.items() if n != "t"})
    with zipfile.ZipFile(path, "a", method) as archive, archive.open("t.npy", "w") as entry:
        for _ in range(size // 1_000_000):
            entry.write(bytes(1_000_000))
    data = bytearray(path.read_bytes())
    place = data.rfind(b"PK\x01\x02", 0, data.rfind(b"t.npy"))  # of the central directory
    struct.pack_into("<I", data, place + 24, 200)
    path.write_bytes(data)
    with room(100_000_000), pytest.raises(lw.LinkwrightError, match=why):
        lw.load_result(path)


def test_a_run_at_rest_opens_again_although_it_shrinks_like_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limits, "ALWAYS", 1000)
    monkeypatch.setattr(size_limits, "RATIO", 2)
    still = lw.load({**MODEL, "gravity": 0}).simulate(0.1, drive={}, sample_interval=5e-4)
    assert lw.load_result(still.save(tmp_path / "still.npz")).identical(still)


def test_forged_parquet_files(original: Any, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    about, table = original
    path = tmp_path / "a.parquet"
    columns = {n: table[n] for n in ["t", *run_files.schema.columns(about)]}

    def opened(about: Any, columns: Any) -> Any:
        with contextlib.suppress(ValueError, TypeError):
            about = {**about, "fingerprint": fingerprint(about, columns)}
        pq.write_table(pa.table(columns).replace_schema_metadata({"linkwright": json.dumps(about)}), path)
        return lw.load_result(path)

    assert opened(about, columns).identical(honest())
    for name, wrong in {
        "texts": ["x"] * about["samples"],
        "whole": list(range(about["samples"])),
        "nan": [float("nan")] * about["samples"],
        "null": [None] * about["samples"],
        "lists": [[1.0]] * about["samples"],
    }.items():
        with pytest.raises(lw.LinkwrightError, match="damaged or was changed"):
            opened(about, {**columns, "A": wrong})
        assert name
    with refused(lw.LinkwrightError, file="a.parquet"):
        opened({**about, "samples": 3}, columns)
    n = 300_000_000 // 8
    tiny = pa.table({x: np.zeros(1) for x in columns})
    pq.write_table(tiny.replace_schema_metadata({"linkwright": json.dumps({**about, "samples": n})}), path)
    with refused(lw.LinkwrightError, file="a.parquet"):
        lw.load_result(path)


def test_parquet_files_that_hold_more_than_their_footer_says(original: Any, tmp_path: Path) -> None:
    """Rows that only the row groups know of, pages that unpack a thousandfold, a footer of 2 GB."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    about, table = original
    path = tmp_path / "a.parquet"
    columns = {n: table[n] for n in ["t", *run_files.schema.columns(about)]}
    made = pa.table(columns).replace_schema_metadata({"linkwright": json.dumps({**about, "fingerprint": fingerprint(about, columns)})})
    for codec in ("zstd", "gzip"):
        pq.write_table(made, path, compression=codec)
        with refused(lw.LinkwrightError, file="a.parquet"):
            lw.load_result(path)
    pq.write_table(pa.concat_tables([made] * 5), path, row_group_size=6, write_statistics=False)
    data = path.read_bytes()
    (length,) = struct.unpack("<I", data[-8:-4])
    body, footer = data[: -8 - length], data[-8 - length : -8]
    assert footer.count(bytes([2 * 30])) >= 1  # the file's number of rows, as Thrift writes it
    at = next(i for i in range(length) if footer[i] == 60 and _rows(path, body, footer[:i] + bytes([12]) + footer[i + 1 :]) == 6)
    path.write_bytes(_parquet(body, footer[:at] + bytes([12]) + footer[at + 1 :]))
    with refused(lw.LinkwrightError, file="a.parquet"):
        lw.load_result(path)
    path.write_bytes(b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1")
    with refused(lw.LinkwrightError, file="a.parquet"):
        lw.load_result(path)


def _parquet(body: bytes, footer: bytes) -> bytes:
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"


def _rows(path: Path, body: bytes, footer: bytes) -> int:
    """What pyarrow takes for the number of rows; -1 if it cannot read the footer."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.write_bytes(_parquet(body, footer))
    try:
        return pq.read_metadata(path).num_rows
    except (pa.ArrowException, OSError):
        return -1


def test_texts_of_a_file_add_no_lines_to_its_verdict(original: Any, tmp_path: Path) -> None:
    about, table = original
    false = "done.\n  from file      all computed again \x1b[2J"
    told = {**about["certificate"], "message": false, "notes": [false], "branch_end": "\x9b1m"}
    text = str(lw.load_result(forged(tmp_path, {**about, "certificate": told}, table)).checks())
    assert text.count("\n  from file") == 1 and text.count("\\n  from file") == 2
    assert not [c for c in text if not c.isprintable() and c != "\n"]


def test_a_run_whose_numbers_contradict_its_certificate_is_not_trustworthy(original: Any, tmp_path: Path) -> None:
    about, table = original
    true = lw.load_result(forged(tmp_path, about, table))
    assert true.identical(honest()) and true.checks().ok and "computed again at 6 samples: loops, energy" in str(true.checks())
    where = about["where"]
    opens = lw.load_result(forged(tmp_path, about, {**table, where["q"][1]: table[where["q"][1]] + 1e-4}))
    assert not opens.checks().ok and not opens.certificate.ok and opens.certificate.position_residual > 1e-5
    assert "contradicts itself" in str(opens.checks())
    slides = lw.load_result(forged(tmp_path, about, {**table, where["v"][1]: table[where["v"][1]] + 1e-3}))
    assert not slides.checks().ok and slides.certificate.velocity_residual > 1e-5
    work = lw.load_result(forged(tmp_path, about, {**table, "work.in": 2.0 * table["work.in"]}))
    assert not work.checks().ok and work.certificate.energy_imbalance > 0.5 * abs(table["work.in"]).max()
    assert all(lw.load_result(p).checks().ok for p in [honest().save(tmp_path / "again.npz")])


def test_a_run_that_could_not_be_opened_is_not_written(tmp_path: Path) -> None:
    from dataclasses import replace

    run = honest()
    q = run.q.copy()
    q[1, 0] = np.nan
    with refused(lw.UsageError, name="run"):
        replace(run, q=q).save(tmp_path / "a.npz")
    assert not os.listdir(tmp_path)
    with refused(lw.UsageError, name="run"):
        replace(run, notes=("x" * 4_999_000,) * 5).save(tmp_path / "a.npz")
    assert not os.listdir(tmp_path)
    lam = run.arrays["lam"].copy()
    lam[1, 0] = np.nan  # multipliers at a singular position
    odd = replace(run, arrays={**run.arrays, "lam": lam})
    assert lw.load_result(odd.save(tmp_path / "a.npz")).identical(odd)
