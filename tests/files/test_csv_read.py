"""CSV files as spreadsheets of different countries write them: the same numbers, or an error with the line, and never a lost cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright import files
from linkwright.files.csv_and_excel import TableError, read_csv_table
from linkwright.model.curves.csv_columns import read_columns
from linkwright.text.units import KINDS
from tests.refusals import refused

MODEL = """
plane: xy
units: [mm, kg, s, deg, N]
drawing: {{A: [0, 0], B: [100, 0]}}
bodies: {{ground: {{pins: [A]}}, arm: {{pins: [A], points: [B], mass: 1}}}}
loads:
  push: {{on: arm.B, force: [0, {{over: A, csv: "{file}"}}]}}
drive: {{A: 10 rpm}}
"""


def load_table(folder: Path, text: str | bytes) -> tuple[tuple[float, ...], tuple[float, ...]]:
    (folder / "f.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / "m.yaml").write_text(MODEL.format(file="f.csv"))
    table = lw.load(folder / "m.yaml").description.loads[0].force[1]
    return table.x, table.y


SAME = {
    "as Excel in Germany": "Winkel;Kraft\r\n90;5,5\r\n180;7,25\r\n",
    "in England": "angle,force\n90,5.5\n180,7.25\n",
    "tabs": "angle\tforce\n90\t5.5\n180\t7.25\n",
    "tabs and decimal commas": "90\t5,5\n180\t7,25\n",
    "semicolons and points": "90;5.5\n180;7.25\n",
    "quoted": '"angle","force"\n"90","5,5"\n"180","7,25"\n',
    "byte order mark, comments, blank lines": "\ufeff# measured\nangle;force\n\n90;5,5\n# middle\n180;7,25\n\n",
    "line of Excel": "sep=;\r\n90;5,5\r\n180;7,25\r\n",
    "old Macintosh": "90;5,5\r180;7,25\r",
    "separators at the ends": "angle;force;\n90;5,5;\n180;7,25;\n;;\n",
    "separators at the ends of rows": "angle;force\n90;5,5;\n180;7,25;;\n",
    "units in cells": "90 deg;5,5 N\n180 deg;0,00725 kN\n",
    "units in the header": "angle [rad];force (kN)\n1,5707963267948966;0,0055\n3,141592653589793;0,00725\n",
    "exponents": "9e1;55e-1\n1,8e2;7,25e0\n",
    "spaces": " 90 ; 5,5 \n 180; 7,25\n",
    "commas with tabs for looks": "90,\t5.5\n180,\t7.25\n",
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_numbers(name: str, tmp_path: Path) -> None:
    x, y = load_table(tmp_path, SAME[name])
    np.testing.assert_allclose(x, np.radians([90, 180]), rtol=1e-15)
    np.testing.assert_allclose(y, [5.5, 7.25], rtol=1e-15)


REFUSED = {
    "a cell too many": ("angle,force\n90,5,5\n180,7,25\n", 2, "3 cells, the first row 2.*separate the cells by semicolons"),
    "decimal commas between commas": ("90,5,5\n180,7,25\n", 1, "3 columns, but two are needed"),
    "one more in a row": ("90;5.5\n180;7.25;3\n", 2, "3 cells, the first row 2"),
    "one less in a row": ("90;5.5\n180\n", 2, "1 cell, the first row 2"),
    "three columns": ("a;b;c\n90;5,5;1\n180;7,25;1\n", 2, "3 columns, but two are needed"),
    "one column": ("90\n180\n", 1, "1 column, .*Separate them by semicolons"),
    "both marks": ("90;5.5\n180;7,25\n", 2, "'7,25' here and '5.5' in line 1 have different decimal marks"),
    "thousands, German": ("90;5,5\n180;1.007,25\n", 2, "'1.007,25' has more than one decimal mark"),
    "thousands, English": ("90\t5.5\n180\t1,007.25\n", 2, "more than one decimal mark"),
    "millions": ("90;5\n180;1,000,725\n", 2, "more than one decimal mark"),
    "decimal or thousand": ('"90","1,500"\n"180","2,250"\n', 1, "'1,500' may be a decimal number or have a thousands separator"),
    "not UTF-8": (b"Winkel \xb0;Kraft\n90;5,5\n", 1, "not UTF-8 text. Save it as CSV UTF-8"),
    "no text": (b"90;5\x00\n180;6\n", 1, "NUL characters"),
    "open quote": ('90;"5,5\n180;7,25\n', 1, "cannot be read as cells"),
    "a word": ("90;5,5\n180;seven\n", 2, "seven"),
    "an empty cell": ("90;5,5\n180;\n", 2, "a cell of this row is empty"),
    "wrong unit": ("angle [deg];force [mm]\n90;5\n180;6\n", 2, "force"),
    "digits of another script": ("90;5\n180;\uff17\n", 2, "not a number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_understood_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    text, line, why = REFUSED[name]
    with pytest.raises(lw.ModelError, match=f"f.csv:{line}: .*{why}"):
        load_table(tmp_path, text)


def test_the_same_reader_serves_references(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("t [s];A [deg]\n0;1,5\n0,5;2,25\n", encoding="utf-8")
    t, (angle,) = read_columns(path, None, None, [None], [KINDS["angle"]], "the reference")
    assert t.tolist() == [0.0, 0.5] and angle == pytest.approx(np.radians([1.5, 2.25]), rel=1e-15)
    path.write_text("t;A\n0;1,5\n0,5;2.25\n", encoding="utf-8")
    with refused(lw.UsageError, file="r.csv:3"):
        read_columns(path, None, None, [None], [KINDS["angle"]], "the reference")


def test_what_was_saved_reads_back(tmp_path: Path) -> None:
    c = lw.load("wiper").cycle(steps=6)
    table = read_csv_table(c.save(tmp_path / "c.csv", channels=["t", "A"]), 10**6)
    found = c.table(["t", "A"])
    assert list(table.header) == [x.head for x in found.columns] and table.names == ("t", "A") and table.units == ("s", "deg")
    np.testing.assert_array_equal(np.array([cells for _, cells in table.rows], dtype=float), found.rows)


def test_text_columns_are_left_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('day;x;note\n16.11.2026;1,5;"a; b, c"\n17.11.2026;2;3 bolts, M8\n', encoding="utf-8")
    table = read_csv_table(tmp_path / "a.csv", 1000)
    assert [cells for _, cells in table.rows] == [["16.11.2026", "1.5", "a; b, c"], ["17.11.2026", "2", "3 bolts, M8"]]
    with refused(files.Unreadable, file="a.csv"):
        read_csv_table(tmp_path / "a.csv", 10)
    assert issubclass(TableError, lw.UsageError)
