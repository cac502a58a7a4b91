"""Break points of the equations: steps end on them, so that every step sees one smooth piece.

A switching function is watched like an event (see `step_output`). Its side, the sign it has, is held over a step as a parameter of
rates and inputs, which continue smoothly beyond the break point; where the function changes sign in a step, the step ends there
and the side changes. Two exceptions:

- a function that ends CHATTER steps in a row, hardly begun, is left alone until its sign has lasted for CALM steps: both sides
  lead back to the break point (dry friction at rest), and no step could get away from it;
- so are all where the continuation beyond a break point has no value (the root of a negative number).

Loops on the record of a run.
"""

from __future__ import annotations

from linkwright.compiler.records import copy, run
from linkwright.compiler.switches import SIDE
from linkwright.integrators.run_state import RunState
from linkwright.integrators.stages import cause, derivative, drive
from linkwright.integrators.stop_rests import watched

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


def look(s: RunState, which: int) -> int:
    """Watched functions at the full row into g_now; 0 or the reason to stop. The last events are functions of the rows that hold."""
    w, y, z, r = s.watched, s.events.y, s.switches.y, s.rests
    outcome, rests = 0, len(s.rests.kind)
    own = s.n_events - rests
    if own > 0 and which != SWITCHES_ONLY:
        outcome = cause(run(s.events))
        for e in range(own):
            w.g_now[e] = y.values[e]
    if outcome == 0 and rests > 0 and which != SWITCHES_ONLY:
        outcome = derivative(s, s.spare, s.inputs.x.t[0])
        for e in range(rests):
            w.g_now[own + e] = watched(r, e)
    if outcome == 0 and len(w.loose) > 0 and which != EVENTS_ONLY:
        outcome = cause(run(s.switches))
        for e in range(len(w.loose)):
            w.g_now[s.n_events + e] = z.values[e]
    return outcome


def begin_sides(s: RunState) -> int:
    """Sides at the start, where the full row and K[0] are known; of a function that is zero, that a moment later."""
    x, w = s.inputs.x, s.watched
    x.t[0] = s.start
    outcome = look(s, BOTH)
    unsure = 0
    for e in range(len(w.g)):
        w.g[e] = w.g_now[e]
        w.side[e] = sign(w.g[e])
        w.change[e] = 0.0
        if w.dips[e] > 0 and w.direction[e] == -1:
            w.side[e] = 1  # it holds from here on, and may begin at zero
        if e >= s.n_events:
            w.again[e - s.n_events] = 0
            w.loose[e - s.n_events] = 0
            unsure += 1 if w.side[e] == 0 else 0
    if outcome != 0 or len(w.loose) == 0:
        return outcome
    if unsure > 0:
        ahead = AHEAD * min(s.end - s.start, s.largest)
        if s.fixed > 0.0:
            ahead = min(ahead, AHEAD * s.fixed)
        for i in range(len(s.y)):
            x.state[i] = s.y[i] + ahead * s.K[0, i]
        x.t[0] = s.start + ahead
        if look(s, SWITCHES_ONLY) == 0:
            for e in range(s.n_events, len(w.g)):
                if w.side[e] == 0:
                    w.side[e] = sign(w.g_now[e])
    set_sides(s)
    copy(x.state, s.y)
    return derivative(s, 0, s.start)


def set_sides(s: RunState) -> None:
    """Sides into the parameters of both rows; zero where a function is left alone."""
    w = s.watched
    for k in range(len(w.loose)):
        side = SIDE * w.side[s.n_events + k] if w.loose[k] == 0 else 0.0
        s.inputs.x.sides[k] = side
        s.rates.x.sides[k] = side


def renew_sides(s: RunState) -> int:
    """Sides after held values changed, at the full row."""
    w = s.watched
    outcome = look(s, SWITCHES_ONLY)
    for e in range(s.n_events, len(w.g)):
        w.g[e] = w.g_now[e]
        if sign(w.g[e]) != 0:
            w.side[e] = sign(w.g[e])
    set_sides(s)
    return outcome


def let_go(s: RunState) -> None:
    """Leave all switching functions alone for a while: beyond their break points there is no smooth continuation."""
    for k in range(len(s.watched.loose)):
        s.watched.loose[k] = max(s.watched.loose[k], 2)
    set_sides(s)


def hidden(s: RunState) -> bool:
    """True if a function crosses zero more than once in the step just tried, by the cubic through it: then it was too long."""
    x, w, h = s.inputs.x, s.watched, s.used
    for k in range(len(w.loose)):
        w.sign_before[k] = w.side[s.n_events + k]
        w.crossings[k] = 0
    for j in range(1, INNER + 2):
        share = j / (INNER + 1)
        for i in range(len(s.y)):
            rise = s.new[i] - s.y[i]
            bend = h * s.K[0, i] - rise
            rest = rise - h * s.K[s.stages, i] - bend
            x.state[i] = s.y[i] + share * (rise + (1.0 - share) * (bend + share * rest))
        x.t[0] = s.time + share * h
        if look(s, SWITCHES_ONLY) != 0:
            return False
        for k in range(len(w.loose)):
            now = sign(w.g_now[s.n_events + k])
            if now * w.sign_before[k] < 0:
                w.crossings[k] += 1
            if now != 0:
                w.sign_before[k] = now
    found = False
    for k in range(len(w.loose)):
        if w.crossings[k] > 1 and w.loose[k] == 0:
            found = True
            if w.refused >= CHATTER:
                w.loose[k] = CALM
    if found and w.refused >= CHATTER:
        set_sides(s)
    if not found or h < SHORTEST * (s.end - s.start):
        w.refused = 0
        return False
    w.refused += 1
    return True


def passed(s: RunState, e: int, now: int, hit: bool) -> None:
    """Count steps of a switching function: those it ended in a row, and those it is left alone."""
    w, k = s.watched, e - s.n_events
    if w.loose[k] > 0:
        w.loose[k] = w.loose[k] - 1 if now == w.side[e] else CALM
    if not hit:
        w.again[k] = 0


def turn_over(s: RunState, theta: float, slack: float) -> int:
    """The state at share theta of the step, in `new` and `next`, as its end: sides of the functions that cross there change."""
    w = s.watched
    copy(s.inputs.x.state, s.new)
    s.inputs.x.t[0] = s.next
    outcome = 0
    if s.driven > 0:
        outcome = drive(s, s.spare, s.next)
    if outcome == 0:
        outcome = look(s, BOTH)
    if outcome != 0:
        return outcome
    for e in range(len(w.g)):
        now = sign(w.g_now[e])
        w.g[e] = w.g_now[e]
        if w.theta[e] <= (theta if e < s.n_events else theta + slack):  # an event is noted first, if only in the next step
            if now != w.side[e]:
                w.g[e] = 1e-300 * w.side[e]
            if e >= s.n_events:
                w.again[e - s.n_events] = w.again[e - s.n_events] + 1 if theta < STALLED else 0
                if w.again[e - s.n_events] >= CHATTER:
                    w.loose[e - s.n_events] = CALM
        elif w.theta[e] < NOWHERE:
            w.side[e] = -w.side[e]  # further on in the step, which is not done yet
    s.tally.break_points += 1
    w.switched = 1
    return 0
