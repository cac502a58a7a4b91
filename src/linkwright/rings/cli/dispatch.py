"""Dispatch of a command line: exit codes, errors of one paragraph, signals, closed pipes.

A line begins with a command, or with a model: `linkwright wiper` is its page.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import NoReturn

from linkwright.api import LinkwrightError, UsageError, files, nearest
from linkwright.rings.cli import console
from linkwright.rings.cli.parser import PROGRAM, CliCommand, Parser, add_options, settings_of

PLACES = {  # module and constant of each command, in the order of the help; a module is imported when its command is needed
    "new": "new_model.COMMAND", "edit": "edit.COMMAND", "info": "info.COMMAND", "check": "check.COMMAND", "cycle": "cycle.COMMAND",
    "holding-range": "drive_positions.HOLDING", "lost-motion": "drive_positions.LOST",
    "simulate": "simulate.COMMAND", "study": "study.COMMAND", "optimize": "optimize.COMMAND",
    "synthesize": "synthesize.COMMAND", "workspace": "workspace.COMMAND",
    "time-optimal": "time_optimal.COMMAND", "optimal": "optimal.COMMAND",
    "identify": "identify.COMMAND", "calibrate": "identify.CALIBRATE", "report": "report.COMMAND",
    "export": "export.COMMAND", "models": "new_model.LIST", "motion-laws": "motion_laws.COMMAND", "schema": "schema.COMMAND",
    "docs": "docs.COMMAND", "completion": "completion.COMMAND", "reproduce": "reproduce.COMMAND", "bench": "bench.COMMAND",
}  # fmt: skip
NAMES = tuple(PLACES)
OLD_COMMANDS = {  # commands that were, and what to write now
    "convert": "export", "fastest": "time-optimal", "laws": "motion-laws", "map": "workspace", "optimise": "optimize",
    "synthesise": "synthesize", "turn": "cycle",
}  # fmt: skip
EPILOG = """examples:
  linkwright wiper
  linkwright info wiper
  linkwright simulate wiper 5 --plot wiper.png
  linkwright wiper --help
  linkwright docs first-mechanism

exit codes: 0 success, 1 cannot be done (the reason is on stderr), 2 wrong usage, 130 interrupted, 143 terminated"""
COMPUTING = (  # by native code, mostly
    "simulate", "study", "optimize", "synthesize", "workspace", "time-optimal", "optimal", "identify", "calibrate",
)  # fmt: skip
MODEL_ENDINGS = (*files.MODELS, *files.ROBOTS, *files.SKETCHES, *files.RUNS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    console.open_closed()
    for stream in (sys.stdout, sys.stderr):
        console.printable(stream)
    argv = list(sys.argv[1:] if arguments is None else arguments)
    with console.terminable():
        return _guarded(argv)


def _guarded(argv: list[str]) -> int:
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except LinkwrightError as problem:
        console.error(str(problem))
        return 1
    except SystemExit as stop:  # argparse: help was asked for, or the usage is wrong
        return int(stop.code or 0)
    except MemoryError:
        console.error("there is not enough memory for this. Give the process more (ulimit -v, the limit of a container), or compute less.")
        return 1
    except BrokenPipeError:  # the reader of our output has seen enough
        console.to_nowhere()
        return 0
    except KeyboardInterrupt:
        print("interrupted. No file was left half written", file=sys.stderr)
        return console.exit_code_of_signal()


def _run(argv: list[str]) -> int:
    if not argv:
        from linkwright.rings.cli import model_list

        print(model_list.welcome())
        return 0
    if argv[0] in NAMES or argv[0] in ("-h", "--help", "--version"):
        return _command(argv)
    if argv[0].startswith("-") or is_subject(argv[0]):
        return _page(argv)
    _unknown(argv[0])


def is_subject(word: str) -> bool:
    """A built-in model, a file of a model or run, or something that can only be meant as a path."""
    from linkwright.api import library as models

    return word in models.names() or word.lower().endswith(MODEL_ENDINGS) or os.sep in word or "/" in word or os.path.exists(word)


def command_of(name: str) -> CliCommand:
    """Return a command by name; "page" is the one that `linkwright MODEL` means."""
    module, _, constant = PLACES.get(name, "page.COMMAND").partition(".")
    return getattr(import_module(f"linkwright.rings.cli.{module}"), constant)


@cache
def parser_of(name: str) -> Parser:
    """Return the parser of one command."""
    command = command_of(name)
    parser = Parser(prog=f"{PROGRAM} {name}" if name in PLACES else PROGRAM, **settings_of(command))
    add_options(parser, command)
    return parser


def _command(argv: list[str]) -> int:
    if argv[0] not in NAMES:
        overview().parse_args(argv)
    parser = parser_of(argv[0])
    given, extra = parser.parse_known_args(argv[1:])
    if extra:
        parser.refuse(extra, argv[0])
    if argv[0] in COMPUTING:
        console.note_interpreted()
    return command_of(argv[0]).run(given) or 0


def _page(argv: list[str]) -> int:
    parser = parser_of("page")
    given, extra = parser.parse_known_args(argv)
    if given.model in NAMES:
        parser.error(f"the command comes first: {PROGRAM} {given.model} ...")
    if extra:
        parser.refuse(extra)
    if not is_subject(given.model):
        _unknown(given.model)
    ending = os.path.splitext(given.model)[1].lower()
    if ending and ending not in MODEL_ENDINGS and os.path.isfile(given.model):
        models, runs = _one_of(*files.MODELS, *files.ROBOTS, *files.SKETCHES), _one_of(*files.RUNS)
        raise UsageError(
            f"'{given.model}' is neither a model nor a run: a model's file ends in {models}, a saved run in {runs}.", name=given.model
        )
    return command_of("page").run(given) or 0


def _one_of(*endings: str) -> str:
    return f"{', '.join(endings[:-1])} or {endings[-1]}"


def _unknown(word: str) -> NoReturn:
    from linkwright.api import library as models

    if word in OLD_COMMANDS:
        overview().error(f"the command '{word}' has a new name: {PROGRAM} {OLD_COMMANDS[word]}")
    hint = nearest(word, [*NAMES, *models.names()], "").partition("?")
    meant = f"{hint[0]}? " if hint[1] else ""
    message = f"there is no command and no model '{word}'. {meant}Commands: {', '.join(NAMES)}. '{PROGRAM} models' lists the models"
    overview().error(message)


def overview() -> Parser:
    """Return the parser of `linkwright --help`, which lists the commands."""
    from linkwright import __version__

    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} MODEL [options]\n       {PROGRAM} COMMAND ...\n       {PROGRAM}",
        description="Mechanisms with closed kinematic loops: topology, motion, drive torques, joint loads. "
        f"{PROGRAM} MODEL opens the page of a model; {PROGRAM} alone lists the built-in ones.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND ...", prog=PROGRAM, parser_class=Parser)
    for name in NAMES:
        commands.add_parser(name, help=command_of(name).help)
    return parser
