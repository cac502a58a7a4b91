"""`linkwright bench`: speed and accuracy, by the folder `benchmarks` of a checkout, which is not installed with the package."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from linkwright.api import UsageError, files
from linkwright.rings.cli import options
from linkwright.rings.cli.parser import CliCommand, option

NAME = "benchmarks"  # of the folder and of the package in it
SUBJECTS = ("kernels", "runs", "verbs", "page")
PACKAGE = Path(__file__).resolve().parents[2]  # in a checkout src/linkwright
FOLDER = PACKAGE.parents[1] / NAME


def run(given: argparse.Namespace) -> None:
    """Measure and print."""
    if given.output is not None:
        files.guarded(given.output, (".csv",), force=given.force)
    asked = {"peers": given.peers, "quick": given.quick, "models": given.models, "build": given.build, "against": given.against}
    checkout().measure(given.what, output=given.output, as_json=given.json, **asked)


def checkout() -> Any:
    """Return the package `benchmarks.bench` of the checkout this program runs from; raise UsageError if there is none."""
    start = FOLDER / "__init__.py"
    if FOLDER.parent / "src" / "linkwright" != PACKAGE or not start.is_file():
        raise UsageError(
            f"linkwright bench needs a checkout of the repository, because its folder '{NAME}' is not installed with the package. "
            "Clone the repository and run there: pip install -e . && linkwright bench",
            name=NAME,
        )
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(NAME, start, submodule_search_locations=[str(FOLDER)])
        assert spec and spec.loader
        sys.modules[NAME] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[NAME])
    return importlib.import_module(f"{NAME}.bench")


COMMAND = CliCommand(
    name="bench",
    topic="comparison",
    help="speed and accuracy of kernels, simulations, verbs and the page (from a checkout)",
    about="Measure compiled kernels (operations, times, batches, processes, growth with the number of loops), whole simulations (runs), "
    "the calls of users (verbs) or the page in a browser. All contenders are timed in turns and the best round of each counts, so only "
    "ratios carry over to other machines. The command needs a checkout of the repository.",
    examples=(
        "linkwright bench --quick --models four-bar -o results.csv",
        "linkwright bench runs --quick",
        "linkwright bench verbs --quick --against ../before",
    ),
    options=(
        option("what", metavar="WHAT", nargs="?", choices=SUBJECTS, default="kernels", help=f"part to measure: {', '.join(SUBJECTS)}"),
        option("--peers", action="store_true", help="other programs, if they are installed here (minutes, because C++ is compiled)"),
        option("--quick", action="store_true", help="fewer rounds, fewer loops"),
        option("--models", metavar="A,B", type=options.listed, help="models to measure (default: all that have a benchmark)"),
        option("--build", metavar="FOLDER", help="folder for compiled programs, used again by the next run"),
        option("--against", metavar="FOLDER", help="another checkout: the calls of users in both versions, in turns (with verbs)"),
        options.OUTPUT("table of the results (.csv)"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)
