"""`linkwright check`: is a model right, stage by stage, with remedies; for people, programs and continuous integration."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from linkwright.api import UsageError, files
from linkwright.rings.cli import ci_reports, console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb

if TYPE_CHECKING:
    from linkwright.api import check_results

CHECK = Verb("linkwright.rings.design.model_check.file_stage:check", without=("model", "require", "drive"))
HANG = 17  # columns before the text of a check


def run(given: argparse.Namespace) -> int:
    outputs.check([(given.junit, (".xml",)), (given.sarif, (".sarif",))], given.force)
    found = _checked(given)
    name = str(given.model)
    data = {"model": name, **found.as_dict(), "details": list(found.details)}
    reports = {given.junit: ci_reports.junit, given.sarif: ci_reports.sarif}
    jobs = [(path, lambda path, make=make: files.write_text(path, (".xml", ".sarif"), make(found, name))) for path, make in reports.items()]
    written = outputs.write(jobs)
    outputs.deliver("check", given, lambda: data, lambda: console.wrapped(f"{name}: {found.verdict}\n{found}", HANG), written)
    return int(not accepted(found, strict=given.strict))


def _checked(given: argparse.Namespace) -> check_results.Checks:
    from linkwright.rings.design.model_check import check

    if loading.is_run(given.model):
        raise UsageError(f"'{given.model}' is a saved run. This needs a model.", name=given.model)
    asked: dict[str, Any] = {"require": given.require, **CHECK.given(given)}
    if len(given.drive) > 1:
        raise UsageError("a check has one drive of its cycle. Give --drive once.", name="drive")
    for name, value in given.drive:
        if value:
            raise UsageError(f"--drive {name}={value}: a check moves a drive as the model says. Name it alone: --drive {name}", name=name)
        asked["drive"] = name
    changed = given.param or given.set or given.cuts is not None or given.folders
    return check(loading.load(given) if changed else given.model, **asked)


def accepted(found: check_results.Checks, *, strict: bool) -> bool:
    """True if nothing failed and every requirement is met; `strict`: if nothing is unknown either."""
    return found.ok if strict else not found.failed and all(x for x in found if x.stage == "requirements")


COMMAND = CliCommand(
    name="check",
    topic="agents-and-ci",
    help="is a model right, stage by stage, and what would make it right",
    about="Check a model: readable, complete, assembles, mobility, moves, loads, limits, requirements. Each stage is passed, failed or "
    "unknown, with file and line, the value and its limit. Remedies were applied and checked. The exit code is 1 if a stage failed or a "
    "requirement is not met, with --strict also if a stage is unknown.",
    examples=(
        "linkwright check wiper",
        "linkwright check wiper --require 'C.transmission_angle > 25 deg' --require 'full turn'",
        "linkwright check my.yaml --json --junit check.xml --sarif check.sarif",
    ),
    options=(
        options.MODEL,
        *options.LOADING,
        options.REQUIRE,
        options.DRIVE,
        CHECK,
        option("--strict", action="store_true", help="a stage that is unknown counts as failed"),
        option("--junit", metavar="FILE", help="report for continuous integration: .xml"),
        option("--sarif", metavar="FILE", help="report for code scanning, SARIF 2.1.0: .sarif"),
        *options.BOTH,
    ),
    run=run,
)
