"""Results of a command: JSON on stdout, files that are checked before anything is computed, and a line for each one written."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from linkwright.api import UsageError, files, visible
from linkwright.rings.cli import console
from linkwright.rings.cli.schemas import table

PAGES, TABLES = files.PAGES, files.TABLES
Wanted = tuple[str | None, Sequence[str]]


def check(wanted: Iterable[Wanted], force: bool) -> None:
    """Raise before anything is computed if an output cannot be written, is named twice, or would overwrite a foreign file."""
    asked = [(path, endings) for path, endings in wanted if path is not None]
    if any(not path.strip() for path, _ in asked):
        raise UsageError("the name of an output file is empty. Give one, such as result.html, or leave the option out.")
    places = [os.path.normcase(os.path.realpath(path)) for path, _ in asked]
    if len(set(places)) < len(places):
        raise UsageError("two outputs have the same file name. Give each another name.")
    for path, endings in asked:
        files.guarded(path, endings, force=force)
        _check_program(path)


def _check_program(path: str) -> None:
    """Some formats need something installed: better known before a long computation than after."""
    if path.lower().endswith(".parquet"):
        from linkwright.api import package

        package("pyarrow.parquet")
    if path.lower().endswith(".xlsx"):
        from linkwright.api import sheets

        sheets.check_workbook()
    if path.lower().endswith(".mp4"):
        from linkwright.rings.studio.animation import check_program

        check_program(path)


def write(jobs: Iterable[tuple[str | None, Callable[[str], Any]]]) -> list[str]:
    """Write the files that were asked for and return their names."""
    written = []
    for path, make in jobs:
        if path is not None:
            make(path)
            written.append(path)
    return written


def deliver(command: str, given: Any, data: Callable[[], Mapping[str, Any]], text: Callable[[], str], written: Iterable[str] = ()) -> None:
    """Print the result of a command, as JSON or as text, and a line for every file."""
    if given.json:
        print_json(command, data())
    else:
        console.show(text())
    report_files(written, given.json)


def report_files(paths: Iterable[str], as_json: bool) -> None:
    """A line for every file; beside JSON on stderr."""
    for path in paths:
        if as_json:
            print(visible(f"wrote {path}"), file=sys.stderr)
        else:
            console.show(f"wrote {path}")


def print_json(command: str, data: Mapping[str, Any]) -> None:
    """One object on stdout, in the format of the command. Numbers that are not finite have no place in JSON: null."""
    console.show(json.dumps({"schema": table(command).format, **_finite(data)}, indent=1, allow_nan=False))


def _finite(x: Any) -> Any:
    if isinstance(x, Mapping):
        return {str(k): _finite(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [_finite(v) for v in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x


def channel_data(c: Any, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Channels of one number by name: SI unit and values."""
    from linkwright.results.tables import unit_of

    found = c.read(names)
    return {n: {"unit": unit_of((), c.dimension(n))[0], "values": [float(x) for x in values]} for n, values in found.items()}
