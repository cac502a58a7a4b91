"""One step: its size, stages, error, projection onto the loops, output inside the step. Loops on the record of a run.

They return 0 or the reason why they could not. Equations: [Hairer1993, II.4 (step control), II.6 (inside a step)]. Steps end at the end
of the run, where a sampler wants the state, and at corners of inputs over time.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import copy, run
from linkwright.integrators.break_points import hidden
from linkwright.integrators.run_state import (
    DEGENERATE,
    NOT_FINITE,
    OPEN,
    REJECTED,
    SMALLEST_STEP,
    TURNED,
    UNANSWERED,
    RunState,
)
from linkwright.integrators.stages import ROUND, cause, derivative, drive, finite, stage, stages
from linkwright.integrators.stop_rests import back

NEWTON_STEPS = 6  # calls of the projection at most
STILL = 1e-15  # a correction (dimensionless) that moves nothing
JUMP = 100.0  # a correction that many times the step's error would be a jump to another branch
TOO_FAR = 2.0  # rad in one step: beyond pi turns would be miscounted
LEAST_ERROR = 0.01  # of the tolerance: an error estimate below this says nothing about corrections
DOUBLED = 2.0  # most that steps grow at once where break points are looked for at quarters of a step: none can come to lie between
SAME_STEP = 1e-9  # of a step or a sampler's period: two times that close are one
NO_STEP = 16.0 * ROUND  # of the time and the duration: steps below do not move the time


# -------------------------------------------------------------------- the size of a step


def plan_step(s: RunState) -> int:
    """Length and end of the next step: the last one ends exactly at the end, others exactly at the sampler's ticks and at corners."""
    tick = s.origin + s.tick * s.every if s.ticking > 0 else s.end
    if tick >= s.end - SAME_STEP * s.every:
        tick = s.end
    corner = math.inf
    if len(s.corners) > 1:
        while s.corners[s.corner] <= s.time + NO_STEP * max(abs(s.time), s.end - s.start):
            s.corner += 1
        corner = s.corners[s.corner]
    s.ticked = 0
    s.cut = 0
    if len(s.table.error) > 0:
        return plan_adaptive(s, tick, corner)
    s.used = s.fixed
    s.next = s.origin + (s.grid + 1) * s.fixed
    whole = s.off == 0
    s.off = 0
    if s.next > s.end - SAME_STEP * s.fixed:
        s.next = s.end
        whole = False
    if tick < s.end and tick <= s.next + SAME_STEP * s.fixed:
        s.ticked = 1
        if tick < s.next - SAME_STEP * s.fixed:
            s.next = tick
            whole = False
            s.off = 1
    if corner < s.next - SAME_STEP * s.fixed:
        s.next = corner
        whole = False
        s.off = 1
        s.ticked = 0
        s.cut = 1
    if not whole:
        s.used = s.next - s.time
    return 0


def plan_adaptive(s: RunState, tick: float, corner: float) -> int:
    h = min(s.step, s.largest)
    s.used = h
    s.next = s.time + h
    if s.time + 1.01 * h >= min(tick, corner):
        s.next = min(tick, corner)
        s.used = s.next - s.time
        s.ticked = 1 if tick < s.end and tick <= corner else 0
        s.cut = 1 if corner < min(tick, s.end) else 0
    elif h < max(s.smallest, NO_STEP * max(abs(s.time), s.end - s.start)):
        return s.reason if s.reason > 0 else SMALLEST_STEP
    return 0


def accepted(s: RunState, error: float) -> None:
    """Count the step and plan the next: where errors grow, they are expected to keep growing  [Gustafsson; Hairer1996, IV.8]."""
    s.tally.steps += 1
    s.grid += 1 - s.off
    s.tally.break_points += s.cut
    if len(s.table.error) > 0:
        most = s.table.grow if len(s.watched.loose) == 0 else min(s.table.grow, DOUBLED)
        factor = most
        if error > 0.0:
            factor = s.table.safety * error ** (-s.table.exponent)
            if s.used_before > 0.0:
                factor *= min(1.0, s.used / s.used_before * (s.error_before / error) ** s.table.exponent)
            factor = min(most, max(s.table.shrink, factor))
        if s.held > 0:
            factor = min(1.0, factor)
        if s.ticked + s.cut > 0 and s.used < s.step:  # a step cut short says little about the next
            s.step = max(s.step, s.used * factor)
        else:
            s.step = s.used * factor
            s.error_before = max(error, 0.01)
            s.used_before = s.used
    s.held = 0
    s.reason = 0


def rejected(s: RunState, factor: float, reason: int) -> int:
    s.tally.rejected += 1
    s.held = 1
    s.reason = reason
    s.step = s.used * factor
    return REJECTED


def stopped(s: RunState, reason: int) -> int:
    """A stage outside of what the equations allow asks for a shorter step where steps may change, whatever the equations say of it: it is
    not a state of the motion. Only an error that does not concern its state ends the run."""
    if len(s.table.error) > 0 and reason in (NOT_FINITE, OPEN, UNANSWERED, DEGENERATE):
        return rejected(s, 0.25, reason)
    return reason


# -------------------------------------------------------------------- error


def permit(s: RunState) -> None:
    """Error of every state that the tolerance permits in this step."""
    for i in range(s.judged):
        s.permitted[i] = s.tolerance * (s.scale[i] + max(abs(s.y[i]), abs(s.new[i])))


def error_norm(s: RunState) -> float:
    """Local error against what is permitted; two estimates are combined as in DOP853."""
    estimates = len(s.table.error)
    first, second = 0.0, 0.0
    for i in range(s.judged):
        for k in range(estimates):
            e = 0.0
            for j in range(s.stages + s.closing):
                e += s.table.error[k, j] * s.K[j, i]
            e /= s.permitted[i]
            if k == 0:
                first += e * e
            else:
                second += e * e
    if first == 0.0:
        return 0.0
    if estimates > 1:
        return s.used * first / math.sqrt((first + 0.01 * second) * s.judged)
    return s.used * math.sqrt(first / s.judged)


# -------------------------------------------------------------------- projection


def normalize(s: RunState) -> None:
    """Quaternions of the trial state get their length back."""
    for u in range(len(s.unit)):
        size = 0.0
        for i in range(s.unit[u], s.unit[u] + 4):
            size += s.trial[i] * s.trial[i]
        for i in range(s.unit[u], s.unit[u] + 4):
            s.trial[i] /= math.sqrt(size)


def on_loops(call: int, residual: float, before: float, correction: float, closed: float) -> bool:
    """True if a Newton step was the last: it moved nothing, or the residual it began with is round-off. One is done at least."""
    return correction <= STILL or (call > 0 and (residual <= closed or residual > 0.5 * before)) or call == NEWTON_STEPS - 1


def settle(s: RunState, t: float) -> int:
    """The trial state onto the manifold, and onto the ends of rigid stops that hold."""
    outcome = project(s, t)
    if outcome == 0 and len(s.rests.push) > 0:
        outcome = cause(back(s.rests, s.trial, t))
        normalize(s)
    return outcome


def project(s: RunState, t: float) -> int:
    """The trial state onto the manifold: unit quaternions, then closed loops and a velocity along them.

    Newton steps of the projection kernel repeat until the residual is round-off, without a gate: one correction at least.
    The velocity is the one the last call gave, which was taken at the final position. A kernel that does all `once` is
    called once, and may leave the loops as far open as it means to. Where no correction is due the loops stay as they are.
    """
    m, y = s.rates.x, s.project.y
    s.correction = 0.0
    s.corrected = 0
    normalize(s)
    if s.projects == 0 or s.due == 0:
        return 0
    if s.moved > 0:  # prescribed motions have their own value at every time
        copy(s.inputs.x.state, s.trial)
        outcome = drive(s, s.spare, t)
        if outcome != 0:
            return outcome
    for i in range(len(m.state)):
        m.state[i] = s.trial[i]
    m.t[0] = t
    if s.gated > 0:
        outcome = cause(run(s.gap))
        if outcome != 0:
            return outcome
        if s.gap.y.residual[0] <= s.above:
            s.tally.worst_position = max(s.tally.worst_position, s.gap.y.residual[0])
            return 0
    s.corrected = 1
    before = math.inf
    for call in range(NEWTON_STEPS):
        s.tally.projections += 1
        status = run(s.project)
        if status & DEGENERATE and s.projects > 1:
            status = project_again(s)
        if status != 0:
            return cause(status)
        residual, correction = y.residual[0], y.correction[0]
        if call == 0:
            s.tally.worst_velocity = max(s.tally.worst_velocity, y.drift[0])
            s.tally.worst_correction = max(s.tally.worst_correction, correction)
        done = s.once > 0 or on_loops(call, residual, before, correction, s.closed)
        if s.once > 0 or not done:
            for i in range(s.nq):
                m.state[i] = y.q[i]
        if done:
            return projected(s, residual)
        before = residual
    return OPEN


def project_again(s: RunState) -> int:
    """The rank-revealing projection in place of the one that degenerated; its status."""
    y, z = s.project.y, s.project_again.y
    s.tally.fallbacks += 1
    status = run(s.project_again)
    copy(y.q, z.q)
    copy(y.v, z.v)
    copy(y.residual, z.residual)
    copy(y.drift, z.drift)
    copy(y.correction, z.correction)
    return status


def projected(s: RunState, residual: float) -> int:
    """The position in the mechanism row and the velocity just found, as the trial state."""
    m = s.rates.x
    if s.once == 0 and not residual <= s.widest:
        return OPEN
    s.tally.worst_position = max(s.tally.worst_position, residual)
    if len(s.table.error) > 0:
        moved = 0.0
        for i in range(s.nq):
            d = (m.state[i] - s.trial[i]) / s.permitted[i]
            moved += d * d
        s.correction = math.sqrt(moved / max(s.nq, 1))
    for i in range(s.nq):
        s.trial[i] = m.state[i]
    for i in range(len(s.project.y.v)):
        s.trial[s.nq + i] = s.project.y.v[i]
    return 0


# -------------------------------------------------------------------- the step


def attempt(s: RunState) -> int:
    """Try one step from y to new. 0: accepted; REJECTED: a shorter one is planned; else the reason to stop."""
    x, last = s.inputs.x, s.stages
    outcome = plan_step(s)
    if outcome != 0:
        return outcome
    outcome = stages(s)
    if outcome != 0:
        return stopped(s, outcome)
    stage(s, last)
    copy(s.new, x.state)
    if not finite(x.state):
        return stopped(s, NOT_FINITE)
    if s.closing > 0:
        outcome = derivative(s, last, s.time + s.table.c[last] * s.used)
        if outcome != 0:
            return stopped(s, outcome)
    error = 0.0
    if len(s.table.error) > 0:
        permit(s)
        error = error_norm(s)
        if not error < math.inf:
            return stopped(s, NOT_FINITE)
        if error > 1.0:
            return rejected(s, max(s.table.shrink, s.table.safety * error ** (-s.table.exponent)), 0)
    s.due = 1 if s.projects > 0 else 0
    if s.often > 1 and (s.tally.steps + 1) % s.often != 0:
        s.due = 0
    always = len(s.unit) + len(s.rests.push)
    moved = always > 0
    if s.due + always > 0:
        copy(s.trial, s.new)
        outcome = settle(s, s.next)
        if outcome != 0:
            return stopped(s, outcome)
        s.due = s.corrected  # states inside the step are corrected if its end is
        if len(s.table.error) > 0 and s.refuses > 0 and s.correction > JUMP * max(error, LEAST_ERROR):
            s.tally.refused += 1
            return rejected(s, 0.5, OPEN)
        moved = moved or s.corrected > 0
        copy(s.new, s.trial)
        copy(x.state, s.trial)
    if moved or s.closing == 0:
        outcome = derivative(s, last, s.next)
        if outcome != 0:
            return stopped(s, outcome)
    if len(s.watched.loose) > 0 and len(s.table.error) > 0 and hidden(s):
        return rejected(s, 0.5, 0)
    outcome = count_turns(s) if len(s.turned) > 0 else 0
    if outcome == 0:
        accepted(s, error)
    return outcome


def count_turns(s: RunState) -> int:
    """Angles after the step that are counted beyond whole turns; a step in which one turns too far to be counted is rejected."""
    m, y = s.rates.x, s.turns.y
    for i in range(len(m.state)):
        m.state[i] = s.new[i]
    m.t[0] = s.next
    outcome = cause(run(s.turns))
    if outcome != 0:
        return stopped(s, outcome)
    for i in range(len(s.turned)):
        s.turned[i] = y.values[i]
        if not abs(y.values[i] - m.near[i]) <= TOO_FAR:
            return rejected(s, 0.5, TURNED) if len(s.table.error) > 0 else TURNED
    return 0


def keep_turns(s: RunState) -> None:
    """The angles of the step just done into both rows: what comes after is counted from them."""
    copy(s.inputs.x.near, s.turned)
    copy(s.rates.x.near, s.turned)


# -------------------------------------------------------------------- states inside the step


def prepare_inside(s: RunState) -> int:
    """Coefficients of the polynomial through the step: cubic Hermite and the method's own further terms."""
    if s.implicit > 0:
        return 0
    h, width = s.used, len(s.table.c)
    for row in range(s.stages + 1, width):
        stage(s, row)
        outcome = derivative(s, row, s.time + s.table.c[row] * h)
        if outcome != 0:
            return outcome
    for i in range(len(s.y)):
        rise = s.new[i] - s.y[i]
        bend = h * s.K[0, i] - rise
        s.inner[0, i] = s.y[i]
        s.inner[1, i] = rise
        s.inner[2, i] = bend
        s.inner[3, i] = rise - h * s.K[s.stages, i] - bend
        for k in range(len(s.table.dense)):
            term = 0.0
            for j in range(width):
                term += s.table.dense[k, j] * s.K[j, i]
            s.inner[4 + k, i] = h * term
    return 0


def inside(s: RunState, theta: float) -> int:
    """State at share theta of the step into trial, put onto the loops."""
    t = s.time + theta * s.used
    if s.implicit > 0:
        outcome = shorter(s, theta)
        if outcome != 0:
            return outcome
        return settle(s, t)
    for i in range(len(s.y)):
        term = 0.0
        for k in range(3 + len(s.table.dense), 0, -1):
            term = (term + s.inner[k, i]) * (theta if k % 2 == 1 else 1.0 - theta)
        s.trial[i] = s.inner[0, i] + term
    return settle(s, t)


def shorter(s: RunState, theta: float) -> int:
    """A part of the step by itself, with the derivatives at its start: more exact than the polynomial through it, which of a stiff
    step may be far off."""
    h = s.used
    s.used = theta * h
    outcome = stages(s)
    stage(s, s.stages)
    s.used = h
    copy(s.trial, s.inputs.x.state)
    return outcome
