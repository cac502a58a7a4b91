"""Steps of equal length of many environments, each with its own state, time, efforts and parameters, as plain loops.

An environment is a row (q, v, t, tau, parameters). Eight of them, a block, are computed in lanes (`wide`); where a lane needs more than
that (a degenerate pivot, loops that stay open) the step is done again lane by lane (`one`), with the rank-revealing kernels behind it.
StepLanes do the same operations in the same order, so results depend neither on the neighbors nor on the number of environments.
An environment that fails stays in its last good state. Functions of the subset that `compiler.native_loops` makes native.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.native_loops import evaluate
from linkwright.integrators.lockstep import copy, normalize_lanes, stage_lanes
from linkwright.integrators.memory_layout import DEGENERATE, NOT_FINITE, OPEN, TURNED
from linkwright.integrators.runge_kutta import cause
from linkwright.integrators.step import NEWTON_STEPS, TOO_FAR

ENVIRONMENT_CLOSED = 1e-10  # gap (dimensionless) at which the projection ends: its correction leaves the square of it
WIDEST = 1e-8  # gap after the last call above which loops are open
ADMITTED = 1e-6  # gap of a new state, and of its rates, below which it is on the loops
REFUSED = -2  # outcome of a single step whose state is not
BACKED = -1  # code of an environment that the rank-revealing path has answered; 0: regular, above 0: why it failed
LARGEST_UNCOUNTED_TURN = 1.0  # rad of cut joints, by the sum of all speeds, until their turns are counted: well below half a turn
# whole numbers: blocks, substeps, ..., the stage that is computed alone, a flag for each lane
FIRST, LAST, STEPS, TIMES, ENVIRONMENT, FALLBACKS, STAGE, ACTIVE = range(8)


class StepLanes(NamedTuple):
    """Kernels (addresses, or callables in Python) for so many states at a time, and where blocks start in the scratch floats."""

    rates: Any
    project: Any
    turns: Any
    qdot: Any
    lanes: int
    x: int  # row
    y: int  # state and time before the step
    K: int  # derivatives of the stages
    out: int  # outputs and work of the kernels
    work: int
    going: int  # lanes whose projection continues; their gaps in the call before
    before: int
    travel: int  # rad, at most, since turns were counted


class Scheme(NamedTuple):
    """The method, sizes of a row, and the rank-revealing kernels of one state."""

    rates_again: Any
    project_again: Any
    admit: Any  # kernel of one state for the gaps of a new one; those of `project` need not be the gaps it began with
    a: np.ndarray  # coefficients of the method, in one row
    c: np.ndarray
    unit: np.ndarray  # where quaternions start
    stages: int
    width: int
    semi: int  # 1: semi-implicit Euler
    n: int  # coordinates and speeds
    nq: int
    n_in: int
    tau: int  # where efforts start in a row, and how many there are
    n_tau: int
    near: int  # references of the cut joints
    n_near: int
    n_unit: int
    read: int  # 1: equations read the references, so that turns must be counted right
    often: int  # 1: after every step; else when they may have changed, and at the end
    mapped: int  # 1: dq/dt is not v
    projects: int  # 0: no loops, 1: one kernel, 2: with a rank-revealing one
    backed: int  # 1: rates have one


def step_blocks(
    wide: StepLanes,
    one: StepLanes,
    m: Scheme,
    rows: np.ndarray,
    efforts: np.ndarray,
    codes: np.ndarray,
    chosen: np.ndarray,
    g: np.ndarray,
    d: np.ndarray,
    h: np.ndarray,
) -> None:
    """d[STEPS] steps of h[0] of blocks d[FIRST] to d[LAST]; environments that are not chosen, or have failed, stay as they are."""
    for block in range(d[FIRST], d[LAST]):
        if load(wide, m, rows, efforts, codes, chosen, g, d, block) > 0:
            step_block(wide, one, m, rows, codes, g, d, h[0], block)
            store(wide, m, rows, g, d, block)


def step_block(
    wide: StepLanes, one: StepLanes, m: Scheme, rows: np.ndarray, codes: np.ndarray, g: np.ndarray, d: np.ndarray, h: float, block: int
) -> None:
    """All steps of one block in its lanes."""
    for _ in range(d[STEPS]):
        alone = 1
        if wide.lanes > 1:
            alone = advance(wide, m, g, d, h)
        else:
            copy(g, wide.x, wide.y, m.n + 1)
        if alone != 0 and one_by_one(wide, one, m, rows, codes, g, d, h, block) == 0:
            break


def roll_blocks(
    wide: StepLanes,
    one: StepLanes,
    m: Scheme,
    rows: np.ndarray,
    efforts: np.ndarray,
    codes: np.ndarray,
    chosen: np.ndarray,
    g: np.ndarray,
    d: np.ndarray,
    h: np.ndarray,
    given: np.ndarray,
    states: np.ndarray,
) -> None:
    """The same again and again, for every environment with its next row of `given` efforts; its states into rows of `states`."""
    for block in range(d[FIRST], d[LAST]):
        load(wide, m, rows, efforts, codes, chosen, g, d, block)
        for time in range(d[TIMES]):
            if push(wide, m, g, d, given, block, time) > 0:
                step_block(wide, one, m, rows, codes, g, d, h[0], block)
            for l in range(wide.lanes):
                k = block * wide.lanes + l
                if k < len(rows):
                    at = k * d[TIMES] + time
                    if d[ACTIVE + l] != 0:
                        for i in range(m.n):
                            states[at, i] = g[wide.x + wide.lanes * i + l]
                    else:
                        for i in range(m.n):
                            states[at, i] = rows[k, i]
        store(wide, m, rows, g, d, block)


def push(p: StepLanes, m: Scheme, g: np.ndarray, d: np.ndarray, given: np.ndarray, block: int, time: int) -> int:
    """Efforts of one time into the active lanes; their number."""
    active = 0
    for l in range(p.lanes):
        if d[ACTIVE + l] != 0:
            active += 1
            at = (block * p.lanes + l) * d[TIMES] + time
            for i in range(m.n_tau):
                g[p.x + p.lanes * (m.tau + i) + l] = given[at, i]
    if active > 0 and active < p.lanes:
        fill(p, m, g, d)
    return active


def load(
    p: StepLanes,
    m: Scheme,
    rows: np.ndarray,
    efforts: np.ndarray,
    codes: np.ndarray,
    chosen: np.ndarray,
    g: np.ndarray,
    d: np.ndarray,
    block: int,
) -> int:
    """Rows of a block into its lanes; the number of active ones."""
    active = 0
    g[p.travel] = 0.0
    for l in range(p.lanes):
        k = block * p.lanes + l
        d[ACTIVE + l] = 0
        if k < len(rows) and chosen[k] != 0 and codes[k] <= 0:
            d[ACTIVE + l] = 1
            active += 1
            codes[k] = 0
            for i in range(m.n_in):
                g[p.x + p.lanes * i + l] = rows[k, i]
            for i in range(m.n_tau):
                g[p.x + p.lanes * (m.tau + i) + l] = efforts[k, i]
    if active > 0 and active < p.lanes:
        fill(p, m, g, d)
    return active


def fill(p: StepLanes, m: Scheme, g: np.ndarray, d: np.ndarray) -> None:
    """StepLanes without work repeat an active one: they neither disturb the others nor leave a trace."""
    source = 0
    while d[ACTIVE + source] == 0:
        source += 1
    for l in range(p.lanes):
        if d[ACTIVE + l] == 0:
            for i in range(m.n_in):
                g[p.x + p.lanes * i + l] = g[p.x + p.lanes * i + source]


def store(p: StepLanes, m: Scheme, rows: np.ndarray, g: np.ndarray, d: np.ndarray, block: int) -> None:
    """State, time and references of the active lanes back into their rows."""
    if g[p.travel] > 0.0:
        count_turns(p, m, g)
    for l in range(p.lanes):
        if d[ACTIVE + l] != 0:
            k = block * p.lanes + l
            for i in range(m.n + 1):
                rows[k, i] = g[p.x + p.lanes * i + l]
            for i in range(m.near, m.near + m.n_near):
                rows[k, i] = g[p.x + p.lanes * i + l]


def one_by_one(
    p: StepLanes, one: StepLanes, m: Scheme, rows: np.ndarray, codes: np.ndarray, g: np.ndarray, d: np.ndarray, h: float, block: int
) -> int:
    """The step of every active lane by itself, from what it was before; the number of lanes that continue."""
    left = 0
    for l in range(p.lanes):
        if d[ACTIVE + l] != 0:
            k = block * p.lanes + l
            for i in range(m.n + 1):
                g[p.x + p.lanes * i + l] = g[p.y + p.lanes * i + l]
            for i in range(m.n_in):
                g[one.x + i] = g[p.x + p.lanes * i + l]
            d[ENVIRONMENT] = k
            d[FALLBACKS] = 0
            if p.lanes > 1:
                g[one.travel] = LARGEST_UNCOUNTED_TURN
            outcome = advance(one, m, g, d, h)
            if outcome == 0:
                left += 1
                codes[k] = BACKED if d[FALLBACKS] > 0 else codes[k]
                for i in range(m.n_in):
                    g[p.x + p.lanes * i + l] = g[one.x + i]
            else:
                codes[k] = outcome
                d[ACTIVE + l] = 0
                for i in range(m.n + 1):
                    rows[k, i] = g[one.y + i]
                    g[one.x + i] = g[one.y + i]
                if m.often == 0 and m.n_near > 0:
                    count_turns(one, m, g)
                for i in range(m.near, m.near + m.n_near):
                    rows[k, i] = g[one.x + i]
    if left > 0 and left < p.lanes:
        fill(p, m, g, d)
    return left


# -------------------------------------------------------------------- one step of all lanes


def advance(p: StepLanes, m: Scheme, g: np.ndarray, d: np.ndarray, h: float) -> int:
    """One step of the states in x; 0, or why some lane could not."""
    n = p.lanes * m.n
    copy(g, p.x, p.y, n + p.lanes)
    outcome = derivative(p, m, g, d, 0)
    if outcome != 0:
        return outcome
    if m.semi > 0:
        outcome = semi_implicit(p, m, g, h)
        if outcome != 0:
            return outcome
    else:
        for s in range(1, m.stages):
            stage_lanes(m.a, s * m.width, s, h, g, p.x, p.y, p.K, n)
            clock(p, m, g, m.c[s] * h)
            outcome = derivative(p, m, g, d, s)
            if outcome != 0:
                return outcome
        stage_lanes(m.a, m.stages * m.width, m.stages, h, g, p.x, p.y, p.K, n)
    clock(p, m, g, h)
    if m.projects > 0:
        outcome = settle(p, m, g, d)  # its kernels take quaternions of any length
    else:
        normalize_lanes(m.unit, 0, m.n_unit, g, p.x, p.lanes)
        outcome = finite(g, p.x, n)
    if outcome != 0 or m.n_near == 0:
        return outcome
    if m.often == 0:
        g[p.travel] += h * fastest(p, m, g)
    return count_turns(p, m, g) if m.often > 0 or g[p.travel] >= LARGEST_UNCOUNTED_TURN else 0


def fastest(p: StepLanes, m: Scheme, g: np.ndarray) -> float:
    """The largest sum of all speeds of a lane, which no cut joint turns faster than."""
    most = 0.0
    for l in range(p.lanes):
        total = 0.0
        for i in range(m.nq, m.n):
            total += abs(g[p.x + p.lanes * i + l])
        most = max(most, total)
    return most


def clock(p: StepLanes, m: Scheme, g: np.ndarray, passed: float) -> None:
    """Time of every lane, so long after the beginning of the step."""
    at = p.lanes * m.n
    for l in range(p.lanes):
        g[p.x + at + l] = g[p.y + at + l] + passed


def derivative(p: StepLanes, m: Scheme, g: np.ndarray, d: np.ndarray, row: int) -> int:
    """K[row] at the states in x; of one state a degenerate evaluation goes to the rank-revealing kernel, unless it is not finite."""
    n = p.lanes * m.n
    if p.lanes > 1:  # in place: what comes after the rates is overwritten by the next row
        return cause(evaluate(p.rates, g, p.x, p.K + row * n, p.work, 1))
    d[STAGE] = row
    if finite(g, p.x, n) != 0:
        return NOT_FINITE
    status = evaluate(p.rates, g, p.x, p.out, p.work)
    if status & DEGENERATE and m.backed > 0:
        d[FALLBACKS] += 1
        status = evaluate(m.rates_again, g, p.x, p.out, p.work)
    copy(g, p.out, p.K + row * n, n)
    return cause(status)


def semi_implicit(p: StepLanes, m: Scheme, g: np.ndarray, h: float) -> int:
    """Semi-implicit Euler: v + h a, then q + h N(q) v with that new v."""
    n, nq, status = p.lanes * m.n, p.lanes * m.nq, 0
    for i in range(nq, n):
        g[p.x + i] = g[p.y + i] + h * g[p.K + i]
    if m.mapped > 0:
        status = evaluate(p.qdot, g, p.x, p.out, p.work, 1) if p.lanes > 1 else evaluate(p.qdot, g, p.x, p.out, p.work)
        for i in range(nq):
            g[p.x + i] = g[p.y + i] + h * g[p.out + i]
    else:
        for i in range(nq):
            g[p.x + i] = g[p.y + i] + h * g[p.x + nq + i]
    return cause(status)


def finite(g: np.ndarray, first: int, n: int) -> int:
    """0, or NOT_FINITE."""
    doubt = 0.0
    for i in range(first, first + n):
        doubt += 0.0 * g[i]
    return NOT_FINITE if doubt != 0.0 else 0


def settle(p: StepLanes, m: Scheme, g: np.ndarray, d: np.ndarray) -> int:
    """States in x onto the loops, every lane with as many Newton steps as it needs; velocities along them.

    The velocity is that of the call whose gap was small: it was made consistent that near to the final position. Steps of first order
    leave gaps that a call of `projection` does not make small enough; theirs is `settling`, which does both of its Newton steps in
    one call. A lane that is done is computed along with the others from the same row, so its outputs stay what they are.
    """
    n, more = p.lanes * m.n, 1
    d[STAGE] = m.stages
    for l in range(p.lanes):
        g[p.going + l] = 1.0
        g[p.before + l] = math.inf
    for call in range(NEWTON_STEPS):
        status = evaluate(p.project, g, p.x, p.out, p.work, 1) if p.lanes > 1 else evaluate(p.project, g, p.x, p.out, p.work)
        if p.lanes == 1 and status & DEGENERATE and m.projects > 1:
            d[FALLBACKS] += 1
            status = evaluate(m.project_again, g, p.x, p.out, p.work)
        if status != 0:
            return cause(status)
        more = 0
        for l in range(p.lanes):
            gap = g[p.out + n + l]
            if g[p.going + l] > 0.0 and (gap <= ENVIRONMENT_CLOSED or (call > 0 and gap > 0.5 * g[p.before + l])):
                g[p.going + l] = 0.0
            if g[p.going + l] > 0.0:
                more += 1
                g[p.before + l] = gap
        if more == 0 or call == NEWTON_STEPS - 1:
            break
        for i in range(m.nq):
            for l in range(p.lanes):
                old, new = g[p.x + p.lanes * i + l], g[p.out + p.lanes * i + l]
                g[p.x + p.lanes * i + l] = new if g[p.going + l] > 0.0 else old
    for l in range(p.lanes):
        if not g[p.out + n + l] <= WIDEST:
            return OPEN
    copy(g, p.out, p.x, n)
    return 0


def count_turns(p: StepLanes, m: Scheme, g: np.ndarray) -> int:
    """References of the cut joints at the new states; an angle that equations read must not go too far to be counted."""
    status = evaluate(p.turns, g, p.x, p.out, p.work, 1) if p.lanes > 1 else evaluate(p.turns, g, p.x, p.out, p.work)
    at, far = p.x + p.lanes * m.near, 0.0
    if m.read > 0:
        for i in range(p.lanes * m.n_near):
            far = max(far, abs(g[p.out + i] - g[at + i]))
    if status != 0 or far > TOO_FAR:
        return TURNED if status == 0 else cause(status)
    copy(g, p.out, at, p.lanes * m.n_near)
    g[p.travel] = 0.0
    return 0


# -------------------------------------------------------------------- new states


def admit(one: StepLanes, m: Scheme, rows: np.ndarray, gaps: np.ndarray, g: np.ndarray, count: int) -> None:
    """Gaps of loops and of their rates of `count` new rows, one by one, and references of the cut joints counted at them."""
    for k in range(count):
        for i in range(m.n_in):
            g[one.x + i] = rows[k, i]
        gaps[k, 0] = 0.0
        gaps[k, 1] = 0.0
        if m.projects > 0:
            evaluate(m.admit, g, one.x, one.out, one.work)
            gaps[k, 0] = g[one.out + m.n]
            gaps[k, 1] = g[one.out + m.n + 1]
        if m.n_near > 0:
            evaluate(one.turns, g, one.x, one.out, one.work)
            for i in range(m.n_near):
                rows[k, m.near + i] = g[one.out + i]


def step_one(
    one: StepLanes,
    m: Scheme,
    rows: np.ndarray,
    efforts: np.ndarray,
    codes: np.ndarray,
    chosen: np.ndarray,
    gaps: np.ndarray,
    g: np.ndarray,
    d: np.ndarray,
    h: np.ndarray,
) -> int:
    """A single new row admitted and stepped: its code, or REFUSED for numbers that are not finite and for loops or rates that are open."""
    doubt = 0.0
    for i in range(m.n_in):
        doubt += 0.0 * rows[0, i]
    for i in range(m.n_tau):
        doubt += 0.0 * efforts[0, i]
    if doubt != 0.0:
        return REFUSED
    admit(one, m, rows, gaps, g, 1)
    if not gaps[0, 0] < ADMITTED or not gaps[0, 1] < ADMITTED:
        return REFUSED
    codes[0] = 0
    step_blocks(one, one, m, rows, efforts, codes, chosen, g, d, h)
    return codes[0]
