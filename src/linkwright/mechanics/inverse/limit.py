"""Efforts in a singular passage: the limit along the smooth branch.

Where a row u of J is lost the columns [J' B] no longer carry the motion, although just before and after they do: the
force along u'Jdot stays finite while its multiplier grows without bound. That direction takes the row's place; the efforts
are then exact, and the multipliers of the lost rows are marked as not determined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.errors import SingularityError
from linkwright.mechanics.closing.passage import acceleration_rows
from linkwright.mechanics.inverse.choice import NO_CHOICES, Choices, settled_efforts
from linkwright.mechanics.inverse.methods import Solved
from linkwright.mechanics.inverse.problem import InverseProblem
from linkwright.numerics.linalg import factor


class LimitEfforts(NamedTuple):
    solved: Solved
    loose: np.ndarray  # directions of (lam, u) that are not determined
    notes: tuple[str, ...] = ()  # the weighting of efforts, where it decided something


def passage(p: InverseProblem, given: Choices = NO_CHOICES) -> LimitEfforts | None:
    """The solution in a passage; None where the position is regular."""
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
        raise SingularityError("in this singular position the drives cannot carry the motion: it is a dead center for them.")
    n, nc = len(r), p.terms.nc
    lost = rows.replaced / p.terms.row_scale[:, None]
    every = np.concatenate([r, np.ones(A.shape[1] - n)])  # the forces along u'Jdot have no scale of their own
    chosen = settled_efforts(p, z / every, f.null / every[:, None], given)
    stress = f.null[:n] / r[:, None]
    loose = np.concatenate([np.concatenate([lost, np.zeros((n - nc, rows.passages))]), stress], axis=1)
    return LimitEfforts(Solved(chosen.z[:nc], chosen.z[nc:n], (A.shape,)), loose, chosen.notes)
