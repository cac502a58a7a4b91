"""`linkwright synthesize`: linkages from the motion that is wanted, as model files and a picture."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.errors import LinkwrightError, UsageError
from linkwright.rings.cli import console, options, outputs
from linkwright.rings.cli.parser import CliCommand, option

TASKS = ("path", "function", "poses", "dwell", "straight", "dead-centers")
DESCRIBED = ("dwell", "straight", "dead-centers")  # tasks that consist of named numbers
PICTURE = "linkages.png"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
POINTS = re.compile(rf"\s*{NUMBER.pattern}\s+{NUMBER.pattern}(?:\s*,\s*{NUMBER.pattern}\s+{NUMBER.pattern})*\s*")


def run(given: argparse.Namespace) -> None:
    from linkwright.rings.synthesis.requests import synthesize

    folder = None if given.output is None else _folder(given.output, given.count, given.force)
    more = {name.replace("-", "_").replace(" ", "_"): _with_angle(name, _value(text)) for name, text in given.options}
    task: Any = more if given.task in DESCRIBED else _subject(given)
    if given.task in DESCRIBED:
        if given.subject is not None:
            raise UsageError(f"{given.task} is described by --with NAME=VALUE, not by '{given.subject}'.")
        more = {}
    if given.task == "path":
        more |= {"timing": _timing(given.timing)} if given.timing is not None else {}
        more |= {"closed": True} if given.closed else {}
        more |= {"exact": True} if given.exact else {}
        more |= {"hold": {name: _with_angle(name, _value(text)) for name, text in given.hold}} if given.hold else {}
    elif given.timing is not None or given.closed or given.exact or given.hold:
        raise UsageError(f"--timing, --closed, --exact and --hold are options of a path, not of {given.task}.")
    bounds = {name: _with_angle(name, _value(text)) for name, text in given.bound} or None
    with console.waiting(f"{given.task}: searching"):
        found = synthesize(
            **{given.task.replace("-", "_"): task},
            kind=given.kind,
            bounds=bounds,
            unit=given.unit,
            count=given.count,
            seed=given.seed,
            **more,
        )
    written = [] if folder is None else _written(found, folder, given.force)
    if given.json:
        outputs.print_json("synthesize/1", {**as_data(found), "files": [str(p) for p in written]})
    else:
        console.show(str(found))
    outputs.report_files([str(p) for p in written], given.json)


def as_data(found: Any) -> dict[str, Any]:
    """Plain data of all answers, SI and radians."""
    answers = [
        {
            "kind": x.linkage.kind,
            "usable": x.usable,
            "error": float(x.error),
            "defects": list(x.defects),
            "missed": list(x.missed),
            "measures": {name: float(value) for name, value in x.measures.items()},
            "notes": list(x.notes),
            "pins": _places(x.linkage),
            "drive": x.linkage.drive,
            "output": x.linkage.output,
            "angles": list(x.at),
            "cognates": [_places(c) for c in x.cognates],
        }
        for x in found
    ]
    facts = {str(k): v if isinstance(v, (str, int, float, bool)) else str(v) for k, v in found.facts.items()}
    return {"task": found.task, "answers": answers, "facts": facts, "notes": list(found.notes)}


def _places(linkage: Any) -> dict[str, dict[str, float]]:
    return {name: {"x": float(z.real), "y": float(z.imag)} for name, z in linkage.pins.items()}


def _folder(path: str, count: int, force: bool) -> Path:
    """Check before the search that the folder can be written to and nothing of others would be lost."""
    folder = Path(path)
    if not path.strip() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"'{path}' is not a folder; give the name of one for the models, which is made if it does not exist.")
    if folder.is_dir():
        for place in [folder / PICTURE, *(folder / f"linkage-{k}.yaml" for k in range(count))]:
            if place.exists():
                files.guarded(place, (place.suffix,), force=force)
    return folder


def _written(found: Any, folder: Path, force: bool) -> list[Path]:
    """Model files of all answers, best first, and their picture."""
    if not len(found):
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise LinkwrightError(f"cannot make the folder '{folder}': {problem.strerror or problem}. Choose another place.") from problem
    out = []
    for k, x in enumerate(found):
        place = files.guarded(folder / f"linkage-{k}.yaml", files.MODELS, force=force)
        files.write_text(place, files.MODELS, files.signed(x.text(f"{re.sub('[^a-z0-9]+', '-', x.linkage.kind.lower())}-{k}")))
        out.append(place)
    place = files.guarded(folder / PICTURE, files.PICTURES, force=force)
    found.plot(place)
    return [*out, place]


def _subject(given: argparse.Namespace) -> Any:
    """Points or poses of a file or of the line itself, or the text of a function."""
    text = given.subject
    if text is None:
        what = {"path": "points (a CSV file, or '0 0, 10 5, 20 0')", "poses": "a CSV file with x, y and angle"}
        raise UsageError(f"{given.task} needs {what.get(given.task, 'the function, such as log10(x)')}.")
    if given.task == "path" and not os.path.exists(text) and POINTS.fullmatch(text):
        return [[float(x) for x in pair.split()] for pair in text.split(",")]
    return text


def _timing(text: str) -> Any:
    """ "equal", a part of a turn, or angles separated by commas."""
    return [x.strip() for x in text.split(",")] if "," in text else text


def _value(text: str) -> Any:
    """A number, a text with a unit, true or false, or several of them separated by commas."""
    if "," in text:
        return tuple(_value(x) for x in text.split(","))
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return float(text) if NUMBER.fullmatch(text) else text


def _with_angle(name: str, value: Any) -> Any:
    """The value of an option. An angle on the command line has its unit: a reader of the line cannot know what 70 means."""
    from linkwright.rings.synthesis.requests import ANGLES

    if name.replace("-", "_").replace(" ", "_") in ANGLES:
        for x in value if isinstance(value, tuple) else (value,):
            if isinstance(x, float) and x != 0.0:
                raise UsageError(f"{name}={x:g} has no unit: write {name}={x:g}deg or {name}={x:g}rad, whichever is meant.")
    return value


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of answers: a whole number from 1 to 100")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a seed: a whole number from 0 on")
    return int(text)


COMMAND = CliCommand(
    name="synthesize",
    help="linkages from a path, function, poses, dwell, straight line or dead centers",
    about="Find linkages from the motion that is wanted, best first, with defects named. TASK is path (points in a CSV file, or "
    "'0 0, 10 5, 20 0'), function (of x), poses (a CSV file with x, y, angle), dwell, straight or dead-centers (described by --with). With "
    "-o every linkage is written as a model file, and a picture of all of them.",
    examples=(
        "linkwright synthesize path '0 0, 10 4, 20 6, 30 4, 40 0' --bound transmission=30deg -o linkages",
        "linkwright synthesize dwell --with stroke=60mm --with dwell_angle=70deg --with direction=90deg --kind 'watt II slider'",
        "linkwright synthesize path '20 20, 20 25, 20 30, 20 35, 20 40, 20 45' --kind slider-crank --json",
    ),
    options=(
        option("task", metavar="TASK", choices=TASKS, help=f"one of {', '.join(TASKS)}"),
        option("subject", metavar="SUBJECT", nargs="?", help="points, poses (a file) or function"),
        option("--timing", metavar="TEXT", help="crank angles at the points: equal, '120 deg' in equal steps, or '0 deg, 30 deg, ...'"),
        option("--closed", action="store_true", help="the points are a whole closed curve"),
        option("--exact", action="store_true", help="all four-bars through exactly nine points"),
        option("--kind", metavar="NAME", help="four-bar (default; of poses all kinds), slider-crank, 'watt I', 'stephenson III', six-bar, "
               "'geared five-bar'"),
        option("--bound", metavar="NAME=VALUE", action="append", type=options.assignment, default=[], help="links=10mm,80mm, ratio=5, "
               "transmission=40deg, pivots=0,100,-20,20 (least and most of x and y); docs/synthesis.md has those of each task; may be "
               "repeated"),
        option("--hold", metavar="NAME=VALUE", action="append", type=options.assignment, default=[], help="'crank pivot=0,0', 'ground "
               "angle=0', 'crank offset=30deg'; may be repeated"),
        option("--with", dest="options", metavar="NAME=VALUE", action="append", type=options.assignment, default=[], help="a number of the "
               "task: swing=60deg, stroke=100mm, input_range=60deg; of a dwell stroke, dwell_angle, tolerance, start, direction, "
               "at=0,0, overshoot; may be repeated"),
        option("--unit", metavar="UNIT", default="mm", help="of lengths without a unit, and of the models (default mm)"),
        option("--count", metavar="N", type=_count, default=5, help="linkages to find (default 5)"),
        option("--seed", metavar="N", type=_seed, default=0, help="of the search (default 0)"),
        option("-o", "--output", metavar="FOLDER", help="write the linkages as model files, and a picture, into this folder"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)  # fmt: skip
