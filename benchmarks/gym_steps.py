"""Environment steps of the native vector environment beside the bare stepper, Gymnasium's loop over single environments, and MuJoCo.

    python -m benchmarks.gym_steps [-n 1024] [-o gym-benchmark.csv]

One thread each, in one process and in turns, by processor time; best of several rounds. An environment step is dt of the task in its
substeps (five-bar: 20 ms in four steps of rk4); a timed call is one episode of every environment with its reset. The share of the
environment is 1 - bare / vector: torques from actions, channels, observations, rewards, ends and new episodes. MuJoCo does as many steps
of the same length (implicitfast) by `mujoco.rollout`, without observations and rewards. It has no servos, so BipedWalk is left out there;
`python -m benchmarks.contact_rollouts` compares steps with contact.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from gymnasium.vector import SyncVectorEnv

from benchmarks.bench import machine_info, table
from benchmarks.bench.cases import BenchRow, Contender
from benchmarks.bench.clocks import seconds_of
from benchmarks.mujoco_loop import small_model
from benchmarks.workshop import version
from linkwright.rings.control.gym.limits import action_map
from linkwright.rings.control.gym.registration import found
from linkwright.rings.control.gym.task import Task
from linkwright.rings.control.gym.tasks import TASKS

LOOPED = 8  # single environments in Gymnasium's loop
ROUNDS = 7
SINGLE, VECTOR, BARE, PEER = "Gymnasium SyncVectorEnv", "vector environment", "bare stepper", "MuJoCo rollout"


def actions(task: Task, n: int) -> np.ndarray:
    """(steps, n, actions): those that hold the start, and random ones, so that episodes end by time."""
    act, system = action_map(task), task.system
    held = system.start if task.servo else system.inverse(system.start, drives=list(act.names)).tau  # set-points or torques
    hold = (np.array([float(held[name]) for name in act.names]) - act.center) / act.half
    random = np.random.default_rng(0).uniform(-0.2, 0.2, (task.steps, n, len(act.names)))
    return (hold + random).astype(np.float32)


def vector(task: Task, n: int) -> Callable[[], Any]:
    """Steps of the native vector."""
    envs, given = task.vector(n, threads=1), actions(task, n)

    def call() -> None:
        envs.reset(seed=0)
        for a in given:
            envs.step(a)

    return call


def bare(task: Task, n: int) -> Callable[[], Any]:
    """The same steps by `s.stepper` alone, from the same starts."""
    envs = task.vector(n, threads=1)
    stepper, efforts = envs.episodes.stepper, []
    step = stepper.step

    def noted(tau: np.ndarray, **options: Any) -> None:
        efforts.append(tau.copy())
        step(tau, **options)

    envs.reset(seed=0)
    q, v = stepper.q.copy(), stepper.v.copy()
    with patch.object(stepper, "step", noted):  # efforts of servos follow from the motion
        for a in actions(task, n):
            envs.step(a)

    def call() -> None:
        stepper.reset(None, q, v)
        for tau in efforts:
            stepper.step(tau)

    return call


def looped(task: Task, n: int) -> Callable[[], Any]:
    """Gymnasium's own vector over single environments."""
    envs, given = SyncVectorEnv([task.env] * n), actions(task, n)

    def call() -> None:
        envs.reset(seed=0)
        for a in given:
            envs.step(a)

    return call


def mujocos(task: Task, n: int) -> Callable[[], Any]:
    """Steps of the same length by `mujoco.rollout`."""
    system: Any = task.system
    case: Any = SimpleNamespace(system=system, state=system.start, tau={})
    model, data, _ = small_model(case, task.seconds / task.substeps)
    mujoco: Any = import_module("mujoco")
    rollout: Any = import_module("mujoco.rollout")
    full, kind = mujoco.mjtState.mjSTATE_FULLPHYSICS, int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    start = np.zeros((n, mujoco.mj_stateSize(model, full)))
    mujoco.mj_getState(model, data, start[0], full)
    start[:] = start[0]
    efforts = np.zeros((n, task.steps * task.substeps, model.nv))
    columns = [int(model.joint(name).dofadr[0]) for name in task.act]
    given = action_map(task)
    efforts[..., columns] = np.repeat((given.center + given.half * actions(task, n)).transpose(1, 0, 2), task.substeps, axis=1)
    states, sensors = np.zeros((*efforts.shape[:2], start.shape[1])), np.zeros((*efforts.shape[:2], model.nsensordata))
    worker, roller = mujoco.MjData(model), rollout.Rollout(nthread=0)
    return partial(roller.rollout, model, [worker], start, efforts, control_spec=kind, state=states, sensordata=sensors)


def contenders(name: str, n: int) -> list[Contender]:
    """All that take turns on one task."""
    task = found(name).with_(done=None)  # episodes end by time, as those of a policy that has learned
    if task.servo:
        task = task.with_(horizon="1 s")  # nobody keeps its balance longer
    made = {BARE: (bare, n), VECTOR: (vector, n), SINGLE: (looped, LOOPED)}
    if find_spec("mujoco") is not None and task.system.description.planar and not task.servo:
        made[PEER] = (mujocos, n)
    note = f"{1e3 * task.seconds:g} ms in {task.substeps} steps, one thread"
    out = []
    for engine, (make, count) in made.items():
        call = make(task, count)
        call()
        row = BenchRow(engine, version("mujoco" if engine == PEER else "linkwright"), name, f"environment step of {count}", note=note)
        out.append(Contender(row, lambda _, call=call, count=count: 1e9 * seconds_of(call) / (task.steps * count)))
    return out


def measured(names: list[str], n: int, rounds: int) -> list[BenchRow]:
    """Best of the rounds; ratios to the bare stepper."""
    rows = []
    for name in names:
        these = contenders(name, n)
        best = [min(x) for x in zip(*([c.run(0.0) for c in these] for _ in range(rounds)), strict=True)]
        rows += [replace(c.timed(ns), ratio=ns / best[0]) for c, ns in zip(these, best, strict=True)]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Steps of learning environments, beside the bare stepper and MuJoCo.")
    parser.add_argument("tasks", nargs="*", help=f"default: {', '.join(TASKS)}")
    parser.add_argument("-n", type=int, default=1024, help="environments")
    parser.add_argument("-o", "--output", help="a CSV file")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    rows = measured(given.tasks or list(TASKS), given.n, given.rounds)
    if given.output:
        table.write_csv(rows, machine_info.machine(), given.output)
    for r in rows:
        share = f", {1.0 - 1.0 / r.ratio:.0%} for the environment" if r.engine == VECTOR and r.ratio else ""
        rate = f"{1e9 / (r.ns or np.nan):12,.0f} environment steps/s, {r.ratio:6.2f} x bare"
        print(f"{r.mechanism:16} {r.engine:24} {rate}{share}  ({r.note})")


if __name__ == "__main__":
    main()
