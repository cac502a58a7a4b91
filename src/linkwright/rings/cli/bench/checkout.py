"""Other programs in `linkwright bench --peers`: their drivers are the folder `benchmarks` of a checkout, beside `src`.

They are not installed with the package. `opened` imports them from the checkout this package runs from; elsewhere it raises UsageError.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from linkwright.errors import UsageError
from linkwright.rings.cli.bench.cases import BenchCase, BenchRow, Contender
from linkwright.rings.cli.bench.free_run import FreeRun

NAME = "benchmarks"  # of the folder and of the package in it
FOLDER = Path(__file__).resolve().parents[5] / NAME  # in a checkout this file is src/linkwright/rings/cli/bench/checkout.py


class Peers(Protocol):
    """Other programs with the compilers they need."""

    def prepare(self) -> None:
        """Compile the programs shared by all mechanisms."""
        ...

    def on_case(self, case: BenchCase) -> list[Contender | BenchRow]:
        """Return contenders on one state of a mechanism, and rows with the reason where there is none."""
        ...

    def on_run(self, run: FreeRun, quick: bool) -> list[Contender | BenchRow]:
        """Return the same for a whole simulation."""
        ...


def opened(build: str | os.PathLike[str] | None, say: Callable[[str], None]) -> AbstractContextManager[Peers]:
    """Return the other programs as a context manager that ends the processes they start. `build`: a directory for compiled programs."""
    start = FOLDER / "__init__.py"
    if FOLDER.parent.joinpath("src", "linkwright") != Path(__file__).resolve().parents[3] or not start.is_file():
        raise UsageError(
            "comparing with other programs (--peers) needs a checkout of the repository: their drivers are in its folder "
            f"'{NAME}', which is not installed with the package. Without --peers `linkwright bench` measures Linkwright alone."
        )
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(NAME, start, submodule_search_locations=[str(FOLDER)])
        assert spec and spec.loader
        sys.modules[NAME] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[NAME])
    return importlib.import_module(f"{NAME}.peers").Peers(build, say)
