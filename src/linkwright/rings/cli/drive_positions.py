"""Commands whose verb reads a mechanism at rest over the positions of a drive: `holding-range` and `lost-motion`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from linkwright.api import UsageError, files
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, CliOption, option
from linkwright.rings.cli.verb_options import Verb

if TYPE_CHECKING:
    from linkwright.api import Mechanism


def _command(verb: Verb, what: str, output: str, plot: str, first: tuple[CliOption, ...] = (), **texts: Any) -> CliCommand:
    """The command of a verb with `drive`, `steps`, `start` and `stop`, which computes `what`. `output` and `plot` say what files show;
    `first` are its arguments, in the order of the verb."""
    name, call = what.replace(" ", "-"), verb.address.rpartition(".")[2]

    def run(given: argparse.Namespace) -> None:
        from linkwright.api import text_tables

        outputs.check([(given.output, text_tables.ENDINGS), (given.plot, files.PICTURES)], given.force)
        marks = options.csv_marks(given, given.output)
        m = loading.load(given)
        with console.waiting(f"computing the {what}"):
            found = getattr(m, call)(*(getattr(given, x.flags[0]) for x in first), **_settings(verb, what, m, given))
        written = outputs.write(((given.output, lambda path: found.save(path, **marks)), (given.plot, found.plot)))
        outputs.deliver(name, given, lambda: {"model": m.name, **found.as_dict()}, lambda: f"{m.name}, {found}", written)

    drive = options.drive("A. Other drives hold still (default: the model's drive)")
    files_written = (options.OUTPUT(output), *options.MARKS, options.PLOT(plot))
    every = (options.MODEL, *first, *options.LOADING, drive, verb, *files_written, *options.BOTH)
    return CliCommand(name=name, options=every, run=run, **texts)


def _settings(verb: Verb, what: str, m: Mechanism, given: argparse.Namespace) -> dict[str, Any]:
    """Options of the verb; numbers without a unit are in the file's."""
    if len(given.drive) > 1 or any(value for _, value in given.drive):
        raise UsageError(f"the {what} has one drive and no speed: --drive names a joint or cylinder, --drive A.")
    out = verb.given(given) | ({"drive": given.drive[0][0]} if given.drive else {})
    lead = out.get("drive") or next((d.joint for d in m.description.drives), "")
    kind = "angle" if loading.cycles(m, lead) else "length"
    return out | {name: loading.with_unit(m, out[name], kind) for name in ("start", "stop") if name in out}


def _verb(name: str, *without: str) -> Verb:
    return Verb(f"linkwright.rings.design.verbs:MechanismVerbs.{name}", without=("drive", *without))


HOLDING = _command(
    _verb("holding_range"),
    "holding range",
    "the range at every position (.csv, .xlsx, .json, .parquet)",
    "the range over the positions, and the stretches that stay put",
    topic="springs-dampers-stops",
    help="positions in which dry friction holds a mechanism, and the torques or forces within which it rests",
    about="Compute the least and the largest torque or force of a drive with which a mechanism stays at rest, at every position of its "
    "cycle, and the stretches in which it stays put with none. The friction of a joint may take any value within its bound, which is "
    "coulomb plus mu times the load of the joint. Positions in which friction locks the mechanism are named.",
    examples=(
        "linkwright holding-range flap --plot flap.png",
        "linkwright holding-range flap --start 20deg --stop 60deg --steps 40 -o flap.csv",
    ),
)
LOST = _command(
    _verb("lost_motion", "output"),
    "lost motion",
    "the lost motion at every position (.csv, .xlsx, .json, .parquet)",
    "the lost motion over the positions, by plays",
    (option("channel", metavar="OUTPUT", help="channel of an angle or a length, such as D, rocker.angle or rocker.C.x"),),
    topic="contact",
    help="how far an output moves within all plays while the drives hold",
    about="Compute how far an angle or a coordinate of a point moves to each side within the clearances of joints and the play of gears, "
    "couplings and gearboxes, at every position of a cycle, and how much each play contributes. The drives hold.",
    examples=(
        "linkwright lost-motion loose.yaml D --plot lost.png",
        "linkwright lost-motion loose.yaml rocker.C.x --start 20deg --stop 60deg --steps 40 -o lost.csv",
    ),
)
