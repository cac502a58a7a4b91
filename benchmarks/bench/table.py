"""Results of a benchmark: ratios, the table for people, CSV and JSON for programs.

A CSV file begins with lines `# name: value` that state the machine, then has one line per result; `read_csv` gives both back.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from benchmarks.bench import machine_info
from benchmarks.bench.cases import BenchRow
from linkwright import files
from linkwright.errors import UsageError
from linkwright.files import tables

COLUMNS = tuple(f.name for f in fields(BenchRow))
REALS, WHOLES = ("ns", "accuracy", "ratio"), ("operations",)
OURS = "linkwright"
EXACT = ("run",)  # quantities whose time depends on how exact the result shall be

MOST_BYTES = 10_000_000  # of a file of results


def deliver(rows: list[BenchRow], output: str | os.PathLike[str] | None, *, as_json: bool) -> list[BenchRow]:
    """Deliver the measurements with the machine: written as CSV if asked, and printed as JSON or as the table."""
    machine = machine_info.machine()
    if output is not None:
        write_csv(rows, machine, output)
    if as_json:
        print(json_text(rows, machine))
    else:
        show(rows, machine_info.text(machine))
    return rows


def with_ratios(rows: Iterable[BenchRow]) -> list[BenchRow]:
    """Every time over the best of ours for the same mechanism and quantity; of whole runs, the best that is not less exact."""
    rows = list(rows)
    mine: dict[tuple[str, str], list[BenchRow]] = {}
    for r in rows:
        if r.engine.startswith(OURS) and r.ns:
            mine.setdefault((r.mechanism, r.quantity), []).append(r)
    out = []
    for r in rows:
        rivals = [] if r.engine.startswith(OURS) else [x for x in mine.get((r.mechanism, r.quantity), []) if _compares(x, r)]
        reference = min((x.ns for x in rivals if x.ns), default=None)
        out.append(replace(r, ratio=r.ns / reference if r.ns and reference else None))
    return out


def _compares(own: BenchRow, other: BenchRow) -> bool:
    """A run can be as fast as anybody wants it to be wrong: only one with no larger error is a measure for another."""
    if other.quantity not in EXACT:
        return True
    return own.accuracy is not None and other.accuracy is not None and own.accuracy <= other.accuracy


def duration(ns: float | None) -> str:
    """A time for people: three digits and a unit."""
    if ns is None:
        return "-"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


# -------------------------------------------------------------------- files


def csv_text(rows: Sequence[BenchRow], machine: Mapping[str, str]) -> str:
    out = io.StringIO()
    for name, value in machine.items():
        out.write(f"# {name}: {value}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for r in rows:
        writer.writerow(["" if x is None else repr(x) if isinstance(x, float) else x for x in asdict(r).values()])
    return out.getvalue()


def write_csv(rows: Sequence[BenchRow], machine: Mapping[str, str], path: str | os.PathLike[str]) -> Path:
    """Write results; an older file of that name is replaced."""
    return files.write_text(path, (".csv",), csv_text(rows, machine))


def read_csv(path: str | os.PathLike[str]) -> tuple[list[BenchRow], dict[str, str]]:
    """(results, machine) of a file that `write_csv` made."""
    lines = files.read_regular(path, MOST_BYTES).decode().splitlines()
    heads = [line[2:] for line in lines if line.startswith("# ")]
    machine = {name: value for name, _, value in (head.partition(": ") for head in heads)}
    found = list(csv.DictReader(line for line in lines if not line.startswith("# ")))
    if not found or tuple(found[0]) != COLUMNS:
        raise UsageError(f"{path} does not hold results of `linkwright bench`: its columns should be {', '.join(COLUMNS)}.")
    return [_row(line) for line in found], machine


def _row(line: Mapping[str, str]) -> BenchRow:
    def value(name: str) -> Any:
        if name in REALS:
            return float(line[name]) if line[name] else None
        if name in WHOLES:
            return int(line[name]) if line[name] else None
        return line[name]

    return BenchRow(**{name: value(name) for name in COLUMNS})


def json_text(rows: Sequence[BenchRow], machine: Mapping[str, str]) -> str:
    data = {"schema": "linkwright.bench/1", "machine": dict(machine), "results": [asdict(r) for r in rows]}
    return json.dumps(data, indent=2, allow_nan=False)


# -------------------------------------------------------------------- for people


def show(rows: Sequence[BenchRow], machine_text: str) -> None:
    """Print one table, a block per mechanism; below it what was not measured, and the machine."""
    header = ("mechanism", "quantity", "engine", "time", "over ours", "operations", "error", "note")
    cells: list[tuple[str, ...]] = []
    before = ("", "")
    for r in (r for r in rows if r.ns is not None):
        here = (r.mechanism, r.quantity)
        if before[0] and here[0] != before[0]:
            cells.append(("",) * len(header))
        cells.append(
            (
                r.mechanism if here[0] != before[0] else "",
                r.quantity if here != before else "",
                f"{r.engine} {r.version}".strip(),
                duration(r.ns),
                "" if r.ratio is None else f"{r.ratio:.3g} x",
                "" if r.operations is None else str(r.operations),
                "" if r.accuracy is None else f"{r.accuracy:.0e}",
                r.note,
            )
        )
        before = here
    print("Time of one evaluation or run, and how far the result is from ours\n")
    print("\n".join(tables.aligned([header, *cells], left=(0, 1, 2, 7))), end="\n\n")
    for engine, quantity, reason in sorted({(r.engine, r.quantity, r.note) for r in rows if r.ns is None}):
        print(f"{engine}, {quantity}: {reason}")
    print(machine_text)
