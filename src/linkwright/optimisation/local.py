"""Local optimisation from one start: SLSQP on the program of chosen samples, inside a box that shrinks where designs do not close.

A trial design may be impossible (its loops do not close, or it meets a dead centre). Then the search goes back to the best design so far
and continues in a box about it that is four times smaller; a step that ends at the border of the box makes it larger again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.optimisation.problem import FEASIBLE, DesignPoint, Limit, Problem
from linkwright.optimisation.program import Program
from linkwright.optimisation.quantities import MeasuredValue

Terms = Sequence[tuple[float, MeasuredValue]]
ROUNDS = 25  # of SLSQP, each with its own working set and box
ITERATIONS = 50  # of a round
BOX = 0.25  # half the side of the first box, in the unit cube
SMALLEST = 1e-7
PENALTY = 10.0  # of violations, relative, in the merit of a design
STALLED = 1e-9  # relative gain of a round that counts as none


class ImpossibleDesign(Exception):
    """A trial design has no motion."""


@dataclass(frozen=True, eq=False)
class LocalOptimum:
    """Where a search from one start ended; `value` is what was minimised, signs included."""

    point: DesignPoint
    program: Program
    z: np.ndarray
    value: float
    violation: float
    converged: bool

    @property
    def u(self) -> np.ndarray:
        return self.point.u

    @property
    def feasible(self) -> bool:
        return self.violation <= FEASIBLE


def value_of(terms: Terms, p: DesignPoint) -> float:
    """The weighted sum that is minimised."""
    return float(sum(w * q.value(p) for w, q in terms))


def violation_of(limits: Sequence[Limit], p: DesignPoint) -> float:
    """The largest relative violation of the limits."""
    return max((float(lim.violation(lim.value(p))) for lim in limits), default=0.0)


@dataclass
class LocalSearch:
    """A search from one start; `watch` is called with every design that has a motion."""

    problem: Problem
    terms: Terms
    limits: Sequence[Limit]
    watch: Callable[[DesignPoint, float, float], Any] | None = None
    elastic: bool = False

    def merit(self, p: DesignPoint, scale: float) -> float:
        """A design's worth: the goal over its scale, and violations."""
        outside = sum(float(lim.violation(lim.value(p))) for lim in self.limits)
        return (0.0 if self.elastic else value_of(self.terms, p) / scale) + PENALTY * outside

    def run(self, u: np.ndarray, rounds: int = ROUNDS) -> LocalOptimum | None:
        """Search from a design; None where that has no motion."""
        p = self.problem.point(u)
        if not p.ok:
            return None
        program = Program(self.problem, () if self.elastic else self.terms, p, limits=self.limits, elastic=self.elastic)
        scale, radius, converged = program.scale, BOX, False
        best, merit = p, self.merit(p, scale)
        for _ in range(rounds):
            found, good = self._round(program, best, radius, scale)
            new, z = (found[0], found[1]) if found is not None else (good, None)
            gained = merit - self.merit(new, scale) if new is not None else -np.inf
            center = best
            if new is not None and gained > 0.0:
                best, merit = new, merit - gained
            if z is None:
                radius *= 0.25
            else:
                assert new is not None
                wider = program.widen(new, z)
                edge = _at_edge(new.u, center.u, radius)
                if gained <= STALLED * max(1.0, abs(merit)) and not wider:
                    converged = not edge
                    break
                radius = min(1.0, 2.0 * radius) if edge and gained > 0.0 else radius
                if gained <= 0.0:
                    radius *= 0.25
            if radius < SMALLEST:
                break
        return LocalOptimum(best, program, program.start(best), value_of(self.terms, best), violation_of(self.limits, best), converged)

    def _round(
        self, program: Program, center: DesignPoint, radius: float, scale: float
    ) -> tuple[tuple[DesignPoint, np.ndarray] | None, DesignPoint | None]:
        """SLSQP in a box: (design and variables where it ended, best design met); the first is None if it met an impossible design."""
        from scipy.optimize import minimize

        n, problem = program.n, self.problem
        met: list[tuple[float, DesignPoint]] = []

        def at(z: np.ndarray) -> DesignPoint:
            p = problem.point(np.clip(z[:n], 0.0, 1.0))
            if not p.ok:
                raise ImpossibleDesign(p.why)
            if self.watch is not None:
                self.watch(p, value_of(self.terms, p), violation_of(self.limits, p))
            return p

        def objective(z: np.ndarray) -> tuple[float, np.ndarray]:
            p = at(z)
            met.append((self.merit(p, scale), p))
            return program.objective(p, z)

        def rows(z: np.ndarray, equality: bool) -> tuple[np.ndarray, np.ndarray]:
            found = [r for r in program.rows(at(z), z) if r.equality == equality]
            return np.array([r.value for r in found]), np.array([r.gradient for r in found]).reshape(len(found), len(z))

        start = program.start(center)
        kinds = {r.equality for r in program.rows(center, start)}
        constraints = [
            {"type": "eq" if e else "ineq", "fun": lambda z, e=e: rows(z, e)[0], "jac": lambda z, e=e: rows(z, e)[1]} for e in kinds
        ]
        low = np.concatenate([np.maximum(0.0, center.u - radius), program.low])
        high = np.concatenate([np.minimum(1.0, center.u + radius), np.full(program.aux, np.inf)])
        options = {"maxiter": ITERATIONS, "ftol": 1e-14}
        try:
            found = minimize(
                objective,
                start,
                jac=True,
                method="SLSQP",
                bounds=list(zip(low, high, strict=True)),
                constraints=constraints,
                options=options,
            )
            z = np.concatenate([np.clip(found.x[:n], 0.0, 1.0), found.x[n:]])
            return (at(z), z), None
        except ImpossibleDesign:
            return None, min(met, key=lambda x: x[0])[1] if met else None


def _at_edge(u: np.ndarray, center: np.ndarray, radius: float) -> bool:
    """True if a design lies on the border of its box, and not on that of the unit cube."""
    inside = (u > 1e-9) & (u < 1.0 - 1e-9)
    return bool(np.any((np.abs(u - center) >= radius * (1.0 - 1e-6)) & inside))
