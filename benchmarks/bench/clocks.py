"""Clocks of contenders: short Python calls in bursts, whole runs by processor time, slow programs in a few rounds only.

Runs are timed by the processor in the one thread that computes: on an idle machine this is the waiting time, on a busy one not more,
which matters where one program needs a millisecond and another seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.bench.cases import BenchRow, Contender

SHORTEST = 2e-4  # seconds of a burst


def best_call(call: Callable[[], Any], seconds: float) -> float:
    """Return the best nanoseconds of one Python call, calls in bursts long enough to be timed."""
    calls, best = 1, 0.0
    while best < SHORTEST:
        calls *= 2
        best = _burst(call, calls)
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        best = min(best, _burst(call, calls))
    return 1e9 * best / calls


def _burst(call: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return time.perf_counter() - start


def seconds_of(call: Callable[[], Any]) -> float:
    """Return the processor time of a call in this thread."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def again_and_again(call: Callable[[], Any]) -> Callable[[float], float]:
    """Return a clock: best nanoseconds of one call, found in about the seconds given; one call at least."""

    def run(seconds: float) -> float:
        begin, best = time.perf_counter(), np.inf
        while True:
            best = min(best, seconds_of(call))
            if time.perf_counter() - begin >= seconds:
                return 1e9 * best

    return run


def a_few_times(once: Callable[[], float], most: int, first: float = np.inf) -> Callable[[float], float]:
    """Return a clock of a call that takes seconds and returns them itself: repeated in the first rounds only.

    `first` are the seconds of a run already done, counted as one of `most`."""
    taken = [first] if np.isfinite(first) else []

    def run(seconds: float) -> float:
        if len(taken) < most:
            taken.append(once())
        return 1e9 * min(taken)

    return run


def timed(row: BenchRow, call: Callable[[], Any]) -> Contender:
    """Return the contender that is timed by repeating a call."""
    return Contender(row, again_and_again(call))
