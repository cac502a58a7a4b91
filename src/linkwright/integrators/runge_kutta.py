"""The equations at a state, and the stages of a Runge-Kutta method, as plain loops.

Functions of the subset that `compiler.loops` makes native; p is the plan, f the floats, c the whole numbers of a run.
"""

from __future__ import annotations

import numpy as np

from linkwright.compiler.loops import evaluate
from linkwright.integrators.memory import (
    DEGENERATE,
    EVALUATIONS,
    FAILED,
    FALLBACKS,
    NOT_FINITE,
    TIME,
    USED,
    Plan,
)


def cause(status: int) -> int:
    """The gravest bit of a kernel's status word."""
    return FAILED if status & FAILED else (DEGENERATE if status & DEGENERATE else status & NOT_FINITE)


def drive(p: Plan, f: np.ndarray, c: np.ndarray, first: int, t: float) -> int:
    """Inputs at the state in x and time t into the parameters of both rows; rates of the extra states to `first` on."""
    f[p.x + p.n] = t
    status = evaluate(p.inputs, f, p.x, p.out, p.work)
    if status & DEGENERATE and p.driven > 1:
        c[FALLBACKS] += 1
        status = evaluate(p.inputs_again, f, p.x, p.out, p.work)
    for i in range(p.n_u):
        f[p.x + p.n + 1 + i] = f[p.out + i]
        f[p.m + p.nm + 1 + i] = f[p.out + i]
    for i in range(p.counted - p.nm):
        f[first + i] = f[p.out + p.n_u + i]
    return cause(status)


def derivative(p: Plan, f: np.ndarray, c: np.ndarray, row: int, t: float) -> int:
    """K[row] at the state in x and time t; a degenerate evaluation goes to the rank-revealing kernel."""
    first = p.K + row * p.n
    if p.driven > 0:
        outcome = drive(p, f, c, first + p.nm, t)
        if outcome != 0:
            return outcome
    if p.n > p.nm:
        for i in range(p.nm):
            f[p.m + i] = f[p.x + i]
    f[p.m + p.nm] = t
    c[EVALUATIONS] += 1
    status = evaluate(p.rates, f, p.m, p.out, p.work)
    if status & DEGENERATE and p.backed > 0:
        c[FALLBACKS] += 1
        status = evaluate(p.rates_again, f, p.m, p.out, p.work)
    for i in range(p.nm):
        f[first + i] = f[p.out + i]
    for i in range(p.n - p.counted):
        f[first + p.counted + i] = f[p.out + p.nm + i]
    return cause(status)


def stage(p: Plan, f: np.ndarray, row: int) -> None:
    """State of a stage into x: y + h sum_j a[row, j] K[j]."""
    h = f[USED]
    for i in range(p.n):
        f[p.x + i] = 0.0
    for j in range(row):
        a = f[p.a + row * p.width + j]
        if a != 0.0:
            for i in range(p.n):
                f[p.x + i] += a * f[p.K + j * p.n + i]
    for i in range(p.n):
        f[p.x + i] = f[p.y + i] + h * f[p.x + i]


def explicit_stages(p: Plan, f: np.ndarray, c: np.ndarray) -> int:
    """All stages of an explicit method; rows 1 to stages - 1 of K."""
    for s in range(1, p.stages):
        stage(p, f, s)
        outcome = derivative(p, f, c, s, f[TIME] + f[p.c + s] * f[USED])
        if outcome != 0:
            return outcome
    return 0
