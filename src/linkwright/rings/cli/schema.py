"""`linkwright schema`: the JSON Schema of the model file, for editors, or of what a command prints with --json."""

from __future__ import annotations

import argparse
import json

from linkwright.api import UsageError, files, nearest
from linkwright.rings.cli import options, outputs, schemas
from linkwright.rings.cli.parser import CliCommand, option

ENDINGS = (".json",)
MODEL = "model"


def run(given: argparse.Namespace) -> None:
    found, text = _schema(given.what)
    written = []
    if given.output is not None:
        written.append(str(files.guarded(given.output, ENDINGS, force=given.force)))
        files.write_text(given.output, ENDINGS, text)
    if given.json:
        key = "model" if given.what == MODEL else "output"
        path = written[0] if written else None
        outputs.print_json("schema", {"draft": found["$schema"], "of": given.what, key: found, "file": path})
    elif not written:
        print(text, end="")
    outputs.report_files(written, given.json)


def _schema(what: str) -> tuple[dict, str]:
    """A schema, and its text as it is written to a file."""
    if what == MODEL:
        from linkwright.model.file.schema import schema, schema_text

        return schema(), schema_text()
    from linkwright.rings.cli.dispatch import NAMES

    if what not in (known := [*NAMES, "page"]):
        raise UsageError(f"there is no command '{what}'.", nearest(what, [MODEL, *known], "Schemas"))
    found = schemas.json_schema(what)
    return found, json.dumps(found, indent=1) + "\n"


COMMAND = CliCommand(
    name="schema",
    topic="model-file",
    help="the JSON Schema of the model file, or of the JSON that a command prints",
    about="Print the JSON Schema of the model file, or with the name of a command the schema of what it prints with --json ('page' is "
    "linkwright MODEL). An editor with a YAML language server completes keys, explains them and marks misspelled ones. Name the schema in "
    "the first line of a model: # yaml-language-server: $schema=model.schema.json",
    examples=("linkwright schema", "linkwright schema cycle", "linkwright schema -o model.schema.json"),
    options=(
        option("what", metavar="WHAT", nargs="?", default=MODEL, help="command whose output is described (default: the model file)"),
        options.OUTPUT("the schema (.json), instead of printing it"),
        *options.BOTH,
    ),
    run=run,
)
