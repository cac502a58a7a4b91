"""Rest on rigid stops, as plain loops: whatever set of stops holds, the equations are those of the mechanism without any.

A stop that holds is a row J_s of one coordinate. With x0 the answer without stops and X = M_c^-1 J_s' the response of the mechanism to a
unit push in each of them (`response`: what an effort does with everything else at rest and without weight),

    a = a0 + X lam       W lam = -(J_s a0 + k_s)       W = J_s X
    q + X mu,  v + X nu  W mu = -(value - end),         W nu = -J_s v

so one code of rates, corrections and responses serves every set. A row that depends on others that hold gets no share here: it changes no
motion, and how the pushes share the load is settled where they are read. Functions of the subset that `compiler.native_loops` makes
native; `plan`, `floats` and `counts`: see `memory_layout`.
"""

from __future__ import annotations

import numpy as np

from linkwright.compiler.native_loops import evaluate
from linkwright.integrators.memory_layout import DEGENERATE, FAILED, FALLBACKS, NOT_FINITE, MemoryPlan
from linkwright.numerics.tolerances import DEPENDENT

BAD = FAILED | NOT_FINITE


def found(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """Values, rows and k of all stops, and the responses to those that hold, at the mechanism row m; 0 or a status word."""
    nv, n = plan.nm - plan.nq, plan.n_stops
    status = evaluate(plan.stops, floats, plan.m, plan.stop_rows, plan.work)
    if status & BAD:
        return status
    tau = plan.m + plan.nm + 1
    for i in range(nv):
        floats[plan.effort + i] = floats[tau + i]
    for r in range(plan.n_rests):
        row = plan.stop_rows + 2 * n + counts[plan.resting + r] * nv
        for i in range(nv):
            floats[tau + i] = floats[row + i]
        now = evaluate(plan.response, floats, plan.m, plan.out, plan.work)
        if now & DEGENERATE and plan.responds > 1:
            counts[FALLBACKS] += 1
            now = evaluate(plan.response_again, floats, plan.m, plan.out, plan.work)
        status = status | now
        for i in range(plan.nm + 1):
            floats[plan.responses + r * (plan.nm + 1) + i] = floats[plan.out + i]
    for i in range(nv):
        floats[tau + i] = floats[plan.effort + i]
    return status


def rate(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, r: int, first: int) -> float:
    """J_s x of one stop that holds, x from `first` on."""
    nv, s = plan.nm - plan.nq, 0.0
    row = plan.stop_rows + 2 * plan.n_stops + counts[plan.resting + r] * nv
    for i in range(nv):
        s += floats[row + i] * floats[first + i]
    return s


def shared(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> None:
    """Solve W x = push in place of the pushes, by elimination on the diagonal; rows that depend on others get zero."""
    n = plan.n_rests
    for r in range(n):
        for s in range(n):
            first = plan.responses + s * (plan.nm + 1) + plan.nq
            floats[plan.W + r * n + s] = rate(plan, floats, counts, r, first)
    for r in range(n):
        floats[plan.diagonal + r] = floats[plan.W + r * n + r]
    for k in range(n):
        pivot = floats[plan.W + k * n + k]
        if not abs(pivot) > DEPENDENT * abs(floats[plan.diagonal + k]):
            floats[plan.W + k * n + k] = 0.0
            continue
        for r in range(k + 1, n):
            share = floats[plan.W + r * n + k] / pivot
            for s in range(k, n):
                floats[plan.W + r * n + s] -= share * floats[plan.W + k * n + s]
            floats[plan.push + r] -= share * floats[plan.push + k]
    for k in range(n - 1, -1, -1):
        left = floats[plan.push + k]
        for r in range(k + 1, n):
            left -= floats[plan.W + k * n + r] * floats[plan.push + r]
        pivot = floats[plan.W + k * n + k]
        floats[plan.push + k] = left / pivot if pivot != 0.0 else 0.0


def hold(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, first: int) -> int:
    """Accelerations and power of the derivative from `first` on, taken without stops at the row m, with the pushes of those that hold,
    which are left in `push`; 0 or a status word."""
    nv = plan.nm - plan.nq
    status = found(plan, floats, counts)
    for r in range(plan.n_rests):
        k = floats[plan.stop_rows + plan.n_stops + counts[plan.resting + r]]
        floats[plan.push + r] = -rate(plan, floats, counts, r, first + plan.nq) - k
    shared(plan, floats, counts)
    for r in range(plan.n_rests):
        column = plan.responses + r * (plan.nm + 1) + plan.nq
        for i in range(nv):
            floats[first + plan.nq + i] += floats[plan.push + r] * floats[column + i]
        if plan.n > plan.counted:
            floats[first + plan.counted] += floats[plan.push + r] * floats[column + nv]
    return status


def back(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, t: float) -> int:
    """The trial state, on the loops, onto the ends that hold, and its velocity along them; 0 or a status word.

    The steps are tangent to the loops, so that they open them by no more than the square of what a step of integration was off.
    """
    for i in range(plan.nm):
        floats[plan.m + i] = floats[plan.trial + i]
    floats[plan.m + plan.nm] = t
    status = found(plan, floats, counts)
    for r in range(plan.n_rests):
        floats[plan.push + r] = floats[plan.end + r] - floats[plan.stop_rows + counts[plan.resting + r]]
    shared(plan, floats, counts)
    for r in range(plan.n_rests):
        column = plan.responses + r * (plan.nm + 1)
        for i in range(plan.nq):
            floats[plan.trial + i] += floats[plan.push + r] * floats[column + i]
    for r in range(plan.n_rests):
        floats[plan.push + r] = -rate(plan, floats, counts, r, plan.trial + plan.nq)
    shared(plan, floats, counts)
    for r in range(plan.n_rests):
        column = plan.responses + r * (plan.nm + 1)
        for i in range(plan.nq, plan.nm):
            floats[plan.trial + i] += floats[plan.push + r] * floats[column + i]
    return status
