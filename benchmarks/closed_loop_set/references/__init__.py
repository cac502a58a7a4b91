"""Reference values of the set, computed with mpmath and without Linkwright: one module a family of cases, one line in FAMILIES.

A module has `CASES`: for each name a function that returns the case as its file holds it, values included. Drive torques, accelerations of
drives, assembly modes and motions have a second computation, and a value on which the two differ is an error; `obtained` says which it is
and to how many digits it agrees. `python -m benchmarks.closed_loop_set.references` compares the files with what it computes; `--write`
writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

FAMILIES = (
    *("four_bars", "andrews", "slider_crank", "bricard", "governor"),
    *("scrapers", "three_rrr", "slider_cranks", "rssr", "stewart", "modes", "synthesis"),
)


def makers() -> dict[str, Callable[[], dict[str, Any]]]:
    """Return for each case the function that makes it."""
    return {name: make for family in FAMILIES for name, make in import_module(f"{__name__}.{family}").CASES.items()}
