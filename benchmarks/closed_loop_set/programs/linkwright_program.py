"""Linkwright on the set: `s.simulate`, `s.forward` and `s.inverse`, each call timed as a user makes it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.bench.clocks import best_call
from benchmarks.closed_loop_set.cases import Case, Task
from benchmarks.closed_loop_set.mechanism import built, efforts, measured
from benchmarks.closed_loop_set.programs import NotOffered, linkwright_geometry
from benchmarks.closed_loop_set.programs.linkwright_geometry import timed
from benchmarks.closed_loop_set.results import Answer
from linkwright import __version__
from linkwright.drives import torque
from linkwright.errors import SimulationError
from linkwright.results.state import State

PROGRAM = "Linkwright"
TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12)


def version() -> str:
    return __version__


def free_motion(case: Case, task: Task, quick: bool) -> list[Answer]:
    """Simulate at several tolerances."""
    system, state = built(case)
    end = float(task.given["time"])
    drive = {name: torque(value) for name, value in efforts(case).items()}
    out: list[Answer] = []
    failed = ""
    for tolerance in TOLERANCES[1:2] if quick else TOLERANCES:

        def call(tolerance: float = tolerance) -> Any:
            return system.simulate(state, end, drive=drive, tolerance=tolerance, sample_interval=[end], progress=False)

        try:
            values = measured(task, call().state(-1))
        except SimulationError as problem:
            reason = f"tolerance {tolerance:g}: {str(problem).partition(':')[2].strip() or problem}"
            failed = f"{failed}; {reason}" if failed else reason
            continue
        out.append(Answer(case.name, task.id, f"tolerance {tolerance:g}", values, timed(call, quick), failed and f"fails at {failed}"))
        failed = ""
    if not out:
        raise NotOffered(f"fails at {failed}")
    if failed:
        out[-1] = replace(out[-1], note="; ".join(x for x in (out[-1].note, f"fails at {failed}") if x))
    return out


def accelerations(case: Case, task: Task, quick: bool) -> list[Answer]:
    """Solve for the accelerations of the start."""
    system, state = built(case)
    tau = efforts(case)
    values = measured(task, system.forward(state, tau).st)
    out = [Answer(case.name, task.id, "s.forward", values, timed(lambda: system.forward(state, tau).a, quick))]
    if quick:
        return out
    kernel, given = system.kernel("forward"), np.zeros(system.tree.nv)
    for name, value in tau.items():
        given[system.names.v.index(name)] = value
    a = np.ravel(kernel(state.q, state.v, given).a)
    values = measured(task, State(state.skel, state.q, state.v, state.references, 0.0, a))
    seconds = best_call(lambda: kernel(state.q, state.v, given), 0.2) / 1e9
    return [*out, Answer(case.name, task.id, 's.kernel("forward")', values, seconds)]


def inverse_dynamics(case: Case, task: Task, quick: bool) -> list[Answer]:
    """Solve for the efforts of joints that follow given accelerations."""
    system, state = built(case)
    given = {name: float(a) for name, a in task.given["accelerations"].items()}

    def call() -> Any:
        return system.inverse(state, given, drives=list(given))

    return [Answer(case.name, task.id, "s.inverse", measured(task, state, call()), timed(call, quick))]


def joint_forces(case: Case, task: Task, quick: bool) -> list[Answer]:
    """Solve for the reactions at the start, under the forces of the case."""
    system, state = built(case)
    tau = efforts(case)

    def call() -> Any:
        return system.inverse(state, system.forward(state, tau).a, drives=list(tau))

    return [Answer(case.name, task.id, "s.forward, s.inverse", measured(task, state, call()), timed(call, quick))]


KINDS = {
    "free motion": free_motion,
    "accelerations": accelerations,
    "inverse dynamics": inverse_dynamics,
    "joint forces": joint_forces,
    **linkwright_geometry.KINDS,
}
