"""`linkwright bench`: its options, and what it runs."""

from __future__ import annotations

import argparse
from typing import Any

EXAMPLES = """examples:
  linkwright bench                          our kernels: operations, ns, batches, process times, growth with loops
  linkwright bench --peers -o results.csv   the same mechanisms in Pinocchio, MuJoCo and generated C beside them
  linkwright bench --runs only --peers      whole simulations: time against error, ours and theirs
  linkwright bench --page                   the page in a browser: its size, time to open, one parameter changed
  linkwright bench --quick --mechanism four-bar"""


def add_options(commands: Any) -> None:
    """The subcommand and its options."""
    parser = commands.add_parser(
        "bench",
        help="measure speed and accuracy, ours and the peers'",
        description="Measures compiled kernels in one run, contenders in turns, best of many short repeats; ratios are what counts.",
        epilog=EXAMPLES,
    )
    parser.add_argument("--peers", action="store_true", help="also measure the engines that are installed here (minutes: compiles C++)")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, fewer loops")
    parser.add_argument(
        "--runs",
        nargs="?",
        const="too",
        choices=("too", "only"),
        help="also measure whole simulations: time, error at the end, energy; 'only' leaves out everything else",
    )
    parser.add_argument("--page", action="store_true", help="measure the page in the browser that is installed here, and nothing else")
    parser.add_argument("--mechanism", action="append", metavar="NAME", help="only this mechanism (may be repeated)")
    parser.add_argument("--build", metavar="DIR", help="keep what the compilers make in this directory, for the next run")
    parser.add_argument("-o", "--output", metavar="FILE.csv", help="keep the results as CSV")
    parser.add_argument("--force", action="store_true", help="overwrite the output file even if Linkwright did not make it")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    from linkwright import files
    from linkwright.cli.bench import page, speed

    if options.output is not None:
        files.guarded(options.output, (".csv",), force=options.force)
    if options.page:
        page.main(
            quick=options.quick,
            output=options.output,
            as_json=options.json,
            mechanisms=options.mechanism or page.MECHANISMS,
        )
        return

    speed.main(
        peers=options.peers,
        quick=options.quick,
        output=options.output,
        as_json=options.json,
        mechanisms=options.mechanism or speed.MECHANISMS,
        build=options.build,
        runs=options.runs,
    )
