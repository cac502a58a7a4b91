"""Results of programs: validated with the place, judged by the cases, written and read again; ours are those of the code."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.closed_loop_set import __main__ as command
from benchmarks.closed_loop_set import asking, cases, results, table
from benchmarks.closed_loop_set.cases import SetError
from benchmarks.closed_loop_set.programs import linkwright_program
from benchmarks.closed_loop_set.results import Answer, Refusal, Results
from linkwright.errors import SimulationError

EVERY = cases.every()
FOUR_BARS = cases.named("four-bars-2")
EXACT = {q.name: q.value for q in FOUR_BARS.task("early").quantities}
RAW = {
    "format": results.FORMAT,
    "program": "Engine",
    "version": "3.1",
    "machine": {"processor": "any"},
    "results": [{"case": "four-bars-2", "task": "early", "setting": "step 1 ms", "values": EXACT, "seconds": 0.5}],
    "not_offered": [{"case": "four-bars-2", "task": "late", "reason": "stops at singular positions"}],
}


def test_a_column_of_any_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An error of 1e-3 of a quantity whose scale is 1 is 1e-3 in the table."""
    raw = copy.deepcopy(RAW)
    raw["results"][0]["values"]["B0 x"] += 1e-3
    path = tmp_path / "engine.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert command.main(["--check", str(path)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("| task | Engine 3.1 |")
    assert shown[2].startswith("| `four-bars-2` early | 1e-03, 500 ms") and shown[3].startswith("| `four-bars-2` late | not offered |")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("format",), "x", 'expected "closed-loop-set results 1"'),
        (("results", 0, "case"), "four-bars-3", "Did you mean 'four-bars-"),
        (("results", 0, "task"), "earlier", "Did you mean 'early'?"),
        (("results", 0, "values", "B0 z"), 1.0, "unknown key 'B0 z'"),
        (("results", 0, "values"), {"B0 x": 1.0}, "'crank angle' is missing"),
        (("results", 0, "values", "B0 x"), None, "results[0].values.B0 x: found null, expected a number"),
        (("results", 0, "seconds"), 0, "expected processor seconds above zero"),
        (("not_offered", 0, "reason"), "", "not_offered[0].reason"),
        (("results",), [*RAW["results"], *RAW["results"]], "is there twice"),
    ],
)
def test_wrong_results_are_refused(place: tuple[Any, ...], value: Any, said: str) -> None:
    raw: Any = copy.deepcopy(RAW)
    inner = raw
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(SetError) as problem:
        results.checked(raw, "engine.json", EVERY)
    assert said in str(problem.value) and str(problem.value).startswith("engine.json")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    made = Results(
        "Engine",
        "3.1",
        {"load": "0.1"},
        (Answer("four-bars-2", "early", "step", EXACT, 0.25, "a note"),),
        (Refusal("four-bars-2", "late", "no"),),
    )
    path = tmp_path / "engine.json"
    results.write(path, made)
    assert results.read(path, EVERY) == made
    later = Results("Engine", "3.2", {}, (Answer("four-bars-2", "late", "step", EXACT, 0.5),))
    both = asking.merged(made, later)
    assert [a.task for a in both.answers] == ["early", "late"] and not both.refusals and both.version == "3.1; 3.2"


def test_times_of_two_runs_have_two_dates_and_loads() -> None:
    """Unless everything was asked again: then nothing of the first run is left."""
    early, late = (Answer("four-bars-2", task, "step", EXACT, 0.5) for task in ("early", "late"))
    runs = [{"processor": "P", "date": "17 Nov", "load": "20.1"}, {"processor": "P", "date": "18 Nov", "load": "1.0"}]
    first, second = Results("Engine", "3.1", runs[0], (early, late)), Results("Engine", "3.1", runs[1], (late,))
    both = asking.merged(first, second)
    assert both.machine == {"processor": "P", "date": "17 Nov; 18 Nov", "load": "20.1; 1.0"} and both.version == "3.1"
    assert asking.merged(both, second).machine == both.machine
    assert asking.merged(second, first).machine == runs[0]


ANSWERS = {"few": {"B0 x": 1.0}, "many": {**EXACT, "B1 x": 1.0}, "all": EXACT}


@pytest.mark.parametrize("given", ANSWERS)
def test_incomplete_answers_are_named_and_the_run_continues(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(
        PROGRAM="Engine",
        version=lambda: "1",
        KINDS={
            "free motion": lambda case, task, quick: [Answer(case.name, task.id, "step", ANSWERS[given if task.id == "early" else "all"])]
        },
    )
    monkeypatch.setattr(asking, "program", lambda name: module)
    found = asking.asked("engine", [(FOUR_BARS, task) for task in FOUR_BARS.tasks])
    assert [a.task for a in found.answers] == (["early", "late"] if given == "all" else ["late"])
    said = {"few": "3 differ, the first is 'B0 y'", "many": "1 differ, the first is 'B1 x'", "all": ""}[given]
    assert said in found.why_not("four-bars-2", "early")


def test_tolerances_at_which_a_run_fails_are_in_the_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages without a colon as well; two failures before the first answer, one after the last."""
    said = {1e-6: "t = 1 s: the step is too small", 1e-8: "no steps", 1e-12: "t = 2 s: singular"}

    def simulate(state: Any, end: float, *, tolerance: float, **_: Any) -> Any:
        if tolerance in said:
            raise SimulationError(said[tolerance])
        return SimpleNamespace(state=lambda i: None)

    monkeypatch.setattr(linkwright_program, "built", lambda case: (SimpleNamespace(simulate=simulate), None))
    monkeypatch.setattr(linkwright_program, "measured", lambda task, state: EXACT)
    monkeypatch.setattr(linkwright_program, "timed", lambda call, quick: 1.0)
    (answer,) = linkwright_program.free_motion(FOUR_BARS, FOUR_BARS.task("early"), False)
    assert answer.setting == "tolerance 1e-10"
    before, after = "tolerance 1e-06: the step is too small; tolerance 1e-08: no steps", "tolerance 1e-12: singular"
    assert answer.note == f"fails at {before}; fails at {after}"


def test_our_column_is_that_of_the_code() -> None:
    """Accelerations of Andrews' mechanism again; another processor may round differently."""
    case = cases.named("andrews")
    saved = next(r for r in results.every(EVERY) if r.program == "Linkwright").of("andrews", "start")
    found = {a.setting: a.values for a in linkwright_program.accelerations(case, case.task("start"), True)}
    assert found["s.forward"] == pytest.approx(next(a.values for a in saved if a.setting == "s.forward"), rel=1e-12)


def test_times_are_compared_with_ours_at_least_as_exact() -> None:
    task = FOUR_BARS.task("early")
    off = [{**EXACT, "B0 x": EXACT["B0 x"] + e} for e in (1e-10, 1e-6, 1e-3)]
    ours = [Answer("four-bars-2", "early", str(i), v, s) for i, (v, s) in enumerate(zip(off, (4.0, 2.0, 1.0), strict=True))]
    assert table.times(table.ratio(Answer("four-bars-2", "early", "x", off[1], 8.0), task, ours) or 0.0) == "4 x"
    assert table.ratio(Answer("four-bars-2", "early", "x", EXACT, 8.0), task, ours) is None


def test_linkwright_answers(capsys: pytest.CaptureFixture[str]) -> None:
    """At tolerance 1e-8 before the singular position; a hundred times the tolerance is allowed after six turns and the passages."""
    assert command.main(["--case", "four-bars-2", "--program", "linkwright", "--quick"]) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    errors = {row[0].strip("| "): float(row[1].split(",")[0]) for row in rows}
    assert errors["`four-bars-2` early"] < 1e-8 and errors["`four-bars-2` late"] < 1e-6


def test_unknown_names_end_with_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--case", "four-bars-3"]) == 2
    assert "Did you mean 'four-bars-" in capsys.readouterr().err
    assert command.main(["--case", "four-bars-2", "--task", "middle"]) == 2
    assert "no task is called 'middle'" in capsys.readouterr().err
