"""One step as plain loops: stages, error, projection onto the loops, output inside the step.

All functions are in the subset that `compiler.native_loops` makes native. `plan`, `floats` and `counts` are
those of `memory`; they return 0 or the reason why they could not. Equations: [Hairer1993, II.4 (step control), II.6
(inside a step)].
"""

from __future__ import annotations

import math

import numpy as np

from linkwright.compiler.native_loops import evaluate
from linkwright.integrators.break_points import hidden
from linkwright.integrators.memory_layout import (
    ABOVE,
    CLOSED,
    CORRECTED,
    CORRECTION,
    DEGENERATE,
    DUE,
    EXPONENT,
    FALLBACKS,
    NEXT,
    NOT_FINITE,
    OPEN,
    PROJECTIONS,
    REFUSALS,
    SAFETY,
    SHRINK,
    STEPS,
    TIME,
    TOLERANCE,
    TURNED,
    USED,
    WIDEST,
    WORST_CORRECTION,
    WORST_POSITION,
    WORST_VELOCITY,
    MemoryPlan,
)
from linkwright.integrators.rosenbrock import implicit_stages
from linkwright.integrators.runge_kutta import cause, derivative, drive, explicit_stages, stage
from linkwright.integrators.step_size import accepted, plan_step, rejected, stopped
from linkwright.integrators.stop_rests import back

NEWTON_STEPS = 6  # calls of the projection at most
STILL = 1e-15  # a correction (dimensionless) that moves nothing
JUMP = 100.0  # a correction that many times the step's error would be a jump to another branch
TOO_FAR = 2.0  # rad in one step: beyond pi turns would be miscounted
LEAST_ERROR = 0.01  # of the tolerance: an error estimate below this says nothing about corrections


def permit(plan: MemoryPlan, floats: np.ndarray) -> None:
    """Error of every state that the tolerance permits in this step."""
    for i in range(plan.judged):
        floats[plan.permitted + i] = floats[TOLERANCE] * (floats[plan.scale + i] + max(abs(floats[plan.y + i]), abs(floats[plan.new + i])))


def error_norm(plan: MemoryPlan, floats: np.ndarray) -> float:
    """Local error against what is permitted; two estimates are combined as in DOP853."""
    first, second = 0.0, 0.0
    for i in range(plan.judged):
        for k in range(plan.n_error):
            e = 0.0
            for j in range(plan.stages + plan.closing):
                e += floats[plan.error + k * plan.width + j] * floats[plan.K + j * plan.n + i]
            e /= floats[plan.permitted + i]
            if k == 0:
                first += e * e
            else:
                second += e * e
    if first == 0.0:
        return 0.0
    if plan.n_error > 1:
        return floats[USED] * first / math.sqrt((first + 0.01 * second) * plan.judged)
    return floats[USED] * math.sqrt(first / plan.judged)


def normalize(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> None:
    """Quaternions of the trial state get their length back."""
    for u in range(plan.n_unit):
        first = plan.trial + counts[plan.unit + u]
        s = 0.0
        for i in range(first, first + 4):
            s += floats[i] * floats[i]
        for i in range(first, first + 4):
            floats[i] /= math.sqrt(s)


def on_loops(call: int, residual: float, before: float, correction: float, closed: float) -> bool:
    """True if a Newton step was the last: it moved nothing, or the residual it began with is round-off. One is done at least."""
    return correction <= STILL or (call > 0 and (residual <= closed or residual > 0.5 * before)) or call == NEWTON_STEPS - 1


def settle(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, t: float) -> int:
    """The trial state onto the manifold, and onto the ends of rigid stops that hold."""
    outcome = project(plan, floats, counts, t)
    if outcome == 0 and plan.n_rests > 0:
        outcome = cause(back(plan, floats, counts, t))
        normalize(plan, floats, counts)
    return outcome


def project(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, t: float) -> int:
    """The trial state onto the manifold: unit quaternions, then closed loops and a velocity along them.

    Newton steps of the projection kernel repeat until the residual is round-off, without a gate: one correction at least.
    The velocity is the one the last call gave, which was taken at the final position. A kernel that does all `once` is
    called once, and may leave the loops as far open as it means to. Where no correction is due the loops stay as they are.
    """
    floats[CORRECTION] = 0.0
    counts[CORRECTED] = 0
    normalize(plan, floats, counts)
    if plan.projects == 0 or counts[DUE] == 0:
        return 0
    n = plan.nm
    if plan.moved > 0:  # prescribed motions have their own value at every time
        for i in range(plan.n):
            floats[plan.x + i] = floats[plan.trial + i]
        outcome = drive(plan, floats, counts, plan.spare, t)
        if outcome != 0:
            return outcome
    for i in range(n):
        floats[plan.m + i] = floats[plan.trial + i]
    floats[plan.m + n] = t
    if plan.gated > 0:
        outcome = cause(evaluate(plan.gap, floats, plan.m, plan.out, plan.work))
        if outcome != 0:
            return outcome
        if floats[plan.out] <= floats[ABOVE]:
            floats[WORST_POSITION] = max(floats[WORST_POSITION], floats[plan.out])
            return 0
    counts[CORRECTED] = 1
    residual, before = 0.0, math.inf
    for call in range(NEWTON_STEPS):
        counts[PROJECTIONS] += 1
        status = evaluate(plan.project, floats, plan.m, plan.out, plan.work)
        if status & DEGENERATE and plan.projects > 1:
            counts[FALLBACKS] += 1
            status = evaluate(plan.project_again, floats, plan.m, plan.out, plan.work)
        if status != 0:
            return cause(status)
        residual, correction = floats[plan.out + n], floats[plan.out + n + 2]
        if call == 0:
            floats[WORST_VELOCITY] = max(floats[WORST_VELOCITY], floats[plan.out + n + 1])
            floats[WORST_CORRECTION] = max(floats[WORST_CORRECTION], correction)
        if plan.once > 0:
            for i in range(plan.nq):
                floats[plan.m + i] = floats[plan.out + i]
            break
        if on_loops(call, residual, before, correction, floats[CLOSED]):
            break
        before = residual
        for i in range(plan.nq):
            floats[plan.m + i] = floats[plan.out + i]
    if plan.once == 0 and not residual <= floats[WIDEST]:
        return OPEN
    floats[WORST_POSITION] = max(floats[WORST_POSITION], residual)
    moved = 0.0
    for i in range(plan.nq):
        d = (floats[plan.m + i] - floats[plan.trial + i]) / floats[plan.permitted + i]
        moved += d * d
        floats[plan.trial + i] = floats[plan.m + i]
    floats[CORRECTION] = math.sqrt(moved / max(plan.nq, 1))
    for i in range(plan.nq, n):
        floats[plan.trial + i] = floats[plan.out + i]
    return 0


def due(plan: MemoryPlan, counts: np.ndarray) -> int:
    """1 if the state after the next step is corrected, as far as the number of steps decides it."""
    return 1 if plan.projects > 0 and (counts[STEPS] + 1) % plan.often == 0 else 0


def attempt(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """Try one step from y to new. 0: accepted; REJECTED: a shorter one is planned; else the reason to stop."""
    outcome = plan_step(plan, floats, counts)
    if outcome != 0:
        return outcome
    last = plan.stages
    outcome = implicit_stages(plan, floats, counts) if plan.implicit > 0 else explicit_stages(plan, floats, counts)
    if outcome != 0:
        return stopped(plan, floats, counts, outcome)
    stage(plan, floats, last)
    doubt = 0.0
    for i in range(plan.n):
        floats[plan.new + i] = floats[plan.x + i]
        floats[plan.trial + i] = floats[plan.x + i]
        doubt += 0.0 * floats[plan.x + i]
    if doubt != 0.0:
        return stopped(plan, floats, counts, NOT_FINITE)
    if plan.closing > 0:
        outcome = derivative(plan, floats, counts, last, floats[TIME] + floats[plan.c + last] * floats[USED])
        if outcome != 0:
            return stopped(plan, floats, counts, outcome)
    error = 0.0
    permit(plan, floats)
    if plan.n_error > 0:
        error = error_norm(plan, floats)
        if not error < math.inf:
            return stopped(plan, floats, counts, NOT_FINITE)
        if error > 1.0:
            return rejected(floats, counts, max(floats[SHRINK], floats[SAFETY] * error ** (-floats[EXPONENT])), 0)
    counts[DUE] = due(plan, counts)
    moved = plan.n_unit + plan.n_rests > 0
    if counts[DUE] + plan.n_unit + plan.n_rests > 0:
        outcome = settle(plan, floats, counts, floats[NEXT])
        if outcome != 0:
            return stopped(plan, floats, counts, outcome)
        counts[DUE] = counts[CORRECTED]  # states inside the step are corrected if its end is
        if plan.n_error > 0 and plan.refuses > 0 and floats[CORRECTION] > JUMP * max(error, LEAST_ERROR):
            counts[REFUSALS] += 1
            return rejected(floats, counts, 0.5, OPEN)
        moved = moved or counts[CORRECTED] > 0
        for i in range(plan.n):
            floats[plan.new + i] = floats[plan.trial + i]
            floats[plan.x + i] = floats[plan.trial + i]
    if moved or plan.closing == 0:
        outcome = derivative(plan, floats, counts, last, floats[NEXT])
        if outcome != 0:
            return stopped(plan, floats, counts, outcome)
    if plan.n_watched > plan.n_events and plan.n_error > 0 and hidden(plan, floats, counts):
        return rejected(floats, counts, 0.5, 0)
    outcome = count_turns(plan, floats, counts) if plan.n_near > 0 else 0
    if outcome == 0:
        accepted(plan, floats, counts, error)
    return outcome


def count_turns(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """Angles after the step that are counted beyond whole turns; a step in which one turns too far to be counted is rejected."""
    for i in range(plan.nm):
        floats[plan.m + i] = floats[plan.new + i]
    floats[plan.m + plan.nm] = floats[NEXT]
    outcome = cause(evaluate(plan.turns, floats, plan.m, plan.out, plan.work))
    if outcome != 0:
        return stopped(plan, floats, counts, outcome)
    for i in range(plan.n_near):
        floats[plan.turned + i] = floats[plan.out + i]
        if not abs(floats[plan.out + i] - floats[plan.m + plan.nm + plan.near + i]) <= TOO_FAR:
            return rejected(floats, counts, 0.5, TURNED) if plan.n_error > 0 else TURNED
    return 0


def keep_turns(plan: MemoryPlan, floats: np.ndarray) -> None:
    """The angles of the step just done into both rows: what comes after is counted from them."""
    for i in range(plan.n_near):
        floats[plan.x + plan.n + plan.near + i] = floats[plan.turned + i]
        floats[plan.m + plan.nm + plan.near + i] = floats[plan.turned + i]


def prepare_inside(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """Coefficients of the polynomial through the step: cubic Hermite and the method's own further terms."""
    if plan.implicit > 0:
        return 0
    h, t, n = floats[USED], floats[TIME], plan.n
    for row in range(plan.stages + 1, plan.width):
        stage(plan, floats, row)
        outcome = derivative(plan, floats, counts, row, t + floats[plan.c + row] * h)
        if outcome != 0:
            return outcome
    for i in range(n):
        rise = floats[plan.new + i] - floats[plan.y + i]
        bend = h * floats[plan.K + i] - rise
        floats[plan.inner + i] = floats[plan.y + i]
        floats[plan.inner + n + i] = rise
        floats[plan.inner + 2 * n + i] = bend
        floats[plan.inner + 3 * n + i] = rise - h * floats[plan.K + plan.stages * n + i] - bend
        for k in range(plan.n_dense):
            s = 0.0
            for j in range(plan.width):
                s += floats[plan.dense + k * plan.width + j] * floats[plan.K + j * n + i]
            floats[plan.inner + (4 + k) * n + i] = h * s
    return 0


def inside(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, theta: float) -> int:
    """State at share theta of the step into trial, put onto the loops."""
    t = floats[TIME] + theta * floats[USED]
    if plan.implicit > 0:
        outcome = shorter(plan, floats, counts, theta)
        if outcome != 0:
            return outcome
        return settle(plan, floats, counts, t)
    for i in range(plan.n):
        s = 0.0
        for k in range(3 + plan.n_dense, 0, -1):
            s = (s + floats[plan.inner + k * plan.n + i]) * (theta if k % 2 == 1 else 1.0 - theta)
        floats[plan.trial + i] = floats[plan.inner + i] + s
    return settle(plan, floats, counts, t)


def shorter(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, theta: float) -> int:
    """A part of the step by itself, with the derivatives at its start: more exact than the polynomial through it, which of a stiff
    step may be far off."""
    h = floats[USED]
    floats[USED] = theta * h
    outcome = implicit_stages(plan, floats, counts) if plan.implicit > 0 else explicit_stages(plan, floats, counts)
    stage(plan, floats, plan.stages)
    floats[USED] = h
    for i in range(plan.n):
        floats[plan.trial + i] = floats[plan.x + i]
    return outcome
