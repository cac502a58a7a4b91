"""Break points of the equations: steps end on them, so that every step sees one smooth piece.

A switching function is watched like an event (see `step_output`). Its side, the sign it has, is held over a step as a parameter of
rates and inputs, which continue smoothly beyond the break point; where the function changes sign in a step, the step ends there
and the side changes. Two exceptions:

- a function that ends CHATTER steps in a row, hardly begun, is left alone until its sign has lasted for CALM steps: both sides
  lead back to the break point (dry friction at rest), and no step could get away from it;
- so are all where the continuation beyond a break point has no value (the root of a negative number).

Functions of the subset that `compiler.native_loops` makes native; `plan`, `floats` and `counts`: see `memory_layout`.
"""

from __future__ import annotations

import numpy as np

from linkwright.compiler.native_loops import evaluate
from linkwright.compiler.switches import SIDE
from linkwright.integrators.memory_layout import (
    END,
    FIXED,
    LARGEST,
    NEXT,
    REFUSED_BREAKS,
    START,
    SWITCHED,
    SWITCHES,
    TIME,
    USED,
    MemoryPlan,
)
from linkwright.integrators.runge_kutta import cause, derivative, drive, rates_at

CHATTER = 4
CALM = 16
STALLED = 1e-3  # share of the step planned: one that ends before has hardly left the break point
AHEAD = 1e-6  # of the run: how far ahead to look for the side of a function that begins at zero
SHORTEST = 1e-9  # of the run: steps that are not halved for a second crossing
BOTH, EVENTS_ONLY, SWITCHES_ONLY = 0, 1, 2
NOWHERE = 2.0  # a place in the step that is none
INNER = 3  # places inside a step at which switching functions are looked at


def sign(x: float) -> int:
    return 1 if x > 0.0 else (-1 if x < 0.0 else 0)


def look(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, which: int) -> int:
    """Watched functions at the row x into g_now; 0 or the reason to stop. The last events are pushes of the stops that hold."""
    outcome, own = 0, plan.n_events - plan.n_rests
    if own > 0 and which != SWITCHES_ONLY:
        outcome = cause(evaluate(plan.events, floats, plan.x, plan.out, plan.work))
        for e in range(own):
            floats[plan.g_now + e] = floats[plan.out + e]
    if outcome == 0 and plan.n_rests > 0 and which != SWITCHES_ONLY:
        outcome = rates_at(plan, floats, counts, plan.resting_rates, floats[plan.x + plan.n])
        for r in range(plan.n_rests):
            floats[plan.g_now + own + r] = -floats[plan.outward + r] * floats[plan.push + r]
    if outcome == 0 and plan.n_watched > plan.n_events and which != EVENTS_ONLY:
        outcome = cause(evaluate(plan.switches, floats, plan.x, plan.out, plan.work))
        for e in range(plan.n_watched - plan.n_events):
            floats[plan.g_now + plan.n_events + e] = floats[plan.out + e]
    return outcome


def begin_sides(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """Sides at the start, where x and K[0] are known; of a function that is zero, that a moment later."""
    floats[plan.x + plan.n] = floats[START]
    outcome = look(plan, floats, counts, BOTH)
    unsure = 0
    for e in range(plan.n_watched):
        floats[plan.g + e] = floats[plan.g_now + e]
        counts[plan.side + e] = sign(floats[plan.g + e])
        if e >= plan.n_events:
            counts[plan.again + e - plan.n_events] = 0
            counts[plan.loose + e - plan.n_events] = 0
            unsure += 1 if counts[plan.side + e] == 0 else 0
    if outcome != 0 or plan.n_watched == plan.n_events:
        return outcome
    if unsure > 0:
        ahead = AHEAD * min(floats[END] - floats[START], floats[LARGEST])
        if floats[FIXED] > 0.0:
            ahead = min(ahead, AHEAD * floats[FIXED])
        for i in range(plan.n):
            floats[plan.x + i] = floats[plan.y + i] + ahead * floats[plan.K + i]
        floats[plan.x + plan.n] = floats[START] + ahead
        if look(plan, floats, counts, SWITCHES_ONLY) == 0:
            for e in range(plan.n_events, plan.n_watched):
                if counts[plan.side + e] == 0:
                    counts[plan.side + e] = sign(floats[plan.g_now + e])
    set_sides(plan, floats, counts)
    for i in range(plan.n):
        floats[plan.x + i] = floats[plan.y + i]
    return derivative(plan, floats, counts, 0, floats[START])


def set_sides(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> None:
    """Sides into the parameters of both rows; zero where a function is left alone."""
    for k in range(plan.n_watched - plan.n_events):
        side = SIDE * counts[plan.side + plan.n_events + k] if counts[plan.loose + k] == 0 else 0.0
        floats[plan.x + plan.n + plan.sides + k] = side
        floats[plan.m + plan.nm + plan.sides + k] = side


def renew_sides(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """Sides after held values changed, at the state and time in x."""
    outcome = look(plan, floats, counts, SWITCHES_ONLY)
    for e in range(plan.n_events, plan.n_watched):
        floats[plan.g + e] = floats[plan.g_now + e]
        if sign(floats[plan.g + e]) != 0:
            counts[plan.side + e] = sign(floats[plan.g + e])
    set_sides(plan, floats, counts)
    return outcome


def let_go(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> None:
    """Leave all switching functions alone for a while: beyond their break points there is no smooth continuation."""
    for k in range(plan.n_watched - plan.n_events):
        counts[plan.loose + k] = max(counts[plan.loose + k], 2)
    set_sides(plan, floats, counts)


def hidden(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> bool:
    """True if a function crosses zero more than once in the step just tried, by the cubic through it: then it was too long."""
    n, h, last = plan.n, floats[USED], plan.K + plan.stages * plan.n
    for k in range(plan.n_watched - plan.n_events):
        counts[plan.sign_before + k] = counts[plan.side + plan.n_events + k]
        counts[plan.crossings + k] = 0
    for j in range(1, INNER + 2):
        s = j / (INNER + 1)
        for i in range(n):
            rise = floats[plan.new + i] - floats[plan.y + i]
            bend = h * floats[plan.K + i] - rise
            rest = rise - h * floats[last + i] - bend
            floats[plan.x + i] = floats[plan.y + i] + s * (rise + (1.0 - s) * (bend + s * rest))
        floats[plan.x + n] = floats[TIME] + s * h
        if look(plan, floats, counts, SWITCHES_ONLY) != 0:
            return False
        for k in range(plan.n_watched - plan.n_events):
            now = sign(floats[plan.g_now + plan.n_events + k])
            if now * counts[plan.sign_before + k] < 0:
                counts[plan.crossings + k] += 1
            if now != 0:
                counts[plan.sign_before + k] = now
    found = False
    for k in range(plan.n_watched - plan.n_events):
        if counts[plan.crossings + k] > 1 and counts[plan.loose + k] == 0:
            found = True
            if counts[REFUSED_BREAKS] >= CHATTER:
                counts[plan.loose + k] = CALM
    if found and counts[REFUSED_BREAKS] >= CHATTER:
        set_sides(plan, floats, counts)
    if not found or h < SHORTEST * (floats[END] - floats[START]):
        counts[REFUSED_BREAKS] = 0
        return False
    counts[REFUSED_BREAKS] += 1
    return True


def passed(plan: MemoryPlan, counts: np.ndarray, e: int, now: int, hit: bool) -> None:
    """Count steps of a switching function: those it ended in a row, and those it is left alone."""
    k = e - plan.n_events
    if counts[plan.loose + k] > 0:
        counts[plan.loose + k] = counts[plan.loose + k] - 1 if now == counts[plan.side + e] else CALM
    if not hit:
        counts[plan.again + k] = 0


def turn_over(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, theta: float, slack: float) -> int:
    """The state at share theta of the step, in `new` and NEXT, as its end: sides of the functions that cross there change."""
    for i in range(plan.n):
        floats[plan.x + i] = floats[plan.new + i]
    floats[plan.x + plan.n] = floats[NEXT]
    outcome = 0
    if plan.driven > 0:
        outcome = drive(plan, floats, counts, plan.spare, floats[NEXT])
    if outcome == 0:
        outcome = look(plan, floats, counts, BOTH)
    if outcome != 0:
        return outcome
    for e in range(plan.n_watched):
        now = sign(floats[plan.g_now + e])
        floats[plan.g + e] = floats[plan.g_now + e]
        if floats[plan.theta + e] <= (theta if e < plan.n_events else theta + slack):  # an event is noted first, if only in the next step
            if now != counts[plan.side + e]:
                floats[plan.g + e] = 1e-300 * counts[plan.side + e]
            if e >= plan.n_events:
                counts[plan.again + e - plan.n_events] = counts[plan.again + e - plan.n_events] + 1 if theta < STALLED else 0
                if counts[plan.again + e - plan.n_events] >= CHATTER:
                    counts[plan.loose + e - plan.n_events] = CALM
        elif floats[plan.theta + e] < NOWHERE:
            counts[plan.side + e] = -counts[plan.side + e]  # further on in the step, which is not done yet
    counts[SWITCHES] += 1
    counts[SWITCHED] = 1
    return 0
