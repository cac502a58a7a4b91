"""Tables of results: columns with a name, a unit, values and a short meaning, and what every result does with its table.

    t = bearings.table()        print(t)        len(t)        t["max"].values, t["max"].unit
    t.to_pandas()               t.save("x.csv"), "x.xlsx", "x.parquet", "x.json"        t.as_dict()

A result derives from `Result` and gives `table()`. It then prints, shows itself in a notebook, and writes itself to files in the same
way as every other result.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import Renamed, UsageError, counted, nearest, package
from linkwright.files.csv_and_excel import CsvStyle, WorkbookSheet, csv_style, write_csv, write_workbook
from linkwright.files.ownership_marks import OWNER
from linkwright.files.writing import checked, replacing

if TYPE_CHECKING:
    from pandas import DataFrame

DASH = "-"  # in place of a value that there is not
MOST_ROWS = 60  # of a table that is printed by itself; of a longer one both ends are shown
FORBIDDEN = re.compile(r"[\[\]:*?/\\]")  # in the name of a sheet
MARK = "linkwright table"  # metadata of a Parquet file
Head = str | tuple[str, ...]  # a name; or name, unit, style, meaning, as far as they are given


# -------------------------------------------------------------------- texts of cells


@dataclass(frozen=True)
class Cell:
    """A value that is written otherwise than its column says: a number with a mark, or a text in place of a number."""

    value: Any
    text: str


def marked(x: float, near: bool) -> Any:
    """A number for a table, with * if it is taken near a singular position."""
    return Cell(x, f"{show(x)}*") if near else x


def show(x: Any, style: str = "") -> str:
    """A value as text: a number to four digits, without exponents where they only confuse, or in a `style` such as ".6g"; a dash for
    nothing."""
    if isinstance(x, Cell):
        return x.text
    if x is None:
        return DASH
    if isinstance(x, str):
        return x
    if isinstance(x, bool | np.bool_):
        return "yes" if x else "no"
    if isinstance(x, int | np.integer):
        return f"{x:{style or 'd'}}"
    if math.isnan(x):
        return DASH
    if style or math.isinf(x):
        return f"{x:{style}}"
    if x == 0.0 or abs(x) < 1e-12:
        return "0"
    if not 1e-3 <= abs(x) < 1e7:
        return f"{x:.3e}"
    decimals = int(np.clip(3 - np.floor(np.log10(abs(x))), 0, 6))
    return f"{x:.{decimals}f}"


def aligned(lines: Sequence[Sequence[str]], left: int | Collection[int] | None = None) -> list[str]:
    """Return one text per line, cells padded to the width of their column, two spaces apart; columns are flush right except those `left`:
    the first so many, those numbered, or all (None)."""
    widths = [max(len(x) for x in column) for column in zip(*lines, strict=True)]
    to_the_left = range(len(widths) if left is None else left) if left is None or isinstance(left, int) else left
    put = [str.ljust if i in to_the_left else str.rjust for i in range(len(widths))]
    return ["  ".join(f(x, w) for f, x, w in zip(put, line, widths, strict=True)).rstrip() for line in lines]


# -------------------------------------------------------------------- columns and tables


@dataclass(frozen=True, eq=False)
class Column:
    """Values of one quantity in one unit. `unit` is empty for texts and plain counts; numbers that are not known are nan."""

    name: str
    unit: str
    values: np.ndarray
    meaning: str = ""
    style: str = ""  # how numbers are written, ".6g"; four digits without
    texts: Mapping[int, str] = field(default_factory=dict, repr=False)  # rows that are written otherwise

    @classmethod
    def of(cls, name: str, unit: str, cells: Sequence[Any] | np.ndarray, meaning: str = "", style: str = "") -> Column:
        """Return a column of numbers, truth values or texts; None is a value that there is not, a `Cell` brings its text."""
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub":
            return cls(name, unit, cells, meaning, style)
        texts = {i: x.text for i, x in enumerate(cells) if isinstance(x, Cell)}
        return cls(name, unit, _array([x.value if isinstance(x, Cell) else x for x in cells], bool(unit)), meaning, style, texts)

    @property
    def head(self) -> str:
        """Name and unit, `A [deg]`."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    @property
    def numeric(self) -> bool:
        """True for numbers, False for texts and truth values."""
        return self.values.dtype.kind in "fiu"

    @property
    def known(self) -> bool:
        """True if at least one value is there."""
        return bool(self.texts) or any(plain(x) is not None for x in self.values)

    def text(self, row: int) -> str:
        """Return a value as it is printed."""
        return self.texts[row] if row in self.texts else show(self.values[row], self.style if self.numeric else "")

    def cell(self, row: int) -> Any:
        """Return a value with its text, where it is written otherwise."""
        x = self.values[row].item() if isinstance(self.values[row], np.generic) else self.values[row]
        return Cell(x, self.texts[row]) if row in self.texts else x

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, row: Any) -> Any:
        return self.values[row]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)


def _array(cells: Sequence[Any], measured: bool) -> np.ndarray:
    """The cells as an array: of numbers, with nan for None; of truth values; or of objects. Without any value, one that is `measured` in a
    unit is of numbers."""
    some = [x for x in cells if x is not None]
    if some and all(isinstance(x, bool | np.bool_) for x in some) and len(some) == len(cells):
        return np.array(cells, dtype=bool)
    number = (int, float, np.integer, np.floating)
    if (some or measured) and all(isinstance(x, number) and not isinstance(x, bool) for x in some):
        whole = bool(some) and len(some) == len(cells) and all(isinstance(x, int | np.integer) for x in some)
        return np.array([np.nan if x is None else x for x in cells], dtype=int if whole else float)
    out = np.empty(len(cells), dtype=object)
    out[:] = list(cells)
    return out


def plain(x: Any) -> Any:
    """A value as JSON has it; None where it is not known."""
    if x is None or isinstance(x, str):
        return x
    if isinstance(x, bool | np.bool_):
        return bool(x)
    if isinstance(x, int | np.integer):
        return int(x)
    if isinstance(x, float | np.floating):
        return float(x) if math.isfinite(x) else None
    return str(x)


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns of one length. `table["max"]` is a column, `len(table)` the number of rows; prints as aligned text.

    `parts` are further tables of the same result, which become sheets of a workbook.
    """

    columns: tuple[Column, ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    parts: tuple[Table, ...] = ()

    def __post_init__(self) -> None:
        lengths = {len(c) for c in self.columns}
        if len(lengths) > 1:
            raise ValueError(f"columns of a table have one length, not {sorted(lengths)}.")
        object.__setattr__(self, "columns", tuple(_named_apart(self.columns)))

    @classmethod
    def of(cls, heads: Sequence[Head], rows: Sequence[Sequence[Any]], title: str = "", notes: Sequence[str] = (), **more: Any) -> Table:
        """Return a table of rows. A head is a name, or (name, unit), (name, unit, style), (name, unit, style, meaning)."""
        given = [(*((h,) if isinstance(h, str) else h), "", "", "")[:4] for h in heads]
        cells = list(zip(*rows, strict=True)) if rows else [() for _ in given]
        columns = [Column.of(n, u, x, meaning, style) for (n, u, style, meaning), x in zip(given, cells, strict=True)]
        return cls(tuple(columns), title, tuple(notes), **more)

    @classmethod
    def of_columns(cls, columns: Iterable[tuple[str, str, Any]], title: str = "", notes: Sequence[str] = (), **more: Any) -> Table:
        """Return a table of columns: name, unit, values."""
        return cls(tuple(Column.of(*x) for x in columns), title, tuple(notes), **more)

    @classmethod
    def stacked(cls, tables: Sequence[Table], title: str = "", notes: Sequence[str] = (), **more: Any) -> Table:
        """Return the rows of several tables below each other; columns of one name and other units stay apart, `RMS (N)`, `RMS (N m)`."""
        units: dict[str, set[str]] = {}
        for c in (c for t in tables for c in t.columns):
            units.setdefault(c.name, set()).add(c.unit)
        named = [{(c.name if len(units[c.name]) == 1 else f"{c.name} ({c.unit})"): c for c in t.columns} for t in tables]
        heads = {name: (name, c.unit, c.style, c.meaning) for t in named for name, c in t.items()}
        rows = [[t[n].cell(i) if n in t else None for n in heads] for t in named for i in range(len(next(iter(t.values()))))]
        return cls.of(list(heads.values()), rows, title, notes, **more)

    @property
    def names(self) -> list[str]:
        return [c.name for c in self.columns]

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns by name, empty where there is none."""
        return {c.name: c.unit for c in self.columns}

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """Return the values row by row."""
        return list(zip(*(c.values.tolist() for c in self.columns), strict=True))

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def _ipython_key_completions_(self) -> list[str]:
        """Names after `table["` and Tab."""
        return self.names

    def __getitem__(self, name: str) -> Column:
        for c in self.columns:
            if c.name == name:
                return c
        raise UsageError(f"the table has no column '{name}'.", nearest(str(name), self.names, "Columns"))

    def without_empty(self) -> Table:
        """Return the table without columns in which no value is known; all of them where there are no rows."""
        return Table(tuple(c for c in self.columns if c.known or not len(c)), self.title, self.notes, self.parts)

    # ---------------------------------------------------------------- texts

    def text(self, most: int | None = None, width: int | None = None) -> str:
        """Return aligned text, units on a line of their own; of more than `most` rows both ends, columns beyond `width` below."""
        n = len(self)
        shown = range(n) if most is None or n <= most else [*range(most // 2), *range(n - most // 2, n)]
        cut = len(shown) // 2 if len(shown) < n else None
        cells = [[c.name, f"[{c.unit}]" if c.unit else "", *_cut([c.text(i) for i in shown], cut)] for c in self.columns]
        blocks = ["\n".join(self._lines(cells, some)) for some in _blocks([max(map(len, x)) for x in cells], width)]
        return "\n\n".join(blocks) + (f"\n{counted(n, 'row', spec=',')}" if cut is not None else "")

    def _lines(self, cells: Sequence[Sequence[str]], some: Sequence[int]) -> list[str]:
        lines = list(zip(*(cells[i] for i in some), strict=True))
        lines = lines if any(lines[1]) else [lines[0], *lines[2:]]
        return aligned(lines, [k for k, i in enumerate(some) if not self.columns[i].numeric])

    def __str__(self) -> str:
        widest = 180  # characters of a line of a table that is printed by itself; further columns go below
        return "\n".join([*([self.title] if self.title else []), self.text(MOST_ROWS, widest), *(f"note: {x}" for x in self.notes)])

    def __repr__(self) -> str:
        named = f" {self.title!r}" if self.title else ""
        return f"<Table{named}: {counted(len(self), 'row', spec=',')} of {', '.join(c.head for c in self.columns)}>"

    def _repr_html_(self) -> str:
        """Notebooks: the table with its title and notes."""
        shown = range(len(self)) if len(self) <= MOST_ROWS else [*range(MOST_ROWS // 2), *range(len(self) - MOST_ROWS // 2, len(self))]
        heads = "".join(_tag("th", c.name, c.unit, c.meaning) for c in self.columns)
        body = ["".join(_aligned_cell(c, i) for c in self.columns) for i in shown]
        if len(shown) < len(self):
            more = counted(len(self) - len(shown), "more row", spec=",")
            body.insert(len(shown) // 2, f'<td colspan="{len(self.columns)}">{more}</td>')
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        said = "".join(f"<div>{escape(x)}</div>" for x in self.notes)
        rows = "".join(f"<tr>{x}</tr>" for x in body)
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{said}"

    def __rich__(self) -> Any:
        """The table for `rich.print`."""
        rich, text = package("rich.table"), package("rich.text").Text
        out = rich.Table(title=self.title or None, caption="\n".join(self.notes) or None)
        for c in self.columns:
            out.add_column(text(f"{c.name}\n[{c.unit}]" if c.unit else c.name), justify="right" if c.numeric else "left")
        for i in range(len(self)):
            out.add_row(*(text(c.text(i)) for c in self.columns))
        return out

    # ---------------------------------------------------------------- data

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON has it: columns with name, unit, meaning and values, None for a value that is not known."""
        columns = [{"name": c.name, "unit": c.unit, "meaning": c.meaning, "values": [plain(x) for x in c.values]} for c in self.columns]
        out: dict[str, Any] = {"title": self.title, "columns": columns, "notes": list(self.notes)}
        return out | ({"parts": [t.as_dict() for t in self.parts]} if self.parts else {})

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame; `frame.attrs["units"]` has the units."""
        out = package("pandas").DataFrame({c.name: c.values for c in self.columns})
        out.attrs["units"] = self.units
        return out

    def save(self, path: str | os.PathLike[str], *, sep: str | None = None, decimal: str | None = None) -> Path:
        """Write .csv, .xlsx, .parquet or .json; an older file is replaced, atomically.

        `sep` (",", ";", "tab") and `decimal` (".", ",") are for .csv files.
        """
        style = style_for(checked(path, ENDINGS), sep, decimal)
        with replacing(path, ENDINGS) as temporary:
            WRITERS[temporary.suffix.lower()](self, temporary, style)
        return Path(path)

    @property
    def sheet(self) -> WorkbookSheet:
        """The table as a sheet of a workbook."""
        return WorkbookSheet(FORBIDDEN.sub(" ", self.title) or "table", [c.head for c in self.columns], self.rows)


def _named_apart(columns: Sequence[Column]) -> Iterator[Column]:
    """Columns of which no two have one name: a parameter may be called `design` or `row`, as a column of the table is."""
    seen: set[str] = set()
    for c in columns:
        name = next(x for x in (c.name, *(f"{c.name} ({k})" for k in range(2, len(columns) + 2))) if x not in seen)
        seen.add(name)
        yield c if name == c.name else replace(c, name=name)


def style_for(place: Path, sep: str | None, decimal: str | None) -> CsvStyle:
    """The style of a CSV file; raise UsageError where another kind of file is given one."""
    if place.suffix.lower() != ".csv" and (sep is not None or decimal is not None):
        raise UsageError(f"sep and decimal are for .csv files. '{place.name}' is none. Leave them out.", name=place.name)
    return csv_style(sep, decimal)


def _cut(texts: list[str], at: int | None) -> list[str]:
    return texts if at is None else [*texts[:at], "...", *texts[at:]]


def _blocks(widths: Sequence[int], most: int | None) -> list[list[int]]:
    """Columns that fit into lines of `most` characters; the first column leads every block."""
    if most is None or sum(widths) + 2 * len(widths) <= most:
        return [list(range(len(widths)))]
    out, free = [[0]], most - widths[0]
    for i in range(1, len(widths)):
        if widths[i] + 2 > free and len(out[-1]) > 1:
            out.append([0])
            free = most - widths[0]
        out[-1].append(i)
        free -= widths[i] + 2
    return out


def _tag(tag: str, name: str, unit: str, meaning: str) -> str:
    hint = f' title="{escape(meaning)}"' if meaning else ""
    return f"<{tag}{hint}>{escape(name)}{f'<br>[{escape(unit)}]' if unit else ''}</{tag}>"


def _aligned_cell(c: Column, i: int) -> str:
    side = "right" if c.numeric else "left"
    return f'<td style="text-align:{side}">{escape(c.text(i))}</td>'


# -------------------------------------------------------------------- files


def _write_csv(t: Table, path: Path, style: CsvStyle) -> None:
    rows = zip(*(_cells(c) for c in t.columns), strict=True)
    write_csv(path, [c.head for c in t.columns], rows, style)


def _cells(c: Column) -> list[Any]:
    """Values for a file; one that is not known is an empty cell."""
    return [None if isinstance(x, float) and math.isnan(x) else x for x in c.values.tolist()]


def _write_xlsx(t: Table, path: Path, style: CsvStyle) -> None:
    write_workbook(path, [t.sheet, *(x.sheet for x in t.parts)])


def _write_parquet(t: Table, path: Path, style: CsvStyle) -> None:
    pa, pq = package("pyarrow"), package("pyarrow.parquet")
    arrays = [pa.array(c.values) if c.values.dtype.kind in "fiub" else pa.array(_one_kind(c)) for c in t.columns]
    fields = [pa.field(c.name, a.type, metadata={"unit": c.unit, "meaning": c.meaning}) for c, a in zip(t.columns, arrays, strict=True)]
    about = {MARK: json.dumps({"title": t.title, "notes": list(t.notes)})}
    pq.write_table(pa.table(arrays, schema=pa.schema(fields, metadata=about)), path)


def _one_kind(c: Column) -> list[Any]:
    """Values of a column of objects: truth values, or texts."""
    found = [plain(x) for x in c.values]
    return found if all(x is None or isinstance(x, bool) for x in found) else [None if x is None else str(x) for x in found]


def _write_json(t: Table, path: Path, style: CsvStyle) -> None:
    found = t.as_dict()
    path.write_text(json.dumps({**found, "title": f"{OWNER}: {t.title}".rstrip(": ")}, indent=1, ensure_ascii=False) + "\n", "utf-8")


WRITERS: dict[str, Callable[[Table, Path, CsvStyle], None]] = {
    ".csv": _write_csv,
    ".json": _write_json,
    ".parquet": _write_parquet,
    ".xlsx": _write_xlsx,
}
ENDINGS = tuple(WRITERS)


# -------------------------------------------------------------------- results


class Result(Renamed):
    """A result: one word for one thing in all of them.

    `table()` is the one table; printing, notebooks, `save`, `to_pandas` and `as_dict` follow from it. Where a result has them, `ok` is
    True or False (of many rows a mask), `why` the reason as text (of many rows those of the failed ones, by row), `notes` a tuple of
    sentences, `checks()` the list of checks, `plot(..., path=...)` a picture.
    """

    def table(self) -> Table:
        """Return the result as a table: columns with name, unit and values."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data for JSON."""
        return self.table().as_dict()

    def to_pandas(self) -> DataFrame:
        """Return the table as a pandas DataFrame. `frame.attrs["units"]` has the units."""
        return self.table().to_pandas()

    def save(self, path: str | os.PathLike[str], *, sep: str | None = None, decimal: str | None = None) -> Path:
        """Write the table as .csv, .xlsx, .parquet or .json. `sep` and `decimal` are for .csv files."""
        if hasattr(type(self), "mechanism") and os.fspath(path).lower().endswith((".yaml", ".yml")):
            kind = type(self).__name__
            raise UsageError(
                f"save of {kind} writes its table ({', '.join(ENDINGS)}). .mechanism.save({str(path)!r}) writes the model.", name=path
            )
        return self.table().save(path, sep=sep, decimal=decimal)

    def __str__(self) -> str:
        return "\n".join([self.table().text(), *(f"note: {x}" for x in getattr(self, "notes", ()))])

    def _repr_html_(self) -> str | None:
        """Notebooks: the table and the notes."""
        t = self.table()
        return Table(t.columns, t.title, tuple(dict.fromkeys([*t.notes, *getattr(self, "notes", ())])))._repr_html_()
