"""What every test may rely on: no display, and random numbers that are the same in every run."""

from __future__ import annotations

import getpass
import os
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
# compiled code of all workers in one place that is not the user's; its key holds the source, so nothing stale is ever met
os.environ.setdefault("LINKWRIGHT_CACHE", str(Path(tempfile.gettempdir()) / f"linkwright-tests-{getpass.getuser()}"))


@pytest.fixture(autouse=True)
def no_terminal_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands print as into a file; parallel runs of the tests set a width."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the test's own name: independent of order, of workers and of other tests."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
