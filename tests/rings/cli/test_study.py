"""`linkwright study`: tables and JSON as documented, files, a folder that continues, refusals in one paragraph."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.rings import cli
from tests.rings.cli.schemas import disagreements

GRID = [
    "study",
    "four-bar",
    "--vary",
    "L1=280..320 mm / 3",
    "--vary",
    "L2=0.9, 1 m",
    "--measure",
    "max A.torque",
    "--measure",
    "peak C.load",
]


def test_a_study_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, table = tmp_path / "rows", tmp_path / "rows.csv"
    assert cli.main([*GRID, "--best", "min max A.torque", "--folder", str(folder), "-o", str(table)]) == 0
    out = capsys.readouterr().out
    assert "6 of 6 rows met every check, none failed" in out and "min max A.torque: row 0, L1 = 0.28 m, L2 = 0.9 m" in out
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    known = lw.study("four-bar", {"L1": "280..320 mm / 3", "L2": [0.9, 1.0]}, ["max A.torque", "peak C.load"])
    assert [float(r["max A.torque [N m]"]) for r in rows] == known["max A.torque"].tolist()
    assert lw.load_result(folder).to_pandas().equals(known.to_pandas())
    assert cli.main([*GRID, "--folder", str(folder), "-o", str(table)]) == 0 and "6 rows" in capsys.readouterr().out  # a table of ours
    assert cli.main([*GRID[:-2], "--folder", str(folder)]) == 0 and "note: a new study" in capsys.readouterr().out


def test_a_folder_is_no_output_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*GRID, "-o", "rows"]) == 1 and "A folder for the rows is given with --folder rows" in capsys.readouterr().err
    assert cli.main(["synthesize", "path", "0 0, 1 1, 2 3", "-o", "found"]) == 2
    assert "the option '-o' has a new name: --folder DIR" in capsys.readouterr().err


def test_json_is_as_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*GRID, "--best", "min max A.torque", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("study", data) == [] and data["rows"] == 6 and data["best"]["min max A.torque"]["values"]["L1"] == 0.28
    failing = ["study", "four-bar", "--vary", "L1=5, 6", "--measure", "max A.torque", "--json"]
    assert cli.main(failing) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("study", data) == [] and sum(data["failures"].values()) == 2


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--vary", "L9=1..2", "--measure", "max A.torque"], "there is no number 'L9'"),
        (["--vary", "L1=0.3", "--measure", "max A.torqe"], "Did you mean 'A.torque'"),
        (["--vary", "L1=0.3", "--vary", "L1=0.4", "--measure", "max A.torque"], "is there twice"),
        (["--vary", "L1=0.3", "--measure", "max A.torque", "--simulate", "1", "--settle"], "two different things"),
        (["--vary", "L1=0.2..0.3", "--measure", "max A.torque", "--plan", "sobol"], "needs the number of its rows"),
        (["--vary", "L1=0.3", "--measure", "max A.torque", "--best", "least"], "is not a goal"),
        (["--vary", "L1=0,3", "--measure", "max A.torque"], "decimals are written with a point"),
    ],
)
def test_wrong_studies_are_one_paragraph(more: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["study", "four-bar", *more]) == 1
    said = capsys.readouterr().err
    assert words in said and said.startswith("error: ") and "Traceback" not in said
