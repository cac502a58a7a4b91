"""Projection operator: constrained motion by P = 1 - J^+ J, valid at every configuration  [Aghili2005 (17)-(32)].

    P M a = P (tau - h)          the motion                                  (21)
    (1 - P) a = a_perp           what the constraints prescribe, -J^+ k      (13)

are added in three ways to one regular system M_c a = right side:

    skew        M_c   = M + P M - (P M)'               P f + M a_perp                       (22)-(24)
    symmetric   M_c'  = P M P + (1 - P) M (1 - P)      P f + (1 - P) M a_perp - P M a_perp  (27)-(28)
    scaled      M_c'' = P M + gamma (1 - P)            P f + gamma a_perp                   (29)

The first is positive definite, the second also symmetric, the third cheapest; gamma has the dimension of a mass,
by default |M|. The constraint force F = J' lam = M a + h - tau is smooth even where lam has a pole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linkwright.errors import UsageError, listing
from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations.base import Formulation, RawSolution, constraint_force
from linkwright.numerics.linalg import RANK_TOLERANCE, factor

INERTIAS = ("skew", "symmetric", "scaled")


@dataclass(frozen=True)
class Projection:
    needs_inertia: ClassVar[bool] = False
    handles_redundant: ClassVar[bool] = True
    drops_lost_rows: ClassVar[bool] = True
    inertia: str = "scaled"
    gamma: float | None = None  # of `scaled`; default |M| in the dimensionless metric
    tolerance: float = RANK_TOLERANCE

    def __call__(self, terms: Terms, tau: Any) -> RawSolution:
        c, r = terms.columns, terms.row_scale
        J, k = terms.dimensionless_J(), terms.k / r
        M, f = terms.M * c * c[:, None], (tau - terms.h) * c
        F = factor(J, self.tolerance)
        P = projector(F.Vt, F.rank)
        a_perp = -F.solve(k)  # the part of the acceleration the constraints prescribe
        M_c = constraint_inertia(M, P, self.inertia, self.gamma)
        if self.inertia == "skew":
            right = P @ f + M @ a_perp
        elif self.inertia == "symmetric":
            right = P @ f + (M - P @ M) @ a_perp - P @ M @ a_perp
        else:
            right = P @ f + (np.linalg.norm(M, 2) if self.gamma is None else self.gamma) * a_perp
        a = np.linalg.solve(M_c, right) * c
        lam = factor(J.T, self.tolerance).solve(constraint_force(terms, a, tau) * c) / r
        return RawSolution(a, lam)

    def matrix(self, terms: Terms) -> np.ndarray:
        f = factor(terms.J, self.tolerance)
        return constraint_inertia(terms.M, projector(f.Vt, f.rank), self.inertia, self.gamma)

    def traced(self) -> None:
        return None

    def variants(self) -> Mapping[str, Formulation]:
        return {kind: replace(self, inertia=kind) for kind in INERTIAS}


def projector(Vt: np.ndarray, rank: int) -> np.ndarray:
    """Orthogonal projector onto the null space of J."""
    return np.eye(Vt.shape[1]) - Vt[:rank].T @ Vt[:rank]


def constraint_inertia(M: np.ndarray, P: np.ndarray, kind: str = "scaled", gamma: float | None = None) -> np.ndarray:
    """M_c, M_c' or M_c''  [Aghili2005 (23), (28), (29)]."""
    Q = np.eye(len(M)) - P
    if kind == "skew":
        return M + P @ M - (P @ M).T
    if kind == "symmetric":
        return P @ M @ P + Q @ M @ Q
    if kind == "scaled":
        return P @ M + (np.linalg.norm(M, 2) if gamma is None else gamma) * Q
    raise UsageError(f"there is no constraint inertia matrix '{kind}'. Choose one of {listing(INERTIAS)}.", name=kind, allowed=INERTIAS)


def decoupled(M: np.ndarray, P: np.ndarray, tolerance: float = 1e-12) -> bool:
    """True if motion and constraint force decouple: P M = M P  [Aghili2005 prop. 3]."""
    return bool(np.abs(P @ M - M @ P).max() <= tolerance * np.abs(M).max())
