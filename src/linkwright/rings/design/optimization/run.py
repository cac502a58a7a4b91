"""`m.optimize`: search, certificate and result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linkwright.api import Description, LinkwrightError, UsageError, compiled_of, file_editing, memory_and_threads, modelfile, tolerances
from linkwright.rings.design.optimization.candidates import sobol
from linkwright.rings.design.optimization.final_correction import CORRECTIONS, FinishedDesign, best_finished, finished
from linkwright.rings.design.optimization.global_search import SearchOptions, SearchState, searched
from linkwright.rings.design.optimization.problem import DesignPoint, DesignProblem
from linkwright.rings.design.optimization.quantities import OfMotion
from linkwright.rings.design.optimization.request import problem
from linkwright.rings.design.optimization.result import OptimizationResult, change
from linkwright.rings.design.studies.analyses import Cycle
from linkwright.system.cycles import CycleEvaluator

POSITIONS = 72
BEYOND = (1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 2.0)  # of the way to the border: behind it designs turn freely


def optimize(
    described: Description,
    goal: Any,
    vary: Any,
    require: Any,
    case: Any,
    **options: Any,
) -> Any:
    """See `Mechanism.optimize`."""
    points = options.pop("points", 15)
    chosen = SearchOptions.of(**options)
    found = problem(described, goal, vary, require, case)
    with memory_and_threads.optimizing():  # small systems: threads of BLAS cost more than they give, and change the last digits
        if not found.point(found.nominal).ok:
            found = restored(found)
        if len(found.goals) > 1:
            from linkwright.rings.design.optimization.pareto_front import front

            return front(found, chosen, points)
        return result(found, searched(found, found.goals[0], chosen))


def result(p: DesignProblem, state: SearchState) -> OptimizationResult:
    """The result of a search: what it says of limits is read from the motion of the finished design."""
    if state.best is None:
        reasons = sorted((state.pool.why if state.pool else {}).items(), key=lambda x: -x[1])
        common = f"; most often: {reasons[0][0]}" if reasons else ""
        ended = "The time was over before one was found" if state.late else "Widen the bounds, or begin with a model that moves"
        raise UsageError(f"no design within the bounds has a motion{common}. {ended}.")
    before = original_point(p)
    end = None
    nearly = 1e-3  # relative violation up to which the best design of a search that ended early is moved inside its limits
    if state.early or not state.ends:
        done = finished(p, state.terms, state.best, corrections=CORRECTIONS if state.violation <= nearly else 0)
    else:
        end, done = best_finished(p, state.terms, state.ends)
    after = done.whole if done.whole.ok else done.point
    limits = tuple(change(lim, before, after) for lim in p.limits)
    feasible = done.whole.ok and all(x.met for x in limits)
    certificate = state.certificate(end) if feasible and end is not None else None
    goals = tuple(change(g, before, after) for g in p.goals)
    rejected = dict(state.pool.why) if state.pool else {}
    notes = (*_notes(p, state, done, feasible=feasible), *_sampling_notes(p, after))
    effort = (p.tally.designs, p.tally.seconds)
    return OptimizationResult(p, done.point, goals, limits, certificate, feasible, *effort, state.interrupted, rejected, notes, state.late)


def _sampling_notes(p: DesignProblem, best: DesignPoint) -> tuple[str, ...]:
    """Sentences on extremes of the best design that samples do not locate, or that grow without bound."""
    quantities = {q.key: q for x in (*p.goals, *p.limits) for _, q in x.terms}
    notes = [q.sampling_note(best) for q in quantities.values() if isinstance(q, OfMotion)] if best.ok else []
    return tuple(n for n in notes if n)


def original_point(p: DesignProblem) -> DesignPoint:
    """The design of the user's own file, with the motion that a user gets."""
    own = p.original or p
    own.rebase(None)
    found = own.point(own.nominal)
    return replace(found, whole=True) if found.ok else found


def _notes(p: DesignProblem, state: SearchState, done: FinishedDesign, *, feasible: bool) -> Iterator[str]:
    if any(isinstance(q, OfMotion) and q.switching for q in p.quantities):
        yield "Gradients are differences of runs, because these touch, stick or hold one way: numbers are accurate to 1e-4 of their range."
    if state.late:
        yield (
            f"The time was over during '{state.progress.stage}': this is the best design so far, and it is not certified. A longer time, "
            "or fewer starts, may find better ones."
        )
    if not done.whole.ok:
        yield f"The design has no motion when it is computed on its own: {done.whole.why}"
    elif not feasible:
        yield unmet(p, done, relax=not state.early)
    if p.unwritten:
        yield f"`mechanism` is this design. `text` and `mechanism.save` cannot write it into the text of the file: {p.unwritten}"


def unmet(p: DesignProblem, done: FinishedDesign, *, relax: bool = True) -> str:
    """One sentence on limits that no design meets, and (of a search that was through) what could be relaxed."""
    missing = [(lim, lim.beyond(lim.value(done.whole))) for lim in p.limits]
    parts = [f"'{lim.text}' by {lim.text_of(abs(x))}" for lim, x in missing if x != 0.0]
    if not relax:
        return f"The best design so far misses {' and '.join(parts)}."
    at = [v.name for v, u in zip(p.variables, done.point.u, strict=True) if u < 1e-6 or u > 1.0 - 1e-6]
    bounds = f", or widen the bounds of {', '.join(at)}" if at else ""
    return f"The closest design misses {' and '.join(parts)}: relax one of the constraints{bounds}."


# Back to designs that close: where the file's own design does not move as it should, the assembly gap is made zero first.
#
# At every position of the drives the loops are closed as far as they can be; the length that remains, the gap, is zero for a design that
# can be assembled there (`motion.assembly_gaps`, with exact derivatives by the envelope theorem). Its squares over the cycle are minimized,
# and the way is continued a little beyond the border, because a design on it has a dead center. The search then begins with that design.


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
        raise UsageError(f"no design within the bounds closes its loops over the whole motion. The design of the file: {why} "
            "Widen the bounds.")
    return begun_with(problem, found)


def begun_with(problem: DesignProblem, u: np.ndarray) -> DesignProblem:
    """Return the same problem of a model file that has the parameters of this design."""
    numbers = dict(zip(problem.names, problem.numbers(u).tolist(), strict=True))
    described = modelfile.read_text(file_editing.edited(problem.described, numbers), f"{problem.described.name} (closed)")
    variables = tuple(replace(v, target=replace(v.target, nominal=numbers[v.name])) for v in problem.variables)
    return replace(problem, described=described, variables=variables, original=problem)


def closed_again(problem: DesignProblem, u: np.ndarray) -> np.ndarray | None:
    """Return a design near this one whose loops close over the whole motion; None where none was found."""
    from scipy.optimize import least_squares

    turned = _evaluator(problem)
    if turned is None:
        return None
    kappa = compiled_of(problem.work.system).loops.kappa

    def residual(x: np.ndarray) -> np.ndarray:
        return turned.gaps(problem.numbers(x), POSITIONS, 1).gap[0] / kappa

    def slopes(x: np.ndarray) -> np.ndarray:
        g = turned.gaps(problem.numbers(x), POSITIONS, 1)
        gap = g.gap[0]
        open_ = gap > tolerances.OPEN * kappa
        rate = g.slopes[0] / np.where(open_, gap, 1.0)[:, None]  # of gap, from those of gap^2 / 2
        return np.where(open_[:, None], rate, 0.0) * problem.span / kappa

    start = np.clip(u, 1e-6, 1.0 - 1e-6)
    try:
        found = least_squares(residual, start, slopes, bounds=(0.0, 1.0), xtol=1e-12, ftol=1e-12, gtol=1e-14, max_nfev=60)
    except LinkwrightError:
        return None
    if found.fun.max(initial=0.0) > 1e3 * tolerances.OPEN:
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
