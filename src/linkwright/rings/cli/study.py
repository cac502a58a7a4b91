"""`linkwright study`: many designs of a model, measured, in a folder that continues where it was."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

from linkwright import files
from linkwright.errors import UsageError
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option

_COMMA = re.compile(r"\d,\d")


def run(given: argparse.Namespace) -> int:
    outputs.check([(given.plot, files.PICTURES), (given.page, outputs.PAGES), (given.table, (".csv", ".xlsx"))], given.force)
    marks = options.csv_marks(given, given.table)
    from linkwright.rings.design.studies.request import study

    m = loading.load(given)
    vary = _pairs(given.vary)
    _check_goals(given)
    found = study(
        m,
        vary,
        given.measure,
        _case(given),
        plan=given.plan,
        count=given.count,
        seed=given.seed,
        folder=given.output,
        executor=None,
        threads=given.threads,
    )
    written = []
    if given.table is not None:
        found.save(given.table, **marks)
        written.append(given.table)
    if given.plot is not None:
        found.plot(None, given.plot)
        written.append(given.plot)
    if given.page is not None:
        found.show(given.page)
        written.append(given.page)
    return _print(found, given, written)


def _print(found: Any, given: argparse.Namespace, written: list[str]) -> int:
    summary = found.summary()
    if given.json:
        unknown = found.unknown
        best = {name: {"row": row, "values": found.values(row), "unknown": unknown.get(row, "")} for name, row in _bests(given, found)}
        data = {"model": found.manifest["name"], "complete": found.complete, "rows_wanted": found.total, "folder": given.output}
        outputs.print_json("study/1", {**data, **summary.as_dict(), "best": best})
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
    outputs.report_files([*written, *([given.output] if given.output is not None else [])], given.json)
    if not found.complete:
        more = "the same command continues" if given.output is not None else "with -o FOLDER they would be stored"
        print(f"interrupted: {len(found):,} of {found.total:,} rows are done; {more}.", file=sys.stderr)
        return 130
    return 0


def _check_goals(given: argparse.Namespace) -> None:
    """Raise UsageError for a goal that is none, before anything is computed."""
    measures = [" ".join(m.split()) for m in given.measure]
    for goal in given.best or ():
        word, _, rest = " ".join(goal.split()).partition(" ")
        if word not in ("min", "max") or rest not in measures:
            raise UsageError(f"--best: '{goal}' is no goal: write min or max and a measure, 'min {measures[0]}'.")


def _bests(given: argparse.Namespace, found: Any) -> list[tuple[str, int]]:
    return [(goal, found.best_row(goal)) for goal in given.best or ()]


def _pairs(given: list[tuple[str, str]]) -> dict[str, Any]:
    """Ranges by name; values with commas are a list."""
    out: dict[str, Any] = {}
    for name, text in given:
        if name in out:
            raise UsageError(f"--vary: '{name}' is there twice.")
        if _COMMA.search(text):
            raise UsageError(f"--vary {name}={text}: decimals are written with a point; values of a list have a space after each comma.")
        out[name] = [x.strip() for x in text.split(",")] if "," in text and "(" not in text else text
    return out


def _case(given: argparse.Namespace) -> Any:
    from linkwright.rings.design.studies.cases import Cycle, Run

    if given.simulate is not None and given.settle:
        raise UsageError("--simulate and --settle are two different things; give one of them.")
    if given.simulate is not None:
        if given.steps is not None:
            raise UsageError("--steps is for a turn; a run has --simulate alone.")
        return Run(given.simulate)
    return "settle" if given.settle else Cycle(steps=given.steps or options.STEPS_DEFAULT)


def count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def seed(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a seed: a whole number from 0 on")
    return int(text)


COMMAND = CliCommand(
    name="study",
    help="many designs of a model: vary numbers, measure results, a table at the end",
    about="Compute many designs of a model and measure each. Numbers vary over ranges ('rod=180..260 mm / 20'), tolerances "
    "('rod=200 +- 0.1 mm'), distributions ('rod=normal(200 mm, 0.1 mm)') or values ('rod=180 mm, 200 mm'). With -o the rows are stored in "
    "a folder as they are done, and the same command continues a study that was interrupted.",
    examples=(
        'linkwright study four-bar --vary "L1=280..320 mm / 20" --measure "max A.torque" -o results',
        'linkwright study four-bar --vary "L1=300 +- 1 mm" --vary "L2=1 +- 0.002 m" --count 2000 --measure "range D" --plot spread.png',
        'linkwright study wiper --vary "crank.mass=0.2..0.4" --simulate 2 --measure "end A.v" --table runs.csv',
    ),
    options=(
        options.MODEL,
        option("--vary", metavar="NAME=RANGE", action="append", type=options.assignment, required=True, help="a number ('rod.length', "
               "a pin 'C', a pattern '*.length') and its range, tolerance ('+- 0.1 mm'), distribution or values; may be repeated"),
        option("--measure", metavar="TEXT", action="append", required=True, help="what is measured: 'max A.torque', 'rms C.load', 'range "
               "guide while 100..180 deg', 'end tool.T.x', 'time when A > 90 deg'; may be repeated"),
        option("--simulate", metavar="DURATION", type=options.time, help="measure a run of this length ('2', '200 ms') instead of a turn"),
        option("--settle", action="store_true", help="measure the static equilibrium instead of a turn"),
        option("--plan", metavar="NAME", help="grid, 'one at a time', sobol, latin, random or saltelli (default: a grid of ranges, sobol "
               "with --count)"),
        option("--count", metavar="N", type=count, help="rows of a plan that draws"),
        option("--seed", metavar="N", type=seed, default=0, help="of a plan that draws (default 0)"),
        option("--best", metavar="GOAL", action="append", help="show the row with the least or greatest measure: 'min max A.torque'"),
        options.PARAM,
        options.SET,
        options.CUTS,
        options.FOLDER,
        options.STEPS,
        option("--threads", metavar="N", type=count, help="cores to use (default: all)"),
        option("-o", "--output", metavar="FOLDER", help="the folder in which rows are stored"),
        option("--table", metavar="FILE", help="write all rows as .csv or .xlsx"),
        options.SEP,
        options.DECIMAL,
        option("--plot", metavar="FILE", help="write the plot that suits the plan (.png, .svg, .pdf)"),
        option("--page", metavar="FILE", help="write a page with sliders over the study (.html)"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)  # fmt: skip
