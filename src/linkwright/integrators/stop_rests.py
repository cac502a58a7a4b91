"""Rows that hold one way, as plain loops: whatever set of them holds, the equations are those of the mechanism without any.

A row J_s that holds is one of a coordinate at the end of its travel, or the normal or tangent of a touch of surfaces. Its unit push is
the effort G_s = J_s, and where it slips J_s + share J_t along its tangent. With x0 the answer without and X = M_c^-1 G_s' the response of
the mechanism to it (`response`: what an effort does with everything else at rest and without weight),

    a = a0 + X lam       W lam = -(J_s a0 + k_s)       W = J_s X
    q + X mu,  v + X nu  W mu = -(value - end),         W nu = -J_s v

so one code of rates, corrections and responses serves every set: states are data. Where rows depend on each other (four feet of a table)
those that come later get no share; in space the pushes are those nearest to some given ones (`about`), each in units of the push that it
would need alone: they change no motion. Loops on the record `Rests`; its kernels read the mechanism row.

In space J_t has two rows, and a touch slips along its velocity there. Near zero its direction turns at once, which would make the equations
stiff: below the speed `slow` it is the one in which it began (`begins`) or that it had a step before (`ahead`). Past zero the friction is
continued as it was before, so that the end of a slip is the root of a smooth function, the speed along `ahead`.
"""

from __future__ import annotations

import math

from linkwright.compiler.callbacks import DEGENERATE, FAILED, NOT_FINITE
from linkwright.compiler.records import Count, Floats, Ints, Kernel, Matrix, Record, Shared, SharedInts, SharedMatrix, copy, run, sized
from linkwright.integrators.dry_friction import GIVEN, FrictionProblem, settle_friction
from linkwright.integrators.linear_solver import factor, solve
from linkwright.integrators.problem import BOUND, CONE, LEAVES, ROUND_CONE, SHARE, SLIDE, SPEED
from linkwright.numerics.tolerances import DEPENDENT

LITTLE = 1e-6  # of the diagonal, added where rows depend on each other: what it makes wrong falls by as much with every refinement
REFINED = 6  # times
LOST = 2  # place of what is lost among the powers
BAD = FAILED | NOT_FINITE


class StopRow(Record):
    state: Floats
    t: Floats
    efforts: Floats


class StopsOutputs(Record):
    """Of all rows that may hold."""

    values: Floats
    k: Floats
    rows: Floats
    motions: Floats  # responses to each, or nothing


class ResponseOutputs(Record):
    motion: Floats  # dq, dv
    power: Floats


class Stops(Kernel):
    x: StopRow
    y: StopsOutputs


class Response(Kernel):
    """What the efforts in the row do alone."""

    x: StopRow
    y: ResponseOutputs


class ResponseAgain(Kernel):
    """The rank-revealing path."""

    alone = True
    x: StopRow
    y: ResponseOutputs


class TermsOutputs(Record):
    """Of all rows, where joints rub: see `mechanics.dynamics.coordinate_efforts.EffortTerms`."""

    values: Floats
    k: Floats
    rows: Floats
    responses: Floats
    F: Floats
    dF: Floats
    turns: Floats  # share of the bound at which friction slides, with its sign if it is smooth


class EffortTerms(Kernel):
    x: StopRow
    y: TermsOutputs


class EffortTermsAgain(Kernel):
    """The rank-revealing path."""

    alone = True
    x: StopRow
    y: TermsOutputs


class Rests(Record):
    """The rows that hold, at the state of the mechanism row."""

    nq: int
    responds: int  # 0: no rigid stop may hold, 1: one kernel of responses, 2: with a second one
    stops: Stops
    response: Response
    response_again: ResponseAgain
    terms: EffortTerms
    terms_again: EffortTermsAgain
    revealing: int  # 1: there is such a second kernel
    friction: FrictionProblem  # of joints; without any it has no rows
    turn: Shared = sized("n_friction")  # speed over which friction turns round that moves nothing; -1: smooth; 0: neither
    sign: Shared = sized("n_friction")  # of GIVEN rows: minus the direction in which they slip; of SHARED ones
    slips: int  # 1: the last quadrature is what slipping loses
    place: SharedInts = sized("n_rests")  # of the rows that hold, among the stops
    end: Shared = sized("n_rests")  # their values
    slide: SharedInts = sized("n_rests")  # the row along which each slips, or -1
    share: Shared = sized("n_rests")  # of its push along that
    across: SharedInts = sized("n_rests")  # the other row along which it slips in space, or -1
    slow: Shared = sized("n_rests")
    about: Shared = sized("n_rests")
    begins: SharedMatrix = sized("n_rests", 2)
    ahead: Matrix = sized("n_rests", 2)
    way: Matrix = sized("n_rests", 2)  # direction in which each slips
    onward: Floats = sized("n_rests")  # speed along `ahead`
    kind: SharedInts = sized("n_watches")  # what is watched of them: `problem.HeldWatch`
    held: SharedInts = sized("n_watches")
    other: SharedInts = sized("n_watches")
    factor: Shared = sized("n_watches")
    rows: Matrix = sized("n_rests", "nv")  # J_s
    along: Matrix = sized("n_rests", "nv")  # the row along which it slips
    k: Floats = sized("n_rests")
    gap: Floats = sized("n_rests")  # end - value
    responses: Matrix = sized("n_rests", "n_response")  # X: dq, dv, power of a unit push in each
    W: Matrix = sized("n_rests", "n_rests")
    diagonal: Floats = sized("n_rests")
    sum: Matrix = sized("n_rests", "n_rests")  # W, eliminated
    pivots: Ints = sized("n_rests")
    right: Floats = sized("n_rests")
    left: Floats = sized("n_rests")
    push: Floats = sized("n_rests")
    velocity: Floats = sized("nv")  # the vector that the rows are applied to
    effort: Floats = sized("nv")  # set aside
    fallbacks: Count  # answers of the rank-revealing path


def found(r: Rests) -> int:
    """Gaps, rows and k of the stops that hold, and the responses to them, at the mechanism row; 0 or a status word."""
    if len(r.turn) > 0:
        return found_terms(r)
    x, y, w = r.stops.x, r.stops.y, r.response.y
    nv, nm = len(r.velocity), len(x.state)
    status = run(r.stops)
    if status & BAD:
        return status
    together = len(y.motions) > 0 and not status & DEGENERATE
    if together:
        for j in range(len(r.push)):
            for i in range(nm + 1):
                r.responses[j, i] = y.motions[r.place[j] * (nm + 1) + i]
    status = 0
    copy(r.effort, x.efforts)
    for j in range(len(r.push)):
        r.gap[j] = r.end[j] - y.values[r.place[j]]
        r.k[j] = y.k[r.place[j]]
        for i in range(nv):
            r.rows[j, i] = y.rows[r.place[j] * nv + i]
            x.efforts[i] = r.rows[j, i]
        if r.slide[j] >= 0:
            turned(r, j, y.rows)
            for i in range(nv):
                x.efforts[i] += r.share[j] * r.along[j, i]
            if together:
                added(r, j, y.motions)
        if not together:
            now = run(r.response)
            if now & DEGENERATE and r.responds > 1:
                now = revealed(r)
            status = status | now
            for i in range(nm):
                r.responses[j, i] = w.motion[i]
            r.responses[j, nm] = w.power[0]
    copy(x.efforts, r.effort)
    return status


def turned(r: Rests, j: int, every: Floats) -> None:
    """The direction in which a row slips, and the row along it, from all rows at the mechanism row."""
    first, second = r.slide[j], r.across[j]
    nv = len(r.velocity)
    r.way[j, 0] = 1.0
    r.way[j, 1] = 0.0
    if second >= 0:
        u = 0.0
        w = 0.0
        for i in range(nv):
            u += every[first * nv + i] * r.stops.x.state[r.nq + i]
            w += every[second * nv + i] * r.stops.x.state[r.nq + i]
        r.onward[j] = r.ahead[j, 0] * u + r.ahead[j, 1] * w
        aside = r.ahead[j, 0] * w - r.ahead[j, 1] * u
        aside *= follows(size_of(u, w), r.slow[j])
        size = abs(r.onward[j]) if aside != 0.0 else 1.0
        whole = size_of(size, aside)
        r.way[j, 0] = (size * r.ahead[j, 0] - aside * r.ahead[j, 1]) / whole
        r.way[j, 1] = (size * r.ahead[j, 1] + aside * r.ahead[j, 0]) / whole
    for i in range(nv):
        r.along[j, i] = every[first * nv + i]
        if second >= 0:
            r.along[j, i] = r.way[j, 0] * r.along[j, i] + r.way[j, 1] * every[second * nv + i]
    if second < 0:
        r.onward[j] = sliding(r, j)


def follows(speed: float, slow: float) -> float:
    """How far friction follows the velocity in space: not below `slow`, where its direction is stiff, and fully above twice that."""
    x = max(0.0, min(1.0, speed / slow - 1.0))
    return x * x * (3.0 - 2.0 * x)


def added(r: Rests, j: int, every: Floats) -> None:
    """The response to what a row that slips pushes along that, out of the responses to all rows, into its own."""
    width = len(r.stops.x.state) + 1
    for i in range(width):
        r.responses[j, i] += r.share[j] * r.way[j, 0] * every[r.slide[j] * width + i]
        if r.across[j] >= 0:
            r.responses[j, i] += r.share[j] * r.way[j, 1] * every[r.across[j] * width + i]


def found_terms(r: Rests) -> int:
    """The same with the forces in the joints, by the one kernel of joint friction."""
    x, y, z = r.stops.x, r.terms.y, r.terms_again.y
    nv, width, many = len(r.velocity), len(x.state) + 1, len(r.terms.y.values)
    status = run(r.terms)
    if status & DEGENERATE and r.revealing > 0:
        r.fallbacks += 1
        status = run(r.terms_again)
        copy(y.values, z.values)
        copy(y.k, z.k)
        copy(y.rows, z.rows)
        copy(y.responses, z.responses)
        copy(y.F, z.F)
        copy(y.dF, z.dF)
        copy(y.turns, z.turns)
    for j in range(len(r.push)):
        at = r.place[j]
        r.gap[j] = r.end[j] - y.values[at]
        r.k[j] = y.k[at]
        for i in range(nv):
            r.rows[j, i] = y.rows[at * nv + i]
        for i in range(width):
            r.responses[j, i] = y.responses[at * width + i]
        if r.slide[j] >= 0:
            turned(r, j, y.rows)
            added(r, j, y.responses)
        for axis in range(3):
            r.friction.F[j, axis] = y.F[3 * at + axis]
            for k in range(len(r.push)):
                r.friction.dF[j, 3 * k + axis] = y.dF[(3 * at) * many + 3 * r.place[k] + axis]
                if r.slide[k] >= 0:
                    r.friction.dF[j, 3 * k + axis] += r.share[k] * y.dF[(3 * at) * many + 3 * r.slide[k] + axis]
    return status


def holds(r: Rests, j: int) -> bool:
    """True for a row that does not move: joint friction that slips has an effort alone."""
    return len(r.turn) == 0 or r.friction.kind[j] != GIVEN


def rubs(r: Rests) -> bool:
    """Efforts of joint friction and pushes of what holds, with the rates in `velocity`; False where there are none."""
    m = r.friction
    n, nv = len(r.push), len(r.velocity)
    for j in range(n):
        m.b[j] = rate(r, j) + r.k[j]
    for j in range(n):
        for i in range(nv):
            r.velocity[i] = r.responses[j, r.nq + i]
        for k in range(n):
            m.W[k, j] = rate(r, k)
        m.theta[j] = r.sign[j]
        if m.kind[j] == GIVEN:
            m.theta[j] *= r.terms.y.turns[r.place[j]]
        if r.turn[j] > 0.0:
            m.theta[j] = -max(-1.0, min(1.0, speed(r, j) / r.turn[j]))
        elif r.turn[j] < 0.0:
            m.theta[j] = -r.terms.y.turns[r.place[j]]
    answered = settle_friction(m)
    for j in range(n):
        r.push[j] = m.p[j]
    return answered


def speed(r: Rests, j: int) -> float:
    """Speed of a row, at the mechanism row."""
    s = 0.0
    for i in range(len(r.velocity)):
        s += r.rows[j, i] * r.stops.x.state[r.nq + i]
    return s


def revealed(r: Rests) -> int:
    """The response by the rank-revealing path; its status."""
    r.fallbacks += 1
    status = run(r.response_again)
    copy(r.response.y.motion, r.response_again.y.motion)
    copy(r.response.y.power, r.response_again.y.power)
    return status


def rate(r: Rests, j: int) -> float:
    """J_s x of one stop that holds, with x in `velocity`."""
    s = 0.0
    for i in range(len(r.velocity)):
        s += r.rows[j, i] * r.velocity[i]
    return s


def shared(r: Rests, about: float) -> None:
    """Solve W x = push in place of the pushes, by elimination on the diagonal; if rows depend on each other and
    `spreads`, by `least`, near `about` (1.0) or near zero (0.0)."""
    n, dependent = len(r.push), 0
    for j in range(n):
        for i in range(len(r.velocity)):
            r.velocity[i] = r.responses[j, r.nq + i]
        for k in range(n):
            r.W[k, j] = rate(r, k)
    for j in range(n):
        r.diagonal[j] = r.W[j, j]
        r.right[j] = r.push[j]
        for k in range(n):
            r.sum[j, k] = r.W[j, k]
    for k in range(n):
        pivot = r.sum[k, k] if holds(r, k) else 0.0
        if not abs(pivot) > DEPENDENT * abs(r.diagonal[k]):
            if holds(r, k) and r.diagonal[k] != 0.0:
                dependent = 1
            r.sum[k, k] = 0.0
        else:
            for j in range(k + 1, n):
                share = r.sum[j, k] / pivot
                for s in range(k, n):
                    r.sum[j, s] -= share * r.sum[k, s]
                r.push[j] -= share * r.push[k]
    for k in range(n - 1, -1, -1):
        left = r.push[k]
        for j in range(k + 1, n):
            left -= r.sum[k, j] * r.push[j]
        r.push[k] = left / r.sum[k, k] if r.sum[k, k] != 0.0 else 0.0
    if dependent > 0 and spreads(r):
        least(r, about)


def spreads(r: Rests) -> bool:
    """True if pushes near which those of dependent rows stay are given; without, rows that depend on others get none."""
    given = 0
    for j in range(len(r.push)):
        if r.about[j] != 0.0:
            given += 1
    return given > 0


def least(r: Rests, about: float) -> None:
    """The same by the nearest pushes: of W with a little added to its diagonal, refined until only W counts."""
    n = len(r.push)
    for j in range(n):
        for k in range(n):
            r.sum[j, k] = r.W[j, k] if holds(r, j) and holds(r, k) and r.diagonal[j] != 0.0 else 0.0
        r.sum[j, j] += LITTLE * abs(r.diagonal[j]) if r.sum[j, j] != 0.0 else 1.0
        r.left[j] = r.push[j]  # of the elimination, should this fail
        r.push[j] = about * r.about[j]
    if not factor(r.sum, r.pivots):
        copy(r.push, r.left)
        return
    for _ in range(REFINED):
        for j in range(n):
            r.left[j] = 0.0
            if holds(r, j) and r.diagonal[j] != 0.0:
                r.left[j] = r.right[j]
                for k in range(n):
                    r.left[j] -= r.W[j, k] * r.push[k]
        solve(r.sum, r.pivots, r.left)
        for j in range(n):
            r.push[j] += r.left[j]


def hold(r: Rests, K: Matrix, row: int, counted: int) -> int:
    """Accelerations and power of the derivative in a row, taken without stops at the mechanism row, with the pushes of those that hold,
    which are left in `push`; 0 or a status word. `counted`: the place of the power."""
    nv = len(r.velocity)
    status = found(r)
    for i in range(nv):
        r.velocity[i] = K[row, r.nq + i]
    if len(r.turn) > 0:
        if not rubs(r):
            status = status | NOT_FINITE
        if K.shape[1] > counted + LOST:
            for j in range(len(r.push)):
                if r.friction.kind[j] == GIVEN:
                    K[row, counted + LOST] -= r.push[j] * speed(r, j)
    else:
        for j in range(len(r.push)):
            r.push[j] = -rate(r, j) - r.k[j]
        shared(r, 1.0)
    for j in range(len(r.push)):
        for i in range(nv):
            K[row, r.nq + i] += r.push[j] * r.responses[j, r.nq + i]
        if K.shape[1] > counted:
            K[row, counted] += r.push[j] * r.responses[j, r.nq + nv]
    if r.slips > 0:
        lost = 0.0
        for j in range(len(r.push)):
            if r.slide[j] >= 0:
                lost -= r.push[j] * r.share[j] * sliding(r, j)
        K[row, K.shape[1] - 1] = lost
    return status


def size_of(x: float, y: float) -> float:
    return math.sqrt(x * x + y * y)


def sliding(r: Rests, j: int) -> float:
    """Speed along which a row slips, at the mechanism row."""
    s = 0.0
    nv = len(r.velocity)
    for i in range(nv):
        s += r.along[j, i] * r.stops.x.state[r.nq + i]
    return s


def watched(r: Rests, e: int) -> float:
    """A function of the rows that hold, whose sign is watched, at the mechanism row."""
    j = r.held[e]
    if r.kind[e] == SPEED:
        return r.factor[e] * speed(r, j)
    if r.kind[e] == BOUND:
        return r.friction.bound[j] - abs(r.push[j])
    if r.kind[e] == SHARE:
        return 1.0 - abs(r.friction.share[r.friction.group[j]])
    if r.kind[e] == LEAVES:
        return r.factor[e] - abs(speed(r, j))
    if r.kind[e] == SLIDE:
        return r.factor[e] * r.onward[j]
    if r.kind[e] == ROUND_CONE:
        return r.factor[e] * r.push[j] - size_of(r.push[r.other[e]], r.push[r.other[e] + 1])
    if r.kind[e] == CONE:
        return r.factor[e] * r.push[j] - abs(r.push[r.other[e]])
    return r.factor[e] * r.push[j]


def back(r: Rests, state: Floats, t: float) -> int:
    """A state, on the loops, onto the ends that hold, and its velocity along them; 0 or a status word.

    The steps are tangent to the loops, so that they open them by no more than the square of what a step of integration was off.
    """
    x = r.stops.x
    nv = len(r.velocity)
    for i in range(len(x.state)):
        x.state[i] = state[i]
    x.t[0] = t
    status = found(r)
    for j in range(len(r.push)):
        r.push[j] = r.gap[j]
    shared(r, 0.0)
    for j in range(len(r.push)):
        for i in range(r.nq):
            state[i] += r.push[j] * r.responses[j, i]
    for i in range(nv):
        r.velocity[i] = state[r.nq + i]
    for j in range(len(r.push)):
        r.push[j] = -rate(r, j)
    shared(r, 0.0)
    for j in range(len(r.push)):
        for i in range(r.nq, r.nq + nv):
            state[i] += r.push[j] * r.responses[j, i]
    if len(r.turn) > 0:
        follow(r, state, r.terms.y.rows)
    else:
        follow(r, state, r.stops.y.rows)
    return status


def follow(r: Rests, state: Floats, every: Floats) -> None:
    """The directions in which touches in space slip, for the next step."""
    nv = len(r.velocity)
    for j in range(len(r.push)):
        if r.across[j] >= 0:
            u = 0.0
            w = 0.0
            for i in range(nv):
                u += every[r.slide[j] * nv + i] * state[r.nq + i]
                w += every[r.across[j] * nv + i] * state[r.nq + i]
            size = size_of(u, w)
            if size > r.slow[j] and 2.0 * (r.ahead[j, 0] * u + r.ahead[j, 1] * w) > size:
                r.ahead[j, 0] = u / size
                r.ahead[j, 1] = w / size
