"""`linkwright motion-laws`: the motion laws with their peak factors, or the peaks of one move."""

from __future__ import annotations

import argparse
import re
from typing import Any

from linkwright.api import UsageError
from linkwright.rings.cli import console, options, outputs
from linkwright.rings.cli.parser import CliCommand, option

UNIT = re.compile(r"[A-Za-z]+$")  # at the end of a length or angle
COLUMNS = ("law", "velocity", "acceleration", "jerk")


def run(given: argparse.Namespace) -> None:
    from linkwright.model.curves.laws import LAWS, law_factors

    every = [law_factors(name) for name in LAWS]
    asked = given.rise is not None or given.span is not None or given.speed is not None
    move = _move(given) if asked else None
    if given.json:
        rows = [{"law": x.law, **{k: getattr(x, k) for k in COLUMNS[1:]}} for x in every]
        if move is not None:
            rows = [{**row, "peaks": dict(zip(COLUMNS[1:], x.over(*move[:2]), strict=True))} for row, x in zip(rows, every, strict=True)]
        outputs.print_json("motion-laws", {"laws": rows})
        return
    if move is None:
        _print([COLUMNS, *((x.law, *(f"{y:.4f}" for y in (x.velocity, x.acceleration, x.jerk))) for x in every)])
        print(
            console.wrapped("\nPeaks of a rise h within a time or angle T: velocity h/T, acceleration h/T^2, jerk h/T^3 times the factor.")
        )
        return
    rise, span, unit = move
    heads = [f"velocity [{unit}/s]", f"acceleration [{unit}/s^2]", f"jerk [{unit}/s^3]"]
    size = _per_unit(unit)
    _print([("law", *heads), *((x.law, *(f"{y * size:.5g}" for y in x.over(rise, span))) for x in every)])


def _move(given: argparse.Namespace) -> tuple[float, float, str]:
    """Rise and duration in SI, and the unit of the rise as written."""
    from linkwright.api import ANGLE, LENGTH, quantity, unit_kinds
    from linkwright.text.quantities import GivenValue, QuantityAlgebra, read_quantity

    if given.rise is None or given.span is None:
        raise UsageError("the peaks of a move need --rise and --in: --rise '20 mm' --in '0.2 s', or --in '60 deg' with --speed '120 rpm'.")
    over = read_quantity(GivenValue.of(given.span, "--in"), QuantityAlgebra()).dimension
    if over == ANGLE and given.speed is None:
        raise UsageError("--in is an angle, so the speed of the cam is needed: --speed '120 rpm'.")
    if over == ANGLE:
        span = quantity(given.span, ANGLE, "--in") / quantity(given.speed, unit_kinds.ANGULAR_SPEED, "--speed")
    else:
        span = quantity(given.span, unit_kinds.TIME, "--in")
    if span <= 0.0:
        raise UsageError(f"--in and --speed give a duration of {span:g} s. It must be greater than zero.")
    kind = read_quantity(GivenValue.of(given.rise, "--rise"), QuantityAlgebra()).dimension
    written = UNIT.search(given.rise.strip())
    unit = written[0] if written else "m"
    return quantity(given.rise, ANGLE if kind == ANGLE else LENGTH, "--rise"), span, unit


def _per_unit(unit: str) -> float:
    from linkwright.api import modelfile

    return 1.0 / modelfile.parse_unit(unit)[0]


def _print(rows: list[Any]) -> None:
    wide = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        print("  " + "  ".join(text.ljust(w) if k == 0 else text.rjust(w) for k, (text, w) in enumerate(zip(row, wide, strict=True))))


COMMAND = CliCommand(
    name="motion-laws",
    topic="cams",
    help="list the motion laws of moves with their peak factors",
    about="List the motion laws of moves and cams with the peaks of their velocity, acceleration and jerk, as factors or for one move.",
    examples=("linkwright motion-laws", "linkwright motion-laws --rise '20 mm' --in '60 deg' --speed '120 rpm'"),
    options=(
        option("--rise", metavar="LENGTH", help="rise of the move, a length or an angle: '20 mm', '30 deg'"),
        option("--in", dest="span", metavar="SPAN", help="duration of the move '0.2 s', or angle of the cam '60 deg' with --speed"),
        option("--speed", metavar="SPEED", help="speed of the drive: of the cam, if --in is an angle"),
        options.JSON,
    ),
    run=run,
)
