"""The singular position next to a state, to round-off, and the self-stress that the lost rank carries there.

A walk stops shortly before a dead center and a located passage has an error of its own, but geometry is only read from a position that
is exact. Rows of constraints of which m - r are redundant everywhere lose rank where they have m - r + 1 left null vectors, the
columns of mu, for the velocities that are free:

    phi(t, q) = 0        J_free' mu = 0        mu_0' mu = 1

Newton's method with steps of minimum norm solves this for q, mu and, where the constraints follow laws of time, t; mu_0 are the weakest
left singular vectors of the state. The derivative of J' mu is taken by central differences: the residuals are exact, so its error of 1e-10
only slows the convergence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.numerics.linalg import factor, pivoted_columns
from linkwright.numerics.tolerances import CLOSED as CLOSED
from linkwright.numerics.tolerances import RANK

REACH = 0.3  # dimensionless: farther off lies another position, not the one that was met
DIFFERENCE = 1e-5  # dimensionless: the step of central differences, with an error of its square
UNDERFLOW = 1e-300


class SelfStress(NamedTuple):
    """A singular position, and the multipliers of all rows that balance each other there."""

    at: Instant  # with the loops whose rows the multipliers belong to
    multipliers: np.ndarray  # (number, rows), SI


class LostRank(NamedTuple):
    """Whose loss of rank is meant: that of the rows of the loops in the columns of the velocities that are not held."""

    loops: Loops
    held: tuple[int, ...] = ()  # velocities that do not count, such as those of drives that hold
    closed: int | None = None  # rows that are satisfied as well, the first ones; None: all, at a time t that is free

    @property
    def free(self) -> np.ndarray:
        return np.setdiff1d(np.arange(self.loops.skel.tree.nv), np.asarray(self.held, dtype=int))

    def evaluated(self, q: np.ndarray, t: float, references: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(phi, J, rate of phi with time), dimensionless."""
        c = self.loops.at(q, np.zeros(self.loops.skel.tree.nv), t, references)
        phi, J = self.loops.dimensionless(c)
        return phi, np.asarray(J), c.b / self.loops.row_scale

    def spare(self, x: Instant) -> int:
        """How many left null vectors there are at a position."""
        return factor(self.evaluated(x.q, float(x.t), x.references)[1][:, self.free], RANK).left_null.shape[1]


def singular_position(lost: LostRank, near: Instant, elsewhere: Instant, *, reach: float = REACH) -> Instant | None:
    """The position at most `reach` from `near` where rank is lost; None if there is none. `elsewhere`: a position without loss of rank."""
    loops, free = lost.loops, lost.free
    nv, rows = loops.skel.tree.nv, len(loops.row_scale)
    most = 30  # velocities: of larger mechanisms the differences take seconds
    counted = rows - lost.spare(elsewhere) if 0 < nv <= most else 0
    if not counted:
        return None
    closed, k = rows if lost.closed is None else lost.closed, rows - counted + 1
    q, t, moved = near.q, float(near.t), np.zeros(nv)
    phi, J, rate = lost.evaluated(q, t, near.references)
    first = factor(J[:, free], RANK).U[:, counted - 1 :]
    mu = first.copy()
    clock = max(float(np.abs(rate[:closed]).max(initial=0.0)), UNDERFLOW)  # rows per time
    rounds = 12  # of Newton; 3 to 5 do
    flat = 1e-7  # share of the largest singular value of Newton's matrix below which a direction is left alone
    for _ in range(rounds):
        left = np.concatenate([phi[:closed], (J[:, free].T @ mu).T.ravel(), (first.T @ mu - np.eye(k)).T.ravel()])
        if np.abs(left).max() < CLOSED:
            return Instant(loops.skel, q, np.zeros(nv), t, near.references, loops=loops)
        N = np.zeros((len(left), nv + 1 + k * rows))
        N[:closed, :nv], N[:closed, nv] = J[:closed], rate[:closed] / clock
        N[closed : closed + k * len(free), :nv] = _bent(lost, q, t, near, mu)
        N[closed : closed + k * len(free), nv + 1 :] = np.kron(np.eye(k), J[:, free].T)
        N[closed + k * len(free) :, nv + 1 :] = np.kron(np.eye(k), first.T)
        d = -np.linalg.lstsq(N, left, rcond=flat)[0]
        moved, mu, t = moved + d[:nv], mu + d[nv + 1 :].reshape(k, rows).T, t + d[nv] / clock
        if not np.isfinite(d).all() or np.linalg.norm(moved) > reach:
            return None
        q = loops.displaced(q, d[:nv])
        phi, J, rate = lost.evaluated(q, t, near.references)
    return None


def _bent(lost: LostRank, q: np.ndarray, t: float, near: Instant, mu: np.ndarray) -> np.ndarray:
    """(vectors x free velocities, nv): derivative of J_free' mu, one vector after the other, by dimensionless steps of q."""
    columns = []
    for step in DIFFERENCE * np.eye(lost.loops.skel.tree.nv):
        ahead, back = (lost.evaluated(lost.loops.displaced(q, s), t, near.references)[1] for s in (step, -step))
        columns.append(((ahead - back)[:, lost.free].T @ mu / (2.0 * DIFFERENCE)).T.ravel())
    return np.array(columns).T


def self_stresses(lost: LostRank, at: Instant) -> SelfStress | None:
    """Multipliers that balance each other at a position but for the held velocities; None where there are none.

    Several are chosen such that each has one of the strongest rows to itself: those of parts that have nothing to do with each other
    come apart.
    """
    J = lost.evaluated(at.q, float(at.t), at.references)[1][:, lost.free]
    U = factor(J, RANK).left_null if len(J) else np.zeros((0, 0))
    if not U.shape[1]:
        return None
    strongest = pivoted_columns(U.T)[: U.shape[1]]
    place = Instant(at.skel, at.q, np.zeros_like(at.v), at.t, at.references, loops=lost.loops)
    return SelfStress(place, np.linalg.solve(U[strongest].T, U.T) / lost.loops.row_scale)
