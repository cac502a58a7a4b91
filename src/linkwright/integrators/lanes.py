"""Batches that run in lockstep, and a block of eight runs as its thread sees it; the loops are in `lockstep`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from linkwright.compiler import native_loops
from linkwright.compiler.records import ALL_LANES as LANES
from linkwright.integrators import lockstep
from linkwright.integrators import memory_layout as mem
from linkwright.integrators.lockstep import RECORD, Eight
from linkwright.integrators.problem import Problem, Tableau
from linkwright.integrators.run_queue import RunBatch

LEAST = 6  # runs of a block: with fewer, lanes that repeat a run cost more than they save
FEWEST_RUNS = 4  # for every thread: eight in lockstep take as long as two to four alone, and fewer leave threads without work
FEWEST_STEPS = 32  # of a run
STEPS_FOR_LANES = 50_000  # steps of all runs: below, making and loading the code may take longer than the runs
_COUNTED = {mem.PROJECTIONS: lockstep.CALLS, mem.FALLBACKS: lockstep.BACKED}
_WORST = {mem.WORST_VELOCITY: lockstep.VELOCITY, mem.WORST_CORRECTION: lockstep.CORRECTION, mem.WORST_POSITION: lockstep.POSITION}


def suits(problem: Problem, table: Tableau, runs: int, threads: int, duration: float, step: float | None) -> bool:
    """True if runs can share their clock (fixed steps, nothing but rates and projection), have the code, and are worth it."""
    others = problem.inputs, problem.events, problem.sampler, problem.turns, problem.switches, problem.gap
    plain = problem.nx == 0 and all(k is None for k in others)
    coded = all(k.eight is not None for k in (problem.rates, problem.project) if k is not None)
    explicit = len(table.error) == 0 and table.gamma == 0.0 and len(table.dense) == 0 and len(table.c) == table.stages + 1
    if not (plain and coded and explicit) or step is None or runs < max(LEAST, FEWEST_RUNS * threads):
        return False
    steps = duration / step
    return steps >= FEWEST_STEPS and runs * steps >= STEPS_FOR_LANES


class LaneBlock:
    """Memory of eight runs at a time, beside that of a thread (plan, floats, counts) whose clock and scalar loop they use."""

    def __init__(
        self,
        problem: Problem,
        plan: mem.MemoryPlan,
        floats: np.ndarray,
        counts: np.ndarray,
        out: mem.Output,
        runs: RunBatch,
        scalar: Callable[[int], int],
    ):
        self.plan, self.floats, self.counts, self.runs, self.samples, self.scalar = plan, floats, counts, runs, len(out.samples), scalar
        self.e, size = _layout(problem, plan, runs.parameters.shape[1])
        self.g = mem.aligned(size)
        self.d = np.zeros(lockstep.SAVED + mem.COUNTS, dtype=np.int64)
        arguments = (plan, self.e, floats, counts, self.g, self.d, out)
        self.call: Callable[[], int] = native_loops.native(lockstep.lockstep, arguments, lanes=True).bound(*arguments)

    def lanes(self, first: int, entries: int) -> np.ndarray:
        return self.g[first : first + LANES * entries].reshape(entries, LANES)

    def work(self, first: int, count: int, timed: Callable[..., int], singly: Callable[[int, int], Iterator[None]]) -> Iterator[None]:
        """Runs first to first + count, with a pause now and then. They stay together until one of them ends before the others."""
        self._begin(first, count)
        while True:
            code = timed(self.call, self.d[lockstep.BUDGET : lockstep.TASK], LANES)
            if code == lockstep.ALONE:
                code = self._alone(first, count)
                if code == lockstep.ALONE:
                    break
            self._store(first, count, code)
            if code != mem.RUNNING:
                return
            yield
        for lane in range(count):
            self._load(first, lane)
            yield from singly(first + lane, first + lane + 1)

    def _begin(self, first: int, count: int) -> None:
        which = first + np.minimum(np.arange(LANES), count - 1)
        r, n, most = self.runs, self.plan.n, self.counts[mem.MOST]
        self.counts[: mem.COUNTS] = 0
        self.counts[mem.MOST] = most
        self.floats[: mem.REALS] = r.fresh
        self.lanes(self.e.y, n)[:] = r.starts[which].T
        self.lanes(self.e.x + LANES * (n + 1), self.e.n_parameters)[:] = r.parameters[which].T
        self.lanes(self.e.record, RECORD)[:] = 0.0
        self.d[[lockstep.FIRST, lockstep.COUNT]] = first, count

    def _alone(self, first: int, count: int) -> int:
        """One step of every run by itself; their common outcome, or ALONE where they part."""
        codes = set()
        for lane in range(LANES):
            if lane < count:
                self._load(first, lane)
                codes.add(self.scalar(first + lane))
            self._task(lockstep.TAKE, lane)
        if len(codes) > 1 or codes & {mem.RUNNING, mem.FINISHED} == set():
            return lockstep.ALONE
        self.counts[mem.ROWS] -= (first + count - 1) * self.samples
        self._task(lockstep.COMMIT, 0)
        return codes.pop()

    def _load(self, first: int, lane: int) -> None:
        self._task(lockstep.LOAD, lane)
        self.counts[mem.ROWS] += (first + lane) * self.samples

    def _task(self, task: int, lane: int) -> None:
        self.d[lockstep.TASK] = task
        self.d[lockstep.LANE] = lane
        self.call()
        self.d[lockstep.TASK] = lockstep.MARCH

    def _store(self, first: int, count: int, code: int) -> None:
        """How far the runs came and how; see `run_queue.store`."""
        r, k, record = self.runs, slice(first, first + count), self.lanes(self.e.record, RECORD)[:, :count]
        r.codes[k], r.final[k] = code, -1
        r.counts[k] = self.counts[: mem.COUNTS]
        for place, row in _COUNTED.items():
            r.counts[k, place] = record[row]
        r.reals[k] = self.floats[: mem.REALS]
        for place, row in _WORST.items():
            r.reals[k, place] = record[row]
        r.ends[k] = self.lanes(self.e.y, self.plan.n)[:, :count].T


def _layout(problem: Problem, plan: mem.MemoryPlan, parameters: int) -> tuple[Eight, int]:
    """Kernels, and where blocks start; the work of eight-lane code is aligned as all blocks are."""
    kernels = [k for k in (problem.rates, problem.project) if k is not None]
    codes = [k.eight() for k in kernels if k.eight is not None]
    sizes = dict.fromkeys(("y", "new", "trial"), LANES * plan.n)
    sizes |= {"K": LANES * (plan.stages + 1) * plan.n, "inner": 3 * LANES * plan.n, "x": LANES * (plan.n + 1 + parameters)}
    sizes |= {"out": LANES * max(k.n_out for k in kernels), "work": max(work for _, work in codes)}
    sizes |= dict.fromkeys(("active", "residual", "before"), LANES) | dict.fromkeys(("record", "saved"), RECORD * LANES)
    sizes |= {"clock": mem.REALS}
    starts, free = {}, 0
    for name, size in sizes.items():
        starts[name] = free
        free = mem.rounded(free + size)
    return Eight(codes[0][0], codes[-1][0], **starts, n_parameters=parameters), free
