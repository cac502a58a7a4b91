"""Ask programs for all tasks: their answers, and the reason where a program has none."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from benchmarks.bench.cases import Unavailable
from benchmarks.bench.machine_info import machine
from benchmarks.closed_loop_set.cases import Case, Task
from benchmarks.closed_loop_set.programs import NotOffered, program
from benchmarks.closed_loop_set.results import Answer, Refusal, Results

HIDDEN = ("linkwright", "numpy", "scipy", "llvmlite", "pin", "casadi", "mujoco", "exudyn", "drake")  # versions: each in its own file


def asked(name: str, chosen: Sequence[tuple[Case, Task]], *, quick: bool = False, say: Callable[[str], None] = lambda _: None) -> Results:
    """Return what a program answers to each task; `Unavailable` where it is not installed."""
    module = program(name)
    version = module.version()
    answers: list[Answer] = []
    refusals: list[Refusal] = []
    for case, task in chosen:
        found = _answers(module, case, task, quick)
        if isinstance(found, str):
            refusals.append(Refusal(case.name, task.id, found))
            say(f"{module.PROGRAM}: {case.name}, {task.id}: not offered: {found}")
            continue
        answers += found
        for a in found:
            took = "" if a.seconds is None else f", {a.seconds:.3g} s"
            say(f"{module.PROGRAM}: {case.name}, {task.id}, {a.setting}: error {task.error(a.values):.1e}{took}")
    facts = {k: x for k, x in machine().items() if k not in HIDDEN}
    return Results(module.PROGRAM, version, {**facts, "load": load()}, tuple(answers), tuple(refusals))


def _answers(module: object, case: Case, task: Task, quick: bool) -> list[Answer] | str:
    solve = vars(module)["KINDS"].get(task.kind)
    if solve is None:
        return vars(module).get("REASONS", {}).get(task.kind, f"has no function for {task.kind}")
    try:
        found = solve(case, task, quick)
    except (NotOffered, Unavailable) as reason:
        return str(reason)
    except Exception as problem:  # other programs fail in ways of their own; the table says how and the comparison continues
        return f"failed: {type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else 'no message'}"
    wanted = {q.name for q in task.quantities}
    other = next((sorted(wanted ^ set(a.values)) for a in found if set(a.values) != wanted), [])
    return f"gives other values than those asked for: {len(other)} differ, the first is '{other[0]}'" if other else found


def load() -> str:
    """Return the number of processes that wanted a processor in the last minute, where the system knows it."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "not known"


def merged(old: Results | None, new: Results) -> Results:
    """Return new results with those of an older file for tasks that were not asked again."""
    if old is None:
        return new
    again = {(x.case, x.task) for x in (*new.answers, *new.refusals)}
    answers = [a for a in old.answers if (a.case, a.task) not in again]
    refusals = [r for r in old.refusals if (r.case, r.task) not in again]
    machine, version = new.machine, new.version
    if answers:  # times of two runs: dates, loads and versions of both are shown
        machine = {k: _both(old.machine.get(k, ""), new.machine.get(k, "")) for k in {**old.machine, **new.machine}}
        version = _both(old.version, new.version)
    return Results(new.program, version, machine, (*answers, *new.answers), (*refusals, *new.refusals))


def _both(old: str, new: str) -> str:
    """Return both texts where they differ; runs are listed in their order."""
    return old if new in ("", *old.split("; ")) else f"{old}; {new}" if old else new
