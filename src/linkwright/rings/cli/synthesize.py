"""`linkwright synthesize`: linkages from the motion that is wanted, as model files and a picture."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from linkwright.api import LinkwrightError, UsageError, files
from linkwright.rings.cli import console, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb
from linkwright.text.phrases import Phrase, amount, places

TASKS = ("path", "function", "poses", "dwell", "straight", "dead-centers")
DESCRIBED = ("dwell", "straight", "dead-centers")  # tasks that consist of named numbers
PICTURE = "linkages.png"
DATA = (".csv", ".parquet")
SYNTHESIZE = Verb(
    "linkwright.rings.synthesis.requests:synthesize",
    only=("timing", "closed", "exact", "hold", "kind", "bounds", "unit", "count", "seed"),  # others are numbers of the task: --with
)


def run(given: argparse.Namespace) -> None:
    from linkwright.rings.synthesis.requests import synthesize

    count = given.count or SYNTHESIZE.parameters["count"].default
    folder = None if given.folder is None else _folder(given.folder, count, given.force)
    more = _numbers(given.options)
    task: Any = more if given.task in DESCRIBED else _subject(given)
    if given.task in DESCRIBED:
        if given.subject is not None:
            raise UsageError(f"{given.task} is described by --with NAME=VALUE, not by '{given.subject}'.", name=given.subject)
        more = {}
    chosen = SYNTHESIZE.given(given)
    if given.task != "path" and {"timing", "closed", "exact", "hold"} & set(chosen):
        raise UsageError(f"--timing, --closed, --exact and --hold are options of a path, not of {given.task}.")
    chosen |= {name: {k: _with_angle(k, _value(x)) for k, x in chosen[name].items()} for name in ("bounds", "hold") if name in chosen}
    if "timing" in chosen and "," in chosen["timing"]:
        chosen["timing"] = [x.strip() for x in chosen["timing"].split(",")]
    with console.waiting(f"{given.task}: searching"):
        found = synthesize(**{given.task.replace("-", "_"): task}, **chosen, **more)
    written = [str(p) for p in ([] if folder is None else _written(found, folder, given.force))]
    outputs.deliver("synthesize", given, lambda: {**found.as_dict(), "files": written}, lambda: str(found), written)


def _folder(path: str, count: int, force: bool) -> Path:
    """Check before the search that the folder can be written to and nothing of others would be lost."""
    folder = Path(path)
    if not path.strip() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"'{path}' is not a folder. Give the name of one for the models, which is made if it does not exist.", name=path)
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
        raise LinkwrightError(
            f"cannot make the folder '{folder}': {problem.strerror or problem}. Choose another place.", name=folder
        ) from problem
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
        raise UsageError(f"{given.task} needs {what.get(given.task, 'the function, such as log10(x)')}.", name=given.task)
    if given.task == "path" and not text.lower().endswith(DATA) and not os.path.exists(text):
        return [[x.in_unit(given.unit or "mm").value for x in place] for place in places(text)]
    return text


def _numbers(given: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Numbers of the task by the keywords of Python."""
    return {_word(name): _with_angle(name, _value(text)) for name, text in given}


def _value(text: str) -> Any:
    """A number, a text with a unit, true or false, or several of them separated by commas."""
    if "," in text:
        return tuple(_value(x) for x in text.split(","))
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        found = amount(Phrase.of(text))
    except LinkwrightError:  # a word
        return text
    return found.value if found.bare else text


def _with_angle(name: str, value: Any) -> Any:
    """The value of an option. An angle on the command line has its unit: a reader of the line cannot know what 70 means."""
    from linkwright.rings.synthesis.requests import ANGLES

    if _word(name) in ANGLES:
        for x in value if isinstance(value, tuple) else (value,):
            if isinstance(x, float) and x != 0.0:
                raise UsageError(f"{name}={x:g} has no unit: write {name}={x:g}deg or {name}={x:g}rad, whichever is meant.")
    return value


def _word(name: str) -> str:
    return name.replace("-", "_").replace(" ", "_")


COMMAND = CliCommand(
    name="synthesize",
    topic="synthesis",
    help="linkages from a path, function, poses, dwell, straight line or dead centers",
    about="Find linkages for a motion, best first, with defects named. TASK is path (points in a CSV file, or "
    "'0 0, 10 5, 20 0'), function (of x), poses (a CSV file with x, y, angle), dwell, straight or dead-centers (described by --with). With "
    "--folder every linkage is written as a model file, and a picture of all of them.",
    examples=(
        "linkwright synthesize path '0 0, 10 4, 20 6, 30 4, 40 0' --bound transmission=30deg --folder linkages",
        "linkwright synthesize dwell --with stroke=60mm --with dwell_angle=70deg --with direction=90deg --kind 'watt II slider'",
        "linkwright synthesize path '20 20, 20 25, 20 30, 20 35, 20 40, 20 45' --kind slider-crank --json",
    ),
    options=(
        option("task", metavar="TASK", choices=TASKS, help=f"kind of task: {', '.join(TASKS)}"),
        option("subject", metavar="SUBJECT", nargs="?", help="points, poses (a file) or function"),
        option("--with", dest="options", metavar="NAME=VALUE", action="append", type=options.assignment, default=[], help="number of the "
               "task: swing=60deg, stroke=100mm, input_range=60deg. A dwell has stroke, dwell_angle, tolerance, start, direction, "
               "at=0,0, overshoot (may be repeated)"),
        SYNTHESIZE,
        options.folder("the linkages as model files, and a picture"),
        *options.BOTH,
    ),
    run=run,
)  # fmt: skip
