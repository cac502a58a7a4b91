"""Batches of plain runs of fixed steps, eight at a time; the loops are in `lockstep`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from linkwright.compiler.record_loops import Loop
from linkwright.compiler.records import ALL_LANES as LANES
from linkwright.compiler.records import KernelPlace, Layout
from linkwright.integrators import lockstep
from linkwright.integrators import memory_layout as mem
from linkwright.integrators.problem import Problem, StepKernel, Tableau
from linkwright.integrators.run_queue import RunBatch

LEAST = 6  # runs of a block: with fewer, lanes that repeat a run cost more than they save
FEWEST_RUNS = 4  # for every thread: eight in lockstep take as long as two to four alone, and fewer leave threads without work
FEWEST_STEPS = 32  # of a run
STEPS_FOR_LANES = 50_000  # steps of all runs: below, making and loading the code may take longer than the runs


def suits(problem: Problem, table: Tableau, runs: int, threads: int, duration: float, step: float | None) -> bool:
    """True if runs can share their clock (fixed steps, nothing but rates and projection), have the code, and are worth it."""
    others = problem.inputs, problem.events, problem.sampler, problem.turns, problem.switches, problem.gap
    plain = problem.nx == 0 and len(problem.rests) == 0 and not len(problem.corners) and all(k is None for k in others)
    coded = all(k.eight is not None for k in (problem.rates, problem.project) if k is not None)
    explicit = len(table.error) == 0 and table.gamma == 0.0 and len(table.dense) == 0 and len(table.c) == table.stages + 1
    if not (plain and coded and explicit) or step is None or runs < max(LEAST, FEWEST_RUNS * threads):
        return False
    steps = duration / step
    return steps >= FEWEST_STEPS and runs * steps >= STEPS_FOR_LANES


class LaneBlock:
    """Memory of eight runs at a time, for one thread."""

    def __init__(self, problem: Problem, table: Tableau, plan: mem.MemoryPlan, most: int, out: mem.Output, runs: RunBatch):
        self.runs = runs
        loop = Loop(lockstep.march, _layout(problem, table, plan, runs.parameters.shape[1]))
        loop.fill("a", table.a)
        loop.fill("c", table.c)
        loop.fill("unit", problem.quaternions)
        size, samples = len(runs.starts), len(out.samples)
        rows = out.rows.reshape(size, samples, 1 + plan.n)
        given = (runs.starts, runs.parameters, runs.fresh, out.samples, rows, runs.counts, runs.reals, runs.ends)
        self.call = loop.bound(size, *given, samples, most, False, 0)
        self.first, self.budget = len(given) + 2, len(given) + 3  # places of these arguments
        self.most = np.zeros(1, dtype=np.int64)

    def work(self, first: int, count: int, timed: Callable[..., int]) -> Iterator[None]:
        """Runs first to first + count, with a pause now and then."""
        self.call.number(self.first, True)
        while timed(lambda: self.go(first, count), self.most, LANES) == mem.RUNNING:
            self.call.number(self.first, False)
            yield

    def go(self, first: int, count: int) -> int:
        """Some steps; RUNNING if a run is not at its end."""
        self.call.number(self.budget, int(self.most[0]))
        codes = self.runs.codes[first : first + count]
        codes[:] = self.call(first, count)[first : first + count]
        self.runs.final[first : first + count] = -1
        return mem.RUNNING if (codes == mem.RUNNING).any() else mem.FINISHED


def _layout(problem: Problem, table: Tableau, plan: mem.MemoryPlan, parameters: int) -> Layout:
    """The place of eight runs; the rank-revealing kernels are those of the thread's memory."""
    n, nm = plan.n, plan.nm
    n_in = n + 1 + parameters
    row = {"row": (0, n_in), "state": (0, n), "t": (n, 1), "parameters": (n + 1, parameters)}
    state = {"state": (0, nm), "residual": (nm, 1), "drift": (nm + 1, 1), "correction": (nm + 2, 1)}

    def place(kernel: StepKernel | None, outputs: dict[str, tuple[int, int]]) -> KernelPlace | None:
        if kernel is None or kernel.eight is None:
            return None
        address, work = kernel.eight()
        return KernelPlace(address, row, outputs, n_in, kernel.n_out, work, kernel.address, kernel.workspace)

    def again(kernel: StepKernel | None, address: int, outputs: dict[str, tuple[int, int]]) -> KernelPlace | None:
        if kernel is None or kernel.backup is None:
            return None
        return KernelPlace(0, {"row": (0, n_in)}, outputs, n_in, kernel.backup.n_out, 0, address, kernel.backup.workspace)

    rates = {"rates": (0, n)}
    kernels = {
        "rates": place(problem.rates, rates),
        "project": place(problem.project, state),
        "rates_again": again(problem.rates, plan.rates_again, rates),
        "project_again": again(problem.project, plan.project_again, state),
    }
    sizes = {"counts": mem.COUNTS, "reals": mem.REALS, "n": n, "rows": len(table.c), "n_unit": len(problem.quaternions)}
    sizes |= {key: getattr(plan, key) for key in ("nq", "stages", "backed", "projects", "once", "often")}
    return Layout(lockstep.FixedRun, sizes, kernels, LANES, inputs={"project": "rates"})
