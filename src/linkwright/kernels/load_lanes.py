"""Loads of eight designs at a time along their motions: kernel `loads` with a design in each lane."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import native, python_loops, threads
from linkwright.compiler.python_loops import evaluate
from linkwright.kernels.kernel import Kernel
from linkwright.kernels.walking import DONE
from linkwright.kernels.walking_lanes import COUNT, FIRST, LANES, LaneMemory

ROUGH_NS = 2.0  # of one operation of a sample, for the choice of threads


class LoadPlan(NamedTuple):
    """The eight-lane kernel by address, sizes, and places in the floats; every entry has eight lanes."""

    loads: Any
    state: int  # q, v, a
    near: int
    nu: int  # drive torques and forces, then reactions: what is recorded
    reactions: int
    x: int
    at_near: int  # places in the row of inputs; -1: not an input
    at_t: int
    at_free: int
    y: int
    at_reactions: int
    at_margin: int
    w: int


def load_lanes(
    plan: LoadPlan, g: np.ndarray, d: np.ndarray, rows: np.ndarray, t: np.ndarray, out: np.ndarray, bad: np.ndarray
) -> int:
    """All samples of eight designs: rows (q, v, a, references) and `out` have the samples of design after design; t (samples, 8)."""
    n = len(t)
    for k in range(n):
        for l in range(LANES):
            at = (d[FIRST] + min(l, d[COUNT] - 1)) * n + k
            for i in range(plan.state):
                g[plan.x + LANES * i + l] = rows[at, i]
            if plan.at_near >= 0:
                for i in range(plan.near):
                    g[plan.at_near + LANES * i + l] = rows[at, plan.state + i]
            if plan.at_t >= 0:
                g[plan.at_t + l] = t[k, l]
        evaluate(plan.loads, g, plan.x, plan.y, plan.w, 1)
        for l in range(d[COUNT]):
            at = (d[FIRST] + l) * n + k
            doubt = 0.0
            for i in range(plan.nu):
                out[at, i] = g[plan.y + LANES * i + l]
                doubt += 0.0 * g[plan.y + LANES * i + l]
            for i in range(plan.reactions):
                out[at, plan.nu + i] = g[plan.at_reactions + LANES * i + l]
                doubt += 0.0 * g[plan.at_reactions + LANES * i + l]
            if doubt != 0.0 or not g[plan.at_margin + l] > 0.0:
                bad[d[FIRST] + l] += 1
    return DONE


class LaneLoads:
    """Loads of many designs of one mechanism: kernel `loads`, whose input `free` holds the numbers that differ."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    @cached_property
    def _layout(self) -> tuple[LoadPlan, int]:
        code = self.kernel.code
        ins, outs = ({b.name: b for b in blocks} for blocks in (code.inputs, code.outputs))
        x, y = 0, LANES * code.n_in
        at = {name: x + LANES * ins[name].start if name in ins else -1 for name in ("near", "t", "free")}
        found = {name: y + LANES * outs[name].start for name in ("wrench", "margin")}
        state, near = sum(ins[name].size for name in ("q", "v", "a")), ins["near"].size if "near" in ins else 0
        w = y + LANES * code.n_out
        plan = LoadPlan(
            code.aosoa_address, state, near, outs["u"].size, outs["wrench"].size, x, at["near"], at["t"], at["free"], y,
            found["wrench"], found["margin"], w,
        )  # fmt: skip
        return plan, w + code.work("many")

    def __call__(self, rows: np.ndarray, t: np.ndarray, free: np.ndarray, cores: int | None = None) -> tuple[np.ndarray, ...]:
        """u (designs, samples, drives), reactions (designs, samples, joints, 6) and the number of samples without an answer.

        rows: (designs, samples, q v a references ...); t (samples,), or (designs, samples).
        """
        plan, size = self._layout
        n, samples, width = rows.shape
        flat, out, bad = rows.reshape(n * samples, width), np.empty((n * samples, plan.nu + plan.reactions)), np.zeros(n, dtype=np.int64)

        def run(first: int, count: int) -> None:
            g, d, time = native.aligned(size)[0], np.zeros(2, dtype=np.int64), np.empty((samples, LANES))
            memory, arguments = LaneMemory(g), (plan, g, d, flat, time, out, bad)
            call = python_loops.native(load_lanes, arguments, lanes=True).bound(*arguments)
            time[...] = t[:, None] if t.ndim == 1 else 0.0
            for at in range(first, first + count, LANES):
                eight = np.minimum(np.arange(at, at + LANES), first + count - 1)
                if t.ndim > 1:
                    time[...] = t[eight].T
                if plan.at_free >= 0:
                    memory.put(plan.at_free, free[eight].T)
                d[:] = at, min(LANES, first + count - at)
                call()

        threads.share(run, n, n * samples * self.kernel.operations * ROUGH_NS, cores)
        out = out.reshape(n, samples, -1)
        return out[..., : plan.nu], out[..., plan.nu :].reshape(n, samples, -1, 6), bad
