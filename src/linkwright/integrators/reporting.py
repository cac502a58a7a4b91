"""What a step leaves behind: samples, events and the step itself, in order of time.

Events are sign changes of their functions between accepted steps, located on the projected state inside the step; a
function that only touches zero is no event. Switching functions (`break_points`) are watched in the same way: a step ends at
the first terminal event or break point.
"""

from __future__ import annotations

import numpy as np

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
from linkwright.integrators.memory import (
    EVENT,
    EVENTS,
    GRID,
    NEXT,
    OFF,
    ROWS,
    SAMPLE,
    SEEN,
    TICKED,
    TIME,
    USED,
    USED_BEFORE,
    Output,
    Plan,
)
from linkwright.integrators.runge_kutta import drive
from linkwright.integrators.stepping import count_turns, inside, prepare_inside, settle, shorter

UNKNOWN = -1.0  # a place in the step not yet known
SHARPEST = 1e-13  # share of a step to which an event is located


def report(p: Plan, f: np.ndarray, c: np.ndarray, o: Output) -> int:
    """Events and samples of the step just accepted, which a break point may make shorter. 0, or EVENT where a terminal one ends
    the run, or a reason to stop."""
    end = f[NEXT]
    crossed = False
    if p.n_watched > 0:
        outcome = cross(p, f, c)
        if outcome > 0:
            return outcome
        crossed = outcome < 0
    near = 8.0 * 2.2e-16 * max(abs(end), f[USED])  # a sample that close to the step's end is the step's end
    if crossed or (c[SAMPLE] < len(o.samples) and o.samples[c[SAMPLE]] < end - near):
        outcome = prepare_inside(p, f, c)
        if outcome != 0:
            return outcome
    theta, outcome = NOWHERE, 0
    if crossed:
        theta = locate(p, f, c)
        if theta < 0.0:
            return int(-theta)
    final = theta < NOWHERE
    while True:  # samples and events in order of time, then a terminal event
        share = NOWHERE
        if c[SAMPLE] < len(o.samples) and o.samples[c[SAMPLE]] < end - near:
            share = max(0.0, (o.samples[c[SAMPLE]] - f[TIME]) / f[USED])
        event = -1
        for e in range(p.n_events):
            if f[p.theta + e] <= theta and f[p.theta + e] < NOWHERE and (event < 0 or f[p.theta + e] < f[p.theta + event]):
                event = e
        at = min(share, f[p.theta + event] if event >= 0 else NOWHERE)
        ending = at >= NOWHERE or at > theta
        if ending and not final:
            break
        if ending:
            return cut_short(p, f, c, o, theta, near)
        outcome = inside(p, f, c, at)
        if outcome != 0:
            return outcome
        if at == share:
            put(p, f, o.rows, c[ROWS], float(o.samples[c[SAMPLE]]), p.trial, 1)
            c[ROWS] += 1
            c[SAMPLE] += 1
        else:
            put(p, f, o.records, c[EVENTS], f[TIME] + at * f[USED], p.trial, 2)
            o.records[c[EVENTS], 1] = event
            c[EVENTS] += 1
            f[p.theta + event] = NOWHERE
    put_samples(p, f, c, o, end, near, p.new)
    return 0


def cut_short(p: Plan, f: np.ndarray, c: np.ndarray, o: Output, theta: float, near: float) -> int:
    """End the step at share theta: EVENT for a terminal event, 0 for a break point, or a reason to stop."""
    t, slack = f[TIME] + theta * f[USED], 4.0 * sharpness(f)
    final = False
    for e in range(p.n_events):
        final = final or (c[p.terminal + e] > 0 and f[p.last_theta + e] <= theta)
    if final:
        outcome = inside(p, f, c, theta)
        if outcome != 0:
            return outcome
        f[TIME] = t
        for i in range(p.n):
            f[p.y + i] = f[p.trial + i]
        put_samples(p, f, c, o, t, near, p.y)
        return EVENT
    outcome = shorter(p, f, c, theta)
    if outcome == 0:
        outcome = settle(p, f, c, t)
    if outcome != 0:
        return outcome
    f[NEXT] = t
    for i in range(p.n):
        f[p.new + i] = f[p.trial + i]
    put_samples(p, f, c, o, t, near, p.new)
    c[TICKED] = 0
    c[GRID] -= 1 - c[OFF]  # of fixed steps: the rest of this one comes next
    c[OFF] = 1
    f[USED_BEFORE] = 0.0
    if p.n_near > 0:
        count_turns(p, f, c)
    return turn_over(p, f, c, theta, slack)


def sharpness(f: np.ndarray) -> float:
    """Share of the step to which a place in it can be known."""
    return max(SHARPEST, 4.0 * 2.2e-16 * abs(f[NEXT]) / f[USED])


def put(p: Plan, f: np.ndarray, rows: np.ndarray, row: int, t: float, first: int, gap: int) -> None:
    """A state into an output row: time, then (after a gap) the state."""
    rows[row, 0] = t
    for i in range(p.n):
        rows[row, gap + i] = f[first + i]


def put_samples(p: Plan, f: np.ndarray, c: np.ndarray, o: Output, t: float, near: float, first: int) -> None:
    """Output at a known state: samples due by t, and the step itself where it is wanted."""
    if len(o.seen) > 0:
        put(p, f, o.seen, c[SEEN], t, first, 1)
        c[SEEN] += 1
    if p.sampled == 0:
        put(p, f, o.rows, c[ROWS], t, first, 1)
        c[ROWS] += 1
    while c[SAMPLE] < len(o.samples) and o.samples[c[SAMPLE]] <= t + near:
        put(p, f, o.rows, c[ROWS], float(o.samples[c[SAMPLE]]), first, 1)
        c[ROWS] += 1
        c[SAMPLE] += 1


def cross(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """Watched functions after the step. -1: some changed sign in the wanted direction, at a place not yet known."""
    for i in range(p.n):
        f[p.x + i] = f[p.new + i]
    f[p.x + p.n] = f[NEXT]
    outcome = look(p, f, BOTH)
    if outcome != 0:
        return outcome
    for e in range(p.n_watched):
        now = sign(f[p.g_now + e])
        hit = crosses(p, c, e, now)
        if e >= p.n_events:
            passed(p, c, e, now, hit)
        f[p.theta + e] = UNKNOWN if hit else NOWHERE
        f[p.last_theta + e] = NOWHERE
        f[p.g_before + e] = f[p.g + e]
        f[p.g + e] = f[p.g_now + e]
        if now != 0:
            c[p.side + e] = now
        if hit:
            outcome = -1
    return outcome


def locate(p: Plan, f: np.ndarray, c: np.ndarray) -> float:
    """Where in the step the functions cross zero that do so over it, and those that do so before its new end: what happens at one
    break point may hide what happens before and after it.

    Returns the place of the first terminal event or break point, NOWHERE without one, or minus the reason to stop.
    """
    end, final = 1.0, NOWHERE
    for _ in range(p.n_watched):
        for e in range(p.n_watched):
            if f[p.theta + e] == UNKNOWN:
                place = bisected(p, f, c, e, end)
                if place < 0.0:
                    return place
                f[p.theta + e] = place
                f[p.last_theta + e] = place
                if e >= p.n_events or c[p.terminal + e] > 0:
                    final = min(final, place)
        if final >= end:
            return final
        end = final
        outcome = at_share(p, f, c, end, BOTH)
        if outcome != 0:
            return -float(outcome)
        found = False
        for e in range(p.n_watched):
            now = sign(f[p.g_now + e])
            if f[p.theta + e] == NOWHERE and crosses(p, c, e, now):
                found = True
                f[p.theta + e] = UNKNOWN
                f[p.g + e] = f[p.g_now + e]
                c[p.side + e] = now
        if not found:
            return final
    return final


def crosses(p: Plan, c: np.ndarray, e: int, now: int) -> bool:
    """Whether a function whose sign is now this has crossed zero as it is watched for."""
    if e >= p.n_events and c[p.loose + e - p.n_events] > 0:
        return False
    return now * c[p.side + e] < 0 and (c[p.direction + e] == 0 or c[p.direction + e] == now)


def at_share(p: Plan, f: np.ndarray, c: np.ndarray, theta: float, which: int) -> int:
    """Watched functions at share theta of the step into g_now."""
    outcome = inside(p, f, c, theta)
    for i in range(p.n):
        f[p.x + i] = f[p.trial + i]
    f[p.x + p.n] = f[TIME] + theta * f[USED]
    if outcome == 0 and p.driven > 0:
        outcome = drive(p, f, c, p.spare, f[p.x + p.n])
    return look(p, f, which) if outcome == 0 else outcome


def bisected(p: Plan, f: np.ndarray, c: np.ndarray, e: int, end: float) -> float:
    """The zero of a function between the start of the step and share `end`, where it has crossed; minus a reason to stop.

    A bracket that shrinks at least as fast as bisection, steered by the chord  [Oliveira2020].
    """
    sharp = sharpness(f)
    a, b, g_a, g_b = 0.0, end, f[p.g_before + e], f[p.g + e]
    radius = 2.0 * sharp
    while radius < end:
        radius *= 2.0
    while b - a > 2.0 * sharp:
        middle = 0.5 * (a + b)
        chord = (g_b * a - g_a * b) / (g_b - g_a)
        towards = 1.0 if middle >= chord else -1.0
        shift = 0.2 * (b - a) * (b - a)
        x = chord + towards * shift if shift <= abs(middle - chord) else middle
        reach = radius - 0.5 * (b - a)
        if abs(x - middle) > reach:
            x = middle - towards * reach
        if not a < x < b:
            x = middle
        outcome = at_share(p, f, c, x, EVENTS_ONLY if e < p.n_events else SWITCHES_ONLY)
        if outcome != 0:
            return -float(outcome)
        if sign(f[p.g_now + e]) == sign(g_b):
            b, g_b = x, f[p.g_now + e]
        else:
            a, g_a = x, f[p.g_now + e]
        radius *= 0.5
    return b
