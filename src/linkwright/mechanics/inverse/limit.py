"""Efforts in a singular passage: the limit along the smooth branch.

Where a row u of J is lost the columns [J' B] no longer carry the motion, although just before and after they do: the
force along u'Jdot stays finite while its multiplier grows without bound. That direction takes the row's place; the efforts
are then exact, and the multipliers of the lost rows are marked as not determined.
"""

from __future__ import annotations

import numpy as np

from linkwright.errors import SingularityError
from linkwright.mechanics.closing.passage import acceleration_rows
from linkwright.mechanics.inverse.methods import Solved
from linkwright.mechanics.inverse.problem import InverseProblem
from linkwright.numerics.linalg import factor


def passage(p: InverseProblem) -> tuple[Solved, np.ndarray] | None:
    """(solution, loose directions of (lam, u)) in a passage; None where the position is regular."""
    place = p.place
    if p.terms.nc == 0:
        return None
    rows = acceleration_rows(place.loops, place.closure, place.q, place.v, place.t, place.references)
    if rows.passages == 0 or rows.Jdot is None:
        return None
    c, r = p.scales
    A = np.concatenate([p.matrix, (rows.replaced.T @ rows.Jdot).T], axis=1)
    f = factor(A)
    z = f.solve(p.g * c)
    if np.abs(A @ z - p.g * c).max() > 1e-7 * (1.0 + np.abs(p.g * c).max()):
        raise SingularityError("in this singular position the drives cannot carry the motion: it is a dead centre for them.")
    n = len(r)
    loose = np.zeros((n, rows.passages))
    loose[: p.terms.nc] = rows.replaced / p.terms.row_scale[:, None]
    return Solved(z[: p.terms.nc] / r[: p.terms.nc], z[p.terms.nc : n] / r[p.terms.nc :], (A.shape,)), loose
