"""`linkwright holding-range`: positions in which dry friction holds a mechanism, and the torques or forces within which it rests."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from linkwright.api import UsageError, files
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand
from linkwright.rings.cli.verb_options import Verb

if TYPE_CHECKING:
    from linkwright.api import Mechanism

HOLDING = Verb("linkwright.rings.design.verbs:MechanismVerbs.holding_range", without=("drive",))


def run(given: argparse.Namespace) -> None:
    from linkwright.api import text_tables

    outputs.check([(given.output, text_tables.ENDINGS), (given.plot, files.PICTURES)], given.force)
    marks = options.csv_marks(given, given.output)
    m = loading.load(given)
    with console.waiting("computing the holding range"):
        found = m.holding_range(**_settings(m, given))
    written = outputs.write(
        (
            (given.output, lambda path: found.save(path, **marks)),
            (given.plot, found.plot),
        )
    )
    outputs.deliver("holding-range", given, lambda: {"model": m.name, **found.as_dict()}, lambda: f"{m.name}, {found}", written)


def _settings(m: Mechanism, given: argparse.Namespace) -> dict[str, Any]:
    """Options of the verb; numbers without a unit are in the file's."""
    if len(given.drive) > 1 or any(value for _, value in given.drive):
        raise UsageError("a holding range has one drive and no speed: --drive names a joint or cylinder, --drive A.")
    out = HOLDING.given(given) | ({"drive": given.drive[0][0]} if given.drive else {})
    lead = out.get("drive") or next((d.joint for d in m.description.drives), "")
    kind = "angle" if loading.cycles(m, lead) else "length"
    return out | {name: loading.with_unit(m, out[name], kind) for name in ("start", "stop") if name in out}


COMMAND = CliCommand(
    name="holding-range",
    topic="springs-dampers-stops",
    help="positions in which dry friction holds a mechanism, and the torques or forces within which it rests",
    about="Compute the least and the largest torque or force of a drive with which a mechanism stays at rest, at every position of its "
    "cycle, and the stretches in which it stays put with none. The friction of a joint may take any value within its bound, which is "
    "coulomb plus mu times the load of the joint. Positions in which friction locks the mechanism are named.",
    examples=(
        "linkwright holding-range flap --plot flap.png",
        "linkwright holding-range flap --start 20deg --stop 60deg --steps 40 -o flap.csv",
    ),
    options=(
        options.MODEL,
        *options.LOADING,
        options.drive("A. Other drives hold still (default: the model's drive)"),
        HOLDING,
        options.OUTPUT("the range at every position (.csv, .xlsx, .json, .parquet)"),
        *options.MARKS,
        options.PLOT("the range over the positions, and the stretches that stay put"),
        *options.BOTH,
    ),
    run=run,
)
