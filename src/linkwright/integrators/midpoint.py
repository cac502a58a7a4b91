"""The midpoint rule, and impulses of what holds one way: ends of travels, touches of surfaces, friction of joints.

    q_m = q + h v / 2, on the loops        v_f = v + dv, without impulses: one kernel gives dv and the problem u = W p + b at q_m
    b = J v_f, along the normals + max(gap, 0) / (h / 2), or + e u_n before the step where something strikes that rebounds
    v+ = v_f + A J' p                      q+ = q_m + h v+ / 2, on the loops, and out of what is deep, in the mass metric

One memory serves all sets of rows that act: a block that is out of the problem has zeros. Blocks enter it where they would close faster
than they are apart, or where the impulses of others would make them; impulses start from those of the step before. The first stage of
the contact solver runs in lanes. What it does not solve is solved alone, by all stages.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import copy, run
from linkwright.integrators.contact.problem import FRICTION, NOTHING
from linkwright.integrators.contact.solver import attempt, begun
from linkwright.integrators.environment_state import Environment, RateOutputs, asked, begin, ended, normalize, refusal, settle
from linkwright.integrators.run_state import DEEP, UNSOLVED
from linkwright.integrators.stages import cause

TOLERANCE = 1e-8  # of the residual of impulses: steps are of first order where something strikes
SWEEPS = 4  # of the first stage
LEAST_CLOSING = 1e-13  # characteristic lengths: a gap that closes by less in a step does not close
SLOW = 1e-3  # characteristic lengths a second: slower impacts do not rebound
DEPTH = 1e-12  # characteristic lengths: what is less deep stays
TOO_DEEP = 1e-6  # characteristic lengths: a step that leaves more is refused
MOST_LIFTS = 8  # each with the mobility of the middle: the depth falls by the change of direction in a step
LIFTED = 1e-6  # of the residual: a lift is followed by a look
MOST_BOUNDS = 60  # rounds of bounds and impulses
BOUND = 1e-9  # relative change of the bounds that is none
FAR = 1e3  # depths: gaps that are wider do not close by a lift


def middle_step(e: Environment, h: float) -> int:
    """One step of the state in the row; 0, or why there is none."""
    x = e.rates.x
    outcome = half_way(e, h)
    if outcome != 0:
        return outcome
    status = run(e.rates)
    take(e, e.rates.y)
    if status != 0:
        if not asked(e, status, 0.0):
            return refusal(e, status)
        outcome = cause(run(e.rates_again))
        take(e, e.rates_again.y)
        if outcome != 0:
            return outcome
    if len(e.on) > 0:
        outcome = push(e, h)
        if outcome != 0:
            return outcome
    for i in range(len(e.change)):
        x.state[e.nq + i] = e.before[e.nq + i] + e.change[i]
    outcome = whole_way(e, h)
    if outcome != 0:
        return outcome
    outcome = ended(e, h)
    if outcome != 0 or len(e.on) == 0:
        return outcome
    return lift(e)


def take(e: Environment, y: RateOutputs) -> None:
    """What the kernel gives, kept: lanes share its outputs."""
    copy(e.change, y.rates)
    copy(e.gap, y.gap)
    copy(e.approach, y.before)
    copy(e.b, y.free)
    copy(e.mu, y.mu)
    copy(e.restitution, y.restitution)
    n, nv = len(e.b), len(e.change)
    for i in range(n):
        for j in range(nv):
            e.moved[i, j] = y.moved[i * nv + j]
        for j in range(n):
            e.mobility[i, j] = y.mobility[i * n + j]
    copy(e.load, y.load)
    copy(e.by_load, y.by_load)
    copy(e.constant, y.constant)
    copy(e.creep, y.creep)
    for i in range(len(e.load)):
        for j in range(n):
            e.lever[i, j] = y.lever[i * n + j]


# -------------------------------------------------------------------- positions


def half_way(e: Environment, h: float) -> int:
    """The position half a step on, along v and on the loops: the error of a position beside them would be of first order."""
    x, y = e.rates.x, e.halve.y
    begin(e)
    x.interval[0] = h
    for i in range(len(x.earlier)):
        x.earlier[i] = e.before[e.nq + i]
    outcome = drift(e, 0.5 * h)
    x.t[0] = e.began + 0.5 * h
    for i in range(len(x.motion)):
        x.motion[i] = e.motions[i]
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
    for i in range(len(x.motion)):
        x.motion[i] = e.motions[len(x.motion) + i]
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


# -------------------------------------------------------------------- impulses


def push(e: Environment, h: float) -> int:
    """The impulses of a step, and what they change of v."""
    c = e.contacts
    limits(e, h)
    outcome = 0
    solved = 0
    for passed in range(len(e.on) + 1):
        if outcome != 0 or not joined(e, passed, LEAST_CLOSING * e.size[0] / h):
            break
        masked(e)
        outcome = answer(e)
        solved = 1
    for k in range(len(e.p)):
        e.p[k] = c.p[k] if solved > 0 else 0.0
    if solved > 0:
        for k in range(len(e.p)):
            for j in range(len(e.change)):
                e.change[j] += e.moved[k, j] * e.p[k]
    return outcome


def limits(e: Environment, h: float) -> None:
    """b of every block, and none in the problem."""
    c = e.contacts
    for i in range(len(e.on)):
        k = c.first[i]
        e.on[i] = 0.0
        if c.kind[i] == FRICTION:
            continue
        u = e.approach[i]
        if e.restitution[i] > 0.0 and u < -SLOW * e.size[0] and e.gap[i] + 0.5 * h * u <= 0.0:
            e.b[k] += e.restitution[i] * u
        else:
            e.b[k] += max(e.gap[i], 0.0) / (0.5 * h)


def joined(e: Environment, passed: int, least: float) -> bool:
    """Blocks that close enter the problem; False if there is none."""
    c = e.contacts
    found = False
    for i in range(len(e.on)):
        if c.kind[i] == FRICTION:
            if passed == 0:
                e.on[i] = 1.0
                found = True
        elif e.on[i] == 0.0:
            k = c.first[i]
            u = e.b[k]
            if passed > 0:
                for j in range(len(e.p)):
                    u += e.mobility[k, j] * c.p[j]
            if u < -least:
                e.on[i] = 1.0
                found = True
    return found


def masked(e: Environment) -> None:
    """The problem of the blocks that are in it."""
    c = e.contacts
    for i in range(len(e.on)):
        c.mu[i] = e.mu[i]
        for k in range(c.first[i], c.first[i + 1]):
            c.b[k] = e.on[i] * e.b[k]
            c.p[k] = e.on[i] * e.p[k]
            for j in range(len(e.on)):
                share = e.on[i] * e.on[j]
                for m in range(c.first[j], c.first[j + 1]):
                    c.W[k, m] = share * e.mobility[k, m]


def answer(e: Environment) -> int:
    """Solve the problem; 0 or UNSOLVED. Bounds of friction by load follow from the impulses, so that they are found in turns."""
    e.problems += 1.0
    if len(e.by_load) == 0:
        return solved(e)
    outcome = 0
    for passed in range(MOST_BOUNDS):
        change = bounded(e)
        if outcome != 0 or (passed > 0 and change <= BOUND):
            return outcome
        outcome = solved(e)
    return UNSOLVED


def bounded(e: Environment) -> float:
    """The bounds that the impulses so far give; returns their largest relative change."""
    c = e.contacts
    first = len(e.on) - len(e.by_load)
    largest = NOTHING
    change = 0.0
    for i in range(len(e.by_load)):
        total = 0.0
        for axis in range(3):
            force = e.load[3 * i + axis]
            for j in range(len(e.p)):
                force += e.lever[3 * i + axis, j] * c.p[j]
            total += force * force
        bound = e.by_load[i] * math.sqrt(total) + e.constant[i]
        change = max(change, abs(bound - c.mu[first + i]))
        largest = max(largest, bound)
        c.mu[first + i] = bound
        k = c.first[first + i]
        c.W[k, k] = e.mobility[k, k] + e.creep[i] / max(bound, NOTHING)
    return change / largest


def solved(e: Environment) -> int:
    """One problem with its bounds; 0 or UNSOLVED."""
    c = e.contacts
    x, y = e.hard.x, e.hard.y
    begun(c)
    if attempt(c, SWEEPS, TOLERANCE):
        e.residual = max(e.residual, c.residual)
        return 0
    e.harder += 1.0
    n = len(c.p)
    for i in range(n):
        x.b[i] = c.b[i]
        x.p[i] = c.p[i]
        for j in range(n):
            x.W[i * n + j] = c.W[i, j]
    for i in range(len(c.mu)):
        x.mu[i] = c.mu[i]
    status = run(e.hard)
    copy(c.p, y.p)
    e.residual = max(e.residual, y.residual[0])
    if status != 0:
        return cause(status)
    return 0 if y.residual[0] < TOLERANCE else UNSOLVED


# -------------------------------------------------------------------- depth


def lift(e: Environment) -> int:
    """The position out of what is deep: the least motion in the mass metric, by the same problem without friction."""
    size = e.size[0]
    for passed in range(MOST_LIFTS + 1):
        run(e.gaps)
        copy(e.gap, e.gaps.y.gap)
        deepest = 0.0
        for i in range(len(e.gap)):
            deepest = max(deepest, -e.gap[i])
        e.deep = deepest
        if deepest <= DEPTH * size or passed == MOST_LIFTS:
            break
        upward(e, FAR * deepest)
        outcome = raised(e)
        if outcome != 0:
            return outcome
    e.depth = max(e.depth, e.deep)
    return 0 if e.deep <= TOO_DEEP * size else DEEP


def upward(e: Environment, far: float) -> None:
    """The shortest way out, as c.p along the normals."""
    c = e.contacts
    for i in range(len(e.on)):
        k = c.first[i]
        e.on[i] = 1.0 if c.kind[i] != FRICTION and e.gap[i] < far else 0.0
        c.mu[i] = 0.0
        for m in range(c.first[i], c.first[i + 1]):
            c.b[m] = 0.0
            c.p[m] = 0.0
            for j in range(len(c.p)):
                c.W[m, j] = 0.0
        c.b[k] = e.on[i] * e.gap[i]
    for i in range(len(e.on)):
        for j in range(len(e.on)):
            c.W[c.first[i], c.first[j]] = e.on[i] * e.on[j] * e.mobility[c.first[i], c.first[j]]
    begun(c)
    attempt(c, SWEEPS, LIFTED)


def raised(e: Environment) -> int:
    """The row moved so, and back onto the loops; v stays."""
    c = e.contacts
    x = e.rates.x
    n = e.nq
    for j in range(len(e.change)):
        e.change[j] = x.state[n + j]
        move = 0.0
        for i in range(len(e.on)):
            move += e.moved[c.first[i], j] * c.p[c.first[i]]
        x.state[n + j] = move
    outcome = drift(e, 1.0)
    for j in range(len(e.change)):
        x.state[n + j] = e.change[j]
    if outcome != 0:
        return outcome
    if e.projects > 0:
        return settle(e)
    normalize(e)
    return 0
