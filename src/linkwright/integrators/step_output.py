"""Output of a step: samples, events and the step itself, in order of time. Loops on the record of a run.

Events are sign changes of their functions between accepted steps, located on the projected state inside the step; a
function that only touches zero is no event. Switching functions (`break_points`) are watched in the same way: a step ends at
the first terminal event or break point.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import Floats, Rows, copy
from linkwright.integrators.break_points import (
    BOTH,
    EVENTS_ONLY,
    NOWHERE,
    SWITCHES_ONLY,
    look,
    passed,
    sign,
    turn_over,
)
from linkwright.integrators.run_state import EVENT, RunState
from linkwright.integrators.stages import ROUND, drive
from linkwright.integrators.step import count_turns, inside, prepare_inside, settle, shorter

UNKNOWN = -1.0  # a place in the step not yet known
SHARPEST = 1e-13  # share of a step to which an event is located
NEARBY = 4.0  # times its changes over this step and the last: a function that is farther from zero does not reach it in between
SHALLOW = 0.2  # of the least value seen: a minimum that lies higher is not looked for
MOST_LOOKS = 4  # for one minimum
MOST_HALVINGS = 20  # of a step, to where a function that began at zero is positive
LEAST_WIDTH = 1e-3  # of a step: nearer places say nothing of a bend


def report(s: RunState) -> int:
    """Events and samples of the step just accepted, which a break point may make shorter. 0, or EVENT where a terminal one ends
    the run, or a reason to stop."""
    w, out = s.watched, s.out
    end = s.next
    crossed = False
    if len(w.g) > 0:
        outcome = cross(s)
        if outcome > 0:
            return outcome
        crossed = outcome < 0
    near = 8.0 * ROUND * max(abs(end), s.used)  # a sample that close to the step's end is the step's end
    doubtful = w.quarters.shape[0] > 0 and may_dip(s)
    if crossed or doubtful or out.due < end - near:
        outcome = prepare_inside(s)
        if outcome != 0:
            return outcome
    if doubtful:
        outcome = dips(s)
        if outcome > 0:
            return outcome
        crossed = crossed or outcome < 0
    theta = NOWHERE
    if crossed:
        theta = locate(s)
        if theta < 0.0:
            return int(-theta)
    final = theta < NOWHERE
    while True:  # samples and events in order of time, then a terminal event
        share = NOWHERE
        if out.due < end - near:
            share = max(0.0, (out.due - s.time) / s.used)
        event = -1
        first = NOWHERE
        for e in range(s.n_events):
            if w.theta[e] <= theta and w.theta[e] < first:
                event = e
                first = w.theta[e]
        at = min(share, first)
        ending = at >= NOWHERE or at > theta
        if ending and not final:
            break
        if ending:
            return cut_short(s, theta, near)
        outcome = inside(s, at)
        if outcome != 0:
            return outcome
        if at == share:
            put_sample(s, s.trial)
        else:
            note(s, event, s.time + at * s.used)
    put_samples(s, end, near, s.new)
    return 0


def note(s: RunState, event: int, t: float) -> None:
    """An event at the trial state."""
    out = s.out
    if out.n_records > 0:
        put(out.records, out.event, t, s.trial, 2)
        out.records[out.event, 1] = float(event)
        out.event += 1
    out.last_event = event
    s.watched.theta[event] = NOWHERE


def cut_short(s: RunState, theta: float, near: float) -> int:
    """End the step at share theta: EVENT for a terminal event, 0 for a break point, or a reason to stop."""
    w = s.watched
    t, slack = s.time + theta * s.used, 4.0 * sharpness(s)
    final = False
    for e in range(s.n_events):
        final = final or (w.terminal[e] > 0 and w.last_theta[e] <= theta)
    if final:
        outcome = inside(s, theta)
        if outcome != 0:
            return outcome
        s.time = t
        copy(s.y, s.trial)
        put_samples(s, t, near, s.y)
        return EVENT
    outcome = shorter(s, theta)
    if outcome == 0:
        outcome = settle(s, t)
    if outcome != 0:
        return outcome
    s.next = t
    copy(s.new, s.trial)
    put_samples(s, t, near, s.new)
    s.ticked = 0
    s.grid -= 1 - s.off  # of fixed steps: the rest of this one comes next
    s.off = 1
    s.used_before = 0.0
    if len(s.turned) > 0:
        count_turns(s)
    return turn_over(s, theta, slack)


def sharpness(s: RunState) -> float:
    """Share of the step to which a place in it can be known."""
    return max(SHARPEST, 4.0 * ROUND * abs(s.next) / s.used)


def put(rows: Rows, row: int, t: float, state: Floats, gap: int) -> None:
    """A state into an output row: time, then (after a gap) the state."""
    rows[row, 0] = t
    for i in range(len(state)):
        rows[row, gap + i] = state[i]


def put_samples(s: RunState, t: float, near: float, state: Floats) -> None:
    """Output at a known state: samples due by t, and the step itself where it is wanted."""
    out = s.out
    if out.n_seen > 0:
        put(out.seen, out.see, t, state, 1)
        out.see += 1
    if out.sampled == 0:
        put(out.rows, out.row, t, state, 1)
        out.row += 1
    while out.due <= t + near:
        put_sample(s, state)


def put_sample(s: RunState, state: Floats) -> None:
    """A state as the sample that is due."""
    out = s.out
    put(out.rows, out.row, out.due, state, 1)
    out.row += 1
    out.sample += 1
    out.due = out.samples[out.sample] if out.sample < out.n_samples else math.inf


def cross(s: RunState) -> int:
    """Watched functions after the step. -1: some changed sign in the wanted direction, at a place not yet known."""
    w = s.watched
    copy(s.inputs.x.state, s.new)
    s.inputs.x.t[0] = s.next
    outcome = look(s, BOTH)
    if outcome != 0:
        return outcome
    for e in range(len(w.g)):
        now = sign(w.g_now[e])
        hit = crosses(s, e, now)
        if e >= s.n_events:
            passed(s, e, now, hit)
        w.theta[e] = UNKNOWN if hit else NOWHERE
        w.until[e] = 1.0
        w.last_theta[e] = NOWHERE
        w.g_before[e] = w.g[e]
        w.g[e] = w.g_now[e]
        if now != 0:
            w.side[e] = now
        if hit:
            outcome = -1
    return outcome


def locate(s: RunState) -> float:
    """Locate where in the step the functions cross zero that do so over it, and those that do so before its new end: what happens at one
    break point may hide what happens before and after it.

    Returns the place of the first terminal event or break point, NOWHERE without one, or minus the reason to stop.
    """
    w = s.watched
    end, final = 1.0, NOWHERE
    for _ in range(len(w.g)):
        for e in range(len(w.g)):
            if w.theta[e] == UNKNOWN:
                place = bisected(s, e, min(end, w.until[e]))
                if place < 0.0:
                    return place
                w.theta[e] = place
                w.last_theta[e] = place
                if e >= s.n_events or w.terminal[e] > 0:
                    final = min(final, place)
        if final >= end:
            return final
        end = final
        outcome = at_share(s, end, BOTH)
        if outcome != 0:
            return -float(outcome)
        found = False
        for e in range(len(w.g)):
            now = sign(w.g_now[e])
            if w.theta[e] == NOWHERE and crosses(s, e, now):
                found = True
                w.theta[e] = UNKNOWN
                w.g[e] = w.g_now[e]
                w.side[e] = now
        if not found:
            return final
    return final


# ---------------------------------------------------------------- dips


def may_dip(s: RunState) -> bool:
    """Decide which functions may have fallen below zero and risen again in the step: those no farther from zero than they change."""
    w = s.watched
    found = False
    for e in range(s.n_events):
        w.doubt[e] = 0
        if w.dips[e] > 0:
            change = abs(w.g[e] - w.g_before[e])
            least = min(w.g[e], w.g_before[e])
            if w.theta[e] == NOWHERE and w.direction[e] == -1 and 0.0 < least < NEARBY * (change + w.change[e]):
                w.doubt[e] = 1
                found = True
            w.change[e] = change
    return found


def dips(s: RunState) -> int:
    """Look at quarters of the step and at minima between them. -1: a function dips below zero; 0: none does; else the reason to stop."""
    w = s.watched
    for k in range(3):
        outcome = at_share(s, 0.25 * (k + 1), EVENTS_ONLY)
        if outcome != 0:
            return outcome
        for e in range(s.n_events):
            w.quarters[k, e] = w.g_now[e]
    found = 0
    for e in range(s.n_events):
        if w.doubt[e] > 0:
            outcome = dip(s, e)
            if outcome > 0:
                return outcome
            if outcome < 0:
                w.theta[e] = UNKNOWN
                found = -1
    return found


def dip(s: RunState, e: int) -> int:
    """The same for one function; where it dips, its value there and the share of the step are stored."""
    w = s.watched
    least = w.quarters[0, e]
    at = 0.25
    for k in range(3):
        if w.quarters[k, e] < 0.0:
            w.g[e] = w.quarters[k, e]
            w.until[e] = 0.25 * (k + 1)
            return -1
        if w.quarters[k, e] < least:
            least = w.quarters[k, e]
            at = 0.25 * (k + 1)
    width = 0.25
    left = value_at(s, e, at - width)
    right = value_at(s, e, at + width)
    for _ in range(MOST_LOOKS):
        bend = left - 2.0 * least + right
        if not bend > 0.0:
            return 0
        shift = 0.5 * (left - right) / bend
        bottom = least - 0.125 * (left - right) * (left - right) / bend
        place = at + shift * width
        if bottom > SHALLOW * least or not 0.0 < place < 1.0:
            return 0
        outcome = at_share(s, place, EVENTS_ONLY)
        if outcome != 0:
            return outcome
        now = w.g_now[e]
        if now < 0.0:
            w.g[e] = now
            w.until[e] = place
            return -1
        if not now < least:
            return 0
        width = max(0.5 * abs(place - at), LEAST_WIDTH)
        at = place
        least = now
        if not width < min(at, 1.0 - at):
            return 0
        outcome = at_share(s, at - width, EVENTS_ONLY)
        left = w.g_now[e]
        if outcome == 0:
            outcome = at_share(s, at + width, EVENTS_ONLY)
            right = w.g_now[e]
        if outcome != 0:
            return outcome
    return 0


def value_at(s: RunState, e: int, share: float) -> float:
    """A function at a quarter of the step, by what is stored."""
    w = s.watched
    if share < 0.125:
        return w.g_before[e]
    if share > 0.875:
        return w.g[e]
    return w.quarters[int(4.0 * share + 0.5) - 1, e]


def crosses(s: RunState, e: int, now: int) -> bool:
    """True if a function whose sign is now this has crossed zero as it is watched for."""
    w = s.watched
    if e >= s.n_events and w.loose[e - s.n_events] > 0:
        return False
    return now * w.side[e] < 0 and (w.direction[e] == 0 or w.direction[e] == now)


def at_share(s: RunState, theta: float, which: int) -> int:
    """Watched functions at share theta of the step into g_now."""
    x = s.inputs.x
    outcome = inside(s, theta)
    copy(x.state, s.trial)
    x.t[0] = s.time + theta * s.used
    if outcome == 0 and s.driven > 0:
        outcome = drive(s, s.spare, x.t[0])
    return look(s, which) if outcome == 0 else outcome


def bisected(s: RunState, e: int, end: float) -> float:
    """The zero of a function between the start of the step and share `end`, where it has crossed; minus a reason to stop.

    A bracket that shrinks at least as fast as bisection, steered by the chord  [Oliveira2020].
    """
    sharp = sharpness(s) if s.watched.dips[e] == 0 else 4.0 * ROUND * max(abs(s.next), s.used) / s.used
    a, b, g_a, g_b = 0.0, end, s.watched.g_before[e], s.watched.g[e]
    if s.watched.dips[e] > 0 and not g_a > 0.0:  # it began at zero: where it is above, if anywhere
        for _ in range(MOST_HALVINGS):
            share = 0.5 * b
            outcome = at_share(s, share, EVENTS_ONLY)
            if outcome != 0:
                return -float(outcome)
            now = s.watched.g_now[e]
            if now > 0.0:
                a = share
                g_a = now
                break
            b = share
            g_b = now
        if not g_a > 0.0:
            return b
    radius = 2.0 * sharp
    while radius < end:
        radius *= 2.0
    while b - a > 2.0 * sharp:
        middle = 0.5 * (a + b)
        chord = (g_b * a - g_a * b) / (g_b - g_a)
        toward = 1.0 if middle >= chord else -1.0
        shift = 0.2 * (b - a) * (b - a)
        x = chord + toward * shift if shift <= abs(middle - chord) else middle
        reach = radius - 0.5 * (b - a)
        if abs(x - middle) > reach:
            x = middle - toward * reach
        if not a < x < b:
            x = middle
        outcome = at_share(s, x, EVENTS_ONLY if e < s.n_events else SWITCHES_ONLY)
        if outcome != 0:
            return -float(outcome)
        now = s.watched.g_now[e]
        if sign(now) == sign(g_b):
            b = x
            g_b = now
        else:
            a = x
            g_a = now
        radius *= 0.5
    return b
