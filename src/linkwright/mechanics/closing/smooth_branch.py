"""The smooth branch through a singular position: its normal space, interpolated from both sides.

Where the constraint Jacobian J loses rank the branch of motion stays smooth, and so does the orthogonal projector P onto its
normal space. P is therefore never computed from a nearly singular J: nodes are placed on the branch on both sides, where J has its
generic rank r, and everything is interpolated to the state in the middle (dimensionless; x is the time along the motion):

    gamma(x) = closed(q + x v),   P(x) = V_r V_r',   c(x) = -J^+ b,   e(x) = gamma(x) - (q + x v)

    velocity      Q'v = Q'c                 Q: the r eigenvectors of P(0) with eigenvalue 1
    acceleration  Q'a = Q'(c' - P'v)
    position      q_on = q + Q Q'e(0)

The error of the interpolation is H^8 f8 / 70 in P; round-off leaves nodes off the branch by eps / S and P by g eps / S^2, where g
is the change of the weak singular value s over the way and S = g H its size at a node. H^11 = eps / (500 g) balances both in P',
near 1e-10: H = 0.02 where g is one, and 0.04 where it is 1e-3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwright.mechanics.closing.newton import Bounds, PositionRows, Rule, onto
from linkwright.mechanics.closing.singular_passage import SUSPECT, along
from linkwright.mechanics.constraints.loops import Loops
from linkwright.numerics.linalg import Factored, factor
from linkwright.numerics.tolerances import CONVERGED

REACH = 0.02  # H where g is one: way |v| x between two nodes, in radians or multiples of kappa
LONGEST_REACH = 0.05
REACHES = (1.0, 0.65, 0.42, 1.55)  # of H: tried in turn where a node is singular too, or the branch bends within the reach
NODES = np.array([1, -1, 2, -2, 3, -3, 4, -4])
VALUE = np.repeat(np.array([56.0, -28.0, 8.0, -1.0]) / 70.0, 2)  # f(0) of f(+-H) .. f(+-4H)
VALUE_OF_SIX = np.repeat(np.array([15.0, -6.0, 1.0, 0.0]) / 20.0, 2)
SLOPE = np.repeat(np.array([672.0, -168.0, 32.0, -3.0]) / 840.0, 2) * np.sign(NODES)
CROSSED = 1e-11  # residual of the interpolated position: ten times the error of the interpolation; more, at every H, is a gap
DOUBT = 1e-6  # difference of the two orders above which the branch is not smooth at this scale
WEAK_NODE = 1e-6  # a node with a smaller singular value is itself singular,
WEAK_SHARE = 0.03  # or one with this share of the strongest node's
CONTRACTION = 0.5  # share of the step before that one may have, and of the way to a node that the first may have
VANISHED = 1e-11  # a singular value of round-off: the singular position is here
STILL = 1e-9  # speed below which no motion selects a branch
TANGENT = 1e-3  # share of the velocity that may point off the branch
TANGENT_SPEED = 1e-6  # and its absolute value, for a mechanism that turns back near the singular position


# dimensionless (phi, J, b) at several positions, each at its own time after the present one
Closures = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


class Branch(NamedTuple):
    """The branch at a state."""

    Q: np.ndarray  # (n, r) orthonormal: normal space
    right: np.ndarray  # Q'a = right
    c: np.ndarray  # Q'v = c
    e: np.ndarray  # Q'(q_on - q), dimensionless
    left: np.ndarray  # (rows, r) orthonormal: combinations of rows that are not redundant

    def off(self, v: np.ndarray) -> np.ndarray:
        """Part of a dimensionless velocity that leaves the branch, along Q."""
        return self.Q.T @ v - self.c

    def tangent(self, v: np.ndarray) -> bool:
        """True if a dimensionless velocity points along the branch."""
        off, speed = self.off(v), float(np.sqrt(v @ v))
        return float(np.sqrt(off @ off)) <= TANGENT * speed + TANGENT_SPEED


def accelerations(M: np.ndarray, load: np.ndarray, A: np.ndarray, right: np.ndarray, pushes: np.ndarray | None = None) -> np.ndarray | None:
    """a of M a = load + pushes' nu, A a = right; forces act along the rows A if nothing else is given. None if singular."""
    n, r = len(load), len(A)
    S = np.zeros((n + r, n + r))
    S[:n, :n], S[:n, n:], S[n:, :n] = M, -(A if pushes is None else pushes).T, A
    try:
        return np.linalg.solve(S, np.concatenate([load, right]))[:n]
    except np.linalg.LinAlgError:
        return None


class BranchPassage(NamedTuple):
    """Rows about to be lost: how many, and the reach H at which the branch is interpolated."""

    count: int
    reach: float


def passing(Jdot: Callable[[], np.ndarray], speed: float, f: Factored, rank: int) -> BranchPassage | None:
    """Rows whose singular position is nearer than H / 2 along the motion; None if there are none.

    The way there is s / g with g = |u'Jdot N| / |v|, to first order. Only the `rank` largest singular values can pass zero: the others
    belong to rows that are redundant everywhere.
    """
    if not rank or speed < STILL or f.s[rank - 1] >= SUSPECT:
        return None
    first = int(np.count_nonzero(f.s[:rank] >= SUSPECT))
    change = np.sqrt(np.sum((f.U[:, first:rank].T @ Jdot() @ f.Vt[first:].T) ** 2, axis=1)) / speed
    reach = np.minimum(REACH * np.maximum(change, 1e-9) ** (-1.0 / 11.0), LONGEST_REACH)
    weak = f.s[first:rank]
    near = (weak < VANISHED) | (weak < 0.5 * reach * change)
    return BranchPassage(int(np.count_nonzero(near)), float(np.max(reach[near]))) if near.any() else None


def across(closures: Closures, displace: Callable[[Any, Any], Any], q: np.ndarray, v: np.ndarray, rank: int, reach: float) -> Branch | None:
    """The branch through q along the dimensionless velocity v; `displace` moves a position by a dimensionless step.

    None where no smooth curve of this rank leads through: two links that just miss a change point turn around a bend, and their
    rows hold as they are.
    """
    speed, gap, doubt = float(np.sqrt(v @ v)), np.inf, np.inf
    for H in (share * reach for share in REACHES):
        found = _nodes(closures, displace, q, v, NODES * (H / speed), rank, H)
        if found is None:
            continue
        P, c, e, L = found
        P0 = _sum(VALUE, P)
        before, doubt = doubt, float(np.abs(P0 - _sum(VALUE_OF_SIX, P)).max())
        if doubt > max(0.5 * before, DOUBT):
            return None  # a bend: on a smooth branch it falls with H^6
        if doubt > DOUBT:
            continue
        Q, left = _upper(P0, rank), _upper(_sum(VALUE, L), rank)
        if Q is None or left is None:
            continue
        slope = SLOPE / (H / speed)
        off = Q.T @ (VALUE @ e)
        before, gap = gap, float(np.abs(closures(displace(q, Q @ off)[None], np.zeros(1))[0]).max())
        if gap > 0.25 * before:
            return None  # not an error of the interpolation, which falls with H^8
        if gap > CROSSED:
            continue
        return Branch(Q, Q.T @ (slope @ c - _sum(slope, P) @ v), Q.T @ (VALUE @ c), off, left)
    return None


def _sum(weights: np.ndarray, f: np.ndarray) -> np.ndarray:
    return np.tensordot(weights, f, 1)


def _upper(P: np.ndarray, rank: int) -> np.ndarray | None:
    """Eigenvectors of an interpolated projector with eigenvalue one; None if it is not a projector of that rank."""
    w, V = np.linalg.eigh(P)
    first = len(w) - rank
    if not w[first] > 0.9 or (first and not w[first - 1] < 0.1):
        return None
    return V[:, first:]


def _nodes(
    closures: Closures, displace: Callable[[Any, Any], Any], q: np.ndarray, v: np.ndarray, x: np.ndarray, rank: int, reach: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """(P, c, e, left projector) at the nodes, closed by Newton steps of minimum norm and fixed rank; None at the first that fails."""
    first = reach * np.abs(NODES)
    round_off = 3e-15  # of phi: a Newton step cannot be smaller than this over the smallest singular value
    bounds = Bounds(
        rank, lambda s, before: CONTRACTION * np.minimum(first, before), lambda s: np.maximum(CONVERGED, round_off / s), _strong
    )
    newton_steps = 8
    rule = Rule(newton_steps, bounds=bounds)
    found = onto(lambda at: PositionRows(*closures(at, x)), displace, displace(q, x[:, None] * v), rule)
    f = found.factored
    if f is None or not found.settled:
        return None
    U, Vt, e = f.U[:, :, :rank], f.Vt[:, :rank], found.e - f.solve(found.rows.phi)
    return Vt.swapaxes(1, 2) @ Vt, -f.solve(found.rows.b), e, U @ U.swapaxes(1, 2)


def _strong(s: np.ndarray) -> bool:
    """True if no node is singular itself."""
    return bool(s.min() > max(WEAK_NODE, WEAK_SHARE * s.max()))


def on_loops(loops: Loops, q: Any, v: Any, t: float, near: Mapping[str, Any], rank: int) -> tuple[Branch | None, int]:
    """(branch, number of rows about to be lost) by the float path; no branch where no singular position is near."""
    columns, rows = loops.columns, loops.row_scale
    zero = np.zeros(len(columns))

    def closures(positions: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = [loops.at(p, zero, t + dt, near) for p, dt in zip(positions, x, strict=True)]
        scaled = [loops.dimensionless(c) for c in found]
        return np.array([phi for phi, _ in scaled]), np.array([J for _, J in scaled]), np.array([c.b / rows for c in found])

    q, speeds = np.asarray(q, dtype=float), np.asarray(v, dtype=float) / columns
    f = factor(closures(q[None], np.zeros(1))[1][0])
    near_by = passing(lambda: along(loops, q, speeds * columns, t, near).Jdot, float(np.sqrt(speeds @ speeds)), f, rank)
    if near_by is None:
        return None, 0
    return across(closures, loops.displaced, q, speeds, rank, near_by.reach), near_by.count
