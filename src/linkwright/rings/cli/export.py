"""`linkwright export`: a model for another program; the ending of the file decides the format."""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

from linkwright.errors import UsageError, visible
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, CliOption, option
from linkwright.rings.exchange.formats import FORMATS, format_of
from linkwright.rings.exchange.formats.base import DRIVE, PYTHON_ONLY, ExportFormat, ExportOption


def run(given: argparse.Namespace) -> None:
    if given.output is None:
        raise UsageError(f"export needs the file to write, for example: linkwright export {given.model} -o model.fmu")
    chosen = format_of(given.output, given.format)
    outputs.check([(given.output, chosen.endings)], given.force)
    more = settings(chosen, given)
    m = loading.load(given)
    if given.free or given.drive:
        more[DRIVE] = _drives(m, chosen, given)
    written, lost = write(chosen, m, given.output, more)
    if given.json:
        outputs.print_json("export/1", {"model": m.name, "format": chosen.name, "files": written, "lost": lost})
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


def settings(chosen: ExportFormat, given: argparse.Namespace) -> dict[str, Any]:
    """Options of the format that were given; one of another format is an error."""
    known = {x.on_command_line: x for x in chosen.options}
    out: dict[str, Any] = {}
    for x in _every_option():
        value = getattr(given, _place(x))
        if value in (None, [], False):
            continue
        if x.on_command_line not in known:
            having = [f.name for f in FORMATS.values() if x.on_command_line in {y.on_command_line for y in f.options}]
            raise UsageError(f"{x.on_command_line} is an option of {' and '.join(having)}; {chosen.name} has none. Leave it out.")
        mine = known[x.on_command_line]
        out[mine.keyword] = dict(value) if mine.pairs else value if mine.switch else mine.read(value)
    return out


def _drives(m: Any, chosen: ExportFormat, given: argparse.Namespace) -> dict[str, Any]:
    from linkwright.drives import drives_of_description

    if not chosen.takes_drives:
        raise UsageError(f"--drive and --free say how a model moves; {chosen.name} has no motion in it. Leave them out.")
    out = {} if given.free else drives_of_description(m.description)
    return out | {name: loading.drive(m, name, text) for name, text in given.drive}


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


def _written(x: ExportOption) -> CliOption:
    having = [f.name for f in FORMATS.values() if x.on_command_line in {y.on_command_line for y in f.options}]
    settings: dict[str, Any] = {"dest": _place(x), "help": f"{', '.join(having)}: {x.help}".replace("%", "%%")}
    if x.switch:
        return option(x.on_command_line, action="store_true", **settings)
    if x.pairs:
        return option(x.on_command_line, metavar=x.metavar, action="append", type=options.assignment, default=[], **settings)
    return option(x.on_command_line, metavar=x.metavar, **settings)


def export_options() -> tuple[CliOption, ...]:
    """Options of all formats, for a command that writes them."""
    return tuple(_written(x) for x in _every_option())


_KINDS = "; ".join(f"{', '.join(x.endings)}: {x.about}" for x in FORMATS.values())

COMMAND = CliCommand(
    name="export",
    help="write a model for another program: " + ", ".join(e for x in FORMATS.values() for e in x.endings),
    about=f"Write a model for another program. The ending of the file decides the format. {_KINDS}.",
    examples=(
        "linkwright export wiper -o wiper.fmu --fmi 2.0 --input A=torque --channels A,A.v,C.load",
        "linkwright export four-bar -o four_bar.c --precision single",
        "linkwright export excavator -o excavator.urdf --dialect constraint",
    ),
    options=(
        options.MODEL,
        option("-o", "--output", metavar="FILE", help="the file to write; its ending decides the format"),
        option("--format", metavar="NAME", help=f"the format, where the ending does not decide it: {', '.join(FORMATS)}"),
        options.PARAM,
        options.SET,
        options.CUTS,
        options.FOLDER,
        options.FREE,
        options.DRIVE,
        *export_options(),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)
