"""The time loop: steps until the end, an event or a reason to stop; samples and events on the way.

`march` is called in slices of some steps and carries everything in its memory, so results do not depend on where it was
cut. Events are sign changes of their functions between accepted steps, located on the projected state inside the step; a
function that only touches zero is no event.
"""

from __future__ import annotations

import math

from linkwright.compiler.numba_bridge import evaluate
from linkwright.integrators.memory import (
    ERROR_BEFORE, EVENT, EVENTS, FINISHED, NEXT, REJECTED, REJECTIONS, ROWS, RUNNING, SAMPLE, STARTED, STEP, STEPS, TIME, TOO_MANY_STEPS, USED,
    VALUE, Memory, Options, Plan, Table,
)  # fmt: skip
from linkwright.integrators.stepping import attempt, cause, derivative, inside, permitted, prepare_inside

SHARPEST = 1e-13  # share of a step to which an event is located
NOWHERE = 2.0  # a place in the step that is none


def march(p: Plan, m: Memory, tab: Table, o: Options, budget: int) -> int:
    """Go on for at most `budget` attempted steps; RUNNING asks to be called again."""
    if m.count[STARTED] == 0:
        outcome = begin(p, m, tab, o)
        if outcome != RUNNING:
            return outcome
    for _ in range(budget):
        if (not o.sampled and m.count[ROWS] >= len(m.out_t)) or m.count[EVENTS] + p.n_events > len(m.event_t):
            return RUNNING  # the caller empties the buffers
        if m.count[STEPS] + m.count[REJECTIONS] >= o.most:
            return TOO_MANY_STEPS
        outcome = attempt(p, m, tab, o)
        if outcome == REJECTED:
            continue
        if outcome == 0:
            outcome = report(p, m, tab, o)
        if outcome != 0:
            return outcome
        for i in range(p.n):
            m.y[i] = m.new[i]
            m.K[0, i] = m.K[tab.stages, i]
        m.real[TIME] = m.real[NEXT]
        if m.real[TIME] >= o.end:
            return FINISHED
    return RUNNING


def begin(p: Plan, m: Memory, tab: Table, o: Options) -> int:
    """First derivative, sides of the event functions, first output, first step."""
    m.count[STARTED] = 1
    m.real[TIME] = o.start
    m.real[ERROR_BEFORE] = 1e-4
    for i in range(p.n):
        m.new[i] = m.y[i]
        m.x[i] = m.y[i]
    outcome = derivative(p, m, 0, o.start)
    if outcome != 0:
        return outcome
    if p.n_events > 0:
        m.x[p.n] = o.start
        outcome = cause(evaluate(p.events, m.x, m.g, m.work))
        if outcome != 0:
            return outcome
        for e in range(p.n_events):
            m.side[e] = sign(m.g[e])
    if not o.sampled:
        keep(p, m, o.start, 0)
    else:
        while m.count[SAMPLE] < len(m.samples) and m.samples[m.count[SAMPLE]] <= o.start:
            m.count[SAMPLE] += 1
            keep(p, m, o.start, 0)
    if o.end <= o.start:
        return FINISHED
    m.real[STEP] = o.step if o.step > 0.0 else first_step(p, m, tab, o)
    return RUNNING


def sign(x: float) -> int:
    return 1 if x > 0.0 else (-1 if x < 0.0 else 0)


def first_step(p: Plan, m: Memory, tab: Table, o: Options) -> float:
    """A step whose first neglected derivative is small, guessed by one explicit Euler step  [Hairer1993, II.4]."""
    d0, d1, d2 = 0.0, 0.0, 0.0
    for i in range(p.n):
        limit = permitted(m, o, i)
        size, speed = m.y[i] / limit, m.K[0, i] / limit
        d0 += size * size
        d1 += speed * speed
    d0, d1 = math.sqrt(d0 / max(p.n, 1)), math.sqrt(d1 / max(p.n, 1))
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, o.end - o.start, o.largest)
    for i in range(p.n):
        m.x[i] = m.y[i] + h0 * m.K[0, i]
    if derivative(p, m, 1, o.start + h0) != 0:
        return 1e-3 * h0
    for i in range(p.n):
        change = (m.K[1, i] - m.K[0, i]) / permitted(m, o, i)
        d2 += change * change
    d2 = math.sqrt(d2 / max(p.n, 1)) / h0
    steepest = max(d1, d2)
    h1 = max(1e-6, 1e-3 * h0) if steepest <= 1e-15 else (0.01 / steepest) ** tab.exponent
    return min(100.0 * h0, h1, o.end - o.start, o.largest)


def keep(p: Plan, m: Memory, t: float, source: int) -> None:
    """Next output row: the state before the step (0), after it (1), or the one inside it (2)."""
    row = m.count[ROWS]
    m.count[ROWS] += 1
    m.out_t[row] = t
    for i in range(p.n):
        m.out_y[row, i] = m.y[i] if source == 0 else (m.new[i] if source == 1 else m.trial[i])


def report(p: Plan, m: Memory, tab: Table, o: Options) -> int:
    """Events and samples of the step just accepted. 0, or EVENT where a terminal one ends the run, or a reason to stop."""
    begin_t, end_t, h = m.real[TIME], m.real[NEXT], m.real[USED]
    crossed = False
    if p.n_events > 0:
        for i in range(p.n):
            m.x[i] = m.new[i]
        m.x[p.n] = end_t
        outcome = cause(evaluate(p.events, m.x, m.g_new, m.work))
        if outcome != 0:
            return outcome
        crossed = crossings(p, m)
    at_end = 8.0 * 2.2e-16 * max(abs(end_t), h)  # a sample that close to the step's end is the step's end
    wanted = o.sampled and m.count[SAMPLE] < len(m.samples) and m.samples[m.count[SAMPLE]] < end_t - at_end
    if crossed or wanted:
        outcome = prepare_inside(p, m, tab)
        if outcome != 0:
            return outcome
    final = NOWHERE
    if crossed:
        outcome = locate(p, m, o)
        if outcome != 0:
            return outcome
        for e in range(p.n_events):
            if m.terminal[e] > 0:
                final = min(final, m.theta[e])
        outcome = note_events(p, m, o, final)
        if outcome != 0:
            return outcome
    last_t = begin_t + final * h if final < NOWHERE else end_t
    while o.sampled and m.count[SAMPLE] < len(m.samples) and m.samples[m.count[SAMPLE]] <= last_t + at_end:
        t = m.samples[m.count[SAMPLE]]
        m.count[SAMPLE] += 1
        if t >= end_t - at_end and final == NOWHERE:
            keep(p, m, t, 1)
            continue
        outcome = inside(p, m, o, min((t - begin_t) / h, final if final < NOWHERE else 1.0))
        if outcome != 0:
            return outcome
        keep(p, m, t, 2)
    return finish_at_event(p, m, o, final) if final < NOWHERE else keep_step(p, m, o, end_t)


def keep_step(p: Plan, m: Memory, o: Options, t: float) -> int:
    if not o.sampled:
        keep(p, m, t, 1)
    for e in range(p.n_events):
        m.g[e] = m.g_new[e]
        if m.g_new[e] != 0.0:
            m.side[e] = sign(m.g_new[e])
    return 0


def finish_at_event(p: Plan, m: Memory, o: Options, theta: float) -> int:
    outcome = inside(p, m, o, theta)
    if outcome != 0:
        return outcome
    m.real[TIME] += theta * m.real[USED]
    for i in range(p.n):
        m.y[i] = m.trial[i]
    if not o.sampled:
        keep(p, m, m.real[TIME], 0)
    return EVENT


def crossings(p: Plan, m: Memory) -> bool:
    """Which event functions changed sign in the wanted direction; 0.5 stands for a place not yet known."""
    some = False
    for e in range(p.n_events):
        now = sign(m.g_new[e])
        hit = now * m.side[e] < 0 and (m.direction[e] == 0 or m.direction[e] == now)
        m.theta[e] = 0.5 if hit else NOWHERE
        some = some or hit
    return some


def locate(p: Plan, m: Memory, o: Options) -> int:
    """Where in the step: a bracket that shrinks at least as fast as bisection, steered by the chord (ITP)."""
    sharp = max(SHARPEST, 4.0 * 2.2e-16 * abs(m.real[NEXT]) / m.real[USED])
    for e in range(p.n_events):
        if m.theta[e] == NOWHERE:
            continue
        a, b, g_a, g_b = 0.0, 1.0, m.g[e], m.g_new[e]
        radius = 2.0 * sharp * 2.0 ** math.ceil(math.log2(0.5 / sharp))
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
            outcome = event_value(p, m, o, x, e)
            if outcome != 0:
                return outcome
            value = m.real[VALUE]
            if sign(value) == sign(g_b):
                b, g_b = x, value
            else:
                a, g_a = x, value
            radius *= 0.5
        m.theta[e] = b
    return 0


def event_value(p: Plan, m: Memory, o: Options, theta: float, e: int) -> int:
    outcome = inside(p, m, o, theta)
    if outcome != 0:
        return outcome
    for i in range(p.n):
        m.x[i] = m.trial[i]
    m.x[p.n] = m.real[TIME] + theta * m.real[USED]
    outcome = cause(evaluate(p.events, m.x, m.py, m.work))
    m.real[VALUE] = m.py[e]
    return outcome


def note_events(p: Plan, m: Memory, o: Options, final: float) -> int:
    """Record the crossings up to the final one, in order of time."""
    done = -1.0
    for _ in range(p.n_events):
        nearest = -1
        for e in range(p.n_events):
            later = m.theta[e] > done
            if later and m.theta[e] <= final and m.theta[e] < NOWHERE and (nearest < 0 or m.theta[e] < m.theta[nearest]):
                nearest = e
        if nearest < 0:
            return 0
        done = m.theta[nearest]
        outcome = inside(p, m, o, done)
        if outcome != 0:
            return outcome
        for e in range(p.n_events):
            if m.theta[e] == done:
                row = m.count[EVENTS]
                m.count[EVENTS] += 1
                m.event_t[row] = m.real[TIME] + done * m.real[USED]
                m.event_i[row] = e
                for i in range(p.n):
                    m.event_y[row, i] = m.trial[i]
    return 0
