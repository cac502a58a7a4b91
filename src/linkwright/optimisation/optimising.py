"""`m.optimise`: search, certificate and result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwright.errors import UsageError
from linkwright.model.description import Description
from linkwright.numerics import blas
from linkwright.optimisation.making import problem
from linkwright.optimisation.optimum import Optimum, change
from linkwright.optimisation.problem import FEASIBLE, DesignPoint, DesignProblem
from linkwright.optimisation.quantities import OfMotion
from linkwright.optimisation.restoration import restored
from linkwright.optimisation.searching import SearchOptions, SearchState, searched


def optimise(
    described: Description,
    goal: Any,
    vary: Any,
    subject_to: Any,
    of: Any,
    make: Callable[[Description], Any],
    presenter: Any,
    **options: Any,
) -> Any:
    """See `Mechanism.optimise`."""
    points = options.pop("points", 15)
    chosen = SearchOptions.of(**options)
    found = problem(described, goal, vary, subject_to, of, make, presenter)
    with blas.optimising():  # small systems: threads of BLAS cost more than they give, and change the last digits
        if not found.point(found.nominal).ok:
            found = restored(found)
        if len(found.goals) > 1:
            from linkwright.optimisation.front import front

            return front(found, chosen, points)
        return result(found, searched(found, found.goals[0], chosen))


def result(p: DesignProblem, state: SearchState) -> Optimum:
    """The result of a search."""
    end = state.end
    point = state.best if state.interrupted or end is None else end.point
    if point is None:
        reasons = sorted((state.pool.why if state.pool else {}).items(), key=lambda x: -x[1])
        common = f"; most often: {reasons[0][0]}" if reasons else ""
        raise UsageError(f"no design within the bounds has a motion{common}. Widen the bounds, or begin with a model that moves.")
    before, after = original_point(p), p.whole(point)
    after = after if after.ok else point
    limits = tuple(change(lim, before, after, point) for lim in p.limits)
    feasible = all(x.met for x in limits)
    certificate = state.certificate() if feasible and not state.interrupted else None
    notes = (*(() if feasible else (unmet(p, state),)), *_sampling_notes(p, after))
    return Optimum(
        p, point, tuple(change(g, before, after, point) for g in p.goals), limits, certificate, feasible,
        p.tally.designs, p.tally.seconds, state.interrupted, dict(state.pool.why) if state.pool else {}, notes,
    )  # fmt: skip


def _sampling_notes(p: DesignProblem, best: DesignPoint) -> tuple[str, ...]:
    """Sentences on extremes of the best design that samples do not locate, or that grow without bound."""
    quantities = {q.key: q for x in (*p.goals, *p.limits) for _, q in x.terms}
    notes = [q.sampling_note(best) for q in quantities.values() if isinstance(q, OfMotion)] if best.ok else []
    return tuple(n for n in notes if n)


def original_point(p: DesignProblem) -> DesignPoint:
    """The design of the user's own file."""
    own = p.original or p
    own.rebase(None)
    return own.point(own.nominal)


def unmet(p: DesignProblem, state: SearchState) -> str:
    """One sentence on limits that no design meets, and what could be relaxed."""
    end = state.end
    point = end.point if end is not None else state.best
    assert point is not None
    parts = []
    for lim in p.limits:
        value = lim.value(point)
        if float(lim.violation(value)) > FEASIBLE:
            missing = lim.low - value if value < lim.low else value - lim.high
            parts.append(f"'{lim.text}' by {lim.text_of(abs(missing))}")
    at = [v.name for v, u in zip(p.variables, point.u, strict=True) if u < 1e-6 or u > 1.0 - 1e-6]
    bounds = f", or widen the bounds of {', '.join(at)}" if at else ""
    return f"The closest design misses {' and '.join(parts)}: relax one of the constraints{bounds}."
