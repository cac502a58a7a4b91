"""Commands as data: a name, what it does, examples and a table of options; made into argparse parsers with errors of one paragraph."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from linkwright.api import nearest

PROGRAM = "linkwright"
LATE = "says"  # attribute of an action whose help is a function


@dataclass(frozen=True)
class CliOption:
    """One line of a command's table: flags (or the name of a positional argument) and what argparse calls its settings. `help` may be a
    function, called where the text is shown: it may import what other commands do not need."""

    flags: tuple[str, ...]
    settings: dict[str, Any]


def option(*flags: str, **settings: Any) -> CliOption:
    return CliOption(flags, settings)


class OptionSource(Protocol):
    """Something that makes options when they are asked for, such as the signature of a verb."""

    @property
    def options(self) -> Sequence[CliOption]: ...


@dataclass(frozen=True)
class CliCommand:
    """A command: `run` gets its options and gives the exit code (None is 0)."""

    name: str
    topic: str  # page of the documentation, as `linkwright docs` names it
    help: str  # one line for the list of commands
    about: str  # a paragraph for its own help
    examples: tuple[str, ...]
    options: tuple[CliOption | OptionSource, ...]
    run: Callable[[argparse.Namespace], int | None]

    def every_option(self) -> Iterator[CliOption]:
        """Yield the options, those of signatures among them."""
        for x in self.options:
            yield from (x,) if isinstance(x, CliOption) else x.options


OLD_FLAGS = {  # flags that were, by command ("": of all commands), and what to write now
    "": {
        "--answers": "--count N", "--candidates": "--count N", "--rows": "--count N", "--channel": "--channels A,B",
        "--folder": "--folders DIR", "--subject-to": "--require TEXT",
    },
    "cycle": {"--from": "--start POSITION", "--to": "--stop POSITION"},
    "export": {"--kind": "--interface NAME", "--free": "--undriven", "--variable": "--parameters A,B"},
    "reproduce": {"-o": "--folder DIR", "--output": "--folder DIR"},
    "synthesize": {"-o": "--folder DIR", "--output": "--folder DIR"},
    "new": {"--tolerance": "--gap LENGTH"},
    "simulate": {"--speed": "--set JOINT.v=VALUE", "--free": "--undriven"},
    "study": {"--table": "-o FILE"},
}  # fmt: skip


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Paragraphs are wrapped, lines that begin with spaces (examples) stay as they are, to be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = [line if line.startswith(" ") or not line else textwrap.fill(line, max(width, 20)) for line in text.splitlines()]
        return "\n".join(indent + line for line in lines)

    def _expand_help(self, action: argparse.Action) -> str:
        says = getattr(action, LATE, None)
        return super()._expand_help(action) if says is None else says()


class Parser(argparse.ArgumentParser):
    """argparse with one-paragraph errors, no abbreviated options, and help in our own layout."""

    def __init__(self, **settings: Any):
        settings.setdefault("formatter_class", Formatter)
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {' '.join(message.split()).rstrip('.')}. Try '{self.prog} --help'.\n")

    def refuse(self, extra: Sequence[str], command: str = "") -> NoReturn:
        """Report arguments that no option took: an old option and its new name, an unknown one and the nearest, a value without quotes."""
        unknown = next((x for x in extra if x.startswith("-") and len(x) > 1), None)
        if unknown is not None:
            flags = [f for action in self._actions for f in action.option_strings]
            word = unknown.partition("=")[0]
            new = (OLD_FLAGS[""] | OLD_FLAGS.get(command, {})).get(word, "")
            if new.partition(" ")[0] in flags:
                self.error(f"the option '{word}' has a new name: {new}")
            self.error(f"there is no option '{word}'. {nearest(word, [f for f in flags if f.startswith('--')], 'Options')}")
        self.error(f"'{extra[0]}' is an unexpected argument. A value with spaces needs quotes: --speed '30 rpm'")


def add_options(parser: argparse.ArgumentParser, command: CliCommand) -> None:
    for x in command.every_option():
        settings: dict[str, Any] = dict(x.settings)
        says = settings.get("help")
        if callable(says):
            settings["help"] = LATE
        action = parser.add_argument(*x.flags, **settings)
        if callable(says):
            setattr(action, LATE, says)


def settings_of(command: CliCommand) -> dict[str, Any]:
    """Describe a command to argparse, its options aside."""
    positional = [x for x in command.options if isinstance(x, CliOption) and not x.flags[0].startswith("-")]
    usage = [f"[{x.settings['metavar']}]" if x.settings.get("nargs") == "?" else x.settings["metavar"] for x in positional]
    return {
        "usage": " ".join([PROGRAM, *([command.name] if command.name.islower() else []), *usage, "[options]"]),
        "description": command.about,
        "epilog": "\n".join(["examples:", *(f"  {x}" for x in command.examples), "", f"more: {PROGRAM} docs {command.topic}"]),
    }
