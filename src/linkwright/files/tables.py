"""Tables of numbers in CSV files, as people and spreadsheets write them.

Cells are separated by semicolons, tabs or commas, the same throughout the file (Excel's first line `sep=;` is understood).
Numbers have a decimal point or a decimal comma, the same throughout the file; thousands separators are refused, because
1,234 could then mean two numbers. A first row without numbers is the header: `A [deg]` or `A (deg)` names a column and its
unit. Empty lines and lines that begin with # are passed over. Every row must have as many cells as the first: a row that
does not is an error with its line, so that no cell is ever dropped.
"""

from __future__ import annotations

import csv
import os
import re
from dataclasses import dataclass

from linkwright.errors import Source, UsageError, counted
from linkwright.files.reading import need_path, read_regular, shown

MANTISSA = re.compile(r"[-+]?(?=[.,]?[0-9])[0-9.,]+")
GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2},[0-9]{3}\Z")  # 1,234: also a number with a thousands separator
HEADER = re.compile(r"(?P<name>.*?)\s*(?:[\[(](?!\d+\])(?P<unit>[^\[\]()]*)[\])])?")  # `A [deg]`, `A (deg)`; `lam[0]` is a name
SEPARATOR = re.compile(r"sep=([;,\t])\Z", re.IGNORECASE)
NAMES = {";": "semicolons", "\t": "tabs", ",": "commas"}
Row = tuple[int, list[str]]


class TableError(UsageError):
    """A CSV file that cannot be read as a table; `reason` without the place, for callers that add their own text."""

    def __init__(self, reason: str, where: Source):
        self.reason, self.where = reason, where
        super().__init__(f"{where}: {reason}")


@dataclass(frozen=True)
class CsvTable:
    """The cells of a file with their lines. Numbers have decimal points; names and units are the header's, empty without one."""

    path: str
    header: tuple[str, ...]  # as written
    names: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[Row, ...]
    header_line: int = 1

    @property
    def width(self) -> int:
        return len(self.header) or (len(self.rows[0][1]) if self.rows else 0)


def read_csv_table(path: str | os.PathLike[str], limit: int) -> CsvTable:
    """Read a CSV file of at most `limit` bytes; raises `Unreadable` or `TableError`."""
    need_path(path)
    name = shown(path)
    lines = _lines(name, read_regular(path, limit, "keep fewer rows"))
    named = SEPARATOR.match(lines[0][1].strip(" \r")) if lines else None
    retained = [(i, line) for i, line in lines[1 if named else 0 :] if line.strip() and not line.lstrip().startswith("#")]
    separator = named[1] if named else _separator([line for _, line in retained])
    rows = [row for row in _cells(name, retained, separator) if any(row[1])]
    width = max((k for k, cell in enumerate(rows[0][1], 1) if cell), default=0) if rows else 0  # of the first row, to its last cell in use
    first = rows[0][0] if rows else 1
    header = rows.pop(0)[1][:width] if rows and not any(MANTISSA.match(cell) for cell in rows[0][1]) else []
    rows = [_whole(name, row, width, separator) for row in rows]
    rows = _with_points(name, rows, separator)
    found = [HEADER.fullmatch(cell) for cell in header]
    names, units = (tuple((m[part] or "").strip() if m else "" for m in found) for part in ("name", "unit"))
    return CsvTable(name, tuple(header), names, units, tuple(rows), first)


def safe_cell(text: str) -> str:
    """A text that spreadsheets take for text: one that begins like a formula gets an apostrophe before it."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") and text not in ("-", "+") else text


def _lines(name: str, data: bytes) -> list[tuple[int, str]]:
    """Lines as editors count them."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        here = Source(name, data[: error.start].count(b"\n") + 1)
        raise TableError("the file is not UTF-8 text. Save it as CSV UTF-8.", here) from error
    if "\0" in text:
        raise TableError("the file holds NUL characters, so it is no text. Save it as CSV UTF-8.", Source(name, 1))
    return list(enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1))


def _separator(lines: list[str]) -> str:
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]
    if any(";" in line for line in bare):
        return ";"
    return "\t" if any(re.search(r"[^,]\t", line.strip(" ")) for line in bare) else ","


def _cells(name: str, retained: list[tuple[int, str]], separator: str) -> list[Row]:
    reader = csv.reader((line for _, line in retained), delimiter=separator, skipinitialspace=True, strict=True)
    rows: list[Row] = []
    try:
        for cells in reader:
            rows.append((retained[reader.line_num - 1][0], [cell.strip() for cell in cells]))
            if reader.line_num != len(rows):
                raise csv.Error("a quote is not closed")
    except csv.Error as error:
        line = retained[min(len(rows), len(retained) - 1)][0]
        reason = f"the line cannot be read as cells ({error}). Write numbers separated by {NAMES[separator]}."
        raise TableError(reason, Source(name, line)) from error
    return rows


def _whole(name: str, row: Row, width: int, separator: str) -> Row:
    """The row, without empty cells beyond the last column."""
    line, cells = row
    while len(cells) > width and not cells[-1]:
        cells = cells[:-1]
    if len(cells) != width:
        hint = " For decimal commas separate the cells by semicolons." if separator == "," and len(cells) > width else ""
        raise TableError(
            f"this row has {counted(len(cells), 'cell')}, the first row {width} (separated by {NAMES[separator]}). Repair or "
            f"remove it.{hint}",
            Source(name, line),
        )
    return line, cells


def _with_points(name: str, rows: list[Row], separator: str) -> list[Row]:
    """The rows with decimal points in place of decimal commas."""
    seen: dict[str, tuple[int, str]] = {}  # first number with each decimal mark
    decided = separator == ";"
    for line, cells in rows:
        for cell in cells:
            mark = _mark(name, line, cell)
            if mark:
                seen.setdefault(mark, (line, cell))
                decided = decided or (mark == "," and not GROUPED.match(cell))
    if "," not in seen:
        return rows
    if "." in seen:
        (one, first), (two, second) = sorted(seen.values())
        raise TableError(
            f"'{second}' here and '{first}' in line {one} have different decimal marks. Write all numbers with a point, or all with a "
            "comma.",
            Source(name, two),
        )
    if not decided:
        line, cell = seen[","]
        raise TableError(
            f"'{cell}' may be a decimal number or have a thousands separator. Write it without one, or with a decimal point.",
            Source(name, line),
        )
    return [(line, [_with_point(cell) for cell in cells]) for line, cells in rows]


def _with_point(cell: str) -> str:
    found = MANTISSA.match(cell)
    return cell if found is None else found[0].replace(",", ".") + cell[found.end() :]


def _mark(name: str, line: int, cell: str) -> str:
    """The decimal mark of a cell: comma, point, or none."""
    found = MANTISSA.match(cell)
    if found is None:
        return ""
    commas, points = found[0].count(","), found[0].count(".")
    if commas and commas + points > 1:
        raise TableError(f"'{cell[:40]}' has more than one decimal mark. Write numbers without thousands separators.", Source(name, line))
    return "," if commas else "." if points == 1 else ""
