"""Elimination of the multipliers by a matrix R that the constraints annihilate: R' J' = 0  [Hoang2023 (18)-(23)].

    [ R' M ]       [ R' (tau - h) ]
    [  J   ] a  =  [      -k      ]          solved in the least-squares sense, because R may have more columns than needed

R is either the orthogonal projector E - J^+ J, which exists at every configuration, or the partitioned one
[1; -J_d^-1 J_i], which needs the dependent coordinates' block J_d to be regular. Metric: columns and rows are made
dimensionless first, so J^+ does not depend on the unit of length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations.base import RawSolution, constraint_force
from linkwright.mechanics.formulations.projection import projector
from linkwright.numerics.linalg import RANK_TOLERANCE, factor, pivoted_columns


@dataclass(frozen=True)
class Nullspace:
    needs_inertia = False
    handles_redundant = True
    elimination: str = "projector"  # or "partitioned"
    tolerance: float = RANK_TOLERANCE

    def __call__(self, terms: Terms, tau: Any) -> RawSolution:
        c, r = terms.columns, terms.row_scale
        J, k = terms.dimensionless_J(), terms.k / r
        M, f = terms.M * c * c[:, None], (tau - terms.h) * c
        F = factor(J, self.tolerance)
        R = projector(F.Vt, F.rank) if self.elimination == "projector" else partitioned(J, self.tolerance)
        size = max(np.linalg.norm(M, 2), 1e-300)  # inertia and geometry rows of one size
        stacked = np.concatenate([R.T @ M / size, J])
        right = np.concatenate([R.T @ f / size, -k])
        a = factor(stacked, 1e-13 * max(1.0, float(np.linalg.norm(stacked, 2)))).solve(right) * c
        lam = factor(J.T, self.tolerance).solve(constraint_force(terms, a, tau) * c) / r
        return RawSolution(a, lam)


def partitioned(J: np.ndarray, tolerance: float = RANK_TOLERANCE) -> np.ndarray:
    """R with columns [1; -J_d^-1 J_i]: dependent columns are a regular set found by pivoting  [Hoang2023 (20)]."""
    n = J.shape[1]
    dependent = pivoted_columns(J, tolerance)
    free = [i for i in range(n) if i not in dependent]
    R = np.zeros((n, len(free)))
    for column, i in enumerate(free):
        R[i, column] = 1.0
    if dependent and free:
        R[dependent] = -factor(J[:, dependent], tolerance).solve(J[:, free])
    return R
