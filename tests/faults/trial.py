"""Run tests on a copy of the repository with a fault, in widening circles, until one fails."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from tests import ROOT
from tests.faults.nearness import files_of_tests, nearest, of_room
from tests.faults.picking import room_of
from tests.faults.places import Fault
from tests.faults.watch import VARIABLE

WITHOUT = {".git", ".venv", "build", "dist", "out", "__pycache__", ".pytest_cache", ".ruff_cache", ".import_linter_cache"}
# Rooms whose faults might write wrong code under a right key: each of their faults has an empty cache of its own.
CODE = {"compiler", "kernels", "files", "numerics"}
LONG = "slow"
COLLECTION = "while tests are collected"  # in place of a test: none has begun
COLLECTING = 120.0  # seconds, at least, until the first test begins
ATTEMPTS = 6  # tests of one circle that fail without the fault as well or not always, before the circle is given up
_moments = count(1)


@dataclass(frozen=True)
class Verdict:
    """The outcome for one fault: the test that found it, in which circle, after how many seconds; no test: it survived."""

    fault: Fault
    test: str = ""
    circle: str = ""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()  # tests that fail without the fault as well, hangs


@dataclass
class Copy:
    """A copy of the repository, in which faults are made and tests run."""

    folder: Path
    timeout: float
    broken: set[str] = field(default_factory=set)  # tests that fail here without a fault, or not always with one
    passed: int = 0  # tests of all runs

    @classmethod
    @contextlib.contextmanager
    def made(cls, timeout: float) -> Iterator[Copy]:
        """Make a copy in a folder that is removed at the end."""
        with tempfile.TemporaryDirectory(prefix="linkwright-faults-") as name:
            folder = Path(name) / "repository"
            shutil.copytree(ROOT, folder, ignore=_left_out)
            if (ROOT / "build" / "node").is_dir():
                (folder / "build").mkdir()
                (folder / "build" / "node").symlink_to(ROOT / "build" / "node")
            yield cls(folder, timeout)

    @contextlib.contextmanager
    def with_faults(self, faults: Iterable[Fault]) -> Iterator[None]:
        """Make faults, of which no two are in one file, and take them back."""
        before: dict[Path, str] = {}
        for fault in faults:
            path = self.folder / "src" / "linkwright" / fault.path
            assert path not in before, "two faults in one file cannot be made by offsets"
            before[path] = path.read_text(encoding="utf-8")
            _write(path, fault.applied(before[path]))
        try:
            yield
        finally:
            for path, text in before.items():
                _write(path, text)

    def run(self, tests: Sequence[str], cache: Path, *, first: bool = True, marks: str = "") -> list[tuple[str, str]]:
        """Return (reason, test) of tests that fail: "failed", "hangs" or "ends Python"; run those with marks if some are given."""
        if not tests:
            return []
        with tempfile.TemporaryDirectory(prefix="linkwright-faults-run-") as scratch:
            log = Path(scratch) / "log"
            log.touch()
            paths = os.pathsep.join([str(self.folder / "src"), str(self.folder), str(ROOT)])  # the last for the plug-in alone
            own = {"PYTHONPATH": paths, "LINKWRIGHT_CACHE": str(cache), VARIABLE: str(log), "TMPDIR": scratch, "OPENBLAS_NUM_THREADS": "1"}
            command = [sys.executable, "-m", "pytest", *(["-x"] if first else []), "-p", "no:xdist", "-p", "no:cacheprovider"]
            command += ["-p", "tests.faults.watch", "--tb=no", f"--basetemp={scratch}/pytest", *(["-m", marks] if marks else [])]
            command += [*(f"--deselect={name}" for name in self.broken), *tests]
            ended = _ended(command, self.folder, {**os.environ, **own}, log, self.timeout)
            events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        failed = list(dict.fromkeys(("failed", name) for event, name in events if event == "failed"))
        self.passed += len({name for event, name in events if event == "ended"} - {name for _, name in failed})
        done = {name for event, name in events if event != "begun"}
        open_ones = [name for event, name in events if event == "begun" and name not in done]
        if ended is None:
            failed.append(("hangs", open_ones[-1] if open_ones else COLLECTION))
        elif ended < 0 or (ended not in (0, 1, 2, 5) and not failed) or (ended == 2 and not failed):
            failed.append(("ends Python", open_ones[-1] if open_ones else COLLECTION))
        return failed

    def named(self, paths: Iterable[Path]) -> list[str]:
        """Return files of tests as pytest names them."""
        return [p.relative_to(ROOT).as_posix() for p in paths]


def _left_out(folder: str, names: list[str]) -> list[str]:
    return [n for n in names if n == "__pycache__" or (n in WITHOUT and Path(folder) == ROOT)]


def _write(path: Path, text: str) -> None:
    """Write a source with a time of its own: Python's compiled files are valid for a size and a second."""
    path.write_text(text, encoding="utf-8")
    moment = 1_000_000_000 + next(_moments)
    os.utime(path, (moment, moment))


def _ended(command: Sequence[str], folder: Path, environment: dict[str, str], log: Path, timeout: float) -> int | None:
    """Run pytest; None if a single test takes longer than the timeout. All processes it has started end with it."""
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)
    try:
        size, since = -1, time.monotonic()
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(1.0)
            if log.stat().st_size != size:
                size, since = log.stat().st_size, time.monotonic()
            elif time.monotonic() - since > (timeout if size else max(timeout, COLLECTING)):
                return None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def judged(copy: Copy, fault: Fault, cache: Path) -> Verdict:
    """Run the tests near a fault, then those of its room."""
    began, before, notes = time.monotonic(), copy.passed, list[str]()
    near = copy.named(nearest(fault))
    room = [t for t in copy.named(of_room(fault)) if t not in near]
    for circle, tests in (("near", near), ("room", room)):
        found = _found(copy, [fault], tests, cache, notes)
        if found is not None:
            return Verdict(fault, found, circle, time.monotonic() - began, tuple(notes))
    return Verdict(fault, seconds=time.monotonic() - began, notes=(f"{copy.passed - before} tests pass", *notes))


def long_ones(copy: Copy, verdict: Verdict, cache: Path) -> Verdict:
    """Run the near tests that `make test` leaves out: long ones, and those with heavy packages."""
    began, notes = time.monotonic(), list(verdict.notes)
    found = _found(copy, [verdict.fault], copy.named(nearest(verdict.fault)), cache, notes, LONG)
    return verdict if found is None else Verdict(verdict.fault, found, "slow", time.monotonic() - began, tuple(notes))


def _found(copy: Copy, faults: Sequence[Fault], tests: Sequence[str], cache: Path, notes: list[str], marks: str = "") -> str | None:
    """Return the first test that fails with these faults and passes without."""
    for _ in range(ATTEMPTS):
        with _cache_for(faults, cache) as own, copy.with_faults(faults):
            failed = copy.run(tests, own, marks=marks)
        if not failed:
            return None
        reason, name = failed[0]
        if name == COLLECTION:
            if (reason, name) in copy.run(tests[:1], cache, marks=marks):
                raise SystemExit(f"pytest {reason} {name} without a fault as well: no fault can be judged.")
            return f"{reason} {name}"
        if copy.run([name], cache, marks=marks):
            copy.broken.add(name)
            notes.append(f"fails without the fault: {name}")
            continue
        with _cache_for(faults, cache) as own, copy.with_faults(faults):
            if copy.run([name], own, marks=marks):
                return name if reason == "failed" else f"{name} ({reason})"
        copy.broken.add(name)
        notes.append(f"fails now and then: {name}")
    return None


@contextlib.contextmanager
def _cache_for(faults: Sequence[Fault], shared: Path) -> Iterator[Path]:
    """The folder of compiled code: shared, or empty where a fault could write wrong code under a right key."""
    if not any(room_of(f.path) in CODE for f in faults):
        yield shared
        return
    with tempfile.TemporaryDirectory(prefix="linkwright-faults-cache-") as name:
        yield Path(name)


def together(copy: Copy, survivors: Sequence[Verdict], cache: Path) -> list[Verdict]:
    """Make all faults that are left at once and run all tests; run those that fail with each fault alone. Faults of one file take turns."""
    out = {v.fault: v for v in survivors}
    waiting = [v.fault for v in survivors]
    while waiting:
        group: list[Fault] = []
        for fault in waiting:
            if fault.path not in {f.path for f in group}:
                group.append(fault)
        waiting = [f for f in waiting if f not in group]
        tests = copy.named(t.path for t in files_of_tests())
        began = time.monotonic()
        with _cache_for(group, cache) as own, copy.with_faults(group):
            failed = copy.run(tests, own, first=False)
        for reason, name in failed:
            if reason != "failed":  # the run ended there
                note = f"all tests together: {reason} {name if name == COLLECTION else f'in {name}'}; tests after it did not run"
                out |= {f: replace(out[f], notes=(*out[f].notes, note)) for f in group}
            if name == COLLECTION:
                continue
            if copy.run([name], cache):
                copy.broken.add(name)
                continue
            for fault in (f for f in group if not out[f].test):
                with _cache_for([fault], cache) as own, copy.with_faults([fault]):
                    if copy.run([name], own):
                        text = name if reason == "failed" else f"{name} ({reason})"
                        out[fault] = Verdict(fault, text, "all", time.monotonic() - began, out[fault].notes)
    return list(out.values())
