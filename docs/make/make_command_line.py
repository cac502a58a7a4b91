"""Writes the tables of docs/reference/command-line.md again: options from the parsers of the commands, in a few words each.

    python docs/make/make_command_line.py

The text between `<!-- table: name -->` and `<!-- end -->` comes from here; a test compares it.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

from blocks import renewed, table  # beside this file

from linkwright.rings.cli import options, schemas
from linkwright.rings.cli.dispatch import NAMES, command_of, parser_of

PAGE = Path(__file__).resolve().parents[1] / "reference" / "command-line.md"
QUOTED = re.compile(r"(?<!\w)'([^']+)'(?!\w)")
EVERY = (*NAMES, "page")
WITHOUT = ("models", "completion", "schema", "reproduce", "bench")  # a sentence is enough
COMMANDS = 4  # with one meaning make an option a common one
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
    shared = {action.dest for action in common()}
    actions = [x for x in parser_of(name)._actions if x.dest not in shared | {"help"}]
    return _options(actions)


def of_all() -> str:
    """Return the options that many commands share."""
    return _options(common())


@cache
def common() -> list[argparse.Action]:
    """Options that are shared by design, and those of at least four commands with one meaning."""
    found: dict[tuple[str, str], list[argparse.Action]] = {}
    for name in EVERY:
        for x in parser_of(name)._actions:
            found.setdefault((x.dest, _meaning(x)), []).append(x)
    shared = {flag for x in SHARED for flag in x.flags}
    return [xs[0] for (dest, _), xs in found.items() if dest != "help" and (len(xs) >= COMMANDS or shared & set(xs[0].option_strings))]


def _options(actions: Iterable[argparse.Action]) -> str:
    once = {x.dest: x for x in reversed(list(actions))}
    return table(("option", "meaning"), ((_written(x), _meaning(x)) for x in reversed(once.values())))


def _written(x: argparse.Action) -> str:
    value = "" if x.nargs == 0 else f" [{x.metavar}]" if x.nargs == "?" and x.option_strings else f" {x.metavar or x.dest.upper()}"
    return ", ".join(f"`{flag}{value}`" for flag in x.option_strings) or f"`{x.metavar}`"


def _meaning(x: argparse.Action) -> str:
    """The beginning of a help text; `--help` has all of it."""
    says = getattr(x, "says", None)
    text = (says() if says else x.help or "").replace("%%", "%").replace("|", "\\|")
    again = " (repeatable)" if text.endswith("(may be repeated)") else ""
    kind = re.match(r"(?:file|plot|page|picture|animation) to write(?: \([^)]*\))?: ", text)
    opening, text = (text[: kind.end()], text[kind.end() :]) if kind else ("", text)
    short = re.split(r"[;:(]", text, maxsplit=1)[0].strip()
    example = re.match(r": '[^']+'", text[len(short) :])
    opening = re.sub(r" \([^)]*\)", "", opening)
    return QUOTED.sub(r"`\1`", opening + short + (example[0] if example else "")) + again


def json_schemas() -> str:
    """Commands whose output has a schema; the site links each of them."""
    names = [name for name in schemas.tables() if name in NAMES]
    return "\n".join(textwrap.wrap(", ".join(f"`{name}`" for name in names) + ".", 100, break_on_hyphens=False))


TABLES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "options-shared": of_all,
    "schemas": json_schemas,
    **{f"options-{name}": partial(of_command, name) for name in EVERY if name not in WITHOUT},
}

if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), TABLES), encoding="utf-8")
