"""Steps of equal length of an environment, by an explicit method or by the midpoint rule.

An environment has its own state, time, efforts and parameters: a row (q, v, t, tau, parameters).

The loops are written for one environment. Machine code runs them for eight at a time as well, with the bits of one; where the equations of
one degenerate the rank-revealing kernel answers for it alone. An environment that fails stays in its last good state.
"""

from __future__ import annotations

from linkwright.compiler.records import Column, IntColumn, Rows, copy, run
from linkwright.integrators.environment_state import ADMITTED, Environment, asked, begin, count_turns, ended, refusal
from linkwright.integrators.midpoint import middle_step
from linkwright.integrators.stages import cause, put_row, stage_from

REFUSED = -2  # outcome of a single step whose state is not
BACKED = -1  # code of an environment that the rank-revealing path has answered; 0: regular, above 0: why it failed

# -------------------------------------------------------------------- one step


def advance(e: Environment, h: float) -> int:
    """One step of the state in the row; 0, or why there is none."""
    if e.middle > 0:
        return middle_step(e, h)
    outcome = tabled_step(e, h)
    return outcome if outcome != 0 else ended(e, h)


def tabled_step(e: Environment, h: float) -> int:
    """The stages of an explicit method."""
    x = e.rates.x
    begin(e)
    outcome = derivative(e, 0)
    if outcome != 0:
        return outcome
    for s in range(1, e.stages):
        stage_from(x.state, e.before, e.K, e.a, s, h)
        x.t[0] = e.began + e.c[s] * h
        outcome = derivative(e, s)
        if outcome != 0:
            return outcome
    stage_from(x.state, e.before, e.K, e.a, e.stages, h)
    x.t[0] = e.began + h
    return 0


def derivative(e: Environment, row: int) -> int:
    """K[row] at the state in the row; a degenerate evaluation goes to the rank-revealing kernel, unless the state is not finite."""
    y = e.rates.y
    status = run(e.rates)
    put_row(e.K, row, y.rates)
    return 0 if status == 0 else revealed(e, row, status)


def revealed(e: Environment, row: int, status: int) -> int:
    if not asked(e, status, float(row)):
        return refusal(e, status)
    outcome = cause(run(e.rates_again))
    put_row(e.K, row, e.rates_again.y.rates)
    return outcome


# -------------------------------------------------------------------- steps


def load(e: Environment, number: Column, row: Column, motions: Column, pushes: Column, marks: Column) -> None:
    """A row that is to be stepped; in lanes also those that are not, as their neighbors' kernels see them."""
    x = e.rates.x
    for i in range(len(x.row)):
        x.row[i] = row[i]
    for i in range(len(e.motions)):
        e.motions[i] = motions[i]
    for i in range(len(e.p)):
        e.p[i] = pushes[i]
    e.depth = marks[0]
    e.residual = marks[1]
    e.problems = marks[2]
    e.harder = marks[3]
    e.number = number[0]
    e.travel = 0.0


def store(e: Environment, row: Column, pushes: Column, marks: Column) -> None:
    """State, time and references back into the row, impulses and what is remembered of them next to it."""
    x = e.rates.x
    if e.travel > 0.0:
        count_turns(e)
    n = len(x.state)
    for i in range(n):
        row[i] = x.state[i]
    row[n] = x.t[0]
    for i in range(len(x.near)):
        row[e.near_at + i] = x.near[i]
    for i in range(len(e.p)):
        pushes[i] = e.p[i]
    marks[0] = e.depth
    marks[1] = e.residual
    marks[2] = e.problems
    marks[3] = e.harder


def steps(e: Environment, h: float, count: int) -> int:
    """So many steps of h; the code. One that fails leaves the state it began with."""
    x = e.rates.x
    code = 0
    for _ in range(count):
        outcome = advance(e, h)
        if outcome != 0:
            copy(x.state, e.before)
            x.t[0] = e.began
            for i in range(len(e.p)):
                e.p[i] = 0.0
            return outcome
        if e.fallbacks > 0.0:
            code = BACKED
    return code


def step(
    e: Environment,
    number: Column,
    row: Column,
    efforts: Column,
    code: IntColumn,
    chosen: IntColumn,
    motions: Column,
    pushes: Column,
    marks: Column,
    h: float,
    count: int,
) -> None:
    """Steps of h of an environment that is chosen and has not failed."""
    x = e.rates.x
    load(e, number, row, motions, pushes, marks)
    for i in range(len(x.tau)):
        x.tau[i] = efforts[i]
    if chosen[0] != 0 and code[0] <= 0:
        code[0] = steps(e, h, count)
        store(e, row, pushes, marks)


def roll(
    e: Environment,
    number: Column,
    row: Column,
    code: IntColumn,
    chosen: IntColumn,
    motions: Column,
    pushes: Column,
    marks: Column,
    given: Rows,
    states: Rows,
    h: float,
    count: int,
    times: int,
) -> None:
    """The same again and again, each time with the next row of `given` efforts; the state into the next row of `states`."""
    x = e.rates.x
    load(e, number, row, motions, pushes, marks)
    going = chosen[0] != 0 and code[0] <= 0
    if going:
        code[0] = 0
    for time in range(times):
        if going:
            for i in range(len(x.tau)):
                x.tau[i] = given[time, i]
            outcome = steps(e, h, count)
            if outcome != 0:
                code[0] = outcome
            going = outcome <= 0
        for i in range(len(x.state)):
            states[time, i] = x.state[i]
    if chosen[0] != 0:
        store(e, row, pushes, marks)


# -------------------------------------------------------------------- new states


def admit(e: Environment, row: Column, gaps: Column) -> None:
    """Gaps of the loops and of their rates of a new row, and references of the cut joints counted at it."""
    x, y = e.rates.x, e.admit.y
    for i in range(len(x.row)):
        x.row[i] = row[i]
    gaps[0] = 0.0
    gaps[1] = 0.0
    if e.projects > 0:
        run(e.admit)
        gaps[0] = y.gap[0]
        gaps[1] = y.rate_gap[0]
    if len(x.near) > 0:
        run(e.turns)
        for i in range(len(x.near)):
            row[e.near_at + i] = e.turns.y.near[i]


def step_new(
    e: Environment,
    number: Column,
    row: Column,
    efforts: Column,
    code: IntColumn,
    chosen: IntColumn,
    motions: Column,
    pushes: Column,
    marks: Column,
    gaps: Column,
    h: float,
    count: int,
) -> int:
    """A new row admitted and stepped: its code, or REFUSED for numbers that are not finite and for loops or rates that are open."""
    x = e.rates.x
    doubt = 0.0
    for i in range(len(x.row)):
        doubt += 0.0 * row[i]
    for i in range(len(x.tau)):
        doubt += 0.0 * efforts[i]
    if doubt != 0.0:
        return REFUSED
    admit(e, row, gaps)
    if not gaps[0] < ADMITTED or not gaps[1] < ADMITTED:
        return REFUSED
    code[0] = 0
    step(e, number, row, efforts, code, chosen, motions, pushes, marks, h, count)
    return code[0]
