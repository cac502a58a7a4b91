"""Output of a step: samples, events and the step itself, in order of time.

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
from linkwright.integrators.memory_layout import (
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
    MemoryPlan,
    Output,
)
from linkwright.integrators.runge_kutta import drive
from linkwright.integrators.step import count_turns, inside, prepare_inside, settle, shorter

UNKNOWN = -1.0  # a place in the step not yet known
SHARPEST = 1e-13  # share of a step to which an event is located


def report(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, out: Output) -> int:
    """Events and samples of the step just accepted, which a break point may make shorter. 0, or EVENT where a terminal one ends
    the run, or a reason to stop."""
    end = floats[NEXT]
    crossed = False
    if plan.n_watched > 0:
        outcome = cross(plan, floats, counts)
        if outcome > 0:
            return outcome
        crossed = outcome < 0
    near = 8.0 * 2.2e-16 * max(abs(end), floats[USED])  # a sample that close to the step's end is the step's end
    if crossed or (counts[SAMPLE] < len(out.samples) and out.samples[counts[SAMPLE]] < end - near):
        outcome = prepare_inside(plan, floats, counts)
        if outcome != 0:
            return outcome
    theta, outcome = NOWHERE, 0
    if crossed:
        theta = locate(plan, floats, counts)
        if theta < 0.0:
            return int(-theta)
    final = theta < NOWHERE
    while True:  # samples and events in order of time, then a terminal event
        share = NOWHERE
        if counts[SAMPLE] < len(out.samples) and out.samples[counts[SAMPLE]] < end - near:
            share = max(0.0, (out.samples[counts[SAMPLE]] - floats[TIME]) / floats[USED])
        event = -1
        for e in range(plan.n_events):
            if (
                floats[plan.theta + e] <= theta
                and floats[plan.theta + e] < NOWHERE
                and (event < 0 or floats[plan.theta + e] < floats[plan.theta + event])
            ):
                event = e
        at = min(share, floats[plan.theta + event] if event >= 0 else NOWHERE)
        ending = at >= NOWHERE or at > theta
        if ending and not final:
            break
        if ending:
            return cut_short(plan, floats, counts, out, theta, near)
        outcome = inside(plan, floats, counts, at)
        if outcome != 0:
            return outcome
        if at == share:
            put(plan, floats, out.rows, counts[ROWS], float(out.samples[counts[SAMPLE]]), plan.trial, 1)
            counts[ROWS] += 1
            counts[SAMPLE] += 1
        else:
            put(plan, floats, out.records, counts[EVENTS], floats[TIME] + at * floats[USED], plan.trial, 2)
            out.records[counts[EVENTS], 1] = event
            counts[EVENTS] += 1
            floats[plan.theta + event] = NOWHERE
    put_samples(plan, floats, counts, out, end, near, plan.new)
    return 0


def cut_short(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, out: Output, theta: float, near: float) -> int:
    """End the step at share theta: EVENT for a terminal event, 0 for a break point, or a reason to stop."""
    t, slack = floats[TIME] + theta * floats[USED], 4.0 * sharpness(floats)
    final = False
    for e in range(plan.n_events):
        final = final or (counts[plan.terminal + e] > 0 and floats[plan.last_theta + e] <= theta)
    if final:
        outcome = inside(plan, floats, counts, theta)
        if outcome != 0:
            return outcome
        floats[TIME] = t
        for i in range(plan.n):
            floats[plan.y + i] = floats[plan.trial + i]
        put_samples(plan, floats, counts, out, t, near, plan.y)
        return EVENT
    outcome = shorter(plan, floats, counts, theta)
    if outcome == 0:
        outcome = settle(plan, floats, counts, t)
    if outcome != 0:
        return outcome
    floats[NEXT] = t
    for i in range(plan.n):
        floats[plan.new + i] = floats[plan.trial + i]
    put_samples(plan, floats, counts, out, t, near, plan.new)
    counts[TICKED] = 0
    counts[GRID] -= 1 - counts[OFF]  # of fixed steps: the rest of this one comes next
    counts[OFF] = 1
    floats[USED_BEFORE] = 0.0
    if plan.n_near > 0:
        count_turns(plan, floats, counts)
    return turn_over(plan, floats, counts, theta, slack)


def sharpness(floats: np.ndarray) -> float:
    """Share of the step to which a place in it can be known."""
    return max(SHARPEST, 4.0 * 2.2e-16 * abs(floats[NEXT]) / floats[USED])


def put(plan: MemoryPlan, floats: np.ndarray, rows: np.ndarray, row: int, t: float, first: int, gap: int) -> None:
    """A state into an output row: time, then (after a gap) the state."""
    rows[row, 0] = t
    for i in range(plan.n):
        rows[row, gap + i] = floats[first + i]


def put_samples(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, out: Output, t: float, near: float, first: int) -> None:
    """Output at a known state: samples due by t, and the step itself where it is wanted."""
    if len(out.seen) > 0:
        put(plan, floats, out.seen, counts[SEEN], t, first, 1)
        counts[SEEN] += 1
    if plan.sampled == 0:
        put(plan, floats, out.rows, counts[ROWS], t, first, 1)
        counts[ROWS] += 1
    while counts[SAMPLE] < len(out.samples) and out.samples[counts[SAMPLE]] <= t + near:
        put(plan, floats, out.rows, counts[ROWS], float(out.samples[counts[SAMPLE]]), first, 1)
        counts[ROWS] += 1
        counts[SAMPLE] += 1


def cross(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """Watched functions after the step. -1: some changed sign in the wanted direction, at a place not yet known."""
    for i in range(plan.n):
        floats[plan.x + i] = floats[plan.new + i]
    floats[plan.x + plan.n] = floats[NEXT]
    outcome = look(plan, floats, counts, BOTH)
    if outcome != 0:
        return outcome
    for e in range(plan.n_watched):
        now = sign(floats[plan.g_now + e])
        hit = crosses(plan, counts, e, now)
        if e >= plan.n_events:
            passed(plan, counts, e, now, hit)
        floats[plan.theta + e] = UNKNOWN if hit else NOWHERE
        floats[plan.last_theta + e] = NOWHERE
        floats[plan.g_before + e] = floats[plan.g + e]
        floats[plan.g + e] = floats[plan.g_now + e]
        if now != 0:
            counts[plan.side + e] = now
        if hit:
            outcome = -1
    return outcome


def locate(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> float:
    """Locate where in the step the functions cross zero that do so over it, and those that do so before its new end: what happens at one
    break point may hide what happens before and after it.

    Returns the place of the first terminal event or break point, NOWHERE without one, or minus the reason to stop.
    """
    end, final = 1.0, NOWHERE
    for _ in range(plan.n_watched):
        for e in range(plan.n_watched):
            if floats[plan.theta + e] == UNKNOWN:
                place = bisected(plan, floats, counts, e, end)
                if place < 0.0:
                    return place
                floats[plan.theta + e] = place
                floats[plan.last_theta + e] = place
                if e >= plan.n_events or counts[plan.terminal + e] > 0:
                    final = min(final, place)
        if final >= end:
            return final
        end = final
        outcome = at_share(plan, floats, counts, end, BOTH)
        if outcome != 0:
            return -float(outcome)
        found = False
        for e in range(plan.n_watched):
            now = sign(floats[plan.g_now + e])
            if floats[plan.theta + e] == NOWHERE and crosses(plan, counts, e, now):
                found = True
                floats[plan.theta + e] = UNKNOWN
                floats[plan.g + e] = floats[plan.g_now + e]
                counts[plan.side + e] = now
        if not found:
            return final
    return final


def crosses(plan: MemoryPlan, counts: np.ndarray, e: int, now: int) -> bool:
    """True if a function whose sign is now this has crossed zero as it is watched for."""
    if e >= plan.n_events and counts[plan.loose + e - plan.n_events] > 0:
        return False
    return now * counts[plan.side + e] < 0 and (counts[plan.direction + e] == 0 or counts[plan.direction + e] == now)


def at_share(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, theta: float, which: int) -> int:
    """Watched functions at share theta of the step into g_now."""
    outcome = inside(plan, floats, counts, theta)
    for i in range(plan.n):
        floats[plan.x + i] = floats[plan.trial + i]
    floats[plan.x + plan.n] = floats[TIME] + theta * floats[USED]
    if outcome == 0 and plan.driven > 0:
        outcome = drive(plan, floats, counts, plan.spare, floats[plan.x + plan.n])
    return look(plan, floats, counts, which) if outcome == 0 else outcome


def bisected(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, e: int, end: float) -> float:
    """The zero of a function between the start of the step and share `end`, where it has crossed; minus a reason to stop.

    A bracket that shrinks at least as fast as bisection, steered by the chord  [Oliveira2020].
    """
    sharp = sharpness(floats)
    a, b, g_a, g_b = 0.0, end, floats[plan.g_before + e], floats[plan.g + e]
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
        outcome = at_share(plan, floats, counts, x, EVENTS_ONLY if e < plan.n_events else SWITCHES_ONLY)
        if outcome != 0:
            return -float(outcome)
        if sign(floats[plan.g_now + e]) == sign(g_b):
            b, g_b = x, floats[plan.g_now + e]
        else:
            a, g_a = x, floats[plan.g_now + e]
        radius *= 0.5
    return b
