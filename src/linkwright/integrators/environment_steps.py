"""Steps of equal length of an environment, by an explicit method or by the midpoint rule.

An environment has its own state, time, efforts and parameters: a row (q, v, t, tau, parameters).

The loops are written for one environment. Machine code runs them for eight at a time as well, with the bits of one; where the equations of
one degenerate the rank-revealing kernel answers for it alone. An environment that fails stays in its last good state.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import (
    Column,
    Floats,
    IntColumn,
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
from linkwright.integrators.run_state import DEGENERATE, NOT_FINITE, OPEN, TURNED
from linkwright.integrators.stages import cause, finite, put_row, stage_from
from linkwright.integrators.step import NEWTON_STEPS, TOO_FAR

LAST_GAP = 1e-10  # dimensionless gap whose correction is the last one: it leaves the square of it
WIDEST = 1e-8  # gap after the last call above which loops are open
ADMITTED = 1e-6  # gap of a new state, and of its rates, below which it is on the loops
REFUSED = -2  # outcome of a single step whose state is not
BACKED = -1  # code of an environment that the rank-revealing path has answered; 0: regular, above 0: why it failed
LARGEST_UNCOUNTED_TURN = 1.0  # rad of cut joints, by the sum of all speeds, until their turns are counted: well below half a turn


class RowInputs(Record):
    row: Floats  # all of it
    state: Floats  # coordinates and speeds
    t: Floats
    tau: Floats
    near: Floats  # references of the cut joints
    interval: Floats  # the length of the step and the velocities before it, where the rates read them
    earlier: Floats


class AloneInputs(Record):
    row: Floats
    environment: Floats  # whose row it is, and the stage that is computed
    stage: Floats


class RateOutputs(Record):
    """`rates` are those of the state, or of the midpoint rule the change of v in a step. The others are the problem of its impulses."""

    rates: Floats
    gap: Floats  # of each block of rows
    before: Floats  # speeds along the normals, before the step
    free: Floats  # speeds after a step without impulses
    moved: Floats  # change of v by a unit impulse in each row, one after the other
    mobility: Floats  # change of the speeds by the same
    mu: Floats
    restitution: Floats


class StateOutputs(Record):
    state: Floats
    gap: Floats
    rate_gap: Floats


class NearOutputs(Record):
    near: Floats


class QdotOutputs(Record):
    qdot: Floats


class Rates(Kernel):
    x: RowInputs
    y: RateOutputs


class RatesAgain(Kernel):
    """The rank-revealing path."""

    alone = True
    x: AloneInputs
    y: RateOutputs


class Project(Kernel):
    x: RowInputs
    y: StateOutputs


class ProjectAgain(Kernel):
    """The rank-revealing path."""

    alone = True
    x: AloneInputs
    y: StateOutputs


class Turns(Kernel):
    x: RowInputs
    y: NearOutputs


class Qdot(Kernel):
    x: RowInputs
    y: QdotOutputs


class Environment(Record):
    nq: int
    stages: int
    middle: int  # 1: midpoint rule
    read: int  # 1: equations read the references, so that turns must be counted right
    often: int  # 1: after every step; else when they may have changed, and at the end
    mapped: int  # 1: dq/dt is not v
    near_at: int  # place of the references in a row
    projects: int  # 0: no loops, 1: one kernel, 2: with a rank-revealing one
    backed: int  # 1: rates have one
    rates: Rates
    project: Project
    halve: Project  # closes the middle of the way
    turns: Turns
    qdot: Qdot
    admit: Project  # for the gaps of a new state; those of `project` need not be the gaps it began with
    rates_again: RatesAgain
    project_again: ProjectAgain
    before: Floats = sized("n")  # state before the step
    K: Matrix = sized("stages", "n")  # derivatives of the stages
    change: Floats = sized("nv")  # of v, by the midpoint rule
    a: SharedMatrix = sized("width", "width")  # the method
    c: Shared = sized("width")
    unit: SharedInts = sized("n_unit")  # where quaternions start
    number: float  # of the environment
    began: float  # time before the step
    travel: float  # rad, at most, since turns were counted
    fallbacks: float  # answers of the rank-revealing path in this step


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


def begin(e: Environment) -> None:
    copy(e.before, e.rates.x.state)
    e.began = e.rates.x.t[0]
    e.fallbacks = 0.0


def ended(e: Environment, h: float) -> int:
    """The end of a step on the loops, with turns counted."""
    x = e.rates.x
    outcome = 0
    if e.projects > 0:
        outcome = settle(e)  # its kernels take quaternions of any length
    else:
        normalize(e)
        outcome = 0 if finite(x.state) else NOT_FINITE
    if outcome != 0 or len(x.near) == 0:
        return outcome
    if e.often == 0:
        e.travel += h * speed(e)
    return count_turns(e) if e.often > 0 or e.travel >= LARGEST_UNCOUNTED_TURN else 0


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


def asked(e: Environment, status: int, stage: float) -> bool:
    """True if the rank-revealing kernel may answer the state in the row; its inputs are there then."""
    x, again = e.rates.x, e.rates_again
    if not finite(x.state) or not (status & DEGENERATE) or e.backed == 0:
        return False
    e.fallbacks += 1.0
    copy(again.x.row, x.row)
    again.x.environment[0] = e.number
    again.x.stage[0] = stage
    return True


def refusal(e: Environment, status: int) -> int:
    """Why there are no rates at the state in the row."""
    return cause(status) if finite(e.rates.x.state) else NOT_FINITE


# -------------------------------------------------------------------- the midpoint rule


def middle_step(e: Environment, h: float) -> int:
    """The midpoint rule without anything that holds one way."""
    x = e.rates.x
    outcome = half_way(e, h)
    if outcome != 0:
        return outcome
    status = run(e.rates)
    copy(e.change, e.rates.y.rates)
    if status != 0:
        if not asked(e, status, 0.0):
            return refusal(e, status)
        outcome = cause(run(e.rates_again))
        copy(e.change, e.rates_again.y.rates)
        if outcome != 0:
            return outcome
    for i in range(len(e.change)):
        x.state[e.nq + i] = e.before[e.nq + i] + e.change[i]
    outcome = whole_way(e, h)
    return outcome if outcome != 0 else ended(e, h)


def half_way(e: Environment, h: float) -> int:
    """The position half a step on, along v and on the loops: the error of a position beside them would be of first order."""
    x, y = e.rates.x, e.halve.y
    begin(e)
    x.interval[0] = h
    for i in range(len(x.earlier)):
        x.earlier[i] = e.before[e.nq + i]
    outcome = drift(e, 0.5 * h)
    x.t[0] = e.began + 0.5 * h
    if e.projects == 0:
        normalize(e)
        return outcome
    status = run(e.halve)
    if status == 0:
        copy(x.state, y.state)
    return outcome  # rates of an open position turn to the rank-revealing path


def whole_way(e: Environment, h: float) -> int:
    """From the middle, with v at the end of the step in the row: q + h N(q_m) (v before + v) / 2, loops still open."""
    x = e.rates.x
    n = e.nq
    for i in range(n, len(e.before)):
        e.change[i - n] = x.state[i]
        x.state[i] = 0.5 * (e.before[i] + x.state[i])
    outcome = 0
    if e.mapped == 0:
        for i in range(n):
            x.state[i] = e.before[i] + h * x.state[n + i]
    else:
        outcome = cause(run(e.qdot))
        for i in range(n):
            x.state[i] = e.before[i] + h * e.qdot.y.qdot[i]
    for i in range(n, len(e.before)):
        x.state[i] = e.change[i - n]
    x.t[0] = e.began + h
    return outcome


def drift(e: Environment, h: float) -> int:
    """q + h N(q) v."""
    x = e.rates.x
    if e.mapped == 0:
        for i in range(e.nq):
            x.state[i] += h * x.state[e.nq + i]
        return 0
    status = run(e.qdot)
    for i in range(e.nq):
        x.state[i] += h * e.qdot.y.qdot[i]
    return cause(status)


def normalize(e: Environment) -> None:
    """Quaternions get their length back."""
    x = e.rates.x
    for u in range(len(e.unit)):
        s = 0.0
        for i in range(4):
            s += x.state[e.unit[u] + i] * x.state[e.unit[u] + i]
        for i in range(4):
            x.state[e.unit[u] + i] /= math.sqrt(s)


def settle(e: Environment) -> int:
    """The state onto the loops, with as many Newton steps as it needs; the velocity along them.

    The velocity is that of the call whose gap was small: it was made consistent that near to the final position. Steps of first order
    leave gaps that a call of `projection` does not make small enough; theirs is `settling`, which does both of its Newton steps in
    one call.
    """
    x, y = e.rates.x, e.project.y
    before = math.inf
    for call in range(NEWTON_STEPS):
        status = run(e.project)
        if status & DEGENERATE and e.projects > 1:
            status = projected(e)
        if status != 0:
            return cause(status)
        gap = y.gap[0]
        if gap <= LAST_GAP or (call > 0 and gap > 0.5 * before) or call == NEWTON_STEPS - 1:
            if not gap <= WIDEST:
                return OPEN
            copy(x.state, y.state)
            return 0
        before = gap
        for i in range(e.nq):
            x.state[i] = y.state[i]
    return OPEN


def projected(e: Environment) -> int:
    """The rank-revealing projection in place of the one that degenerated; its status."""
    again = e.project_again
    e.fallbacks += 1.0
    copy(again.x.row, e.rates.x.row)
    again.x.environment[0] = e.number
    again.x.stage[0] = float(e.stages)
    status = run(again)
    copy(e.project.y.state, again.y.state)
    copy(e.project.y.gap, again.y.gap)
    return status


def speed(e: Environment) -> float:
    """The sum of all speeds, which no cut joint turns faster than."""
    total = 0.0
    for i in range(e.nq, len(e.before)):
        total += abs(e.rates.x.state[i])
    return total


def count_turns(e: Environment) -> int:
    """References of the cut joints at the new state; an angle that equations read must not go too far to be counted."""
    x, y = e.rates.x, e.turns.y
    status = run(e.turns)
    far = 0.0
    if e.read > 0:
        for i in range(len(x.near)):
            far = max(far, abs(y.near[i] - x.near[i]))
    if status != 0 or far > TOO_FAR:
        return TURNED if status == 0 else cause(status)
    copy(x.near, y.near)
    e.travel = 0.0
    return 0


# -------------------------------------------------------------------- steps


def load(e: Environment, number: Column, row: Column) -> None:
    """A row that is to be stepped; in lanes also those that are not, as their neighbors' kernels see them."""
    x = e.rates.x
    for i in range(len(x.row)):
        x.row[i] = row[i]
    e.number = number[0]
    e.travel = 0.0


def store(e: Environment, row: Column) -> None:
    """State, time and references back into the row."""
    x = e.rates.x
    if e.travel > 0.0:
        count_turns(e)
    n = len(x.state)
    for i in range(n):
        row[i] = x.state[i]
    row[n] = x.t[0]
    for i in range(len(x.near)):
        row[e.near_at + i] = x.near[i]


def steps(e: Environment, h: float, count: int) -> int:
    """So many steps of h; the code. One that fails leaves the state it began with."""
    x = e.rates.x
    code = 0
    for _ in range(count):
        outcome = advance(e, h)
        if outcome != 0:
            copy(x.state, e.before)
            x.t[0] = e.began
            return outcome
        if e.fallbacks > 0.0:
            code = BACKED
    return code


def step(
    e: Environment, number: Column, row: Column, efforts: Column, code: IntColumn, chosen: IntColumn, h: float, count: int
) -> None:
    """Steps of h of an environment that is chosen and has not failed."""
    x = e.rates.x
    load(e, number, row)
    for i in range(len(x.tau)):
        x.tau[i] = efforts[i]
    if chosen[0] != 0 and code[0] <= 0:
        code[0] = steps(e, h, count)
        store(e, row)


def roll(
    e: Environment,
    number: Column,
    row: Column,
    code: IntColumn,
    chosen: IntColumn,
    given: Rows,
    states: Rows,
    h: float,
    count: int,
    times: int,
) -> None:
    """The same again and again, each time with the next row of `given` efforts; the state into the next row of `states`."""
    x = e.rates.x
    load(e, number, row)
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
        store(e, row)


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
    step(e, number, row, efforts, code, chosen, h, count)
    return code[0]
