"""Fixed steps of eight runs in lockstep: one call of a kernel for all, entry by entry with eight lanes each.

All lanes have the same clock, which is that of the scalar memory (f, c); what differs between them is in `g`. Every lane does
the operations of `stepping` in their order, so its bits are those of the run alone: lanes whose projection is done keep their
row while others continue. Where a lane needs more than that (a degenerate pivot, loops that stay open), ALONE asks for this step to
be done by the scalar loop, run after run, from what was saved at its beginning.
Functions of the subset that `compiler.loops` makes native.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.loops import evaluate
from linkwright.integrators.control import accepted, plan_step
from linkwright.integrators.march import set_clocks
from linkwright.integrators.memory import (
    CLOSED,
    COUNTS,
    END,
    EVALUATIONS,
    FALLBACKS,
    FINISHED,
    MOST,
    NEXT,
    PROJECTIONS,
    REALS,
    ROWS,
    RUNNING,
    SAMPLE,
    START,
    STARTED,
    STEPS,
    TIME,
    TOO_MANY_STEPS,
    USED,
    USED_BEFORE,
    WIDEST,
    WORST_CORRECTION,
    WORST_POSITION,
    WORST_VELOCITY,
    Output,
    Plan,
)
from linkwright.integrators.stepping import NEWTON_STEPS, on_loops

LANES = 8
ALONE = -2  # some lane cannot do this step in lockstep
FIRST, COUNT, BUDGET, TASK, LANE, KEPT = range(6)  # whole numbers: the first run, lanes with a run of their own, ..., a kept clock
MARCH, LOAD, TAKE, COMMIT = range(4)  # tasks
CALLS, BACKED, VELOCITY, CORRECTION, POSITION, RECORD = range(6)  # what is counted for every lane


class Eight(NamedTuple):
    """Kernels by the address of their eight-lane code, and where blocks start in the floats; all have eight lanes per entry."""

    rates: Any
    project: Any
    y: int  # state, state after the step, state inside the step
    new: int
    trial: int
    K: int  # derivatives of the stages
    inner: int
    x: int  # row, outputs, work of the kernels
    out: int
    work: int
    active: int  # lanes whose projection goes on; residuals of the last call and before
    residual: int
    before: int
    record: int  # counted so far, and before the step
    kept: int
    clock: int  # floats of the clock before the step: these have no lanes
    n_parameters: int


def lockstep(p: Plan, e: Eight, f: np.ndarray, c: np.ndarray, g: np.ndarray, d: np.ndarray, o: Output) -> int:
    """One of the tasks: they share their code's memory, and being made."""
    if d[TASK] == MARCH:
        return march_eight(p, e, f, c, g, d, o)
    if d[TASK] == LOAD:
        load_lane(p, e, f, c, g, d, d[LANE])
    elif d[TASK] == TAKE:
        take_lane(p, e, f, c, g, d[LANE])
    else:
        copy(g, e.new, e.y, LANES * p.n)
        copy(g, e.K + p.stages * p.n * LANES, e.K, LANES * p.n)
    return 0


def march_eight(p: Plan, e: Eight, f: np.ndarray, c: np.ndarray, g: np.ndarray, d: np.ndarray, o: Output) -> int:
    """Continue for at most d[BUDGET] steps; RUNNING asks to be called again, ALONE for one step run by run."""
    if c[STARTED] == 0:
        keep(e, f, c, g, d)
        if not begin_eight(p, e, f, c, g, o):
            return ALONE
        samples_due(p, e, c, g, d, o, f[START], 0.0)
        if f[END] <= f[START]:
            return FINISHED
    n = LANES * p.n
    for _ in range(d[BUDGET]):
        if c[STEPS] >= c[MOST]:
            return TOO_MANY_STEPS
        keep(e, f, c, g, d)
        if not step_eight(p, e, f, c, g) or not report_eight(p, e, f, c, g, d, o):
            return ALONE
        copy(g, e.new, e.y, n)
        copy(g, e.K + p.stages * n, e.K, n)
        f[TIME] = f[NEXT]
        if f[TIME] >= f[END]:
            return FINISHED
    return RUNNING


def take_lane(p: Plan, e: Eight, f: np.ndarray, c: np.ndarray, g: np.ndarray, l: int) -> None:
    """What a step alone came to, beside what was saved."""
    last = e.K + p.stages * p.n * LANES
    for i in range(p.n):
        g[e.new + LANES * i + l] = f[p.y + i]
        g[last + LANES * i + l] = f[p.K + i]
    g[e.record + CALLS * LANES + l] = c[PROJECTIONS]
    g[e.record + BACKED * LANES + l] = c[FALLBACKS]
    g[e.record + VELOCITY * LANES + l] = f[WORST_VELOCITY]
    g[e.record + CORRECTION * LANES + l] = f[WORST_CORRECTION]
    g[e.record + POSITION * LANES + l] = f[WORST_POSITION]


def load_lane(p: Plan, e: Eight, f: np.ndarray, c: np.ndarray, g: np.ndarray, d: np.ndarray, l: int) -> None:
    """The scalar memory as it were before the step, had the run been alone."""
    for i in range(COUNTS):
        c[i] = d[KEPT + i]
    for i in range(REALS):
        f[i] = g[e.clock + i]
    c[PROJECTIONS] = int(g[e.kept + CALLS * LANES + l])
    c[FALLBACKS] = int(g[e.kept + BACKED * LANES + l])
    f[WORST_VELOCITY] = g[e.kept + VELOCITY * LANES + l]
    f[WORST_CORRECTION] = g[e.kept + CORRECTION * LANES + l]
    f[WORST_POSITION] = g[e.kept + POSITION * LANES + l]
    for i in range(p.n):
        f[p.y + i] = g[e.y + LANES * i + l]
        f[p.K + i] = g[e.K + LANES * i + l]
    first = e.x + LANES * (p.n + 1)
    for i in range(e.n_parameters):
        f[p.x + p.n + 1 + i] = g[first + LANES * i + l]


def keep(e: Eight, f: np.ndarray, c: np.ndarray, g: np.ndarray, d: np.ndarray) -> None:
    """What a step changes before it is sure to be done."""
    for i in range(COUNTS):
        d[KEPT + i] = c[i]
    for i in range(REALS):
        g[e.clock + i] = f[i]
    copy(g, e.record, e.kept, RECORD * LANES)


def copy(g: np.ndarray, source: int, target: int, n: int) -> None:
    for i in range(n):
        g[target + i] = g[source + i]


def begin_eight(p: Plan, e: Eight, f: np.ndarray, c: np.ndarray, g: np.ndarray, o: Output) -> bool:
    """The clock and the first derivative; see `march.begin`."""
    c[STARTED] = 1
    f[TIME] = f[START]
    f[NEXT] = f[START]
    f[USED_BEFORE] = 0.0
    copy(g, e.y, e.new, LANES * p.n)
    copy(g, e.y, e.x, LANES * p.n)
    return set_clocks(p, f, c, o) == 0 and derivative_eight(p, e, c, g, 0, f[START])


def derivative_eight(p: Plan, e: Eight, c: np.ndarray, g: np.ndarray, row: int, t: float) -> bool:
    """K[row] at the states in x and time t."""
    n = LANES * p.n
    for l in range(LANES):
        g[e.x + n + l] = t
    c[EVALUATIONS] += 1
    status = evaluate(e.rates, g, e.x, e.out, e.work, 1)
    copy(g, e.out, e.K + row * n, n)
    return status == 0


def stage_eight(p: Plan, e: Eight, f: np.ndarray, g: np.ndarray, row: int) -> None:
    """States of a stage into x; see `runge_kutta.stage`."""
    h, n = f[USED], LANES * p.n
    for i in range(n):
        g[e.x + i] = 0.0
    for j in range(row):
        a = f[p.a + row * p.width + j]
        if a != 0.0:
            first = e.K + j * n
            for i in range(n):
                g[e.x + i] += a * g[first + i]
    for i in range(n):
        g[e.x + i] = g[e.y + i] + h * g[e.x + i]


def step_eight(p: Plan, e: Eight, f: np.ndarray, c: np.ndarray, g: np.ndarray) -> bool:
    """One step from y to new; see `stepping.attempt`."""
    if plan_step(p, f, c) != 0:
        return False
    n, last = LANES * p.n, p.stages
    for s in range(1, last):
        stage_eight(p, e, f, g, s)
        if not derivative_eight(p, e, c, g, s, f[TIME] + f[p.c + s] * f[USED]):
            return False
    stage_eight(p, e, f, g, last)
    doubt = 0.0
    for i in range(n):
        doubt += 0.0 * g[e.x + i]
    if doubt != 0.0:
        return False
    if p.projects + p.n_unit > 0:
        copy(g, e.x, e.trial, n)
        if not settle_eight(p, e, f, c, g, f[NEXT]):
            return False
        copy(g, e.trial, e.x, n)
    copy(g, e.x, e.new, n)
    if not derivative_eight(p, e, c, g, last, f[NEXT]):
        return False
    accepted(p, f, c, 0.0)
    return True


def normalise_eight(p: Plan, e: Eight, c: np.ndarray, g: np.ndarray) -> None:
    """Quaternions of the trial states get their length back."""
    for u in range(p.n_unit):
        first = e.trial + LANES * c[p.unit + u]
        for l in range(LANES):
            s = 0.0
            for i in range(4):
                s += g[first + LANES * i + l] * g[first + LANES * i + l]
            for i in range(4):
                g[first + LANES * i + l] /= math.sqrt(s)


def settle_eight(p: Plan, e: Eight, f: np.ndarray, c: np.ndarray, g: np.ndarray, t: float) -> bool:
    """The trial states onto the manifold, every lane with as many calls as it needs; see `stepping.settle`.

    A lane that is done is computed along with the others from the same row, so its outputs stay what they are.
    """
    normalise_eight(p, e, c, g)
    if p.projects == 0:
        return True
    n, nq = LANES * p.nm, LANES * p.nq
    copy(g, e.trial, e.x, n)
    for l in range(LANES):
        g[e.x + n + l] = t
        g[e.active + l] = 1.0
        g[e.before + l] = math.inf
    for call in range(NEWTON_STEPS):
        if evaluate(e.project, g, e.x, e.out, e.work, 1) != 0:
            return False
        if p.once > 0:
            judge(p, e, f, g, call)
            copy(g, e.out, e.x, nq)
            break
        if judge(p, e, f, g, call) == 0.0:
            break
        for i in range(p.nq):
            for l in range(LANES):
                old, new = g[e.x + LANES * i + l], g[e.out + LANES * i + l]
                g[e.x + LANES * i + l] = new if g[e.active + l] > 0.0 else old
    for l in range(LANES):
        if p.once == 0 and not g[e.residual + l] <= f[WIDEST]:
            return False
        g[e.record + POSITION * LANES + l] = max(g[e.record + POSITION * LANES + l], g[e.residual + l])
    copy(g, e.x, e.trial, nq)
    copy(g, e.out + nq, e.trial + nq, n - nq)
    return True


def judge(p: Plan, e: Eight, f: np.ndarray, g: np.ndarray, call: int) -> float:
    """After a call of the projection: what is counted, and which lanes are done; returns how many continue."""
    out, more = e.out + LANES * p.nm, 0.0
    for l in range(LANES):
        if g[e.active + l] == 0.0:
            continue
        g[e.record + CALLS * LANES + l] += 1.0
        residual, correction = g[out + l], g[out + 2 * LANES + l]
        g[e.residual + l] = residual
        if call == 0:
            g[e.record + VELOCITY * LANES + l] = max(g[e.record + VELOCITY * LANES + l], g[out + LANES + l])
            g[e.record + CORRECTION * LANES + l] = max(g[e.record + CORRECTION * LANES + l], correction)
        if on_loops(call, residual, g[e.before + l], correction, f[CLOSED]):
            g[e.active + l] = 0.0
        else:
            g[e.before + l] = residual
            more += 1.0
    return more


def report_eight(p: Plan, e: Eight, f: np.ndarray, c: np.ndarray, g: np.ndarray, d: np.ndarray, o: Output) -> bool:
    """Samples of the step just done; see `reporting.report`."""
    end = f[NEXT]
    near = 8.0 * 2.2e-16 * max(abs(end), f[USED])
    if c[SAMPLE] < len(o.samples) and o.samples[c[SAMPLE]] < end - near:
        prepare_eight(p, e, f, g)
    while c[SAMPLE] < len(o.samples) and o.samples[c[SAMPLE]] < end - near:
        if not inside_eight(p, e, f, c, g, max(0.0, (o.samples[c[SAMPLE]] - f[TIME]) / f[USED])):
            return False
        put_eight(p, c, g, d, o, e.trial)
    samples_due(p, e, c, g, d, o, end, near)
    return True


def samples_due(p: Plan, e: Eight, c: np.ndarray, g: np.ndarray, d: np.ndarray, o: Output, t: float, near: float) -> None:
    while c[SAMPLE] < len(o.samples) and o.samples[c[SAMPLE]] <= t + near:
        put_eight(p, c, g, d, o, e.new)


def put_eight(p: Plan, c: np.ndarray, g: np.ndarray, d: np.ndarray, o: Output, first: int) -> None:
    """The next sample of every run."""
    for l in range(d[COUNT]):
        row = (d[FIRST] + l) * len(o.samples) + c[ROWS]
        o.rows[row, 0] = o.samples[c[SAMPLE]]
        for i in range(p.n):
            o.rows[row, 1 + i] = g[first + LANES * i + l]
    c[ROWS] += 1
    c[SAMPLE] += 1


def prepare_eight(p: Plan, e: Eight, f: np.ndarray, g: np.ndarray) -> None:
    """Cubic Hermite polynomials through the step; see `stepping.prepare_inside`."""
    h, n = f[USED], LANES * p.n
    last = e.K + p.stages * n
    for i in range(n):
        rise = g[e.new + i] - g[e.y + i]
        bend = h * g[e.K + i] - rise
        g[e.inner + i] = rise
        g[e.inner + n + i] = bend
        g[e.inner + 2 * n + i] = rise - h * g[last + i] - bend


def inside_eight(p: Plan, e: Eight, f: np.ndarray, c: np.ndarray, g: np.ndarray, theta: float) -> bool:
    """States at share theta of the step into trial, put onto the loops."""
    n = LANES * p.n
    for i in range(n):
        s = (0.0 + g[e.inner + 2 * n + i]) * theta
        s = (s + g[e.inner + n + i]) * (1.0 - theta)
        s = (s + g[e.inner + i]) * theta
        g[e.trial + i] = g[e.y + i] + s
    return settle_eight(p, e, f, c, g, f[TIME] + theta * f[USED])
