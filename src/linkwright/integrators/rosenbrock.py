"""Stages of a Rosenbrock method as plain loops: derivatives by differences, one factorization, one solution for every stage.

    (I / gamma - h J) K_i = f(t + c_i h, y + h sum_j a_ij K_j) + sum_j coupling_ij K_j + h slope_i df/dt       [Hairer1996, IV.7]

Functions of the subset that `compiler.native_loops` makes native; `plan`, `floats` and `counts`: see `memory_layout`. Other than
an implicit Runge-Kutta method, this one needs J = df/dy of the present state in every step, but nothing iterates. The
elimination is written out: the subset has no arrays of its own, and rows are exchanged, which `scalars.eliminate` does not do.
"""

from __future__ import annotations

import math

import numpy as np

from linkwright.integrators.memory_layout import FRESH, JACOBIANS, NOT_FINITE, TIME, UNANSWERED, USED, MemoryPlan
from linkwright.integrators.runge_kutta import derivative, stage

ROUND = 2.2e-16
SLOW = 30.0  # steps in which the rates are thought to change by themselves
SMALL = 1e-2  # of a state's scale: sizes below are no measure for increments


def linearize(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """J and df/dt at the present state, by differences along the motion; a step back where a step ahead has no answer."""
    counts[JACOBIANS] += 1
    n, t, h = plan.n, floats[TIME], floats[USED]
    columns = n if plan.driven > 0 else plan.counted  # only inputs can read quadratures
    for j in range(n):
        for i in range(n):
            floats[plan.x + i] = floats[plan.y + i]
        outcome = NOT_FINITE if j < columns else 0
        size = math.sqrt(ROUND) * max(abs(floats[plan.y + j]), abs(h * floats[plan.K + j]), SMALL * floats[plan.scale + j])
        if floats[plan.K + j] < 0.0:
            size = -size
        for _ in range(2):
            if outcome in (NOT_FINITE, UNANSWERED):
                floats[plan.x + j] = floats[plan.y + j] + size
                outcome = derivative(plan, floats, counts, 1, t)
                size = -size
        if outcome != 0:
            return outcome
        moved = floats[plan.x + j] - floats[plan.y + j]
        for i in range(n):
            floats[plan.J + i * n + j] = (floats[plan.K + n + i] - floats[plan.K + i]) / moved if j < columns else 0.0
    for i in range(n):
        floats[plan.x + i] = floats[plan.y + i]
    slow = SLOW * h
    later = t + math.sqrt(ROUND * slow * (slow + abs(t)))  # as much error by rounding as by the second derivative
    outcome = derivative(plan, floats, counts, 1, later)
    for i in range(n):
        floats[plan.by_time + i] = (floats[plan.K + n + i] - floats[plan.K + i]) / (later - t)
    return outcome


def factorize(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """L U = I / gamma - h J with rows exchanged; 0, or NOT_FINITE where a pivot vanishes."""
    n = plan.n
    for i in range(n):
        for j in range(n):
            floats[plan.lu + i * n + j] = -floats[USED] * floats[plan.J + i * n + j]
        floats[plan.lu + i * n + i] += 1.0 / floats[plan.gamma]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(floats[plan.lu + i * n + k]) > abs(floats[plan.lu + best * n + k]):
                best = i
        counts[plan.pivot + k] = best
        if best != k:
            for j in range(n):
                floats[plan.lu + k * n + j], floats[plan.lu + best * n + j] = floats[plan.lu + best * n + j], floats[plan.lu + k * n + j]
        pivot = floats[plan.lu + k * n + k]
        if not 0.0 < abs(pivot) < math.inf:
            return NOT_FINITE
        for i in range(k + 1, n):
            share = floats[plan.lu + i * n + k] / pivot
            floats[plan.lu + i * n + k] = share
            if share != 0.0:
                for j in range(k + 1, n):
                    floats[plan.lu + i * n + j] -= share * floats[plan.lu + k * n + j]
    return 0


def solve(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray, first: int) -> None:
    """The vector from `first` on, divided by the matrix."""
    n = plan.n
    for k in range(n):
        best = counts[plan.pivot + k]
        floats[first + k], floats[first + best] = floats[first + best], floats[first + k]
    for i in range(n):
        s = floats[first + i]
        for j in range(i):
            s -= floats[plan.lu + i * n + j] * floats[first + j]
        floats[first + i] = s
    for i in range(n - 1, -1, -1):
        s = floats[first + i]
        for j in range(i + 1, n):
            s -= floats[plan.lu + i * n + j] * floats[first + j]
        floats[first + i] = s / floats[plan.lu + i * n + i]


def implicit_stages(plan: MemoryPlan, floats: np.ndarray, counts: np.ndarray) -> int:
    """All stages; rows 1 to stages - 1 of K. A step that is tried again keeps its derivatives."""
    n, h = plan.n, floats[USED]
    if counts[FRESH] == 0:
        outcome = linearize(plan, floats, counts)
        if outcome != 0:
            return outcome
        counts[FRESH] = 1
    if factorize(plan, floats, counts) != 0:
        return NOT_FINITE
    for s in range(1, plan.stages):
        if s == 1:
            for i in range(n):
                floats[plan.K + n + i] = floats[plan.K + i]
        else:
            stage(plan, floats, s)
            outcome = derivative(plan, floats, counts, s, floats[TIME] + floats[plan.c + s] * h)
            if outcome != 0:
                return outcome
        first = plan.K + s * n
        for i in range(n):
            floats[first + i] += h * floats[plan.slope + s] * floats[plan.by_time + i]
        for j in range(1, s):
            a = floats[plan.coupling + s * plan.width + j]
            for i in range(n):
                floats[first + i] += a * floats[plan.K + j * n + i]
        solve(plan, floats, counts, first)
    return 0
