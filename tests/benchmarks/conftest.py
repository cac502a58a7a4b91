"""A workshop for the tests of other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.workshop import Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    """Return a workshop in a directory of this test."""
    with Workshop(tmp_path / "built") as made:
        yield made
