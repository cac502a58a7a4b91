"""The system approach: one saddle-point system for accelerations and multipliers  [Koul2013 (9)].

    [ M  J' ] [   a  ]   [ tau - h ]
    [ J  0  ] [ -lam ] = [   -k    ]

Needs independent rows; M itself may be singular as long as it is positive on the motions the constraints allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations.base import Formulation, RawSolution
from linkwright.numerics.linalg import ldl
from linkwright.numerics.scalars import common_type, is_symbolic


@dataclass(frozen=True)
class Kkt:
    needs_inertia: ClassVar[bool] = False
    handles_redundant: ClassVar[bool] = False
    drops_lost_rows: ClassVar[bool] = False
    pivoting: bool = True  # off: eliminated in the order of the unknowns, as traced code is

    def __call__(self, terms: Terms, tau: Any) -> RawSolution:
        n, scale = terms.nv, terms.row_scale
        A = saddle(terms, tau)
        right = np.concatenate([tau - terms.h, -terms.k / scale])
        if is_symbolic(A) or not self.pivoting:  # accelerations first, then multipliers, is safe as long as rows are independent
            f = ldl(A, leading=n)
            z = f.solve(right)
            return RawSolution(z[:n], -z[n:] / scale, watch=f.watch)
        z = np.linalg.solve(A, right)
        return RawSolution(z[:n], -z[n:] / scale)

    def matrix(self, terms: Terms) -> np.ndarray:
        J = terms.J
        return np.block([[terms.M / np.linalg.norm(terms.M, 2), J.T], [J, np.zeros((len(J), len(J)))]])

    def traced(self) -> Formulation:
        return Kkt(pivoting=False)

    def variants(self) -> Mapping[str, Formulation]:
        return {"": self}


def saddle(terms: Terms, tau: Any) -> np.ndarray:
    """The matrix above, rows and multipliers in comparable units: better pivots."""
    n, m, scale = terms.nv, terms.nc, terms.row_scale
    A = np.zeros((n + m, n + m), dtype=common_type(terms.M, terms.J, np.asarray(tau)))
    A[:n, :n] = terms.M
    A[:n, n:] = terms.J.T / scale
    A[n:, :n] = terms.J / scale[:, None]
    return A
