"""Cases of the benchmark, each made once."""

from __future__ import annotations

from functools import cache

from benchmarks.bench import free_run
from benchmarks.bench.cases import case

SHORT = 0.05  # seconds
at = cache(case)


@cache
def short() -> free_run.FreeRun:
    """Return the free motion of the scraper, over a short time."""
    return free_run.free_run(SHORT)
