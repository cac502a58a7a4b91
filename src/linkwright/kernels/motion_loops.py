"""A fixed step of free motion, once for scripts and C sources: loops on records that `export` and `c_sources` write.

    projected      the state nearest in the mass metric whose positions and speeds are on the loops
    stepped        a Runge-Kutta step of order four, then back onto the loops; where a pivot vanishes there is none

Prescribed motions and efforts are in the inputs of the kernels. Functions return the status of a kernel, NOT_CLOSED, or 0.
"""

from __future__ import annotations

from linkwright.compiler.records import Floats, Kernel, Record, SharedInts, run, sized
from linkwright.kernels.closing_loops import Turns, copied, unit_quaternions
from linkwright.numerics.tolerances import CLOSED, CLOSED_AT_BEST

MOST_PROJECTIONS = 6
NOT_CLOSED = 4


class ForwardInputs(Record):
    q: Floats
    v: Floats
    tau: Floats
    t: Floats
    drive: Floats
    speed: Floats
    acceleration: Floats
    near: Floats
    parameters: Floats


class ForwardOutputs(Record):
    a: Floats


class Forward(Kernel):
    x: ForwardInputs
    y: ForwardOutputs


class ProjectionInputs(Record):
    q: Floats
    v: Floats
    t: Floats
    drive: Floats
    speed: Floats
    acceleration: Floats
    near: Floats
    parameters: Floats


class ProjectionOutputs(Record):
    q: Floats
    v: Floats
    residual: Floats
    rate_residual: Floats


class Projection(Kernel):
    x: ProjectionInputs
    y: ProjectionOutputs


class QdotInputs(Record):
    q: Floats
    v: Floats
    near: Floats
    parameters: Floats


class QdotOutputs(Record):
    qdot: Floats


class Qdot(Kernel):
    x: QdotInputs
    y: QdotOutputs


class Motion(Record):
    """A state q, v that moves; `forward`, `projection` and `qdot` have the same references and parameters."""

    forward: Forward
    projection: Projection
    qdot: Qdot
    turns: Turns
    residual: float  # of the last projection: of positions, or of speeds against the largest one
    q: Floats = sized("nq")
    v: Floats = sized("nv")
    new_q: Floats = sized("nq")
    new_v: Floats = sized("nv")
    rate: Floats = sized("nq")
    a: Floats = sized("nv")
    law: Floats = sized("nlaw")  # values, speeds and accelerations of prescribed motions at the beginning
    near: Floats = sized("nnear")
    quaternions: SharedInts = sized("nquaternions")


def motion_referred(w: Motion) -> None:
    """Give the references of cut joints to the kernels."""
    copied(w.forward.x.near, w.near)
    copied(w.projection.x.near, w.near)
    copied(w.qdot.x.near, w.near)
    copied(w.turns.x.near, w.near)


def at_time(to: Floats, t: float) -> None:
    for i in range(len(to)):
        to[i] = t


def later(drive: Floats, speed: Floats, acceleration: Floats, law: Floats, h: float) -> None:
    """Prescribed motions some time later."""
    n = len(drive)
    for i in range(n):
        drive[i] = law[i] + h * (law[n + i] + 0.5 * h * law[2 * n + i])
    for i in range(len(speed)):
        speed[i] = law[n + i] + h * law[2 * n + i]
    for i in range(len(acceleration)):
        acceleration[i] = law[2 * n + i]


def rate_of(w: Motion, q: Floats, v: Floats) -> None:
    """Put dq/dt at a position and a velocity into `rate`."""
    if len(w.qdot.y.qdot) > 0:
        copied(w.qdot.x.q, q)
        copied(w.qdot.x.v, v)
        run(w.qdot)
        copied(w.rate, w.qdot.y.qdot)
    else:
        copied(w.rate, v)


def stage(w: Motion, t: float, share: float) -> int:
    """Put dq/dt and dv/dt of the stage a share of time later into `rate` and `a`; return the status."""
    x = w.forward.x
    for i in range(len(w.q)):
        x.q[i] = w.q[i] + share * w.rate[i]
    for i in range(len(w.v)):
        x.v[i] = w.v[i] + share * w.a[i]
    at_time(x.t, t + share)
    later(x.drive, x.speed, x.acceleration, w.law, share)
    status = run(w.forward)
    rate_of(w, x.q, x.v)
    copied(w.a, w.forward.y.a)
    return status


def time_of(k: int, dt: float) -> float:
    """The time of stage k in a step."""
    return 0.0 if k == 0 else dt if k == 3 else 0.5 * dt


def begun(w: Motion) -> None:
    copied(w.new_q, w.q)
    copied(w.new_v, w.v)
    for i in range(len(w.rate)):
        w.rate[i] = 0.0
    for i in range(len(w.a)):
        w.a[i] = 0.0


def added(w: Motion, dt: float, k: int) -> None:
    """The share of stage k."""
    weight = dt / 6.0 if k == 0 or k == 3 else dt / 3.0
    for i in range(len(w.q)):
        w.new_q[i] += weight * w.rate[i]
    for i in range(len(w.v)):
        w.new_v[i] += weight * w.a[i]


def projection_step(w: Motion) -> int:
    """One call of the projection at new_q, new_v; return its status."""
    x, y, fast = w.projection.x, w.projection.y, 1.0
    copied(x.q, w.new_q)
    copied(x.v, w.new_v)
    status = run(w.projection)
    if status == 0:
        copied(w.new_q, y.q)
        copied(w.new_v, y.v)
        for i in range(len(w.new_v)):
            fast = max(fast, abs(w.new_v[i]))
        w.residual = y.residual[0]
        if not y.rate_residual[0] / fast <= w.residual:
            w.residual = y.rate_residual[0] / fast
    return status


def accepted(w: Motion) -> None:
    """The new state is the state, and turns of the cut joints are counted on."""
    copied(w.q, w.new_q)
    copied(w.v, w.new_v)
    if len(w.turns.y.near) > 0:
        copied(w.turns.x.q, w.q)
        if run(w.turns) == 0:
            copied(w.near, w.turns.y.near)


def projected(w: Motion) -> int:
    """Move new_q, new_v onto the loops: they become the state. The time and the prescribed motions are those of `projection`."""
    w.residual = 1.0
    for _ in range(MOST_PROJECTIONS):
        if not w.residual > CLOSED:
            break
        status = projection_step(w)
        if status != 0:
            return status
    if not w.residual < CLOSED_AT_BEST:
        return NOT_CLOSED
    accepted(w)
    return 0


def stepped(w: Motion, t: float, dt: float) -> int:
    """One step. If its status is not 0, the state is as it was."""
    x = w.projection.x
    motion_referred(w)
    begun(w)
    for k in range(4):
        status = stage(w, t, time_of(k, dt))
        if status != 0:
            return status
        added(w, dt, k)
    unit_quaternions(w.new_q, w.quaternions)
    at_time(x.t, t + dt)
    later(x.drive, x.speed, x.acceleration, w.law, dt)
    return projected(w)
