"""Sheets of cells in files: CSV files read as people and spreadsheets write them, CSV and Excel files written.

Reading: cells are separated by semicolons, tabs or commas, the same throughout the file (Excel's first line `sep=;` is understood).
Numbers have a decimal point or a decimal comma, the same throughout the file; thousands separators are refused, because
1,234 could then mean two numbers. A first row without numbers is the header: `A [deg]` or `A (deg)` names a column and its
unit. Empty lines and lines that begin with # are passed over. Every row must have as many cells as the first: a row that
does not is an error with its line, so that no cell is ever dropped.

Writing: a header with units, numbers as numbers, texts that no spreadsheet takes for formulas.

    write_csv(path, header, rows, csv_style(";", ","))      the separator and the decimal mark of a spreadsheet's country
    write_workbook(path, [WorkbookSheet("cycle", header, rows), WorkbookSheet("model", ...)])

Cells are numbers, truth values, texts or None; in Excel a number that is not finite is an empty cell.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from linkwright.errors import LinkwrightError, Source, UsageError, counted, package
from linkwright.files.ownership_marks import OWNER
from linkwright.files.regular_files import need_path, read_regular, shown

MANTISSA = re.compile(r"[-+]?(?=[.,]?[0-9])[0-9.,]+")
GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2},[0-9]{3}\Z")  # 1,234: also a number with a thousands separator
HEADER = re.compile(r"(?P<name>.*?)\s*(?:[\[(](?!\d+\])(?P<unit>[^\[\]()]*)[\])])?")  # `A [deg]`, `A (deg)`; `lam[0]` is a name
SEPARATOR = re.compile(r"sep=([;,\t])\Z", re.IGNORECASE)
NAMES = {";": "semicolons", "\t": "tabs", ",": "commas"}
Row = tuple[int, list[str]]
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
DECIMALS = (".", ",")
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_576, 16_384, 32_767  # of a sheet and of a cell in Excel
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")  # has no place in the XML of a workbook


class TableError(UsageError):
    """A CSV file that cannot be read as a table; `reason` without the place, for callers that add their own text."""

    def __init__(self, reason: str, where: Source, *more: str, **data: Any):
        self.reason, self.where = " ".join((reason, *more)), where
        super().__init__(f"{where}: {reason}", *more, **data)


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
        raise TableError("the file holds NUL characters, so it is not a text file. Save it as CSV UTF-8.", Source(name, 1))
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
            name=second,
        )
    if not decided:
        line, cell = seen[","]
        raise TableError(
            f"'{cell}' may be a decimal number or have a thousands separator. Write it without one, or with a decimal point.",
            Source(name, line),
            name=cell,
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


# -------------------------------------------------------------------- writing


@dataclass(frozen=True)
class CsvStyle:
    """Separator of cells and decimal mark of numbers."""

    sep: str = ","
    decimal: str = "."


PLAIN = CsvStyle()


def csv_style(sep: str | None = None, decimal: str | None = None) -> CsvStyle:
    """Return the style asked for; with a decimal comma the separator is a semicolon unless another one is given."""
    mark = "." if decimal is None else decimal
    if mark not in DECIMALS:
        raise UsageError(f"decimal is '.' or ',', not {mark!r}.", name="decimal", value=mark)
    named = {name: x for x, name in SEPARATORS.items()}
    cut = (";" if mark == "," else ",") if sep is None else named.get(sep, sep)
    if cut not in SEPARATORS:
        raise UsageError(f"sep is ',', ';' or a tab, not {sep!r}.", name="sep", value=sep)
    if cut == mark:
        raise UsageError("a comma cannot separate cells and be the decimal mark. Choose sep=';'.", name="sep")
    return CsvStyle(cut, mark)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], style: CsvStyle = PLAIN) -> None:
    """Write a table; the header is quoted, which is one of the marks of a table of ours."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL, delimiter=style.sep).writerow(map(safe_cell, header))
        writer = csv.writer(stream, delimiter=style.sep)
        writer.writerows([_csv_cell(x, style.decimal) for x in row] for row in rows)


def _truth(x: Any) -> bool:
    """True for a truth value, of numpy too: that is not imported, since commands without numbers start without it."""
    return type(x).__name__ in ("bool", "bool_")


def _csv_cell(x: Any, decimal: str) -> Any:
    if x is None:
        return ""
    if isinstance(x, str):
        return safe_cell(x)
    if _truth(x) or isinstance(x, Integral):
        return x
    text = repr(float(x))
    return text if decimal == "." else text.replace(".", decimal)


@dataclass(frozen=True)
class WorkbookSheet:
    """A sheet of a workbook."""

    title: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]
    width: float = 14.0  # of a column, in characters, at least


def check_workbook() -> None:
    """Raise UsageError if workbooks cannot be written here."""
    package("openpyxl", "excel")


def write_workbook(path: Path, sheets: Sequence[WorkbookSheet]) -> None:
    """Write sheets with a bold, fixed header each; more rows or columns than Excel has raise UsageError."""
    openpyxl = package("openpyxl", "excel")
    book = openpyxl.Workbook(write_only=True)
    book.properties.creator = book.properties.lastModifiedBy = OWNER  # the mark: other programs put their own name there on saving
    try:
        for sheet in sheets:
            _fill(openpyxl, book.create_sheet(sheet.title[:31]), sheet)
        book.save(path)
    except BaseException as problem:
        for page in book.worksheets:  # rows are in temporary files until they are saved
            _abandon(page)
        if isinstance(problem, (LinkwrightError, OSError)) or not isinstance(problem, Exception):
            raise
        raise OSError(errno.EIO, f"the workbook could not be written ({problem})") from problem  # of the XML writer: a full disk


def _fill(openpyxl: Any, page: Any, sheet: WorkbookSheet) -> None:
    if len(sheet.header) > MOST_COLUMNS:
        wide = len(sheet.header)
        raise UsageError(f"a sheet has at most {MOST_COLUMNS:,} columns, not {wide:,}: name fewer channels, or write .csv.", value=wide)
    page.freeze_panes = "A2"
    for i, name in enumerate(sheet.header, 1):
        page.column_dimensions[openpyxl.utils.get_column_letter(i)].width = min(max(sheet.width, len(name) + 2.0), 60.0)
    page.append([_head(openpyxl, page, name) for name in sheet.header])
    for k, row in enumerate(sheet.rows, 2):
        if k > MOST_ROWS:
            raise UsageError(f"a sheet has at most {MOST_ROWS:,} rows: write .csv, .npz or .parquet.", name="sheet")
        page.append([_book_cell(openpyxl, page, x) for x in row])


def _abandon(page: Any) -> None:
    """Close a sheet whose book is not saved and remove its temporary file."""
    with contextlib.suppress(Exception):
        page.close()
    with contextlib.suppress(Exception):
        page._writer.cleanup()


def _head(openpyxl: Any, page: Any, text: str) -> Any:
    cell = _text(openpyxl, page, text)
    cell.font = openpyxl.styles.Font(bold=True)
    return cell


def _book_cell(openpyxl: Any, page: Any, x: Any) -> Any:
    if isinstance(x, str):
        return _text(openpyxl, page, x)
    if _truth(x):
        return bool(x)
    if isinstance(x, Integral):
        return int(x)
    return None if x is None or not math.isfinite(x) else float(x)


def _text(openpyxl: Any, page: Any, text: str) -> Any:
    """A cell that holds a text, whatever it begins with."""
    cell = openpyxl.cell.WriteOnlyCell(page, value=_CONTROL.sub(" ", text)[:MOST_CHARACTERS])
    cell.data_type = "s"
    return cell
