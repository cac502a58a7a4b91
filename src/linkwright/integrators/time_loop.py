"""The time stepper: steps until the end, an event or a reason to stop; a sampler called on the way.

`march` is called in slices of some steps and carries everything in its memory, so results do not depend on where it was
cut.
"""

from __future__ import annotations

import math

import numpy as np

from linkwright.compiler.native_loops import evaluate
from linkwright.integrators.break_points import begin_sides, let_go, renew_sides, set_sides
from linkwright.integrators.memory_layout import (
    END,
    EVENTS,
    EVERY,
    EXPONENT,
    FAILED,
    FINISHED,
    FIXED,
    FRESH,
    GRID,
    LARGEST,
    MOST,
    NEXT,
    NOT_FINITE,
    OFF,
    ORIGIN,
    REASON,
    REJECTED,
    REJECTIONS,
    ROWS,
    RUNNING,
    SEEN,
    START,
    STARTED,
    STEP,
    STEPS,
    SWITCHED,
    TICK,
    TICKED,
    TICKS,
    TIME,
    TOO_MANY_STEPS,
    UNANSWERED,
    USED_BEFORE,
    MemoryPlan,
    Output,
)
from linkwright.integrators.runge_kutta import cause, derivative
from linkwright.integrators.step import attempt, keep_turns, permit
from linkwright.integrators.step_output import put_samples, report
from linkwright.integrators.step_size import SAME_STEP


def march(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, out: Output, budget: int) -> int:
    """Continue for at most `budget` attempted steps; RUNNING asks to be called again, with the output emptied."""
    if counts[STARTED] == 0:
        outcome = begin(plan, floats, counts, out)
        if outcome != 0:
            return outcome
        put_samples(plan, floats, counts, out, floats[START], 0.0, plan.y)
        if floats[END] <= floats[START]:
            return FINISHED
    for _ in range(budget):
        if full(plan, counts, out):
            return RUNNING
        if counts[STEPS] + counts[REJECTIONS] >= counts[MOST]:
            return TOO_MANY_STEPS
        outcome = attempt(plan, floats, counts)
        if outcome == REJECTED:
            if plan.n_watched > plan.n_events and counts[REASON] in (NOT_FINITE, UNANSWERED):
                let_go(plan, floats, counts)
            continue
        if outcome == 0:
            outcome = report(plan, floats, counts, out)
        if outcome != 0:
            return outcome
        for i in range(plan.n):
            floats[plan.y + i] = floats[plan.new + i]
            floats[plan.K + i] = floats[plan.K + plan.stages * plan.n + i]
        floats[TIME] = floats[NEXT]
        counts[FRESH] = 0
        keep_turns(plan, floats)
        set_sides(plan, floats, counts)
        if floats[TIME] >= floats[END]:
            return FINISHED
        if counts[TICKED] > 0:
            outcome = sample(plan, floats, counts, out)
            if outcome == 0 and plan.n_watched > plan.n_events:
                outcome = renew_sides(plan, floats, counts)
            if outcome != 0:
                return outcome
        if counts[TICKED] + counts[SWITCHED] > 0:
            counts[SWITCHED] = 0
            for i in range(plan.n):
                floats[plan.x + i] = floats[plan.y + i]
            outcome = derivative(plan, floats, counts, 0, floats[TIME])
            if outcome != 0:
                return outcome
    return RUNNING


def full(plan: MemoryPlan, counts: np.ndarray, out: Output) -> bool:
    """True if another step might not fit into the output."""
    if (plan.sampled == 0 and counts[ROWS] >= len(out.rows)) or counts[EVENTS] + plan.n_events > len(out.records):
        return True
    return (len(out.seen) > 0 and counts[SEEN] >= len(out.seen)) or (plan.ticking > 0 and counts[TICKS] >= len(out.ticks))


def sample(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, out: Output) -> int:
    """Held values from the sampler at the present state into the end of both rows, and into the output."""
    t = floats[TIME]
    counts[TICK] += 1
    for i in range(plan.n):
        floats[plan.x + i] = floats[plan.y + i]
    floats[plan.x + plan.n] = t
    outcome = cause(evaluate(plan.sampler, floats, plan.x, plan.out, plan.work))
    if outcome != 0:
        return outcome
    out.ticks[counts[TICKS], 0] = t
    for i in range(plan.n_held):
        floats[plan.x + plan.n + plan.tail + i] = floats[plan.out + i]
        floats[plan.m + plan.nm + plan.tail + i] = floats[plan.out + i]
        out.ticks[counts[TICKS], 1 + i] = floats[plan.out + i]
    counts[TICKS] += 1
    return 0


def begin(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, out: Output) -> int:
    """First ticks, first derivative, sides of the event functions, first step."""
    counts[STARTED] = 1
    floats[TIME] = floats[START]
    floats[NEXT] = floats[START]
    floats[USED_BEFORE] = 0.0
    for i in range(plan.n):
        floats[plan.new + i] = floats[plan.y + i]
        floats[plan.x + i] = floats[plan.y + i]
    permit(plan, floats)
    outcome = set_clocks(plan, floats, counts, out)
    if outcome == 0:
        outcome = derivative(plan, floats, counts, 0, floats[START])
    if outcome == 0 and plan.n_watched > 0:
        outcome = begin_sides(plan, floats, counts)
    if outcome == 0 and floats[STEP] == 0.0 and floats[END] > floats[START]:
        floats[STEP] = first_step(plan, floats, counts)
        outcome = FAILED if floats[STEP] == 0.0 else 0
    return outcome


def set_clocks(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, out: Output) -> int:
    """Place on the grid of fixed steps and of the sampler's ticks, both counted from the origin; the sampler, if it is due."""
    past = floats[START] - floats[ORIGIN]
    if floats[FIXED] > 0.0:
        counts[GRID] = int(past / floats[FIXED] + SAME_STEP)
        counts[OFF] = 1 if past - counts[GRID] * floats[FIXED] > SAME_STEP * floats[FIXED] else 0
    if plan.ticking > 0:
        counts[TICK] = int(past / floats[EVERY] + SAME_STEP)
        if past - counts[TICK] * floats[EVERY] <= SAME_STEP * floats[EVERY]:
            return sample(plan, floats, counts, out)
        counts[TICK] += 1
    return 0


def size(plan: MemoryPlan, floats: np.ndarray, first: int) -> float:
    """Root mean square of a vector against the permitted errors."""
    s = 0.0
    for i in range(plan.judged):
        d = floats[first + i] / floats[plan.permitted + i]
        s += d * d
    return math.sqrt(s / max(plan.judged, 1))


def first_step(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> float:
    """A step whose first neglected derivative is small, guessed by one explicit Euler step  [Hairer1993, II.4]; 0 where a
    function fails."""
    longest = min(floats[END] - floats[START], floats[LARGEST])
    d0, d1 = size(plan, floats, plan.y), size(plan, floats, plan.K)
    h0 = min(longest, 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1)
    for i in range(plan.n):
        floats[plan.x + i] = floats[plan.y + i] + h0 * floats[plan.K + i]
    outcome = derivative(plan, floats, counts, 1, floats[START] + h0)
    if outcome != 0:
        return 0.0 if outcome == FAILED else 1e-3 * h0
    for i in range(plan.n):
        floats[plan.trial + i] = floats[plan.K + plan.n + i] - floats[plan.K + i]
    steepest = max(d1, size(plan, floats, plan.trial) / h0)
    h1 = max(1e-6, 1e-3 * h0) if steepest <= 1e-15 else (0.01 / steepest) ** floats[EXPONENT]
    return min(100.0 * h0, h1, longest)
