"""Only regular files are read, and only up to a bound: pipes do not block, devices do not fill the memory."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright import files
from linkwright.compiler import cache
from linkwright.rings.studio.page import Page
from tests.files.test_csv_read import MODEL
from tests.refusals import refused


@pytest.fixture(autouse=True)
def no_blocking() -> Iterator[None]:
    """A test that blocks ends with an error instead."""

    def blocked(number: int, frame: Any) -> None:
        raise TimeoutError("reading blocked")

    before = signal.signal(signal.SIGALRM, blocked)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def special(folder: Path, ending: str) -> dict[str, str]:
    """Paths that are no regular files, and what is said of them."""
    os.mkfifo(folder / f"pipe{ending}")
    (folder / f"zero{ending}").symlink_to("/dev/zero")
    (folder / f"folder{ending}").mkdir()
    (folder / f"loop{ending}").symlink_to(folder / f"loop{ending}")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(folder / f"socket{ending}"))
    found = {
        "pipe": "named pipe",
        "zero": "device",
        "folder": "folder",
        "loop": "loop",
        "socket": "socket",
        "absent": "no such file",
        "nu\0l": "NUL character",
    }
    return {f"{name}{ending}": why for name, why in found.items()}


def model(folder: Path, name: str) -> Any:
    return lw.load(str(folder / name))


def mesh(folder: Path, name: str) -> Any:
    solid = {"points": {"A": [0, 0, 0]}, "mesh": {"file": str(folder / name), "density": 1}}
    joints = {"A": {"type": "revolute", "between": ["ground", "b"], "at": "A", "axis": [0, 0, 1]}}
    return lw.load({"bodies": {"ground": {"points": {"A": [0, 0, 0]}}, "b": solid}, "joints": joints})


def load_table(folder: Path, name: str) -> Any:
    (folder / "m.yaml").write_text(MODEL.format(file=name.replace("\0", "\\0")))
    return lw.load(folder / "m.yaml")


def reference(folder: Path, name: str) -> Any:
    five = lw.load("wiper").system
    return five.simulate(five.start, 0.01, control=lw.control.pd({"A": lw.control.from_csv(folder / name)}, P=1, D=1))


def run(folder: Path, name: str) -> Any:
    return lw.load_result(folder / name)


def picture(folder: Path, name: str) -> Any:
    return Page("x").picture(folder / name)


READERS: dict[str, tuple[Callable[[Path, str], Any], str]] = {
    "model": (model, ".yaml"),
    "mesh": (mesh, ".stl"),
    "load table": (load_table, ".csv"),
    "reference": (reference, ".csv"),
    "npz": (run, ".npz"),
    "parquet": (run, ".parquet"),
    "picture": (picture, ".png"),
}


@pytest.mark.parametrize("kind", READERS)
def test_every_reader_of_files_takes_regular_files_only(kind: str, tmp_path: Path) -> None:
    read, ending = READERS[kind]
    for name, why in special(tmp_path, ending).items():
        with pytest.raises(lw.LinkwrightError, match=why) as caught:
            read(tmp_path, name)
        assert len(str(caught.value)) < 600 and "\0" not in str(caught.value)


def test_the_bound_holds_for_what_is_read_and_not_for_what_is_promised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "grows"
    path.write_bytes(bytes(1000))
    assert len(files.read_regular(path, 1000)) == 1000
    honest = os.fstat
    monkeypatch.setattr(os, "fstat", lambda fd: os.stat_result([*honest(fd)[:6], 0, *honest(fd)[7:10]]))  # as /proc says: 0 bytes
    with refused(files.Unreadable, file="grows"):
        files.read_regular(path, 999)
    with pytest.raises(files.Unreadable, match="MB"):
        files.read_regular("/proc/self/maps", 10)


@pytest.mark.parametrize("path", ["/proc/self/mem", "/proc/self/clear_refs"])
def test_regular_files_that_cannot_be_read(path: str) -> None:
    for read in (lw.load, lw.load_result):
        with pytest.raises(lw.LinkwrightError, match=r"cannot (be )?read.*(Input/output error|Invalid argument)"):
            read(Path(path))


def test_devices_are_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening some has effects: a tape rewinds."""
    opened: list[Any] = []
    monkeypatch.setattr(os, "open", lambda path, *more: opened.append(path))
    with pytest.raises(files.Unreadable, match="device"):
        files.open_regular("/dev/null")
    assert not opened


def test_a_file_that_is_replaced_by_a_pipe_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("name: x\n")
    regular = os.stat(path)
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(os, "stat", lambda *given, **more: regular)
    with refused(files.Unreadable, file="a.yaml"):
        files.read_regular(path, 100)


def test_cache_entries_that_are_no_files_count_as_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWRIGHT_CACHE", str(tmp_path))
    name = cache.key("x")
    cache.put(name, {"a": 1}, b"code")
    assert cache.get(name) == ({"a": 1}, b"code")
    entry = tmp_path / "objects" / f"{name}.lwo"
    for make in (lambda: os.mkfifo(entry), lambda: entry.symlink_to("/dev/zero"), entry.mkdir):
        entry.unlink()
        make()
        assert cache.get(name) is None
