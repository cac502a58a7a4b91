"""Results of a program on the set: values and times in `results/<program>.json`, read, checked, judged and written.

Values are what the program computed; errors are never in the file, they follow from the cases. The file of any program can be added:
benchmarks/closed-loop-set/README.md has the format, `python -m benchmarks.closed_loop_set --check FILE` judges it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.closed_loop_set import DATA
from benchmarks.closed_loop_set.cases import Case, Place, SetError, loaded
from linkwright.files.writing import write_text

FORMAT = "closed-loop-set results 1"


@dataclass(frozen=True)
class Answer:
    """Values of all quantities of a task by one setting of a program, and the seconds it took; None: not timed."""

    case: str
    task: str
    setting: str
    values: Mapping[str, float]
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Refusal:
    """A task that a program does not offer, and why."""

    case: str
    task: str
    reason: str


@dataclass(frozen=True)
class Results:
    """One program's column."""

    program: str
    version: str
    machine: Mapping[str, str]
    answers: tuple[Answer, ...]
    refusals: tuple[Refusal, ...] = ()

    def of(self, case: str, task: str) -> list[Answer]:
        return [a for a in self.answers if (a.case, a.task) == (case, task)]

    def why_not(self, case: str, task: str) -> str:
        """Return the reason that a task is not offered; empty if none is stated."""
        return next((r.reason for r in self.refusals if (r.case, r.task) == (case, task)), "")


def every(cases: Sequence[Case], folder: Path = DATA / "results") -> list[Results]:
    """Return all columns: Linkwright first, then by name."""
    found = [read(path, cases) for path in sorted(folder.glob("*.json"))]
    return sorted(found, key=lambda r: (r.program.lower() != "linkwright", r.program.lower()))


def read(path: Path, cases: Sequence[Case]) -> Results:
    """Return the results of a file; raise SetError with the place of what does not fit the cases."""
    return checked(loaded(path), path.name, cases)


def checked(raw: Any, file: str, cases: Sequence[Case]) -> Results:
    at = Place(file)
    at.keys(raw, ("format", "program", "version", "machine", "results"), ("not_offered",))
    if raw["format"] != FORMAT:
        raise at("format").wrong(raw["format"], f'"{FORMAT}"')
    for key in ("program", "version"):
        at(key).text(raw[key])
    at("machine").mapping(raw["machine"])
    answers = tuple(_answer(r, at("results", i), cases) for i, r in enumerate(at("results").items(raw["results"])))
    refusals = tuple(_refusal(r, at("not_offered", i), cases) for i, r in enumerate(at("not_offered").items(raw.get("not_offered", []))))
    seen: set[tuple[str, str, str]] = set()
    for i, a in enumerate(answers):
        if (a.case, a.task, a.setting) in seen:
            raise SetError(f"{at('results', i)}: case '{a.case}', task '{a.task}', setting '{a.setting}' is there twice.")
        seen.add((a.case, a.task, a.setting))
    return Results(raw["program"], raw["version"], raw["machine"], answers, refusals)


def _answer(r: Any, at: Place, cases: Sequence[Case]) -> Answer:
    at.keys(r, ("case", "task", "setting", "values"), ("seconds", "note"))
    task = _task(r, at, cases)
    at("setting").text(r["setting"])
    at("values").keys(r["values"], [q.name for q in task.quantities])
    values = {name: at("values", name).number(x) for name, x in r["values"].items()}
    seconds = r.get("seconds")
    if seconds is not None and not at("seconds").number(seconds) > 0:
        raise at("seconds").wrong(seconds, "processor seconds above zero, or no such key")
    return Answer(r["case"], r["task"], r["setting"], values, seconds, r.get("note", ""))


def _refusal(r: Any, at: Place, cases: Sequence[Case]) -> Refusal:
    at.keys(r, ("case", "task", "reason"))
    _task(r, at, cases)
    return Refusal(r["case"], r["task"], at("reason").text(r["reason"]))


def _task(r: Mapping[str, Any], at: Place, cases: Sequence[Case]) -> Any:
    at("case").one_of(r["case"], [c.name for c in cases])
    case = next(c for c in cases if c.name == r["case"])
    at("task").one_of(r["task"], [t.id for t in case.tasks])
    return case.task(r["task"])


def write(path: Path, results: Results) -> None:
    """Write results in the documented format, one line an answer."""
    head = {"format": FORMAT, "program": results.program, "version": results.version, "machine": dict(results.machine)}
    lines = [json.dumps(head, indent=1, ensure_ascii=False)[:-2] + ","]
    lines.append(f' "results": [{_lines(_plain(a) for a in results.answers)}],')
    lines.append(f' "not_offered": [{_lines(vars(r) for r in results.refusals)}]\n}}\n')
    write_text(path, [".json"], "\n".join(lines))


def _plain(a: Answer) -> dict[str, Any]:
    out: dict[str, Any] = {"case": a.case, "task": a.task, "setting": a.setting, "values": {k: float(x) for k, x in a.values.items()}}
    if a.seconds is not None:
        out["seconds"] = float(f"{a.seconds:.4g}")
    return {**out, **({"note": a.note} if a.note else {})}


def _lines(things: Iterable[Mapping[str, Any]]) -> str:
    return ",".join(f"\n  {json.dumps(thing, ensure_ascii=False)}" for thing in things)
