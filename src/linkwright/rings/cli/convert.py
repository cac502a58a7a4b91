"""`linkwright convert`: a model of one program as a file of another."""

from __future__ import annotations

import argparse
import os

from linkwright import files
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.export import export_options, settings, write
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.exchange.formats import FORMATS, format_of


def run(given: argparse.Namespace) -> None:
    to_yaml = given.format is None and os.path.splitext(given.output)[1].lower() in files.MODELS
    chosen = None if to_yaml else format_of(given.output, given.format, files.MODELS)
    outputs.check([(given.output, files.MODELS if chosen is None else chosen.endings)], given.force)
    more = {} if chosen is None else settings(chosen, given)
    m = loading.load(given, shows_import=True)
    if chosen is None:
        written, lost = [str(m.save(given.output, force=given.force))], []
    else:
        written, lost = write(chosen, m, given.output, more)
    if given.json:
        found = {"model": m.name, "format": "yaml" if chosen is None else chosen.name, "files": written, "lost": lost}
        outputs.print_json("convert/1", found | ({"import": m.imported.as_dict()} if m.imported else {}))
    elif m.imported is not None:
        console.show(str(m.imported))
    outputs.report_files(written, given.json)


_KINDS = "; ".join(["YAML (.yaml, .yml)", *(f"{x.name} ({', '.join(x.endings)})" for x in FORMATS.values())])

COMMAND = CliCommand(
    name="convert",
    help="a model of one program as a file of another: URDF, SDF, MJCF, YAML and all export formats",
    about="Read a model of any format and write it in another; the endings decide. The report of the import is printed. "
    f"Read: YAML, URDF with loops, SDF, MJCF, DXF and SVG. Written: {_KINDS}.",
    examples=(
        "linkwright convert four-bar four-bar.xml",
        "linkwright convert robot.urdf robot.xml --folder meshes",
        "linkwright convert stewart stewart.js --json",
    ),
    options=(
        options.MODEL,
        option("output", metavar="OUT", help="the file to write; its ending decides the format"),
        option("--format", metavar="NAME", help=f"the format, where the ending does not decide it: {', '.join(FORMATS)}"),
        options.PARAM,
        options.SET,
        options.CUTS,
        options.FOLDER,
        *export_options(),
        option("-f", *options.FORCE.flags, **options.FORCE.settings),
        options.JSON,
    ),
    run=run,
)
