"""`linkwright lost-motion`: how far an output moves within all plays, at every position of a cycle."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from linkwright.api import UsageError, files
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb

if TYPE_CHECKING:
    from linkwright.api import Mechanism

LOST = Verb("linkwright.rings.design.verbs:MechanismVerbs.lost_motion", without=("drive", "output"))


def run(given: argparse.Namespace) -> None:
    from linkwright.api import text_tables

    outputs.check([(given.output, text_tables.ENDINGS), (given.plot, files.PICTURES)], given.force)
    marks = options.csv_marks(given, given.output)
    m = loading.load(given)
    with console.waiting("computing the lost motion"):
        found = m.lost_motion(given.channel, **_settings(m, given))
    written = outputs.write(
        (
            (given.output, lambda path: found.save(path, **marks)),
            (given.plot, found.plot),
        )
    )
    outputs.deliver("lost-motion", given, lambda: {"model": m.name, **found.as_dict()}, lambda: f"{m.name}, {found}", written)


def _settings(m: Mechanism, given: argparse.Namespace) -> dict[str, Any]:
    """Options of the verb; numbers without a unit are in the file's."""
    if len(given.drive) > 1 or any(value for _, value in given.drive):
        raise UsageError("lost motion has one drive and no speed: --drive names a joint or cylinder, --drive A.")
    out = LOST.given(given) | ({"drive": given.drive[0][0]} if given.drive else {})
    lead = out.get("drive") or next((d.joint for d in m.description.drives), "")
    kind = "angle" if loading.cycles(m, lead) else "length"
    return out | {name: loading.with_unit(m, out[name], kind) for name in ("start", "stop") if name in out}


COMMAND = CliCommand(
    name="lost-motion",
    topic="contact",
    help="how far an output moves within all plays while the drives hold",
    about="Compute how far an angle or a coordinate of a point moves to each side within the clearances of joints and the play of gears "
    "and couplings, at every position of a cycle, and how much each play contributes. The drives hold.",
    examples=(
        "linkwright lost-motion loose.yaml D --plot lost.png",
        "linkwright lost-motion loose.yaml rocker.C.x --start 20deg --stop 60deg --steps 40 -o lost.csv",
    ),
    options=(
        options.MODEL,
        option("channel", metavar="OUTPUT", help="channel of an angle or a length, such as D, rocker.angle or rocker.C.x"),
        *options.LOADING,
        options.drive("A. Other drives hold still (default: the model's drive)"),
        LOST,
        options.OUTPUT("the lost motion at every position (.csv, .xlsx, .json, .parquet)"),
        *options.MARKS,
        options.PLOT("the lost motion over the positions, by plays"),
        *options.BOTH,
    ),
    run=run,
)
