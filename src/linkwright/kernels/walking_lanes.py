"""Walking eight designs at a time along their loops: the loop of `walking` with a design in each lane of kernel `walk`.

    walk = LaneWalking(kernel, samples=361, most=64)
    begin = walk.begun(...)                    positions of designs by continuation of their numbers
    rows, reached = walk(begin, t, laws, free)  designs that stop are left to `walking`, which halves its steps

Every lane stops its Newton steps when it is closed, as `walking.walk` does, so its numbers do not depend on the designs beside it.
Steps are those of the samples, of equal length: where a lane would have to halve one, it says how far it came.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import native, python_loops, threads
from linkwright.compiler.lane_loops import LANES, corrected
from linkwright.compiler.python_loops import evaluate
from linkwright.kernels.kernel import Kernel
from linkwright.kernels.walking import CLOSED, DONE, FAR, GOOD_ENOUGH, LONGEST, MOST

HOMOTOPY = (1, 4, 16, 64)  # steps from the numbers of one design to those of another, as many as are needed
SHORT = 1e-5  # rad or m that Newton may move in any case: where a drive starts from rest, the predictor does not see it yet
ROUGH_NS = 200.0  # of one sample of a design, for the choice of threads
FIRST, COUNT = 0, 1  # entries of the whole numbers: the first design of the block, and how many lanes have one of their own


class LanePlan(NamedTuple):
    """The eight-lane kernel by address, sizes, and places in the floats; every entry has eight lanes."""

    walk: Any
    nq: int
    nv: int
    nd: int
    near: int
    free: int
    x: int  # row of the kernel's inputs: q, drive, speed, acceleration, near, free
    at_near: int  # places in it; -1: not an input
    at_free: int
    y: int
    w: int
    newest: int
    second: int
    third: int
    step: int  # time from sample to sample, for every entry of q
    active: int  # 1 while a lane's Newton steps continue
    good: int  # 1 until a lane stops
    before: int  # residual of the last Newton step
    reach: int  # how far a Newton step may go
    side: int  # determinant at the first sample
    from_drive: int  # beginning and end of a homotopy: drives, free numbers
    to_drive: int
    from_free: int
    to_free: int


def close_lanes(plan: LanePlan, g: np.ndarray) -> None:
    """Newton steps of all lanes at the row's drives, each as many as it needs; see `walking.closed`. Lanes that stay open are not good."""
    at = plan.y + LANES * (2 * plan.nq + 2 * plan.nv + plan.near)
    for l in range(LANES):
        g[plan.active + l] = g[plan.good + l]
        g[plan.before + l] = math.inf
    for _ in range(MOST):
        evaluate(plan.walk, g, plan.x, plan.y, plan.w, 1)
        more = 0.0
        for l in range(LANES):
            if g[plan.active + l] > 0.0:
                residual, moved = g[at + l], g[at + LANES + l]
                bad = not (g[at + 3 * LANES + l] > 0.0 and moved <= g[plan.reach + l] and residual < math.inf)
                if bad or g[at + 2 * LANES + l] * g[plan.side + l] < 0.0:
                    g[plan.active + l] = 0.0
                    g[plan.good + l] = 0.0
                elif residual <= CLOSED or (residual < GOOD_ENOUGH and residual > 0.5 * g[plan.before + l]):
                    g[plan.active + l] = 0.0
                else:
                    g[plan.before + l] = residual
                    more += 1.0
        if more == 0.0:
            return
        corrected(g, plan.x, plan.y, plan.nq, plan.active)
    for l in range(LANES):
        if g[plan.active + l] > 0.0:
            g[plan.good + l] = 0.0


def references_on(plan: LanePlan, g: np.ndarray) -> None:
    """Coordinates of the cut joints just found become the references of the next position."""
    if plan.at_near >= 0:
        for i in range(LANES * plan.near):
            g[plan.at_near + i] = g[plan.y + LANES * (2 * plan.nq + 2 * plan.nv) + i]


def reach_lanes(plan: LanePlan, g: np.ndarray, d: np.ndarray) -> int:
    """From the numbers of a design that is closed in the row to those of every lane, in d[0] equal steps, on the same branch."""
    at = plan.y + LANES * (2 * plan.nq + 2 * plan.nv + plan.near)
    for l in range(LANES):
        g[plan.good + l] = 1.0
        g[plan.reach + l] = FAR
        g[plan.side + l] = 0.0
    for s in range(d[0] + 1):
        share = s / d[0]
        for i in range(LANES * plan.nd):
            g[plan.x + LANES * plan.nq + i] = (1.0 - share) * g[plan.from_drive + i] + share * g[plan.to_drive + i]
        for i in range(LANES * plan.free):
            g[plan.at_free + i] = (1.0 - share) * g[plan.from_free + i] + share * g[plan.to_free + i]
        close_lanes(plan, g)
        if s == 0:
            for l in range(LANES):
                g[plan.side + l] = g[at + 2 * LANES + l]
        references_on(plan, g)
    return DONE


def predict_lanes(plan: LanePlan, g: np.ndarray, k: int) -> None:
    """q of sample k from the samples before it, and how far Newton's steps may go from there; see `walking.predict`."""
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
        far = 0.0
        for i in range(plan.nq):
            far = max(far, abs(g[plan.x + LANES * i + l] - g[plan.newest + LANES * i + l]))
        if not far < LONGEST:
            g[plan.good + l] = 0.0
        g[plan.reach + l] = FAR * far + SHORT


def walk_lanes(plan: LanePlan, g: np.ndarray, d: np.ndarray, laws: np.ndarray, t: np.ndarray, rows: np.ndarray, reached: np.ndarray) -> int:
    """All samples of eight designs; laws (samples, 24 drives), t (samples, 8); rows: samples of design after design."""
    n, width = len(t), plan.nq + 2 * plan.nv + plan.near + 1
    last = LANES * (2 * plan.nq + 2 * plan.nv + plan.near)
    for l in range(LANES):
        g[plan.good + l] = 1.0
        g[plan.reach + l] = FAR
        g[plan.side + l] = 0.0
    for i in range(plan.nq):
        for l in range(LANES):
            g[plan.step + LANES * i + l] = t[1, l] - t[0, l] if n > 1 else 0.0
    for k in range(n):
        for i in range(3 * LANES * plan.nd):
            g[plan.x + LANES * plan.nq + i] = laws[k, i]
        if k > 0:
            predict_lanes(plan, g, k)
        close_lanes(plan, g)
        going = 0.0
        for l in range(LANES):
            if k == 0:
                g[plan.side + l] = g[plan.y + last + 2 * LANES + l]
            going += g[plan.good + l]
        if going == 0.0:
            return DONE
        for l in range(d[COUNT]):
            if g[plan.good + l] > 0.0:
                at = (d[FIRST] + l) * n + k
                reached[d[FIRST] + l] = k + 1
                for i in range(plan.nq):
                    rows[at, i] = g[plan.x + LANES * i + l]
                for i in range(2 * plan.nv + plan.near):
                    rows[at, plan.nq + i] = g[plan.y + LANES * (2 * plan.nq + i) + l]
                rows[at, width - 1] = g[plan.y + last + 2 * LANES + l]
        for i in range(2 * LANES * plan.nq):
            g[plan.third + i] = g[plan.second + i]
            g[plan.second + i] = g[plan.newest + i]
        for i in range(LANES * plan.nq):
            g[plan.newest + i] = g[plan.x + i]
            g[plan.newest + LANES * plan.nq + i] = g[plan.y + LANES * plan.nq + i]
        references_on(plan, g)
    return DONE


class Beginnings(NamedTuple):
    """Positions at which walks of designs begin, one row each, and the mask of those that are closed."""

    q: np.ndarray
    v: np.ndarray
    references: np.ndarray
    ok: np.ndarray


class Homotopy(NamedTuple):
    """Positions, references of cut joints, drives and free numbers from which designs are reached, and their own drives and free numbers:
    one row for each design, or one for all. Drives move at `speed`."""

    q: np.ndarray
    references: np.ndarray
    from_drive: np.ndarray
    to_drive: np.ndarray
    speed: np.ndarray
    from_free: np.ndarray
    to_free: np.ndarray


class WalkWorker(NamedTuple):
    """Memory of a thread: blocks of lanes, whole numbers, laws and times, and the calls bound to them."""

    memory: LaneMemory
    d: np.ndarray
    laws: np.ndarray
    t: np.ndarray
    reach: Callable[[], int]
    walk: Callable[[], int]


class LaneWalking:
    """Walks of designs of one mechanism, at most so many at a time: kernel `walk`, whose input `free` holds the numbers that differ.

    Its memory serves one call after the other; a result is valid until the next.
    """

    def __init__(self, kernel: Kernel, samples: int, most: int):
        self.kernel, self.samples, self.most = kernel, samples, most
        self.plan, self._size = _layout(kernel)
        self.width = self.plan.nq + 2 * self.plan.nv + self.plan.near + 1  # numbers of a sample: q, v, a, references, determinant
        self._rows, self._reached = np.empty((most * samples, self.width)), np.zeros(most, dtype=np.int64)
        self._idle: list[WalkWorker] = []

    def _worker(self) -> WalkWorker:
        try:
            return self._idle.pop()  # not asked first: another thread may take the last one in between
        except IndexError:
            return self._made()

    def _made(self) -> WalkWorker:
        plan, g, d = self.plan, native.aligned(self._size)[0], np.zeros(2, dtype=np.int64)
        laws, t = np.empty((self.samples, 3 * LANES * plan.nd)), np.empty((self.samples, LANES))
        reach, walk = (plan, g, d), (plan, g, d, laws, t, self._rows, self._reached)
        calls = (python_loops.native(f, x, lanes=True).bound(*x) for f, x in ((reach_lanes, reach), (walk_lanes, walk)))
        return WalkWorker(LaneMemory(g), d, laws, t, *calls)

    def begun(self, way: Homotopy, cores: int | None = None) -> Beginnings:
        """Positions of all designs from others that are closed."""
        plan, n = self.plan, len(way.to_free)
        rows = Homotopy(*(np.broadcast_to(x, (n, x.shape[-1])) for x in way))
        out = Beginnings(np.empty((n, plan.nq)), np.empty((n, plan.nv)), np.empty((n, plan.near)), np.zeros(n, dtype=bool))
        for steps in HOMOTOPY:
            left = np.flatnonzero(~out.ok)

            def reach(first: int, count: int, left: np.ndarray = left, steps: int = steps) -> None:
                w = self._worker()
                for at in range(first, first + count, LANES):
                    self._reach(w, left[at : min(at + LANES, first + count)], steps, rows, out)
                self._idle.append(w)

            if len(left):
                threads.share(reach, len(left), len(left) * steps * ROUGH_NS, cores)
        return out

    def _reach(self, w: WalkWorker, which: np.ndarray, steps: int, way: Homotopy, out: Beginnings) -> None:
        """Up to eight designs in so many steps."""
        plan, memory = self.plan, w.memory
        eight, m = which[np.minimum(np.arange(LANES), len(which) - 1)], len(which)
        memory.put(plan.x, way.q[eight].T)
        memory.put(plan.x + LANES * (plan.nq + plan.nd), way.speed[eight].T)
        memory.put(plan.x + LANES * (plan.nq + 2 * plan.nd), np.zeros((plan.nd, 1)))
        memory.put(plan.from_drive, way.from_drive[eight].T)
        memory.put(plan.to_drive, way.to_drive[eight].T)
        if plan.at_near >= 0:
            memory.put(plan.at_near, way.references[eight].T)
        if plan.free:
            memory.put(plan.from_free, way.from_free[eight].T)
            memory.put(plan.to_free, way.to_free[eight].T)
        w.d[0] = steps
        w.reach()
        out.ok[which] = memory.get(plan.good, 1)[0, :m] > 0.0
        out.q[which] = memory.get(plan.x, plan.nq)[:, :m].T
        out.v[which] = memory.get(plan.y + LANES * 2 * plan.nq, plan.nv)[:, :m].T
        out.references[which] = memory.get(plan.y + LANES * (2 * plan.nq + 2 * plan.nv), plan.near)[:, :m].T

    def __call__(
        self, begin: Beginnings, t: np.ndarray, laws: np.ndarray, free: np.ndarray, cores: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Samples of all designs, (designs, samples, width), and how many of each are known; t (samples,) and laws (samples, 3 drives), or
        with an axis of designs in front."""
        plan, n, shared = self.plan, len(begin.q), laws.ndim == 2
        self._reached[:] = 0

        def run(first: int, count: int) -> None:
            w = self._worker()
            if shared:
                w.laws[...], w.t[...] = np.repeat(laws, LANES, axis=1), t[:, None]
            for at in range(first, first + count, LANES):
                eight = np.minimum(np.arange(at, at + LANES), first + count - 1)
                if not shared:
                    w.laws.reshape(self.samples, -1, LANES)[...], w.t[...] = laws[eight].transpose(1, 2, 0), t[eight].T
                w.memory.put(plan.x, begin.q[eight].T)
                if plan.at_near >= 0:
                    w.memory.put(plan.at_near, begin.references[eight].T)
                if plan.free:
                    w.memory.put(plan.at_free, free[eight].T)
                w.d[:] = at, min(LANES, first + count - at)
                w.walk()
            self._idle.append(w)

        threads.share(run, n, n * self.samples * ROUGH_NS, cores)
        return self._rows[: n * self.samples].reshape(n, self.samples, self.width), self._reached[:n]


class LaneMemory:
    """Blocks of a lane memory as (entries, lanes)."""

    def __init__(self, g: np.ndarray):
        self.g = g

    def put(self, first: int, values: np.ndarray) -> None:
        """Values of entries from a place on, (entries, lanes) or (entries, 1)."""
        self.g[first : first + LANES * len(values)].reshape(-1, LANES)[...] = values

    def get(self, first: int, entries: int) -> np.ndarray:
        """View of so many entries from a place on."""
        return self.g[first : first + LANES * entries].reshape(entries, LANES)


def _layout(kernel: Kernel) -> tuple[LanePlan, int]:
    """Places of all blocks, and how many floats they take; all start on eight of them, as the work of eight-lane code has to."""
    code = kernel.code
    ins, outs = ({b.name: b for b in blocks} for blocks in (code.inputs, code.outputs))
    nq, nv, near = outs["q"].size, outs["v"].size, outs["near"].size if "near" in outs else 0
    nd, free = ins["drive"].size, ins["free"].size if "free" in ins else 0
    sizes = {"x": code.n_in, "y": code.n_out, "newest": 2 * nq, "second": 2 * nq, "third": 2 * nq, "step": nq}
    sizes |= dict.fromkeys(("active", "good", "before", "reach", "side"), 1)
    sizes |= {"from_drive": nd, "to_drive": nd, "from_free": free, "to_free": free}
    places, at = {}, 0
    for name, n in sizes.items():
        places[name], at = at, at + LANES * n
    at_near, at_free = (places["x"] + LANES * ins[b].start if b in ins else -1 for b in ("near", "free"))
    plan = LanePlan(code.aosoa_address, nq, nv, nd, near, free, at_near=at_near, at_free=at_free, w=at, **places)
    return plan, at + code.work("many")
