"""`linkwright bench`: speed and accuracy; the measuring is in `linkwright.cli.bench`."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(commands: Any) -> None:
    from linkwright.cli.bench import command

    command.add_options(commands)


def run(given: argparse.Namespace) -> None:
    from linkwright.cli.bench import command

    command.run(given)
