"""`linkwright report`: the page with sheets for print, of a model or of a saved run."""

from __future__ import annotations

import argparse
import os

from linkwright.cli import console, loading, options, outputs
from linkwright.cli.parser import CliCommand, option
from linkwright.errors import UsageError


def run(given: argparse.Namespace) -> int:
    target = f"{_stem(given.model)}-report.html" if given.output is None else given.output
    outputs.check([(target, outputs.PAGES)], given.force)
    if given.simulate is not None and loading.is_run(given.model):
        raise UsageError(f"--simulate needs a model, but '{given.model}' is a run that was computed already; leave it out.")
    if given.simulate is not None and given.steps is not None:
        raise UsageError("--steps is for a turn; a report with --simulate describes the run. Leave one of them out.")
    with console.waiting("writing the report"):
        if loading.is_run(given.model):
            recorded = loading.open_run(given)
            name = recorded.skel.tree.description.name
            recorded.report(target)
        else:
            m = loading.load(given)
            name = m.name
            simulated = None if given.simulate is None else m.simulate(given.simulate, progress=False)
            if simulated is not None and simulated.certificate.status == "interrupted":
                raise KeyboardInterrupt  # a report of part of the run would pass for one of all of it
            m.report(target, run=simulated, steps=given.steps)
    if given.json:
        has_run = loading.is_run(given.model) or given.simulate is not None
        outputs.print_json("report/1", {"model": name, "run": has_run, "file": target, "bytes": os.path.getsize(target)})
    outputs.report_files([target], given.json)
    return 0


def _stem(model: str) -> str:
    return os.path.splitext(os.path.basename(model))[0]


COMMAND = CliCommand(
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
        options.FOLDER,
        options.STEPS,
        option("--simulate", metavar="DURATION", help="also simulate the model for so long ('5', '200 ms') and report on it"),
        option("-o", "--output", metavar="FILE", help="the file to write, ending in .html (default: MODEL-report.html)"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)
