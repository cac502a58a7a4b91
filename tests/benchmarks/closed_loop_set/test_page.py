"""docs/evidence/closed-loop-set.md, its picture and docs/data/closed-loop-set.csv are made from the files of the set."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from benchmarks.closed_loop_set import DATA, cases, results, table

TEXT = table.PAGE.read_text(encoding="utf-8")
EVERY = cases.every()
COLUMNS = results.every(EVERY)


def test_the_page_agrees_with_the_files() -> None:
    assert sorted(re.findall(r"<!-- table: ([\w-]+) -->", TEXT)) == sorted(table.TABLES)
    assert table.renewed(TEXT) == TEXT, "run `python -m benchmarks.closed_loop_set.table`"
    assert table.settings(EVERY, COLUMNS) == table.CSV.read_text(encoding="utf-8"), "run `python -m benchmarks.closed_loop_set.table`"


def test_the_picture_shows_every_program(tmp_path: Path) -> None:
    table.draw(EVERY, COLUMNS, tmp_path / "drawn.svg")
    drawn, there = (path.read_text(encoding="utf-8") for path in (tmp_path / "drawn.svg", table.PICTURE))
    for color in table.COLORS:
        assert drawn.count(color) > 5 and there.count(color) == drawn.count(color)


@pytest.mark.parametrize("name", [c.name for c in EVERY])
def test_every_program_answers_or_says_why_not(name: str) -> None:
    """Every column has an answer to every task or a reason; ours answers all."""
    assert {r.program for r in COLUMNS} >= {"Linkwright", "Pinocchio", "MuJoCo", "Exudyn", "Drake"}
    assert len(list((DATA / "results").glob("*.json"))) == len(COLUMNS)
    ours = next(r for r in COLUMNS if r.program == "Linkwright")
    case = next(c for c in EVERY if c.name == name)
    for task in case.tasks:
        assert ours.of(name, task.id), f"Linkwright has no answer to {name}, {task.id}"
        for r in COLUMNS:
            assert r.of(name, task.id) or r.why_not(name, task.id), f"{r.program}: {name}, {task.id}"


def test_errors_of_the_csv_follow_from_the_files() -> None:
    """One number again, without the code that writes tables."""
    case = next(c for c in EVERY if c.name == "andrews")
    task = case.task("squeeze")
    ours = next(r for r in COLUMNS if r.program == "Linkwright").of("andrews", "squeeze")
    least = min(max(abs(a.values[q.name] - q.value) / q.scale for q in task.quantities) for a in ours)
    with table.CSV.open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if (r["case"], r["task"], r["program"]) == ("andrews", "squeeze", "Linkwright")]
    assert min(float(r["error"]) for r in rows) == pytest.approx(least, rel=0.1)
    assert least < 1e-11
