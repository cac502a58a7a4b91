"""The equations at a state, and the stages of a Runge-Kutta method, as plain loops.

Functions of the subset that `compiler.native_loops` makes native; `plan`, `floats` and `counts`: see `memory_layout`.
"""

from __future__ import annotations

import numpy as np

from linkwright.compiler.native_loops import evaluate
from linkwright.compiler.records import Floats, Matrix, SharedMatrix
from linkwright.integrators.memory_layout import DEGENERATE, EVALUATIONS, FAILED, FALLBACKS, NOT_FINITE, TIME, UNANSWERED, USED, MemoryPlan
from linkwright.integrators.stop_rests import hold


def cause(status: int) -> int:
    """The gravest bit of a kernel's status word."""
    if status & (FAILED | UNANSWERED):
        return FAILED if status & FAILED else UNANSWERED
    return DEGENERATE if status & DEGENERATE else status & NOT_FINITE


def drive(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, first: int, t: float) -> int:
    """Inputs at the state in x and time t into the parameters of both rows; rates of the extra states to `first` on."""
    floats[plan.x + plan.n] = t
    status = evaluate(plan.inputs, floats, plan.x, plan.out, plan.work)
    if status & DEGENERATE and plan.driven > 1:
        counts[FALLBACKS] += 1
        status = evaluate(plan.inputs_again, floats, plan.x, plan.out, plan.work)
    for i in range(plan.n_u):
        floats[plan.x + plan.n + 1 + i] = floats[plan.out + i]
        floats[plan.m + plan.nm + 1 + i] = floats[plan.out + i]
    for i in range(plan.counted - plan.nm):
        floats[first + i] = floats[plan.out + plan.n_u + i]
    return cause(status)


def derivative(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, row: int, t: float) -> int:
    """K[row] at the state in x and time t; a degenerate evaluation goes to the rank-revealing kernel."""
    return rates_at(plan, floats, counts, plan.K + row * plan.n, t)


def rates_at(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, first: int, t: float) -> int:
    """The derivative at the state in x and time t to `first` on, with the pushes of rigid stops that hold. A state that is not finite,
    such as that of a stage of too long a step, is not asked about."""
    doubt = 0.0
    for i in range(plan.n):
        doubt += 0.0 * floats[plan.x + i]  # 0 times a number that is not finite is not 0
    if doubt != 0.0:
        return NOT_FINITE
    if plan.driven > 0:
        outcome = drive(plan, floats, counts, first + plan.nm, t)
        if outcome != 0:
            return outcome
    if plan.n > plan.nm:
        for i in range(plan.nm):
            floats[plan.m + i] = floats[plan.x + i]
    floats[plan.m + plan.nm] = t
    counts[EVALUATIONS] += 1
    status = evaluate(plan.rates, floats, plan.m, plan.out, plan.work)
    if status & DEGENERATE and plan.backed > 0:
        counts[FALLBACKS] += 1
        status = evaluate(plan.rates_again, floats, plan.m, plan.out, plan.work)
    for i in range(plan.nm):
        floats[first + i] = floats[plan.out + i]
    for i in range(plan.n - plan.counted):
        floats[first + plan.counted + i] = floats[plan.out + plan.nm + i]
    if plan.n_rests > 0 and cause(status) == 0:
        status = hold(plan, floats, counts, first)
    return cause(status)


def stage(plan: MemoryPlan, floats: np.ndarray, row: int) -> None:
    """State of a stage into x: y + h sum_j a[row, j] K[j]."""
    h = floats[USED]
    for i in range(plan.n):
        floats[plan.x + i] = 0.0
    for j in range(row):
        a = floats[plan.a + row * plan.width + j]
        if a != 0.0:
            for i in range(plan.n):
                floats[plan.x + i] += a * floats[plan.K + j * plan.n + i]
    for i in range(plan.n):
        floats[plan.x + i] = floats[plan.y + i] + h * floats[plan.x + i]


def stage_from(x: Floats, y: Floats, K: Matrix, a: SharedMatrix, row: int, h: float) -> None:
    """The same for loops on records: x becomes y + h sum_j a[row, j] K[j]; one pass over it for every term, and the sum with the last."""
    n, terms, last = len(x), 0, -1
    for j in range(row):
        if a[row, j] != 0.0:
            last = j
    for j in range(last + 1):
        weight = a[row, j]
        if weight != 0.0:
            if terms == 0 and j == last:
                for i in range(n):
                    x[i] = y[i] + h * (0.0 + weight * K[j, i])
            elif terms == 0:
                for i in range(n):
                    x[i] = 0.0 + weight * K[j, i]
            elif j == last:
                for i in range(n):
                    x[i] = y[i] + h * (x[i] + weight * K[j, i])
            else:
                for i in range(n):
                    x[i] += weight * K[j, i]
            terms += 1
    if terms == 0:
        for i in range(n):
            x[i] = y[i]


def put_row(K: Matrix, row: int, values: Floats) -> None:
    """The first values as a row."""
    for i in range(K.shape[1]):
        K[row, i] = values[i]


def finite(x: Floats) -> bool:
    doubt = 0.0
    for i in range(len(x)):
        doubt += 0.0 * x[i]  # 0 times a number that is not finite is not 0
    return doubt == 0.0


def explicit_stages(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """All stages of an explicit method; rows 1 to stages - 1 of K."""
    for s in range(1, plan.stages):
        stage(plan, floats, s)
        outcome = derivative(plan, floats, counts, s, floats[TIME] + floats[plan.c + s] * floats[USED])
        if outcome != 0:
            return outcome
    return 0
