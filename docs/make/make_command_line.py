"""Writes the tables of docs/reference/command-line.md again: options from the parsers of the commands, fields of JSON from their schemas.

    python docs/make/make_command_line.py

The text between `<!-- table: name -->` and `<!-- end -->` comes from here; a test compares it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from blocks import renewed, table  # beside this file

from linkwright.rings.cli import options, schemas
from linkwright.rings.cli.dispatch import NAMES, command_of, parser_of
from linkwright.rings.cli.parser import CliOption

PAGE = Path(__file__).resolve().parents[1] / "reference" / "command-line.md"
QUOTED = re.compile(r"(?<!\w)'([^']+)'(?!\w)")
EVERY = (*NAMES, "page")
SHARED = (*options.LOADING, *options.MARKS, *options.BOTH)


def commands() -> str:
    """Return all commands with what they do, linked to their sections."""
    rows = []
    for name in NAMES:
        names = [x.settings["metavar"] for x in command_of(name).every_option() if not x.flags[0].startswith("-")]
        rows.append((f"[`{' '.join(['linkwright', name, *names])}`](#{name})", command_of(name).help))
    page = command_of("page")
    return table(("command", "result"), [("[`linkwright MODEL`](#the-page)", page.help), *rows])


def of_command(name: str) -> str:
    """Return the options of a command, those that many commands share aside."""
    shared = {flag for x in SHARED for flag in x.flags}
    actions = [x for x in parser_of(name)._actions if not shared & set(x.option_strings) and x.dest != "help"]
    return _options(actions)


def of_all() -> str:
    """Return the options that many commands share."""
    parser = argparse.ArgumentParser(add_help=False)
    return _options([_action(parser, x) for x in SHARED])


def fields(name: str) -> str:
    """Return the fields of the JSON of a command."""
    found = schemas.table(name)
    rows = [("`schema`", "text", f'"{found.format}"'), *((f"`{x.path}`", x.written, x.about) for x in found.fields)]
    text = table(("field", "type", "content"), rows)
    return f"{found.remark}\n\n{text}" if found.remark else text


def _action(parser: argparse.ArgumentParser, x: CliOption) -> argparse.Action:
    return parser.add_argument(*x.flags, **x.settings)


def _options(actions: Iterable[argparse.Action]) -> str:
    return table(("option", "meaning"), ((_written(x), _meaning(x)) for x in actions))


def _written(x: argparse.Action) -> str:
    value = "" if x.nargs == 0 else f" [{x.metavar}]" if x.nargs == "?" and x.option_strings else f" {x.metavar or x.dest.upper()}"
    return ", ".join(f"`{flag}{value}`" for flag in x.option_strings) or f"`{x.metavar}`"


def _meaning(x: argparse.Action) -> str:
    says = getattr(x, "says", None)
    text = (says() if says else x.help or "").replace("%%", "%").replace("|", "\\|")
    return QUOTED.sub(r"`\1`", text)


TABLES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "options-shared": of_all,
    **{f"options-{name}": partial(of_command, name) for name in EVERY},
    **{f"json-{name}": partial(fields, name) for name in schemas.tables()},
}

if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), TABLES), encoding="utf-8")
