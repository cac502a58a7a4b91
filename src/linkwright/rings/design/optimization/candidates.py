"""Global search: thousands of candidates, then the best and different ones as starts of local searches.

    sobol    candidates spread evenly over the bounds (scipy.stats.qmc)
    de       differential evolution of scipy, generations evaluated in lanes
    cma      covariance matrix adaptation (package `cma`)
    nsga2    a genetic algorithm for several goals (package `pymoo`)
    none     the file's own design is the only start

Designs without a motion are worse than all others; designs that violate limits are compared by how far they are outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import UsageError, nearest, package
from linkwright.rings.design.optimization.local_search import PENALTY
from linkwright.rings.design.optimization.problem import FEASIBLE, CandidateValues, DesignProblem

METHODS = ("sobol", "de", "cma", "nsga2", "none")
CHUNK, SINGLE = 512, 16  # candidates at a time, in lanes and one by one: results are shown in between
OPEN_MERIT = 1e6  # merit of a design without a motion: worse than any violation that matters


@dataclass
class CandidatePool:
    """Candidates so far, with the merit of each."""

    goal: Callable[[np.ndarray], np.ndarray]  # values of all goals -> what is minimized
    scale: float
    u: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    violation: list[np.ndarray] = field(default_factory=list)
    gaps: list[np.ndarray] = field(default_factory=list)
    why: dict[str, int] = field(default_factory=dict)  # reasons, and how many designs have each

    def add(self, found: CandidateValues) -> np.ndarray:
        """Add candidates; return their merits."""
        with np.errstate(invalid="ignore"):
            value = self.goal(found.goals)
        self.u.append(found.u)
        self.values.append(np.where(found.ok, value, np.nan))
        self.violation.append(np.where(found.ok, found.violation, np.nan))
        for text in found.why:
            if text:
                reason = text.split(":")[0].split(" near ")[0]
                self.why[reason] = self.why.get(reason, 0) + 1
        return self._merit(self.values[-1], self.violation[-1])

    def _merit(self, value: np.ndarray, violation: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(value), value / self.scale + PENALTY * violation, OPEN_MERIT)

    @property
    def count(self) -> int:
        return sum(len(x) for x in self.u)

    @property
    def impossible(self) -> int:
        return sum(int((~np.isfinite(x)).sum()) for x in self.values)

    @property
    def feasible(self) -> int:
        return sum(int((x <= FEASIBLE).sum()) for x in self.violation)

    def starts(self, most: int) -> list[np.ndarray]:
        """Best candidates, apart from each other: those that are feasible and those of best merit in turn."""
        if not self.u:
            return []
        u, value, violation = np.concatenate(self.u), np.concatenate(self.values), np.concatenate(self.violation)
        merit = self._merit(value, violation)
        with np.errstate(invalid="ignore"):
            strict = np.where(violation <= FEASIBLE, merit, OPEN_MERIT)
        orders = [iter([k for k in np.argsort(m, kind="stable") if m[k] < OPEN_MERIT]) for m in (merit, strict)]
        out: list[np.ndarray] = []
        apart = 0.08  # distance of two starts in the unit cube, over the root of its dimension
        far = apart * np.sqrt(u.shape[1])
        while len(out) < most and orders:
            for order in list(orders):
                k = next((k for k in order if all(np.linalg.norm(u[k] - x) > far for x in out)), None)
                if k is None:
                    orders.remove(order)
                elif len(out) < most:
                    out.append(u[k])
        return out


def method_named(name: str | None) -> str:
    """Check the name of a method."""
    found = "sobol" if name is None else str(name)
    if found not in METHODS:
        raise UsageError(f"search: '{name}' is not known.", nearest(found, METHODS, "Known"))
    return found


def sobol(n: int, size: int, seed: int) -> np.ndarray:
    """Points of a scrambled Sobol sequence, (n, size)."""
    from scipy.stats import qmc

    draws = qmc.Sobol(size, scramble=True, rng=np.random.default_rng(seed))
    return draws.random_base2(int(np.ceil(np.log2(max(n, 2)))))[:n]


@dataclass
class GlobalSearch:
    """One search over the whole bounds."""

    problem: DesignProblem
    pool: CandidatePool
    seed: int
    watch: Callable[[CandidatePool], Any]
    threads: int | None = None

    def run(self, method: str, n: int) -> None:
        """Evaluate about n candidates."""
        if method == "none" or n <= 0:
            return
        {"sobol": self._sobol, "de": self._evolution, "cma": self._adaptation, "nsga2": self._genetic}[method](n)

    def _evaluated(self, u: np.ndarray) -> np.ndarray:
        merits = []
        some = CHUNK if self.problem.work.lanes else SINGLE
        for k in range(0, len(u), some):
            merits.append(self.pool.add(self.problem.candidates(u[k : k + some], self.threads)))
            self.watch(self.pool)
        return np.concatenate(merits)

    def _sobol(self, n: int) -> None:
        self._evaluated(sobol(n, len(self.problem.variables), self.seed))

    def _evolution(self, n: int) -> None:
        from scipy.optimize import differential_evolution

        size = len(self.problem.variables)
        members = max(8 * size, 64)
        first = sobol(members, size, self.seed)
        first[0] = self.problem.nominal
        differential_evolution(
            lambda u: self._evaluated(np.ascontiguousarray(np.atleast_2d(u.T))),
            [(0.0, 1.0)] * size,
            vectorized=True,
            updating="deferred",
            polish=False,
            init=first,
            maxiter=max(1, n // members - 1),
            tol=1e-8,
            rng=np.random.default_rng(self.seed),
        )

    def _adaptation(self, n: int) -> None:
        cma: Any = package("cma")
        members = 4 + int(3 * np.log(len(self.problem.variables)))
        members = -(-members // 8) * 8  # whole lanes
        options = {"bounds": [0.0, 1.0], "popsize": members, "seed": self.seed + 1, "verbose": -9, "maxfevals": n}
        strategy = cma.CMAEvolutionStrategy(self.problem.nominal, 0.3, options)
        while not strategy.stop():
            asked = strategy.ask()
            strategy.tell(asked, self._evaluated(np.clip(np.array(asked), 0.0, 1.0)).tolist())

    def _genetic(self, n: int) -> None:
        """All goals at once, limits as one constraint; whatever it visits is a candidate."""
        algorithm = package("pymoo.algorithms.moo.nsga2").NSGA2
        base: Any = package("pymoo.core.problem").Problem
        search, size, goals = self, len(self.problem.variables), len(self.problem.goals)

        class Visited(base):
            def __init__(self) -> None:
                super().__init__(n_var=size, n_obj=goals, n_ieq_constr=1, xl=0.0, xu=1.0)

            def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
                found = search.problem.candidates(np.clip(x, 0.0, 1.0), search.threads)
                search.pool.add(found)
                search.watch(search.pool)
                out["F"] = np.where(found.ok[:, None], found.goals, OPEN_MERIT)
                out["G"] = np.where(found.ok, found.violation - FEASIBLE, OPEN_MERIT)

        members = 64
        package("pymoo.optimize").minimize(
            Visited(), algorithm(pop_size=members), ("n_gen", max(1, n // members)), seed=self.seed + 1, verbose=False
        )
