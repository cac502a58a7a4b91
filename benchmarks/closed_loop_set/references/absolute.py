"""The second way to reference values: accelerations from the file of a case alone, in absolute coordinates and extended precision.

Every body has six velocities, every joint its rows; Newton and Euler with multipliers: M a = f + J' lam, J a + k = 0. Rows that depend on
others get no pivot. Numbers are numpy's longdouble: 64 bits of mantissa on x86, so that rounding is 2000 times finer than in doubles.
The equations of motion that a reference integrates are compared with these at its start and at its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

L = np.longdouble
RANK = 1e-9  # a pivot below this share of the largest belongs to a row that depends on others

Array = np.ndarray


@dataclass(frozen=True)
class Moving:
    """All bodies at an instant: centers, rotations since the start, velocities of both kinds; row -1 is the ground."""

    c: Array
    R: Array
    v: Array
    w: Array


class Absolute:
    """Equations of a case, from its file alone."""

    def __init__(self, raw: Mapping[str, Any]):
        self.raw = raw
        self.names = [b["name"] for b in raw["bodies"]]
        self.n = len(self.names)
        self.mass = _long([b["mass"] for b in raw["bodies"]])
        self.inertia = _long([b["inertia"] for b in raw["bodies"]])
        self.center = np.concatenate([_long([b["center"] for b in raw["bodies"]]), np.zeros((1, 3), L)])
        self.gravity = _long(raw["gravity"])
        self.columns = [6 * i + k for i in range(self.n) for k in ((0, 1, 5) if raw.get("plane") else range(6))]
        self.joints = [self._joint(j) for j in raw["joints"]]

    def index(self, body: str) -> int:
        return -1 if body == "ground" else self.names.index(body)

    def _joint(self, j: Mapping[str, Any]) -> tuple[str, int, int, Array, Array, list[Array], Array]:
        """Return (type, a, b, arms on both, axes on a or free, two directions across the first axis)."""
        a, b, at = self.index(j["body_a"]), self.index(j["body_b"]), _long(j["point"])
        axes = [_long(x) for x in j.get("axes", [j["axis"]] if "axis" in j else [[0, 0, 1]])]
        least = np.eye(3, dtype=L)[int(np.argmin(np.abs(axes[0])))]
        one = np.cross(axes[0], least)
        one = one / np.sqrt(one @ one)
        return j["type"], a, b, at - self.center[a], at - self.center[b], axes, np.array([one, np.cross(axes[0], one)])

    # ---------------------------------------------------------------- state

    def start(self) -> Moving:
        """Return the bodies as the file has them."""
        still = {"angular": [0, 0, 0], "linear": [0, 0, 0]}
        twists = [self.raw["start"]["velocities"].get(name, still) for name in self.names]
        turned = [np.eye(3, dtype=L)] * self.n
        return self.moving(self.center[:-1], turned, [x["linear"] for x in twists], [x["angular"] for x in twists])

    def moving(self, c: Any, R: Any, v: Any, w: Any) -> Moving:
        """Return the bodies, in the order of the file, at centers c, turned by R since the start, with their velocities."""
        zero = np.zeros((1, 3), L)
        c, v, w = (np.concatenate([_long(x).reshape(self.n, 3), zero]) for x in (c, v, w))
        return Moving(c, np.concatenate([_long(R).reshape(self.n, 3, 3), np.eye(3, dtype=L)[None]]), v, w)

    # ---------------------------------------------------------------- equations

    def solved(self, m: Moving, driven: Mapping[str, float] | None = None) -> tuple[Array, Array, list[tuple[str, int]]]:
        """Return accelerations (linear and angular of each body), multipliers, and what each row is: joint and number.

        driven: rotation or travel accelerations of joints, whose multiplier is the effort; torques and forces in joints then do not act.
        """
        J, k, rows = self._rows(m, driven or {})
        f, W = self._forces(m, driven is None), np.zeros((6 * self.n, 6 * self.n), L)
        for i in range(self.n):
            I = m.R[i] @ self.inertia[i] @ m.R[i].T
            W[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3, dtype=L) / self.mass[i]
            inner = slice(6 * i + 5, 6 * i + 6) if self.raw.get("plane") else slice(6 * i + 3, 6 * i + 6)
            W[inner, inner] = 1 / I[2:, 2:] if self.raw.get("plane") else _inverse(I)
            f[6 * i + 3 : 6 * i + 6] -= np.cross(m.w[i], I @ m.w[i])
        off = np.setdiff1d(np.arange(6 * self.n), self.columns)
        J[:, off] = 0
        WJ = W @ J.T
        free = W @ f
        free[off] = 0
        lam = _semidefinite(J @ WJ, -(k + J @ free))
        return free + WJ @ lam, lam, rows

    def _forces(self, m: Moving, joint_forces: bool) -> Array:
        f = np.zeros((self.n + 1, 6), L)
        f[:-1, :3] = self.mass[:, None] * self.gravity
        for force in self.raw.get("forces", []):
            if force["type"] == "spring":
                ends = [(self.index(e["body"]), _long(e["point"])) for e in force["between"]]
                arms = [m.R[i] @ (p - self.center[i]) for i, p in ends]
                places = [m.c[i] + r for (i, _), r in zip(ends, arms, strict=True)]
                speeds = [m.v[i] + np.cross(m.w[i], r) for (i, _), r in zip(ends, arms, strict=True)]
                d = places[1] - places[0]
                length = np.sqrt(d @ d)
                pull = (
                    L(force["stiffness"]) * (length - L(force["free_length"]))
                    + L(force["damping"]) * (d @ (speeds[1] - speeds[0])) / length
                )
                for (i, _), r, sign in zip(ends, arms, (1, -1), strict=True):
                    f[i, :3] += sign * pull * d / length
                    f[i, 3:] += np.cross(r, sign * pull * d / length)
            elif joint_forces or force["type"] == "damping":
                number = [j["name"] for j in self.raw["joints"]].index(force["joint"])
                kind, a, b, _, rb, axes, _ = self.joints[number]
                turns = force["type"] == "torque" or (force["type"] == "damping" and kind != "prismatic")
                axis = m.R[a] @ axes[0] * L(force["value"])
                if force["type"] == "damping":
                    r = m.R[b] @ rb
                    slides = m.v[b] + np.cross(m.w[b], r) - m.v[a] - np.cross(m.w[a], m.c[b] + r - m.c[a])
                    axis = -axis * (m.R[a] @ axes[0] @ (m.w[b] - m.w[a] if turns else slides))
                if turns:
                    f[b, 3:] += axis
                    f[a, 3:] -= axis
                else:
                    f[b] += np.concatenate([axis, np.cross(m.R[b] @ rb, axis)])
                    f[a] -= np.concatenate([axis, np.cross(m.c[b] + m.R[b] @ rb - m.c[a], axis)])
        return f[:-1].ravel()

    def _rows(self, m: Moving, driven: Mapping[str, float]) -> tuple[Array, Array, list[tuple[str, int]]]:
        J: list[Array] = []
        k: list[Any] = []
        names: list[tuple[str, int]] = []
        for raw, (kind, a, b, ra, rb, axes, across) in zip(self.raw["joints"], self.joints, strict=True):
            own = _Rows(m, a, b, m.R[a] @ ra, m.R[b] @ rb, self.n)
            turned = [m.R[a] @ n for n in across]
            if kind in ("revolute", "universal", "spherical", "fixed"):
                own.same_point()
            else:
                for n in turned:
                    own.beside(n)
            if kind in ("revolute", "cylindrical"):
                for n in turned:
                    own.square(n, m.R[b] @ axes[0])
            elif kind == "universal":
                own.square(m.R[a] @ axes[0], m.R[b] @ axes[1])
            elif kind in ("prismatic", "fixed"):
                own.same_turn()
            if raw["name"] in driven:
                own.driven(m.R[a] @ axes[0], L(driven[raw["name"]]), kind != "prismatic")
            J, k = J + own.J, k + own.k
            names += [(raw["name"], i) for i in range(len(own.k))]
        return np.array(J), np.array(k), names

    # ---------------------------------------------------------------- results

    def acceleration(self, m: Moving, joint: str, driven: Mapping[str, float] | None = None) -> float:
        """Return the rotation acceleration (of a slide: the travel acceleration) of a joint between ground and a body."""
        number = [j["name"] for j in self.raw["joints"]].index(joint)
        kind, a, b, _, rb, axes, _ = self.joints[number]
        if a != -1:
            raise ValueError(f"joint '{joint}' is not on the ground")
        own = self.solved(m, driven)[0].reshape(self.n, 6)[b]
        turns = kind in ("revolute", "cylindrical")
        r = m.R[b] @ rb
        return axes[0] @ (own[3:] if turns else own[:3] + np.cross(own[3:], r) + _circling(m.w[b], r))

    def effort(self, m: Moving, driven: Mapping[str, float], joint: str) -> float:
        """Return the effort of a driven joint."""
        _, lam, rows = self.solved(m, driven)
        return lam[max(i for i, (name, _) in enumerate(rows) if name == joint)]

    def force(self, m: Moving, joint: str) -> Array:
        """Return the force on body_b in a joint that holds a point."""
        _, lam, rows = self.solved(m)
        first = next(i for i, (name, _) in enumerate(rows) if name == joint)
        return lam[first : first + 3]


class _Rows:
    """Rows of one joint: J a + k = 0."""

    def __init__(self, m: Moving, a: int, b: int, ra: Array, rb: Array, n: int):
        self.m, self.a, self.b, self.ra, self.rb, self.n = m, a, b, ra, rb, n
        self.J: list[Array] = []
        self.k: list[Any] = []

    def _add(self, la: Array, ta: Array, lb: Array, tb: Array, k: Any) -> None:
        row = np.zeros((self.n + 1, 6), L)
        row[self.a] += np.concatenate([la, ta])
        row[self.b] += np.concatenate([lb, tb])
        self.J.append(row[:-1].ravel())
        self.k.append(k)

    def same_point(self) -> None:
        m, a, b = self.m, self.a, self.b
        turn = _circling(m.w[b], self.rb) - _circling(m.w[a], self.ra)
        for e, x in zip(np.eye(3, dtype=L), turn, strict=True):
            self._add(-e, -np.cross(self.ra, e), e, np.cross(self.rb, e), x)

    def beside(self, n: Array) -> None:
        """Keep the point of b on the line through that of a: n d = 0, n fixed on a."""
        m, a, b = self.m, self.a, self.b
        d = m.c[b] + self.rb - m.c[a]  # from the center of a: n d is constant as well
        u = m.v[b] + np.cross(m.w[b], self.rb) - m.v[a]
        k = _circling(m.w[a], n) @ d + 2 * np.cross(m.w[a], n) @ u + n @ _circling(m.w[b], self.rb)
        self._add(-n, np.cross(n, d), n, np.cross(self.rb, n), k)

    def square(self, n: Array, u: Array) -> None:
        """Hold a direction n of a and a direction u of b at their angle."""
        wa, wb = self.m.w[self.a], self.m.w[self.b]
        k = _circling(wa, n) @ u + 2 * np.cross(wa, n) @ np.cross(wb, u) + n @ _circling(wb, u)
        zero = np.zeros(3, L)
        self._add(zero, np.cross(n, u), zero, np.cross(u, n), k)

    def same_turn(self) -> None:
        zero = np.zeros(3, L)
        for e in np.eye(3, dtype=L):
            self._add(zero, -e, zero, e, L(0))

    def driven(self, axis: Array, value: Any, turns: bool) -> None:
        """Give the joint an acceleration. The axis turns with a: its rate adds nothing along itself for a hinge."""
        m, a, b, zero = self.m, self.a, self.b, np.zeros(3, L)
        if turns:
            self._add(zero, -axis, zero, axis, np.cross(m.w[a], axis) @ (m.w[b] - m.w[a]) - value)
            return
        self.beside(axis)
        self.k[-1] -= value


def _long(x: Any) -> Array:
    """Return an array of longdoubles from nested lists of floats or of mpmath's numbers, which are taken to their last digit."""
    if isinstance(x, np.ndarray):
        return x.astype(L)
    if isinstance(x, Sequence):
        return np.array([_long(item) for item in x], L)
    return np.array(L(mp.nstr(x, 25)) if isinstance(x, mp.mpf) else L(float(x)))


def _circling(w: Array, r: Array) -> Array:
    return np.cross(w, np.cross(w, r))


def _inverse(I: Array) -> Array:
    a, b, c = I
    return np.array([np.cross(b, c), np.cross(c, a), np.cross(a, b)]).T / (a @ np.cross(b, c))


def _semidefinite(S: Array, r: Array) -> Array:
    """Solve S x = r, S symmetric without negative eigenvalues; entries of dependent rows are zero."""
    n = len(r)
    A, b, free = S.copy(), r.copy(), np.ones(n, bool)
    order = []
    largest = float(np.max(np.diag(A)))
    for _ in range(n):
        i = int(np.argmax(np.where(free, np.diag(A), -1)))
        if A[i, i] <= RANK * largest:
            break
        order.append(i)
        free[i] = False
        factor = np.where(free, A[:, i] / A[i, i], 0)
        A -= factor[:, None] * A[i][None]
        b -= factor * b[i]
    x = np.zeros(n, L)
    for i in reversed(order):
        x[i] = (b[i] - A[i] @ x + A[i, i] * x[i]) / A[i, i]
    return x
