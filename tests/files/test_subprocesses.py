"""Programs that are run: they end with the process that started them, however that ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linkwright.files import subprocesses

LASTS = "sleep 60 & echo $! > grandchild; wait"  # as a compiler that has started another program


def alive(number: int) -> bool:
    """True for a process that is there; one that has ended and is not waited for yet is not."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True)
    return done.stdout.strip()[:1] not in ("", "Z")


def grandchild(folder: Path) -> int:
    for _ in range(500):
        text = (folder / "grandchild").read_text() if (folder / "grandchild").exists() else ""
        if text.endswith("\n"):
            return int(text)
        time.sleep(0.01)
    raise AssertionError("the program did not start")


def gone(number: int) -> bool:
    for _ in range(500):
        if not alive(number):
            return True
        time.sleep(0.01)
    return False


def test_what_a_killed_process_started_ends_with_it(tmp_path: Path) -> None:
    """SIGKILL leaves no time to tidy up: without the pipe a compiler of gigabytes went on."""
    code = f"from linkwright.files import subprocesses; subprocesses.run(['sh', '-c', {LASTS!r}], 60.0)"
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path) as parent:
        number = grandchild(tmp_path)
        assert alive(number)
        parent.send_signal(signal.SIGKILL)
    assert gone(number)


def test_a_program_that_takes_too_long_ends_with_what_it_started(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        subprocesses.run(["sh", "-c", LASTS], 0.3, cwd=tmp_path)
    assert gone(grandchild(tmp_path))


def test_codes_and_texts_come_back() -> None:
    done = subprocesses.run(["sh", "-c", "echo out; echo err >&2; exit 3"], 10.0)
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
    with pytest.raises(FileNotFoundError, match="no-such-compiler"):
        subprocesses.run(["no-such-compiler"], 10.0)
