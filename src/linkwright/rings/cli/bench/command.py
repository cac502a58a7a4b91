"""`linkwright bench`: its options, and what it runs."""

from __future__ import annotations

import argparse

from linkwright.rings.cli import options
from linkwright.rings.cli.parser import CliCommand, option


def run(given: argparse.Namespace) -> None:
    """Measure and print."""
    from linkwright import files
    from linkwright.rings.cli.bench import page, speed, verbs

    if given.output is not None:
        files.guarded(given.output, (".csv",), force=given.force)
    if given.verbs:
        verbs.main(quick=given.quick, output=given.output, as_json=given.json, mechanisms=given.mechanism or verbs.MECHANISMS)
        return
    if given.page:
        page.main(
            quick=given.quick,
            output=given.output,
            as_json=given.json,
            mechanisms=given.mechanism or page.MECHANISMS,
        )
        return

    speed.main(
        peers=given.peers,
        quick=given.quick,
        output=given.output,
        as_json=given.json,
        mechanisms=given.mechanism or speed.MECHANISMS,
        build=given.build,
        runs=given.runs,
    )


COMMAND = CliCommand(
    name="bench",
    help="measure speed and accuracy, ours and the peers'",
    about="Measures our compiled kernels: operations, times, batches, process times, growth with the number of loops; with --runs whole "
    "simulations, with --verbs what users call, with --page the page in a browser. Contenders take turns, the best of many short repeats "
    "counts; only ratios carry over to other machines. Comparing with Pinocchio, MuJoCo and generated C (--peers) needs a checkout of the "
    "repository.",
    examples=(
        "linkwright bench --quick --mechanism four-bar -o results.csv",
        "linkwright bench --quick --runs only",
    ),
    options=(
        option("--peers", action="store_true", help="also measure the engines installed here (from a checkout; minutes: compiles C++)"),
        option("--quick", action="store_true", help="fewer rounds, fewer loops"),
        option(
            "--runs",
            nargs="?",
            const="too",
            choices=("too", "only"),
            help="also measure whole simulations: time, error at the end, energy; 'only' leaves out everything else",
        ),
        option("--verbs", action="store_true", help="measure what users call, each verb beside its kernel, and nothing else"),
        option("--page", action="store_true", help="measure the page in the browser that is installed here, and nothing else"),
        option("--mechanism", action="append", metavar="NAME", help="only this mechanism (may be repeated)"),
        option("--build", metavar="DIR", help="keep what the compilers make in this directory, for the next run"),
        option("-o", "--output", metavar="FILE.csv", help="keep the results as CSV"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)
