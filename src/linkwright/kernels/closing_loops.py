"""Newton's method onto the loops and assembling, once for scripts and C sources: loops on records that `export` and `c_sources` write.

    close_loops  the loops at given drives, by steps of which each must correct the one before by less than a quarter
    assembled    q with the drives at other values: at once where that is near, else the drives walk there by steps that are halved

Nothing is decided by ranks here: a position at which the kernel fails is not closed. On numbers `mechanics.closing` does all this.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import Floats, Kernel, Record, Shared, SharedInts, run, sized
from linkwright.numerics.tolerances import CLOSED, CLOSED_AT_BEST

LONGEST_STEP = 0.3  # radians, or multiples of the mechanism's size, of one step: angles must not skip turns
SHORTEST_STEP = 1e-4  # share of a step below which it is given up
SHORTEST_STRIDE = 1e-7  # and of the way of the drives
MOST_STEPS = 200  # of one closing


class KinematicsInputs(Record):
    q: Floats
    v: Floats
    drive: Floats
    speed: Floats
    acceleration: Floats
    t: Floats
    near: Floats
    parameters: Floats


class KinematicsOutputs(Record):
    q: Floats
    v: Floats
    a: Floats
    residual: Floats
    determinant: Floats


class Kinematics(Kernel):
    x: KinematicsInputs
    y: KinematicsOutputs


class DrivesInputs(Record):
    q: Floats
    v: Floats
    near: Floats
    parameters: Floats


class DrivesOutputs(Record):
    drive: Floats


class Drives(Kernel):
    x: DrivesInputs
    y: DrivesOutputs


class TurnsInputs(Record):
    q: Floats
    near: Floats
    parameters: Floats


class TurnsOutputs(Record):
    near: Floats


class Turns(Kernel):
    x: TurnsInputs
    y: TurnsOutputs


class Closing(Record):
    """A position q that is closed, with the drives and references in the kernels' inputs. Speeds there are those of the caller."""

    kinematics: Kinematics
    drives: Drives
    turns: Turns
    status: float  # of the last call of `kinematics`
    residual: float  # where the last assembling ended, and the strides of the drives in it
    steps: float
    q: Floats = sized("nq")
    there: Floats = sized("nq")
    trial: Floats = sized("nq")
    step: Floats = sized("nq")
    next: Floats = sized("nq")
    begin: Floats = sized("ndrives")
    drive: Floats = sized("ndrives")
    near: Floats = sized("nnear")
    scale: Shared = sized("nq")  # what a step of each entry of q is compared with
    quaternions: SharedInts = sized("nquaternions")  # places in q where one begins


def copied(to: Floats, source: Floats) -> None:
    for i in range(len(to)):
        to[i] = source[i]


def unit_quaternions(q: Floats, places: SharedInts) -> None:
    """Make quaternions of length one again."""
    for k in range(len(places)):
        first = places[k]
        size = math.sqrt(q[first] * q[first] + q[first + 1] * q[first + 1] + q[first + 2] * q[first + 2] + q[first + 3] * q[first + 3])
        for i in range(4):
            q[first + i] /= size


def newton_step(w: Closing, q: Floats, out: Floats) -> float:
    """Put the Newton step at q into `out`; return the residual at q."""
    x, y = w.kinematics.x, w.kinematics.y
    copied(x.q, q)
    w.status = float(run(w.kinematics))
    for i in range(len(q)):
        out[i] = y.q[i] - q[i]
    return y.residual[0]


def close_loops(w: Closing, q: Floats, damped: int) -> float:
    """Close the loops from q, in place; return the residual, or -1 if they do not close.

    Damped steps are halved until they correct the step before by less than a quarter, which follows the flow dq/ds = -J^-1 phi. The
    results of the kernel are those at q.
    """
    r = newton_step(w, q, w.step)
    for _ in range(MOST_STEPS):
        if not r > CLOSED:
            break
        size = 0.0
        for i in range(len(q)):
            size = max(size, abs(w.step[i]) / w.scale[i])
        f = LONGEST_STEP / size if size > LONGEST_STEP else 1.0
        there = 0
        while there == 0:
            if (f < 1.0 and damped == 0) or not f > SHORTEST_STEP:
                there = 2
            else:
                for i in range(len(q)):
                    w.trial[i] = q[i] + f * w.step[i]
                unit_quaternions(w.trial, w.quaternions)
                s = newton_step(w, w.trial, w.next)
                better = s >= 0.0
                for i in range(len(q)):
                    if not abs(w.next[i] - (1.0 - f) * w.step[i]) <= 0.25 * size * w.scale[i]:
                        better = False
                if better:
                    copied(q, w.trial)
                    copied(w.step, w.next)
                    r = s
                    there = 1
                elif r < CLOSED_AT_BEST:  # round-off stops it
                    there = 2
                else:
                    f *= 0.5
        if there == 2:
            return newton_step(w, q, w.step) if r < CLOSED_AT_BEST else -1.0
    return r if r < CLOSED_AT_BEST else -1.0


def referred(w: Closing) -> None:
    """Give the references of cut joints to the kernels."""
    copied(w.kinematics.x.near, w.near)
    copied(w.drives.x.near, w.near)
    copied(w.turns.x.near, w.near)


def counted(w: Closing, q: Floats) -> None:
    """Count whole turns of the cut joints on."""
    if len(w.turns.y.near) > 0:
        copied(w.turns.x.q, q)
        if run(w.turns) == 0:
            copied(w.near, w.turns.y.near)
            referred(w)


def drives_at(w: Closing, q: Floats, out: Floats) -> None:
    """Put the values of the drives at q into `out`."""
    copied(w.drives.x.q, q)
    run(w.drives)
    copied(out, w.drives.y.drive)


def assembled(w: Closing) -> int:
    """Close the loops with the drives at `drive`, on the branch of q. Return 0; 1 if the drives cannot get there, and q is where they
    got; 2 if the loops do not close at all."""
    drive, s, f = w.kinematics.x.drive, 0.0, 1.0
    unit_quaternions(w.q, w.quaternions)
    referred(w)
    w.steps = 1.0
    copied(w.there, w.q)
    copied(drive, w.drive)
    w.residual = close_loops(w, w.there, 0)
    if w.residual < 0.0:
        drives_at(w, w.q, w.begin)
        copied(drive, w.begin)
        w.residual = close_loops(w, w.q, 1)
        if w.residual < 0.0:
            return 2
        while s < 1.0:
            copied(w.there, w.q)
            for i in range(len(drive)):
                drive[i] = w.begin[i] + (s + f) * (w.drive[i] - w.begin[i]) if s + f < 1.0 else w.drive[i]
            w.steps += 1.0
            w.residual = close_loops(w, w.there, 0)
            if w.residual >= 0.0:
                s = s + f if s + f < 1.0 else 1.0
                f = min(2.0 * f, 1.0 - s)
                copied(w.q, w.there)
                counted(w, w.q)
            else:
                f *= 0.5
                if f < SHORTEST_STRIDE:
                    return 1
        return 0
    copied(w.q, w.there)
    counted(w, w.q)
    return 0
