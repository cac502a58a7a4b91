"""`linkwright study`: many designs of a model, measured, in a folder that continues where it was."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from linkwright.api import UsageError, files, readings
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb, by_name

STUDY = Verb(
    "linkwright.rings.design.studies.request:study",
    without=("mechanism", "vary", "measure", "case", "executor", "progress", "traces", "thinned"),
)


def run(given: argparse.Namespace) -> int:
    if given.output and not os.path.splitext(given.output)[1]:
        raise UsageError(f"-o is a file for all rows, .csv or .xlsx. A folder for the rows is given with --folder {given.output}.")
    outputs.check([(given.output, (".csv", ".xlsx")), (given.plot, files.PICTURES), (given.page, outputs.PAGES)], given.force)
    marks = options.csv_marks(given, given.output)
    from linkwright.rings.design.studies.request import study

    m = loading.load(given)
    vary = _ranges(given.vary)
    _check_goals(given)
    found = study(m, vary, given.measure, _case(given), **STUDY.given(given))
    written = outputs.write(
        (
            (given.output, lambda path: found.save(path, **marks)),
            (given.plot, lambda path: found.plot(None, path)),
            (given.page, found.show),
        )
    )
    return _print(found, given, written)


def _print(found: Any, given: argparse.Namespace, written: list[str]) -> int:
    summary = found.summary()
    if given.json:
        unknown = found.unknown
        best = {name: {"row": row, "values": found.values(row), "unknown": unknown.get(row, "")} for name, row in _bests(given, found)}
        data = {"model": found.manifest["name"], "complete": found.complete, "rows_wanted": found.total, "folder": given.folder}
        outputs.print_json("study", {**data, **summary.as_dict(), "best": best})
    else:
        if found.said:
            console.show(console.wrapped(f"note: {found.said}", 6))
        console.show(str(summary))
        for name, row in _bests(given, found):
            numbers = ", ".join(f"{k} = {found._shown_number(k, x)}" for k, x in found.values(row).items())
            why = found.unknown.get(row)
            console.show(f"{name}: row {row}, {numbers}{f'; unknown: {why}' if why else ''}")
        if found.plan is not None and found.plan.kind == "saltelli" and found.complete:
            for name in found.measures:
                console.show(str(found.indices(name)))
    outputs.report_files([*written, *([given.folder] if given.folder is not None else [])], given.json)
    if not found.complete:
        more = "the same command continues" if given.folder is not None else "with --folder they would be stored"
        print(f"interrupted: {len(found):,} of {found.total:,} rows are done; {more}.", file=sys.stderr)
        return 130
    return 0


def _check_goals(given: argparse.Namespace) -> None:
    """Raise UsageError for a goal that is none, before anything is computed."""
    measures = [" ".join(m.split()) for m in given.measure]
    for goal in given.best:
        word, _, rest = " ".join(goal.split()).partition(" ")
        if word not in ("min", "max") or rest not in measures:
            raise UsageError(f"--best: '{goal}' is not a goal: write min or max and a measure, 'min {measures[0]}'.", name=goal)


def _bests(given: argparse.Namespace, found: Any) -> list[tuple[str, int]]:
    return [(goal, found.best_row(goal)) for goal in given.best]


def _ranges(given: list[tuple[str, str]]) -> dict[str, Any]:
    """Ranges by name; values with commas are a list."""
    out: dict[str, Any] = by_name(given, "--vary")
    for name, text in out.items():
        if not text:
            raise UsageError(f"--vary {name} has no range. Write one, such as --vary '{name}=180..260 mm / 20'.")
        if readings.has_comma(text):
            raise UsageError(f"--vary {name}={text}: decimals are written with a point. Values of a list have a space after each comma.")
        out[name] = [x.strip() for x in text.split(",")] if "," in text and "(" not in text else text
    return out


def _case(given: argparse.Namespace) -> Any:
    if given.settle and given.simulate is not None:
        raise UsageError("--simulate and --settle are two different things. Give one of them.")
    return "settle" if given.settle else options.case_of(given)


COMMAND = CliCommand(
    name="study",
    topic="studies",
    help="many designs of a model: vary numbers, measure results, a table at the end",
    about="Compute many designs of a model and measure each. Numbers vary over ranges ('rod=180..260 mm / 20'), tolerances "
    "('rod=200 +- 0.1 mm'), distributions ('rod=normal(200 mm, 0.1 mm)') or values ('rod=180 mm, 200 mm'). With --folder the rows are "
    "stored as they are done, and the same command continues a study that was interrupted.",
    examples=(
        'linkwright study four-bar --vary "L1=280..320 mm / 20" --measure "max A.torque" --folder results',
        'linkwright study four-bar --vary "L1=300 +- 1 mm" --vary "L2=1 +- 0.002 m" --count 2000 --measure "range D" --plot spread.png',
        'linkwright study wiper --vary "crank.mass=0.2..0.4" --simulate 2 --measure "end A.v" -o runs.csv',
    ),
    options=(
        options.MODEL,
        options.vary("with a range 'rod=180..260 mm / 20', tolerance 'rod=200 +- 0.1 mm', distribution or values"),
        options.needed(options.MEASURE),
        options.SIMULATE,
        option("--settle", action="store_true", help="static equilibrium that takes the place of the cycle"),
        STUDY,
        option("--best", metavar="GOAL", action="append", default=[], help="design to show, with the least or greatest measure: 'min max "
               "A.torque' (may be repeated)"),
        *options.LOADING,
        options.STEPS,
        options.OUTPUT("all rows as .csv or .xlsx"),
        *options.MARKS,
        options.PLOT("the plot that suits the plan"),
        options.PAGE("sliders over the study"),
        *options.BOTH,
    ),
    run=run,
)  # fmt: skip
