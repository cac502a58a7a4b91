"""What programs with fixed steps have in common on the set: numbers of steps, settings, and answers judged by the mechanism's measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

from benchmarks.closed_loop_set.cases import Case, Task
from benchmarks.closed_loop_set.mechanism import measured
from benchmarks.closed_loop_set.programs import NotOffered
from benchmarks.closed_loop_set.results import Answer
from linkwright.results.state import State

LARGE = 30  # bodies from which on only the fewest steps are taken
Run = Callable[[float, int], tuple[float, State]]  # step, number of steps -> processor seconds, state at the end


def stepped(case: Case, task: Task, numbers: Sequence[int], quick: bool, run: Run, note: str = "", turns: bool = True) -> list[Answer]:
    """Return an answer for each number of steps over the task's time with which the program comes to the end.

    `turns` False: whole turns are not counted by the program.
    """
    end = float(task.given["time"])
    few = quick or len(case.raw["bodies"]) > LARGE
    out: list[Answer] = []
    failed: list[str] = []
    for n in numbers[:1] if few else numbers:
        try:
            seconds, state = run(end / n, n)
        except Exception as problem:  # programs fail in ways of their own with steps that are too long
            failed.append(f"{end / n:.3g} s: {str(problem).splitlines()[0] if str(problem) else type(problem).__name__}")
            continue
        values = measured(task, state)
        out.append(Answer(case.name, task.id, f"step {end / n:.3g} s", values if turns else whole_turns(task, values), seconds, note))
    if not out:
        raise NotOffered(f"fails with steps of {'; '.join(failed)}")
    return out


def whole_turns(task: Task, values: dict[str, float]) -> dict[str, float]:
    """Return rotations moved by whole turns to those nearest to the reference: of a program that knows them within one turn only."""
    out: dict[str, Any] = dict(values)
    for q in task.quantities:
        if q.measure and q.measure["what"] == "rotation":
            out[q.name] += 2 * pi * round((q.value - out[q.name]) / (2 * pi))
    return out
