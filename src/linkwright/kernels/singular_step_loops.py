"""A fixed step that continues through singular positions, for C sources: loops on records; see `motion_loops` for the regular one.

Where a pivot vanishes, accelerations are taken a tenth of a step ahead, or are those of least constraint by the augmented Lagrangian

    (M + J' s J) a = -h - J' (s k - lam),    lam -> lam - s (J a + k)        s: STIFF of the largest inertia, all dimensionless

Positions and speeds are put back onto the loops by the same matrix. CONTINUED in the status says so.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import Floats, Kernel, Matrix, Record, Shared, run, sized
from linkwright.kernels.closing_loops import copied, unit_quaternions
from linkwright.kernels.motion_loops import (
    MOST_PROJECTIONS,
    NOT_CLOSED,
    Motion,
    accepted,
    added,
    at_time,
    begun,
    later,
    motion_referred,
    projection_step,
    rate_of,
    stage,
    time_of,
)
from linkwright.numerics.tolerances import CLOSED, CLOSED_AT_BEST

NO_ANSWER, CONTINUED = 2, 8  # the kernels' status of a pivot that vanishes, and what a step adds to it
STIFF = 1e7  # of the loops, against the largest inertia
LOOSE = 1e-7  # dimensionless gap of the loops that is accepted there
MOST_PULLS = 30  # projections where they converge linearly
LAGRANGE_ROUNDS = 6
SMALL = 1e-10  # added to J'J, whose directions without a row stay as they are
AHEAD = 0.1  # of a step: where accelerations are taken in place of those of a singular position


class TermsInputs(Record):
    row: Floats  # in place of all others: see instance_loops
    q: Floats
    v: Floats
    t: Floats
    drive: Floats
    speed: Floats
    acceleration: Floats
    near: Floats
    parameters: Floats


class TermsOutputs(Record):
    M: Floats
    h: Floats
    J: Floats
    phi: Floats
    b: Floats
    k: Floats


class Terms(Kernel):
    x: TermsInputs
    y: TermsOutputs


class Singular(Record):
    """Accelerations and corrections in a singular position, from the terms there."""

    terms: Terms
    A: Matrix = sized("nv", "nv")
    load: Floats = sized("nv")  # forces but those of the loops
    force: Floats = sized("nv")
    gap: Floats = sized("nc")
    pull: Floats = sized("nc")  # multipliers
    rows: Shared = sized("nc")  # sizes of the rows of loops and prescribed motions
    columns: Shared = sized("nv")  # and of velocities


class Passing(Record):
    """A motion that may meet singular positions."""

    motion: Motion
    singular: Singular
    dq: Floats = sized("nv")
    dv: Floats = sized("nv")


def factored(A: Matrix) -> bool:
    """A = L L' in place; False if A is not positive definite."""
    n = A.shape[0]
    for j in range(n):
        for i in range(j, n):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            if i == j:
                if not s > 0.0:
                    return False
                A[i, j] = math.sqrt(s)
            else:
                A[i, j] = s / A[j, j]
    return True


def substituted(A: Matrix, b: Floats) -> None:
    """x with L L' x = b, in place."""
    n = len(b)
    for i in range(n):
        for k in range(i):
            b[i] -= A[i, k] * b[k]
        b[i] /= A[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= A[k, i] * b[k]
        b[i] /= A[i, i]


def regularized(w: Singular) -> float:
    """Factor M + J' s J, regular also where J loses rank; return s, or 0 if it fails."""
    y, n, largest = w.terms.y, len(w.columns), 0.0
    for i in range(n):
        largest = max(largest, y.M[i * n + i] * w.columns[i] * w.columns[i])
    stiff = STIFF * largest
    for i in range(n):
        for j in range(i + 1):
            s = y.M[i * n + j]
            for r in range(len(w.rows)):
                s += stiff * y.J[r * n + i] * y.J[r * n + j] / (w.rows[r] * w.rows[r])
            w.A[i, j] = s * w.columns[i] * w.columns[j]
    return stiff if factored(w.A) else 0.0


def pulled(w: Singular, stiff: float, gap: Floats, x: Floats) -> None:
    """x: the motion that `force` and the gaps of the loops lead to."""
    n = len(x)
    for i in range(n):
        s = w.force[i]
        for r in range(len(w.rows)):
            s -= stiff * w.terms.y.J[r * n + i] * gap[r] / (w.rows[r] * w.rows[r])
        x[i] = s * w.columns[i]
    substituted(w.A, x)
    for i in range(n):
        x[i] *= w.columns[i]


def accelerated(w: Singular, stiff: float, a: Floats) -> None:
    """Accelerations under `load` as the loops demand, by the augmented Lagrangian."""
    y, n = w.terms.y, len(w.columns)
    for r in range(len(w.rows)):
        w.pull[r] = 0.0
    for _ in range(LAGRANGE_ROUNDS):
        for i in range(n):
            w.force[i] = w.load[i]
            for r in range(len(w.rows)):
                w.force[i] += y.J[r * n + i] * w.pull[r]
        pulled(w, stiff, y.k, a)
        for r in range(len(w.rows)):
            gap = y.k[r]
            for i in range(n):
                gap += y.J[r * n + i] * a[i]
            w.pull[r] -= stiff * gap / (w.rows[r] * w.rows[r])


def corrected(w: Singular, stiff: float, v: Floats, dq: Floats, dv: Floats) -> None:
    """Corrections of positions and velocities at v: the gaps of velocities are left in `gap`."""
    y, n = w.terms.y, len(w.columns)
    for i in range(n):
        w.force[i] = 0.0
    for r in range(len(w.rows)):
        w.gap[r] = y.b[r]
        for i in range(n):
            w.gap[r] += y.J[r * n + i] * v[i]
    pulled(w, stiff, y.phi, dq)
    pulled(w, stiff, w.gap, dv)


def balanced(w: Singular, a: Floats, lam: Floats) -> bool:
    """lam + J z with J'J z = M a + h - J' lam: the smallest change of the multipliers that balances the accelerations."""
    y, n, z = w.terms.y, len(w.columns), w.force
    for i in range(n):
        z[i] = y.h[i]
        for j in range(n):
            z[i] += y.M[i * n + j] * a[j]
        for r in range(len(w.rows)):
            z[i] -= y.J[r * n + i] * lam[r]
        z[i] *= w.columns[i]
        for j in range(i + 1):
            s = SMALL if i == j else 0.0
            for r in range(len(w.rows)):
                s += y.J[r * n + i] * y.J[r * n + j] * w.columns[i] * w.columns[j] / (w.rows[r] * w.rows[r])
            w.A[i, j] = s
    if not factored(w.A):
        return False
    substituted(w.A, z)
    for r in range(len(w.rows)):
        for i in range(n):
            lam[r] += y.J[r * n + i] * w.columns[i] * z[i] / (w.rows[r] * w.rows[r])
    return True


def largest_gap(gaps: Floats, rows: Shared) -> float:
    """The largest of the gaps, each against the size of its row."""
    out = 0.0
    for r in range(len(rows)):
        out = max(out, abs(gaps[r]) / rows[r])
    return out


def terms_at(w: Passing, t: float, share: float) -> int:
    """The terms at the position and the velocity in their inputs."""
    terms = w.singular.terms
    copied(terms.x.near, w.motion.near)
    at_time(terms.x.t, t + share)
    later(terms.x.drive, terms.x.speed, terms.x.acceleration, w.motion.law, share)
    return run(w.singular.terms)


def least_constraint(w: Passing, t: float, share: float) -> int:
    """Accelerations of least constraint into `a`: CONTINUED, or NO_ANSWER."""
    s, tau = w.singular, w.motion.forward.x.tau
    if terms_at(w, t, share) != 0:
        return NO_ANSWER
    stiff = regularized(s)
    if not stiff > 0.0:
        return NO_ANSWER
    for i in range(len(tau)):
        s.load[i] = tau[i] - s.terms.y.h[i]
    accelerated(s, stiff, w.motion.a)
    return CONTINUED


def stage_beside(w: Passing, t: float, share: float, dt: float) -> int:
    """Accelerations of a stage in a singular position: CONTINUED, or NO_ANSWER."""
    m, soon = w.motion, share + AHEAD * dt
    x, p = m.forward.x, m.projection.x
    copied(w.singular.terms.x.q, x.q)
    copied(w.singular.terms.x.v, x.v)
    copied(p.v, x.v)
    for i in range(len(p.q)):
        p.q[i] = x.q[i] + AHEAD * dt * m.rate[i]
    unit_quaternions(p.q, m.quaternions)
    at_time(p.t, t + soon)
    later(p.drive, p.speed, p.acceleration, m.law, soon)
    status = run(m.projection)
    if status == 0:
        copied(x.q, m.projection.y.q)
        copied(x.v, m.projection.y.v)
        at_time(x.t, t + soon)
        later(x.drive, x.speed, x.acceleration, m.law, soon)
        status = run(m.forward)
        copied(m.a, m.forward.y.a)
    return CONTINUED if status == 0 else least_constraint(w, t, share)


def pulled_back(w: Passing, t: float, dt: float) -> int:
    """Back onto the loops where the projection is singular: one step, with the gap before it in `residual`; NO_ANSWER if it fails."""
    m, s = w.motion, w.singular
    copied(s.terms.x.q, m.new_q)
    copied(s.terms.x.v, m.new_v)
    if terms_at(w, t, dt) != 0:
        return NO_ANSWER
    stiff = regularized(s)
    if not stiff > 0.0:
        return NO_ANSWER
    corrected(s, stiff, m.new_v, w.dq, w.dv)
    fast = 1.0
    for i in range(len(m.new_v)):
        fast = max(fast, abs(m.new_v[i]))
        m.new_v[i] += w.dv[i]
    m.residual = max(largest_gap(s.terms.y.phi, s.rows), largest_gap(s.gap, s.rows) / fast)
    rate_of(m, m.new_q, w.dq)
    for i in range(len(m.new_q)):
        m.new_q[i] += m.rate[i]
    unit_quaternions(m.new_q, m.quaternions)
    return 0


def stepped_through(w: Passing, t: float, dt: float) -> int:
    """One step: 0, or CONTINUED near a singular position. If its status is another one, the state is as it was."""
    m, x, found = w.motion, w.motion.projection.x, 0
    motion_referred(m)
    begun(m)
    for k in range(4):
        share = time_of(k, dt)
        status = stage(m, t, share)
        if (status & NO_ANSWER) != 0:
            status = stage_beside(w, t, share, dt)
        if (status & 7) != 0:
            return status & 7
        found = found | status
        added(m, dt, k)
    unit_quaternions(m.new_q, m.quaternions)
    at_time(x.t, t + dt)
    later(x.drive, x.speed, x.acceleration, m.law, dt)
    m.residual = 1.0
    rounds = 0
    while m.residual > CLOSED and rounds < (MOST_PULLS if found > 0 else MOST_PROJECTIONS):
        rounds += 1
        status = projection_step(m)
        if status != 0:
            if pulled_back(w, t, dt) != 0:
                return status
            found = CONTINUED
    if not m.residual < (LOOSE if found > 0 else CLOSED_AT_BEST):
        return NOT_CLOSED
    accepted(m)
    return found
