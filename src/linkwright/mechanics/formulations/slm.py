"""System-level multipliers: lam first, from one matrix of all constraints, then the accelerations  [Koul2013 (10)-(12)].

(J M^-1 J') lam = -k - J M^-1 (tau - h)          a = M^-1 (tau - h + J' lam)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations.base import RawSolution
from linkwright.numerics.linalg import ldl


@dataclass(frozen=True)
class Slm:
    needs_inertia = True
    handles_redundant = True

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


ZERO_PIVOT = 1e-13  # round-off of a Schur complement against its diagonal; the square of a singular value of 3e-7
