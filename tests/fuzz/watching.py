"""The process that watches a worker: it stops one that hangs or takes all memory, says at which input, and starts another after it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HANGING = 90.0  # s of processor time at one input: native code that no limit of Python stops
STUCK = 600.0  # s by the clock: it waits for something
MOST_MEMORY = 3e9  # bytes
LOOK = 0.5  # s
MOST_STOPPED = 10


WORKER = (sys.executable, "-m", "tests.fuzz")


def watch(arguments: list[str], seconds: float, first: int, program: tuple[str, ...] = WORKER) -> tuple[list[dict[str, Any]], list[str]]:
    """Run workers until the processor time is used up; return their figures and what was stopped."""
    tallies, stopped, left = [], [], seconds
    with tempfile.TemporaryDirectory(prefix="fuzz-status-") as place:
        status = Path(place) / "status.json"
        while left > 0.0 and len(stopped) < MOST_STOPPED:
            status.unlink(missing_ok=True)  # that of the worker before
            command = [*program, *arguments, "--worker", str(status), "--seconds", f"{left:g}", "--first", str(first)]
            with subprocess.Popen(command) as worker:
                why = _watched(worker, status)
            last = _read(status)
            tallies.append(last["tally"])
            if not why and worker.returncode == 0:
                break
            n = max(int(last["input"]), first)  # -1: it ended before its first input
            stopped.append(f"input {n}: {why or f'the worker ended with {worker.returncode}'}")
            print(f"==== {stopped[-1]}", flush=True)
            left -= float(last["tally"]["seconds"])
            first = n + 1
    return tallies, stopped


def _watched(worker: subprocess.Popen[bytes], status: Path) -> str:
    """Wait for the worker; "" if it ends by itself, else why it was stopped."""
    n, began, used = -1, time.monotonic(), 0.0
    while worker.poll() is None:
        time.sleep(LOOK)
        here = int(_read(status)["input"])
        now, memory = _figures(worker.pid)
        if here != n:
            n, began, used = here, time.monotonic(), now
        why = (
            f"hangs, {now - used:.0f} s of processor time"
            if now - used > HANGING
            else f"waits for {STUCK:g} s"
            if time.monotonic() - began > STUCK
            else f"takes {memory / 1e6:.0f} MB"
            if memory > MOST_MEMORY
            else ""
        )
        if why:
            worker.send_signal(signal.SIGABRT)  # faulthandler prints where it is
            time.sleep(1.0)
            worker.kill()
            return why
    return ""


def _read(status: Path) -> dict[str, Any]:
    try:
        return json.loads(status.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {"input": -1, "tally": {"seconds": 0.0}}


def _figures(pid: int) -> tuple[float, float]:
    """Processor time, s, and memory, bytes; zeros where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0, 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
