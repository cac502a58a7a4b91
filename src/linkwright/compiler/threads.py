"""Work shared among the cores this process may use; machine code runs outside the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

WORTH_NS = 200_000  # below this one thread is as fast as two
PIECES_PER_CORE = 4  # a core that is busy elsewhere takes fewer


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> Any:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(1, cores() - 1), thread_name_prefix="linkwright")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def share(run: Callable[[int, int], None], count: int, expected_ns: float, limit: int | None = None) -> None:
    """run(first, n) over `count` items, in parts that are multiples of eight, over several cores if that pays."""
    workers = min(limit or cores(), cores())
    if workers <= 1 or expected_ns < WORTH_NS or count <= 16:
        run(0, count)
        return
    parts = workers * PIECES_PER_CORE
    step = max(8, -(-count // parts + 7) // 8 * 8)
    starts = iter(range(0, count, step))  # taken one by one: next() on a range iterator is atomic

    def work() -> None:
        for first in starts:
            run(first, min(step, count - first))

    waiting = [_pool().submit(work) for _ in range(workers - 1)]
    work()
    for future in waiting:
        future.result()
