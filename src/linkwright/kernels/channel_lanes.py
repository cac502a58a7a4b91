"""Readings of designs along their motions, eight samples of a design at a time: a kernel of `channel_program` with a sample in each lane.

    read = LaneReading(kernel, samples=361)
    out, bad = read(rows, t, laws, free)         out: (outputs, designs, padded samples), each output in one piece

A design's numbers are put into the lanes once. Results are written where they stay; the last block of a design is padded.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.lane_loops import LANES, LaneLoop, padded
from linkwright.compiler.native_loops import evaluate
from linkwright.compiler.program import Block
from linkwright.kernels.channel_program import GAP
from linkwright.kernels.driven_motion import GOOD_ENOUGH, ORDERS
from linkwright.kernels.kernel import Kernel

FIRST, COUNT, OFFSET, CHECKED = range(4)  # entries of the whole numbers: designs, place of the first in the output, outputs to be finite
ROUGH_NS = 0.06  # of one operation and state


class ReadPlan(NamedTuple):
    """The eight-lane kernel by address, sizes, and places in the floats; every entry has eight lanes. -1: not an input."""

    read: Any
    nq: int
    nd: int
    near: int
    free: int
    outputs: int
    x: int
    at_drive: int
    at_speed: int
    at_acceleration: int
    at_third: int
    at_t: int
    at_near: int
    at_free: int
    y: int
    at_gap: int
    at_margin: int
    w: int


def put_samples(g: np.ndarray, place: int, rows: np.ndarray, row: int, first: int) -> None:
    """Eight samples of a row, from one on, into the lanes of an entry."""
    for l in range(LANES):
        g[place + l] = rows[row, first + l]


def put_laws(plan: ReadPlan, g: np.ndarray, laws: np.ndarray, first: int, k: int) -> None:
    """Drives at eight samples; rows of laws from the first on: values, speeds, accelerations, third derivatives."""
    for i in range(plan.nd):
        if plan.at_drive >= 0:
            put_samples(g, plan.at_drive + LANES * i, laws, first + i, k)
        if plan.at_speed >= 0:
            put_samples(g, plan.at_speed + LANES * i, laws, first + plan.nd + i, k)
        if plan.at_acceleration >= 0:
            put_samples(g, plan.at_acceleration + LANES * i, laws, first + 2 * plan.nd + i, k)
        if plan.at_third >= 0:
            put_samples(g, plan.at_third + LANES * i, laws, first + 3 * plan.nd + i, k)


def troubled(plan: ReadPlan, g: np.ndarray, checked: int) -> int:
    """1 if a lane of the block is not closed, has poor pivots, or an output among those checked that is not finite."""
    out = 0
    for l in range(LANES):
        if not (g[plan.at_margin + l] > 0.0 and g[plan.at_gap + l] <= GOOD_ENOUGH):
            out = 1
    for i in range(LANES * checked):
        if not abs(g[plan.y + i]) <= 1.7976931348623157e308:
            out = 1
    return out


def read_lanes(
    plan: ReadPlan,
    g: np.ndarray,
    d: np.ndarray,
    rows: np.ndarray,
    t: np.ndarray,
    laws: np.ndarray,
    free: np.ndarray,
    skip: np.ndarray,
    stored: np.ndarray,
    out: np.ndarray,
    bad: np.ndarray,
) -> int:
    """All samples of designs, from rows (q and references of a design, entry after entry) and t, laws of all designs or of each;
    `stored` outputs go into rows of `out`."""
    every, own = t.shape[1], 1 if len(t) > 1 else 0
    for e in range(d[FIRST], d[FIRST] + d[COUNT]):
        if skip[e] > 0:
            continue
        if plan.at_free >= 0:
            for i in range(plan.free):
                for l in range(LANES):
                    g[plan.at_free + LANES * i + l] = free[e, i]
        at = (d[OFFSET] + e) * every
        for k in range(0, every, 8):
            for i in range(plan.nq):
                put_samples(g, plan.x + LANES * i, rows, e, every * i + k)
            if plan.at_near >= 0:
                for i in range(plan.near):
                    put_samples(g, plan.at_near + LANES * i, rows, e, every * (plan.nq + i) + k)
            put_laws(plan, g, laws, own * e * ORDERS * plan.nd, k)
            if plan.at_t >= 0:
                put_samples(g, plan.at_t, t, own * e, k)
            evaluate(plan.read, g, plan.x, plan.y, plan.w, 1)
            if troubled(plan, g, d[CHECKED]) > 0:
                bad[e] = 1
            for j in range(len(stored)):
                i = stored[j]
                for l in range(LANES):
                    out[i, at + k + l] = g[plan.y + LANES * i + l]
    return 1


class LaneReading:
    """Readings of designs of one mechanism; its kernel's input `free` holds the numbers that differ."""

    def __init__(self, kernel: Kernel, samples: int, values: int):
        """`values`: entries of the first outputs that have to be finite; derivatives behind them need not be."""
        self.kernel, self.samples, self.values = kernel, samples, values
        self.plan, size = _layout(kernel)
        self._loop = LaneLoop(read_lanes, self.plan, size)
        zeros = set(kernel.code.meta.get("zeros", ()))
        self._stored = np.array([i for i in range(self.plan.outputs) if i not in zeros], dtype=np.int64)

    @property
    def outputs(self) -> tuple[Block, ...]:
        """Blocks of the rows of a result."""
        return tuple(b for b in self.kernel.code.outputs if b.name not in (GAP, "margin"))

    def empty(self, designs: int) -> np.ndarray:
        """Memory for the results of so many designs; outputs that are always zero are not written, and take none."""
        return np.zeros((self.plan.outputs, designs, padded(self.samples)))

    def __call__(
        self,
        rows: np.ndarray,
        t: np.ndarray,
        laws: np.ndarray,
        free: np.ndarray,
        skip: np.ndarray,
        out: np.ndarray,
        offset: int = 0,
        cores: int | None = None,
    ) -> np.ndarray:
        """Fill `out` from design `offset` on; return the mask of the designs some of whose samples have no answer.

        rows: (designs, q references ..., padded samples); t (padded,) and laws (4 drives, padded), or with an axis of designs in front;
        skip: mask of designs to leave out.
        """
        n, every = len(rows), padded(self.samples)
        bad, left = np.zeros(n, dtype=np.int64), np.ascontiguousarray(skip, dtype=np.int64)
        flat, times, law = (np.ascontiguousarray(x) for x in (rows.reshape(n, -1), np.atleast_2d(t), laws.reshape(-1, every)))
        arrays = (flat, times, law, np.ascontiguousarray(free), left, self._stored, out.reshape(len(out), -1), bad)
        expected = n * every * self.kernel.operations * ROUGH_NS
        self._loop(n, (offset, self.values), arrays, expected, cores)
        return bad > 0


def _layout(kernel: Kernel) -> tuple[ReadPlan, int]:
    """Places of all blocks, and how many floats they take."""
    code = kernel.code
    ins, outs = ({b.name: b for b in blocks} for blocks in (code.inputs, code.outputs))
    y, w = LANES * code.n_in, LANES * (code.n_in + code.n_out)
    names = ("drive", "speed", "acceleration", "third", "t", "near", "free")
    at = {f"at_{name}": LANES * ins[name].start if name in ins else -1 for name in names}
    size = {name: ins[name].size if name in ins else 0 for name in names}
    gap, margin = (y + LANES * outs[name].start for name in (GAP, "margin"))
    nd = max(size[name] for name in names[:4])
    outputs = outs[GAP].start
    plan = ReadPlan(
        code.aosoa_address, ins["q"].size, nd, size["near"], size["free"], outputs, 0, y=y, at_gap=gap, at_margin=margin, w=w, **at
    )
    return plan, w + code.work("many")
