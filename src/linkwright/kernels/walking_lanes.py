"""Walking eight designs at a time along their loops: the loop of `walking` with a design in each lane of kernel `walk`.

    LaneWalking(kernel)(starts, laws, t, free, rows)      designs that stop are left to `walking`, which halves its steps

Every lane does the operations of `walking.walk` in their order and stops its Newton steps when it is closed, so its numbers do not depend on
the designs beside it. Steps are those of the samples: where a lane would have to halve one, it says how far it came.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import native, python_loops, threads
from linkwright.compiler.python_loops import evaluate
from linkwright.kernels.kernel import Kernel
from linkwright.kernels.walking import CLOSED, DONE, FAR, GOOD_ENOUGH, LAWS, LONGEST, MOST

LANES = 8
HOMOTOPY = (1, 4, 16, 64)  # steps from the numbers of one design to those of another, as many as are needed
SHORT = 1e-5  # rad or m that Newton may move in any case: where a drive starts from rest, the predictor does not see it yet
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
    """Newton steps of all lanes at the row's drives, each as many as it needs; see `walking.closed`. Lanes that do not close are not good."""
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
        for i in range(plan.nq):
            for l in range(LANES):
                old, new = g[plan.x + LANES * i + l], g[plan.y + LANES * i + l]
                g[plan.x + LANES * i + l] = new if g[plan.active + l] > 0.0 else old
    for l in range(LANES):
        if g[plan.active + l] > 0.0:
            g[plan.good + l] = 0.0


def references_on(plan: LanePlan, g: np.ndarray) -> None:
    """Coordinates of the cut joints just found become the references of the next position."""
    if plan.at_near >= 0:
        for i in range(LANES * plan.near):
            g[plan.at_near + i] = g[plan.y + LANES * (2 * plan.nq + 2 * plan.nv) + i]


def reach_lanes(plan: LanePlan, g: np.ndarray, steps: int) -> int:
    """From the numbers of a design that is closed in the row to those of every lane, in equal steps, on the same branch."""
    at = plan.y + LANES * (2 * plan.nq + 2 * plan.nv + plan.near)
    for l in range(LANES):
        g[plan.good + l] = 1.0
        g[plan.reach + l] = FAR
        g[plan.side + l] = 0.0
    for s in range(steps + 1):
        share = s / steps
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


def predict_lanes(plan: LanePlan, g: np.ndarray, k: int, t: np.ndarray) -> None:
    """q of sample k from the samples before it, and how far Newton's steps may go from there; see `walking.predict`."""
    for l in range(LANES):
        g[plan.reach + l] = 0.0
    for i in range(plan.nq):
        for l in range(LANES):
            at = LANES * i + l
            h = t[k, l] - t[k - 1, l]
            q0, d0 = g[plan.newest + at], h * g[plan.newest + LANES * plan.nq + at]
            new = q0 + d0
            if k == 2:
                q1, d1 = g[plan.second + at], h * g[plan.second + LANES * plan.nq + at]
                new = 5.0 * q1 - 4.0 * q0 + 2.0 * d1 + 4.0 * d0
            elif k > 2:
                q1, d1 = g[plan.second + at], h * g[plan.second + LANES * plan.nq + at]
                q2, d2 = g[plan.third + at], h * g[plan.third + LANES * plan.nq + at]
                new = 10.0 * q2 + 9.0 * q1 - 18.0 * q0 + 3.0 * d2 + 18.0 * d1 + 9.0 * d0
            g[plan.x + at] = new
            g[plan.reach + l] = max(g[plan.reach + l], abs(new - q0))
    for l in range(LANES):
        if not g[plan.reach + l] < LONGEST:
            g[plan.good + l] = 0.0
        g[plan.reach + l] = FAR * g[plan.reach + l] + SHORT


def walk_lanes(
    plan: LanePlan, g: np.ndarray, d: np.ndarray, laws: np.ndarray, t: np.ndarray, rows: np.ndarray, reached: np.ndarray
) -> int:
    """All samples of eight designs; laws (samples, 24 drives), t (samples, 8); rows: samples of design after design."""
    n, width = len(t), plan.nq + 2 * plan.nv + plan.near + 1
    last = LANES * (2 * plan.nq + 2 * plan.nv + plan.near)
    for l in range(LANES):
        g[plan.good + l] = 1.0
        g[plan.reach + l] = FAR
        g[plan.side + l] = 0.0
    for k in range(n):
        for i in range(3 * LANES * plan.nd):
            g[plan.x + LANES * plan.nq + i] = laws[k, i]
        if k > 0:
            predict_lanes(plan, g, k, t)
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
    """Where walks of designs begin, one row each."""

    q: np.ndarray
    references: np.ndarray
    v: np.ndarray
    ok: np.ndarray


class LaneWalking:
    """Walks of many designs of one mechanism: kernel `walk`, whose input `free` holds the numbers that differ."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    @cached_property
    def _layout(self) -> tuple[LanePlan, int]:
        code = self.kernel.code
        ins, outs = ({b.name: b for b in blocks} for blocks in (code.inputs, code.outputs))
        nq, nv, near = outs["q"].size, outs["v"].size, outs["near"].size if "near" in outs else 0
        nd, free = ins["drive"].size, ins["free"].size if "free" in ins else 0
        sizes = {"x": code.n_in, "y": code.n_out, "newest": 2 * nq, "second": 2 * nq, "third": 2 * nq}
        sizes |= dict.fromkeys(("active", "good", "before", "reach", "side"), 1)
        sizes |= {"from_drive": nd, "to_drive": nd, "from_free": free, "to_free": free}
        places, at = {}, 0
        for name, n in sizes.items():
            places[name], at = at, at + LANES * n
        places["w"] = at
        at_near, at_free = (places["x"] + LANES * ins[b].start if b in ins else -1 for b in ("near", "free"))
        plan = LanePlan(code.aosoa_address, nq, nv, nd, near, free, at_near=at_near, at_free=at_free, **places)
        return plan, at + code.work("many")

    @property
    def width(self) -> int:
        """Numbers of a sample: q, v, a, references, determinant."""
        plan = self._layout[0]
        return plan.nq + 2 * plan.nv + plan.near + 1

    def begun(self, q: np.ndarray, references: np.ndarray, drive: Any, free: Any, cores: int | None = None) -> Beginnings:
        """Positions of all designs from one that is closed: drive and free are pairs (of that one, rows of the designs)."""
        plan, size = self._layout
        n = len(free[1])
        out = Beginnings(np.empty((n, plan.nq)), np.empty((n, plan.near)), np.zeros((n, plan.nv)), np.zeros(n, dtype=bool))
        for steps in HOMOTOPY:
            left = np.flatnonzero(~out.ok)
            if len(left):
                self._share(len(left), cores, lambda first, m, left=left, steps=steps: self._reach(q, references, drive, free, left[first : first + m], steps, out))
        return out

    def _reach(self, q: np.ndarray, references: np.ndarray, drive: Any, free: Any, which: np.ndarray, steps: int, out: Beginnings) -> None:
        """Designs with these numbers, eight at a time, in so many steps."""
        plan, size = self._layout
        g = native.aligned(size)[0]
        run = python_loops.native(reach_lanes, (plan, g, steps), lanes=True).bound(plan, g, steps)
        lanes = LaneMemory(g)
        for first in range(0, len(which), LANES):
            mine = which[first : first + LANES]
            eight = mine[np.minimum(np.arange(LANES), len(mine) - 1)]
            lanes.put(plan.x, q[:, None])
            lanes.put(plan.x + LANES * (plan.nq + plan.nd), np.zeros((2 * plan.nd, 1)))
            lanes.put(plan.from_drive, drive[0][:, None])
            lanes.put(plan.to_drive, drive[1][eight].T)
            if plan.at_near >= 0:
                lanes.put(plan.at_near, references[:, None])
            if plan.free:
                lanes.put(plan.from_free, free[0][:, None])
                lanes.put(plan.to_free, free[1][eight].T)
            run()
            m = len(mine)
            good = lanes.get(plan.good, 1)[0, :m] > 0.0
            out.ok[mine] = good
            out.q[mine] = lanes.get(plan.x, plan.nq)[:, :m].T
            out.references[mine] = lanes.get(plan.y + LANES * (2 * plan.nq + 2 * plan.nv), plan.near)[:, :m].T

    def __call__(
        self, begin: Beginnings, t: np.ndarray, laws: np.ndarray, free: np.ndarray, cores: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Samples of all designs, (designs, samples, width), and how many of each are known; t (samples,) and laws (samples, 3 drives), or
        with an axis of designs in front."""
        plan, size = self._layout
        n, samples = len(begin.q), t.shape[-1]
        rows, reached = np.empty((n * samples, self.width)), np.zeros(n, dtype=np.int64)
        shared = laws.ndim == 2

        def run(first: int, count: int) -> None:
            g, d = native.aligned(size)[0], np.zeros(2, dtype=np.int64)
            lanes, law, time = LaneMemory(g), np.empty((samples, 3 * LANES * plan.nd)), np.empty((samples, LANES))
            arguments = (plan, g, d, law, time, rows, reached)
            call: Callable[[], int] = python_loops.native(walk_lanes, arguments, lanes=True).bound(*arguments)
            if shared:
                law[...], time[...] = np.repeat(laws, LANES, axis=1), t[:, None]
            for at in range(first, first + count, LANES):
                eight = np.minimum(np.arange(at, at + LANES), first + count - 1)
                if not shared:
                    law.reshape(samples, -1, LANES)[...], time[...] = laws[eight].transpose(1, 2, 0), t[eight].T
                lanes.put(plan.x, begin.q[eight].T)
                if plan.at_near >= 0:
                    lanes.put(plan.at_near, begin.references[eight].T)
                if plan.free:
                    lanes.put(plan.at_free, free[eight].T)
                d[:] = at, min(LANES, first + count - at)
                call()

        self._share(n, cores, run)
        return rows.reshape(n, samples, self.width), reached

    def _share(self, n: int, cores: int | None, run: Callable[[int, int], None]) -> None:
        threads.share(run, n, n * 1e5, cores)


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
