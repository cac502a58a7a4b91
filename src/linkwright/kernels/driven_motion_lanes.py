"""Walking eight designs at a time along their loops: the loop of `driven_motion.walk` with a design in each lane of kernel `stride`.

    walk = LaneWalking(kernel, samples=361)
    begin = walk.begun(...)                     positions of designs by continuation of their numbers
    rows, reached = walk(begin, t, laws, parameters)  designs that stop are left to `walk`, which halves its steps

Every lane stops its Newton steps when it is closed, as `driven_motion.walk` does, so its numbers do not depend on the designs beside it.
Where Newton moves by less than the root of round-off, the step is the last one: what is left of it is of second order. Steps are those of
the samples, of equal length: where a lane would have to halve one, it says how far it came.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.lane_loops import LANES, LaneLoop, corrected, padded
from linkwright.compiler.native_loops import evaluate
from linkwright.kernels.driven_motion import DONE, FAR, GOOD_ENOUGH, LONGEST, MOST, WALK_CLOSED
from linkwright.kernels.kernel import Kernel

HOMOTOPY = (1, 4, 16, 64)  # steps from the numbers of one design to those of another, as many as are needed
SHORT = 1e-5  # rad or m that Newton may move in any case: where a drive starts from rest, the predictor does not see it yet
ONCE = 3e-9  # dimensionless size of a Newton step that is the last one: its square is below round-off
ROUGH_NS = 100.0  # of one sample of a design, for the choice of threads
ORDERS = 4  # rows of laws of a drive: value, speed, acceleration, third derivative
FIRST, COUNT, STEPS = 0, 1, 2  # entries of the whole numbers: the first design and how many there are; steps of a homotopy, or samples


class LanePlan(NamedTuple):
    """The eight-lane kernel by address, sizes, and places in the floats; every entry has eight lanes."""

    walk: Any
    nq: int
    nv: int
    nd: int
    near: int
    parameters: int
    laws: int  # rows of laws that the kernel reads: values, speeds, perhaps accelerations
    x: int  # row of the kernel's inputs: q, drive, speed, acceleration, near, parameters
    at_near: int  # places in it; -1: not an input
    at_parameters: int
    y: int  # outputs: q first
    at_rate: int  # dq/dt
    at_v: int  # -1: not an output
    at_references: int  # coordinates of cut joints; -1
    at_residual: int
    at_moved: int
    at_determinant: int
    at_margin: int
    w: int
    newest: int  # q and dq/dt at the last three points
    second: int
    third: int
    rate: int  # dq/dt, cut joints and determinant where a lane was closed
    counted: int
    determinant: int
    step: int  # time from sample to sample, for every entry of q
    active: int  # 1 while a lane's Newton steps continue
    good: int  # 1 until a lane stops
    before: int  # residual of the last Newton step
    reach: int  # how far a Newton step may go
    side: int  # determinant at the first sample
    once: int  # size of a Newton step that is the last one


def close_lanes(plan: LanePlan, g: np.ndarray) -> None:
    """Newton steps of all lanes at the row's drives, each as many as it needs; see `driven_motion.closed`. Open lanes are not good."""
    for l in range(LANES):
        g[plan.active + l] = g[plan.good + l]
        g[plan.before + l] = math.inf
    for _ in range(MOST):
        evaluate(plan.walk, g, plan.x, plan.y, plan.w, 1)
        retained(g, plan.rate, plan.at_rate, plan.nq, plan.active)
        retained(g, plan.determinant, plan.at_determinant, 1, plan.active)
        if plan.at_references >= 0:
            retained(g, plan.counted, plan.at_references, plan.near, plan.active)
        more, last = 0.0, 0.0
        for l in range(LANES):
            if g[plan.active + l] > 0.0:
                residual, moved = g[plan.at_residual + l], g[plan.at_moved + l]
                bad = not (g[plan.at_margin + l] > 0.0 and moved <= g[plan.reach + l] and residual < math.inf)
                if bad or g[plan.at_determinant + l] * g[plan.side + l] < 0.0:
                    g[plan.active + l] = 0.0
                    g[plan.good + l] = 0.0
                elif residual <= WALK_CLOSED or (residual < GOOD_ENOUGH and residual > 0.5 * g[plan.before + l]):
                    g[plan.active + l] = 0.0
                elif moved <= g[plan.once + l]:
                    g[plan.active + l] = 0.5
                    last += 1.0
                else:
                    g[plan.before + l] = residual
                    more += 1.0
        if more == 0.0 and last == 0.0:
            return
        corrected(g, plan.x, plan.y, plan.nq, plan.active)
        if last > 0.0:
            for l in range(LANES):
                g[plan.active + l] = 0.0 if g[plan.active + l] < 1.0 else 1.0
        if more == 0.0:
            return
    for l in range(LANES):
        if g[plan.active + l] > 0.0:
            g[plan.good + l] = 0.0


def retained(g: np.ndarray, to: int, start: int, entries: int, active: int) -> None:
    """Entries of the lanes whose Newton steps continue, copied to another place."""
    for i in range(entries):
        for l in range(LANES):
            old, new = g[to + LANES * i + l], g[start + LANES * i + l]
            g[to + LANES * i + l] = new if g[active + l] > 0.0 else old


def references_on(plan: LanePlan, g: np.ndarray) -> None:
    """Coordinates of the cut joints just found become the references of the next position."""
    if plan.at_near >= 0 and plan.at_references >= 0:
        for i in range(LANES * plan.near):
            g[plan.at_near + i] = g[plan.counted + i]


def begin_lanes(plan: LanePlan, g: np.ndarray, once: float) -> None:
    """Nothing is known of any lane."""
    for l in range(LANES):
        g[plan.good + l] = 1.0
        g[plan.reach + l] = FAR
        g[plan.side + l] = 0.0
        g[plan.once + l] = once


def put_lane(g: np.ndarray, place: int, rows: np.ndarray, row: int, l: int) -> None:
    """A row of an array, or its only one, as entries of a lane."""
    e = min(row, len(rows) - 1)
    for i in range(rows.shape[1]):
        g[place + LANES * i + l] = rows[e, i]


def reach_lanes(
    plan: LanePlan,
    g: np.ndarray,
    d: np.ndarray,
    which: np.ndarray,
    q: np.ndarray,
    references: np.ndarray,
    from_drive: np.ndarray,
    to_drive: np.ndarray,
    speed: np.ndarray,
    from_parameters: np.ndarray,
    to_parameters: np.ndarray,
    found: np.ndarray,
    ok: np.ndarray,
) -> int:
    """From the numbers of a design that is closed to those of others, in d[STEPS] equal steps, on the same branch.

    found: q, v and references of each.
    """
    block, end = d[FIRST], d[FIRST] + d[COUNT]
    while block < end:
        begin_lanes(plan, g, 0.0)
        for l in range(LANES):
            e = which[min(block + l, end - 1)]
            put_lane(g, plan.x, q, e, l)
            put_lane(g, plan.x + LANES * (plan.nq + plan.nd), speed, e, l)
            for i in range(2 * plan.nd, plan.laws):
                g[plan.x + LANES * (plan.nq + i) + l] = 0.0
            if plan.at_near >= 0:
                put_lane(g, plan.at_near, references, e, l)
        for s in range(d[STEPS] + 1):
            share = s / d[STEPS]
            for l in range(LANES):
                e = which[min(block + l, end - 1)]
                here, there = min(e, len(from_drive) - 1), min(e, len(to_drive) - 1)
                for i in range(plan.nd):
                    g[plan.x + LANES * (plan.nq + i) + l] = (1.0 - share) * from_drive[here, i] + share * to_drive[there, i]
                if plan.at_parameters >= 0:
                    here, there = min(e, len(from_parameters) - 1), min(e, len(to_parameters) - 1)
                    for i in range(plan.parameters):
                        g[plan.at_parameters + LANES * i + l] = (1.0 - share) * from_parameters[here, i] + share * to_parameters[there, i]
            close_lanes(plan, g)
            if s == 0:
                for l in range(LANES):
                    g[plan.side + l] = g[plan.determinant + l]
            references_on(plan, g)
        for l in range(min(LANES, end - block)):
            e = which[block + l]
            ok[e] = 1 if g[plan.good + l] > 0.0 else 0
            for i in range(plan.nq):
                found[e, i] = g[plan.x + LANES * i + l]
            if plan.at_v >= 0:
                for i in range(plan.nv):
                    found[e, plan.nq + i] = g[plan.at_v + LANES * i + l]
            if plan.at_references >= 0:
                for i in range(plan.near):
                    found[e, plan.nq + plan.nv + i] = g[plan.counted + LANES * i + l]
        block += LANES
    return DONE


def predict_lanes(plan: LanePlan, g: np.ndarray, k: int) -> None:
    """q of sample k from the samples before it, and how far Newton's steps may go from there; see `driven_motion.predict`."""
    n = LANES * plan.nq
    if k == 1:
        for i in range(n):
            g[plan.x + i] = g[plan.newest + i] + g[plan.step + i] * g[plan.newest + n + i]
    elif k == 2:
        for i in range(n):
            rate = 2.0 * g[plan.second + n + i] + 4.0 * g[plan.newest + n + i]
            g[plan.x + i] = 5.0 * g[plan.second + i] - 4.0 * g[plan.newest + i] + g[plan.step + i] * rate
    else:
        for i in range(n):
            rate = 3.0 * g[plan.third + n + i] + 18.0 * g[plan.second + n + i] + 9.0 * g[plan.newest + n + i]
            place = 10.0 * g[plan.third + i] + 9.0 * g[plan.second + i] - 18.0 * g[plan.newest + i]
            g[plan.x + i] = place + g[plan.step + i] * rate
    for l in range(LANES):
        g[plan.reach + l] = 0.0
    for i in range(plan.nq):
        for l in range(LANES):
            far = abs(g[plan.x + LANES * i + l] - g[plan.newest + LANES * i + l])
            g[plan.reach + l] = far if far > g[plan.reach + l] else g[plan.reach + l]
    for l in range(LANES):
        far = g[plan.reach + l]
        g[plan.good + l] = g[plan.good + l] if far < LONGEST else 0.0
        g[plan.reach + l] = FAR * far + SHORT
    for i in range(plan.nq):  # a lane that has stopped waits where it is: extrapolated on and on, its q would grow without bound
        for l in range(LANES):
            new, old = g[plan.x + LANES * i + l], g[plan.newest + LANES * i + l]
            g[plan.x + LANES * i + l] = new if g[plan.good + l] > 0.0 else old


def walk_lanes(
    plan: LanePlan,
    g: np.ndarray,
    d: np.ndarray,
    q: np.ndarray,
    references: np.ndarray,
    parameters: np.ndarray,
    laws: np.ndarray,
    t: np.ndarray,
    rows: np.ndarray,
    reached: np.ndarray,
) -> int:
    """d[STEPS] samples of designs; laws (rows of laws, padded samples) and t (1, padded samples) of all, or those of design after design.
    rows: of each design its q, references and determinant, all samples of one entry after the other, the last one up to the padding."""
    n, every, own = d[STEPS], t.shape[1], 1 if len(t) > 1 else 0
    width = plan.nq + plan.near + 1
    block, end = d[FIRST], d[FIRST] + d[COUNT]
    while block < end:
        begin_lanes(plan, g, 0.0)
        for l in range(LANES):
            e = min(block + l, end - 1)
            put_lane(g, plan.x, q, e, l)
            if plan.at_near >= 0:
                put_lane(g, plan.at_near, references, e, l)
            if plan.at_parameters >= 0:
                put_lane(g, plan.at_parameters, parameters, e, l)
            for i in range(plan.nq):
                g[plan.step + LANES * i + l] = t[own * e, 1] - t[own * e, 0] if n > 1 else 0.0
        k, going = 0, 1.0
        while k < n and going > 0.0:
            for l in range(LANES):
                e = own * min(block + l, end - 1) * ORDERS * plan.nd
                for i in range(plan.laws):
                    g[plan.x + LANES * (plan.nq + i) + l] = laws[e + i, k]
            if k > 0:
                predict_lanes(plan, g, k)
            close_lanes(plan, g)
            going = 0.0
            for l in range(LANES):
                if k == 0:
                    g[plan.side + l] = g[plan.determinant + l]
                    g[plan.once + l] = ONCE
                going += g[plan.good + l]
            record_lanes(plan, g, block, min(LANES, end - block), k, every, rows, reached)
            for i in range(2 * LANES * plan.nq):
                g[plan.third + i] = g[plan.second + i]
                g[plan.second + i] = g[plan.newest + i]
            for i in range(LANES * plan.nq):
                g[plan.newest + i] = g[plan.x + i]
                g[plan.newest + LANES * plan.nq + i] = g[plan.rate + i]
            references_on(plan, g)
            k += 1
        for l in range(min(LANES, end - block)):  # the last samples again, up to a multiple of eight
            for i in range(width):
                for k in range(n, every):
                    rows[block + l, every * i + k] = rows[block + l, every * i + n - 1]
        block += LANES
    return DONE


def record_lanes(plan: LanePlan, g: np.ndarray, first: int, count: int, k: int, every: int, rows: np.ndarray, reached: np.ndarray) -> None:
    """Sample k of designs whose lanes are good."""
    for l in range(count):
        if g[plan.good + l] > 0.0:
            reached[first + l] = k + 1
            for i in range(plan.nq):
                rows[first + l, every * i + k] = g[plan.x + LANES * i + l]
            for i in range(plan.near):
                rows[first + l, every * (plan.nq + i) + k] = g[plan.counted + LANES * i + l]
            rows[first + l, every * (plan.nq + plan.near) + k] = g[plan.determinant + l]


class Beginnings(NamedTuple):
    """Positions at which walks of designs begin, one row each, and the mask of those that are closed."""

    q: np.ndarray
    v: np.ndarray
    references: np.ndarray
    ok: np.ndarray


class Homotopy(NamedTuple):
    """Positions, references of cut joints, drives and parameters from which designs are reached, and their own drives and parameters:
    one row for each design, or one for all. Drives move at `speed`."""

    q: np.ndarray
    references: np.ndarray
    from_drive: np.ndarray
    to_drive: np.ndarray
    speed: np.ndarray
    from_parameters: np.ndarray
    to_parameters: np.ndarray


class LaneWalking:
    """Walks of designs of one mechanism: kernel `walk`, `stride` or `counted_stride`, `parameters` are the numbers that differ."""

    def __init__(self, kernel: Kernel, samples: int):
        self.kernel, self.samples = kernel, samples
        self.plan, size = _layout(kernel)
        self._reach, self._walk = LaneLoop(reach_lanes, self.plan, size), LaneLoop(walk_lanes, self.plan, size)

    @property
    def width(self) -> int:
        """Numbers of a sample: q, references, determinant."""
        return self.plan.nq + self.plan.near + 1

    def begun(self, way: Homotopy, cores: int | None = None) -> Beginnings:
        """Positions of all designs from others that are closed."""
        plan, n = self.plan, len(way.to_parameters)
        rows = [np.ascontiguousarray(np.atleast_2d(x), dtype=float) for x in way]
        found, ok = np.empty((n, plan.nq + plan.nv + plan.near)), np.zeros(n, dtype=np.int64)
        for steps in HOMOTOPY:
            left = np.flatnonzero(ok == 0)
            if len(left):
                self._reach(len(left), (steps,), (left, *rows, found, ok), len(left) * steps * ROUGH_NS, cores)
        if plan.near and plan.at_references < 0:
            found[:, plan.nq + plan.nv :] = way.references
        a, b = plan.nq, plan.nq + plan.nv
        return Beginnings(found[:, :a], found[:, a:b], found[:, b:], ok > 0)

    def __call__(
        self, begin: Beginnings, t: np.ndarray, laws: np.ndarray, parameters: np.ndarray, cores: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Samples of all designs, (designs, width, padded samples), and how many of each are known; t (padded samples,) and laws
        (4 drives, padded samples), or with an axis of designs in front."""
        n, every = len(begin.q), padded(self.samples)
        rows, reached = np.empty((n, self.width * every)), np.zeros(n, dtype=np.int64)
        q, references, numbers = (np.ascontiguousarray(x) for x in (begin.q, begin.references, parameters))
        times, law = np.ascontiguousarray(np.atleast_2d(t)), np.ascontiguousarray(laws.reshape(-1, every))
        self._walk(n, (self.samples,), (q, references, numbers, law, times, rows, reached), n * self.samples * ROUGH_NS, cores)
        return rows.reshape(n, self.width, every), reached


def _layout(kernel: Kernel) -> tuple[LanePlan, int]:
    """Places of all blocks, and how many floats they take; all start on eight of them, as the work of eight-lane code has to."""
    code = kernel.code
    ins, outs = ({b.name: b for b in blocks} for blocks in (code.inputs, code.outputs))
    near = next((b.size for b in (*code.inputs, *code.outputs) if b.name == "near"), 0)
    nq, nd, parameters = outs["q"].size, ins["drive"].size, ins["parameters"].size if "parameters" in ins else 0
    sizes = {"x": code.n_in, "y": code.n_out, "newest": 2 * nq, "second": 2 * nq, "third": 2 * nq, "step": nq, "rate": nq}
    sizes |= dict.fromkeys(("active", "good", "before", "reach", "side", "once", "determinant"), 1) | {"counted": near}
    places, at = {}, 0
    for name, n in sizes.items():
        places[name], at = at, at + LANES * n
    before = {f"at_{b}": places["x"] + LANES * ins[b].start if b in ins else -1 for b in ("near", "parameters")}
    named = {"rate": "qdot", "v": "v", "references": "near", **{b: b for b in ("residual", "moved", "determinant", "margin")}}
    after = {f"at_{key}": places["y"] + LANES * outs[b].start if b in outs else -1 for key, b in named.items()}
    laws = sum(ins[b].size for b in ("drive", "speed", "acceleration") if b in ins)
    nv = outs["v"].size if "v" in outs else 0
    plan = LanePlan(code.aosoa_address, nq, nv, nd, near, parameters, laws, w=at, **places, **before, **after)
    return plan, at + code.work("many")
