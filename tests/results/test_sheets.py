"""Tables as spreadsheets of any country read them: CSV with other marks, and Excel."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

import linkwright as lw
from linkwright import files
from linkwright.files.csv_and_excel import WorkbookSheet, csv_style, write_workbook
from tests.refusals import refused


@pytest.fixture(scope="module")
def turn() -> lw.Trajectory:
    return lw.load("wiper").cycle(steps=24)


@pytest.mark.parametrize(("sep", "decimal"), [(None, None), (";", None), (None, ","), ("tab", ","), ("tab", ".")])
def test_csv_in_any_style_is_read_by_pandas_and_by_ourselves(turn: lw.Trajectory, sep: str, decimal: str, tmp_path: Path) -> None:
    path = turn.save(tmp_path / "t.csv", channels=["t", "A", "coupler.P.x"], sep=sep, decimal=decimal)
    style = csv_style(sep, decimal)
    seen = pd.read_csv(path, sep=style.sep, decimal=style.decimal)
    assert list(seen.columns) == ["t [s]", "A [deg]", "coupler.P.x [mm]"]
    # written with all digits; pandas before 3.1 is off by one in the last, ours reads the same number
    np.testing.assert_allclose(seen["A [deg]"].to_numpy(), turn["A", "deg"], rtol=3e-16)
    table = files.read_csv_table(path, 10**6)
    assert table.names == ("t", "A", "coupler.P.x") and table.units == ("s", "deg", "mm")
    assert [float(cells[2]) for _, cells in table.rows] == turn["coupler.P.x", "mm"].tolist()
    assert files.made_by_linkwright(path)


def test_styles_that_cannot_be_read_again_are_refused(turn: lw.Trajectory, tmp_path: Path) -> None:
    for options, said in (
        ({"sep": ",", "decimal": ","}, "cannot separate cells and be the decimal mark"),
        ({"sep": "|"}, "sep is ',', ';' or a tab"),
        ({"decimal": "'"}, "decimal is '.' or ','"),
    ):
        with pytest.raises(lw.UsageError, match=said):
            turn.save(tmp_path / "t.csv", **options)
    with refused(lw.UsageError, name="t.npz"):
        turn.save(tmp_path / "t.npz", sep=";")
    assert not list(tmp_path.iterdir())


def test_a_path_with_decimal_commas_is_followed(turn: lw.Trajectory, tmp_path: Path) -> None:
    """The points of the path are samples of the point itself: zero but for round-off in millimeters."""
    path = turn.save(tmp_path / "p.csv", channels=["coupler.P.x", "coupler.P.y"], decimal=",")
    path.write_text(path.read_text().replace("coupler.P.", ""))
    assert turn.measure(f"max distance coupler.P to {path}") < 1e-9


def test_an_excel_file_holds_numbers_texts_and_facts(turn: lw.Trajectory, tmp_path: Path) -> None:
    path = turn.save(tmp_path / "t.xlsx", channels=["t", "A", "A.torque"])
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["cycle", "model"]
    rows = list(book["cycle"].iter_rows(values_only=True))
    assert rows[0] == ("t [s]", "A [deg]", "A.torque [N m]") and len(rows) == 26
    # openpyxl writes 16 digits of the 17 that a double may need
    assert np.allclose(np.array(rows[1:], dtype=float)[:, 2], turn["A.torque"], rtol=1e-15, atol=0.0)
    facts = {row[0]: row[1:] for row in book["model"].iter_rows(values_only=True)}
    assert facts["model"][0] == "wiper" and facts["rocker.mass"] == (0.8, "kg") and facts["full turn"][0] is True
    assert files.made_by_linkwright(path)
    book.properties.lastModifiedBy = "A. Person"  # as a spreadsheet does on saving
    book.save(path)
    assert not files.made_by_linkwright(path)


def test_texts_are_texts_and_no_formulas(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    write_workbook(path, [WorkbookSheet("a", ["=1+1", "b"], [["=cmd()", float("nan")], ["a\x01b", 3], ["-x", True]])])
    sheet = openpyxl.load_workbook(path).active
    assert [[c.value for c in row] for row in sheet.iter_rows()] == [["=1+1", "b"], ["=cmd()", None], ["a b", 3], ["-x", True]]
    assert {c.data_type for row in sheet.iter_rows() for c in row} <= {"s", "n", "b"}  # no "f", formula


def test_a_study_as_a_sheet(tmp_path: Path) -> None:
    found = lw.study("four-bar", {"L1": "290..310 mm / 3"}, "max D")
    rows = list(openpyxl.load_workbook(found.save(tmp_path / "s.xlsx"))["study"].iter_rows(values_only=True))
    assert rows[0] == ("row", "L1 [SI]", "max D [rad]", "ok", "verdict", "why")
    assert [x[1] for x in rows[1:]] == pytest.approx(found["L1"])
    assert [x[2] for x in rows[1:]] == pytest.approx(found["max D"])
    path = found.save(tmp_path / "s.csv", decimal=",")
    assert pd.read_csv(path, sep=";", decimal=",")["L1 [SI]"].tolist() == found["L1"].tolist()
    assert files.made_by_linkwright(path)


def test_without_openpyxl_the_answer_names_the_extra(turn: lw.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with refused(lw.UsageError, name="openpyxl"):
        turn.save(tmp_path / "t.xlsx")
    assert not list(tmp_path.iterdir())


def test_more_rows_than_a_sheet_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from linkwright.files import csv_and_excel

    monkeypatch.setattr(csv_and_excel, "MOST_ROWS", 3)
    with refused(lw.UsageError, name="sheet"):
        write_workbook(tmp_path / "a.xlsx", [WorkbookSheet("a", ["x"], [[1.0]] * 3)])
    monkeypatch.setattr(csv_and_excel, "MOST_COLUMNS", 1)
    with refused(lw.UsageError, value=2):
        write_workbook(tmp_path / "a.xlsx", [WorkbookSheet("a", ["x", "y"], [])])
