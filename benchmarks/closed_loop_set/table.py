"""Tables of the set for docs/evidence/closed-loop-set.md: cases, one row a task with a column a program, and every setting.

    python -m benchmarks.closed_loop_set.table

writes the text between `<!-- table: name -->` and `<!-- end -->` again from the files of the set; a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.bench.table import duration
from benchmarks.closed_loop_set import cases as all_cases
from benchmarks.closed_loop_set import results as all_results
from benchmarks.closed_loop_set.cases import Case, Task
from benchmarks.closed_loop_set.results import Answer, Results

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "closed-loop-set.md"
BLOCK = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
EXACT = 1e-16  # errors below are shown as this
ROUNDED = 1e-14  # errors below are rounding of doubles over some hundred operations: none is more exact than another


def main() -> None:
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{PAGE.name}: {PAGE.stat().st_size / 1000:.0f} KB")


def renewed(text: str) -> str:
    """Return the page with its tables made from the files."""
    cases = all_cases.every()
    columns = all_results.every(cases)
    return BLOCK.sub(lambda m: f"{m.group(1)}\n{TABLES[m.group(2)](cases, columns)}\n\n{m.group(3)}", text)


def described(cases: Sequence[Case], columns: Sequence[Results]) -> str:
    """Cases: bodies, joints, tasks."""
    lines = []
    for c in cases:
        sizes = [len(c.raw.get(key, [])) for key in ("bodies", "joints")]
        moves = "" if not sizes[0] else "in a plane" if c.raw.get("plane") else "in space"
        shown = [f"{n}" if n else "" for n in sizes]
        lines.append([f"`{c.name}`", c.title, moves, *shown, ", ".join(f"{t.id} ({t.kind})" for t in c.tasks)])
    return rows(["case", "mechanism", "moves", "bodies", "joints", "tasks"], lines)


def summary(cases: Sequence[Case], columns: Sequence[Results]) -> str:
    """A row a task that any program was asked, a column a program: error and time of its most exact setting."""
    lines = []
    for case in cases:
        for task in case.tasks:
            if not any(r.of(case.name, task.id) or r.why_not(case.name, task.id) for r in columns):
                continue
            ours = [a for r in columns if r.program == "Linkwright" for a in r.of(case.name, task.id)]
            lines.append([f"`{case.name}` {task.id}", *(_cell(r, case, task, ours) for r in columns)])
    return rows(["task", *(f"{r.program} {r.version}" for r in columns)], lines)


def _cell(r: Results, case: Case, task: Task, ours: Sequence[Answer]) -> str:
    answers = r.of(case.name, task.id)
    if not answers:
        return "not offered" if r.why_not(case.name, task.id) else ""
    best = min(answers, key=task_error(task))
    return f"{_error(task, best)}{_time(best, task, () if r.program == 'Linkwright' else ours)}"


def task_error(task: Task) -> Callable[[Answer], float]:
    return lambda a: task.error(a.values)


def _error(task: Task, a: Answer) -> str:
    return f"{max(task.error(a.values), EXACT):.0e}"


def _time(a: Answer, task: Task, ours: Sequence[Answer]) -> str:
    if a.seconds is None:
        return ""
    ratio = over_ours(a, task, ours)
    return f", {duration(1e9 * a.seconds)}{'' if ratio is None else f' ({ratio})'}"


def over_ours(a: Answer, task: Task, ours: Sequence[Answer]) -> str | None:
    """Return the time over that of our fastest setting that is at least as exact; None where there is none."""
    as_exact = [x.seconds for x in ours if x.seconds and task.error(x.values) <= max(task.error(a.values), ROUNDED)]
    return f"{float(f'{a.seconds / min(as_exact):.3g}'):,.10g} x" if as_exact and a.seconds else None


def settings(cases: Sequence[Case], columns: Sequence[Results]) -> str:
    """Every setting: error against time."""
    lines = []
    for case in cases:
        for task in case.tasks:
            ours = [a for r in columns if r.program == "Linkwright" for a in r.of(case.name, task.id)]
            for r in columns:
                for a in r.of(case.name, task.id):
                    ratio = None if r.program == "Linkwright" else over_ours(a, task, ours)
                    took = "" if a.seconds is None else duration(1e9 * a.seconds)
                    lines.append([f"`{case.name}` {task.id}", r.program, a.setting, _error(task, a), took, ratio or "", a.note])
    return rows(["task", "program", "setting", "error", "time", "over ours", "note"], lines)


def refused(cases: Sequence[Case], columns: Sequence[Results]) -> str:
    """Tasks that a program does not offer, with the reason."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for r in columns:
        for x in r.refusals:
            by_reason.setdefault((r.program, x.reason), []).append(f"`{x.case}` {x.task}")
    lines = [[program, ", ".join(tasks), reason] for (program, reason), tasks in by_reason.items()]
    return rows(["program", "tasks", "reason"], lines) if lines else "Nothing."


def corrections(cases: Sequence[Case], columns: Sequence[Results]) -> str:
    """What the set corrects in published data."""
    lines = [f"- `{c.name}`: {text}" for c in cases for text in c.raw["corrections"]]
    return "\n".join(lines) if lines else "None."


def machines(cases: Sequence[Case], columns: Sequence[Results]) -> str:
    names = list(dict.fromkeys(name for r in columns for name in r.machine))
    return rows(["", *(r.program for r in columns)], [[n, *(str(r.machine.get(n, "")) for r in columns)] for n in names])


def rows(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    every = [list(heads), ["---"] * len(heads), *([str(x).replace("|", "/") for x in line] for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in every)


TABLES: dict[str, Callable[[Sequence[Case], Sequence[Results]], str]] = {
    "cases": described,
    "summary": summary,
    "settings": settings,
    "not-offered": refused,
    "corrections": corrections,
    "machines": machines,
}


if __name__ == "__main__":
    main()
