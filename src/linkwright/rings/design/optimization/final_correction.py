"""The last step of a search: every limit holds in the motion as a user gets it, or the result says by how much it does not.

A search holds limits to FEASIBLE at its own samples. The motion of the finished design may have its samples elsewhere, and a dwell is
measured between samples. So each limit that the finished motion violates by more than MET is drawn in by what is missing, and linear
programs (`minimax`) move the design inside; this is repeated until all limits are met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwright.rings.design.optimization.local_search import LocalOptimum, LocalSearch, Terms, violation_of
from linkwright.rings.design.optimization.problem import MET, DesignPoint, DesignProblem, Limit

CORRECTIONS = 8
FURTHER = 8.0  # a correction that was not enough is made so much larger
LEAST = 2.0 * MET  # of the scale of a limit: the first correction of a limit that is held by another quantity
ENDS = 3  # of local searches, the best first, that are tried


@dataclass(frozen=True)
class FinishedDesign:
    """A design, its motion as a user gets it, and the limits as they were drawn in."""

    point: DesignPoint
    whole: DesignPoint
    limits: tuple[Limit, ...]

    @property
    def missed(self) -> float:
        """The largest relative violation in the finished motion; infinite without one."""
        if not self.whole.ok:
            return np.inf
        return max((float(np.nan_to_num(x.violation(x.value(self.whole)), nan=np.inf)) for x in self.point.problem.limits), default=0.0)

    @property
    def met(self) -> bool:
        return self.missed <= MET


def finished(problem: DesignProblem, terms: Terms, point: DesignPoint, *, corrections: int | None = None) -> FinishedDesign:
    """Return the design, moved as little as the limits need in its finished motion; the one that misses least where none meets them."""
    best = FinishedDesign(point, problem.whole(point), problem.sought)
    inward = np.zeros(len(problem.limits))
    for _ in range(CORRECTIONS if corrections is None else corrections):
        if best.met or not best.whole.ok:
            break
        inward = _corrected(problem, best.whole, inward)
        limits = tuple(_drawn_in(lim, x) for lim, x in zip(problem.sought, inward, strict=True))
        problem.rebase(point.u)
        moved = LocalSearch(problem, terms, limits).within_limits(problem.point(point.u))
        new = FinishedDesign(moved, problem.whole(moved), limits)
        best = new if new.missed < best.missed else best
    return best


def best_finished(problem: DesignProblem, terms: Terms, ends: Sequence[LocalOptimum]) -> tuple[LocalOptimum, FinishedDesign]:
    """Return the best end that meets all limits in its finished motion; where none does, the one that misses least."""
    order = sorted(ends, key=lambda x: (not x.feasible, x.value if x.feasible else x.violation))
    tried: list[tuple[LocalOptimum, FinishedDesign]] = []
    for end in order[:ENDS]:
        done = finished(problem, terms, end.point)
        tried.append((end, done))
        if done.met:
            break
    end, done = min(tried, key=lambda x: (not x[1].met, x[1].missed if not x[1].met else 0.0))
    if done.point is end.point:
        return end, done
    return replace(end, point=done.point, violation=violation_of(done.limits, done.point), limits=done.limits), done


def _corrected(problem: DesignProblem, whole: DesignPoint, inward: np.ndarray) -> np.ndarray:
    """By how much each limit is drawn in now, in the unit of what the search holds; signed as the violation of an equality."""
    out = inward.copy()
    for k, (lim, held) in enumerate(zip(problem.limits, problem.sought, strict=True)):
        beyond = lim.beyond(lim.value(whole))
        if beyond == 0.0:
            continue
        if held is lim:
            out[k] += beyond if lim.equality else abs(beyond) + LEAST * lim.scale
        else:
            out[k] = max(LEAST * held.scale * 1e3, FURTHER * out[k])
    return out


def _drawn_in(lim: Limit, inward: float) -> Limit:
    if inward == 0.0:
        return lim
    if lim.equality:
        return replace(lim, low=lim.low - inward, high=lim.high - inward)
    low, high = lim.low + abs(inward), lim.high - abs(inward)
    return replace(lim, low=low, high=high) if low < high else lim
