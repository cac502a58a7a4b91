"""The record of a run: everything the loops of the time stepper work on. `integration` lays it out for a problem.

All that changes during a run is in one record, so a run may stop after any step and continue later with the same bits. `s.rates.x` is the
mechanism row [q, v, t, parameters], `s.inputs.x` the full row [q, v, x, t, parameters]; without extra states x both are one. With eight
lanes each of them is a run.
"""

from __future__ import annotations

from linkwright.compiler import callbacks
from linkwright.compiler.records import (
    Column,
    Count,
    Floats,
    Ints,
    Kernel,
    Matrix,
    Record,
    Rows,
    Shared,
    SharedInts,
    SharedMatrix,
    fields_of,
    sized,
)
from linkwright.integrators.stop_rests import Rests

# why a run came back: the bits of a kernel's status word, and what the loops find
NOT_FINITE, DEGENERATE, FAILED, UNANSWERED = callbacks.NOT_FINITE, callbacks.DEGENERATE, callbacks.FAILED, callbacks.UNANSWERED
RUNNING, OPEN, SMALLEST_STEP, TOO_MANY_STEPS, FINISHED, EVENT, TURNED, STUCK = 0, 8, 16, 32, 64, 128, 256, 512
UNSOLVED, DEEP = 2048, 4096  # of single steps with impulses
REJECTED = -1


class Row(Record):
    """The inputs of a kernel: the state (of the mechanism, or with extra states), time, and blocks of the parameters."""

    state: Floats
    t: Floats
    parameters: Floats
    u: Floats  # given by the inputs
    near: Floats  # angles that are counted beyond whole turns
    held: Floats  # by the sampler
    sides: Floats  # of switching functions


class RatesOutputs(Record):
    rates: Floats
    powers: Floats  # rates of the quadratures


class InputsOutputs(Record):
    u: Floats
    rates: Floats  # of the extra states


class ProjectOutputs(Record):
    q: Floats
    v: Floats
    residual: Floats
    drift: Floats
    correction: Floats


class GapOutputs(Record):
    residual: Floats


class ValuesOutputs(Record):
    values: Floats


class Rates(Kernel):
    x: Row
    y: RatesOutputs


class RatesAgain(Kernel):
    """The rank-revealing path, as other kernels of this name."""

    alone = True
    x: Row
    y: RatesOutputs


class Inputs(Kernel):
    x: Row
    y: InputsOutputs


class InputsAgain(Kernel):
    alone = True
    x: Row
    y: InputsOutputs


class Project(Kernel):
    x: Row
    y: ProjectOutputs


class ProjectAgain(Kernel):
    alone = True
    x: Row
    y: ProjectOutputs


class Gap(Kernel):
    x: Row
    y: GapOutputs


class Values(Kernel):
    """Functions that are watched, held values of a sampler, or angles counted beyond whole turns."""

    x: Row
    y: ValuesOutputs


class Table(Record):
    """A method: see `problem.Tableau`."""

    a: SharedMatrix = sized("rows", "rows")
    c: Shared = sized("rows")
    error: SharedMatrix = sized("n_error", "rows")
    dense: SharedMatrix = sized("n_dense", "rows")
    coupling: SharedMatrix = sized("n_coupling", "rows")
    slope: Shared = sized("n_slope")
    gamma: float
    exponent: float
    shrink: float
    grow: float
    safety: float


class Tally(Record):
    """What is counted, and the largest gaps."""

    steps: Count
    rejected: Count
    refused: Count
    evaluations: Count
    jacobians: Count
    projections: Count
    fallbacks: Count
    break_points: Count
    worst_position: float
    worst_velocity: float
    worst_correction: float


class Watched(Record):
    """Functions that are watched: events, then switching functions. `break_points` and `step_output` look for their signs."""

    direction: SharedInts = sized("n_watched")
    terminal: SharedInts = sized("n_watched")
    g: Floats = sized("n_watched")  # after the step, before it, at any state
    g_before: Floats = sized("n_watched")
    g_now: Floats = sized("n_watched")
    theta: Floats = sized("n_watched")  # where in the step they cross zero
    last_theta: Floats = sized("n_watched")  # the same, also of those reported
    side: Ints = sized("n_watched")  # sign that a function had last
    again: Ints = sized("n_switches")  # steps in a row that a switching function ended at once
    loose: Ints = sized("n_switches")  # and steps in which it is left alone for that
    sign_before: Ints = sized("n_switches")  # while looking along a step: its last sign, and how often that changed
    crossings: Ints = sized("n_switches")
    dips: SharedInts = sized("n_watched")  # 1: looked at inside of steps for falling below zero and rising again
    until: Floats = sized("n_watched")  # share of the step before which a function has crossed zero
    change: Floats = sized("n_watched")  # of a function over the step before
    doubt: Ints = sized("n_watched")  # 1: a function may dip in this step
    quarters: Matrix = sized("n_quarters", "n_watched")
    refused: Count  # steps in a row, for second crossings in them
    switched: Count  # 1: the step has ended at a break point


class Output(Record):
    """Arrays that a run fills; the caller empties them when one of them is full."""

    sampled: int  # 1: output at given times, 0: after every step
    n_samples: int
    n_rows: int
    n_seen: int  # 0: nobody looks at every step
    n_records: int  # 0: events and ticks of the sampler are not stored
    n_ticks: int
    samples: Column  # times at which output is wanted
    rows: Rows  # (time, state): output
    seen: Rows  # (time, state) of every step
    records: Rows  # (time, index, state) of events
    ticks: Rows  # (time, held values) of the sampler
    sample: Count  # the next one, and its time; without one, infinity
    due: float
    row: Count  # the next rows to be filled
    see: Count
    event: Count
    tick: Count
    last_event: Count


class Batch(Record):
    """Runs that follow one another in a lane, and what becomes of them."""

    stride: int  # from a run to the next one of this lane
    starts: Rows  # (runs, states)
    parameters: Rows  # (runs, parameters)
    codes: Column  # why runs ended
    tallies: Rows  # (runs, how far and how: `STORED`)
    ends: Rows  # (runs, states)
    run: Count  # the present one, and the one to stop at
    last: Count
    code: Count  # of the present run
    begun: Count


class RunState(Record):
    nq: int
    counted: int  # states that are no quadratures
    judged: int  # states with a say in the error
    stages: int
    spare: int  # row of K for derivatives that no stage has
    implicit: int  # 1: Rosenbrock method
    closing: int  # 1: the error estimate needs the derivative at the new state
    backed: int  # 1: there is a second kernel for the rates
    projects: int  # 0: no projection, 1: with one kernel, 2: with both
    once: int  # 1: one call of it is the whole correction
    often: int  # steps from one correction to the next
    gated: int  # 1: only loops that are open by more than `above` are corrected
    refuses: int  # 1: a correction far above the error of its step is refused as a jump
    wary: int  # 1: rates or inputs are Python functions, which are not asked about states that are not finite
    driven: int  # 0: no kernel of inputs, 1: one, 2: with a second one
    moved: int  # 1: the projection wants the inputs of its time
    ticking: int  # 1: with a sampler
    n_events: int
    rates: Rates
    inputs: Inputs
    rates_again: RatesAgain
    inputs_again: InputsAgain
    project: Project
    project_again: ProjectAgain
    gap: Gap
    turns: Values
    events: Values
    switches: Values
    sampler: Values
    rests: Rests
    table: Table
    tally: Tally
    watched: Watched
    out: Output
    batch: Batch
    # options
    start: float
    end: float
    fixed: float  # length of fixed steps, or 0
    smallest: float
    largest: float
    tolerance: float
    closed: float
    widest: float
    origin: float  # from which fixed steps and ticks are counted
    every: float  # s from a tick of the sampler to the next
    above: float
    most: Count  # attempted steps
    # where the run is
    started: Count
    time: float
    step: float  # the length planned, the length used, and the time at the end of the step
    used: float
    next: float
    used_before: float
    error_before: float
    correction: float
    held: Count  # 1: the next step does not grow
    reason: Count  # why the last step was rejected
    grid: Count  # fixed steps so far
    off: Count  # 1: the present time is not on their grid
    tick: Count  # the next one
    ticked: Count  # 1: the step ends at a tick
    cut: Count  # 1: it ends at a corner
    corner: Count
    due: Count  # 1: states in the step are corrected
    corrected: Count
    fresh: Count  # 1: the derivatives are those at the present state
    corners: Shared = sized("n_corners")  # times at which steps end, then infinity
    unit: SharedInts = sized("n_unit")  # where quaternions start
    scale: Shared = sized("n")
    permitted: Floats = sized("n")
    y: Floats = sized("n")  # state, state after the step, state inside the step
    new: Floats = sized("n")
    trial: Floats = sized("n")
    turned: Floats = sized("n_near")  # angles after the step
    K: Matrix = sized("K_rows", "n")  # derivatives of the stages, at the new state, for output inside the step; a spare one
    inner: Matrix = sized("n_inner", "n")  # polynomial through the step
    J: Matrix = sized("n_implicit", "n_implicit")  # of a Rosenbrock method, with its factors, rows exchanged, and df/dt
    lu: Matrix = sized("n_implicit", "n_implicit")
    pivot: Ints = sized("n_implicit")
    by_time: Floats = sized("n_implicit")


LEAST = 6  # states of a block of lanes: with fewer, lanes that do nothing cost more than the others save
TALLIED = tuple(fields_of(Tally))
STORED = (*TALLIED, "time", "done", "event")  # of a run in a batch: where it got to, output rows, the event that ended it, or -1
