"""`linkwright new`: a commented model to start from; `--list` (also `linkwright models`) what there is."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from pathlib import Path

from linkwright.api import UsageError, files
from linkwright.api import library as models
from linkwright.rings.cli import console, model_list, options, outputs
from linkwright.rings.cli.parser import CliCommand, option

SKETCH_OPTIONS = ("pins", "links", "ground", "gap", "unit")  # of drawings
MOST_BYTES = 1_000_000  # no template is larger


def run(given: argparse.Namespace) -> int:
    if given.list:
        list_all(given)
        return 0
    if given.path is None:
        raise UsageError("new needs the name of the file to write, for example: linkwright new my.yaml")
    path = Path(given.path)
    path = path if path.suffix else path.with_suffix(".yaml")
    if is_sketch(given.start):
        _from_sketch(path, given)
        return _edited(path, given)
    _refuse_sketch_options(given)
    start, kind = model_list.source(given.start)
    text = named(start.read_text(encoding="utf-8"), path.stem)
    files.guarded(path, files.MODELS, force=given.force or _as_written(path))
    files.write_text(path, files.MODELS, text)
    if given.json:
        outputs.print_json("new", {"file": str(path), "name": model_name(path.stem), "from": given.start, "kind": kind})
    outputs.report_files([str(path)], given.json)
    if not given.json:
        word = shlex.quote(str(path))
        print(f"from the {kind} '{given.start}'. {_next(word)}")
    return _edited(path, given)


def _edited(path: Path, given: argparse.Namespace) -> int:
    """Open the editor of a planar model, where there is a person at a terminal with a screen."""
    from linkwright.rings.studio.page import has_screen

    terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    if not given.edit or given.json or not terminal or not has_screen():
        return 0
    from linkwright.rings.cli.edit import is_planar, opened

    return opened(path) if is_planar(path) else 0


def _next(word: str) -> str:
    """Commands for a new file."""
    return f"Now:\n  linkwright edit {word}\n  linkwright info {word}\n  linkwright cycle {word}\n  linkwright {word}"


def is_sketch(start: str) -> bool:
    """True if a model is to begin with a drawing."""
    return start.lower().endswith(files.SKETCHES)


def _from_sketch(path: Path, given: argparse.Namespace) -> None:
    """Write the model of a drawing and say what became what."""
    from linkwright.rings.exchange.reading.sketches import read_sketch

    files.guarded(path, files.MODELS, force=given.force)
    chosen = {name: value for name in SKETCH_OPTIONS if (value := getattr(given, name)) is not None}
    found = read_sketch(given.start, model_name(path.stem), **chosen)
    files.write_text(path, files.MODELS, files.signed(found.text))
    if given.json:
        facts = {"file": str(path), "name": model_name(path.stem), "from": given.start, "kind": "sketch"}
        outputs.print_json("new", facts | {"import": found.report.as_dict()})
    outputs.report_files([str(path)], given.json)
    if not given.json:
        word = shlex.quote(str(path))
        console.show(str(found.report))
        print(_next(word))


def _refuse_sketch_options(given: argparse.Namespace) -> None:
    for name in SKETCH_OPTIONS:
        if getattr(given, name) is not None:
            raise UsageError(f"--{name} is for drawings: --from sketch.dxf or sketch.svg. Leave it out.")


def _as_written(path: Path) -> bool:
    """True if a file is still what `new` wrote from some template or model."""
    try:
        found = files.read_regular(path, MOST_BYTES)
    except files.Unreadable:
        return False
    names = [*model_list.template_names(), *models.names()]
    starts = (model_list.source(name)[0].read_text(encoding="utf-8") for name in names)
    return any(named(text, path.stem).encode() == found for text in starts)


def model_name(stem: str) -> str:
    """A model's name from a file's: no spaces, no dots."""
    return re.sub(r"[^\w-]+", "-", stem).strip("-") or "model"


def named(text: str, stem: str) -> str:
    """The text with the new file's name in its `name:` line."""
    return re.sub(r"^name:.*$", f"name: {model_name(stem)}", text, count=1, flags=re.MULTILINE)


def list_all(given: argparse.Namespace) -> None:
    """Templates and built-in models, one line each."""
    if given.json:
        listed = [{"name": n, "about": models.about(n)} for n in models.names()]
        templates = [{"name": n, "about": model_list.template_about(n)} for n in model_list.template_names()]
        outputs.print_json("models", {"models": listed, "templates": templates})
        return
    print(f"Built-in models\n{model_list.model_list()}\n\nTemplates of 'linkwright new'\n{model_list.template_list()}\n")
    advice = "linkwright new my.yaml --from NAME begins with any of them."
    print(console.wrapped(advice))


COMMAND = CliCommand(
    name="new",
    topic="first-mechanism",
    help="write a commented model to start from, or list templates and built-in models with --list",
    about="Write a model file with comments that explain every line: a four-bar linkage with masses, or what --from names. "
    "You can compute its cycle, simulate it and write its report at once. At a terminal it opens in the editor (linkwright edit). "
    "A drawing, DXF or SVG, becomes pins and links ('linkwright docs drawings').",
    examples=(
        "linkwright new press.yaml --from slider-crank",
        "linkwright new my.yaml --from sketch.dxf",
        "linkwright new --list",
    ),
    options=(
        option("path", metavar="PATH", nargs="?", help="file to write, ending in .yaml"),
        option(
            "--from",
            dest="start",
            metavar="NAME",
            default=model_list.DEFAULT,
            help=f"template or built-in model to begin with (default {model_list.DEFAULT}), or a drawing: sketch.dxf, sketch.svg",
        ),
        option("--pins", metavar="LAYER", help="layer of the pins in a drawing (default: by name, else all circles and points)"),
        option("--links", metavar="A,B", type=options.listed, help="layers of the links in a drawing (default: by name)"),
        option("--ground", metavar="A,B", type=options.listed, help="layer of the ground in a drawing, or names of the fixed pins"),
        option("--gap", metavar="LENGTH", help="gap in a drawing up to which a line meets a pin (default: 1/1000 of its size)"),
        option("--unit", metavar="UNIT", help="unit of lengths: in a drawing, in place of the unit of its file"),
        option("--no-edit", dest="edit", action="store_false", help="the file only, without the editor that a terminal opens"),
        option("--list", action="store_true", help="list of templates and built-in models"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)

LIST = CliCommand(
    name="models",
    topic="models",
    help="list the built-in models, as new --list",
    about="List the built-in models and the templates of 'linkwright new'.",
    examples=("linkwright models", "linkwright models --json"),
    options=(options.JSON,),
    run=list_all,
)
