"""Back to designs that close: where the file's own design does not turn as it should, the assembly gap is made zero first.

At every position of the drives the loops are closed as far as they can be; the length that remains, the gap, is zero for a design that can
be assembled there (`motion.assembly_gaps`, with exact derivatives by the envelope theorem). Its squares over the turn are minimized, and
the way is continued a little beyond the border, because a design on it has a dead center. The search then begins with that design.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from linkwright.errors import LinkwrightError, UsageError
from linkwright.model.file import read_text
from linkwright.model.file.editing import edited
from linkwright.numerics.tolerances import OPEN
from linkwright.rings.design.optimization.candidates import sobol
from linkwright.rings.design.optimization.problem import DesignProblem
from linkwright.rings.design.studies.cases import Cycle
from linkwright.system.cycle_evaluator import CycleEvaluator

POSITIONS = 72
BEYOND = (1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 2.0)  # of the way to the border: behind it designs turn freely


def restored(problem: DesignProblem) -> DesignProblem:
    """Return the problem, begun with a design near the file's own that has a motion; raise UsageError where none was found."""
    found = closed_again(problem, problem.nominal)
    starts = 16  # further starts, where the file's own design finds no way
    for u in () if found is not None else sobol(starts, len(problem.variables), 0):
        found = closed_again(problem, u)
        if found is not None:
            break
    if found is None:
        why = problem.point(problem.nominal).why
        raise UsageError(f"no design within the bounds closes its loops over the whole motion; of the file's own: {why} Widen the bounds.")
    return begun_with(problem, found)


def begun_with(problem: DesignProblem, u: np.ndarray) -> DesignProblem:
    """Return the same problem of a model file that has the numbers of this design."""
    numbers = dict(zip(problem.names, problem.numbers(u).tolist(), strict=True))
    described = read_text(edited(problem.described, numbers), f"{problem.described.name} (closed)")
    variables = tuple(replace(v, target=replace(v.target, nominal=numbers[v.name])) for v in problem.variables)
    return replace(problem, described=described, variables=variables, original=problem)


def closed_again(problem: DesignProblem, u: np.ndarray) -> np.ndarray | None:
    """Return a design near this one whose loops close over the whole motion; None where none was found."""
    from scipy.optimize import least_squares

    turned = _evaluator(problem)
    if turned is None:
        return None
    kappa = problem.work.system.loops.kappa

    def residual(x: np.ndarray) -> np.ndarray:
        return turned.gaps(problem.numbers(x), POSITIONS, 1).gap[0] / kappa

    def slopes(x: np.ndarray) -> np.ndarray:
        g = turned.gaps(problem.numbers(x), POSITIONS, 1)
        gap = g.gap[0]
        open_ = gap > OPEN * kappa
        rate = g.slopes[0] / np.where(open_, gap, 1.0)[:, None]  # of gap, from those of gap^2 / 2
        return np.where(open_[:, None], rate, 0.0) * problem.span / kappa

    start = np.clip(u, 1e-6, 1.0 - 1e-6)
    try:
        found = least_squares(residual, start, slopes, bounds=(0.0, 1.0), xtol=1e-12, ftol=1e-12, gtol=1e-14, max_nfev=60)
    except LinkwrightError:
        return None
    if found.fun.max(initial=0.0) > 1e3 * OPEN:
        return None
    steps = [np.clip(start + share * (found.x - start), 0.0, 1.0) for share in BEYOND]
    return next((x for x in steps if _moves(problem, x)), None)


def _evaluator(problem: DesignProblem) -> CycleEvaluator | None:
    if not isinstance(problem.case, Cycle):
        return None
    names = list(problem.names)
    made = partial(CycleEvaluator, problem.work.system, names, [], derivatives=names, fixed=True)
    try:
        turned = made(**problem.case.asked)
        turned.gaps(turned.nominal, POSITIONS, 1)
    except LinkwrightError:
        return None
    return turned


def _moves(problem: DesignProblem, u: np.ndarray) -> bool:
    return problem.point(u).ok
