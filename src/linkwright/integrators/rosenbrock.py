"""Stages of a Rosenbrock method as plain loops: derivatives by differences, one factorisation, one solution for every stage.

    (I / gamma - h J) K_i = f(t + c_i h, y + h sum_j a_ij K_j) + sum_j coupling_ij K_j + h slope_i df/dt       [Hairer1996, IV.7]

Functions of the subset that `compiler.loops` makes native; p is the plan, f the floats, c the whole numbers of a run. Other than
an implicit Runge-Kutta method, this one needs J = df/dy of the present state in every step, but nothing iterates. The
elimination is written out: the subset has no arrays of its own, and rows are exchanged, which `scalars.eliminate` does not do.
"""

from __future__ import annotations

import math

import numpy as np

from linkwright.integrators.memory import FRESH, JACOBIANS, NOT_FINITE, TIME, USED, Plan
from linkwright.integrators.runge_kutta import derivative, stage

ROUND = 2.2e-16
SLOW = 30.0  # steps in which the rates are thought to change by themselves
SMALL = 1e-2  # of a state's scale: sizes below are no measure for increments


def linearise(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """J and df/dt at the present state, by differences along the motion; a step back where a step ahead is not finite."""
    c[JACOBIANS] += 1
    n, t, h = p.n, f[TIME], f[USED]
    columns = n if p.driven > 0 else p.counted  # only inputs can read quadratures
    for j in range(n):
        for i in range(n):
            f[p.x + i] = f[p.y + i]
        outcome = NOT_FINITE if j < columns else 0
        size = math.sqrt(ROUND) * max(abs(f[p.y + j]), abs(h * f[p.K + j]), SMALL * f[p.scale + j])
        if f[p.K + j] < 0.0:
            size = -size
        for _ in range(2):
            if outcome == NOT_FINITE:
                f[p.x + j] = f[p.y + j] + size
                outcome = derivative(p, f, c, 1, t)
                size = -size
        if outcome != 0:
            return outcome
        moved = f[p.x + j] - f[p.y + j]
        for i in range(n):
            f[p.J + i * n + j] = (f[p.K + n + i] - f[p.K + i]) / moved if j < columns else 0.0
    for i in range(n):
        f[p.x + i] = f[p.y + i]
    slow = SLOW * h
    later = t + math.sqrt(ROUND * slow * (slow + abs(t)))  # as much error by rounding as by the second derivative
    outcome = derivative(p, f, c, 1, later)
    for i in range(n):
        f[p.by_time + i] = (f[p.K + n + i] - f[p.K + i]) / (later - t)
    return outcome


def factorise(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """L U = I / gamma - h J with rows exchanged; 0, or NOT_FINITE where a pivot vanishes."""
    n = p.n
    for i in range(n):
        for j in range(n):
            f[p.lu + i * n + j] = -f[USED] * f[p.J + i * n + j]
        f[p.lu + i * n + i] += 1.0 / f[p.gamma]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(f[p.lu + i * n + k]) > abs(f[p.lu + best * n + k]):
                best = i
        c[p.pivot + k] = best
        if best != k:
            for j in range(n):
                f[p.lu + k * n + j], f[p.lu + best * n + j] = f[p.lu + best * n + j], f[p.lu + k * n + j]
        pivot = f[p.lu + k * n + k]
        if not 0.0 < abs(pivot) < math.inf:
            return NOT_FINITE
        for i in range(k + 1, n):
            share = f[p.lu + i * n + k] / pivot
            f[p.lu + i * n + k] = share
            if share != 0.0:
                for j in range(k + 1, n):
                    f[p.lu + i * n + j] -= share * f[p.lu + k * n + j]
    return 0


def solve(p: Plan, f: np.ndarray, c: np.ndarray, first: int) -> None:
    """The vector from `first` on, divided by the matrix."""
    n = p.n
    for k in range(n):
        best = c[p.pivot + k]
        f[first + k], f[first + best] = f[first + best], f[first + k]
    for i in range(n):
        s = f[first + i]
        for j in range(i):
            s -= f[p.lu + i * n + j] * f[first + j]
        f[first + i] = s
    for i in range(n - 1, -1, -1):
        s = f[first + i]
        for j in range(i + 1, n):
            s -= f[p.lu + i * n + j] * f[first + j]
        f[first + i] = s / f[p.lu + i * n + i]


def implicit_stages(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """All stages; rows 1 to stages - 1 of K. A step that is tried again keeps its derivatives."""
    n, h = p.n, f[USED]
    if c[FRESH] == 0:
        outcome = linearise(p, f, c)
        if outcome != 0:
            return outcome
        c[FRESH] = 1
    if factorise(p, f, c) != 0:
        return NOT_FINITE
    for s in range(1, p.stages):
        if s == 1:
            for i in range(n):
                f[p.K + n + i] = f[p.K + i]
        else:
            stage(p, f, s)
            outcome = derivative(p, f, c, s, f[TIME] + f[p.c + s] * h)
            if outcome != 0:
                return outcome
        first = p.K + s * n
        for i in range(n):
            f[first + i] += h * f[p.slope + s] * f[p.by_time + i]
        for j in range(1, s):
            a = f[p.coupling + s * p.width + j]
            for i in range(n):
                f[first + i] += a * f[p.K + j * n + i]
        solve(p, f, c, first)
    return 0
