"""A plain run of fixed steps: the loops of the general time stepper (`time_loop`) without inputs, events, samplers and error estimates.

They are written for one run. Machine code does eight runs at a time, each with the bits and the counts of the run alone; a run that ends
leaves its neighbors alone. `counts` and `reals` are the first numbers of a memory, with the places of `memory_layout`.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import (
    Column,
    Floats,
    IntColumn,
    Ints,
    Kernel,
    Matrix,
    Record,
    Rows,
    Shared,
    SharedInts,
    SharedMatrix,
    copy,
    run,
    sized,
)
from linkwright.integrators.memory_layout import (
    CLOSED,
    CORRECTED,
    DEGENERATE,
    DUE,
    END,
    EVALUATIONS,
    FALLBACKS,
    FINISHED,
    FIXED,
    GRID,
    MOST,
    NEXT,
    NOT_FINITE,
    OFF,
    OPEN,
    ORIGIN,
    PROJECTIONS,
    ROWS,
    RUNNING,
    SAMPLE,
    START,
    STARTED,
    STEPS,
    TIME,
    TOO_MANY_STEPS,
    USED,
    WIDEST,
    WORST_CORRECTION,
    WORST_POSITION,
    WORST_VELOCITY,
)
from linkwright.integrators.runge_kutta import cause, finite, put_row, stage_from
from linkwright.integrators.step import NEWTON_STEPS, on_loops
from linkwright.integrators.step_size import SAME_STEP


class StateInputs(Record):
    row: Floats  # state, time, parameters
    state: Floats
    t: Floats
    parameters: Floats


class AloneInputs(Record):
    row: Floats


class RateOutputs(Record):
    rates: Floats


class StateOutputs(Record):
    state: Floats
    residual: Floats
    drift: Floats  # of the velocity before
    correction: Floats


class Rates(Kernel):
    x: StateInputs
    y: RateOutputs


class RatesAgain(Kernel):
    """The rank-revealing path."""

    alone = True
    x: AloneInputs
    y: RateOutputs


class Project(Kernel):
    x: StateInputs
    y: StateOutputs


class ProjectAgain(Kernel):
    """The rank-revealing path."""

    alone = True
    x: AloneInputs
    y: StateOutputs


class FixedRun(Record):
    nq: int
    stages: int
    backed: int  # 1: there is a second kernel for the rates
    projects: int  # 0: no projection, 1: with one kernel, 2: with both
    once: int  # 1: one call of it is the whole correction
    often: int  # steps from one correction to the next
    rates: Rates
    project: Project
    rates_again: RatesAgain
    project_again: ProjectAgain
    counts: Ints = sized("counts")
    reals: Floats = sized("reals")
    code: Ints = sized(1)  # why it has ended, or RUNNING
    due: float  # time of the next sample; without one, infinity
    y: Floats = sized("n")  # state, state after the step, state inside the step
    new: Floats = sized("n")
    trial: Floats = sized("n")
    K: Matrix = sized("rows", "n")  # derivatives of the stages, and at the new state
    inner: Matrix = sized(3, "n")  # the cubic through the step
    a: SharedMatrix = sized("rows", "rows")  # the method
    c: Shared = sized("rows")
    unit: SharedInts = sized("n_unit")  # where quaternions start


def derivative(f: FixedRun, row: int, t: float) -> int:
    """K[row] at the state in the row and time t; see `runge_kutta.rates_at`."""
    x, y = f.rates.x, f.rates.y
    x.t[0] = t
    status = run(f.rates)
    put_row(f.K, row, y.rates)
    return 0 if status == 0 else revealed(f, row, status)


def revealed(f: FixedRun, row: int, status: int) -> int:
    """A degenerate evaluation goes to the rank-revealing kernel. A state that is not finite is not asked about, and does not count."""
    x, again = f.rates.x, f.rates_again
    if not finite(x.state):
        f.counts[EVALUATIONS] -= 1
        return NOT_FINITE
    if status & DEGENERATE and f.backed > 0:
        f.counts[FALLBACKS] += 1
        copy(again.x.row, x.row)
        outcome = cause(run(again))
        put_row(f.K, row, again.y.rates)
        return outcome
    return cause(status)


def plan_step(f: FixedRun) -> None:
    """Length and end of the next step: the last one ends exactly at the end; see `step_size.plan_step`."""
    f.reals[USED] = f.reals[FIXED]
    f.reals[NEXT] = f.reals[ORIGIN] + (f.counts[GRID] + 1) * f.reals[FIXED]
    whole = f.counts[OFF] == 0
    f.counts[OFF] = 0
    if f.reals[NEXT] > f.reals[END] - SAME_STEP * f.reals[FIXED]:
        f.reals[NEXT] = f.reals[END]
        whole = False
    if not whole:
        f.reals[USED] = f.reals[NEXT] - f.reals[TIME]


def attempt(f: FixedRun) -> int:
    """One step from y to new; 0, or why there is none; see `step.attempt`."""
    x = f.rates.x
    plan_step(f)
    for s in range(1, f.stages):
        stage_from(x.state, f.y, f.K, f.a, s, f.reals[USED])
        outcome = derivative(f, s, f.reals[TIME] + f.c[s] * f.reals[USED])
        if outcome != 0:
            f.counts[EVALUATIONS] += s
            return outcome
    f.counts[EVALUATIONS] += f.stages - 1
    stage_from(x.state, f.y, f.K, f.a, f.stages, f.reals[USED])
    if not finite(x.state):
        return NOT_FINITE
    copy(f.new, x.state)
    f.counts[DUE] = 1 if f.projects > 0 and (f.counts[STEPS] + 1) % f.often == 0 else 0
    if f.counts[DUE] + len(f.unit) > 0:
        copy(f.trial, x.state)
        outcome = settle(f, f.reals[NEXT])
        if outcome != 0:
            return outcome
        f.counts[DUE] = f.counts[CORRECTED]  # states inside the step are corrected if its end is
        copy(f.new, f.trial)
        copy(x.state, f.trial)
    outcome = derivative(f, f.stages, f.reals[NEXT])
    f.counts[EVALUATIONS] += 1
    if outcome == 0:
        f.counts[STEPS] += 1
        f.counts[GRID] += 1 - f.counts[OFF]
    return outcome


def normalize(f: FixedRun) -> None:
    """Quaternions of the trial state get their length back."""
    for u in range(len(f.unit)):
        s = 0.0
        for i in range(4):
            s += f.trial[f.unit[u] + i] * f.trial[f.unit[u] + i]
        for i in range(4):
            f.trial[f.unit[u] + i] /= math.sqrt(s)


def settle(f: FixedRun, t: float) -> int:
    """The trial state onto the manifold, with as many Newton steps as it needs; see `step.project`."""
    x, y = f.rates.x, f.project.y
    f.counts[CORRECTED] = 0
    normalize(f)
    if f.projects == 0 or f.counts[DUE] == 0:
        return 0
    copy(x.state, f.trial)
    x.t[0] = t
    f.counts[CORRECTED] = 1
    before = math.inf
    for call in range(NEWTON_STEPS):
        f.counts[PROJECTIONS] += 1
        status = run(f.project)
        if status & DEGENERATE and f.projects > 1:
            status = projected(f)
        if status != 0:
            return cause(status)
        residual, correction = y.residual[0], y.correction[0]
        if call == 0:
            f.reals[WORST_VELOCITY] = max(f.reals[WORST_VELOCITY], y.drift[0])
            f.reals[WORST_CORRECTION] = max(f.reals[WORST_CORRECTION], correction)
        done = f.once > 0 or on_loops(call, residual, before, correction, f.reals[CLOSED])
        if f.once > 0 or not done:
            for i in range(f.nq):
                x.state[i] = y.state[i]
        if done:
            return settled(f, residual)
        before = residual
    return OPEN


def settled(f: FixedRun, residual: float) -> int:
    """The position in the row and the velocity just found, as the trial state."""
    if f.once == 0 and not residual <= f.reals[WIDEST]:
        return OPEN
    f.reals[WORST_POSITION] = max(f.reals[WORST_POSITION], residual)
    for i in range(f.nq):
        f.trial[i] = f.rates.x.state[i]
    for i in range(f.nq, len(f.y)):
        f.trial[i] = f.project.y.state[i]
    return 0


def projected(f: FixedRun) -> int:
    """The rank-revealing projection in place of the one that degenerated; its status."""
    again, y = f.project_again, f.project.y
    f.counts[FALLBACKS] += 1
    copy(again.x.row, f.rates.x.row)
    status = run(again)
    copy(y.state, again.y.state)
    copy(y.residual, again.y.residual)
    copy(y.drift, again.y.drift)
    copy(y.correction, again.y.correction)
    return status


def report(f: FixedRun, samples: Column, rows: Rows, n: int) -> int:
    """Samples of the step just done; see `step_output.report`."""
    end, h = f.reals[NEXT], f.reals[USED]
    near = 8.0 * 2.2e-16 * max(abs(end), h)
    if f.due < end - near:
        for i in range(len(f.y)):
            rise = f.new[i] - f.y[i]
            bend = h * f.K[0, i] - rise
            f.inner[0, i] = rise
            f.inner[1, i] = bend
            f.inner[2, i] = rise - h * f.K[f.stages, i] - bend
    while f.due < end - near:
        theta = max(0.0, (f.due - f.reals[TIME]) / h)
        for i in range(len(f.y)):
            s = (0.0 + f.inner[2, i]) * theta
            s = (s + f.inner[1, i]) * (1.0 - theta)
            s = (s + f.inner[0, i]) * theta
            f.trial[i] = f.y[i] + s
        outcome = settle(f, f.reals[TIME] + theta * h)
        if outcome != 0:
            return outcome
        put(f, f.trial, samples, rows, n)
    put_samples(f, f.new, samples, rows, n, end + near)
    return 0


def put(f: FixedRun, state: Floats, samples: Column, rows: Rows, n: int) -> None:
    """A state as the next sample."""
    k = f.counts[SAMPLE]
    rows[k, 0] = f.due
    for i in range(len(state)):
        rows[k, 1 + i] = state[i]
    f.counts[SAMPLE] = k + 1
    f.counts[ROWS] = k + 1
    f.due = samples[k + 1] if k + 1 < n else math.inf


def put_samples(f: FixedRun, state: Floats, samples: Column, rows: Rows, n: int, until: float) -> None:
    """A known state as the samples due until then."""
    while f.due <= until:
        put(f, state, samples, rows, n)


def begin(f: FixedRun, start: Column, parameters: Column, reals: Column, most: int) -> int:
    """The memory before the first step, the clock, and the first derivative; see `time_loop.begin`."""
    x = f.rates.x
    for i in range(len(f.counts)):
        f.counts[i] = 0
    for i in range(len(f.reals)):
        f.reals[i] = reals[i]
    for i in range(len(f.y)):
        f.y[i] = start[i]
    for i in range(len(x.parameters)):
        x.parameters[i] = parameters[i]
    copy(x.state, f.y)
    f.counts[MOST] = most
    f.counts[STARTED] = 1
    f.reals[TIME] = f.reals[START]
    f.reals[NEXT] = f.reals[START]
    past = f.reals[START] - f.reals[ORIGIN]
    f.counts[GRID] = int(past / f.reals[FIXED] + SAME_STEP)
    f.counts[OFF] = 1 if past - f.counts[GRID] * f.reals[FIXED] > SAME_STEP * f.reals[FIXED] else 0
    f.counts[EVALUATIONS] = 1
    return derivative(f, 0, f.reals[START])


def step(f: FixedRun, samples: Column, rows: Rows, n: int) -> int:
    """One step with its samples; RUNNING, FINISHED, or why there is none."""
    if f.counts[STEPS] >= f.counts[MOST]:
        return TOO_MANY_STEPS
    outcome = attempt(f)
    if outcome == 0:
        outcome = report(f, samples, rows, n)
    if outcome != 0:
        return outcome
    copy(f.y, f.new)
    for i in range(len(f.y)):
        f.K[0, i] = f.K[f.stages, i]
    f.reals[TIME] = f.reals[NEXT]
    return FINISHED if f.reals[TIME] >= f.reals[END] else RUNNING


def march(
    f: FixedRun,
    start: Column,
    parameters: Column,
    fresh: Column,
    samples: Column,
    rows: Rows,
    counts: IntColumn,
    reals: Column,
    end: Column,
    n: int,
    most: int,
    first: bool,
    budget: int,
) -> int:
    """Continue for at most so many steps, at first from the start; RUNNING asks to be called again. How far it came and how goes into
    counts, reals and end."""
    if first:
        f.due = samples[0] if n > 0 else math.inf
        f.code[0] = begin(f, start, parameters, fresh, most)
        if f.code[0] == 0:
            put_samples(f, f.y, samples, rows, n, f.reals[START])
            if f.reals[END] <= f.reals[START]:
                f.code[0] = FINISHED
    for _ in range(budget):
        if f.code[0] != RUNNING:
            break
        f.code[0] = step(f, samples, rows, n)
    for i in range(len(f.counts)):
        counts[i] = f.counts[i]
    for i in range(len(f.reals)):
        reals[i] = f.reals[i]
    for i in range(len(f.y)):
        end[i] = f.y[i]
    return f.code[0]
