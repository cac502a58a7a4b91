"""Results of programs: validated with the place, judged by the cases, written and read again; ours are of today's code."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.closed_loop_set import __main__ as command
from benchmarks.closed_loop_set import asking, cases, results, table
from benchmarks.closed_loop_set.cases import SetError
from benchmarks.closed_loop_set.results import Answer, Refusal, Results

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
    assert [a.task for a in both.answers] == ["early", "late"] and not both.refusals and both.version == "3.2"


def test_times_are_compared_with_ours_at_least_as_exact() -> None:
    task = FOUR_BARS.task("early")
    off = [{**EXACT, "B0 x": EXACT["B0 x"] + e} for e in (1e-10, 1e-6, 1e-3)]
    ours = [Answer("four-bars-2", "early", str(i), v, s) for i, (v, s) in enumerate(zip(off, (4.0, 2.0, 1.0), strict=True))]
    assert table.over_ours(Answer("four-bars-2", "early", "x", off[1], 8.0), task, ours) == "4 x"
    assert table.over_ours(Answer("four-bars-2", "early", "x", EXACT, 8.0), task, ours) is None


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
