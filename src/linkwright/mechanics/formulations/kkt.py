"""The system approach: one saddle-point system for accelerations and multipliers  [Koul2013 (9)].

    [ M  J' ] [   a  ]   [ tau - h ]
    [ J  0  ] [ -lam ] = [   -k    ]

Needs independent rows; M itself may be singular as long as it is positive on the motions the constraints allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations.base import RawSolution
from linkwright.numerics.linalg import ldl
from linkwright.numerics.scalars import common_type, is_symbolic


@dataclass(frozen=True)
class Kkt:
    needs_inertia = False
    handles_redundant = False

    def __call__(self, terms: Terms, tau: Any) -> RawSolution:
        n, scale = terms.nv, terms.row_scale
        A = saddle(terms, tau)
        right = np.concatenate([tau - terms.h, -terms.k / scale])
        if is_symbolic(A):  # no pivoting: accelerations first, then multipliers, is safe as long as rows are independent
            f = ldl(A, leading=n)
            z = f.solve(right)
            return RawSolution(z[:n], -z[n:] / scale, watch=f.watch)
        z = np.linalg.solve(A, right)
        return RawSolution(z[:n], -z[n:] / scale)


def saddle(terms: Terms, tau: Any) -> np.ndarray:
    """The matrix above, rows and multipliers in comparable units: better pivots."""
    n, m, scale = terms.nv, terms.nc, terms.row_scale
    A = np.zeros((n + m, n + m), dtype=common_type(terms.M, terms.J, np.asarray(tau)))
    A[:n, :n] = terms.M
    A[:n, n:] = terms.J.T / scale
    A[n:, :n] = terms.J / scale[:, None]
    return A
