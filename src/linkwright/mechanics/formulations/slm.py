"""System-level multipliers: lam first, from one matrix of all constraints, then the accelerations  [Koul2013 (10), (11)].

(J M^-1 J') lam = -k - J M^-1 (tau - h)          a = M^-1 (tau - h + J' lam)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations.base import Formulation, RawSolution
from linkwright.numerics.linalg import ldl


@dataclass(frozen=True)
class Slm:
    needs_inertia: ClassVar[bool] = True
    handles_redundant: ClassVar[bool] = True
    drops_lost_rows: ClassVar[bool] = False

    def __call__(self, terms: Terms, tau: Any) -> RawSolution:
        M = ldl(terms.M)
        free = M.solve(tau - terms.h)
        if terms.nc == 0:
            return RawSolution(free, terms.k)
        X = M.solve(terms.J.T.copy())
        gicm = terms.J @ X
        factors = ldl(gicm, tolerance=ZERO_PIVOT)
        lam = factors.solve(-terms.k - terms.J @ free)
        return RawSolution(free + X @ lam, lam, factors.zero, factors.smallest, (*M.watch, *factors.watch))

    def matrix(self, terms: Terms) -> np.ndarray:
        return terms.J @ np.linalg.solve(terms.M, terms.J.T)

    def traced(self) -> Formulation:
        return self

    def variants(self) -> Mapping[str, Formulation]:
        return {"": self}


ZERO_PIVOT = 1e-13  # round-off of a Schur complement against its diagonal; the square of a singular value of 3e-7
