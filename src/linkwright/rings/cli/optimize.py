"""`linkwright optimize`: the design of a model that serves a goal best."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from linkwright.api import UsageError, files
from linkwright.rings.cli import loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb, by_name

OPTIMIZE = Verb(
    "linkwright.rings.design.verbs:MechanismVerbs.optimize",
    without=("goal", "vary", "require", "case", "enough", "solver", "progress"),
)


def run(given: argparse.Namespace) -> int:
    outputs.check([(given.output, files.MODELS), (given.page, outputs.PAGES), (given.plot, files.PICTURES)], given.force)
    m = loading.load(given)
    vary = {name: text or None for name, text in by_name(given.vary, "--vary").items()}  # a name alone has its bounds in the file
    case = options.case_of(given)
    if given.output is not None or given.page is not None:
        _need_written(m, vary)
    found = m.optimize(given.goal, vary, given.require, case, **OPTIMIZE.given(given))
    front = len(given.goal) > 1
    if front and given.page is not None:
        raise UsageError("--page shows one design. With several goals write the front with --plot.")
    best = found.knee if front else found
    jobs = ((given.output, lambda path: best.mechanism.save(path, force=given.force)), (given.page, lambda path: best.show(path)))
    written = outputs.write((*jobs, (given.plot, found.plot)))
    outputs.deliver("optimize", given, found.as_dict, lambda: str(found), written)
    if found.interrupted:
        print("interrupted: the best design so far is shown.", file=sys.stderr)
        return 130
    return 0 if best.feasible else 1


def _need_written(m: Any, vary: dict[str, Any]) -> None:
    """Raise UsageError where the new numbers would have no place in the model file: before the search, not after it."""
    from linkwright.api import every_parameter
    from linkwright.rings.design.optimization.request import unwritten
    from linkwright.rings.design.studies.varied_numbers import expanded

    known = every_parameter(m.description)
    why = unwritten(m.description, [name for name in expanded(vary, m.description, parts=False) if name in known])
    if why:
        raise UsageError(f"the result could not be written: {why} Leave out -o and --page to see the numbers alone.")


COMMAND = CliCommand(
    name="optimize",
    topic="optimization",
    help="the design of a model that serves a goal best, within bounds and constraints",
    about="Search for the parameters of a model that serve a goal best. Candidates over the whole bounds are computed first, then the "
    "best of them are improved with exact gradients. The model file stays as it is. With -o, a copy with the new values is written, "
    "comments, units and order preserved. Exit code 1 if no design meets all constraints.",
    examples=(
        'linkwright optimize wiper --goal "min peak A.torque" --vary "C=+- 50 mm" --require "range rocker.angle > 45 deg" -o best.yaml',
        'linkwright optimize four-bar --goal "max min C.transmission_angle" --vary "L1=250..350 mm" --vary "L2=0.8..1.2 m" --page a.html',
        'linkwright optimize four-bar --goal "min rms A.torque" --goal "min max C.load" --vary "L1=250..350 mm" --plot front.png',
    ),
    options=(
        options.MODEL,
        option("--goal", metavar="TEXT", action="append", required=True, help="goal: 'min rms A.torque', 'max min C.transmission_angle', "
               "'min max C.load + 0.1 * range A.torque' (repeat it for a Pareto front)"),
        options.vary("with bounds 'rod=180..260 mm', 'C=+- 30 mm' (a pin), 'crank.mass=+- 10 %%', or the name alone if the file "
            "has min: and max:"),
        options.REQUIRE,
        options.SIMULATE,
        OPTIMIZE,
        *options.LOADING,
        options.STEPS,
        options.OUTPUT("the model with the new values (.yaml), for a Pareto front its knee point"),
        options.PAGE("both designs, before and after"),
        options.PLOT("the front, or the goals before and after"),
        *options.BOTH,
    ),
    run=run,
)  # fmt: skip
