"""The one table of all results: text, notebooks, data and files from the same columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from linkwright.errors import RENAMED, Renamed, UsageError
from linkwright.files import made_by_linkwright, read_csv_table
from linkwright.files.tables import Cell, Column, Table, aligned, marked, show
from tests.refusals import refused

LOADS = Table.of(
    [("pin", ""), ("max", "N", "", "largest force"), ("at A", "deg"), ("unique", ""), ("count", "")],
    [("C", 12.34567, 90.0, True, 3), ("D", marked(1500.0, True), None, False, 12), ("E", Cell(None, "unknown"), 270.0, True, 0)],
    title="loads",
    notes=["* near a singular position"],
)


def test_text_is_aligned_with_units_below_names() -> None:
    assert LOADS.text() == (
        "pin      max   at A  unique  count\n"
        "         [N]  [deg]\n"
        "C      12.35  90.00  yes         3\n"
        "D      1500*      -  no         12\n"
        "E    unknown  270.0  yes         0"
    )
    assert str(LOADS).splitlines()[0] == "loads" and str(LOADS).endswith("note: * near a singular position")
    assert repr(LOADS) == "<Table 'loads': 3 rows of pin, max [N], at A [deg], unique, count>"


def test_table_without_units_has_one_head_line() -> None:
    assert Table.of(["name", "n"], [("a", 1), ("long", 20)]).text() == "name   n\na      1\nlong  20"
    assert Table.of(["name"], []).text() == "name"


def test_long_table_shows_both_ends_and_its_length() -> None:
    t = Table((Column.of("t", "s", np.arange(1000.0)),))
    lines = str(t).splitlines()
    assert len(lines) == 2 + 60 + 1 + 1 and lines[-1] == "1,000 rows" and lines[32].strip() == "..."
    assert len(t.text().splitlines()) == 1002
    assert "940 more rows" in t._repr_html_()


def test_wide_table_goes_on_below_with_the_first_column() -> None:
    t = Table(tuple(Column.of(f"column {i}", "mm", np.zeros(2)) for i in range(30)))
    blocks = str(t).split("\n\n")
    assert len(blocks) == 2 and all(b.startswith("column 0") for b in blocks)
    assert max(map(len, str(t).splitlines())) <= 180
    assert [n for b in blocks for n in b.splitlines()[0].split("  ") if n.strip() == "column 29"] == ["column 29"]


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.0, "0"), (None, "-"), (float("nan"), "-"), (True, "yes"), (7, "7"), (1234.5678, "1235"), (1.5e-7, "1.500e-07"), ("x", "x")],
)
def test_values_as_text(x: object, text: str) -> None:
    assert show(x) == text


def test_style_of_a_column() -> None:
    assert [Column.of("x", "", [1.23456789, 2e-9], style=".1e").text(i) for i in (0, 1)] == ["1.2e+00", "2.0e-09"]


def test_columns_by_name_are_arrays() -> None:
    assert LOADS["max"].unit == "N" and LOADS["max"].meaning == "largest force"
    assert np.nanmax(LOADS["max"]) == 1500.0 and np.isnan(LOADS["max"].values[2])
    assert LOADS["count"].values.dtype.kind == "i" and LOADS["unique"].values.dtype == bool
    assert len(LOADS) == 3 and LOADS.rows[0] == ("C", 12.34567, 90.0, True, 3) and "pin" in LOADS and "x" not in LOADS
    with refused(UsageError, name="maxx"):
        LOADS["maxx"]


def test_columns_have_names_that_differ_and_one_length() -> None:
    assert Table.of(["design", "a", "design", "design"], [(1, 2, 3, 4)]).names == ["design", "a", "design (2)", "design (3)"]
    with pytest.raises(ValueError, match="one length"):
        Table((Column.of("a", "", [1]), Column.of("b", "", [1, 2])))


def test_without_empty_leaves_out_columns_that_nobody_knows() -> None:
    t = Table.of(["a", "b", "c"], [(1, None, Cell(None, "unknown")), (2, None, None)])
    assert t.without_empty().names == ["a", "c"]


def test_notebook_and_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    html = LOADS._repr_html_()
    assert '<th title="largest force">max<br>[N]</th>' in html and '<td style="text-align:right">1500*</td>' in html
    assert "<caption>loads</caption>" in html and "&lt;" in Table.of(["a<b"], [("x",)])._repr_html_()
    import rich

    rich.print(LOADS)
    said = capsys.readouterr().out
    assert "[deg]" in said and "1500*" in said and "loads" in said


def test_plain_data_has_units_and_no_nan() -> None:
    found = json.loads(json.dumps(LOADS.as_dict(), allow_nan=False))
    assert found["columns"][1] == {"name": "max", "unit": "N", "meaning": "largest force", "values": [12.34567, 1500.0, None]}
    assert found["notes"] == ["* near a singular position"]


def test_pandas_has_numbers_and_units() -> None:
    frame = LOADS.to_pandas()
    assert list(frame.columns) == LOADS.names and frame["max"].iloc[1] == 1500.0 and frame.attrs["units"]["at A"] == "deg"


def test_every_kind_of_file(tmp_path: Path) -> None:
    for ending in ("csv", "xlsx", "parquet", "json"):
        assert LOADS.save(tmp_path / f"x.{ending}") == tmp_path / f"x.{ending}"
    read = read_csv_table(tmp_path / "x.csv", 10_000)
    assert read.names == tuple(LOADS.names) and read.units == ("", "N", "deg", "", "") and read.rows[2][1][1] == ""
    import openpyxl
    import pyarrow.parquet as pq

    sheet = openpyxl.load_workbook(tmp_path / "x.xlsx")["loads"]
    assert [c.value for c in sheet[1]] == ["pin", "max [N]", "at A [deg]", "unique", "count"] and sheet["B3"].value == 1500
    stored = pq.read_table(tmp_path / "x.parquet")
    assert stored["max"].to_pylist()[1] == 1500.0 and stored.schema.field("max").metadata[b"unit"] == b"N"
    assert json.loads((tmp_path / "x.json").read_text())["columns"] == LOADS.as_dict()["columns"]
    assert all(made_by_linkwright(tmp_path / f"x.{ending}") for ending in ("xlsx", "parquet", "json"))


def test_marks_of_other_countries_are_for_csv(tmp_path: Path) -> None:
    LOADS.save(tmp_path / "x.csv", decimal=",")
    assert "12,34567" in (tmp_path / "x.csv").read_text()
    with refused(UsageError, name="x.xlsx"):
        LOADS.save(tmp_path / "x.xlsx", sep=";")
    with refused(UsageError, file="x.pdf"):
        LOADS.save(tmp_path / "x.pdf")


def test_further_tables_are_further_sheets(tmp_path: Path) -> None:
    import openpyxl

    Table(LOADS.columns, "loads", parts=(Table.of(["rod"], [("r",)], "rods"),)).save(tmp_path / "x.xlsx")
    assert openpyxl.load_workbook(tmp_path / "x.xlsx").sheetnames == ["loads", "rods"]


def test_aligned_cells() -> None:
    assert aligned([("a", "b"), ("long", "x")]) == ["a     b", "long  x"]
    assert aligned([("a", "1"), ("b", "10")], left=1) == ["a   1", "b  10"]


def asked(thing: object, name: str) -> object:
    return getattr(thing, name)


class Old(Renamed):
    """An object with a member that had another name, and a property that fails."""

    @property
    def broken(self) -> int:
        raise AttributeError("the reason itself")


def test_old_names_give_the_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RENAMED, "Old.to_excel", 'save("x.xlsx")')
    with pytest.raises(AttributeError, match=r"'to_excel' of Old has a new name: write save\(\"x.xlsx\"\)"):
        asked(Old(), "to_excel")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        asked(Old(), "nothing")
    with pytest.raises(AttributeError, match="the reason itself"):
        _ = Old().broken
