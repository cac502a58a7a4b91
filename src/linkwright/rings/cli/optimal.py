"""`linkwright optimal`: the motion of least time, effort or energy between two states, or over a period."""

from __future__ import annotations

import argparse
from typing import Literal

from linkwright.api import files
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb

NOT_HERE = ("goal", "start", "phases", "tolerance", "guess", "progress")
OPTIMAL = Verb("linkwright.rings.robots.verbs:MechanismVerbs.optimal", without=NOT_HERE)
GOALS: dict[str, Literal["least time", "least effort", "least energy"]] = {
    "time": "least time", "effort": "least effort", "energy": "least energy",
}  # fmt: skip


def run(given: argparse.Namespace) -> int:
    outputs.check([(given.output, files.TABLES), (given.plot, files.PICTURES)], given.force)
    if given.output is not None:
        options.csv_marks(given, given.output)
    m = loading.load(given)
    with console.waiting("computing the optimal motion"):
        found = m.optimal(GOALS[given.least], **OPTIMAL.given(given))
    channels = given.channels and ["t", *(x for x in given.channels if x != "t")]
    written = outputs.write(
        (
            (given.output, lambda path: found.trajectory.save(path, channels=channels, **options.csv_marks(given, path))),
            (given.plot, lambda path: found.plot(given.channels, path)),
        )
    )
    shown = given.channels or ()
    data, text = (lambda: {**found.as_dict(), "channels": outputs.channel_data(found.trajectory, shown)}), lambda: f"{m.name}, {found}"
    outputs.deliver("optimal", given, data, text, written)
    return 0 if found.ok else 1


COMMAND = CliCommand(
    name="optimal",
    topic="optimal-control",
    help="the motion of least time, effort or energy between two states, or over a period",
    about="Compute the optimal motion of the drives from the start of the model (or --set) to a state (--to), or over a period "
    "(--periodic). No path is given. Limits are largest values or ranges by channel, with patterns ('*.torque'). Exit code 1 if the motion "
    "is not accurate to 1e-6 or exceeds a limit.",
    examples=(
        "linkwright optimal five-bar --to 'A=100 deg' --to 'E=60 deg' --limit '*.torque=1.5 N m' -o motion.csv",
        "linkwright optimal four-bar --least effort --periodic 'A=360 deg' --duration '1 s' --plot effort.png",
    ),
    options=(
        options.MODEL,
        option("--least", metavar="NAME", choices=tuple(GOALS), default="time", help="goal that is minimized: time, effort (integral of "
               "the squares of the efforts, as shares of their limits), energy (work that the drives put in) (default time)"),
        OPTIMAL,
        options.CHANNELS,
        *options.LOADING,
        options.OUTPUT("the motion (.csv, .xlsx, .npz, .parquet)"),
        *options.MARKS,
        options.PLOT("coordinates and efforts, or --channels"),
        *options.BOTH,
    ),
    run=run,
)  # fmt: skip
