"""Fixed steps of eight runs in lockstep: one call of a kernel for all, entry by entry with eight lanes each.

All lanes have the same clock, which is that of the scalar memory (f, c); what differs between them is in `g`. Every lane does
the operations of `step` in their order, so its bits are those of the run alone: lanes whose projection is done keep their
row while others continue. Where a lane needs more than that (a degenerate pivot, loops that stay open), ALONE asks for this step to
be done by the scalar loop, run after run, from what was saved at its beginning.
Functions of the subset that `compiler.native_loops` makes native.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.native_loops import evaluate
from linkwright.compiler.records import ALL_LANES as LANES
from linkwright.integrators.memory_layout import (
    CLOSED,
    COUNTS,
    DUE,
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
    MemoryPlan,
    Output,
)
from linkwright.integrators.step import NEWTON_STEPS, due, on_loops
from linkwright.integrators.step_size import accepted, plan_step
from linkwright.integrators.time_loop import set_clocks

ALONE = -2  # some lane cannot do this step in lockstep
FIRST, COUNT, BUDGET, TASK, LANE, SAVED = range(6)  # whole numbers: the first run, lanes with a run of their own, ..., a saved clock
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
    active: int  # lanes whose projection continues; residuals of the last call and before
    residual: int
    before: int
    record: int  # counted so far, and before the step
    saved: int
    clock: int  # floats of the clock before the step: these have no lanes
    n_parameters: int


def lockstep(plan: MemoryPlan, e: Eight, floats: np.ndarray, counts: np.ndarray, g: np.ndarray, d: np.ndarray, out: Output) -> int:
    """One of the tasks: they share their code's memory, and being made."""
    if d[TASK] == MARCH:
        return march_eight(plan, e, floats, counts, g, d, out)
    if d[TASK] == LOAD:
        load_lane(plan, e, floats, counts, g, d, d[LANE])
    elif d[TASK] == TAKE:
        take_lane(plan, e, floats, counts, g, d[LANE])
    else:
        copy(g, e.new, e.y, LANES * plan.n)
        copy(g, e.K + plan.stages * plan.n * LANES, e.K, LANES * plan.n)
    return 0


def march_eight(plan: MemoryPlan, e: Eight, floats: np.ndarray, counts: np.ndarray, g: np.ndarray, d: np.ndarray, out: Output) -> int:
    """Continue for at most d[BUDGET] steps; RUNNING asks to be called again, ALONE for one step run by run."""
    if counts[STARTED] == 0:
        keep(e, floats, counts, g, d)
        if not begin_eight(plan, e, floats, counts, g, out):
            return ALONE
        samples_due(plan, e, counts, g, d, out, floats[START], 0.0)
        if floats[END] <= floats[START]:
            return FINISHED
    n = LANES * plan.n
    for _ in range(d[BUDGET]):
        if counts[STEPS] >= counts[MOST]:
            return TOO_MANY_STEPS
        keep(e, floats, counts, g, d)
        if not step_eight(plan, e, floats, counts, g) or not report_eight(plan, e, floats, counts, g, d, out):
            return ALONE
        copy(g, e.new, e.y, n)
        copy(g, e.K + plan.stages * n, e.K, n)
        floats[TIME] = floats[NEXT]
        if floats[TIME] >= floats[END]:
            return FINISHED
    return RUNNING


def take_lane(plan: MemoryPlan, e: Eight, floats: np.ndarray, counts: np.ndarray, g: np.ndarray, l: int) -> None:
    """Take the result of a step done alone, beside what was saved."""
    last = e.K + plan.stages * plan.n * LANES
    for i in range(plan.n):
        g[e.new + LANES * i + l] = floats[plan.y + i]
        g[last + LANES * i + l] = floats[plan.K + i]
    g[e.record + CALLS * LANES + l] = counts[PROJECTIONS]
    g[e.record + BACKED * LANES + l] = counts[FALLBACKS]
    g[e.record + VELOCITY * LANES + l] = floats[WORST_VELOCITY]
    g[e.record + CORRECTION * LANES + l] = floats[WORST_CORRECTION]
    g[e.record + POSITION * LANES + l] = floats[WORST_POSITION]


def load_lane(plan: MemoryPlan, e: Eight, floats: np.ndarray, counts: np.ndarray, g: np.ndarray, d: np.ndarray, l: int) -> None:
    """The scalar memory as it were before the step, had the run been alone."""
    for i in range(COUNTS):
        counts[i] = d[SAVED + i]
    for i in range(REALS):
        floats[i] = g[e.clock + i]
    counts[PROJECTIONS] = int(g[e.saved + CALLS * LANES + l])
    counts[FALLBACKS] = int(g[e.saved + BACKED * LANES + l])
    floats[WORST_VELOCITY] = g[e.saved + VELOCITY * LANES + l]
    floats[WORST_CORRECTION] = g[e.saved + CORRECTION * LANES + l]
    floats[WORST_POSITION] = g[e.saved + POSITION * LANES + l]
    for i in range(plan.n):
        floats[plan.y + i] = g[e.y + LANES * i + l]
        floats[plan.K + i] = g[e.K + LANES * i + l]
    first = e.x + LANES * (plan.n + 1)
    for i in range(e.n_parameters):
        floats[plan.x + plan.n + 1 + i] = g[first + LANES * i + l]


def keep(e: Eight, floats: np.ndarray, counts: np.ndarray, g: np.ndarray, d: np.ndarray) -> None:
    """Save what a step changes before it is accepted."""
    for i in range(COUNTS):
        d[SAVED + i] = counts[i]
    for i in range(REALS):
        g[e.clock + i] = floats[i]
    copy(g, e.record, e.saved, RECORD * LANES)


def copy(g: np.ndarray, source: int, target: int, n: int) -> None:
    for i in range(n):
        g[target + i] = g[source + i]


def begin_eight(plan: MemoryPlan, e: Eight, floats: np.ndarray, counts: np.ndarray, g: np.ndarray, out: Output) -> bool:
    """The clock and the first derivative; see `time_loop.begin`."""
    counts[STARTED] = 1
    floats[TIME] = floats[START]
    floats[NEXT] = floats[START]
    floats[USED_BEFORE] = 0.0
    copy(g, e.y, e.new, LANES * plan.n)
    copy(g, e.y, e.x, LANES * plan.n)
    return set_clocks(plan, floats, counts, out) == 0 and derivative_eight(plan, e, counts, g, 0, floats[START])


def derivative_eight(plan: MemoryPlan, e: Eight, counts: np.ndarray, g: np.ndarray, row: int, t: float) -> bool:
    """K[row] at the states in x and time t."""
    n = LANES * plan.n
    for l in range(LANES):
        g[e.x + n + l] = t
    counts[EVALUATIONS] += 1
    status = evaluate(e.rates, g, e.x, e.out, e.work, 1)
    copy(g, e.out, e.K + row * n, n)
    return status == 0


def stage_eight(plan: MemoryPlan, e: Eight, floats: np.ndarray, g: np.ndarray, row: int) -> None:
    """States of a stage into x."""
    stage_lanes(floats, plan.a + row * plan.width, row, floats[USED], g, e.x, e.y, e.K, LANES * plan.n)


def stage_lanes(a: np.ndarray, first: int, row: int, h: float, g: np.ndarray, x: int, y: int, K: int, n: int) -> None:
    """n numbers of g at x: y + h sum_j a[first + j] K[j] over the stages before `row`; see `runge_kutta.stage`."""
    terms, last = 0, -1
    for j in range(row):
        last = j if a[first + j] != 0.0 else last
    for j in range(last + 1):
        weight, at = a[first + j], K + j * n
        if weight != 0.0:
            if terms == 0 and j == last:  # one pass over the numbers for every term, and the sum with the last
                for i in range(n):
                    g[x + i] = g[y + i] + h * (0.0 + weight * g[at + i])
            elif terms == 0:
                for i in range(n):
                    g[x + i] = 0.0 + weight * g[at + i]
            elif j == last:
                for i in range(n):
                    g[x + i] = g[y + i] + h * (g[x + i] + weight * g[at + i])
            else:
                for i in range(n):
                    g[x + i] += weight * g[at + i]
            terms += 1
    if terms == 0:
        copy(g, y, x, n)


def step_eight(plan: MemoryPlan, e: Eight, floats: np.ndarray, counts: np.ndarray, g: np.ndarray) -> bool:
    """One step from y to new; see `step.attempt`."""
    if plan_step(plan, floats, counts) != 0:
        return False
    n, last = LANES * plan.n, plan.stages
    for s in range(1, last):
        stage_eight(plan, e, floats, g, s)
        if not derivative_eight(plan, e, counts, g, s, floats[TIME] + floats[plan.c + s] * floats[USED]):
            return False
    stage_eight(plan, e, floats, g, last)
    doubt = 0.0
    for i in range(n):
        doubt += 0.0 * g[e.x + i]
    if doubt != 0.0:
        return False
    counts[DUE] = due(plan, counts)
    if counts[DUE] + plan.n_unit > 0:
        copy(g, e.x, e.trial, n)
        if not settle_eight(plan, e, floats, counts, g, floats[NEXT]):
            return False
        copy(g, e.trial, e.x, n)
    copy(g, e.x, e.new, n)
    if not derivative_eight(plan, e, counts, g, last, floats[NEXT]):
        return False
    accepted(plan, floats, counts, 0.0)
    return True


def normalize_lanes(places: np.ndarray, first: int, count: int, g: np.ndarray, y: int) -> None:
    """Quaternions of the states at y get their length back; `count` of them start at places[first] and on."""
    for u in range(count):
        at = y + LANES * places[first + u]
        for l in range(LANES):
            s = 0.0
            for i in range(4):
                s += g[at + LANES * i + l] * g[at + LANES * i + l]
            for i in range(4):
                g[at + LANES * i + l] /= math.sqrt(s)


def corrected(g: np.ndarray, x: int, y: int, entries: int, active: int) -> None:
    """Entries at x of the lanes whose Newton steps continue become those just found at y."""
    for i in range(entries):
        for l in range(LANES):
            old, new = g[x + LANES * i + l], g[y + LANES * i + l]
            g[x + LANES * i + l] = new if g[active + l] > 0.0 else old


def settle_eight(plan: MemoryPlan, e: Eight, floats: np.ndarray, counts: np.ndarray, g: np.ndarray, t: float) -> bool:
    """The trial states onto the manifold, every lane with as many calls as it needs; see `step.settle`.

    A lane that is done is computed along with the others from the same row, so its outputs stay what they are.
    """
    normalize_lanes(counts, plan.unit, plan.n_unit, g, e.trial)
    if plan.projects == 0 or counts[DUE] == 0:
        return True
    n, nq = LANES * plan.nm, LANES * plan.nq
    copy(g, e.trial, e.x, n)
    for l in range(LANES):
        g[e.x + n + l] = t
        g[e.active + l] = 1.0
        g[e.before + l] = math.inf
    for call in range(NEWTON_STEPS):
        if evaluate(e.project, g, e.x, e.out, e.work, 1) != 0:
            return False
        if plan.once > 0:
            judge(plan, e, floats, g, call)
            copy(g, e.out, e.x, nq)
            break
        if judge(plan, e, floats, g, call) == 0.0:
            break
        corrected(g, e.x, e.out, plan.nq, e.active)
    for l in range(LANES):
        if plan.once == 0 and not g[e.residual + l] <= floats[WIDEST]:
            return False
        g[e.record + POSITION * LANES + l] = max(g[e.record + POSITION * LANES + l], g[e.residual + l])
    copy(g, e.x, e.trial, nq)
    copy(g, e.out + nq, e.trial + nq, n - nq)
    return True


def judge(plan: MemoryPlan, e: Eight, floats: np.ndarray, g: np.ndarray, call: int) -> float:
    """After a call of the projection: what is counted, and which lanes are done; returns how many continue."""
    out, more = e.out + LANES * plan.nm, 0.0
    for l in range(LANES):
        if g[e.active + l] == 0.0:
            continue
        g[e.record + CALLS * LANES + l] += 1.0
        residual, correction = g[out + l], g[out + 2 * LANES + l]
        g[e.residual + l] = residual
        if call == 0:
            g[e.record + VELOCITY * LANES + l] = max(g[e.record + VELOCITY * LANES + l], g[out + LANES + l])
            g[e.record + CORRECTION * LANES + l] = max(g[e.record + CORRECTION * LANES + l], correction)
        if on_loops(call, residual, g[e.before + l], correction, floats[CLOSED]):
            g[e.active + l] = 0.0
        else:
            g[e.before + l] = residual
            more += 1.0
    return more


def report_eight(plan: MemoryPlan, e: Eight, floats: np.ndarray, counts: np.ndarray, g: np.ndarray, d: np.ndarray, out: Output) -> bool:
    """Samples of the step just done; see `step_output.report`."""
    end = floats[NEXT]
    near = 8.0 * 2.2e-16 * max(abs(end), floats[USED])
    if counts[SAMPLE] < len(out.samples) and out.samples[counts[SAMPLE]] < end - near:
        prepare_eight(plan, e, floats, g)
    while counts[SAMPLE] < len(out.samples) and out.samples[counts[SAMPLE]] < end - near:
        if not inside_eight(plan, e, floats, counts, g, max(0.0, (out.samples[counts[SAMPLE]] - floats[TIME]) / floats[USED])):
            return False
        put_eight(plan, counts, g, d, out, e.trial)
    samples_due(plan, e, counts, g, d, out, end, near)
    return True


def samples_due(plan: MemoryPlan, e: Eight, counts: np.ndarray, g: np.ndarray, d: np.ndarray, out: Output, t: float, near: float) -> None:
    while counts[SAMPLE] < len(out.samples) and out.samples[counts[SAMPLE]] <= t + near:
        put_eight(plan, counts, g, d, out, e.new)


def put_eight(plan: MemoryPlan, counts: np.ndarray, g: np.ndarray, d: np.ndarray, out: Output, first: int) -> None:
    """The next sample of every run."""
    for l in range(d[COUNT]):
        row = (d[FIRST] + l) * len(out.samples) + counts[ROWS]
        out.rows[row, 0] = out.samples[counts[SAMPLE]]
        for i in range(plan.n):
            out.rows[row, 1 + i] = g[first + LANES * i + l]
    counts[ROWS] += 1
    counts[SAMPLE] += 1


def prepare_eight(plan: MemoryPlan, e: Eight, floats: np.ndarray, g: np.ndarray) -> None:
    """Cubic Hermite polynomials through the step; see `step.prepare_inside`."""
    h, n = floats[USED], LANES * plan.n
    last = e.K + plan.stages * n
    for i in range(n):
        rise = g[e.new + i] - g[e.y + i]
        bend = h * g[e.K + i] - rise
        g[e.inner + i] = rise
        g[e.inner + n + i] = bend
        g[e.inner + 2 * n + i] = rise - h * g[last + i] - bend


def inside_eight(plan: MemoryPlan, e: Eight, floats: np.ndarray, counts: np.ndarray, g: np.ndarray, theta: float) -> bool:
    """States at share theta of the step into trial, put onto the loops."""
    n = LANES * plan.n
    for i in range(n):
        s = (0.0 + g[e.inner + 2 * n + i]) * theta
        s = (s + g[e.inner + n + i]) * (1.0 - theta)
        s = (s + g[e.inner + i]) * theta
        g[e.trial + i] = g[e.y + i] + s
    return settle_eight(plan, e, floats, counts, g, floats[TIME] + theta * floats[USED])
