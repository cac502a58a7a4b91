"""Many independent runs one after the other in one memory, as a native loop: nothing of Python between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.integrators.memory_layout import (
    COUNTS,
    EVENT,
    EVENTS,
    MOST,
    REALS,
    REJECTIONS,
    ROWS,
    RUNNING,
    STARTED,
    STEPS,
    TICKS,
    MemoryPlan,
    Output,
)
from linkwright.integrators.time_loop import march


class RunBatch(NamedTuple):
    """Starts and results of some runs. Output of run k begins in row k len(samples) of the output."""

    starts: np.ndarray  # (runs, states)
    parameters: np.ndarray  # (runs, parameters)
    fresh: np.ndarray  # the first floats of a memory before a run
    codes: np.ndarray  # why runs ended
    counts: np.ndarray  # (runs, first whole numbers of the memory), and floats, and final states
    reals: np.ndarray
    ends: np.ndarray
    final: np.ndarray  # terminal events, -1 without
    place: np.ndarray  # the run to continue with, and the one to stop at


def march_many(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, out: Output, r: RunBatch, most: np.ndarray) -> int:
    """Continue for about most[0] attempted steps, over as many runs as they allow; 1 when all runs are done."""
    left = most[0]
    while r.place[0] < r.place[1]:
        k = r.place[0]
        if counts[STARTED] == 0:
            load(plan, floats, counts, out, r, k)
        before = counts[STEPS] + counts[REJECTIONS]
        code = march(plan, floats, counts, out, left)
        left -= counts[STEPS] + counts[REJECTIONS] - before + 1
        r.final[k] = int(out.records[counts[EVENTS] - 1, 1]) if code == EVENT else -1
        counts[EVENTS] = 0  # events are not stored, only the one that ends a run
        counts[TICKS] = 0
        store(plan, floats, counts, out, r, k, code)
        if code != RUNNING:
            counts[STARTED] = 0
            r.place[0] = k + 1
        if left <= 0:
            break
    return 1 if r.place[0] >= r.place[1] else 0


def load(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, out: Output, r: RunBatch, k: int) -> None:
    """The memory as before the first step of run k."""
    most = counts[MOST]
    for i in range(COUNTS):
        counts[i] = 0
    counts[MOST] = most
    counts[ROWS] = k * len(out.samples)
    for i in range(REALS):
        floats[i] = r.fresh[i]
    for i in range(plan.n):
        floats[plan.y + i] = r.starts[k, i]
    for i in range(r.parameters.shape[1]):
        floats[plan.x + plan.n + 1 + i] = r.parameters[k, i]
        floats[plan.m + plan.nm + 1 + i] = r.parameters[k, i]


def store(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, out: Output, r: RunBatch, k: int, code: int) -> None:
    """How far run k came and how."""
    r.codes[k] = code
    for i in range(COUNTS):
        r.counts[k, i] = counts[i]
    r.counts[k, ROWS] = counts[ROWS] - k * len(out.samples)
    for i in range(REALS):
        r.reals[k, i] = floats[i]
    for i in range(plan.n):
        r.ends[k, i] = floats[plan.y + i]
