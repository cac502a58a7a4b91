"""Sweeps over the shipped models: a few of each kind in `make test`, the others in `make check-slow`."""

from __future__ import annotations

from typing import Any

import pytest

from linkwright.model import library

# planar with three loops; cylinders; redundant in space; with balls in space; a platform with motors
REPRESENTATIVE = ("carpet-scraper", "excavator", "bennett", "rssr", "3-rrr-motors")


def every_model(*chosen: str, without: tuple[str, ...] = ()) -> list[Any]:
    """Return parameters for all shipped models; those not chosen (not representative, if none is chosen) are marked slow."""
    names = [n for n in library.names() if n not in without]
    now = chosen or REPRESENTATIVE
    assert set(now) <= set(names)
    return [pytest.param(n, marks=[] if n in now else [pytest.mark.slow]) for n in names]
