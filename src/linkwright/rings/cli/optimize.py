"""`linkwright optimize`: the design of a model that serves a goal best."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from linkwright import files
from linkwright.errors import UsageError
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.study import count, seed


def run(given: argparse.Namespace) -> int:
    outputs.check([(given.output, files.MODELS), (given.page, outputs.PAGES), (given.plot, files.PICTURES)], given.force)
    m = loading.load(given)
    vary = _bounds(given.vary)
    case = _case(given)
    if given.output is not None or given.page is not None:
        _need_written(m, vary)
    search = {"search": given.search, "count": given.count, "starts": given.starts, "seed": given.seed, "threads": given.threads}
    search["within"] = given.within
    found = m.optimize(given.goal, vary, given.subject_to or (), case, points=given.points, **search)
    front = len(given.goal) > 1
    if front and given.page is not None:
        raise UsageError("--page shows one design; with several goals write the front with --plot.")
    best = found.knee if front else found
    written = []
    if given.output is not None:
        best.mechanism.save(given.output, force=given.force)
        written.append(given.output)
    if given.page is not None:
        best.show(given.page)
        written.append(given.page)
    if given.plot is not None:
        found.plot(given.plot)
        written.append(given.plot)
    if given.json:
        outputs.print_json("optimize/1", found.as_dict())
    else:
        console.show(str(found))
    outputs.report_files(written, given.json)
    if found.interrupted:
        print("interrupted: the best design so far is shown.", file=sys.stderr)
        return 130
    return 0 if best.feasible else 1


def _bounds(given: list[tuple[str, str]]) -> dict[str, Any]:
    """Bounds by name; a name alone has them in the file."""
    out: dict[str, Any] = {}
    for name, text in given:
        if name in out:
            raise UsageError(f"--vary: '{name}' is there twice.")
        out[name] = text or None
    return out


def _need_written(m: Any, vary: dict[str, Any]) -> None:
    """Raise UsageError where the new numbers would have no place in the model file: before the search, not after it."""
    from linkwright.model.parameters import every_parameter
    from linkwright.rings.design.optimization.request import unwritten
    from linkwright.rings.design.studies.targets import expanded

    known = every_parameter(m.description)
    why = unwritten(m.description, [name for name in expanded(vary, m.description, parts=False) if name in known])
    if why:
        raise UsageError(f"the result could not be written: {why} Leave out -o and --page to see the numbers alone.")


def _case(given: argparse.Namespace) -> Any:
    from linkwright.rings.design.studies.cases import Cycle, Run

    if given.simulate is not None:
        if given.steps is not None:
            raise UsageError("--steps is for a turn; a run has --simulate alone.")
        return Run(given.simulate)
    return Cycle(steps=given.steps or options.STEPS_DEFAULT)


def _varied(text: str) -> tuple[str, str]:
    """NAME=BOUNDS, or a name alone."""
    name, _, bounds = text.partition("=")
    if not name.strip():
        raise argparse.ArgumentTypeError(f"'{text}' names no number: write NAME=BOUNDS")
    return name.strip(), bounds.strip()


COMMAND = CliCommand(
    name="optimize",
    help="the design of a model that serves a goal best, within bounds and constraints",
    about="Search for the numbers of a model that serve a goal best. Candidates over the whole bounds are computed first, then the best of "
    "them are improved with exact gradients. The model file stays as it is; with -o a copy with the new numbers is written, comments, "
    "units and order preserved. Exit code 1 if no design meets all constraints.",
    examples=(
        'linkwright optimize wiper --goal "min peak A.torque" --vary "C=+- 50 mm" --subject-to "range rocker.angle > 45 deg" -o best.yaml',
        'linkwright optimize four-bar --goal "max min C.transmission_angle" --vary "L1=250..350 mm" --vary "L2=0.8..1.2 m" --page a.html',
        'linkwright optimize four-bar --goal "min rms A.torque" --goal "min max C.load" --vary "L1=250..350 mm" --plot front.png',
    ),
    options=(
        options.MODEL,
        option("--goal", metavar="TEXT", action="append", required=True, help="'min rms A.torque', 'max min C.transmission_angle', 'min "
               "max C.load + 0.1 * range A.torque'; several goals give a Pareto front"),
        option("--vary", metavar="NAME=BOUNDS", action="append", type=_varied, required=True, help="a number and its bounds: 'rod=180..260 "
               "mm', 'C=+- 30 mm' (a pin), 'crank.mass=+- 10 %%'; a name alone has min: and max: in the file; may be repeated"),
        option("--subject-to", metavar="TEXT", action="append", help="a constraint: 'C.transmission_angle > 40 deg', 'range guide < 1 mm "
               "while 100..180 deg', 'coupler.P within 0..300 x 0..200 mm', 'full turn'; may be repeated"),
        option("--simulate", metavar="DURATION", type=options.time, help="optimize a run of this length ('2', '200 ms') instead of a turn"),
        option("--search", metavar="NAME", help="sobol (default), de, cma or none: how candidates over the bounds are chosen"),
        option("--count", metavar="N", type=count, help="how many of them (default 2048, 64 where designs are computed one by one)"),
        option("--starts", metavar="N", type=count, default=8, help="local searches, of which the first is the file's design (default 8)"),
        option("--points", metavar="N", type=count, default=15, help="designs of a Pareto front (default 15)"),
        option("--seed", metavar="N", type=seed, default=0, help="of the candidates (default 0)"),
        option("--within", metavar="TIME", type=options.time, help="end the search after this time ('2 min', '90 s') with the best design "
               "so far; a line of progress goes to stderr every five seconds"),
        options.PARAM,
        options.SET,
        options.CUTS,
        options.FOLDER,
        options.STEPS,
        option("--threads", metavar="N", type=count, help="cores to use (default: all)"),
        option("-o", "--output", metavar="FILE", help="write the model file with the new numbers (.yaml); of a front its knee"),
        option("--page", metavar="FILE", help="write a page with both designs, before and after (.html)"),
        option("--plot", metavar="FILE", help="write a plot of the front, or of the goals before and after (.png, .svg, .pdf)"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)  # fmt: skip
