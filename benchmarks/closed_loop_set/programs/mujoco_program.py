"""MuJoCo on the set: its RK4 steps, all in one call of mj_step; loops are soft, as stiff as the step allows."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks import mujoco_loop
from benchmarks.bench.clocks import best_call, seconds_of
from benchmarks.closed_loop_set.cases import Case, Task
from benchmarks.closed_loop_set.mechanism import bench_case, measured
from benchmarks.closed_loop_set.programs import NotOffered
from benchmarks.closed_loop_set.programs.stepping import stepped
from benchmarks.closed_loop_set.results import Answer
from benchmarks.steppers import needed
from linkwright.results.state import State

PROGRAM = "MuJoCo"
STEPS = (2_000, 20_000, 200_000)


def version() -> str:
    return needed("mujoco", "mujoco")


def free_motion(case: Case, task: Task, quick: bool) -> list[Answer]:
    bench = bench_case(case)
    mujoco: Any = import_module("mujoco")

    def run(step: float, steps: int) -> tuple[float, State]:
        model, data, there = mujoco_loop.small_model(bench, step)
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        T, _ = there.rates(bench.state)
        seconds = seconds_of(lambda: mujoco.mj_step(model, data, steps))
        if data.time < (steps - 0.5) * step or not np.isfinite(data.qpos).all():
            raise NotOffered(f"its motion becomes unstable with steps of {step:g} s")
        return seconds, there.system.state(T.T @ data.qpos, T.T @ data.qvel)

    return stepped(case, task, STEPS, quick, run, "soft loops")


def accelerations(case: Case, task: Task, quick: bool) -> list[Answer]:
    bench = bench_case(case)
    mujoco: Any = import_module("mujoco")
    model, data, there = mujoco_loop.small_model(bench)
    here = there.system.mirror(bench.state) if there.system is not bench.system else bench.state
    state = State(here.skel, here.q, here.v, here.references, 0.0, there.acceleration(bench.state, data.qacc))
    seconds = best_call(lambda: mujoco.mj_forward(model, data), 0.05 if quick else 0.2) / 1e9
    return [Answer(case.name, task.id, "mj_forward", measured(task, state), seconds, "soft loops")]


KINDS = {"free motion": free_motion, "accelerations": accelerations}
REASONS = {
    "inverse dynamics": "its mj_inverse takes soft loops as springs: efforts that hold them rigid are not defined",
    "joint forces": "it gives the soft forces of loop constraints, not those of joints in the tree",
}
