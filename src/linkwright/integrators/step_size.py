"""The size of steps: planned before, corrected after; they end at the end of the run, where a sampler wants the state, and at corners
of inputs over time.

Functions of the subset that `compiler.native_loops` makes native; `plan`, `floats` and `counts`: see `memory_layout`.
"""

from __future__ import annotations

import numpy as np

from linkwright.integrators.memory_layout import (
    CORNER,
    CUT,
    DEGENERATE,
    END,
    ERROR_BEFORE,
    EVERY,
    EXPONENT,
    FIXED,
    GRID,
    GROW,
    HELD,
    LARGEST,
    NEXT,
    NOT_FINITE,
    OFF,
    OPEN,
    ORIGIN,
    REASON,
    REJECTED,
    REJECTIONS,
    SAFETY,
    SHRINK,
    SMALLEST,
    SMALLEST_STEP,
    START,
    STEP,
    STEPS,
    SWITCHES,
    TICK,
    TICKED,
    TIME,
    UNANSWERED,
    USED,
    USED_BEFORE,
    MemoryPlan,
)

DOUBLED = 2.0  # most that steps grow at once where break points are looked for at quarters of a step: none can come to lie between
SAME_STEP = 1e-9  # of a step or a sampler's period: two times that close are one


def plan_step(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """Length and end of the next step: the last one ends exactly at the end, others exactly at the sampler's ticks and at corners."""
    t, end = floats[TIME], floats[END]
    tick = floats[ORIGIN] + counts[TICK] * floats[EVERY] if plan.ticking > 0 else end
    if tick >= end - SAME_STEP * floats[EVERY]:
        tick = end
    while floats[plan.corners + counts[CORNER]] <= t + 16.0 * 2.2e-16 * max(abs(t), end - floats[START]):
        counts[CORNER] += 1
    corner = floats[plan.corners + counts[CORNER]]
    counts[TICKED] = 0
    counts[CUT] = 0
    if plan.n_error > 0:
        h = min(floats[STEP], floats[LARGEST])
        floats[USED] = h
        floats[NEXT] = t + h
        if t + 1.01 * h >= min(tick, corner):
            floats[NEXT] = min(tick, corner)
            floats[USED] = floats[NEXT] - t
            counts[TICKED] = 1 if tick < end and tick <= corner else 0
            counts[CUT] = 1 if corner < min(tick, end) else 0
        elif h < max(floats[SMALLEST], 16.0 * 2.2e-16 * max(abs(t), end - floats[START])):
            return counts[REASON] if counts[REASON] > 0 else SMALLEST_STEP
        return 0
    floats[USED] = floats[FIXED]
    floats[NEXT] = floats[ORIGIN] + (counts[GRID] + 1) * floats[FIXED]
    whole = counts[OFF] == 0
    counts[OFF] = 0
    if floats[NEXT] > end - SAME_STEP * floats[FIXED]:
        floats[NEXT] = end
        whole = False
    if tick < end and tick <= floats[NEXT] + SAME_STEP * floats[FIXED]:
        counts[TICKED] = 1
        if tick < floats[NEXT] - SAME_STEP * floats[FIXED]:
            floats[NEXT] = tick
            whole = False
            counts[OFF] = 1
    if corner < floats[NEXT] - SAME_STEP * floats[FIXED]:
        floats[NEXT] = corner
        whole = False
        counts[OFF] = 1
        counts[TICKED] = 0
        counts[CUT] = 1
    if not whole:
        floats[USED] = floats[NEXT] - t
    return 0


def accepted(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, error: float) -> None:
    """Count the step and plan the next: where errors grow, they are expected to keep growing  [Gustafsson; Hairer1996, IV.8]."""
    counts[STEPS] += 1
    counts[GRID] += 1 - counts[OFF]
    counts[SWITCHES] += counts[CUT]
    if plan.n_error > 0:
        most = floats[GROW] if plan.n_watched == plan.n_events else min(floats[GROW], DOUBLED)
        factor = most
        if error > 0.0:
            factor = floats[SAFETY] * error ** (-floats[EXPONENT])
            if floats[USED_BEFORE] > 0.0:
                factor *= min(1.0, floats[USED] / floats[USED_BEFORE] * (floats[ERROR_BEFORE] / error) ** floats[EXPONENT])
            factor = min(most, max(floats[SHRINK], factor))
        if counts[HELD] > 0:
            factor = min(1.0, factor)
        if counts[TICKED] + counts[CUT] > 0 and floats[USED] < floats[STEP]:  # a step cut short says little about the next
            floats[STEP] = max(floats[STEP], floats[USED] * factor)
        else:
            floats[STEP] = floats[USED] * factor
            floats[ERROR_BEFORE] = max(error, 0.01)
            floats[USED_BEFORE] = floats[USED]
    counts[HELD] = 0
    counts[REASON] = 0


def rejected(floats: np.ndarray, counts: np.ndarray, factor: float, reason: int) -> int:
    counts[REJECTIONS] += 1
    counts[HELD] = 1
    counts[REASON] = reason
    floats[STEP] = floats[USED] * factor
    return REJECTED


def stopped(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, reason: int) -> int:
    """A stage outside of what the equations allow asks for a shorter step where steps may change, whatever the equations say of it: it is
    not a state of the motion. Only an error that does not concern its state ends the run."""
    if plan.n_error > 0 and reason in (NOT_FINITE, OPEN, UNANSWERED, DEGENERATE):
        return rejected(floats, counts, 0.25, reason)
    return reason
