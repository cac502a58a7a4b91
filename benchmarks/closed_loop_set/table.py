"""Tables of the set for docs/evidence/closed-loop-set.md, its picture, and every setting of every program as CSV.

    python -m benchmarks.closed_loop_set.table

writes the text between `<!-- table: name -->` and `<!-- end -->` again from the files of the set, docs/data/closed-loop-set.csv and
docs/images/closed-loop-set.svg; a test compares them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from benchmarks.bench.table import duration
from benchmarks.closed_loop_set import cases as all_cases
from benchmarks.closed_loop_set import results as all_results
from benchmarks.closed_loop_set.cases import Case, Task
from benchmarks.closed_loop_set.results import Answer, Results

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, CSV, PICTURE = DOCS / "evidence/closed-loop-set.md", DOCS / "data/closed-loop-set.csv", DOCS / "images/closed-loop-set.svg"
COLORS = ("#c8421a", "#2f629a", "#2e7d4f", "#7b4fa3", "#8a6d1f")
BLOCK = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
EXACT = 1e-16  # errors below are shown as this
ROUNDED = 1e-14  # errors below are rounding of doubles over some hundred operations: none is more exact than another


def main() -> None:
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    cases = all_cases.every()
    columns = all_results.every(cases)
    CSV.write_text(settings(cases, columns), encoding="utf-8")
    draw(cases, columns, PICTURE)
    for path in (PAGE, CSV, PICTURE):
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} KB")


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


def programs(cases: Sequence[Case], columns: Sequence[Results]) -> str:
    """A row a program: tasks answered, median error of the most exact settings, median of the times over ours."""
    tasks = [(case, task) for case in cases for task in case.tasks]
    asked = sum(any(r.of(c.name, t.id) or r.why_not(c.name, t.id) for r in columns) for c, t in tasks)
    lines = []
    for r in columns:
        best = [(c, t, min(r.of(c.name, t.id), key=task_error(t))) for c, t in tasks if r.of(c.name, t.id)]
        errors = [max(t.error(a.values), EXACT) for _, t, a in best]
        ratios = [x for c, t, a in best if r.program != "Linkwright" and (x := ratio(a, t, ours(c, t, columns)))]
        over = times(median(ratios)) if ratios else "-"
        lines.append([f"{r.program} {r.version}", f"{len(best)} of {asked}", f"{median(errors):.0e}", f"{max(errors):.0e}", over])
    return rows(["program", "tasks answered", "median error", "largest error", "median of times over ours"], lines)


def ours(case: Case, task: Task, columns: Sequence[Results]) -> list[Answer]:
    return [a for r in columns if r.program == "Linkwright" for a in r.of(case.name, task.id)]


def task_error(task: Task) -> Callable[[Answer], float]:
    return lambda a: task.error(a.values)


def ratio(a: Answer, task: Task, ours: Sequence[Answer]) -> float | None:
    """Return the time over that of our fastest setting that is at least as exact; None where there is none."""
    as_exact = [x.seconds for x in ours if x.seconds and task.error(x.values) <= max(task.error(a.values), ROUNDED)]
    return a.seconds / min(as_exact) if as_exact and a.seconds else None


def times(found: float) -> str:
    return f"{float(f'{found:.3g}'):,.10g} x"


def summary(cases: Sequence[Case], columns: Sequence[Results]) -> str:
    """A row a task that any program was asked, a column a program: error and time of its most exact setting."""
    lines = []
    for case in cases:
        for task in case.tasks:
            if any(r.of(case.name, task.id) or r.why_not(case.name, task.id) for r in columns):
                lines.append([f"`{case.name}` {task.id}", *(_cell(r, case, task, ours(case, task, columns)) for r in columns)])
    return rows(["task", *(f"{r.program} {r.version}" for r in columns)], lines)


def _cell(r: Results, case: Case, task: Task, ours: Sequence[Answer]) -> str:
    answers = r.of(case.name, task.id)
    if not answers:
        return "not offered" if r.why_not(case.name, task.id) else ""
    best = min(answers, key=task_error(task))
    took = "" if best.seconds is None else f", {duration(1e9 * best.seconds)}"
    over = None if r.program == "Linkwright" else ratio(best, task, ours)
    return f"{max(task.error(best.values), EXACT):.0e}{took}{'' if over is None else f' ({times(over)})'}"


def settings(cases: Sequence[Case], columns: Sequence[Results]) -> str:
    """Return every setting of every program as CSV: error and time; of tasks without an answer the reason."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(("case", "task", "kind", "program", "version", "setting", "error", "seconds", "over_ours", "note"))
    for case in cases:
        for task in case.tasks:
            for r in columns:
                who = (case.name, task.id, task.kind, r.program, r.version)
                for a in r.of(case.name, task.id):
                    over = None if r.program == "Linkwright" else ratio(a, task, ours(case, task, columns))
                    error, took = f"{max(task.error(a.values), EXACT):.1e}", "" if a.seconds is None else f"{a.seconds:.3g}"
                    write((*who, a.setting, error, took, "" if over is None else f"{over:.3g}", a.note))
                if not r.of(case.name, task.id) and (why := r.why_not(case.name, task.id)):
                    write((*who, "not offered", "", "", "", why))
    return out.getvalue()


def draw(cases: Sequence[Case], columns: Sequence[Results], path: Path) -> None:
    """Draw error against time of the free motions, every setting a point."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "closed-loop-set", "svg.fonttype": "path"}):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for r, color, mark in zip(columns, COLORS, "osD^v", strict=False):
            found = [(a.seconds, max(t.error(a.values), EXACT)) for c in cases for t in c.tasks if t.kind == "free motion"
                     for a in r.of(c.name, t.id) if a.seconds]  # fmt: skip
            axes.loglog(*zip(*found, strict=True), mark, ms=4.5, color=color, alpha=0.75, mew=0, label=r.program)
        axes.set(xlabel="processor time of the run, s", ylabel="error over the size of the result")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, ncols=5, loc="upper center", bbox_to_anchor=(0.5, 1.12), handletextpad=0.1, columnspacing=1.2)
        figure.savefig(path, metadata={"Date": None})


def machines(cases: Sequence[Case], columns: Sequence[Results]) -> str:
    names = list(dict.fromkeys(name for r in columns for name in r.machine))
    return rows(["", *(r.program for r in columns)], [[n, *(str(r.machine.get(n, "")) for r in columns)] for n in names])


def rows(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    every = [list(heads), ["---"] * len(heads), *([str(x).replace("|", "/") for x in line] for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in every)


TABLES: dict[str, Callable[[Sequence[Case], Sequence[Results]], str]] = {
    "cases": described,
    "programs": programs,
    "machines": machines,
}


if __name__ == "__main__":
    main()
