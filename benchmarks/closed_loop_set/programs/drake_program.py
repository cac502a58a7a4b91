"""Drake on the set: MultibodyPlant in discrete time with SAP, whose constraints are the only ones that close loops."""

from __future__ import annotations

from benchmarks import drake_steps
from benchmarks.closed_loop_set.cases import Case, Task
from benchmarks.closed_loop_set.mechanism import bench_case
from benchmarks.closed_loop_set.programs.stepping import stepped
from benchmarks.closed_loop_set.results import Answer
from benchmarks.steppers import needed
from linkwright.results.state import State

PROGRAM = "Drake"
STEPS = (2_000, 20_000)


def version() -> str:
    return needed("pydrake", "drake")


def free_motion(case: Case, task: Task, quick: bool) -> list[Answer]:
    bench = bench_case(case)

    def run(step: float, steps: int) -> tuple[float, State]:
        seconds, q, v = drake_steps.run(bench, drake_steps.model(bench, step), steps, step)
        return seconds, bench.system.state(q, v)

    return stepped(case, task, STEPS, quick, run, "SAP, first order")


KINDS = {"free motion": free_motion}
REASONS = {
    "accelerations": "its constraints hold loops in discrete time only, without accelerations of a state",
    "inverse dynamics": "its inverse dynamics leave constraints out",
    "joint forces": "its constraints hold loops in discrete time only, without forces of a state",
}
