"""`linkwright schema`: the JSON Schema of the model file, for editors."""

from __future__ import annotations

import argparse
from pathlib import Path

from linkwright import files
from linkwright.rings.cli import options, outputs
from linkwright.rings.cli.parser import CliCommand, option

ENDINGS = (".json",)


def run(given: argparse.Namespace) -> None:
    from linkwright.model.file.schema import schema, schema_text

    path = None if given.output is None else Path(given.output)
    if path is not None:
        files.guarded(path, ENDINGS, force=given.force)
        files.write_text(path, ENDINGS, schema_text())
    if given.json:
        found = schema()
        outputs.print_json("schema/1", {"draft": found["$schema"], "model": found, "file": None if path is None else str(path)})
    elif path is None:
        print(schema_text(), end="")
    if path is not None:
        outputs.report_files([str(path)], given.json)


COMMAND = CliCommand(
    name="schema",
    help="print the JSON Schema of the model file, for editors",
    about=(
        "Print the JSON Schema of the model file. An editor with a YAML language server then completes keys, explains them and marks "
        "misspelt ones. Name the schema in the first line of a model: # yaml-language-server: $schema=model.schema.json"
    ),
    examples=("linkwright schema", "linkwright schema -o model.schema.json"),
    options=(
        option("-o", "--output", metavar="FILE", help="write the schema to a .json file in place of the terminal"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)
