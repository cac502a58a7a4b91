"""The time loop: steps until the end, an event or a reason to stop; a sampler called on the way.

`march` is called in slices of some steps and carries everything in its memory, so results do not depend on where it was
cut.
"""

from __future__ import annotations

import math

import numpy as np

from linkwright.compiler.loops import evaluate
from linkwright.integrators.break_points import begin_sides, let_go, renew_sides, set_sides
from linkwright.integrators.control import SAME
from linkwright.integrators.memory import (
    END,
    EVENTS,
    EVERY,
    EXPONENT,
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
    USED_BEFORE,
    Output,
    Plan,
)
from linkwright.integrators.reporting import put_samples, report
from linkwright.integrators.runge_kutta import cause, derivative
from linkwright.integrators.stepping import attempt, keep_turns, permit


def march(p: Plan, f: np.ndarray, c: np.ndarray, o: Output, budget: int) -> int:
    """Continue for at most `budget` attempted steps; RUNNING asks to be called again, with the output emptied."""
    if c[STARTED] == 0:
        outcome = begin(p, f, c, o)
        if outcome != 0:
            return outcome
        put_samples(p, f, c, o, f[START], 0.0, p.y)
        if f[END] <= f[START]:
            return FINISHED
    for _ in range(budget):
        if full(p, c, o):
            return RUNNING
        if c[STEPS] + c[REJECTIONS] >= c[MOST]:
            return TOO_MANY_STEPS
        outcome = attempt(p, f, c)
        if outcome == REJECTED:
            if p.n_watched > p.n_events and c[REASON] == NOT_FINITE:
                let_go(p, f, c)
            continue
        if outcome == 0:
            outcome = report(p, f, c, o)
        if outcome != 0:
            return outcome
        for i in range(p.n):
            f[p.y + i] = f[p.new + i]
            f[p.K + i] = f[p.K + p.stages * p.n + i]
        f[TIME] = f[NEXT]
        c[FRESH] = 0
        keep_turns(p, f)
        set_sides(p, f, c)
        if f[TIME] >= f[END]:
            return FINISHED
        if c[TICKED] > 0:
            outcome = sample(p, f, c, o)
            if outcome == 0 and p.n_watched > p.n_events:
                outcome = renew_sides(p, f, c)
            if outcome != 0:
                return outcome
        if c[TICKED] + c[SWITCHED] > 0:
            c[SWITCHED] = 0
            for i in range(p.n):
                f[p.x + i] = f[p.y + i]
            outcome = derivative(p, f, c, 0, f[TIME])
            if outcome != 0:
                return outcome
    return RUNNING


def full(p: Plan, c: np.ndarray, o: Output) -> bool:
    """Whether another step might not fit into the output."""
    if (p.sampled == 0 and c[ROWS] >= len(o.rows)) or c[EVENTS] + p.n_events > len(o.records):
        return True
    return (len(o.seen) > 0 and c[SEEN] >= len(o.seen)) or (p.ticking > 0 and c[TICKS] >= len(o.ticks))


def sample(p: Plan, f: np.ndarray, c: np.ndarray, o: Output) -> int:
    """Held values from the sampler at the present state into the end of both rows, and into the output."""
    t = f[TIME]
    c[TICK] += 1
    for i in range(p.n):
        f[p.x + i] = f[p.y + i]
    f[p.x + p.n] = t
    outcome = cause(evaluate(p.sampler, f, p.x, p.out, p.work))
    if outcome != 0:
        return outcome
    o.ticks[c[TICKS], 0] = t
    for i in range(p.n_held):
        f[p.x + p.n + p.tail + i] = f[p.out + i]
        f[p.m + p.nm + p.tail + i] = f[p.out + i]
        o.ticks[c[TICKS], 1 + i] = f[p.out + i]
    c[TICKS] += 1
    return 0


def begin(p: Plan, f: np.ndarray, c: np.ndarray, o: Output) -> int:
    """First ticks, first derivative, sides of the event functions, first step."""
    c[STARTED] = 1
    f[TIME] = f[START]
    f[NEXT] = f[START]
    f[USED_BEFORE] = 0.0
    for i in range(p.n):
        f[p.new + i] = f[p.y + i]
        f[p.x + i] = f[p.y + i]
    permit(p, f)
    outcome = set_clocks(p, f, c, o)
    if outcome == 0:
        outcome = derivative(p, f, c, 0, f[START])
    if outcome == 0 and p.n_watched > 0:
        outcome = begin_sides(p, f, c)
    if outcome == 0 and f[STEP] == 0.0 and f[END] > f[START]:
        f[STEP] = first_step(p, f, c)
    return outcome


def set_clocks(p: Plan, f: np.ndarray, c: np.ndarray, o: Output) -> int:
    """Place on the grid of fixed steps and of the sampler's ticks, both counted from the origin; the sampler, if it is due."""
    past = f[START] - f[ORIGIN]
    if f[FIXED] > 0.0:
        c[GRID] = int(past / f[FIXED] + SAME)
        c[OFF] = 1 if past - c[GRID] * f[FIXED] > SAME * f[FIXED] else 0
    if p.ticking > 0:
        c[TICK] = int(past / f[EVERY] + SAME)
        if past - c[TICK] * f[EVERY] <= SAME * f[EVERY]:
            return sample(p, f, c, o)
        c[TICK] += 1
    return 0


def size(p: Plan, f: np.ndarray, first: int) -> float:
    """Root mean square of a vector against the permitted errors."""
    s = 0.0
    for i in range(p.judged):
        d = f[first + i] / f[p.permitted + i]
        s += d * d
    return math.sqrt(s / max(p.judged, 1))


def first_step(p: Plan, f: np.ndarray, c: np.ndarray) -> float:
    """A step whose first neglected derivative is small, guessed by one explicit Euler step  [Hairer1993, II.4]."""
    longest = min(f[END] - f[START], f[LARGEST])
    d0, d1 = size(p, f, p.y), size(p, f, p.K)
    h0 = min(longest, 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1)
    for i in range(p.n):
        f[p.x + i] = f[p.y + i] + h0 * f[p.K + i]
    if derivative(p, f, c, 1, f[START] + h0) != 0:
        return 1e-3 * h0
    for i in range(p.n):
        f[p.trial + i] = f[p.K + p.n + i] - f[p.K + i]
    steepest = max(d1, size(p, f, p.trial) / h0)
    h1 = max(1e-6, 1e-3 * h0) if steepest <= 1e-15 else (0.01 / steepest) ** f[EXPONENT]
    return min(100.0 * h0, h1, longest)
