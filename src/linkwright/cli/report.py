"""`linkwright report`: the page with sheets for print, of a model or of a saved run."""

from __future__ import annotations

import argparse
import os

from linkwright.cli import console, loading, options, outputs
from linkwright.cli.parser import Command, option


def run(given: argparse.Namespace) -> None:
    target = given.output or f"{_stem(given.model)}-report.html"
    outputs.check([(target, outputs.PAGES)], given.force)
    with console.waiting("writing the report"):
        if loading.is_run(given.model):
            recorded = loading.open_run(given)
            name = recorded.skel.tree.description.name
            recorded.report(target, force=given.force)
        else:
            m = loading.load(given)
            name = m.name
            m.report(target, run=m.simulate(given.simulate, progress=False) if given.simulate else None, force=given.force)
    if given.json:
        simulated = loading.is_run(given.model) or bool(given.simulate)
        outputs.print_json("report/1", {"model": name, "run": simulated, "file": target, "bytes": os.path.getsize(target)})
    outputs.tell_written([target], given.json)


def _stem(model: str) -> str:
    return os.path.splitext(os.path.basename(model))[0]


COMMAND = Command(
    name="report",
    help="one or two pages to print: mobility, motion, drive, bearing loads, checks",
    about="Write the report of a model or of a saved run: its page with one or two sheets for print about mobility and redundancy, "
    "motion, drive torque and power, motor, bearing loads and checks.",
    examples=(
        "linkwright report wiper -o wiper-report.html",
        "linkwright report four-bar --param L1=250mm -o shorter.html",
        "linkwright report wiper --simulate 2 -o with-a-run.html",
    ),
    options=(
        options.SUBJECT,
        options.PARAM,
        options.SET,
        options.CUTS,
        option("--simulate", metavar="DURATION", help="also simulate the model for so long ('5', '200 ms') and report on it"),
        option("-o", "--output", metavar="FILE", help="the file to write, ending in .html (default: MODEL-report.html)"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)
