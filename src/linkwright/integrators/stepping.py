"""One step of a Runge-Kutta method as plain loops: stages, error, projection onto the loops, output inside the step.

All functions are in the subset Numba compiles and work on the memory they are given; they return 0 or the reason why they
could not. Equations: [Hairer1993, II.4 (step control), II.6 (continuous extension)].
"""

from __future__ import annotations

import math

from linkwright.compiler.numba_bridge import evaluate
from linkwright.integrators.memory import (
    CORRECTION, DEGENERATE, ERROR_BEFORE, EVALUATIONS, FAILED, FALLBACKS, HELD, NEXT, NOT_FINITE, OPEN, PROJECTIONS, REASON, REFUSALS,
    REJECTED, REJECTIONS, SMALLEST_STEP, STEP, STEPS, TIME, USED, WORST_CORRECTION, WORST_POSITION, WORST_VELOCITY, Memory, Options, Plan, Table,
)  # fmt: skip

NEWTON_STEPS = 6  # calls of the projection at most
STILL = 1e-15  # a correction (dimensionless) that moves nothing
JUMP = 100.0  # a correction that many times the step's error would be a jump to another branch
LEAST_ERROR = 0.01  # of the tolerance: an error estimate below this says nothing about corrections
SAFETY = 0.9


def derivative(p: Plan, m: Memory, row: int, t: float) -> int:
    """K[row] at the state in m.x and time t; a degenerate evaluation goes to the rank-revealing kernel."""
    m.x[p.n] = t
    m.count[EVALUATIONS] += 1
    status = evaluate(p.rates, m.x, m.rates, m.work)
    if status & DEGENERATE and p.rates_backed:
        m.count[FALLBACKS] += 1
        status = evaluate(p.rates_again, m.x, m.rates, m.work)
    for i in range(p.n):
        m.K[row, i] = m.rates[i]
    return cause(status)


def cause(status: int) -> int:
    """The gravest bit of a kernel's status word."""
    if status & FAILED:
        return FAILED
    if status & DEGENERATE:
        return DEGENERATE
    return status & NOT_FINITE


def stage(p: Plan, m: Memory, tab: Table, row: int, h: float) -> None:
    """State of a stage into m.x: y + h sum_j a[row, j] K[j]."""
    for i in range(p.n):
        m.x[i] = 0.0
    for j in range(row):
        a = tab.a[row, j]
        if a != 0.0:
            for i in range(p.n):
                m.x[i] += a * m.K[j, i]
    for i in range(p.n):
        m.x[i] = m.y[i] + h * m.x[i]


def permitted(m: Memory, o: Options, i: int) -> float:
    """Error of state i that the tolerance permits in this step."""
    return o.tolerance * (m.scale[i] + max(abs(m.y[i]), abs(m.new[i])))


def error_norm(p: Plan, m: Memory, tab: Table, o: Options, h: float) -> float:
    """Local error against what is permitted; two estimates are combined as in DOP853."""
    first, second = 0.0, 0.0
    for i in range(p.n):
        e0, e1 = 0.0, 0.0
        for j in range(tab.stages + 1):
            e0 += tab.error[0, j] * m.K[j, i]
        limit = permitted(m, o, i)
        first += (e0 / limit) * (e0 / limit)
        if tab.error.shape[0] > 1:
            for j in range(tab.stages + 1):
                e1 += tab.error[1, j] * m.K[j, i]
            second += (e1 / limit) * (e1 / limit)
    if first == 0.0:
        return 0.0
    if tab.error.shape[0] > 1:
        return h * first / math.sqrt((first + 0.01 * second) * p.n)
    return h * math.sqrt(first / p.n)


def settle(p: Plan, m: Memory, o: Options, t: float) -> int:
    """m.trial onto the manifold: unit quaternions, then closed loops and a velocity along them."""
    m.real[CORRECTION] = 0.0
    for place in p.unit:
        s = 0.0
        for i in range(place, place + 4):
            s += m.trial[i] * m.trial[i]
        s = math.sqrt(s)
        if s > 0.0:
            for i in range(place, place + 4):
                m.trial[i] /= s
    return close(p, m, o, t) if p.projects else 0


def close(p: Plan, m: Memory, o: Options, t: float) -> int:
    """Newton steps of the projection kernel until the residual is round-off, without a gate: one correction at least.

    The velocity is the one the last call gave, which was taken at the final position.
    """
    nq, n = p.nq, p.nq + p.nv
    for i in range(n):
        m.px[i] = m.trial[i]
    m.px[n] = t
    residual, before = 0.0, math.inf
    for call in range(NEWTON_STEPS):
        m.count[PROJECTIONS] += 1
        status = evaluate(p.project, m.px, m.py, m.work)
        if status & DEGENERATE and p.project_backed:
            m.count[FALLBACKS] += 1
            status = evaluate(p.project_again, m.px, m.py, m.work)
        if status != 0:
            return cause(status)
        residual = m.py[n]
        if call == 0:
            m.real[WORST_VELOCITY] = max(m.real[WORST_VELOCITY], m.py[n + 1])
            m.real[WORST_CORRECTION] = max(m.real[WORST_CORRECTION], m.py[n + 2])
        if m.py[n + 2] <= STILL or (call > 0 and (residual <= o.closed or residual > 0.5 * before)) or call == NEWTON_STEPS - 1:
            break
        before = residual
        for i in range(nq):
            m.px[i] = m.py[i]
    if not residual <= o.open:
        return OPEN
    m.real[WORST_POSITION] = max(m.real[WORST_POSITION], residual)
    moved = 0.0
    for i in range(nq):
        d = (m.px[i] - m.trial[i]) / permitted(m, o, i)
        moved += d * d
        m.trial[i] = m.px[i]
    m.real[CORRECTION] = math.sqrt(moved / max(nq, 1))
    for i in range(nq, n):
        m.trial[i] = m.py[i]
    return 0


def plan_step(m: Memory, tab: Table, o: Options) -> int:
    """Length and end of the next step: the last one ends exactly at the end."""
    t = m.real[TIME]
    if tab.adaptive:
        h = min(m.real[STEP], o.largest)
        m.real[USED], m.real[NEXT] = h, t + h
        if t + 1.01 * h >= o.end:
            m.real[USED], m.real[NEXT] = o.end - t, o.end
        elif h < max(o.smallest, 16.0 * 2.2e-16 * abs(t)):
            return m.count[REASON] if m.count[REASON] > 0 else SMALLEST_STEP
        return 0
    h = o.step
    m.real[USED], m.real[NEXT] = h, o.start + (m.count[STEPS] + 1) * h
    if m.real[NEXT] > o.end - 1e-9 * h:
        m.real[USED], m.real[NEXT] = o.end - t, o.end
    return 0


def attempt(p: Plan, m: Memory, tab: Table, o: Options) -> int:
    """Try one step from m.y to m.new. 0: accepted; REJECTED: a shorter one is planned; else the reason to stop."""
    outcome = plan_step(m, tab, o)
    if outcome != 0:
        return outcome
    h, t, last = m.real[USED], m.real[TIME], tab.stages
    for s in range(1, last):
        stage(p, m, tab, s, h)
        outcome = derivative(p, m, s, t + tab.c[s] * h)
        if outcome != 0:
            return stopped(m, tab, outcome)
    stage(p, m, tab, last, h)
    doubt = 0.0
    for i in range(p.n):
        m.new[i] = m.x[i]
        m.trial[i] = m.x[i]
        doubt += 0.0 * m.x[i]
    if doubt != 0.0:
        return stopped(m, tab, NOT_FINITE)
    error, known = 0.0, False
    if tab.adaptive:
        if tab.last_in_error:
            outcome = derivative(p, m, last, m.real[NEXT])
            known = True
            if outcome != 0:
                return stopped(m, tab, outcome)
        error = error_norm(p, m, tab, o, h)
        if not error < math.inf:
            return stopped(m, tab, NOT_FINITE)
        if error > 1.0:
            return rejected(m, max(tab.shrink, SAFETY * error ** (-tab.exponent)), 0)
    if p.projects or len(p.unit) > 0:
        outcome = settle(p, m, o, m.real[NEXT])
        if outcome != 0:
            return stopped(m, tab, outcome)
        if tab.adaptive and m.real[CORRECTION] > JUMP * max(error, LEAST_ERROR):
            m.count[REFUSALS] += 1
            return rejected(m, 0.5, OPEN)
        for i in range(p.n):
            m.new[i] = m.trial[i]
            m.x[i] = m.trial[i]
        known = False
    if not known:
        outcome = derivative(p, m, last, m.real[NEXT])
        if outcome != 0:
            return stopped(m, tab, outcome)
    accepted(m, tab, error)
    return 0


def accepted(m: Memory, tab: Table, error: float) -> None:
    """Count the step and plan the next by proportional-integral control  [Hairer1993, II.4]."""
    m.count[STEPS] += 1
    if tab.adaptive:
        factor = tab.grow
        if error > 0.0:
            factor = SAFETY * error ** (0.75 * tab.memory - tab.exponent) * m.real[ERROR_BEFORE] ** tab.memory
            factor = min(tab.grow, max(tab.shrink, factor))
        if m.count[HELD] > 0:
            factor = min(1.0, factor)
        m.real[STEP] = m.real[USED] * factor
        m.real[ERROR_BEFORE] = max(error, 1e-4)
    m.count[HELD] = 0
    m.count[REASON] = 0


def rejected(m: Memory, factor: float, reason: int) -> int:
    m.count[REJECTIONS] += 1
    m.count[HELD] = 1
    m.count[REASON] = reason
    m.real[STEP] = m.real[USED] * factor
    return REJECTED


def stopped(m: Memory, tab: Table, reason: int) -> int:
    """A stage outside of what the equations allow asks for a shorter step where steps may change."""
    if tab.adaptive and (reason == NOT_FINITE or reason == OPEN):
        return rejected(m, 0.25, reason)
    return reason


def prepare_inside(p: Plan, m: Memory, tab: Table) -> int:
    """Coefficients of the polynomial through the step: cubic Hermite and the method's own further terms."""
    h, t = m.real[USED], m.real[TIME]
    for row in range(tab.stages + 1, tab.a.shape[0]):
        stage(p, m, tab, row, h)
        outcome = derivative(p, m, row, t + tab.c[row] * h)
        if outcome != 0:
            return outcome
    for i in range(p.n):
        rise = m.new[i] - m.y[i]
        bend = h * m.K[0, i] - rise
        m.dense[0, i] = m.y[i]
        m.dense[1, i] = rise
        m.dense[2, i] = bend
        m.dense[3, i] = rise - h * m.K[tab.stages, i] - bend
    for k in range(tab.dense.shape[0]):
        for i in range(p.n):
            s = 0.0
            for j in range(tab.dense.shape[1]):
                s += tab.dense[k, j] * m.K[j, i]
            m.dense[4 + k, i] = h * s
    return 0


def inside(p: Plan, m: Memory, o: Options, theta: float) -> int:
    """State at share theta of the step into m.trial, put onto the loops."""
    rows = m.dense.shape[0]
    for i in range(p.n):
        s = 0.0
        for k in range(rows - 1, 0, -1):
            s = (s + m.dense[k, i]) * (theta if k % 2 == 1 else 1.0 - theta)
        m.trial[i] = m.dense[0, i] + s
    return settle(p, m, o, m.real[TIME] + theta * m.real[USED])
