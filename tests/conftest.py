"""What every test may rely on: no display, and random numbers that are the same in every run."""

from __future__ import annotations

import gc
import getpass
import os
import sys
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import numpy as np

os.environ.setdefault("MPLBACKEND", "Agg")
# Python keeps what it compiles beside the sources (make clean removes it), also where the environment asks it not to: otherwise each
# of the hundred processes that tests start compiles the package again, a second or two every time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Workers share the cores already. numpy's library would share matrices of sixty rows as well, and spend most of its time waiting;
# it reads this when numpy is first imported, which is why nothing here does so.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# compiled code of all workers in one place that is not the user's; its key holds the source, so nothing stale is ever met
os.environ.setdefault("LINKWRIGHT_CACHE", str(Path(tempfile.gettempdir()) / f"linkwright-tests-{getpass.getuser()}"))

# Code is made in a third of the time; tests of the compiler and of kernels (their own conftest.py) and `make check-slow` take the good one.
os.environ.setdefault("LINKWRIGHT_OPTIMIZATION", "0")

# A worker holds some million objects (models, programs, traces); going through them as often as Python does takes a tenth of the time.
gc.set_threshold(200_000, 50, 50)
REPETITIONS = Path(__file__).with_name("repetitions.txt")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark repetitions as slow, before slow tests are left out."""
    listed = {line for line in REPETITIONS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}
    for item in items:
        if item.nodeid in listed:
            item.add_marker("slow")
    if not any("::" in name for name in config.args):
        files = {item.nodeid.split("::")[0] for item in items}
        gone = {name for name in listed if name.split("::")[0] in files} - {item.nodeid for item in items}
        if gone:
            raise pytest.UsageError(f"{REPETITIONS.name} names tests that do not exist: {', '.join(sorted(gone))}")


def pytest_collection_finish() -> None:
    """Take everything imported and collected out of the collector's sight."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_terminal_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands print as into a file; parallel runs of the tests set a width."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the test's own name: independent of order, of workers and of other tests."""
    import numpy as np

    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
