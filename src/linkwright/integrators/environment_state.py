"""The memory of one environment, and what every step of it does: the rank-revealing path, the way back onto the loops, turns."""

from __future__ import annotations

import math

from linkwright.compiler.records import Floats, Kernel, Matrix, Record, Shared, SharedInts, SharedMatrix, copy, run, sized
from linkwright.integrators.contact.problem import Contacts
from linkwright.integrators.run_state import DEGENERATE, NOT_FINITE, OPEN, TURNED
from linkwright.integrators.stages import cause, finite
from linkwright.integrators.step import NEWTON_STEPS, TOO_FAR

LAST_GAP = 1e-10  # dimensionless gap whose correction is the last one: it leaves the square of it
WIDEST = 1e-8  # gap after the last call above which loops are open
ADMITTED = 1e-6  # gap of a new state, and of its rates, below which it is on the loops
LARGEST_UNCOUNTED_TURN = 1.0  # rad of cut joints, by the sum of all speeds, until their turns are counted: well below half a turn


class RowInputs(Record):
    row: Floats  # all of it
    state: Floats  # coordinates and speeds
    t: Floats
    tau: Floats
    motion: Floats  # drive, speed, acceleration of prescribed motions
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
    load: Floats  # of joints with friction: force times the length of the step, three components each
    lever: Floats  # what a unit impulse in each row does to it
    by_load: Floats
    constant: Floats
    creep: Floats


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


class GapOutputs(Record):
    gap: Floats


class Gaps(Kernel):
    x: RowInputs
    y: GapOutputs


class HardInputs(Record):
    """A problem of impulses."""

    W: Floats  # row by row
    b: Floats
    mu: Floats
    p: Floats  # the best so far


class HardOutputs(Record):
    p: Floats
    residual: Floats


class Hard(Kernel):
    """All stages of the contact solver, for one environment."""

    alone = True
    x: HardInputs
    y: HardOutputs


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
    gaps: Gaps  # of what holds one way
    hard: Hard
    contacts: Contacts  # the problem of the blocks that are in it
    size: Shared = sized(1)  # characteristic length
    on: Floats = sized("blocks")  # 1: in the problem
    gap: Floats = sized("blocks")
    approach: Floats = sized("blocks")  # speed along the normal before the step
    mu: Floats = sized("blocks")
    restitution: Floats = sized("blocks")
    b: Floats = sized("rows")
    p: Floats = sized("rows")  # impulses of the last step
    moved: Matrix = sized("rows", "nv")  # change of v by a unit impulse in each row
    mobility: Matrix = sized("rows", "rows")
    load: Floats = sized("rubs3")
    lever: Matrix = sized("rubs3", "rows")
    by_load: Floats = sized("rubs")  # bound of the friction of joints over their forces
    constant: Floats = sized("rubs")
    creep: Floats = sized("rubs")  # speed over which friction turns round
    deep: float  # what is left after a step
    depth: float  # largest so far, as the next three: residual, problems, those of them that later stages solved
    residual: float
    problems: float
    harder: float
    motions: Floats = sized("motions")  # prescribed ones in the middle of a step, and at its end
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


# -------------------------------------------------------------------- parts of a step


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
