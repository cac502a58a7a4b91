"""Tables of any result as CSV or Excel files: a header with units, numbers as numbers, texts that no spreadsheet takes for formulas.

    write_csv(path, header, rows, csv_style(";", ","))      the separator and the decimal mark of a spreadsheet's country
    write_workbook(path, [WorkbookSheet("turn", header, rows), WorkbookSheet("model", ...)])

Cells are numbers, truth values, texts or None; in Excel a number that is not finite is an empty cell.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwright import files
from linkwright.errors import LinkwrightError, UsageError
from linkwright.results.tables import package

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
DECIMALS = (".", ",")
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_576, 16_384, 32_767  # of a sheet and of a cell in Excel
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")  # has no place in the XML of a workbook


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
        raise UsageError(f"decimal is '.' or ',', not {mark!r}.")
    named = {name: x for x, name in SEPARATORS.items()}
    cut = (";" if mark == "," else ",") if sep is None else named.get(sep, sep)
    if cut not in SEPARATORS:
        raise UsageError(f"sep is ',', ';' or a tab, not {sep!r}.")
    if cut == mark:
        raise UsageError("a comma cannot separate cells and be the decimal mark; choose sep=';'.")
    return CsvStyle(cut, mark)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], style: CsvStyle = PLAIN) -> None:
    """Write a table; the header is quoted, which is one of the marks of a table of ours."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL, delimiter=style.sep).writerow(map(files.safe_cell, header))
        writer = csv.writer(stream, delimiter=style.sep)
        writer.writerows([_csv_cell(x, style.decimal) for x in row] for row in rows)


def _csv_cell(x: Any, decimal: str) -> Any:
    if x is None:
        return ""
    if isinstance(x, str):
        return files.safe_cell(x)
    if isinstance(x, (bool, np.bool_, int, np.integer)):
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
    book.properties.creator = book.properties.lastModifiedBy = files.OWNER  # the mark: other programs put their own name there on saving
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
        raise UsageError(f"a sheet has at most {MOST_COLUMNS:,} columns, not {wide:,}: name fewer channels, or write .csv.")
    page.freeze_panes = "A2"
    for i, name in enumerate(sheet.header, 1):
        page.column_dimensions[openpyxl.utils.get_column_letter(i)].width = min(max(sheet.width, len(name) + 2.0), 60.0)
    page.append([_head(openpyxl, page, name) for name in sheet.header])
    for k, row in enumerate(sheet.rows, 2):
        if k > MOST_ROWS:
            raise UsageError(f"a sheet has at most {MOST_ROWS:,} rows: write .csv, .npz or .parquet.")
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
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    if isinstance(x, (int, np.integer)):
        return int(x)
    return None if x is None or not math.isfinite(x) else float(x)


def _text(openpyxl: Any, page: Any, text: str) -> Any:
    """A cell that holds a text, whatever it begins with."""
    cell = openpyxl.cell.WriteOnlyCell(page, value=_CONTROL.sub(" ", text)[:MOST_CHARACTERS])
    cell.data_type = "s"
    return cell
