"""Break points of the equations: steps end on them, so that every step sees one smooth piece.

A switching function is watched like an event (see `reporting`). Its side, the sign it has, is held over a step as a parameter of
rates and inputs, which continue smoothly beyond the break point; where the function changes sign in a step, the step ends there
and the side changes. Two exceptions:

- a function that ends CHATTER steps in a row, hardly begun, is left alone until its sign has lasted for CALM steps: both sides
  lead back to the break point (dry friction at rest), and no step could get away from it;
- so are all where the continuation beyond a break point has no value (the root of a negative number).

Functions of the subset that `compiler.loops` makes native; p is the plan, f the floats, c the whole numbers of a run.
"""

from __future__ import annotations

import numpy as np

from linkwright.compiler.loops import evaluate
from linkwright.compiler.switches import SIDE
from linkwright.integrators.memory import END, FIXED, LARGEST, NEXT, REFUSED_BREAKS, START, SWITCHED, SWITCHES, TIME, USED, Plan
from linkwright.integrators.runge_kutta import cause, derivative, drive

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


def look(p: Plan, f: np.ndarray, which: int) -> int:
    """Watched functions at the row x into g_now; 0 or the reason to stop."""
    outcome = 0
    if p.n_events > 0 and which != SWITCHES_ONLY:
        outcome = cause(evaluate(p.events, f, p.x, p.out, p.work))
        for e in range(p.n_events):
            f[p.g_now + e] = f[p.out + e]
    if outcome == 0 and p.n_watched > p.n_events and which != EVENTS_ONLY:
        outcome = cause(evaluate(p.switches, f, p.x, p.out, p.work))
        for e in range(p.n_watched - p.n_events):
            f[p.g_now + p.n_events + e] = f[p.out + e]
    return outcome


def begin_sides(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """Sides at the start, where x and K[0] are known; of a function that is zero, that a moment later."""
    outcome = look(p, f, BOTH)
    unsure = 0
    for e in range(p.n_watched):
        f[p.g + e] = f[p.g_now + e]
        c[p.side + e] = sign(f[p.g + e])
        if e >= p.n_events:
            c[p.again + e - p.n_events] = 0
            c[p.loose + e - p.n_events] = 0
            unsure += 1 if c[p.side + e] == 0 else 0
    if outcome != 0 or p.n_watched == p.n_events:
        return outcome
    if unsure > 0:
        ahead = AHEAD * min(f[END] - f[START], f[LARGEST])
        if f[FIXED] > 0.0:
            ahead = min(ahead, AHEAD * f[FIXED])
        for i in range(p.n):
            f[p.x + i] = f[p.y + i] + ahead * f[p.K + i]
        f[p.x + p.n] = f[START] + ahead
        if look(p, f, SWITCHES_ONLY) == 0:
            for e in range(p.n_events, p.n_watched):
                if c[p.side + e] == 0:
                    c[p.side + e] = sign(f[p.g_now + e])
    set_sides(p, f, c)
    for i in range(p.n):
        f[p.x + i] = f[p.y + i]
    return derivative(p, f, c, 0, f[START])


def set_sides(p: Plan, f: np.ndarray, c: np.ndarray) -> None:
    """Sides into the parameters of both rows; zero where a function is left alone."""
    for k in range(p.n_watched - p.n_events):
        side = SIDE * c[p.side + p.n_events + k] if c[p.loose + k] == 0 else 0.0
        f[p.x + p.n + p.sides + k] = side
        f[p.m + p.nm + p.sides + k] = side


def renew_sides(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """Sides after held values changed, at the state and time in x."""
    outcome = look(p, f, SWITCHES_ONLY)
    for e in range(p.n_events, p.n_watched):
        f[p.g + e] = f[p.g_now + e]
        if sign(f[p.g + e]) != 0:
            c[p.side + e] = sign(f[p.g + e])
    set_sides(p, f, c)
    return outcome


def let_go(p: Plan, f: np.ndarray, c: np.ndarray) -> None:
    """Leave all switching functions alone for a while: beyond their break points there is no smooth continuation."""
    for k in range(p.n_watched - p.n_events):
        c[p.loose + k] = max(c[p.loose + k], 2)
    set_sides(p, f, c)


def hidden(p: Plan, f: np.ndarray, c: np.ndarray) -> bool:
    """Whether a function crosses zero more than once in the step just tried, by the cubic through it: then it was too long."""
    n, h, last = p.n, f[USED], p.K + p.stages * p.n
    for k in range(p.n_watched - p.n_events):
        c[p.sign_before + k] = c[p.side + p.n_events + k]
        c[p.crossings + k] = 0
    for j in range(1, INNER + 2):
        s = j / (INNER + 1)
        for i in range(n):
            rise = f[p.new + i] - f[p.y + i]
            bend = h * f[p.K + i] - rise
            rest = rise - h * f[last + i] - bend
            f[p.x + i] = f[p.y + i] + s * (rise + (1.0 - s) * (bend + s * rest))
        f[p.x + n] = f[TIME] + s * h
        if look(p, f, SWITCHES_ONLY) != 0:
            return False
        for k in range(p.n_watched - p.n_events):
            now = sign(f[p.g_now + p.n_events + k])
            if now * c[p.sign_before + k] < 0:
                c[p.crossings + k] += 1
            if now != 0:
                c[p.sign_before + k] = now
    found = False
    for k in range(p.n_watched - p.n_events):
        if c[p.crossings + k] > 1 and c[p.loose + k] == 0:
            found = True
            if c[REFUSED_BREAKS] >= CHATTER:
                c[p.loose + k] = CALM
    if found and c[REFUSED_BREAKS] >= CHATTER:
        set_sides(p, f, c)
    if not found or h < SHORTEST * (f[END] - f[START]):
        c[REFUSED_BREAKS] = 0
        return False
    c[REFUSED_BREAKS] += 1
    return True


def passed(p: Plan, c: np.ndarray, e: int, now: int, hit: bool) -> None:
    """Count steps of a switching function: those it ended in a row, and those it is left alone."""
    k = e - p.n_events
    if c[p.loose + k] > 0:
        c[p.loose + k] = c[p.loose + k] - 1 if now == c[p.side + e] else CALM
    if not hit:
        c[p.again + k] = 0


def turn_over(p: Plan, f: np.ndarray, c: np.ndarray, theta: float, slack: float) -> int:
    """The state at share theta of the step, in `new` and NEXT, as its end: sides of the functions that cross there change."""
    for i in range(p.n):
        f[p.x + i] = f[p.new + i]
    f[p.x + p.n] = f[NEXT]
    outcome = 0
    if p.driven > 0:
        outcome = drive(p, f, c, p.spare, f[NEXT])
    if outcome == 0:
        outcome = look(p, f, BOTH)
    if outcome != 0:
        return outcome
    for e in range(p.n_watched):
        now = sign(f[p.g_now + e])
        f[p.g + e] = f[p.g_now + e]
        if f[p.theta + e] <= (theta if e < p.n_events else theta + slack):  # an event is noted first, if only in the next step
            if now != c[p.side + e]:
                f[p.g + e] = 1e-300 * c[p.side + e]
            if e >= p.n_events:
                c[p.again + e - p.n_events] = c[p.again + e - p.n_events] + 1 if theta < STALLED else 0
                if c[p.again + e - p.n_events] >= CHATTER:
                    c[p.loose + e - p.n_events] = CALM
        elif f[p.theta + e] < NOWHERE:
            c[p.side + e] = -c[p.side + e]  # further on in the step, which is not done yet
    c[SWITCHES] += 1
    c[SWITCHED] = 1
    return 0
