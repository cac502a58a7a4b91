"""`linkwright export`: a model for another program; the ending of the file decides the format."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from typing import Any

from linkwright.api import UsageError, files, visible
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, CliOption, option
from linkwright.rings.cli.verb_options import by_name
from linkwright.rings.exchange.formats import FORMATS, format_of
from linkwright.rings.exchange.formats.base import DRIVE, PYTHON_ONLY, ExportFormat, ExportOption


def run(given: argparse.Namespace) -> None:
    if given.output is None:
        raise UsageError(f"export needs the file to write, for example: linkwright export {given.model} -o model.fmu")
    to_yaml = given.format is None and os.path.splitext(given.output)[1].lower() in files.MODELS
    chosen = None if to_yaml else format_of(given.output, given.format, files.MODELS)
    outputs.check([(given.output, files.MODELS if chosen is None else chosen.endings)], given.force)
    more = _settings(chosen, given)
    m = loading.load(given, shows_import=True)
    if chosen is None:
        written, lost = [str(m.save(given.output, force=given.force))], []
    else:
        if given.undriven or given.drive:
            more[DRIVE] = loading.drives(m, given)
        written, lost = write(chosen, m, given.output, more)
    data = {"model": m.name, "format": "yaml" if chosen is None else chosen.name, "files": written, "lost": lost}
    if given.json:
        outputs.print_json("export", data | ({"import": m.imported.as_dict()} if m.imported else {}))
    elif m.imported is not None:
        console.show(str(m.imported))
    outputs.report_files(written, given.json)


def write(chosen: ExportFormat, m: Any, output: str, more: dict[str, Any]) -> tuple[list[str], list[dict[str, Any]]]:
    """Write a model in a format: the files, and what is lost, which is also printed on stderr."""
    with console.waiting(f"writing {output}"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        written = [str(path) for path in chosen.write(m, output, **more)]
    for warning in said:
        print(visible(f"warning: {warning.message}"), file=sys.stderr)
    from linkwright.rings.exchange.writing.losses import LossWarning  # only now: numpy comes along

    return written, [x._asdict() for w in said if isinstance(w.message, LossWarning) for x in w.message.lost]


def _settings(chosen: ExportFormat | None, given: argparse.Namespace) -> dict[str, Any]:
    """Options of the format that were given; one of another format is an error."""
    name = "a model file" if chosen is None else chosen.name
    if (given.undriven or given.drive) and not (chosen and chosen.takes_drives):
        raise UsageError(f"--drive and --undriven describe the motion of a model. {name} has no motion in it. Leave them out.")
    known = {} if chosen is None else {x.on_command_line: x for x in chosen.options}
    out: dict[str, Any] = {}
    for x in _every_option():
        value = getattr(given, _place(x))
        if value in (None, [], False):
            continue
        if x.on_command_line not in known:
            raise UsageError(
                f"{x.on_command_line} is an option of {' and '.join(_having(x))}, and {name} has none. Leave it out.",
                name=x.on_command_line,
            )
        mine = known[x.on_command_line]
        out[mine.keyword] = by_name(value, mine.on_command_line) if mine.pairs else mine.read(value) if isinstance(value, str) else value
    return out


def _every_option() -> list[ExportOption]:
    """Options of all formats, one a flag."""
    found: dict[str, ExportOption] = {}
    for x in FORMATS.values():
        for one in x.options:
            if one.flag != PYTHON_ONLY:
                found.setdefault(one.on_command_line, one)
    return list(found.values())


def _place(x: ExportOption) -> str:
    """Return the attribute in which argparse puts an option."""
    return f"option_{x.on_command_line.strip('-').replace('-', '_')}"


def _having(x: ExportOption) -> list[str]:
    """Names of the formats with an option of this flag."""
    return [f.name for f in FORMATS.values() if x.on_command_line in {y.on_command_line for y in f.options}]


def _written(x: ExportOption) -> CliOption:
    text = f"{x.help} [{', '.join(_having(x))}]".replace("%", "%%")
    settings: dict[str, Any] = {"dest": _place(x), "help": text}
    if x.switch:
        return option(x.on_command_line, action="store_true", **settings)
    if x.pairs:
        return option(x.on_command_line, metavar=x.metavar, action="append", type=options.assignment, default=[], **settings)
    metavar, reader = options.READERS.get(x.on_command_line[2:].replace("-", "_"), (x.metavar, None))
    return option(x.on_command_line, metavar=metavar, **settings, **({} if reader is None else {"type": reader}))


class FormatOptions:
    """Options of all formats, from their registry."""

    @property
    def options(self) -> list[CliOption]:
        return [_written(x) for x in _every_option()]


_KINDS = "; ".join(f"{', '.join(x.endings)}: {x.about}" for x in FORMATS.values())

COMMAND = CliCommand(
    name="export",
    topic="export",
    help="a file for another program, or a model file: " + ", ".join(e for x in FORMATS.values() for e in x.endings),
    about="Write a model for another program, or a model of another program as a model file. The ending of the file decides the format. "
    f"{_KINDS}; .yaml, .yml: the model file. If the model is a file of another program (URDF, SDF, MJCF, DXF, SVG), the report of its "
    "import is printed.",
    examples=(
        "linkwright export wiper -o wiper.fmu --fmi 2.0 --input A=torque --channels A,A.v,C.load",
        "linkwright export excavator -o excavator.urdf --dialect constraint",
        "linkwright export robot.urdf -o robot.yaml --folders meshes",
    ),
    options=(
        options.MODEL,
        options.OUTPUT("the model (its ending decides the format)"),
        option("--format", metavar="NAME", help=f"format, if the ending does not decide it: {', '.join(FORMATS)}"),
        *options.LOADING,
        options.UNDRIVEN,
        options.DRIVE,
        FormatOptions(),
        *options.BOTH,
    ),
    run=run,
)
