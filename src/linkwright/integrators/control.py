"""The size of steps: planned before, corrected after; they end at the end of the run, where a sampler wants the state, and at corners
of inputs over time.

Functions of the subset that `compiler.loops` makes native; p is the plan, f the floats, c the whole numbers of a run.
"""

from __future__ import annotations

import numpy as np

from linkwright.integrators.memory import (
    CORNER,
    CUT,
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
    USED,
    USED_BEFORE,
    Plan,
)

DOUBLED = 2.0  # most that steps grow at once where break points are looked for at quarters of a step: none can come to lie between
SAME = 1e-9  # of a step or a sampler's period: two times that close are one


def plan_step(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """Length and end of the next step: the last one ends exactly at the end, others exactly at the sampler's ticks and at corners."""
    t, end = f[TIME], f[END]
    tick = f[ORIGIN] + c[TICK] * f[EVERY] if p.ticking > 0 else end
    if tick >= end - SAME * f[EVERY]:
        tick = end
    while f[p.corners + c[CORNER]] <= t + 16.0 * 2.2e-16 * max(abs(t), end - f[START]):
        c[CORNER] += 1
    corner = f[p.corners + c[CORNER]]
    c[TICKED] = 0
    c[CUT] = 0
    if p.n_error > 0:
        h = min(f[STEP], f[LARGEST])
        f[USED] = h
        f[NEXT] = t + h
        if t + 1.01 * h >= min(tick, corner):
            f[NEXT] = min(tick, corner)
            f[USED] = f[NEXT] - t
            c[TICKED] = 1 if tick < end and tick <= corner else 0
            c[CUT] = 1 if corner < min(tick, end) else 0
        elif h < max(f[SMALLEST], 16.0 * 2.2e-16 * max(abs(t), end - f[START])):
            return c[REASON] if c[REASON] > 0 else SMALLEST_STEP
        return 0
    f[USED] = f[FIXED]
    f[NEXT] = f[ORIGIN] + (c[GRID] + 1) * f[FIXED]
    whole = c[OFF] == 0
    c[OFF] = 0
    if f[NEXT] > end - SAME * f[FIXED]:
        f[NEXT] = end
        whole = False
    if tick < end and tick <= f[NEXT] + SAME * f[FIXED]:
        c[TICKED] = 1
        if tick < f[NEXT] - SAME * f[FIXED]:
            f[NEXT] = tick
            whole = False
            c[OFF] = 1
    if corner < f[NEXT] - SAME * f[FIXED]:
        f[NEXT] = corner
        whole = False
        c[OFF] = 1
        c[TICKED] = 0
        c[CUT] = 1
    if not whole:
        f[USED] = f[NEXT] - t
    return 0


def accepted(p: Plan, f: np.ndarray, c: np.ndarray, error: float) -> None:
    """Count the step and plan the next: where errors grow, they are expected to keep growing  [Gustafsson; Hairer1996, IV.8]."""
    c[STEPS] += 1
    c[GRID] += 1 - c[OFF]
    c[SWITCHES] += c[CUT]
    if p.n_error > 0:
        most = f[GROW] if p.n_watched == p.n_events else min(f[GROW], DOUBLED)
        factor = most
        if error > 0.0:
            factor = f[SAFETY] * error ** (-f[EXPONENT])
            if f[USED_BEFORE] > 0.0:
                factor *= min(1.0, f[USED] / f[USED_BEFORE] * (f[ERROR_BEFORE] / error) ** f[EXPONENT])
            factor = min(most, max(f[SHRINK], factor))
        if c[HELD] > 0:
            factor = min(1.0, factor)
        if c[TICKED] + c[CUT] > 0 and f[USED] < f[STEP]:  # a step cut short says little about the next
            f[STEP] = max(f[STEP], f[USED] * factor)
        else:
            f[STEP] = f[USED] * factor
            f[ERROR_BEFORE] = max(error, 0.01)
            f[USED_BEFORE] = f[USED]
    c[HELD] = 0
    c[REASON] = 0


def rejected(f: np.ndarray, c: np.ndarray, factor: float, reason: int) -> int:
    c[REJECTIONS] += 1
    c[HELD] = 1
    c[REASON] = reason
    f[STEP] = f[USED] * factor
    return REJECTED


def stopped(p: Plan, f: np.ndarray, c: np.ndarray, reason: int) -> int:
    """A stage outside of what the equations allow asks for a shorter step where steps may change."""
    if p.n_error > 0 and reason in (NOT_FINITE, OPEN):
        return rejected(f, c, 0.25, reason)
    return reason
