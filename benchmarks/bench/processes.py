"""Waiting times of a user: importing, the first result of a new mechanism, and the same in a second process.

Every figure is a process of its own, started as a user would start it, with a cache directory that is empty the first time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.bench.cases import BenchRow

ENGINE = "linkwright"
# names are loaded when first used, so there are two figures: the bare import, and the import with what everybody uses
IMPORTS = {
    "import numpy": "import numpy",
    "import linkwright": "import linkwright",
    "import, with load and compile": "import linkwright as lw; lw.load; lw.compile",
}
FIRST = """
import sys, time
import linkwright as lw
lw.load, lw.compile
start = time.perf_counter()
s = lw.compile(lw.load(sys.argv[1]))
st = s.start
s.kernel("forward")(st.q, st.v, [0.0] * len(st.v))
print(time.perf_counter() - start)
"""
TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
COMMANDS = {  # what a user types, with code in the cache but for the first simulation on a machine
    "--version": ["--version"],
    "info": ["info", "wiper"],
    "page": ["wiper", "-o", "{place}/page.html"],
    "report": ["report", "wiper", "-o", "{place}/report.html"],
}
SIMULATED = "import linkwright as lw; lw.load('wiper').simulate(1.0)"
LONGEST = 600.0
FAILURES = (RuntimeError, OSError, subprocess.TimeoutExpired)


def answer(code: str, arguments: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> list[float]:
    """The numbers a fresh Python prints."""
    there = {**os.environ, "PYTHONPATH": _own_path(), **(environment or {})}
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=there, capture_output=True, text=True, timeout=LONGEST)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return [float(x) for x in done.stdout.split()]


def _own_path() -> str:
    """This package first, so that the process measures the same code."""
    here = str(Path(__file__).resolve().parents[2] / "src")
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH", "")])])


def import_rows(repeats: int = 5) -> list[BenchRow]:
    """Imports in processes of their own, best of some (the first warms the disk)."""
    out = []
    for name, statement in IMPORTS.items():
        try:
            best = min(answer(TIMED.format(statement))[0] for _ in range(repeats))
            out.append(BenchRow(name, "", "-", "import", ns=1e9 * best))
        except FAILURES as problem:
            out.append(BenchRow(name, "", "-", "import", note=f"not measured: {problem}"))
    return out


def first_use_rows(mechanism: str, repeats: int = 2) -> list[BenchRow]:
    """Loading, tracing, compiling and the first result in a new process; then again with a warm cache. Import not counted."""

    cold, warm = [], []
    try:
        for _ in range(repeats):
            with tempfile.TemporaryDirectory(prefix="linkwright-cache-") as place:
                cold.append(answer(FIRST, [mechanism], {"LINKWRIGHT_CACHE": place})[0])
                warm.append(answer(FIRST, [mechanism], {"LINKWRIGHT_CACHE": place})[0])
    except FAILURES as problem:
        return [BenchRow(ENGINE, "", mechanism, q, note=f"not measured: {problem}") for q in ("first use", "second process")]
    first = BenchRow(ENGINE, "", mechanism, "first use", ns=1e9 * min(cold), note="load, compile and first result; import not counted")
    return [first, BenchRow(ENGINE, "", mechanism, "second process", ns=1e9 * min(warm), note="the same with a warm cache")]


def command_rows(repeats: int = 3) -> list[BenchRow]:
    """Commands and the first simulation on a machine, each in processes of its own, from start to end."""
    out = []
    for name, arguments in COMMANDS.items():
        with tempfile.TemporaryDirectory(prefix="linkwright-cache-") as place:
            line = ["-m", "linkwright", *(w.format(place=place) for w in arguments)]
            out.append(_process_row(name, [_lasting(line, place) for _ in range(repeats + 1)], "from start to end, code in the cache"))
    first = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="linkwright-cache-") as place:
            first.append(_lasting(["-c", SIMULATED], place))
    return [*out, _process_row("first simulate", first, "from start to end, 1 s of the wiper, nothing in the cache")]


def _process_row(name: str, seconds: Sequence[float], note: str) -> BenchRow:
    return BenchRow(ENGINE, "", "wiper", f"process {name}", ns=1e9 * min(seconds), note=note)


def _lasting(line: Sequence[str], cache: str) -> float:
    """Seconds of a Python process with these arguments."""
    there = {**os.environ, "PYTHONPATH": _own_path(), "LINKWRIGHT_CACHE": cache}
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *line], env=there, capture_output=True, text=True, timeout=LONGEST)
    took = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return took
