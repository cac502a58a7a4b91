"""Loads of eight designs at a time along their motions: kernel `loads` with a design in each lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import native, python_loops, threads
from linkwright.compiler.lane_loops import LANES
from linkwright.compiler.python_loops import evaluate
from linkwright.kernels.kernel import Kernel
from linkwright.kernels.walking import DONE
from linkwright.kernels.walking_lanes import COUNT, FIRST, ROUGH_NS, LaneMemory

Terms = Sequence[tuple[str, int, float]]  # of a column: output of the kernel, entry, factor


class LoadPlan(NamedTuple):
    """The eight-lane kernel by address, sizes, and places in the floats; every entry has eight lanes."""

    loads: Any
    state: int  # q, v, a
    near: int
    x: int
    at_near: int  # places in the row of inputs; -1: not an input
    at_t: int
    at_free: int
    y: int
    at_margin: int
    sums: int  # of a column
    w: int


def load_lanes(
    plan: LoadPlan,
    g: np.ndarray,
    d: np.ndarray,
    rows: np.ndarray,
    t: np.ndarray,
    ends: np.ndarray,
    places: np.ndarray,
    factors: np.ndarray,
    out: np.ndarray,
    bad: np.ndarray,
) -> int:
    """All samples of eight designs, from rows (q, v, a, references) design after design and t (samples, 8), into `out` (columns, rows).

    A column is the sum of outputs at `places`, times `factors`, up to ends[column].
    """
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
        first = 0
        for i in range(len(ends)):
            at, factor, place = d[FIRST] * n + k, factors[first], plan.y + places[first]
            if ends[i] == first + 1:
                for l in range(LANES):
                    out[i, at + l * n] = factor * g[place + l]
            else:
                for l in range(LANES):
                    g[plan.sums + l] = factor * g[place + l]
                for j in range(first + 1, ends[i]):
                    for l in range(LANES):
                        g[plan.sums + l] += factors[j] * g[plan.y + places[j] + l]
                for l in range(LANES):
                    out[i, at + l * n] = g[plan.sums + l]
            first = ends[i]
        for l in range(LANES):
            bad[d[FIRST] + l] += 0 if g[plan.at_margin + l] > 0.0 else 1
    return DONE


class LoadWorker(NamedTuple):
    """Memory of a thread, and the call bound to it."""

    memory: LaneMemory
    d: np.ndarray
    t: np.ndarray
    run: Callable[[], int]


class LaneLoads:
    """Loads of designs of one mechanism, at most so many at a time: kernel `loads`, whose input `free` holds the numbers that differ.

    `columns` are what is recorded. Its memory serves one call after the other; a result is valid until the next.
    """

    def __init__(self, kernel: Kernel, samples: int, most: int, columns: Sequence[Terms]):
        self.kernel, self.samples, self.most = kernel, samples, -(-most // LANES) * LANES
        self.plan, self._size = _layout(kernel)
        starts = {b.name: b.start for b in kernel.code.outputs}
        terms = [x for column in columns for x in column]
        self._ends = np.cumsum([len(x) for x in columns], dtype=np.int64)
        self._places = np.array([LANES * (starts[block] + i) for block, i, _ in terms], dtype=np.int64)
        self._factors = np.array([x for _, _, x in terms], dtype=float)
        self._out, self._bad = np.empty((len(columns), self.most * samples)), np.zeros(self.most, dtype=np.int64)
        self._idle: dict[int, list[LoadWorker]] = {}  # by the address of the rows

    def _worker(self, rows: np.ndarray) -> LoadWorker:
        """A worker for these rows: the memory of a walk, the same from call to call."""
        try:
            return self._idle.setdefault(rows.ctypes.data, []).pop()  # not asked first: another thread may take the last one in between
        except IndexError:
            return self._made(rows)

    def _made(self, rows: np.ndarray) -> LoadWorker:
        plan, g, d, t = self.plan, native.aligned(self._size)[0], np.zeros(2, dtype=np.int64), np.empty((self.samples, LANES))
        arguments = (plan, g, d, rows, t, self._ends, self._places, self._factors, self._out, self._bad)
        return LoadWorker(LaneMemory(g), d, t, python_loops.native(load_lanes, arguments, lanes=True).bound(*arguments))

    def __call__(self, rows: np.ndarray, t: np.ndarray, free: np.ndarray, cores: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Columns (columns, designs, samples), and the mask of designs some of whose samples have no answer.

        rows: (designs, samples, q v a references ...); t (samples,), or (designs, samples).
        """
        plan, (n, samples, width) = self.plan, rows.shape
        if n > self.most or samples != self.samples:
            raise ValueError(f"{n} designs of {samples} samples where there is memory for {self.most} of {self.samples}")
        flat = rows.reshape(n * samples, width)
        self._bad[:] = 0

        def run(first: int, count: int) -> None:
            w = self._worker(flat)
            if t.ndim == 1:
                w.t[...] = t[:, None]
            for at in range(first, first + count, LANES):
                eight = np.minimum(np.arange(at, at + LANES), first + count - 1)
                if t.ndim > 1:
                    w.t[...] = t[eight].T
                if plan.at_free >= 0:
                    w.memory.put(plan.at_free, free[eight].T)
                w.d[:] = at, min(LANES, first + count - at)
                w.run()
            self._idle[flat.ctypes.data].append(w)

        threads.share(run, n, n * samples * ROUGH_NS, cores)
        out = self._out[:, : n * samples].reshape(-1, n, samples)
        return out, (self._bad[:n] > 0) | ~np.isfinite(out).all(axis=(0, 2))


def _layout(kernel: Kernel) -> tuple[LoadPlan, int]:
    """Places of all blocks, and how many floats they take."""
    code = kernel.code
    ins, outs = ({b.name: b for b in blocks} for blocks in (code.inputs, code.outputs))
    y, sums, w = (LANES * n for n in (code.n_in, code.n_in + code.n_out, code.n_in + code.n_out + 1))
    at = {f"at_{name}": LANES * ins[name].start if name in ins else -1 for name in ("near", "t", "free")}
    state, near = sum(ins[name].size for name in ("q", "v", "a")), ins["near"].size if "near" in ins else 0
    plan = LoadPlan(code.aosoa_address, state, near, x=0, y=y, at_margin=y + LANES * outs["margin"].start, sums=sums, w=w, **at)
    return plan, w + code.work("many")
