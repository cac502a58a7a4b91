"""One writer for every file: complete or not there, whatever happens on the way."""

from __future__ import annotations

import errno
import os
import resource
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright import files
from linkwright.files import writing
from linkwright.rings.studio import plots
from linkwright.rings.studio.page import Page
from tests.refusals import refused
from tests.sweeps import sweep

OLD = "an older file\n"


@contextmanager
def full_disk(size: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file may become larger than `size` bytes: writing fails in the middle, as it does when a disk is full."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # modules imported meanwhile shall not suffer
    monkeypatch.setenv("LINKWRIGHT_CACHE", "off")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def writers() -> dict[str, Callable[[Path], Any]]:
    m = lw.load("wiper")
    c = m.cycle(steps=8)
    return {
        "m.yaml": lambda path: m.save(path, normalized=True, force=True),
        "c.npz": c.save,
        "c.parquet": c.save,
        "c.csv": c.save,
        "c.xlsx": c.save,
        "m.html": m.show,
        "p.html": Page("title").text("x" * 9000).save,
        "p.png": lambda path: plots.plot(c, "A", path, size=(3, 2)),
        "p.svg": lambda path: plots.plot(c, "A", path, size=(3, 2)),
        "p.pdf": lambda path: plots.plot(c, "A", path, size=(3, 2)),
        "a.gif": lambda path: m.animate(path, width=100, seconds=0.2, fps=10),
    }


WRITERS = ("m.yaml", "c.npz", "c.parquet", "c.csv", "c.xlsx", "m.html", "p.html", "p.png", "p.svg", "p.pdf", "a.gif")


@pytest.fixture(scope="module")
def each() -> dict[str, Callable[[Path], Any]]:
    found = writers()
    assert tuple(found) == WRITERS
    return found


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_that_fails_leaves_the_older_file_whole(name: str, each: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / name
    path.write_text(OLD)
    with full_disk(1000, monkeypatch), pytest.raises(lw.LinkwrightError, match="cannot write"):
        each[name](path)
    assert path.read_text() == OLD and os.listdir(tmp_path) == [name]


@sweep("name", WRITERS, later=["m.html"])
def test_every_writer_replaces_its_own_file_and_recognizes_it(name: str, each: Any, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(OLD)
    assert not files.made_by_linkwright(path)
    for _ in range(2):
        assert Path(each[name](path)) == path
        assert files.made_by_linkwright(path)
    assert os.listdir(tmp_path) == [name]


def test_it_is_on_the_disk_before_it_takes_the_place_of_the_older_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file"), sync(fd)))
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append("rename"), replace(a, b)))
    files.write_text(tmp_path / "a.csv", (".csv",), "x")
    assert done == ["file", "rename", "folder"]


def test_temporary_names_cannot_be_guessed_and_follow_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.csv"
    with files.replacing(target, (".csv",)) as one, files.replacing(target, (".csv",)) as two:
        assert one != two and one.parent == tmp_path and one.suffix == ".csv"
        one.write_text("1"), two.write_text("2")
    assert os.listdir(tmp_path) == ["a.csv"]
    monkeypatch.setattr(os, "urandom", lambda n: bytes(n))
    victim = tmp_path / "victim"
    victim.write_text(OLD)
    planted = tmp_path / f".a.{writing._host()}-{os.getpid()}-{'0' * 16}.part.csv"
    for plant in (planted.symlink_to, planted.hardlink_to):
        plant(victim)
        with refused(lw.LinkwrightError, file="a.csv"):
            files.write_text(target, (".csv",), "x")
        assert victim.read_text() == OLD and target.read_text() == "1"
        planted.unlink()


def test_what_a_killed_process_leaves_is_removed_by_the_next_writer(tmp_path: Path) -> None:
    killed = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom linkwright import files\n"
        "with files.replacing(Path(sys.argv[1]), ('.csv',)) as part:\n"
        "    part.write_text('half')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "a.csv"
    path.write_text(OLD)
    assert subprocess.run([sys.executable, "-c", killed, str(path)], timeout=60).returncode == -9
    left = [p for p in tmp_path.iterdir() if p != path]
    assert len(left) == 1 and path.read_text() == OLD
    # of a process that runs, and of another machine until a day has passed
    host = writing._host()
    running = tmp_path / f".b.{host}-{os.getppid()}-{'1' * 16}.part.csv"
    elsewhere = tmp_path / f".b.{'f' * 8}-999999999-{'2' * 16}.part.csv"
    for p in (running, elsewhere):
        p.write_text("busy")
    files.write_text(tmp_path / "other.csv", (".csv",), "x")
    assert not left[0].exists() and running.exists() and elsewhere.exists()
    os.utime(elsewhere, (time.time() - 90000, time.time() - 90000))
    files.write_text(path, (".csv",), "new")
    assert sorted(os.listdir(tmp_path)) == sorted([running.name, "a.csv", "other.csv"]) and path.read_text() == "new"


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text(OLD)
    real.chmod(0o640)
    link.symlink_to(real)
    files.write_text(link, (".csv",), "new")
    assert link.is_symlink() and real.read_text() == "new" and stat.S_IMODE(real.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        files.write_text(tmp_path / "fresh.csv", (".csv",), "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "fresh.csv").stat().st_mode) == 0o640


def test_names_that_cannot_be_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    for path, why in (
        (tmp_path / "pipe.csv", "pipe or device"),
        (tmp_path / "folder.csv", "is a folder"),
        (tmp_path / "file" / "a.csv", "does not exist"),
        (tmp_path / "none" / "a.csv", "does not exist"),
        (tmp_path / "a.txt", r"unsupported file type '.txt'. Use .csv"),
        (tmp_path / "a", "no file type"),
        (tmp_path / f"{'x' * 300}.csv", "too long"),
        (tmp_path / "loop.csv", "cannot write"),
        ("a\0b.csv", r"'a\\x00b.csv': the path holds a NUL"),
        (b"a.csv", "path is needed"),
        (3, "path is needed"),
    ):
        with pytest.raises(lw.UsageError, match=why):
            files.checked(path, (".csv",))
    files.write_text(tmp_path / f"{'é' * 120}.csv", (".csv",), "a name of 244 bytes leaves room for that of the temporary file")


def test_failures_of_the_system_are_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(a: Any, b: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "replace", denied)  # as Windows does while a spreadsheet has the file open
    with refused(lw.LinkwrightError, file="a.csv"):
        files.write_text(tmp_path / "a.csv", (".csv",), "x")
    assert not os.listdir(tmp_path)
