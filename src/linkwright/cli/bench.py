"""`linkwright bench`: speed and accuracy; the measuring is in `linkwright.bench`."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(commands: Any) -> None:
    from linkwright.bench import command

    command.add_options(commands)


def run(given: argparse.Namespace) -> None:
    from linkwright.bench import command

    command.run(given)
