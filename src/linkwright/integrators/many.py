"""Many independent runs one after the other in one memory, as a native loop: nothing of Python between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.integrators.march import march
from linkwright.integrators.memory import COUNTS, EVENT, EVENTS, MOST, REALS, REJECTIONS, ROWS, RUNNING, STARTED, STEPS, TICKS, Output, Plan


class Runs(NamedTuple):
    """Starts and results of some runs. Output of run k begins in row k len(samples) of the output."""

    starts: np.ndarray  # (runs, states)
    parameters: np.ndarray  # (runs, parameters)
    fresh: np.ndarray  # the first floats of a memory before a run
    codes: np.ndarray  # why runs ended
    counts: np.ndarray  # (runs, first whole numbers of the memory), and floats, and final states
    reals: np.ndarray
    ends: np.ndarray
    final: np.ndarray  # terminal events, -1 without
    place: np.ndarray  # the run to go on with, and the one to stop at


def march_many(p: Plan, f: np.ndarray, c: np.ndarray, o: Output, r: Runs, most: np.ndarray) -> int:
    """Continue for about most[0] attempted steps, over as many runs as they allow; 1 when all runs are done."""
    left = most[0]
    while r.place[0] < r.place[1]:
        k = r.place[0]
        if c[STARTED] == 0:
            load(p, f, c, o, r, k)
        before = c[STEPS] + c[REJECTIONS]
        code = march(p, f, c, o, left)
        left -= c[STEPS] + c[REJECTIONS] - before + 1
        r.final[k] = int(o.records[c[EVENTS] - 1, 1]) if code == EVENT else -1
        c[EVENTS] = 0  # events are not kept, only the one that ends a run
        c[TICKS] = 0
        store(p, f, c, o, r, k, code)
        if code != RUNNING:
            c[STARTED] = 0
            r.place[0] = k + 1
        if left <= 0:
            break
    return 1 if r.place[0] >= r.place[1] else 0


def load(p: Plan, f: np.ndarray, c: np.ndarray, o: Output, r: Runs, k: int) -> None:
    """The memory as before the first step of run k."""
    most = c[MOST]
    for i in range(COUNTS):
        c[i] = 0
    c[MOST] = most
    c[ROWS] = k * len(o.samples)
    for i in range(REALS):
        f[i] = r.fresh[i]
    for i in range(p.n):
        f[p.y + i] = r.starts[k, i]
    for i in range(r.parameters.shape[1]):
        f[p.x + p.n + 1 + i] = r.parameters[k, i]
        f[p.m + p.nm + 1 + i] = r.parameters[k, i]


def store(p: Plan, f: np.ndarray, c: np.ndarray, o: Output, r: Runs, k: int, code: int) -> None:
    """How far run k came and how."""
    r.codes[k] = code
    for i in range(COUNTS):
        r.counts[k, i] = c[i]
    r.counts[k, ROWS] = c[ROWS] - k * len(o.samples)
    for i in range(REALS):
        r.reals[k, i] = f[i]
    for i in range(p.n):
        r.ends[k, i] = f[p.y + i]
