"""The time stepper: steps until the end, an event or a reason to stop; a sampler called on the way. Loops on the record of a run.

`march` is called in slices of some steps and carries everything in its record, so results do not depend on where it was cut.
`march_many` does one run after the other, in one lane or in each of eight: nothing of Python between them.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import Floats, copy, run
from linkwright.integrators.break_points import begin_sides, let_go, renew_sides, set_sides
from linkwright.integrators.run_state import EVENT, FAILED, FINISHED, NOT_FINITE, REJECTED, RUNNING, TOO_MANY_STEPS, UNANSWERED, RunState
from linkwright.integrators.stages import cause, derivative
from linkwright.integrators.step import SAME_STEP, attempt, keep_turns, permit
from linkwright.integrators.step_output import put_samples, report


def march(s: RunState, budget: int) -> int:
    """Continue for at most `budget` attempted steps; RUNNING asks to be called again, with the output emptied."""
    if s.started == 0:
        outcome = begin(s)
        if outcome != RUNNING:
            return outcome
    for _ in range(budget):
        if full(s):
            return RUNNING
        outcome = advance(s)
        if outcome != RUNNING:
            return outcome
    return RUNNING


def advance(s: RunState) -> int:
    """Attempt a step, and do all that belongs to its end: RUNNING, FINISHED, or why there is none."""
    if s.tally.steps + s.tally.rejected >= s.most:
        return TOO_MANY_STEPS
    outcome = attempt(s)
    if outcome == REJECTED:
        if len(s.watched.loose) > 0 and s.reason in (NOT_FINITE, UNANSWERED):
            let_go(s)
        return RUNNING
    if outcome == 0:
        outcome = report(s)
    if outcome != 0:
        return outcome
    copy(s.y, s.new)
    for i in range(len(s.y)):
        s.K[0, i] = s.K[s.stages, i]
    s.time = s.next
    s.fresh = 0
    if len(s.turned) > 0:
        keep_turns(s)
    if len(s.watched.loose) > 0:
        set_sides(s)
    if s.time >= s.end:
        return FINISHED
    if s.ticked > 0:
        outcome = sample(s)
        if outcome == 0 and len(s.watched.loose) > 0:
            outcome = renew_sides(s)
        if outcome != 0:
            return outcome
    if s.ticked + s.watched.switched > 0:
        s.watched.switched = 0
        copy(s.inputs.x.state, s.y)
        outcome = derivative(s, 0, s.time)
    return outcome


def full(s: RunState) -> bool:
    """True if another step might not fit into the output."""
    out = s.out
    if out.sampled == 0 and out.row >= out.n_rows:
        return True
    if out.n_records > 0 and out.event + s.n_events > out.n_records:
        return True
    return (out.n_seen > 0 and out.see >= out.n_seen) or (out.n_ticks > 0 and out.tick >= out.n_ticks)


def sample(s: RunState) -> int:
    """Held values from the sampler at the present state into the end of both rows, and into the output."""
    x, y, out = s.inputs.x, s.sampler.y, s.out
    s.tick += 1
    copy(x.state, s.y)
    x.t[0] = s.time
    outcome = cause(run(s.sampler))
    if outcome != 0:
        return outcome
    for i in range(len(y.values)):
        x.held[i] = y.values[i]
        s.rates.x.held[i] = y.values[i]
    if out.n_ticks > 0:
        out.ticks[out.tick, 0] = s.time
        for i in range(len(y.values)):
            out.ticks[out.tick, 1 + i] = y.values[i]
        out.tick += 1
    return 0


# -------------------------------------------------------------------- the start


def begin(s: RunState) -> int:
    """First ticks, first derivative, sides of the event functions, first step, output at the start: RUNNING, FINISHED, or why not."""
    s.started = 1
    s.out.due = s.out.samples[0] if s.out.n_samples > 0 else math.inf
    s.time = s.start
    s.next = s.start
    s.used_before = 0.0
    copy(s.new, s.y)
    copy(s.inputs.x.state, s.y)
    for j in range(len(s.rests.push)):
        s.rests.ahead[j, 0] = s.rests.begins[j, 0]
        s.rests.ahead[j, 1] = s.rests.begins[j, 1]
    permit(s)
    outcome = set_clocks(s)
    if outcome == 0:
        outcome = derivative(s, 0, s.start)
    if outcome == 0 and len(s.watched.g) > 0:
        outcome = begin_sides(s)
    if outcome == 0 and s.step == 0.0 and s.end > s.start:
        s.step = first_step(s)
        outcome = FAILED if s.step == 0.0 else 0
    if outcome != 0:
        return outcome
    put_samples(s, s.start, 0.0, s.y)
    return FINISHED if s.end <= s.start else RUNNING


def set_clocks(s: RunState) -> int:
    """Place on the grid of fixed steps and of the sampler's ticks, both counted from the origin; the sampler, if it is due."""
    past = s.start - s.origin
    if s.fixed > 0.0:
        s.grid = int(past / s.fixed + SAME_STEP)
        s.off = 1 if past - s.grid * s.fixed > SAME_STEP * s.fixed else 0
    if s.ticking > 0:
        s.tick = int(past / s.every + SAME_STEP)
        if past - s.tick * s.every <= SAME_STEP * s.every:
            return sample(s)
        s.tick += 1
    return 0


def size(s: RunState, x: Floats) -> float:
    """Root mean square of a vector against the permitted errors."""
    total = 0.0
    for i in range(s.judged):
        d = x[i] / s.permitted[i]
        total += d * d
    return math.sqrt(total / max(s.judged, 1))


def first_step(s: RunState) -> float:
    """A step whose first neglected derivative is small, guessed by one explicit Euler step  [Hairer1993, II.4]; 0 where a
    function fails."""
    longest = min(s.end - s.start, s.largest)
    for i in range(len(s.y)):
        s.trial[i] = s.K[0, i]
    d0, d1 = size(s, s.y), size(s, s.trial)
    h0 = min(longest, 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1)
    for i in range(len(s.y)):
        s.inputs.x.state[i] = s.y[i] + h0 * s.K[0, i]
    outcome = derivative(s, 1, s.start + h0)
    if outcome != 0:
        return 0.0 if outcome == FAILED else 1e-3 * h0
    for i in range(len(s.y)):
        s.trial[i] = s.K[1, i] - s.K[0, i]
    steepest = max(d1, size(s, s.trial) / h0)
    h1 = max(1e-6, 1e-3 * h0) if steepest <= 1e-15 else (0.01 / steepest) ** s.table.exponent
    return min(100.0 * h0, h1, longest)


# -------------------------------------------------------------------- many runs


def march_many(s: RunState, budget: int) -> int:
    """Continue for at most `budget` attempted steps and starts of runs, over as many runs as they allow; 1 when all runs are done."""
    b = s.batch
    for _ in range(budget):
        if b.begun == 0:
            if b.run >= b.last:
                break
            load(s)
            b.code = begin(s)
        else:
            b.code = advance(s)
        if b.code != RUNNING:
            store(s)
            b.begun = 0
            b.run += b.stride
    if b.begun > 0:
        store(s)
    return 1 if b.run >= b.last else 0


def load(s: RunState) -> None:
    """The record as before the first step of the present run."""
    b, x, m, t, w = s.batch, s.inputs.x, s.rates.x, s.tally, s.watched
    b.begun = 1
    t.steps = 0
    t.rejected = 0
    t.refused = 0
    t.evaluations = 0
    t.jacobians = 0
    t.projections = 0
    t.fallbacks = 0
    t.break_points = 0
    t.worst_position = 0.0
    t.worst_velocity = 0.0
    t.worst_correction = 0.0
    s.rests.fallbacks = 0
    w.refused = 0
    w.switched = 0
    s.out.sample = 0
    s.out.row = b.run * s.out.n_samples
    s.out.last_event = -1
    s.step = s.fixed
    s.error_before = 0.0
    s.held = 0
    s.reason = 0
    s.grid = 0
    s.off = 0
    s.tick = 0
    s.corner = 0
    s.due = 0
    s.fresh = 0
    for i in range(len(s.y)):
        s.y[i] = b.starts[b.run, i]
    for i in range(len(x.parameters)):
        x.parameters[i] = b.parameters[b.run, i]
        m.parameters[i] = b.parameters[b.run, i]


def store(s: RunState) -> None:
    """How far the present run came and how, in the order of `run_state.STORED`."""
    b, t = s.batch, s.tally
    b.codes[b.run] = float(b.code)
    for i in range(len(s.y)):
        b.ends[b.run, i] = s.y[i]
    b.tallies[b.run, 0] = float(t.steps)
    b.tallies[b.run, 1] = float(t.rejected)
    b.tallies[b.run, 2] = float(t.refused)
    b.tallies[b.run, 3] = float(t.evaluations)
    b.tallies[b.run, 4] = float(t.jacobians)
    b.tallies[b.run, 5] = float(t.projections)
    b.tallies[b.run, 6] = float(t.fallbacks + s.rests.fallbacks)
    b.tallies[b.run, 7] = float(t.break_points)
    b.tallies[b.run, 8] = t.worst_position
    b.tallies[b.run, 9] = t.worst_velocity
    b.tallies[b.run, 10] = t.worst_correction
    b.tallies[b.run, 11] = s.time
    b.tallies[b.run, 12] = float(s.out.row - b.run * s.out.n_samples)
    b.tallies[b.run, 13] = float(s.out.last_event if b.code == EVENT else -1)
