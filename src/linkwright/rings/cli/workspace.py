"""`linkwright workspace`: reach, singularities and measures of a robot over its poses."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from linkwright import files
from linkwright.errors import UsageError
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option

if TYPE_CHECKING:
    from linkwright.system.mechanism import Mechanism

FILES = (".csv", ".npz")


def run(given: argparse.Namespace) -> int:
    outputs.check([(given.output, FILES), (given.plot, files.PICTURES), (given.page, files.PAGES)], given.force)
    marks = options.csv_marks(given, given.output)
    m = loading.load(given)
    found: Any = _computed(m, given)
    every = list(found) if given.modes == "all" else [found]
    if given.output is not None:
        every[0].save(given.output, **marks)
    if given.plot is not None:
        found.plot(None, given.plot)
    if given.page is not None:
        found.show(given.page)
    written = [path for path in (given.output, given.plot, given.page) if path is not None]
    if given.json:
        outputs.print_json("workspace/1", {"model": m.name, "modes": [as_data(a) for a in every]})
    else:
        console.show(str(found))
    outputs.report_files(written, given.json)
    return 0 if any(a.reach.any() for a in every) else 1


def _computed(m: Mechanism, given: argparse.Namespace) -> Any:
    over, settings = _over(m, given.over), _settings(m, given)
    if not given.orientation:
        return m.system.map(given.what or "all", over, **settings)
    asked = [f"--{key}" for key in ("stiffness", "speeds", "efforts", "payload", "what") if getattr(given, key)]
    if asked:
        raise UsageError(f"{asked[0]} belongs to maps of one orientation; --orientation gives the reach in any of several.")
    turned = {name: _range(m, text, _kind(m, name)) for name, text in given.orientation}
    return m.system.workspace(over, orientations=turned, **settings)


def _over(m: Mechanism, given: list[str]) -> Any:
    """A body or names alone, or a dict of ranges."""
    pairs = [text.partition("=") for text in given]
    if any(equals and not value.strip() for _, equals, value in pairs):
        raise UsageError("--over: write a range behind the =, such as platform.x=-0.5..1.3, or the name alone.")
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
    """Options of `s.map` that were given."""
    drives = {key: _by_drive(getattr(given, key), f"--{key}") for key in ("stiffness", "speeds", "efforts")}
    out: dict[str, Any] = {key: x for key, x in drives.items() if x is not None}
    if given.at:
        out["at"] = {name: loading.with_unit(m, x, _kind(m, name)) for name, x in given.at}
    if given.limit:
        out["limits"] = {name: _range(m, x, "angle" if loading.cycles(m, name) else "length") for name, x in given.limit}
    if given.payload is not None:
        out["payload"] = given.payload
    if given.drives is not None:
        out["drives"] = given.drives
    return {**out, "modes": given.modes}


def _by_drive(given: list[str] | None, flag: str) -> Any:
    """One value for all drives, or NAME=VALUE of each."""
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    if any("=" not in text for text in given):
        raise UsageError(f"{flag} is one value for all drives, or NAME=VALUE of each drive.")
    return dict(options.assignment(text) for text in given)


def as_data(a: Any) -> dict[str, Any]:
    """Plain data of an atlas: axes, counts, ranges of the measures and curves; SI and radians."""
    curves = [
        {"kind": c.kind, "closed": bool(c.closed), "points": c.points.tolist(), "determinant": c.determinant.tolist()} for c in a.curves
    ]
    known = {n: v[a.reach] for n, v in a.values.items()}
    ends = {n: (float(v.min()), float(v.max())) if len(v) else (float("nan"),) * 2 for n, v in known.items()}
    return {
        "mode": a.mode,
        "axes": [{"name": x.name, "unit": "m" if x.kind == "length" else "rad", "values": x.values.tolist()} for x in a.axes],
        "fixed": dict(a.fixed),
        "counts": a.counts,
        "size": a.size,
        "measures": {n: {"unit": a.units[n] or "-", "min": low, "max": high} for n, (low, high) in ends.items()},
        "curves": curves,
        "located": {k: sum(len(x.share) for x in a.located if x.kind == k) for k in ("type I", "type II", "limit")},
        "notes": list(a.notes),
    }


COMMAND = CliCommand(
    name="workspace",
    help="reach, singularities and measures of a robot over its poses",
    about="Compute the reach of a body or point, singularities of type I and II as located curves, and measures: conditioning, stiffness, "
    "drive torques and forces under a payload, speed and acceleration in every direction. Axes are pose coordinates: platform.x, "
    "platform.angle, platform.P1.y, in space platform.roll, .pitch, .yaw; or drives, with any channels at rest as measures. Exit code 1 if "
    "no pose is in reach.",
    examples=(
        "linkwright workspace 3-rrr --over platform --at 'platform.angle=20 deg' --plot maps.png",
        "linkwright workspace stewart --over platform.x=-0.3..0.3 --over platform.y=-0.3..0.3 --over 'platform.z=0.6..0.8 / 5' "
        "--speeds '0.5 m/s' --page atlas.html",
    ),
    options=(
        options.MODEL,
        option("--over", metavar="NAME[=RANGE]", action="append", required=True, help="an axis: platform.x=-0.5..1.3, "
               "'platform.x=-500..1300 mm / 100', the name alone (its range is found), a body or point, or a drive; may be repeated"),
        option("--at", metavar="NAME=VALUE", action="append", type=options.assignment, help="a fixed pose coordinate, 'platform.angle=20 "
               "deg' (default: as in the start); may be repeated"),
        option("--what", metavar="A,B", type=options.listed, help="measures: dexterity, condition, stiffness, speed, acceleration, "
               "efforts, reach ... (default: all that the options allow); over drives channels: lift.force,bucket.T.y"),
        option("--modes", choices=("start", "all"), default="start", help="working modes: that of the start (default), or all"),
        option("--drives", metavar="A,B", type=options.listed, help="drives, as many as degrees of freedom (default: the model's)"),
        option("--limit", metavar="NAME=RANGE", action="append", type=options.assignment, help="a range of a joint or cylinder, "
               "'leg1=-0.1..0.1 m' (default: the model's stops); may be repeated"),
        option("--orientation", metavar="NAME=RANGE", action="append", type=options.assignment, help="the reach in any of these "
               "orientations, 'platform.angle=-180..180 deg / 36'; may be repeated"),
        option("--stiffness", metavar="VALUE", action="append", help="of the drives: one value for all, or NAME=VALUE of each"),
        option("--speeds", metavar="VALUE", action="append", help="largest speeds of the drives, likewise"),
        option("--efforts", metavar="VALUE", action="append", help="largest torques or forces of the drives, likewise"),
        option("--payload", metavar="MASS", help="a mass at the body's origin or the point ('5 kg')"),
        options.PARAM,
        options.SET,
        options.CUTS,
        options.FOLDER,
        option("-o", "--output", metavar="FILE", help="write all poses (.csv) or all arrays (.npz)"),
        options.SEP,
        options.DECIMAL,
        option("--plot", metavar="FILE", help="draw the maps (.png, .svg, .pdf)"),
        option("--page", metavar="FILE", help="write a page with maps and a slider for each axis (.html)"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)  # fmt: skip
