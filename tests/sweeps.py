"""Sweeps over the shipped models: a few of each kind in `make test`, the others in `make check-slow`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from linkwright.model import library

# planar with three loops; cylinders and three freedoms; redundant in space; in space with a ball; three drives; motors
REPRESENTATIVE = ("carpet-scraper", "excavator", "bennett", "rssr", "3-rrr-motors")


def every_model(*always: str, among: Iterable[str] | None = None) -> list[Any]:
    """Return parameters for all shipped models (or those `among` them); those not named or representative are marked slow."""
    chosen = always or REPRESENTATIVE
    names = list(among or library.names())
    assert set(always) <= set(names)
    return [pytest.param(n, marks=[] if n in chosen else [pytest.mark.slow]) for n in names]
