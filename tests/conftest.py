"""What every test may rely on: no display, and random numbers that are the same in every run."""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the test's own name: independent of order, of workers and of other tests."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
