"""Exudyn on the set: implicit trapezoidal steps with constraints on velocity level, by its fastest linear solver."""

from __future__ import annotations

from benchmarks import exudyn_steps
from benchmarks.closed_loop_set.cases import Case, Task
from benchmarks.closed_loop_set.mechanism import bench_case
from benchmarks.closed_loop_set.programs.stepping import LARGE, stepped
from benchmarks.closed_loop_set.results import Answer
from benchmarks.steppers import needed
from linkwright.results.state import State

PROGRAM = "Exudyn"
STEPS = (2_000, 20_000)


def version() -> str:
    return needed("exudyn", "exudyn")


def free_motion(case: Case, task: Task, quick: bool) -> list[Answer]:
    bench = bench_case(case)
    planar = bench.system.description.planar
    large = len(case.raw["bodies"]) > LARGE
    first = float(task.given["time"]) / STEPS[-1]
    quickest = exudyn_steps.Way("EigenSparse" if large else "EigenDense", True)
    way = quickest if quick or large else exudyn_steps.fastest(bench, first)

    def run(step: float, steps: int) -> tuple[float, State]:
        seconds, built = exudyn_steps.run(bench, steps, step, way)
        q, v = exudyn_steps.angles(bench, built) if planar else exudyn_steps.coordinates(bench, built)
        return seconds, bench.system.state(q, v)

    return stepped(case, task, STEPS, quick, run, f"trapezoidal, index 2, {way.solver}", turns=planar)


KINDS = {"free motion": free_motion}
REASONS = {
    "accelerations": "gives no accelerations as a function of a state",
    "inverse dynamics": "gives no efforts as a function of a state",
    "joint forces": "gives no joint forces as a function of a state",
}
