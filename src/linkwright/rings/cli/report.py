"""`linkwright report`: the document about a model or a saved run, as its page with sheets for print or as PDF."""

from __future__ import annotations

import argparse
import os
from typing import Any

from linkwright.api import UsageError, errors
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb

REPORT = Verb("linkwright.rings.studio.verbs:MechanismVerbs.report", without=("path", "motor", "tolerances", "variants", "measures"))
ENDINGS = (*outputs.PAGES, ".pdf")


def run(given: argparse.Namespace) -> int:
    target = f"{_stem(given.model)}-report.html" if given.output is None else given.output
    outputs.check([(target, ENDINGS)], given.force)
    if given.simulate is not None and loading.is_run(given.model):
        raise UsageError(
            f"--simulate needs a model, but '{given.model}' is a run that was computed already. Leave it out.", name=given.model
        )
    for flag in ("steps", "choose_motor"):
        if given.simulate is not None and getattr(given, flag) is not None:
            flag = flag.replace("_", "-")
            raise UsageError(f"--{flag} is for a cycle. A report with --simulate describes the run. Leave one of them out.")
    no_motor: errors.NoMotorError | None = None
    with console.waiting("writing the report"):
        if loading.is_run(given.model):
            if given.variant:
                raise UsageError(
                    f"--variant changes a model, but '{given.model}' is a computed run. Give the model instead.", name=given.model
                )
            if given.choose_motor is not None:
                raise UsageError(
                    f"--choose-motor is for the cycle of a model, but '{given.model}' is a computed run. Leave it out.", name=given.model
                )
            recorded = loading.open_run(given)
            name = recorded.skel.tree.description.name
            recorded.report(target, **_content(given))
        else:
            m = loading.load(given)
            name = m.name
            variants = {name: m.with_(**to) if isinstance(to, dict) else loading.load_named(to) for name, to in given.variant}
            simulated = None if given.simulate is None else m.simulate(given.simulate, progress=False)
            if simulated is not None and simulated.certificate is not None and simulated.certificate.status == "interrupted":
                raise KeyboardInterrupt  # a report of part of the run would pass for one of all of it
            motor, no_motor = _motor(given, m)
            content: dict[str, Any] = {"variants": variants or None, "motor": motor, **_content(given)}
            m.report(target, **content) if simulated is None else simulated.report(target, **content)
    if given.json:
        has_run = loading.is_run(given.model) or given.simulate is not None
        outputs.print_json("report", {"model": name, "run": has_run, "file": target, "bytes": os.path.getsize(target)})
    outputs.report_files([target], given.json)
    if no_motor is not None:
        raise no_motor
    return 0


def _motor(given: argparse.Namespace, m: Any) -> tuple[Any, errors.NoMotorError | None]:
    """Return the best motor and gearbox of a catalog for the cycle, or why there is none; no motor without --choose-motor."""
    if given.choose_motor is None:
        return None, None
    c = m.cycle() if given.steps is None else m.cycle(steps=given.steps)
    try:
        return c.choose_motor(given.choose_motor or None, sort=given.sort).best, None
    except errors.NoMotorError as none:
        return None, none


def _content(given: argparse.Namespace) -> dict[str, Any]:
    """Steps, curves, measures and title block of the command line; others are the file's own."""
    return REPORT.given(given) | ({"measures": given.measure} if given.measure else {})


def variant(text: str) -> tuple[str, dict[str, str] | str]:
    """`longer crank: B.x=170mm, C.y=780mm`, or another model: `cam: cam.yaml`."""
    name, colon, rest = text.partition(":")
    if colon and name.strip() and rest.strip() and "=" not in rest:
        return name.strip(), rest.strip()
    changes = [x.partition("=") for x in rest.split(",")]
    if not (colon and name.strip() and all(key.strip() and value.strip() for key, _, value in changes)):
        raise argparse.ArgumentTypeError(f"'{text}' is not a variant. Write 'longer: B.x=170mm, C.y=780mm', or another model, "
            "'cam: cam.yaml'")
    return name.strip(), {key.strip(): value.strip() for key, _, value in changes}


def _stem(model: str) -> str:
    return os.path.splitext(os.path.basename(model))[0]


COMMAND = CliCommand(
    name="report",
    topic="report",
    help="a document to print or .pdf: dimensions, motion, drive, bearing loads, variants, checks",
    about="Write the report of a model or of a saved run, as its page with sheets for print or as PDF: title block, mobility and "
    "redundancy, dimensions, motion, drive torque and power, motor, bearing loads, variants and checks.",
    examples=(
        "linkwright report wiper -o wiper-report.html",
        "linkwright report wiper --simulate 2 -o with-a-run.html",
        "linkwright report wiper --title 'Wiper, left' --revision B --variant 'longer: B.x=170mm' -o wiper.pdf",
    ),
    options=(
        options.SUBJECT,
        *options.LOADING,
        options.SIMULATE,
        REPORT,
        options.MEASURE,
        option(
            "--variant",
            metavar="NAME: P=VALUE,..",
            action="append",
            type=variant,
            default=[],
            help="other design side by side: 'longer: B.x=170mm, C.y=780mm', or another model, 'cam: cam.yaml' (may be repeated)",
        ),
        options.CHOOSE_MOTOR,
        options.SORT,
        options.OUTPUT(".html or .pdf (default: MODEL-report.html)"),
        *options.BOTH,
    ),
    run=run,
)
