"""Singular passages: what takes the place of a constraint row that is about to be lost.

Let u be a left singular vector of the dimensionless J with small singular value s, N a basis of the null space
including the small right vectors, and w = u'(Jdot + dk/dv) N. Differentiating J a + k = 0 once more gives

    u'(Jdot + dk/dv) a + u'(dk/dq . qdot + dk/dt) + u'J j = 0,        and u'J vanishes at the singular point.

So where s |v| < 1e-3 |w| the state is a *passage*: the row u'(J a + k) = 0 is replaced by the one above, and the
acceleration is the limit along the smooth branch. Otherwise, where s < 1e-9, the row is *redundant* and dropped.
Otherwise it is retained. At velocity level the row u'(J v + b) = 0 gives way to u'k(q, v) = 0 in the same manner.
Derivatives along the motion are complex steps of the closure: exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwright.mechanics.constraints.loops import Closure, Loops
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.numerics.linalg import RANK_TOLERANCE, Factored, factor
from linkwright.numerics.tolerances import COMPLEX_STEP

WINDOW = 1e-3  # a passage is closer in time than this (s |v| / |w|, in units of the motion's own time)
SUSPECT = 0.05  # singular values above this are not looked at
VANISHING = 1e-6  # singular values below this are too close to zero to keep their vectors apart
INSENSITIVE = 1e-7  # a row whose rate is below this share of the motion's is not being lost, it is implied


class AccelerationRows(NamedTuple):
    """Acceleration-level rows in dimensionless form, lost ones mended: A (a / columns) = r."""

    A: np.ndarray
    r: np.ndarray
    passages: int  # rows replaced
    redundant: int  # rows dropped
    replaced: np.ndarray  # (rows, passages): the left vectors u of the replaced rows
    at: tuple[int, ...]  # indices of the replaced rows in A
    Jdot: np.ndarray | None = None  # rate of the dimensionless J, where it was needed

    def solve(self) -> np.ndarray:
        return factor(self.A, RANK_TOLERANCE).solve(self.r)


class RowDerivatives(NamedTuple):
    """How the rows change along a motion, dimensionless: dJ/dt, dk/dq . qdot + dk/dt at fixed v, and dJ/dt + dk/dv."""

    Jdot: np.ndarray
    kdot: np.ndarray
    third: np.ndarray  # coefficient of a in the rows differentiated once more


def along(loops: Loops, q: Any, v: Any, t: float, references: Mapping[str, Any]) -> RowDerivatives:
    """By complex steps of the closure.

    k is quadratic in v, so dk/dv is 2 Jdot; for quasi-velocities (quaternions) up to a term J [n, v], which vanishes in
    exactly the rows asked for here. A distance that moves with time has a linear term too: then the directions are stepped
    one by one.
    """
    ahead = loops.at(q + 1j * COMPLEX_STEP * qdot(loops.skel, q, v), v.astype(complex), t + 1j * COMPLEX_STEP, references)
    rows, columns = loops.row_scale, loops.columns
    Jdot, kdot = ahead.J.imag / COMPLEX_STEP * columns / rows[:, None], ahead.k.imag / COMPLEX_STEP / rows
    if not any(getattr(c, "linear_in_v", False) for c in loops.constraints):
        return RowDerivatives(Jdot, kdot, 3.0 * Jdot)
    steps = [loops.at(q, v + 1j * COMPLEX_STEP * columns * n, t, references).k.imag / COMPLEX_STEP / rows for n in np.eye(len(columns))]
    return RowDerivatives(Jdot, kdot, Jdot + np.array(steps).T)


def acceleration_rows(
    loops: Loops, c: Closure, q: Any, v: Any, t: float, references: Mapping[str, Any], generic: int | None = None
) -> AccelerationRows:
    """The rows J a = -k with every lost one replaced or dropped by the rule above."""
    J, k, speed = loops.dimensionless(c)[1], c.k / loops.row_scale, float(np.linalg.norm(v / loops.columns))
    return mended(J, k, speed, lambda: along(loops, q, v, t, references), generic=generic)


def plain(f: Factored, k: np.ndarray, rank: int) -> AccelerationRows:
    """All rows of the generic rank as they are, in the axes of J's singular vectors; the others are redundant."""
    return AccelerationRows(f.Vt[:rank], -(f.U[:, :rank].T @ k) / f.s[:rank], 0, len(k) - rank, np.zeros((len(k), 0)), ())


def mended(
    J: np.ndarray, k: np.ndarray, speed: float, moving: Callable[[], RowDerivatives], f: Factored | None = None, generic: int | None = None
) -> AccelerationRows:
    """The same on dimensionless arrays; `moving()` is asked only where a row is weak, `f` are the factors of J if known.

    Rows beyond the `generic` rank are redundant everywhere, however fast they seem to change: near a passing row u1 with singular
    value s1 the rate of a redundant row u2 along the weak direction is -(u2dot'u1) s1, not zero.
    """
    f = factor(J) if f is None else f
    m = len(k)
    if f.regular(SUSPECT):
        return AccelerationRows(J, -k, 0, 0, np.zeros((m, 0)), ())
    rates = moving() if speed > 0.0 else None
    U, lost, gone = _classify(J, speed, rates, f, m if generic is None else generic)
    A, r = U.T @ J, -(U.T @ k)
    replaced = U[:, lost]
    if rates is not None and lost:
        A[lost], r[lost] = replaced.T @ rates.third, -(replaced.T @ rates.kdot)
    Jdot = rates.Jdot if rates and lost else None
    if not gone:
        return AccelerationRows(A, r, len(lost), 0, replaced, tuple(lost), Jdot)
    keep = [i for i in range(m) if i not in gone]
    return AccelerationRows(A[keep], r[keep], len(lost), len(gone), replaced, tuple(keep.index(i) for i in lost), Jdot)


def _classify(
    J: np.ndarray, speed: float, rates: RowDerivatives | None, f: Factored, generic: int
) -> tuple[np.ndarray, list[int], list[int]]:
    """(left vectors, rows lost in a passage, redundant rows) among the small singular values, which come last.

    Vectors of vanishing singular values come in arbitrary combinations; they are turned so that each has either no
    sensitivity (redundant) or one of its own (passage).
    """
    m = J.shape[0]
    first, vanishing = int(np.sum(f.s >= SUSPECT)), int(np.sum(f.s >= VANISHING))
    N, U = f.Vt[first:].T, f.U
    sensitivity, strength = np.zeros(m - first), np.zeros(m - first)
    strength[: len(f.s) - first] = f.s[first:]
    slope = rates.third @ N if rates is not None and N.shape[1] else None
    if vanishing < m:
        U = U.copy()
        if slope is not None:
            U[:, vanishing:] = U[:, vanishing:] @ np.linalg.svd(U[:, vanishing:].T @ slope)[0]
        strength[vanishing - first :] = _lengths(U[:, vanishing:].T @ J)
    if slope is not None:
        sensitivity = _lengths(U[:, first:].T @ slope)
    lost: list[int] = []
    gone: list[int] = []
    for i, (size, change) in enumerate(zip(strength.tolist(), sensitivity.tolist(), strict=True), start=first):
        if i < generic and change > INSENSITIVE * (1.0 + speed) and size * speed < WINDOW * change:
            lost.append(i)
        elif size < RANK_TOLERANCE:
            gone.append(i)
    return U, lost, gone


def _lengths(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(np.sum(rows * rows, axis=1))


def branch_velocity(loops: Loops, q: Any, guess: Any, t: float, references: Mapping[str, Any], window: float = 1e-3) -> np.ndarray:
    """Velocity with J v + b = 0, following the branch of `guess` where rows of J are (nearly) lost.

    Rows with singular values below the window are replaced by u'k(q, v) = 0, a quadratic condition on v that is
    solved by Newton steps from the guess; degrees of freedom nothing decides keep the guess's part.
    """
    c = loops.at(q, np.zeros(loops.skel.tree.nv), t, references)
    J, b = loops.dimensionless(c)[1], c.b / loops.row_scale

    def at(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        there = along(loops, q, v * loops.columns, t, references)
        return loops.at(q, v * loops.columns, t, references).k / loops.row_scale, there.third - there.Jdot

    v = guess / loops.columns
    return followed(factor(J, window), J @ v + b, v, at, len(b)) * loops.columns


def followed(f: Factored, defect: np.ndarray, v: np.ndarray, at: Callable[[np.ndarray], Any], generic: int) -> np.ndarray:
    """The same on dimensionless arrays: factors of J with the rows that count, J v + b, v; `at(v)` gives k and dk/dv."""
    v = v - f.solve(defect)
    U, N = f.left_null, f.null
    if f.rank >= generic or not N.shape[1]:
        return v
    for _ in range(8):
        k, slope = at(v)
        size = float(np.linalg.norm(v))
        step = N @ factor(U.T @ slope @ N, 1e-6 * (1.0 + size)).solve(-(U.T @ k))
        v = v + step
        if np.linalg.norm(step) < 1e-13 * (1.0 + size):
            break
    return v
