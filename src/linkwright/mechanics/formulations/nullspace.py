"""Elimination of the multipliers by a matrix R that the constraints annihilate: R' J' = 0  [Hoang2023 (19)-(23)].

    [ R' M ]       [ R' (tau - h) ]
    [  J   ] a  =  [      -k      ]          solved in the least-squares sense, because R may have more columns than needed

R is either the orthogonal projector E - J^+ J, which exists at every configuration, or the partitioned one
[1; -J_d^-1 J_i], which needs the dependent coordinates' block J_d to be regular. The dependent coordinates are chosen by pivoting in
every state, or are all but the `independent` ones, always the same  [Hoang2023 (20)]: that partition fails at the zeros of det J_d, next to
which R grows as their inverse. Metric: columns and rows are made dimensionless first, so J^+ does not depend on the unit of length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linkwright.errors import SingularityError, UsageError, counted, listing, nearest
from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations.base import Formulation, RawSolution, constraint_force
from linkwright.mechanics.formulations.projection import projector
from linkwright.numerics.linalg import RANK_TOLERANCE, factor, pivoted_columns

ELIMINATIONS = ("projector", "partitioned")


@dataclass(frozen=True)
class Nullspace:
    needs_inertia: ClassVar[bool] = False
    handles_redundant: ClassVar[bool] = True
    drops_lost_rows: ClassVar[bool] = True
    elimination: str = "projector"  # or "partitioned"
    tolerance: float = RANK_TOLERANCE
    independent: tuple[str, ...] | None = None  # of "partitioned": joints whose coordinates are independent in every state

    def __post_init__(self) -> None:
        if self.elimination not in ELIMINATIONS:
            raise UsageError(
                f"there is no elimination '{self.elimination}'. Choose one of {listing(ELIMINATIONS)}.",
                name=self.elimination,
                allowed=ELIMINATIONS,
            )
        if self.independent is not None and self.elimination != "partitioned":
            raise UsageError(
                'independent coordinates belong to the partition: Nullspace("partitioned", independent=("A",)).', name="independent"
            )

    def __call__(self, terms: Terms, tau: Any) -> RawSolution:
        c, r = terms.columns, terms.row_scale
        J, k = terms.dimensionless_J(), terms.k / r
        M, f = terms.M * c * c[:, None], (tau - terms.h) * c
        R = self._eliminating(J, terms.coordinates)
        size = max(np.linalg.norm(M, 2), 1e-300)  # inertia and geometry rows of one size
        stacked = np.concatenate([R.T @ M / size, J])
        right = np.concatenate([R.T @ f / size, -k])
        a = factor(stacked, 1e-13 * max(1.0, float(np.linalg.norm(stacked, 2)))).solve(right) * c
        lam = factor(J.T, self.tolerance).solve(constraint_force(terms, a, tau) * c) / r
        return RawSolution(a, lam)

    def matrix(self, terms: Terms) -> np.ndarray:
        R = self._eliminating(terms.J, terms.coordinates)
        return np.concatenate([R.T @ terms.M / np.linalg.norm(terms.M, 2), terms.J])

    def traced(self) -> None:
        return None

    def variants(self) -> Mapping[str, Formulation]:
        return {"": self, "partitioned": replace(self, elimination="partitioned")}

    def _eliminating(self, J: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """R at dimensionless rows J of coordinates with these names."""
        if self.elimination == "projector":
            f = factor(J, self.tolerance)
            return projector(f.Vt, f.rank)
        if self.independent is None:
            return partitioned(J, pivoted_columns(J, self.tolerance), self.tolerance)
        return partitioned(J, dependent_columns(J, self.independent, names, self.tolerance), self.tolerance)


def partitioned(J: np.ndarray, dependent: Sequence[int], tolerance: float = RANK_TOLERANCE) -> np.ndarray:
    """R with columns [1; -J_d^-1 J_i]  [Hoang2023 (20)]."""
    n = J.shape[1]
    free = [i for i in range(n) if i not in dependent]
    R = np.zeros((n, len(free)))
    for column, i in enumerate(free):
        R[i, column] = 1.0
    if len(dependent) and free:
        R[dependent] = -factor(J[:, dependent], tolerance).solve(J[:, free])
    return R


def dependent_columns(J: np.ndarray, independent: Sequence[str], names: Sequence[str], tolerance: float) -> list[int]:
    """Columns of J that a fixed partition leaves; raise an error where the independent coordinates do not determine them."""
    for name in independent:
        if name not in names:
            raise UsageError(
                f"no coordinate belongs to a joint '{name}' of the tree.", nearest(str(name), list(dict.fromkeys(names)), "Joints")
            )
    dependent = [i for i, name in enumerate(names) if name not in independent]
    f, rank = factor(J[:, dependent], tolerance), factor(J, tolerance).rank
    if len(dependent) != rank:
        raise UsageError(
            f"a partition of {counted(len(names), 'velocity')} with {counted(rank, 'independent row')} has {len(names) - rank} independent "
            f"ones; {listing(independent)} make {len(names) - len(dependent)}. Joints of the tree are {listing(dict.fromkeys(names))}."
        )
    if f.rank < rank:
        weakest = factor(J, tolerance).s[rank - 1]
        raise SingularityError(
            f"the partition fails here: {listing(independent)} do not determine the other coordinates, det J_d = 0. The smallest singular "
            f"value of J_d is {f.s[-1]:.1e}, the smallest one of J {weakest:.2g}: the mechanism itself is not singular. Use Nullspace() or "
            "Nullspace('partitioned') without `independent`, which chooses the coordinates again in every state.",
            singular_values=tuple(f.s),
        )
    return dependent
