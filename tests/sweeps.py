"""Sweeps over the shipped models: a few of each kind in `make test`, the others in `make check-slow`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

from linkwright.model import library

# planar with three loops; cylinders; redundant in space; with balls in space; a platform with motors
REPRESENTATIVE = ("carpet-scraper", "excavator", "bennett", "rssr", "3-rrr-motors")


def every_model(*chosen: str, without: tuple[str, ...] = ()) -> list[Any]:
    """Return parameters for all shipped models; those not chosen (not representative, if none is chosen) are marked slow."""
    return some([n for n in library.names() if n not in without], chosen or REPRESENTATIVE)


def some(values: Iterable[Any], now: Collection[Any]) -> list[Any]:
    """Return parameters for all values; those not among `now` are marked slow."""
    values = list(values)
    assert all(x in values for x in now)
    return [pytest.param(x, marks=[] if x in now else [pytest.mark.slow]) for x in values]
