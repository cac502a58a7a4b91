"""One step as plain loops: stages, error, projection onto the loops, output inside the step.

All functions are in the subset that `compiler.loops` makes native. p is the plan, f the floats, c the whole numbers of
the run (see `memory`); they return 0 or the reason why they could not. Equations: [Hairer1993, II.4 (step control), II.6
(inside a step)].
"""

from __future__ import annotations

import math

import numpy as np

from linkwright.compiler.loops import evaluate
from linkwright.integrators.break_points import hidden
from linkwright.integrators.control import accepted, plan_step, rejected, stopped
from linkwright.integrators.memory import (
    CLOSED,
    CORRECTION,
    DEGENERATE,
    EXPONENT,
    FALLBACKS,
    NEXT,
    NOT_FINITE,
    OPEN,
    PROJECTIONS,
    REFUSALS,
    SAFETY,
    SHRINK,
    TIME,
    TOLERANCE,
    TURNED,
    USED,
    WIDEST,
    WORST_CORRECTION,
    WORST_POSITION,
    WORST_VELOCITY,
    Plan,
)
from linkwright.integrators.rosenbrock import implicit_stages
from linkwright.integrators.runge_kutta import cause, derivative, drive, explicit_stages, stage

NEWTON_STEPS = 6  # calls of the projection at most
STILL = 1e-15  # a correction (dimensionless) that moves nothing
JUMP = 100.0  # a correction that many times the step's error would be a jump to another branch
TOO_FAR = 2.0  # rad in one step: beyond pi turns would be miscounted
LEAST_ERROR = 0.01  # of the tolerance: an error estimate below this says nothing about corrections


def permit(p: Plan, f: np.ndarray) -> None:
    """Error of every state that the tolerance permits in this step."""
    for i in range(p.judged):
        f[p.permitted + i] = f[TOLERANCE] * (f[p.scale + i] + max(abs(f[p.y + i]), abs(f[p.new + i])))


def error_norm(p: Plan, f: np.ndarray) -> float:
    """Local error against what is permitted; two estimates are combined as in DOP853."""
    first, second = 0.0, 0.0
    for i in range(p.judged):
        for k in range(p.n_error):
            e = 0.0
            for j in range(p.stages + p.closing):
                e += f[p.error + k * p.width + j] * f[p.K + j * p.n + i]
            e /= f[p.permitted + i]
            if k == 0:
                first += e * e
            else:
                second += e * e
    if first == 0.0:
        return 0.0
    if p.n_error > 1:
        return f[USED] * first / math.sqrt((first + 0.01 * second) * p.judged)
    return f[USED] * math.sqrt(first / p.judged)


def normalise(p: Plan, f: np.ndarray, c: np.ndarray) -> None:
    """Quaternions of the trial state get their length back."""
    for u in range(p.n_unit):
        first = p.trial + c[p.unit + u]
        s = 0.0
        for i in range(first, first + 4):
            s += f[i] * f[i]
        for i in range(first, first + 4):
            f[i] /= math.sqrt(s)


def on_loops(call: int, residual: float, before: float, correction: float, closed: float) -> bool:
    """True if a Newton step was the last: it moved nothing, or the residual it began with is round-off. One is done at least."""
    return correction <= STILL or (call > 0 and (residual <= closed or residual > 0.5 * before)) or call == NEWTON_STEPS - 1


def settle(p: Plan, f: np.ndarray, c: np.ndarray, t: float) -> int:
    """The trial state onto the manifold: unit quaternions, then closed loops and a velocity along them.

    Newton steps of the projection kernel repeat until the residual is round-off, without a gate: one correction at least.
    The velocity is the one the last call gave, which was taken at the final position. A kernel that does all `once` is
    called once, and may leave the loops as far open as it means to.
    """
    f[CORRECTION] = 0.0
    normalise(p, f, c)
    if p.projects == 0:
        return 0
    n = p.nm
    if p.moved > 0:  # prescribed motions have their own value at every time
        for i in range(p.n):
            f[p.x + i] = f[p.trial + i]
        outcome = drive(p, f, c, p.spare, t)
        if outcome != 0:
            return outcome
    for i in range(n):
        f[p.m + i] = f[p.trial + i]
    f[p.m + n] = t
    residual, before = 0.0, math.inf
    for call in range(NEWTON_STEPS):
        c[PROJECTIONS] += 1
        status = evaluate(p.project, f, p.m, p.out, p.work)
        if status & DEGENERATE and p.projects > 1:
            c[FALLBACKS] += 1
            status = evaluate(p.project_again, f, p.m, p.out, p.work)
        if status != 0:
            return cause(status)
        residual, correction = f[p.out + n], f[p.out + n + 2]
        if call == 0:
            f[WORST_VELOCITY] = max(f[WORST_VELOCITY], f[p.out + n + 1])
            f[WORST_CORRECTION] = max(f[WORST_CORRECTION], correction)
        if p.once > 0:
            for i in range(p.nq):
                f[p.m + i] = f[p.out + i]
            break
        if on_loops(call, residual, before, correction, f[CLOSED]):
            break
        before = residual
        for i in range(p.nq):
            f[p.m + i] = f[p.out + i]
    if p.once == 0 and not residual <= f[WIDEST]:
        return OPEN
    f[WORST_POSITION] = max(f[WORST_POSITION], residual)
    moved = 0.0
    for i in range(p.nq):
        d = (f[p.m + i] - f[p.trial + i]) / f[p.permitted + i]
        moved += d * d
        f[p.trial + i] = f[p.m + i]
    f[CORRECTION] = math.sqrt(moved / max(p.nq, 1))
    for i in range(p.nq, n):
        f[p.trial + i] = f[p.out + i]
    return 0


def attempt(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """Try one step from y to new. 0: accepted; REJECTED: a shorter one is planned; else the reason to stop."""
    outcome = plan_step(p, f, c)
    if outcome != 0:
        return outcome
    last = p.stages
    outcome = implicit_stages(p, f, c) if p.implicit > 0 else explicit_stages(p, f, c)
    if outcome != 0:
        return stopped(p, f, c, outcome)
    stage(p, f, last)
    doubt = 0.0
    for i in range(p.n):
        f[p.new + i] = f[p.x + i]
        f[p.trial + i] = f[p.x + i]
        doubt += 0.0 * f[p.x + i]
    if doubt != 0.0:
        return stopped(p, f, c, NOT_FINITE)
    if p.closing > 0:
        outcome = derivative(p, f, c, last, f[TIME] + f[p.c + last] * f[USED])
        if outcome != 0:
            return stopped(p, f, c, outcome)
    error = 0.0
    permit(p, f)
    if p.n_error > 0:
        error = error_norm(p, f)
        if not error < math.inf:
            return stopped(p, f, c, NOT_FINITE)
        if error > 1.0:
            return rejected(f, c, max(f[SHRINK], f[SAFETY] * error ** (-f[EXPONENT])), 0)
    moved = p.projects + p.n_unit > 0
    if moved:
        outcome = settle(p, f, c, f[NEXT])
        if outcome != 0:
            return stopped(p, f, c, outcome)
        if p.n_error > 0 and f[CORRECTION] > JUMP * max(error, LEAST_ERROR):
            c[REFUSALS] += 1
            return rejected(f, c, 0.5, OPEN)
        for i in range(p.n):
            f[p.new + i] = f[p.trial + i]
            f[p.x + i] = f[p.trial + i]
    if moved or p.closing == 0:
        outcome = derivative(p, f, c, last, f[NEXT])
        if outcome != 0:
            return stopped(p, f, c, outcome)
    if p.n_watched > p.n_events and p.n_error > 0 and hidden(p, f, c):
        return rejected(f, c, 0.5, 0)
    outcome = count_turns(p, f, c) if p.n_near > 0 else 0
    if outcome == 0:
        accepted(p, f, c, error)
    return outcome


def count_turns(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """Angles after the step that are counted beyond whole turns; a step in which one turns too far to be counted is rejected."""
    for i in range(p.nm):
        f[p.m + i] = f[p.new + i]
    f[p.m + p.nm] = f[NEXT]
    outcome = cause(evaluate(p.turns, f, p.m, p.out, p.work))
    if outcome != 0:
        return outcome
    for i in range(p.n_near):
        f[p.turned + i] = f[p.out + i]
        if not abs(f[p.out + i] - f[p.m + p.nm + p.near + i]) <= TOO_FAR:
            return rejected(f, c, 0.5, TURNED) if p.n_error > 0 else TURNED
    return 0


def keep_turns(p: Plan, f: np.ndarray) -> None:
    """The angles of the step just done into both rows: what comes after is counted from them."""
    for i in range(p.n_near):
        f[p.x + p.n + p.near + i] = f[p.turned + i]
        f[p.m + p.nm + p.near + i] = f[p.turned + i]


def prepare_inside(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """Coefficients of the polynomial through the step: cubic Hermite and the method's own further terms."""
    if p.implicit > 0:
        return 0
    h, t, n = f[USED], f[TIME], p.n
    for row in range(p.stages + 1, p.width):
        stage(p, f, row)
        outcome = derivative(p, f, c, row, t + f[p.c + row] * h)
        if outcome != 0:
            return outcome
    for i in range(n):
        rise = f[p.new + i] - f[p.y + i]
        bend = h * f[p.K + i] - rise
        f[p.inner + i] = f[p.y + i]
        f[p.inner + n + i] = rise
        f[p.inner + 2 * n + i] = bend
        f[p.inner + 3 * n + i] = rise - h * f[p.K + p.stages * n + i] - bend
        for k in range(p.n_dense):
            s = 0.0
            for j in range(p.width):
                s += f[p.dense + k * p.width + j] * f[p.K + j * n + i]
            f[p.inner + (4 + k) * n + i] = h * s
    return 0


def inside(p: Plan, f: np.ndarray, c: np.ndarray, theta: float) -> int:
    """State at share theta of the step into trial, put onto the loops."""
    t = f[TIME] + theta * f[USED]
    if p.implicit > 0:
        outcome = shorter(p, f, c, theta)
        if outcome != 0:
            return outcome
        return settle(p, f, c, t)
    for i in range(p.n):
        s = 0.0
        for k in range(3 + p.n_dense, 0, -1):
            s = (s + f[p.inner + k * p.n + i]) * (theta if k % 2 == 1 else 1.0 - theta)
        f[p.trial + i] = f[p.inner + i] + s
    return settle(p, f, c, t)


def shorter(p: Plan, f: np.ndarray, c: np.ndarray, theta: float) -> int:
    """A part of the step by itself, with the derivatives at its start: more exact than the polynomial through it, which of a stiff
    step may be far off."""
    h = f[USED]
    f[USED] = theta * h
    outcome = implicit_stages(p, f, c) if p.implicit > 0 else explicit_stages(p, f, c)
    stage(p, f, p.stages)
    f[USED] = h
    for i in range(p.n):
        f[p.trial + i] = f[p.x + i]
    return outcome
