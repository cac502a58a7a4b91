"""Singular passages: what takes the place of a constraint row that is about to be lost.

Let u be a left singular vector of the dimensionless J with small singular value s, N a basis of the null space
including the small right vectors, and w = u'(Jdot + dk/dv) N. Differentiating J a + k = 0 once more gives

    u'(Jdot + dk/dv) a + u'(dk/dq . qdot + dk/dt) + u'J j = 0,        and u'J vanishes at the singular point.

So where s |v| < 1e-3 |w| the state is a *passage*: the row u'(J a + k) = 0 is replaced by the one above, and the
acceleration is the limit along the smooth branch. Otherwise, where s < 1e-9, the row is *redundant* and dropped.
Otherwise it is kept. At velocity level the row u'(J v + b) = 0 gives way to u'k(q, v) = 0 in the same manner.
Derivatives along the motion are complex steps of the closure: exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwright.closure import Closure
from linkwright.kinematics import qdot
from linkwright.linalg import RANK_TOLERANCE, Factored, factor
from linkwright.loops import Loops

WINDOW = 1e-3  # a passage is closer in time than this (s |v| / |w|, in units of the motion's own time)
SUSPECT = 0.05  # singular values above this are not looked at
VANISHING = 1e-6  # singular values below this are too close to zero to keep their vectors apart
INSENSITIVE = 1e-7  # a row whose rate is below this share of the motion's is not being lost, it is implied
STEP = 1e-30


class Rows(NamedTuple):
    """Acceleration-level rows in dimensionless form, lost ones mended: A (a / columns) = r."""

    A: np.ndarray
    r: np.ndarray
    s: np.ndarray  # singular values of the dimensionless J
    passages: int  # rows replaced
    redundant: int  # rows dropped
    replaced: np.ndarray  # (rows, passages): the left vectors u of the replaced rows
    at: tuple[int, ...]  # where the replaced rows stand in A
    Jdot: np.ndarray | None = None  # rate of the dimensionless J, where it was needed

    def solve(self) -> np.ndarray:
        return factor(self.A, RANK_TOLERANCE).solve(self.r)


class _Rates(NamedTuple):
    """The closure along a motion, dimensionless: k, dJ/dt, and dk/dq . qdot + dk/dt at fixed v."""

    k: np.ndarray
    Jdot: np.ndarray
    kdot: np.ndarray


def _rates(loops: Loops, q: Any, v: Any, t: float, near: Mapping[str, Any]) -> _Rates:
    ahead = loops.at(q + 1j * STEP * qdot(loops.skel, q, v), v.astype(complex), t + 1j * STEP, near)
    rows = loops.row_scale
    return _Rates(ahead.k.real / rows, ahead.J.imag / STEP * loops.columns / rows[:, None], ahead.k.imag / STEP / rows)


def _dk_dv(loops: Loops, q: Any, v: Any, t: float, near: Mapping[str, Any], rates: _Rates, N: np.ndarray) -> np.ndarray:
    """(rows, columns of N): derivative of k in the directions N of the dimensionless velocity.

    k is quadratic in v, so this is 2 Jdot N; for quasi-velocities (quaternions) up to a term J [n, v], which
    vanishes in exactly the rows asked for here. A distance that moves with time has a linear term too: then
    the directions are stepped one by one.
    """
    if not any(getattr(c, "linear_in_v", False) for c in loops.constraints):
        return 2.0 * rates.Jdot @ N
    out = [loops.at(q, v + 1j * STEP * loops.columns * n, t, near).k.imag / STEP / loops.row_scale for n in N.T]
    return np.array(out).T if out else np.zeros((len(loops.row_scale), 0))


def acceleration_rows(loops: Loops, c: Closure, q: Any, v: Any, t: float, near: Mapping[str, Any]) -> Rows:
    """The rows J a = -k with every lost one replaced or dropped by the rule above."""
    J = loops.dimensionless(c)[1]
    k = c.k / loops.row_scale
    f = factor(J)
    s = np.zeros(len(k))
    s[: len(f.s)] = f.s
    small = np.flatnonzero(s < SUSPECT)
    if len(small) == 0:
        return Rows(J, -k, f.s, 0, 0, np.zeros((len(k), 0)), ())
    U, lost, gone, rates = _classify(loops, q, v, t, near, f, s, small)
    A, r = U.T @ J, -(U.T @ k)
    if rates is not None:
        third = rates.Jdot + _dk_dv(loops, q, v, t, near, rates, np.eye(J.shape[1]))
        for i in lost:
            A[i], r[i] = U[:, i] @ third, -(U[:, i] @ rates.kdot)
    keep = [i for i in range(len(s)) if i not in gone]
    at = tuple(keep.index(i) for i in lost)
    return Rows(A[keep], r[keep], f.s, len(lost), len(gone), U[:, lost], at, rates.Jdot if rates and lost else None)


def _classify(
    loops: Loops, q: Any, v: Any, t: float, near: Mapping[str, Any], f: Factored, s: np.ndarray, small: np.ndarray
) -> tuple[np.ndarray, list[int], list[int], _Rates | None]:
    """(left vectors, rows lost in a passage, redundant rows, rates) among the small singular values.

    Vectors of vanishing singular values come in arbitrary combinations; they are turned so that each has either no
    sensitivity (redundant) or one of its own (passage).
    """
    speed = float(np.linalg.norm(v / loops.columns))
    columns = [j for j in range(f.Vt.shape[0]) if j >= len(f.s) or s[j] < SUSPECT]
    N, U = f.Vt[columns].T, f.U.copy()
    sensitivity = np.zeros(len(s))
    rates = None
    if speed > 0.0 and N.shape[1]:
        rates = _rates(loops, q, v, t, near)
        slope = rates.Jdot @ N + _dk_dv(loops, q, v, t, near, rates, N)
        vanishing = [int(i) for i in small if s[i] < VANISHING]
        if vanishing:
            U[:, vanishing] = U[:, vanishing] @ np.linalg.svd(U[:, vanishing].T @ slope)[0]
        sensitivity[small] = np.linalg.norm(U[:, small].T @ slope, axis=1)
    lost: list[int] = []
    gone: list[int] = []
    for i in (int(i) for i in small):
        strength = s[i] if s[i] >= VANISHING else float(np.linalg.norm(U[:, i] @ (f.U * s @ _square(f, len(s)))))
        if sensitivity[i] > INSENSITIVE * (1.0 + speed) and strength * speed < WINDOW * sensitivity[i]:
            lost.append(i)
        elif strength < RANK_TOLERANCE:
            gone.append(i)
    return U, lost, gone, rates


def _square(f: Factored, rows: int) -> np.ndarray:
    """V' cut or padded to the number of rows, so that U s V' is J."""
    out = np.zeros((rows, f.Vt.shape[1]))
    n = min(rows, f.Vt.shape[0])
    out[:n] = f.Vt[:n]
    return out


def branch_velocity(loops: Loops, q: Any, guess: Any, t: float, near: Mapping[str, Any], window: float = 1e-3) -> np.ndarray:
    """Velocity with J v + b = 0, following the branch of `guess` where rows of J are (nearly) lost.

    Rows with singular values below the window are replaced by u'k(q, v) = 0, a quadratic condition on v that is
    solved by Newton steps from the guess; freedoms nothing decides keep the guess's part.
    """
    c = loops.at(q, np.zeros(loops.skel.tree.nv), t, near)
    J, b = loops.dimensionless(c)[1], c.b / loops.row_scale
    f = factor(J, window)
    v = guess / loops.columns
    v = v - f.solve(J @ v + b)
    U, N = f.left_null, f.null
    if not N.shape[1] or not U.shape[1]:
        return v * loops.columns
    for _ in range(8):
        rates = _rates(loops, q, v * loops.columns, t, near)
        slope = U.T @ _dk_dv(loops, q, v * loops.columns, t, near, rates, N)
        step = N @ factor(slope, 1e-6 * (1.0 + float(np.linalg.norm(v)))).solve(-(U.T @ rates.k))
        v = v + step
        if np.linalg.norm(step) < 1e-13 * (1.0 + np.linalg.norm(v)):
            break
    return v * loops.columns
