"""`linkwright workspace`: reach, singularities and measures of a robot over its poses."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from linkwright.api import UsageError, files
from linkwright.rings.cli import loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb, by_name

if TYPE_CHECKING:
    from linkwright.api import Mechanism

FILES = (".csv", ".npz")


WORKSPACE = Verb(
    "linkwright.rings.robots.verbs:MechanismVerbs.workspace",
    without=("over", "start"),
    written={
        "what": {"metavar": "A,B", "type": options.listed},
        **{name: {"metavar": "VALUE", "action": "append"} for name in ("stiffness", "speeds", "efforts")},
    },
)


def run(given: argparse.Namespace) -> int:
    outputs.check([(given.output, FILES), (given.plot, files.PICTURES), (given.page, files.PAGES)], given.force)
    marks = options.csv_marks(given, given.output)
    m = loading.load(given)
    found: Any = m.workspace(_over(m, given.over), **_settings(m, given))
    every = list(found) if given.modes == "all" else [found]
    written = outputs.write(
        (
            (given.output, lambda path: every[0].save(path, **marks)),
            (given.plot, lambda path: found.plot(None, path)),
            (given.page, found.show),
        )
    )
    outputs.deliver("workspace", given, lambda: {"model": m.name, "modes": [a.as_dict() for a in every]}, lambda: str(found), written)
    return 0 if any(a.reach.any() for a in every) else 1


def _over(m: Mechanism, given: list[str]) -> Any:
    """A body or names alone, or a dict of ranges."""
    pairs = [text.partition("=") for text in given]
    if any(equals and not value.strip() for _, equals, value in pairs):
        raise UsageError("--over: write a range after the =, such as platform.x=-0.5..1.3, or the name alone.")
    names = [name.strip() for name, _, _ in pairs]
    if not any(equals for _, equals, _ in pairs):
        return names
    return {name: _range(m, value, _kind(m, name)) or None for name, (_, _, value) in zip(names, pairs, strict=True)}


def _kind(m: Mechanism, name: str) -> str:
    """Of a pose coordinate, or of a drive."""
    if "." not in name:
        return "angle" if loading.cycles(m, name) else "length"
    return "length" if name.rpartition(".")[2] in ("x", "y", "z") else "angle"


def _range(m: Mechanism, text: str, kind: str) -> str:
    """A range whose numbers have a unit: bare ones are in the file's units."""
    body, slash, count = text.strip().partition("/")
    low, dots, high = body.partition("..")
    return f"{low}{dots}{loading.with_unit(m, high.strip(), kind)} {slash}{count}".strip() if dots else text.strip()


def _settings(m: Mechanism, given: argparse.Namespace) -> dict[str, Any]:
    """Options of `m.workspace` that were given; numbers without a unit are in the file's."""
    out = WORKSPACE.given(given)
    if "at" in out:
        out["at"] = {name: loading.with_unit(m, x, _kind(m, name)) for name, x in out["at"].items()}
    for key in ("limits", "orientations"):
        if key in out:
            out[key] = {name: _range(m, x, _kind(m, name)) for name, x in out[key].items()}
    return out | {key: _by_drive(out[key], f"--{key}") for key in ("stiffness", "speeds", "efforts") if key in out}


def _by_drive(given: list[str], flag: str) -> Any:
    """One value for all drives, or NAME=VALUE of each."""
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    if any("=" not in text for text in given):
        raise UsageError(f"{flag} is one value for all drives, or NAME=VALUE of each drive.", name=flag)
    return by_name((options.assignment(text) for text in given), flag)


COMMAND = CliCommand(
    name="workspace",
    topic="workspace",
    help="reach, singularities and measures of a robot over its poses",
    about="Compute the reach of a body or point, singularities of type I and II as located curves, and measures: conditioning, stiffness, "
    "drive torques and forces under a payload, speed and acceleration in every direction. Axes are pose coordinates: platform.x, "
    "platform.angle, platform.P1.y, in space platform.roll, .pitch, .yaw. They can also be drives, with any channels at rest as "
    "measures. Exit code 1 if "
    "no pose is in reach.",
    examples=(
        "linkwright workspace 3-rrr --over platform --at 'platform.angle=20 deg' --plot maps.png",
        "linkwright workspace stewart --over platform.x=-0.3..0.3 --over platform.y=-0.3..0.3 --over 'platform.z=0.6..0.8 / 5' "
        "--speeds '0.5 m/s' --page workspace.html",
    ),
    options=(
        options.MODEL,
        option("--over", metavar="NAME[=RANGE]", action="append", required=True, help="axis: platform.x=-0.5..1.3, "
               "'platform.x=-500..1300 mm / 100', the name alone (its range is found), a body or point, or a drive (may be repeated)"),
        WORKSPACE,
        *options.LOADING,
        options.OUTPUT("all poses (.csv) or all arrays (.npz)"),
        *options.MARKS,
        options.PLOT("maps of the measures"),
        options.PAGE("maps and a slider for each axis"),
        *options.BOTH,
    ),
    run=run,
)  # fmt: skip
