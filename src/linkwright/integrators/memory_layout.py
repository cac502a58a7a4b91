"""The memory of a time stepper: one array of floats, one of whole numbers, and a plan of their layout.

Everything that changes during a run is in these two arrays, so a run may stop after any step and continue later with the same
bits. Two arrays and a plan of plain numbers are also the cheapest arguments native loops can have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from linkwright.integrators.problem import Problem, Tableau

# why a loop came back: bits 1, 2, 4 and 1024 are those of a kernel's status word
RUNNING, NOT_FINITE, DEGENERATE, FAILED, OPEN, SMALLEST_STEP, TOO_MANY_STEPS, FINISHED, EVENT, TURNED, STUCK, UNANSWERED = (
    0,
    1,
    2,
    4,
    8,
    16,
    32,
    64,
    128,
    256,
    512,
    1024,
)
REJECTED = -1

# the first whole numbers: counters and flags
(
    STARTED, STEPS, REJECTIONS, REFUSALS, EVALUATIONS, FALLBACKS, PROJECTIONS, ROWS, SEEN, TICKS, SAMPLE, EVENTS, HELD, REASON, MOST,
    GRID, OFF, TICK, TICKED, FRESH, JACOBIANS, SWITCHED, SWITCHES, REFUSED_BREAKS, CORNER, CUT, DUE, CORRECTED, COUNTS,
) = range(29)  # fmt: skip
# the first floats: what changes, then the options
(
    TIME, STEP, USED, NEXT, USED_BEFORE, ERROR_BEFORE, CORRECTION, WORST_POSITION, WORST_VELOCITY, WORST_CORRECTION,
    START, END, FIXED, SMALLEST, LARGEST, TOLERANCE, CLOSED, WIDEST, ORIGIN, EVERY, EXPONENT, SHRINK, GROW, SAFETY, ABOVE, REALS,
) = range(26)  # fmt: skip


class Output(NamedTuple):
    """Arrays a loop fills; the caller empties them when one of them is full. Without rows, `seen` and `ticks` ask for nothing."""

    samples: np.ndarray  # times at which output is wanted
    rows: np.ndarray  # (time, state): output
    seen: np.ndarray  # (time, state) of every step
    records: np.ndarray  # (time, index, state) of events
    ticks: np.ndarray  # (time, held values) of the sampler


class MemoryPlan(NamedTuple):
    """Kernels (addresses, or callables in Python), sizes, and where the blocks start in the floats and the whole numbers."""

    rates: Any
    rates_again: Any  # rank-revealing, called where `rates` says degenerate
    project: Any
    project_again: Any
    gap: Any
    inputs: Any
    inputs_again: Any
    events: Any
    sampler: Any
    turns: Any
    switches: Any
    stops: Any
    response: Any
    response_again: Any
    backed: int  # 1: there is such a second kernel for the rates
    projects: int  # 0: no projection, 1: with one kernel, 2: with both
    once: int  # 1: one call of it is the whole correction
    often: int  # steps from one correction to the next
    gated: int  # 1: only loops that are open by more than floats[ABOVE] are corrected
    refuses: int  # 1: a correction far above the error of its step is refused as a jump
    driven: int  # 0: no kernel of inputs, 1: one, 2: with a second one
    moved: int  # 1: the projection wants the inputs of its time
    ticking: int  # 1: with a sampler
    responds: int  # 0: no rigid stop may hold, 1: one kernel of responses, 2: with a second one
    sampled: int  # 1: output at given times, 0: after every step
    n: int
    nq: int
    nm: int  # coordinates and speeds
    counted: int  # states that are no quadratures
    judged: int  # states with a say in the error
    n_u: int
    n_held: int
    n_near: int
    near: int  # where they start after the state in a row
    tail: int  # where held values start after the state in a row
    sides: int  # and where the sides of switching functions do
    n_events: int
    n_watched: int  # events, then switching functions
    n_unit: int  # quaternions
    n_stops: int  # coordinates that rigid stops may hold, and ends that hold now
    n_rests: int
    stages: int
    width: int  # rows of K: stages, derivative at the new state, stages for output inside a step
    n_error: int  # error estimates; 0: fixed steps
    n_dense: int  # terms beyond the cubic inside a step
    implicit: int  # 1: Rosenbrock method
    closing: int  # 1: the error estimate needs the derivative at the new state
    # blocks of floats
    y: int  # state, state after the step, state inside the step, permitted errors, scales
    new: int
    trial: int
    permitted: int
    scale: int
    K: int
    inner: int
    x: int  # full row, outputs of any kernel, mechanism row (the same without extra states), workspace
    out: int
    m: int
    work: int
    spare: int  # rates of extra states that are not used
    turned: int  # angles after the step
    g: int  # watched functions after and before the step, at any state, where in the step they cross zero
    g_before: int
    g_now: int
    theta: int
    last_theta: int  # the same, also of those reported
    corners: int  # times at which steps end, then infinity
    stop_rows: int  # of `stop_rests`: values, k, rows of all stops; responses, their matrix, its diagonal; pushes, efforts set aside, ends
    responses: int
    W: int
    diagonal: int
    push: int
    effort: int
    end: int
    outward: int  # 1 or -1: the side of each end
    resting_rates: int  # derivative at a state whose pushes are read
    a: int  # the method's table
    c: int
    error: int
    dense: int
    gamma: int  # and of a Rosenbrock method, with J, its factors, and df/dt
    coupling: int
    slope: int
    J: int
    lu: int
    by_time: int
    # blocks of whole numbers
    side: int  # sign a watched function had last
    direction: int
    terminal: int
    again: int  # steps in a row that a switching function ended at once, and steps in which it is left alone for that
    loose: int
    sign_before: int  # while looking along a step: its last sign, and how often that changed
    crossings: int
    unit: int  # where quaternions start
    resting: int  # places of the ends that hold among the stops
    pivot: int  # rows exchanged in the factors


def blocks(problem: Problem, table: Tableau) -> dict[str, int]:
    """Sizes of the blocks of floats."""
    n, width = problem.n, len(table.c)
    kernels = list(_kernels(problem))
    n_g = len(problem.event_specs) + problem.n_switches
    sizes = dict.fromkeys(("y", "new", "trial", "permitted", "scale"), n)
    sizes |= {"K": width * n, "inner": (4 + len(table.dense)) * n}
    sizes |= {"x": n + 1 + len(problem.parameters), "out": max(k.n_out for k in kernels)}
    sizes |= {"m": n - problem.nx + 1 + len(problem.parameters), "work": max(k.workspace for k in kernels)}
    sizes |= {"spare": problem.nx, "turned": problem.n_near, "g": n_g, "g_before": n_g, "g_now": n_g, "theta": n_g, "last_theta": n_g}
    sizes |= {"corners": len(problem.corners) + 1}
    rests, nv = len(problem.rests), problem.nv
    sizes |= {"stop_rows": problem.n_stops * (2 + nv) if rests else 0, "responses": rests * (problem.nq + nv + 1), "W": rests * rests}
    sizes |= dict.fromkeys(("diagonal", "push", "end", "outward"), rests)
    sizes |= {"effort": nv if rests else 0, "resting_rates": n if rests else 0}
    sizes |= {"a": width * width, "c": width, "error": table.error.size, "dense": table.dense.size}
    sizes |= {"gamma": 1, "coupling": table.coupling.size, "slope": len(table.slope)}
    implicit = int(table.gamma > 0.0)
    return sizes | {"J": implicit * n * n, "lu": implicit * n * n, "by_time": implicit * n}


def _kernels(problem: Problem) -> Iterator[Any]:
    for kernel in (
        problem.rates,
        problem.project,
        problem.gap,
        problem.inputs,
        problem.events,
        problem.sampler,
        problem.turns,
        problem.switches,
        problem.stops,
        problem.response,
    ):
        if kernel is not None:
            yield kernel
            if kernel.backup is not None:
                yield kernel.backup


def layout(problem: Problem, table: Tableau, slots: list[Any], sampled: bool) -> tuple[MemoryPlan, np.ndarray, np.ndarray]:
    """The plan and its two arrays, with table, scales, parameters and events filled in."""
    project, inputs, n_s = problem.project, problem.inputs, problem.n_switches
    n_g = len(problem.event_specs) + n_s
    starts: dict[str, int] = {}
    free = rounded(REALS)
    for name, size in blocks(problem, table).items():
        starts[name] = free
        free = rounded(free + size)
    if problem.nx == 0:
        starts["m"] = starts["x"]
    numbers = {"side": COUNTS, "direction": COUNTS + n_g, "terminal": COUNTS + 2 * n_g, "again": COUNTS + 3 * n_g}
    for name, before in (("loose", "again"), ("sign_before", "loose"), ("crossings", "sign_before"), ("unit", "crossings")):
        numbers[name] = numbers[before] + n_s
    numbers["resting"] = numbers["unit"] + len(problem.quaternions)
    numbers["pivot"] = numbers["resting"] + len(problem.rests)
    plan = MemoryPlan(
        *slots,
        backed=int(problem.rates.backup is not None),
        projects=0 if project is None else 1 + int(project.backup is not None),
        once=int(problem.project_once),
        often=problem.project_every,
        gated=int(problem.gap is not None),
        refuses=int(problem.project_refuses),
        driven=0 if inputs is None else 1 + int(inputs.backup is not None),
        moved=int(problem.inputs_move and inputs is not None),
        ticking=int(problem.sampler is not None),
        responds=0 if problem.response is None else 1 + int(problem.response.backup is not None),
        sampled=int(sampled),
        n=problem.n,
        nq=problem.nq,
        nm=problem.nq + problem.nv,
        counted=problem.n - problem.n_power,
        judged=problem.n if problem.power_judged else problem.n - problem.n_power,
        n_u=problem.n_u,
        n_held=problem.n_held,
        n_near=problem.n_near,
        near=1 + problem.near_at,
        tail=1 + len(problem.parameters) - n_s - problem.n_held,
        sides=1 + len(problem.parameters) - n_s,
        n_events=n_g - n_s,
        n_watched=n_g,
        n_unit=len(problem.quaternions),
        n_stops=problem.n_stops,
        n_rests=len(problem.rests),
        stages=table.stages,
        width=len(table.c),
        n_error=len(table.error),
        n_dense=len(table.dense),
        implicit=int(table.gamma > 0.0),
        closing=int(table.error[:, table.stages].any()),
        **starts,
        **numbers,
    )
    floats = aligned(free)
    for at, values in (
        (plan.scale, np.ones(plan.n) if problem.scale is None else problem.scale),
        (plan.x + plan.n + 1, problem.parameters),
        (plan.m + plan.nm + 1, problem.parameters),
        (plan.corners, (*problem.corners, np.inf)),
        (plan.end, [e.at for e in problem.rests]),
        (plan.outward, [e.side for e in problem.rests]),
        (plan.a, table.a.ravel()),
        (plan.c, table.c),
        (plan.error, table.error.ravel()),
        (plan.dense, table.dense.ravel()),
        (plan.gamma, (table.gamma,)),
        (plan.coupling, table.coupling.ravel()),
        (plan.slope, table.slope),
        (EXPONENT, (table.exponent, table.shrink, table.grow, table.safety)),
        (ABOVE, (problem.project_above,)),
    ):
        floats[at : at + len(values)] = values
    counts = np.zeros(plan.pivot + plan.implicit * plan.n, dtype=np.int64)
    counts[plan.direction : plan.direction + plan.n_events] = [e.direction for e in problem.event_specs]
    counts[plan.terminal : plan.terminal + plan.n_events] = [int(e.terminal) for e in problem.event_specs]
    counts[plan.unit : plan.resting] = problem.quaternions
    counts[plan.resting : plan.pivot] = [e.row for e in problem.rests]
    return plan, floats, counts


def rounded(n: int) -> int:
    """Blocks start on cache lines, as kernels with vectors want it."""
    return (n + 7) // 8 * 8


def aligned(n: int) -> np.ndarray:
    """n zeros that start on a cache line."""
    raw = np.zeros(n + 8)
    first = (-raw.ctypes.data // 8) % 8
    return raw[first : first + n]
