"""Least assembly gaps of designs, eight positions of the drives at a time: kernel `gap_step` with a position in each lane.

Damped Newton steps, accepted where the gap becomes smaller, or its slope at the same gap: then the damping falls to a fifth, else it
grows eight times and the step is taken again from where it began. A lane ends when it is closed, when the slope is at round-off, or when
no step makes the gap smaller.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.lane_loops import LANES, LaneLoop, padded
from linkwright.compiler.native_loops import evaluate
from linkwright.kernels.kernel import Kernel
from linkwright.numerics.tolerances import CLOSED_FLOOR

DAMPING, SMALLEST, LARGEST = 1e-3, 1e-14, 1e8  # at the beginning, and within which it stays
EASED, RAISED = 0.2, 8.0
MOST = 120  # evaluations of a position
LEVEL = 1e-13  # share of a gap that is round-off: where it is level, steps that halve the slope count
FLAT = 1e-14  # slope, against the gap times the characteristic length
FIRST, COUNT = 0, 1
ROUGH_NS = 2000.0  # of one position, for the choice of threads


class GapPlan(NamedTuple):
    """Eight-lane kernels by address, sizes, and places in the floats; every entry has eight lanes. -1: not an input."""

    step: Any
    slopes: Any
    nq: int
    nd: int
    near: int
    free: int
    kappa: float
    x: int  # inputs of `gap_step`: q, drive, damping, near, free
    at_damping: int
    at_near: int
    at_free: int
    y: int  # outputs: q, square, slope
    at_square: int
    at_slope: int
    z: int  # inputs of the derivatives: q, drive, weight, near, free
    at_weight: int
    z_near: int
    z_free: int
    u: int  # outputs: square, gradient
    at_gradient: int
    best: int  # q accepted last
    least: int  # gap there
    steep: int  # and its slope
    active: int
    again: int  # 1: the evaluation was made again from the accepted q
    w: int


def settle_lanes(plan: GapPlan, g: np.ndarray) -> None:
    """Least gaps of the eight positions in the row; q in `best`, G in `least`."""
    flat, closed = FLAT * plan.kappa, 0.5 * (CLOSED_FLOOR * plan.kappa) * (CLOSED_FLOOR * plan.kappa)
    for l in range(LANES):
        g[plan.active + l] = 1.0
        g[plan.again + l] = 0.0
        g[plan.least + l] = math.inf
        g[plan.steep + l] = math.inf
        g[plan.at_damping + l] = DAMPING
    for _ in range(MOST):
        evaluate(plan.step, g, plan.x, plan.y, plan.w, 1)
        more = 0.0
        for l in range(LANES):
            if g[plan.active + l] > 0.0:
                square, slope, damping = g[plan.at_square + l], g[plan.at_slope + l], g[plan.at_damping + l]
                level = square <= g[plan.least + l] * (1.0 + LEVEL) and slope < 0.5 * g[plan.steep + l]
                better = square < g[plan.least + l] * (1.0 - LEVEL) or level
                if better:
                    g[plan.least + l] = square
                    g[plan.steep + l] = slope
                    for i in range(plan.nq):
                        g[plan.best + LANES * i + l] = g[plan.x + LANES * i + l]
                end = damping > LARGEST or g[plan.least + l] <= closed
                end = end or (better and slope <= flat * math.sqrt(2.0 * square))
                if end:
                    g[plan.active + l] = 0.0
                elif better or g[plan.again + l] > 0.0:  # the step found here is the next trial
                    if better:
                        g[plan.at_damping + l] = max(SMALLEST, EASED * damping)
                    g[plan.again + l] = 0.0
                    for i in range(plan.nq):
                        g[plan.x + LANES * i + l] = g[plan.y + LANES * i + l]
                    more += 1.0
                else:  # no better: a shorter step from the best place
                    g[plan.at_damping + l] = RAISED * damping
                    g[plan.again + l] = 1.0
                    for i in range(plan.nq):
                        g[plan.x + LANES * i + l] = g[plan.best + LANES * i + l]
                    more += 1.0
        if more == 0.0:
            return


def gap_lanes(
    plan: GapPlan,
    g: np.ndarray,
    d: np.ndarray,
    start: np.ndarray,
    references: np.ndarray,
    drive: np.ndarray,
    free: np.ndarray,
    squares: np.ndarray,
    slopes: np.ndarray,
    q: np.ndarray,
) -> int:
    """Positions of designs from those in `start` (entries, padded positions), of all designs or of each; drive likewise."""
    every, own, each = start.shape[1], 1 if len(drive) > plan.nd else 0, 1 if len(start) > plan.nq else 0
    for e in range(d[FIRST], d[FIRST] + d[COUNT]):
        for i in range(plan.free):
            for l in range(LANES):
                if plan.at_free >= 0:
                    g[plan.at_free + LANES * i + l] = free[e, i]
                if plan.z_free >= 0:
                    g[plan.z_free + LANES * i + l] = free[e, i]
        for k in range(0, every, 8):
            for i in range(plan.nq):
                for l in range(LANES):
                    g[plan.x + LANES * i + l] = start[each * e * plan.nq + i, k + l]
            for i in range(plan.nd):
                for l in range(LANES):
                    g[plan.x + LANES * (plan.nq + i) + l] = drive[own * e * plan.nd + i, k + l]
                    g[plan.z + LANES * (plan.nq + i) + l] = drive[own * e * plan.nd + i, k + l]
            for i in range(plan.near):
                for l in range(LANES):
                    if plan.at_near >= 0:
                        g[plan.at_near + LANES * i + l] = references[i, k + l]
                    if plan.z_near >= 0:
                        g[plan.z_near + LANES * i + l] = references[i, k + l]
            settle_lanes(plan, g)
            for i in range(plan.nq):
                for l in range(LANES):
                    g[plan.z + LANES * i + l] = g[plan.best + LANES * i + l]
                    q[e * plan.nq + i, k + l] = g[plan.best + LANES * i + l]
            for l in range(LANES):
                g[plan.at_weight + l] = 1.0
                squares[e, k + l] = g[plan.least + l]
            evaluate(plan.slopes, g, plan.z, plan.u, plan.w, 1)
            for i in range(plan.free):
                for l in range(LANES):
                    slopes[e * plan.free + i, k + l] = g[plan.at_gradient + LANES * i + l]
    return 1


class LaneGaps:
    """Least gaps of designs of one mechanism at so many positions: kernels `gap_step` and `gap`, the latter differentiated."""

    def __init__(self, step: Kernel, slopes: Kernel, kappa: float, positions: int):
        self.positions = positions
        self.plan, size = _layout(step, slopes, kappa)
        self._loop = LaneLoop(gap_lanes, self.plan, size)

    def __call__(
        self, start: np.ndarray, references: np.ndarray, drive: np.ndarray, free: np.ndarray, cores: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """G (designs, positions), its derivatives (designs, numbers, positions), and q (designs, entries, positions).

        start (entries, positions) and drive (drives, positions), or with an axis of designs in front; references: of the model.
        """
        plan, n, every = self.plan, len(free), padded(self.positions)

        def wide(x: np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(np.pad(x.reshape(-1, self.positions), ((0, 0), (0, every - self.positions)), "edge"))

        squares, slopes, q = np.empty((n, every)), np.empty((n * plan.free, every)), np.empty((n * plan.nq, every))
        arrays = (wide(start), wide(references), wide(drive), np.ascontiguousarray(free), squares, slopes, q)
        self._loop(n, (), arrays, n * every * ROUGH_NS, cores)
        some = slice(0, self.positions)
        return squares[:, some], slopes.reshape(n, plan.free, every)[..., some], q.reshape(n, plan.nq, every)[..., some]


def _layout(step: Kernel, slopes: Kernel, kappa: float) -> tuple[GapPlan, int]:
    """Places of all blocks, and how many floats they take."""
    a, b = step.code, slopes.code
    ins, outs, zins, zouts = ({x.name: x for x in blocks} for blocks in (a.inputs, a.outputs, b.inputs, b.outputs))
    nq, nd, free = outs["q"].size, ins["drive"].size, zouts["free_gradient"].size
    near = max((x[n].size for x in (ins, zins) for n in x if n == "near"), default=0)
    sizes = {"x": a.n_in, "y": a.n_out, "z": b.n_in, "u": b.n_out, "best": nq, "least": 1, "steep": 1, "active": 1, "again": 1}
    places, at = {}, 0
    for name, n in sizes.items():
        places[name], at = at, at + LANES * n

    def place(first: str, blocks: dict[str, Any], name: str) -> int:
        return places[first] + LANES * blocks[name].start if name in blocks else -1

    known = {"at_damping": ("x", ins, "damping"), "at_near": ("x", ins, "near"), "at_free": ("x", ins, "free")}
    known |= {"at_square": ("y", outs, "square"), "at_slope": ("y", outs, "slope"), "at_weight": ("z", zins, "square_weight")}
    known |= {"z_near": ("z", zins, "near"), "z_free": ("z", zins, "free"), "at_gradient": ("u", zouts, "free_gradient")}
    found = {key: place(*x) for key, x in known.items()}
    plan = GapPlan(a.aosoa_address, b.aosoa_address, nq, nd, near, free, kappa, w=at, **places, **found)
    return plan, at + max(a.work("many"), b.work("many"))
