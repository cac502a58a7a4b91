"""Local optimization from one start: a method of nonlinear programming on chosen samples, inside a box.

SLSQP, or trust-constr and ipopt, work on the program; the box shrinks where designs do not close.

A trial design may be impossible (its loops do not close, or it meets a dead center). Then the search goes back to the best design so far
and continues in a box about it that is four times smaller; a step that ends at the border of the box makes it larger again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.rings.design.optimization.nonlinear_program import GoalProgram, RowBlock
from linkwright.rings.design.optimization.nonlinear_solvers import SOLVERS
from linkwright.rings.design.optimization.problem import FEASIBLE, DesignPoint, DesignProblem, Limit
from linkwright.rings.design.optimization.quantities import MeasuredValue

Terms = Sequence[tuple[float, MeasuredValue]]
ROUNDS = 40  # of SLSQP, each with its own working set and box
FIRST, LATER = 12, 60  # iterations of a round: few while samples are still missing
BOX = 0.1  # half the side of the first box, in the unit cube
SMALLEST = 1e-5
PENALTY = 10.0  # of violations, relative, in the merit of a design
MOST_DESIGNS = 200  # of one search; the best end is continued with ten times as many
TURNS, NARROW, CREEPING = 4, 0.01, 1e-3  # of polishing: how often, half the side of its box, relative gain that is not worth another
NOTHING = 1e-11  # of the first value: round-off of a goal that can be met exactly
STALLED = 1e-7  # relative gain of a round that counts as none
FAR_ABOVE = 10.0  # of the value: that of an impossible design above the last possible one
MOST_TRIES = 4  # impossible designs in a row

MOST_STEPS = 30
FIRST_RADIUS = 0.02
WIDE = 1e-4  # radius in which a linear program without a gain means an optimum
COST = 1e3  # of a slack, in the scale of the goal
GOOD, FAIR = 0.5, 0.05  # shares of the predicted gain: the radius grows, the step is taken


class ImpossibleDesign(Exception):
    """A trial design has no motion."""


@dataclass(frozen=True, eq=False)
class LocalOptimum:
    """The end of a search from one start; `value` is what was minimized, signs included."""

    point: DesignPoint
    program: GoalProgram
    z: np.ndarray
    value: float
    violation: float
    converged: bool
    limits: tuple[Limit, ...] | None = None  # those it was finished with, drawn in a little; None: those of the program

    @property
    def u(self) -> np.ndarray:
        return self.point.u

    @property
    def feasible(self) -> bool:
        return self.violation <= FEASIBLE


def value_of(terms: Terms, p: DesignPoint) -> float:
    """The weighted sum that is minimized."""
    return float(sum(w * q.value(p) for w, q in terms))


def violation_of(limits: Sequence[Limit], p: DesignPoint) -> float:
    """The largest relative violation of the limits."""
    return max((float(lim.violation(lim.value(p))) for lim in limits), default=0.0)


@dataclass
class LocalSearch:
    """A search from one start; `watch` is called with every design that has a motion."""

    problem: DesignProblem
    terms: Terms
    limits: Sequence[Limit]
    watch: Callable[[DesignPoint, float, float], Any] | None = None
    elastic: bool = False
    most: int = MOST_DESIGNS
    solver: str = "slsqp"
    nothing: float = 0.0  # size of a goal that is met

    def merit(self, p: DesignPoint, scale: float, penalty: float = PENALTY) -> float:
        """A design's worth: the goal over its scale, and violations."""
        outside = sum(float(lim.violation(lim.value(p))) for lim in self.limits)
        return (0.0 if self.elastic else value_of(self.terms, p) / scale) + penalty * outside

    def run(self, u: np.ndarray, rounds: int = ROUNDS) -> LocalOptimum | None:
        """Search from a design; None where that has no motion."""
        p = self.problem.point(u)
        if not p.ok:
            return None
        self.problem.rebase(u)
        p = self.problem.point(u)
        program, best, radius, converged = self._program(p, None), p, BOX, False
        self.nothing = NOTHING * program.scale
        begun = self.problem.tally.designs
        for k in range(rounds):
            if self.problem.tally.designs - begun > self.most:
                break
            merit = self.merit(best, program.scale)
            found, met = self._round(program, best, radius, FIRST if k < 3 else LATER)
            new = met if found is None else found.point
            gained = merit - self.merit(new, program.scale) if new is not None else -np.inf
            center, best = best, new if new is not None and gained > 0.0 else best
            if best is not center:
                self.problem.rebase(best.u)
            if self._nothing_left(best):
                converged = True
                break
            if found is None:
                radius *= 0.25
            else:
                wider = program.widen(found.point, found.z)
                edge = _at_edge(found.point.u, center.u, radius)
                if abs(gained) <= STALLED and not wider and (found.success or edge):
                    converged = not edge
                    break
                radius *= 0.25 if gained <= 0.0 else 2.0 if edge else 1.0
            radius = min(radius, 1.0)
            if radius < SMALLEST:
                break
            if abs(value_of(self.terms, best)) < 0.5 * program.scale or program.moved(best):
                program = self._program(best, program)
        return LocalOptimum(best, program, program.start(best), value_of(self.terms, best), violation_of(self.limits, best), converged)

    def _nothing_left(self, p: DesignPoint) -> bool:
        """True if the goal is met to round-off."""
        return abs(value_of(self.terms, p)) < self.nothing and violation_of(self.limits, p) <= FEASIBLE

    def polished(self, found: LocalOptimum) -> LocalOptimum:
        """Continue an optimum of extremes: by linear programs (`minimax`), and where these creep, by a method that sees curvature."""
        if not found.program.extremes or self._nothing_left(found.point):
            return found
        best, converged = found.point, False
        for _ in range(TURNS):
            before = best
            best, converged = self._linear(best)
            if converged:
                break
            program = self._program(best, None)
            end, met = self._round(program, best, NARROW, LATER)
            new = met if end is None else end.point
            better = new is not None and self.merit(new, program.scale, COST) < self.merit(best, program.scale, COST)
            best = new if new is not None and better else best
            gain = self.merit(before, program.scale, COST) - self.merit(best, program.scale, COST)
            if gain < CREEPING:
                break
        program = self._program(best, None)
        return LocalOptimum(best, program, program.start(best), value_of(self.terms, best), violation_of(self.limits, best), converged)

    def within_limits(self, best: DesignPoint) -> DesignPoint:
        """Return a design near this one, inside the limits as far as linear programs reach."""
        return self._linear(best)[0]

    def _linear(self, best: DesignPoint) -> tuple[DesignPoint, bool]:
        """Steps of linear programs; True if the last of them saw no gain in a wide region."""
        radius = FIRST_RADIUS
        for _ in range(MOST_STEPS if best.ok else 0):  # an impossible design has no slopes
            program = GoalProgram(self.problem, self.terms, best, limits=self.limits)
            program.with_every_sample(best)
            step = linear_step(program, best, radius)
            if step is None or step.gain <= STALLED:
                return best, step is not None and radius >= WIDE
            new = self.problem.point(np.clip(best.u + step.d[: program.n], 0.0, 1.0))
            gained = self.merit(best, program.scale, COST) - self.merit(new, program.scale, COST) if new.ok else -np.inf
            longest = float(np.abs(step.d[: program.n]).max())
            if gained >= FAIR * step.gain:
                best = new
                self.problem.rebase(best.u)
                self.seen(best)
                radius = max(radius, 2.0 * longest) if gained >= GOOD * step.gain else radius
            else:
                radius = 0.3 * min(radius, longest)
            if radius < SMALLEST:
                break
        return best, False

    def seen(self, p: DesignPoint) -> None:
        if self.watch is not None:
            self.watch(p, value_of(self.terms, p), violation_of(self.limits, p))

    def _program(self, p: DesignPoint, before: GoalProgram | None) -> GoalProgram:
        """The program scaled by this design, with the samples of the one before."""
        made = GoalProgram(self.problem, () if self.elastic else self.terms, p, limits=self.limits, elastic=self.elastic)
        for new, old in zip(made.families, before.families if before is not None else made.families, strict=True):
            for side, chosen in old.samples.items():
                new.samples.setdefault(side, set()).update(chosen)
        return made

    def _round(self, program: GoalProgram, center: DesignPoint, radius: float, most: int) -> tuple[RoundEnd | None, DesignPoint | None]:
        """A nonlinear programming method in a box: where it ended, None if at an impossible design, and the best design it met."""
        trials = Trials(self, program, center, radius)
        low = np.concatenate([np.maximum(-1.0, -center.u / radius), program.low])
        high = np.concatenate([np.minimum(1.0, (1.0 - center.u) / radius), np.full(program.aux, np.inf)])
        try:
            bounds = list(zip(low, high, strict=True))
            found = SOLVERS[self.solver](trials.objective, trials.start, bounds, trials.constraints, most)
        except ImpossibleDesign:
            return None, trials.best
        z = trials.variables(found.x)
        end = self.problem.point(z[: program.n])
        return (RoundEnd(end, z, bool(found.success)) if end.ok else None), trials.best


class RoundEnd(NamedTuple):
    """The end of a round, and whether it had converged."""

    point: DesignPoint
    z: np.ndarray
    success: bool


class Trials:
    """Designs that SLSQP tries. An impossible one gets a value far above the last possible one, so that the line search goes back."""

    def __init__(self, search: LocalSearch, program: GoalProgram, center: DesignPoint, radius: float):
        """Numbers are counted from the center of the box, in halves of its side: near an optimum that is narrow a method needs to see
        the curvature, which it measures along unit steps."""
        self.search, self.program = search, program
        self.z = program.start(center)
        self.size = np.concatenate([np.full(program.n, radius), np.ones(program.aux)])
        self.origin = np.concatenate([center.u, np.zeros(program.aux)])
        self.good = self.z
        self.value, self.slope = program.objective(center, self.z)
        self.rows = program.rows(center, self.z)
        self.best: DesignPoint | None = None
        self.merit = np.inf
        self.tries = 0

    def _at(self, z: np.ndarray) -> DesignPoint | None:
        p = self.search.problem.point(np.clip(z[: self.program.n], 0.0, 1.0))
        if not p.ok:
            return None
        self.search.seen(p)
        return p

    @property
    def start(self) -> np.ndarray:
        return (self.z - self.origin) / self.size

    def variables(self, y: np.ndarray) -> np.ndarray:
        """Variables of the program from those that a method sees."""
        z = self.origin + self.size * y
        z[: self.program.n] = np.clip(z[: self.program.n], 0.0, 1.0)
        return z

    def objective(self, y: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient of the goal."""
        value, slope = self._objective(self.variables(y))
        return value, slope * self.size

    def _objective(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        p = self._at(z)
        if p is None:
            self.tries += 1
            if self.tries > MOST_TRIES:
                raise ImpossibleDesign
            return self.value + FAR_ABOVE * (1.0 + abs(self.value)), self.slope
        self.tries, self.good = 0, z.copy()
        self.value, self.slope = self.program.objective(p, z)
        self.rows = self.program.rows(p, z)
        merit = self.search.merit(p, self.program.scale)
        if merit < self.merit:
            self.best, self.merit = p, merit
        return self.value, self.slope

    def _rows(self, y: np.ndarray, equality: bool) -> tuple[np.ndarray, np.ndarray]:
        z = self.variables(y)
        if not np.array_equal(z, self.good):
            p = self._at(z)
            if p is not None:
                self.good, self.rows = z.copy(), self.program.rows(p, z)
                self.value, self.slope = self.program.objective(p, z)
        found = self.rows.some(self.rows.equality == equality)
        return found.values + found.slopes @ (z - self.good), found.slopes * self.size

    @property
    def constraints(self) -> list[dict[str, Any]]:
        """Constraints as scipy takes them: equalities, inequalities."""
        kinds = sorted(set(self.rows.equality.tolist()))
        return [
            {"type": "eq" if e else "ineq", "fun": lambda y, e=e: self._rows(y, e)[0], "jac": lambda y, e=e: self._rows(y, e)[1]}
            for e in kinds
        ]


def _at_edge(u: np.ndarray, center: np.ndarray, radius: float) -> bool:
    """True if a design lies on the border of its box, and not on that of the unit cube."""
    inside = (u > 1e-9) & (u < 1.0 - 1e-9)
    return bool(np.any((np.abs(u - center) >= radius * (1.0 - 1e-6)) & inside))


# Extremes to the end: sequential linear programming with a trust region.
#
# An optimum of an extreme mostly lies where several samples are equally high (as many as numbers vary, and one more), and there linear
# programs of the samples converge quadratically. Each takes the samples nearest to their bounds, linearized by their exact derivatives,
#
#     min c.(d, t)    s.t.  g + g' (d, t) >= 0,   |d| <= radius,   0 <= u + d <= 1,
#
# violated limits with a slack that costs more than any gain. A step is taken if the merit of the new design is better; otherwise, and where
# the new design is impossible, the radius shrinks.


class LinearStep(NamedTuple):
    """A step of the numbers and auxiliary variables, and the gain that the linear program predicts."""

    d: np.ndarray
    gain: float


def linear_step(program: GoalProgram, p: DesignPoint, radius: float) -> LinearStep | None:
    """Solve the linear program at a design; None where it has no solution."""
    from scipy.optimize import linprog

    z = program.start(p)
    _, slope = program.objective(p, z)
    rows = _nearest(program.rows(p, z))
    n, size = program.n, len(z)
    limited = np.array([bool(o) for o in rows.owners], dtype=bool)
    # one slack for all rows of limits, which may be violated
    c = np.concatenate([slope, [COST]])
    unequal = ~rows.equality
    A = np.concatenate([-rows.slopes[unequal], -limited[unequal, None].astype(float)], axis=1)
    equal = rows.slopes[rows.equality]
    E = np.concatenate([equal, np.zeros((len(equal), 1))], axis=1) if len(equal) else None
    low = np.concatenate([np.maximum(-radius, -p.u), np.full(size - n, -np.inf), [0.0]])
    high = np.concatenate([np.minimum(radius, 1.0 - p.u), np.full(size - n + 1, np.inf)])
    found = linprog(
        c, A_ub=A, b_ub=rows.values[unequal], A_eq=E, b_eq=-rows.values[rows.equality] if len(equal) else None,
        bounds=np.stack([low, high], axis=1), method="highs",
    )  # fmt: skip
    if found.x is None or not found.success:
        return None
    now = COST * max(0.0, float(-rows.values[limited & unequal].min(initial=0.0)))
    return LinearStep(found.x[:size], now - float(c @ found.x))


def _nearest(rows: RowBlock) -> RowBlock:
    """Rows nearest to their bounds, and all equalities."""
    most_rows = 120  # of a linear program: those nearest to their bounds
    if len(rows.values) <= most_rows:
        return rows
    far = np.where(rows.equality, -np.inf, rows.values)
    mask = np.zeros(len(far), dtype=bool)
    mask[np.argsort(far, kind="stable")[:most_rows]] = True
    return rows.some(mask)
