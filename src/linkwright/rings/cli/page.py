"""`linkwright MODEL`: the page in the browser, reloaded when the file is saved; or written to a file."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from linkwright.api import LinkwrightError, visible
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand
from linkwright.rings.cli.verb_options import Verb

PAGE = Verb("linkwright.rings.studio.verbs:MechanismVerbs.show", only=("steps",))


def run(given: argparse.Namespace) -> int:
    if given.output is not None:
        return _write(given)
    return _serve(given)


def _write(given: argparse.Namespace) -> int:
    outputs.check([(given.output, outputs.PAGES)], given.force)
    with console.waiting("writing the page"):
        if loading.is_run(given.model):
            recorded = loading.open_run(given)
            name, path = recorded.skel.tree.description.name, recorded.show(given.output)
        else:
            m = loading.load(given)
            name, path = m.name, m.show(given.output, steps=given.steps)
    if given.json:
        data = {"model": name, "run": loading.is_run(given.model), "file": given.output, "bytes": os.path.getsize(path), "address": None}
        outputs.print_json("page", data)
    outputs.report_files([given.output], given.json)
    return 0


def _serve(given: argparse.Namespace) -> int:
    from linkwright.rings.studio.server import Server, serve

    changes = _changes(given)
    if not given.json:
        return serve(given.model, port=given.port, browser=given.browser, out=_say, steps=given.steps, **changes)
    with Server(given.model, port=given.port, out=_warn, changes=changes, steps=given.steps) as server:
        data = {"model": _name(given), "run": loading.is_run(given.model), "file": None, "bytes": None, "address": server.address}
        outputs.print_json("page", data)
        sys.stdout.flush()
        return console.served(server, given.browser)


def _name(given: argparse.Namespace) -> str:
    """The model's own name; of a file that cannot be read yet, the argument."""
    try:
        return loading.open_run(given).skel.tree.description.name if loading.is_run(given.model) else loading.load(given).name
    except LinkwrightError:
        return given.model


def _changes(given: argparse.Namespace) -> dict[str, Any]:
    """Changes that apply at every reload. A file that cannot be read now may be right later: only --set needs it at once, for its units."""
    if loading.is_run(given.model):
        loading.refuse_changes(given)
        return {}
    changes: dict[str, Any] = dict(given.param) | ({"folders": given.folders} if given.folders else {})
    if given.set:
        m = loading.load(given)
        changes["start"] = {name: loading.in_file_units(m, name, text) for name, text in given.set}
    return changes


def _say(text: str) -> None:
    console.show(text)


def _warn(text: str) -> None:
    print(visible(text), file=sys.stderr, flush=True)


COMMAND = CliCommand(
    name="MODEL",
    topic="page",
    help="open the page of a model or run in the browser",
    about="Open the page of a model in the browser, moving. It follows the file and is built again whenever the file is saved. "
    "With -o the page is written instead: one self-contained HTML file. A saved run plays in it.",
    examples=("linkwright wiper", "linkwright my.yaml --param L1=0.4 --no-browser", "linkwright jansen-leg -o leg.html"),
    options=(
        options.SUBJECT,
        options.PARAM,
        options.SET,
        options.FOLDERS,
        PAGE,
        options.NO_BROWSER,
        options.PORT,
        options.OUTPUT("the page (.html), instead of opening it"),
        *options.BOTH,
    ),
    run=run,
)
