"""What an instance of an FMU computes, for its C sources: loops on records round kernels that read one row.

    row = [q v x  t  u  near  constants  sides]: see c/core.h

    slope        derivatives of all states, continued through singular positions
    projected    back onto the loops and prescribed motions, shortest in the mass metric
    attempted    a step of an explicit Runge-Kutta method with an estimate of its error
    started      start values closed: from those of the export to others, in steps that Newton's method can follow

Events, references and messages are written in C by hand. `steady` is the memory of the last regular accelerations and multipliers,
followed by when they were, whether there are some, and whether the position is singular.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import Floats, Ints, Kernel, Matrix, Record, Shared, SharedInts, SharedMatrix, run, sized
from linkwright.kernels.closing_loops import copied
from linkwright.kernels.singular_step_loops import (
    LOOSE,
    Singular,
    accelerated,
    balanced,
    corrected,
    factored,
    largest_gap,
    regularized,
    substituted,
)
from linkwright.numerics.tolerances import CLOSED_AT_BEST

LAST_GAP = 1e-10  # dimensionless gap of the loops whose correction is the last one: it leaves the square of it
ROUNDS = 8  # projections at most
PATIENT = 40  # and in a singular position, where they converge linearly
STEADY = 0.05  # s for which accelerations are continued through a singular position

LONGEST_START = 0.3  # dimensionless first step that Newton's method may take at the start
SHORTEST_START = 1e-4  # share of the change below which it is given up
CLOSED_ROW = 1e-14  # dimensionless gap of a row that needs no further step
MOST_CORRECTIONS = 40
SPEED_ROUNDS = 3
KEEP = 1e6  # weight of a state that was set against one that was not
HARD = 1e12  # weight of the loops


class RowInputs(Record):
    row: Floats


class RatesOutputs(Record):
    slopes: Floats  # of q, v and x, and the multipliers
    margin: Floats


class Rates(Kernel):
    x: RowInputs
    y: RatesOutputs


class BackOutputs(Record):
    q: Floats
    v: Floats
    residual: Floats
    rate_residual: Floats
    margin: Floats


class Back(Kernel):
    """One step back onto the loops."""

    x: RowInputs
    y: BackOutputs


class MovedOutputs(Record):
    q: Floats


class Moved(Kernel):
    """q moved by the entries of v, quaternions along their sphere."""

    x: RowInputs
    y: MovedOutputs


class CountedOutputs(Record):
    near: Floats


class Counted(Kernel):
    """Turns of cut joints."""

    x: RowInputs
    y: CountedOutputs


class HeldOutputs(Record):
    held: Floats


class Held(Kernel):
    """Values and speeds of drives that the start holds."""

    x: RowInputs
    y: HeldOutputs


class LoopsInputs(Record):
    row: Floats


class LoopsOutputs(Record):
    phi: Floats
    J: Floats
    b: Floats


class Loops(Kernel):
    """Loops and held drives."""

    x: LoopsInputs
    y: LoopsOutputs


class ConstantsInputs(Record):
    parameters: Floats


class ConstantsOutputs(Record):
    constants: Floats


class Constants(Kernel):
    x: ConstantsInputs
    y: ConstantsOutputs


class Way(Record):
    """From the start as exported to what is asked for."""

    all: float  # 1 where all positions that were set hold, 0 where those of drives only
    rows: float  # rows of the loops that count
    worst: float  # the one with the largest gap
    states: Matrix = sized(2, "nstates")
    parameters: Matrix = sized(2, "nparameters")
    inputs: Matrix = sized(2, "nu")
    held: Matrix = sized(2, "nholds")
    before: Floats = sized("row")
    gap: Floats = sized("nrows")
    change: Floats = sized("nv")


class Instance(Record):
    at_x: int
    at_t: int
    at_u: int
    at_near: int
    at_constants: int
    at_sides: int
    rates: Rates
    back: Back
    moved: Moved
    counted: Counted
    held: Held
    loops: Loops
    constants: Constants
    singular: Singular
    way: Way
    wide: float  # margins below which gaps are magnified too much, and below which a projection would magnify round-off
    narrow: float
    error: float  # of the step tried last, in units of the tolerance
    met: float  # how often a singular position was met
    residual: float
    rate_residual: float
    nearly: Floats = sized("row")
    trial: Floats = sized("row")
    slopes: Floats = sized("nslopes")
    k: Matrix = sized("stages", "nstates")
    q: Floats = sized("nq")
    v: Floats = sized("nv")
    dq: Floats = sized("nv")
    dv: Floats = sized("nv")
    lam: Floats = sized("nc")
    a: SharedMatrix = sized("stages", "stages")
    c: Shared = sized("stages")
    e: Shared = sized("stages")
    nominal: Shared = sized("nstates")
    rows: Shared = sized("nrows")  # sizes of the rows of loops and held drives
    input_rate: SharedInts = sized("nu")  # the input that is the rate of another one, or -1
    follows: SharedInts = sized("nx")  # the input at which a state of a drive begins, or -1
    copies: SharedInts = sized("nx")  # the coordinate that it copies, or -1
    velocity_state: SharedInts = sized("nv")  # the position that holds the start value of a velocity


# -------------------------------------------------------------------- rows


def inputs_at(w: Instance, row: Floats, inputs: Floats, rates: Floats, since: float, t: float) -> None:
    """Inputs at a time: continued by their slopes, positions and speeds by the speeds and accelerations that came with them."""
    later = t - since
    for i in range(len(w.input_rate)):
        d = w.input_rate[i]
        value = inputs[i] + later * rates[i]
        if d >= 0:
            dd = w.input_rate[d]
            value += later * inputs[d]
            if dd >= 0:
                value += 0.5 * later * later * inputs[dd]
        row[w.at_u + i] = value
    row[w.at_t] = t


def count_on(w: Instance, row: Floats) -> None:
    """Turns of cut joints, counted on."""
    n = len(w.counted.y.near)
    if n > 0:
        copied(w.counted.x.row, row)
        if run(w.counted) == 0:
            for i in range(n):
                row[w.at_near + i] = w.counted.y.near[i]


def moved_by(w: Instance, row: Floats, dq: Floats, q: Floats) -> None:
    """q of a row moved by dq."""
    x = w.moved.x.row
    copied(x, row)
    for i in range(len(dq)):
        x[len(q) + i] = dq[i]
    run(w.moved)
    copied(q, w.moved.y.q)


# -------------------------------------------------------------------- derivatives and projection


def terms_of(w: Instance, row: Floats) -> float:
    """M + J' s J of a row, factored; s, or 0 if it fails."""
    copied(w.singular.terms.x.row, row)
    run(w.singular.terms)
    return regularized(w.singular)


def regular(w: Instance, row: Floats, steady: Floats, y: Floats) -> int:
    """Derivatives of a regular position, remembered for a singular one."""
    n, nc = len(w.v), len(w.lam)
    copied(y, w.rates.y.slopes)
    for i in range(n):
        steady[i] = y[len(w.q) + i]
    for r in range(nc):
        steady[n + r] = y[len(w.nominal) + r]
    steady[n + nc] = row[w.at_t]
    steady[n + nc + 1] = 1.0
    steady[n + nc + 2] = 0.0
    return 0


def continued(w: Instance, row: Floats, steady: Floats, y: Floats) -> int:
    """Accelerations and multipliers in a singular position: those of a moment ago, changed as little (in the mass metric) as the loops
    demand. Where none are known, the ones of least constraint: M a + h = J' lam by the augmented Lagrangian."""
    s, n, nc, states = w.singular, len(w.v), len(w.lam), len(w.nominal)
    known = steady[n + nc + 1] > 0.0 and abs(row[w.at_t] - steady[n + nc]) < STEADY
    stiff = terms_of(w, row)
    if not stiff > 0.0:
        return -1
    for i in range(n):
        s.load[i] = 0.0 if known else -s.terms.y.h[i]
        if known:
            for j in range(n):
                s.load[i] += s.terms.y.M[i * n + j] * steady[j]
    accelerated(s, stiff, w.v)
    copied(y, w.rates.y.slopes)
    for i in range(n):
        y[len(w.q) + i] = w.v[i]
    for i in range(states):
        if y[i] - y[i] != 0.0:
            return -1
    for r in range(nc):
        w.lam[r] = steady[n + r] if known else s.pull[r]
    if known:
        balanced(s, w.v, w.lam)
    for r in range(nc):
        y[states + r] = w.lam[r]
    if steady[n + nc + 2] == 0.0:
        w.met += 1.0
    steady[n + nc + 2] = 1.0
    return 1


def slope(w: Instance, row: Floats, steady: Floats, y: Floats) -> int:
    """Derivatives of the states, and multipliers: 0, 1 near a singular position, -1 if there are none.

    Where pivots are small, what a row is off the loops would be magnified: there the derivatives are taken nearer and nearer to the
    closed state, without a jump.
    """
    copied(w.rates.x.row, row)
    status = run(w.rates)
    margin = w.rates.y.margin[0] if status == 0 else 0.0
    if margin > w.wide:
        return regular(w, row, steady, y)
    share = math.log(w.wide / margin) / math.log(w.wide / w.narrow) if margin > w.narrow else 1.0
    share = share * share * (3.0 - 2.0 * share)
    copied(w.nearly, row)
    if projected(w, w.nearly) != 0:
        copied(w.nearly, row)
    for i in range(len(w.q) + len(w.v)):
        w.nearly[i] = row[i] + share * (w.nearly[i] - row[i])
    copied(w.rates.x.row, w.nearly)
    status = run(w.rates)
    return regular(w, w.nearly, steady, y) if status == 0 else continued(w, w.nearly, steady, y)


def pulled_back(w: Instance, row: Floats) -> bool:
    """One step back onto the loops in a singular position, as `back` does it in a regular one; False if it fails."""
    s = w.singular
    stiff = terms_of(w, row)
    if not stiff > 0.0:
        return False
    for i in range(len(w.v)):
        w.v[i] = row[len(w.q) + i]
    corrected(s, stiff, w.v, w.dq, w.dv)
    w.residual = largest_gap(s.terms.y.phi, s.rows)
    w.rate_residual = largest_gap(s.gap, s.rows)
    moved_by(w, row, w.dq, w.q)
    for i in range(len(w.v)):
        w.v[i] += w.dv[i]
    return True


def fastest(w: Instance, row: Floats) -> float:
    """The largest speed of a row, or 1."""
    fast = 1.0
    for i in range(len(w.v)):
        fast = max(fast, abs(row[len(w.q) + i]))
    return fast


def off_loops(w: Instance, row: Floats) -> float:
    """The dimensionless gap of a row's positions and, by the largest of them, speeds; negative near a singular position."""
    copied(w.back.x.row, row)
    if run(w.back) != 0:
        return -1.0
    fast = fastest(w, row)
    return max(w.back.y.residual[0], w.back.y.rate_residual[0] / fast)


def projected(w: Instance, row: Floats) -> int:
    """Back onto the loops and prescribed motions, shortest in the mass metric: 0, or -1 if they do not close."""
    y, nq, nv = w.back.y, len(w.q), len(w.v)
    fast, before, rounds, most = fastest(w, row), math.inf, 0, ROUNDS
    while rounds < most:
        rounds += 1
        copied(w.back.x.row, row)
        status = run(w.back)
        copied(w.q, y.q)
        copied(w.v, y.v)
        w.residual = y.residual[0]
        w.rate_residual = y.rate_residual[0]
        if status != 0 or y.margin[0] < w.narrow:
            most = PATIENT
            if not pulled_back(w, row):
                return -1
        off = max(w.residual, w.rate_residual / fast)  # before this correction
        if off > 0.5 * before and off < LOOSE:  # small pivots: it gets no better
            return 0
        for i in range(nq):
            row[i] = w.q[i]
        for i in range(nv):
            row[nq + i] = w.v[i]
        if off < LAST_GAP:
            return 0
        if not off < 1.0:
            return -1
        before = off
    return 0 if before < LOOSE else -1


# -------------------------------------------------------------------- a step


def attempted(
    w: Instance, row: Floats, inputs: Floats, rates: Floats, since: float, steady: Floats, tolerance: float, h: float
) -> int:
    """A step of length h from a row into `trial`: 0, or -1 where no accelerations exist on the way. k[0] is known already."""
    t, n, total = row[w.at_t], len(w.nominal), 0.0
    w.error = math.inf
    copied(w.trial, row)
    for s in range(1, len(w.c)):
        for i in range(n):
            d = 0.0
            for j in range(s):
                d += w.a[s, j] * w.k[j, i]
            w.trial[i] = row[i] + h * d
        inputs_at(w, w.trial, inputs, rates, since, t + w.c[s] * h)
        status = slope(w, w.trial, steady, w.slopes)
        if status < 0:
            return -1
        for i in range(n):
            w.k[s, i] = w.slopes[i]
    for i in range(n):
        off = 0.0
        for j in range(len(w.e)):
            off += w.e[j] * w.k[j, i]
        off *= h / (tolerance * (w.nominal[i] + max(abs(row[i]), abs(w.trial[i]))))
        total += off * off
    w.error = math.sqrt(total / n)
    return 0 if w.error - w.error == 0.0 else -1


# -------------------------------------------------------------------- the start


def drives_begin(w: Instance, row: Floats, inputs: Floats, given: Ints) -> None:
    """States of drives that begin at an input, or where a coordinate was set to."""
    for i in range(len(w.follows)):
        k = w.at_x + i
        if given[k] == 0:
            if w.follows[i] >= 0:
                row[k] = inputs[w.follows[i]]
            elif w.copies[i] >= 0 and given[w.copies[i]] != 0:
                row[k] = row[w.copies[i]]


def moves_a_drive(w: Instance, state: int) -> bool:
    for i in range(len(w.copies)):
        if w.copies[i] == state:
            return True
    return state >= len(w.q)


def set_out(w: Instance, row: Floats, parameters: Floats, inputs: Floats, given: Ints, share: float) -> None:
    """The row at a share of the way; dependent positions stay."""
    for i in range(len(w.nominal)):
        if given[i] != 0 and (w.way.all > 0.0 or moves_a_drive(w, i)):
            row[i] = w.way.states[0, i] + share * (w.way.states[1, i] - w.way.states[0, i])
    for i in range(len(w.constants.x.parameters)):
        parameters[i] = w.way.parameters[0, i] + share * (w.way.parameters[1, i] - w.way.parameters[0, i])
    for i in range(len(w.input_rate)):
        inputs[i] = w.way.inputs[0, i] + share * (w.way.inputs[1, i] - w.way.inputs[0, i])
        row[w.at_u + i] = inputs[i]
    drives_begin(w, row, inputs, given)
    copied(w.constants.x.parameters, parameters)
    run(w.constants)
    for i in range(len(w.constants.y.constants)):
        row[w.at_constants + i] = w.constants.y.constants[i]
    n = len(w.held.y.held)
    for i in range(n):
        w.loops.x.row[len(w.loops.x.row) - n + i] = w.way.held[0, i] + share * (w.way.held[1, i] - w.way.held[0, i])


def loops_at(w: Instance, row: Floats) -> None:
    """The loops at a row."""
    for i in range(w.at_sides):
        w.loops.x.row[i] = row[i]
    run(w.loops)


def largest_row(w: Instance, rows: int) -> float:
    """The largest gap of the loops, and its row in `worst`."""
    gap = 0.0
    for r in range(rows):
        off = abs(w.loops.y.phi[r]) / w.rows[r]
        if not off <= gap:
            gap = off
            w.way.worst = float(r)
    return gap


def changed(w: Instance, gap: Floats, given: Ints, speeds: int) -> float:
    """Put the shortest change that closes the gaps, weighed, into `change`; return its largest entry, negative if it fails.

    `speeds`: the velocities themselves may have been set, else their positions.
    """
    J, A, x, columns = w.loops.y.J, w.singular.A, w.way.change, w.singular.columns
    n, rows, size = len(w.v), int(w.way.rows), 0.0
    for i in range(n):
        set_before = given[len(w.q) + i] if speeds > 0 else given[w.velocity_state[i]]
        for j in range(i + 1):
            s = 0.0
            if i == j:
                s = KEEP if (w.way.all > 0.0 or speeds > 0) and set_before != 0 else 1.0
            for r in range(rows):
                s += HARD * J[r * n + i] * J[r * n + j] * columns[i] * columns[j] / (w.rows[r] * w.rows[r])
            A[i, j] = s
        x[i] = 0.0
        for r in range(rows):
            x[i] -= HARD * J[r * n + i] * columns[i] * gap[r] / (w.rows[r] * w.rows[r])
    if not factored(A):
        return -1.0
    substituted(A, x)
    for i in range(n):
        size = max(size, abs(x[i]))
        x[i] *= columns[i]
    return size if size - size == 0.0 else -1.0


def closed_row(w: Instance, row: Floats, given: Ints) -> bool:
    """Newton's method for the positions at a row: True if they close without a long step."""
    before = math.inf
    for _ in range(MOST_CORRECTIONS):
        loops_at(w, row)
        gap = largest_row(w, int(w.way.rows))
        if gap < CLOSED_ROW:
            return True
        size = changed(w, w.loops.y.phi, given, 0)
        if size < 0.0 or size > LONGEST_START or size > 0.5 * before:  # round-off stops it, or it does not converge
            return gap < CLOSED_AT_BEST
        before = size
        moved_by(w, row, w.way.change, w.q)
        for i in range(len(w.q)):
            row[i] = w.q[i]
        count_on(w, row)
    return False


def gone(w: Instance, row: Floats, parameters: Floats, inputs: Floats, given: Ints) -> bool:
    """All of the way, in steps that are halved where Newton's method fails."""
    share, step = 0.0, 1.0
    while share < 1.0:
        there = min(share + step, 1.0)
        copied(w.way.before, row)
        set_out(w, row, parameters, inputs, given, there)
        if closed_row(w, row, given):
            step = 2.0 * step
            share = there
        else:
            copied(row, w.way.before)
            step *= 0.5
            if step < SHORTEST_START:
                return False
    return True


def settled(w: Instance, row: Floats, given: Ints) -> None:
    """Speeds on the loops, as near as possible to those given."""
    nq, n = len(w.q), len(w.v)
    for _ in range(SPEED_ROUNDS):
        loops_at(w, row)
        for r in range(int(w.way.rows)):
            w.way.gap[r] = w.loops.y.b[r]
            for i in range(n):
                w.way.gap[r] += w.loops.y.J[r * n + i] * row[nq + i]
        size = changed(w, w.way.gap, given, 1)
        if size < 0.0:
            return
        for i in range(n):
            row[nq + i] += w.way.change[i]


def held_at(w: Instance, row: Floats, end: int) -> None:
    """Drives that are held, at the states of one end of the way."""
    x = w.held.x.row
    if len(w.held.y.held) > 0:
        copied(x, row)
        for i in range(len(w.nominal)):
            x[i] = w.way.states[end, i]
        run(w.held)
        for i in range(len(w.held.y.held)):
            w.way.held[end, i] = w.held.y.held[i]


def started(w: Instance, row: Floats, near: Floats, parameters: Floats, inputs: Floats, given: Ints) -> bool:
    """A row closed at the far end of the way: with everything that was set, else with the drives only, else without them.

    `near`: turns of cut joints as exported. If it fails the row is that of the far end with all that was set.
    """
    n, nq = len(w.nominal), len(w.q)
    w.way.all = 0.0
    set_out(w, row, parameters, inputs, given, 0.0)  # constants of the model as exported: where its drives are
    held_at(w, row, 0)
    held_at(w, row, 1)
    for attempt in range(3):
        w.way.all = 1.0 if attempt == 0 else 0.0
        w.way.rows = float(len(w.rows) if attempt < 2 else len(w.lam))
        for i in range(n):
            row[i] = w.way.states[0, i]
        for i in range(len(w.counted.y.near)):
            row[w.at_near + i] = near[i]
        if gone(w, row, parameters, inputs, given):
            for i in range(len(w.v)):
                row[nq + i] = w.way.states[1, nq + i]
            settled(w, row, given)
            return True
    for i in range(n):
        row[i] = w.way.states[1, i]
    w.way.all = 1.0
    set_out(w, row, parameters, inputs, given, 1.0)
    loops_at(w, row)
    return False
