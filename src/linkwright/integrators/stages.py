"""The equations at a state, and the stages of explicit and of Rosenbrock methods: loops on records.

    explicit      K_i = f(t + c_i h, y + h sum_j a_ij K_j)
    Rosenbrock    (I / gamma - h J) K_i = f(t + c_i h, y + h sum_j a_ij K_j) + sum_j coupling_ij K_j + h slope_i df/dt  [Hairer1996, IV.7]

Other than an implicit Runge-Kutta method, a Rosenbrock method needs J = df/dy of the present state in every step, by differences, but
nothing iterates: one factorization, one solution for every stage.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import Floats, Matrix, SharedMatrix, copy, run
from linkwright.integrators.linear_solver import factor, solve
from linkwright.integrators.run_state import DEGENERATE, FAILED, NOT_FINITE, UNANSWERED, RunState
from linkwright.integrators.stop_rests import hold

ROUND = 2.2e-16
SLOW = 30.0  # steps in which the rates are thought to change by themselves
SMALL = 1e-2  # of a state's scale: sizes below are no measure for increments


# -------------------------------------------------------------------- the equations


def cause(status: int) -> int:
    """The gravest bit of a kernel's status word."""
    if status & (FAILED | UNANSWERED):
        return FAILED if status & FAILED else UNANSWERED
    return DEGENERATE if status & DEGENERATE else status & NOT_FINITE


def finite(x: Floats) -> bool:
    doubt = 0.0
    for i in range(len(x)):
        doubt += 0.0 * x[i]  # 0 times a number that is not finite is not 0
    return doubt == 0.0


def drive(s: RunState, row: int, t: float) -> int:
    """Inputs at the full row and time t into the parameters of both rows; rates of the extra states into K[row]."""
    x, y = s.inputs.x, s.inputs.y
    x.t[0] = t
    status = run(s.inputs)
    if status != 0:
        if not finite(x.state):
            return NOT_FINITE
        if status & DEGENERATE and s.driven > 1:
            s.tally.fallbacks += 1
            status = run(s.inputs_again)
            copy(y.u, s.inputs_again.y.u)
            copy(y.rates, s.inputs_again.y.rates)
    for i in range(len(y.u)):
        x.u[i] = y.u[i]
        s.rates.x.u[i] = y.u[i]
    for i in range(len(y.rates)):
        s.K[row, len(s.rates.x.state) + i] = y.rates[i]
    return cause(status)


def derivative(s: RunState, row: int, t: float) -> int:
    """K[row] at the full row and time t, with the pushes of rigid stops that hold; a degenerate evaluation goes to the rank-revealing
    kernel. A state that is not finite, such as that of a stage of too long a step, is not asked about."""
    x, m, y = s.inputs.x, s.rates.x, s.rates.y
    if s.wary > 0 and not finite(x.state):
        return NOT_FINITE
    if s.driven > 0:
        outcome = drive(s, row, t)
        if outcome != 0:
            return outcome
    if len(x.state) > len(m.state):
        for i in range(len(m.state)):
            m.state[i] = x.state[i]
    m.t[0] = t
    s.tally.evaluations += 1
    status = run(s.rates)
    if status != 0:
        if not finite(x.state):
            s.tally.evaluations -= 1
            return NOT_FINITE
        if status & DEGENERATE and s.backed > 0:
            s.tally.fallbacks += 1
            status = run(s.rates_again)
            copy(y.rates, s.rates_again.y.rates)
            copy(y.powers, s.rates_again.y.powers)
    for i in range(len(y.rates)):
        s.K[row, i] = y.rates[i]
    for i in range(len(y.powers)):
        s.K[row, s.counted + i] = y.powers[i]
    if s.rests.slips > 0:
        s.K[row, s.K.shape[1] - 1] = 0.0
    if len(s.rests.push) > 0 and cause(status) == 0:
        status = hold(s.rests, s.K, row, s.counted)
    return cause(status)


def put_row(K: Matrix, row: int, values: Floats) -> None:
    """The first values as a row."""
    for i in range(K.shape[1]):
        K[row, i] = values[i]


# -------------------------------------------------------------------- stages


def stage_from(x: Floats, y: Floats, K: Matrix, a: SharedMatrix, row: int, h: float) -> None:
    """The state of a stage: x becomes y + h sum_j a[row, j] K[j]; one pass over it for every term, and the sum with the last."""
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


def stage(s: RunState, row: int) -> None:
    stage_from(s.inputs.x.state, s.y, s.K, s.table.a, row, s.used)


def stages(s: RunState) -> int:
    """All stages of the step: rows 1 to stages - 1 of K; 0, or why there are none."""
    if s.implicit > 0:
        return implicit_stages(s)
    for k in range(1, s.stages):
        stage(s, k)
        outcome = derivative(s, k, s.time + s.table.c[k] * s.used)
        if outcome != 0:
            return outcome
    return 0


# -------------------------------------------------------------------- stages of Rosenbrock methods


def implicit_stages(s: RunState) -> int:
    """A step that is tried again keeps its derivatives."""
    n, h = len(s.y), s.used
    if s.fresh == 0:
        outcome = linearize(s)
        if outcome != 0:
            return outcome
        s.fresh = 1
    for i in range(n):
        for j in range(n):
            s.lu[i, j] = -h * s.J[i, j]
        s.lu[i, i] += 1.0 / s.table.gamma
    if not factor(s.lu, s.pivot):
        return NOT_FINITE
    for k in range(1, s.stages):
        if k == 1:
            for i in range(n):
                s.K[1, i] = s.K[0, i]
        else:
            stage(s, k)
            outcome = derivative(s, k, s.time + s.table.c[k] * h)
            if outcome != 0:
                return outcome
        for i in range(n):
            s.trial[i] = s.K[k, i] + h * s.table.slope[k] * s.by_time[i]
        for j in range(1, k):
            a = s.table.coupling[k, j]
            for i in range(n):
                s.trial[i] += a * s.K[j, i]
        solve(s.lu, s.pivot, s.trial)
        put_row(s.K, k, s.trial)
    return 0


def linearize(s: RunState) -> int:
    """J and df/dt at the present state, by differences along the motion; a step back where a step ahead has no answer."""
    x = s.inputs.x.state
    s.tally.jacobians += 1
    n, t, h = len(s.y), s.time, s.used
    columns = n if s.driven > 0 else s.counted  # only inputs can read quadratures
    for j in range(n):
        copy(x, s.y)
        outcome = NOT_FINITE if j < columns else 0
        size = math.sqrt(ROUND) * max(abs(s.y[j]), abs(h * s.K[0, j]), SMALL * s.scale[j])
        if s.K[0, j] < 0.0:
            size = -size
        for _ in range(2):
            if outcome in (NOT_FINITE, UNANSWERED):
                x[j] = s.y[j] + size
                outcome = derivative(s, 1, t)
                size = -size
        if outcome != 0:
            return outcome
        moved = x[j] - s.y[j]
        for i in range(n):
            s.J[i, j] = (s.K[1, i] - s.K[0, i]) / moved if j < columns else 0.0
    copy(x, s.y)
    slow = SLOW * h
    later = t + math.sqrt(ROUND * slow * (slow + abs(t)))  # as much error by rounding as by the second derivative
    outcome = derivative(s, 1, later)
    for i in range(n):
        s.by_time[i] = (s.K[1, i] - s.K[0, i]) / (later - t)
    return outcome
