"""Several goals: designs none of which can be bettered in one goal without losing in another.

Each goal alone gives an end of the front. Between the ends the first goal is minimized while the others are held below levels between
their best and worst values (epsilon constraint), every point from its neighbors and from the best candidates: exact gradients, fronts of
any shape, and each point has its own certificate. `search="nsga2"` (package pymoo) lets a genetic algorithm find the candidates.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from linkwright.api import Cell, Result, Table, UsageError, counted
from linkwright.properties import cached_property
from linkwright.rings.design.optimization.candidates import CandidatePool
from linkwright.rings.design.optimization.global_search import (
    SearchOptions,
    SearchProgress,
    SearchState,
    limited,
    local,
    minimized,
    searched,
)
from linkwright.rings.design.optimization.local_search import LocalOptimum, violation_of
from linkwright.rings.design.optimization.problem import FEASIBLE, DesignProblem, Goal, Limit
from linkwright.rings.design.optimization.result import OptimizationResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import Paper

HELD = 1e-6  # relative slack of a goal that is held at its best


@dataclass(frozen=True, eq=False, repr=False)
class ParetoFront(Result, Sequence[OptimizationResult]):
    """Designs of a front in the order of the first goal. Each is an OptimizationResult."""

    problem: DesignProblem
    designs: tuple[OptimizationResult, ...]
    evaluated: int
    seconds: float
    interrupted: bool = False
    late: bool = False  # the time was over

    def __repr__(self) -> str:
        return (
            f"<ParetoFront of {self.problem.described.name!r}: {counted(len(self), 'design')}, "
            f"{', '.join(g.text for g in self.problem.goals)}>"
        )

    def __len__(self) -> int:
        return len(self.designs)

    @overload
    def __getitem__(self, k: int) -> OptimizationResult: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[OptimizationResult]: ...
    def __getitem__(self, k: int | slice) -> OptimizationResult | Sequence[OptimizationResult]:
        """Return a design of the front by its place, or several."""
        return self.designs[k]

    def __iter__(self) -> Iterator[OptimizationResult]:
        return iter(self.designs)

    @cached_property
    def values(self) -> np.ndarray:
        """Return the goals of all designs, (designs, goals), in SI."""
        return np.array([[g.after for g in d.goals] for d in self.designs])

    @property
    def knee(self) -> OptimizationResult:
        """Return the compromise: the design nearest to the best values of all goals, each over its range on the front."""
        x = self.values * np.array([g.sign for g in self.problem.goals])
        span = np.where(np.ptp(x, axis=0) > 0.0, np.ptp(x, axis=0), 1.0)
        return self.designs[int(np.argmin(np.linalg.norm((x - x.min(axis=0)) / span, axis=1)))]

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Unpack[Paper]) -> Figure | Path:
        """Plot the front (matplotlib Figure, or a file)."""
        return import_module("linkwright.rings.studio.optimization_plots").front_plot(self, path, **options)

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and lists, SI."""
        return {
            "model": self.problem.described.name,
            "goals": [g.text for g in self.problem.goals],
            "designs": [d.as_dict() for d in self.designs],
            "knee": self.designs.index(self.knee),
            "evaluated": self.evaluated,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "late": self.late,
        }

    def table(self) -> Table:
        """Return a row for each design: its goals, its KKT residual, and the parameters that vary."""
        goals, varied = self.problem.goals, self.problem.variables
        wanted = [(g.text, g.shown[0] or "-", ".5g") for g in goals]
        heads = [("design", ""), *wanted, ("KKT", "-", ".0e"), *((v.name, v.shown[0] or "-", ".5g") for v in varied)]
        rows = []
        for k, d in enumerate(self.designs):
            reached = [(x.after / g.shown[1], x.grows) for x, g in zip(d.goals, goals, strict=True)]
            values = [Cell(x, f"{x:.5g}*") if grows else x for x, grows in reached]
            numbers = [d.numbers[v.name] / v.shown[1] for v in varied]
            rows.append((Cell(k, f"{k} knee") if d is self.knee else k, *values, d.kkt, *numbers))
        return Table.of(heads, rows, "front")

    def __str__(self) -> str:
        head = f"{self.problem.described.name}: {counted(len(self), 'design')}, {self.evaluated:,} evaluated in {self.seconds:.1f} s"
        ended = ["  The time was over: designs of the front are missing."] if self.late else []
        return "\n".join([head, self.table().text(), *ended])


def front(problem: DesignProblem, options: SearchOptions, points: int) -> ParetoFront:
    """Search for the front of all goals."""
    if not isinstance(points, int) or points < 2:
        raise UsageError(
            f"points is the number of designs of the front, at least 2, not {points!r:.30}.", name="points", value=points
        )
    made = FrontSearch(problem, options)
    return made.run(points)


class FrontSearch:
    """The search for a front: its ends, then designs between them."""

    def __init__(self, problem: DesignProblem, options: SearchOptions):
        self.problem, self.options = problem, options
        self.ends: list[LocalOptimum] = []
        self.pool: CandidatePool | None = None
        self.interrupted = self.late = False

    def run(self, points: int) -> ParetoFront:
        for goal in self.problem.goals:
            state = searched(self.problem, goal, self.options, [x.u for x in self.ends])
            self._note(state)
        feasible = [x for x in self.ends if x.feasible]
        if feasible and not self.interrupted and not self.late:
            with SearchProgress(None, self.problem, self.options.progress) as progress:
                progress.stage = "front"
                state = SearchState(self.problem, (), progress)
                with limited(state, self.options):
                    self._between(points, state)
                self._note(state)
        return self._result()

    def _note(self, state: SearchState) -> None:
        self.ends += state.ends
        self.pool = state.pool or self.pool
        self.interrupted = self.interrupted or state.interrupted
        self.late = self.late or state.late

    def _goals(self, end: LocalOptimum) -> np.ndarray:
        return np.array([g.sign * g.value(end.point) for g in self.problem.goals])

    def _between(self, points: int, state: SearchState) -> None:
        """Hold all goals but the first below levels, and minimize that."""
        anchors = [self._efficient(k) for k in range(len(self.problem.goals))]
        table = np.array([self._goals(x) for x in anchors])
        best, worst = table.min(axis=0), table.max(axis=0)
        others = len(self.problem.goals) - 1
        steps = max(2, round(points ** (1.0 / others)))
        shares = np.linspace(0.0, 1.0, steps)[1:-1] if others == 1 else np.linspace(0.0, 1.0, steps)
        first = self.problem.goals[0]
        for share in itertools.product(shares, repeat=others):
            levels = best[1:] + np.array(share) * (worst - best)[1:]
            held = [self._held(g, x) for g, x in zip(self.problem.goals[1:], levels, strict=True)]
            for u in self._starts(levels):
                found = local(self.problem, minimized(first), u, None, (*self.problem.sought, *held))
                if found is not None and found.feasible:
                    self.ends.append(found)
                state.progress.show(state)

    def _efficient(self, k: int) -> LocalOptimum:
        """The end of the front of a goal: at its best value the other goals are made as good as they can be."""
        best = self._best_of(k)
        goals = self.problem.goals
        level = self._goals(best)[k]
        held = self._held(goals[k], level + HELD * max(abs(level), 1e-12))
        others = [term for j, g in enumerate(goals) if j != k for term in self._scaled(g, best)]
        found = local(self.problem, others, best.u, None, (*self.problem.sought, held))
        if found is None or not found.feasible:
            return best
        self.ends.append(found)
        return found

    def _scaled(self, goal: Goal, at: LocalOptimum) -> list[tuple[float, Any]]:
        """Terms of a goal over its value."""
        size = max(abs(goal.value(at.point)), 1e-12)
        return [(w / size, q) for w, q in minimized(goal)]

    def _best_of(self, k: int) -> LocalOptimum:
        return min((x for x in self.ends if x.feasible), key=lambda x: self._goals(x)[k])

    def _held(self, goal: Goal, level: float) -> Limit:
        """A goal as a limit."""
        terms = tuple((goal.sign * w, q) for w, q in goal.terms)
        return Limit(goal.text, terms, -np.inf, float(level), goal.shown)

    def _starts(self, levels: np.ndarray) -> list[np.ndarray]:
        """The two designs known so far that are nearest to what the levels ask for."""
        known = [x for x in self.ends if x.feasible]
        values = np.array([self._goals(x) for x in known])
        span = np.where(np.ptp(values, axis=0) > 0.0, np.ptp(values, axis=0), 1.0)
        over = np.maximum((values[:, 1:] - levels) / span[1:], 0.0).sum(axis=1)
        order = np.argsort(10.0 * over + (values[:, 0] - values[:, 0].min()) / span[0], kind="stable")
        return [known[k].u for k in order[:2]]

    def _result(self) -> ParetoFront:
        from linkwright.rings.design.optimization.certificate import certify
        from linkwright.rings.design.optimization.final_correction import finished
        from linkwright.rings.design.optimization.result import change
        from linkwright.rings.design.optimization.run import original_point

        p = self.problem
        best = [x for x in self.ends if x.feasible and violation_of(p.sought, x.point) <= FEASIBLE]
        if not best:
            raise UsageError(
                "no design meets all constraints, so there is no front. Optimize one of the goals alone: its result says what to relax.",
                name="designs",
            )
        values = np.array([self._goals(x) for x in best])
        before = original_point(p)
        out = []
        for k in undominated(values):
            done = finished(p, (), best[k].point)
            if done.met:
                goals, limits = (tuple(change(x, before, done.whole) for x in items) for items in (p.goals, p.limits))
                certificate = certify(replace(best[k], point=done.point), 1, 1)
                out.append(OptimizationResult(p, done.point, goals, limits, certificate, True, p.tally.designs, p.tally.seconds))
        if not out:
            raise UsageError(
                "no design of the front meets all constraints in its finished motion. Relax one of them by a little.", name="designs"
            )
        return ParetoFront(p, tuple(out), p.tally.designs, p.tally.seconds, self.interrupted, self.late)


def undominated(values: np.ndarray) -> list[int]:
    """Rows that no other row betters in all columns, each once, in the order of the first column."""
    span = np.where(np.ptp(values, axis=0) > 0.0, np.ptp(values, axis=0), 1.0)
    x = values / span
    keep: list[int] = []
    same = 1e-5  # of the range of a goal: designs so near each other count as one
    for k in np.lexsort(x.T[::-1]):
        better = (x <= x[k] + same).all(axis=1) & (x < x[k] - same).any(axis=1)
        twin = any(np.abs(x[k] - x[j]).max() <= same for j in keep)
        if not better.any() and not twin:
            keep.append(int(k))
    return keep
