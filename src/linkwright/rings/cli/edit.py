"""`linkwright edit`: draw a mechanism in the browser; the file beside it is the same YAML."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from linkwright.api import ModelError, UsageError, files
from linkwright.api import library as models
from linkwright.rings.cli import console, options, outputs
from linkwright.rings.cli.parser import CliCommand, option

EMPTY = """name: {name}
plane: xy
units: [mm, kg, deg, rpm]
gravity: [0, -9.81 m/s^2]
"""


def run(given: argparse.Namespace) -> int:
    path = model_path(given.model)
    if not path.exists():
        from linkwright.rings.cli.new_model import model_name

        files.write_text(path, files.MODELS, EMPTY.format(name=model_name(path.stem)))
    elif not is_planar(path):
        raise UsageError(
            f"the editor draws planar mechanisms, with `plane: xy`. '{path}' is spatial. Edit it as text: linkwright {path}", name=path
        )
    return opened(path, port=given.port, browser=given.browser, json=given.json)


def opened(path: Path, *, port: int = 0, browser: bool = True, json: bool = False) -> int:
    """Serve the editor of a file until Ctrl-C."""
    from linkwright.rings.studio.server import Server, serve

    if not json:
        return serve(path, port=port, browser=browser, out=console.show, edit=True)
    with Server(path, port=port, edit=True) as server:
        name = server.editor.answers.state()["name"] if server.editor is not None else path.stem
        outputs.print_json("edit", {"file": str(path), "name": name, "address": server.address})
        sys.stdout.flush()
        return console.served(server, browser)


def model_path(given: str) -> Path:
    """The file to edit; raise UsageError for what is none of the user's own model files."""
    path = Path(given)
    if path.suffix.lower() not in files.MODELS:
        if given in models.names() and not path.exists():
            raise UsageError(f"'{given}' is a built-in model. Edit a copy of it: linkwright new my.yaml --from {given}", name=given)
        if path.suffix.lower() in files.SKETCHES:
            raise UsageError(f"'{given}' is a drawing. Make a model of it first: linkwright new my.yaml --from {given}", name=given)
        if path.suffix:
            raise UsageError(
                f"the editor edits model files, .yaml or .yml, not '{path.suffix}'. linkwright export makes one of other formats.",
                value=path.suffix,
                name=path.suffix,
            )
        path = path.with_suffix(".yaml")
    return path


def is_planar(path: Path) -> bool:
    """True if a file draws in a plane, or nothing yet, or cannot be read: then the page says why."""
    from linkwright.api import edit_sheet, file_nodes

    try:
        sheet = edit_sheet.EditSheet(file_nodes.text_of(path).removeprefix(file_nodes.ENCODING), path.name)
        return sheet.node("plane") is not None or not any(sheet.names(key) for key in ("drawing", "bodies"))
    except ModelError:
        return True


COMMAND = CliCommand(
    name="edit",
    topic="editor",
    help="draw a mechanism in the browser and keep the model file up to date",
    about="Open the editor of a model file in the browser: draw links, sliders, cylinders, springs and drives with the mouse. Every edit "
    "is written to the file, with its comments, units and order. Changes that a text editor saves appear on the page. A file "
    "that does not exist "
    "is made.",
    examples=("linkwright edit my.yaml", "linkwright edit new-machine.yaml --no-browser"),
    options=(
        option("model", metavar="FILE", help="the model file, .yaml (created if it does not exist)"),
        options.NO_BROWSER,
        options.PORT,
        options.JSON,
    ),
    run=run,
)
