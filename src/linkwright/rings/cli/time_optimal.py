"""`linkwright time-optimal`: the time-optimal motion along a path within limits."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwright.api import UsageError, counted, files, nearest
from linkwright.rings.cli import loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb, by_name
from linkwright.text.phrases import places

if TYPE_CHECKING:
    import numpy as np

    from linkwright.api import Mechanism

TIME_OPTIMAL = Verb("linkwright.rings.robots.verbs:MechanismVerbs.time_optimal", without=("path", "span"))
FILE = (".csv", ".parquet")


def run(given: argparse.Namespace) -> int:
    outputs.check([(given.output, files.TABLES), (given.plot, files.PICTURES)], given.force)
    if given.output is not None:
        options.csv_marks(given, given.output)
    m = loading.load(given)
    named = {name: _path(m, name, text, given) for name, text in by_name(given.path, "--path").items()}
    found = m.time_optimal(named, **TIME_OPTIMAL.given(given))
    channels = given.channels and ["t", *(x for x in given.channels if x != "t")]
    written = outputs.write(
        (
            (given.output, lambda path: found.trajectory.save(path, channels=channels, **options.csv_marks(given, path))),
            (given.plot, lambda path: found.plot(given.channels, path)),
        )
    )
    shown = given.channels or ()
    data, text = (lambda: {**found.as_dict(), "channels": outputs.channel_data(found.trajectory, shown)}), lambda: f"{m.name}, {found}"
    outputs.deliver("time-optimal", given, data, text, written)
    return 0 if found.ok else 1


# -------------------------------------------------------------------- paths


def _path(m: Mechanism, name: str, text: str, given: argparse.Namespace) -> Any:
    """Straight lines, or a spline, through the points of a text or a file."""
    import numpy as np

    from linkwright.model.curves.references import polyline, spline

    kinds = _kinds(m, name)
    rows = _of_file(text, name, kinds) if text.lower().endswith(FILE) else _of_text(m, name, text, kinds)
    if len(rows) < 2:
        raise UsageError(f"--path {name}: a path has two or more places, such as {_example(kinds)}.")
    if given.spline:
        if given.rounding is not None:
            raise UsageError("--rounding rounds the corners of straight lines. A path with --spline has none.")
        steps = np.sqrt((np.diff(rows, axis=0) ** 2).sum(axis=1))
        if not steps.all():
            raise UsageError(f"--path {name}: two places that follow each other are the same. Leave one of them out.")
        knots = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
        return spline(knots.tolist(), rows.tolist() if len(kinds) > 1 else rows[:, 0].tolist())
    rounding = 0.0 if given.rounding is None else loading.with_unit(m, given.rounding, kinds[0])
    return polyline(rows.tolist(), rounding=rounding)


def _kinds(m: Mechanism, name: str) -> list[str]:
    """Kinds of the components of a path: of a point lengths, of a joint or cylinder its own."""
    from linkwright.api import movable

    d = m.description
    points = [f"{b.name}.{p.name}" for b in d.bodies for p in b.points]
    if name in points:
        return ["length"] * (2 if d.planar else 3)
    known = movable(d)
    if name not in known:
        raise UsageError(f"--path: there is no joint, cylinder or point '{name}'.", nearest(name, [*known, *points], "Names"))
    return ["angle" if loading.cycles(m, name) else "length"]


def _example(kinds: Sequence[str]) -> str:
    lengths = ("'10 mm, 60 mm'", "'60 240, 140 220'", "'0 0 300, 0 50 300'")
    return "'30 deg, 90 deg'" if kinds[0] == "angle" else lengths[len(kinds) - 1]


def _of_text(m: Mechanism, name: str, text: str, kinds: Sequence[str]) -> np.ndarray:
    """Places of a text: `60 240, 140 220` or `60 mm 240 mm, 140 mm 220 mm`; bare numbers are in the file's units."""
    import numpy as np

    from linkwright.api import KINDS, quantity

    rows = []
    for place in places(text):
        if len(place) != len(kinds):
            raise UsageError(
                f"--path {name}: '{' '.join(map(str, place))}' is not a place of {counted(len(kinds), 'number')}. "
                f"Places are separated by commas, numbers by spaces: {_example(kinds)}, or a .csv file."
            )
        texts = [loading.with_unit(m, str(x), kind) for x, kind in zip(place, kinds, strict=True)]
        rows.append([quantity(x, KINDS[kind], f"--path {name}") for x, kind in zip(texts, kinds, strict=True)])
    return np.array(rows)


def _of_file(path: str, name: str, kinds: Sequence[str]) -> np.ndarray:
    """Places of a file: columns x, y, z of a point, or the column of a joint."""
    import numpy as np

    from linkwright.api import KINDS
    from linkwright.rings.robots.identification.measured_tables import measured_table

    table = measured_table(path, None, f"--path {name}")
    heads = ["x", "y", "z"][: len(kinds)] if len(kinds) > 1 else [name]
    return np.stack([table.column(h, KINDS[k]) for h, k in zip(heads, kinds, strict=True)], axis=1)


COMMAND = CliCommand(
    name="time-optimal",
    topic="time-optimal",
    help="the fastest motion along a path within limits of torque, speed, heat and pin loads",
    about="Compute the fastest motion along a path from rest to rest. A path goes through places of a point, a joint or a cylinder, in "
    "straight lines (the motion stops at corners that are not rounded) or as a spline. Limits are largest values by channel: A.torque, "
    "lift.force, A.v, A.a, tip.P.speed, C.load, C.on.rocker, 'rms A.torque' (heat of the motor), with patterns ('*.torque'). Exit code 1 "
    "if a limit is exceeded.",
    examples=(
        "linkwright time-optimal five-bar --path 'left_rod.C=60 240, 140 220' --limit '*.torque=1.5 N m' -o motion.csv",
        "linkwright time-optimal five-bar --path 'A=100 deg, 80 deg' --path 'E=80 deg, 60 deg' --limit '*.torque=1.5 N m' --law septic",
    ),
    options=(
        options.MODEL,
        option("--path", metavar="NAME=PLACES", action="append", type=options.assignment, required=True, help="path through places: "
               "'left_rod.C=60 240, 140 220', 'A=30 deg, 90 deg', or a .csv or .parquet file with columns x, y, z (of a point) or A (bare "
               "numbers in the file's units) (may be repeated)"),
        TIME_OPTIMAL,
        option("--rounding", metavar="LENGTH", help="distance from a corner at which its line is left ('5 mm')"),
        option("--spline", action="store_true", help="cubic spline through the places, instead of straight lines"),
        options.CHANNELS,
        *options.LOADING,
        options.OUTPUT("the motion (.csv, .xlsx, .npz, .parquet)"),
        *options.MARKS,
        options.PLOT("speed along the path and efforts, or --channels"),
        *options.BOTH,
    ),
    run=run,
)  # fmt: skip
