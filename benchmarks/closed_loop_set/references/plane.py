"""Planar mechanisms by all Newton-Euler equations at once, in mpmath: coordinates are places of the centers and angles of all bodies.

A pin holds two points together, p_b - p_a = 0, and its multiplier is the force on body b. A slide holds a body's height and angle. M is
diagonal:

    J M^-1 J^T lam = -(J M^-1 f + k),      a = M^-1 (f + J^T lam),

and where the motion is known, J^T lam + B tau = M a - f. Lagrange's equations in the drives' angles, with derivatives of the inertia and
the potential by differences, are the second way: they use neither k nor lam.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mpmath import expj, lu_solve, matrix, mp, mpc, mpf

GROUND = "ground"
STEP = mpf(10) ** -20
FASTEST = 1000  # m/s and rad/s, which no mechanism of the set reaches


@dataclass(frozen=True)
class Link:
    """A body: mass, moment of inertia about its center, and points of its own frame, complex; `center` is one of them."""

    name: str
    mass: Any
    inertia: Any
    points: Mapping[str, Any]


@dataclass(frozen=True)
class Pin:
    """A hinge at a point that has the same name in both bodies; ground points are in `Plane.ground`."""

    name: str
    a: str
    b: str
    point: str


@dataclass(frozen=True)
class Plane:
    """A planar mechanism. slides: bodies that move along x without turning. drives: bodies on ground pins whose angles are given."""

    links: tuple[Link, ...]
    pins: tuple[Pin, ...]
    ground: Mapping[str, Any]
    gravity: Any
    drives: tuple[str, ...]
    slides: tuple[str, ...] = ()
    torques: Mapping[str, Any] = field(default_factory=dict)  # on bodies from the ground, of the free motion
    damping: Mapping[str, Any] = field(default_factory=dict)  # torque from the ground over minus the speed

    def index(self, name: str) -> int:
        return [link.name for link in self.links].index(name)

    def arm(self, x: Sequence[Any], name: str, point: str) -> Any:
        """Return the vector from a body's center to one of its points."""
        k = self.index(name)
        link = self.links[k]
        return (link.points[point] - link.points["center"]) * expj(x[3 * k + 2])

    def at(self, x: Sequence[Any], name: str, point: str) -> Any:
        if name == GROUND:
            return self.ground[point]
        k = 3 * self.index(name)
        return mpc(x[k], x[k + 1]) + self.arm(x, name, point)

    # ---------------------------------------------------------------- rows

    def gaps(self, x: Sequence[Any]) -> list[Any]:
        out = []
        for pin in self.pins:
            d = self.at(x, pin.b, pin.point) - self.at(x, pin.a, pin.point)
            out += [d.real, d.imag]
        for name in self.slides:
            k = 3 * self.index(name)
            out += [x[k + 1], x[k + 2]]
        return out

    def rows(self, x: Sequence[Any], v: Sequence[Any]) -> tuple[list[dict[int, Any]], list[Any]]:
        """Return the rows of J as {column: entry} and k of J a + k = 0."""
        rows: list[dict[int, Any]] = []
        bias = []
        for pin in self.pins:
            one: dict[int, Any] = {}
            two: dict[int, Any] = {}
            k = mpc(0)
            for name, sign in ((pin.a, -1), (pin.b, 1)):
                if name == GROUND:
                    continue
                r, c = self.arm(x, name, pin.point), 3 * self.index(name)
                one |= {c: mpf(sign), c + 2: -sign * r.imag}
                two |= {c + 1: mpf(sign), c + 2: sign * r.real}
                k -= sign * v[c + 2] ** 2 * r
            rows += [one, two]
            bias += [k.real, k.imag]
        for name in self.slides:
            c = 3 * self.index(name)
            rows += [{c + 1: mpf(1)}, {c + 2: mpf(1)}]
            bias += [mpf(0), mpf(0)]
        return rows, bias

    def driven(self) -> list[dict[int, Any]]:
        return [{3 * self.index(name) + 2: mpf(1)} for name in self.drives]

    # ---------------------------------------------------------------- kinematics

    def assembled(self, angles: Sequence[Any], guess: Sequence[Any]) -> list[Any]:
        """Return the closed position with the drives at these angles, by Newton's method."""
        x = [mpf(g) for g in guess]
        for name, angle in zip(self.drives, angles, strict=True):  # the same turn as the given angle
            c = 3 * self.index(name) + 2
            x[c] += 2 * mp.pi * mp.nint((angle - x[c]) / (2 * mp.pi))
        still = [mpf(0)] * len(x)
        for _ in range(60):
            rows, _ = self.rows(x, still)
            F = [*self.gaps(x), *(x[3 * self.index(n) + 2] - u for n, u in zip(self.drives, angles, strict=True))]
            step = lu_solve(_dense([*rows, *self.driven()], len(x)), matrix(F))
            x = [a - b for a, b in zip(x, step, strict=True)]
            if max(abs(s) for s in step) < mpf(10) ** (6 - mp.dps):
                return x
        raise ArithmeticError("the loops do not close from this guess")

    def speeds(self, x: Sequence[Any], rates: Sequence[Any]) -> list[Any]:
        rows, _ = self.rows(x, [mpf(0)] * len(x))
        return list(lu_solve(_dense([*rows, *self.driven()], len(x)), matrix([mpf(0)] * len(rows) + list(rates))))

    def accelerations_of(self, x: Sequence[Any], v: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """Return all accelerations that belong to those of the drives."""
        rows, k = self.rows(x, v)
        return list(lu_solve(_dense([*rows, *self.driven()], len(x)), matrix([-b for b in k] + list(given))))

    # ---------------------------------------------------------------- dynamics

    def masses(self) -> list[Any]:
        return [m for link in self.links for m in (link.mass, link.mass, link.inertia)]

    def applied(self, v: Sequence[Any]) -> list[Any]:
        out = []
        for k, link in enumerate(self.links):
            turning = self.torques.get(link.name, mpf(0)) - self.damping.get(link.name, mpf(0)) * v[3 * k + 2]
            out += [mpf(0), -link.mass * self.gravity, turning]
        return out

    def forward(self, x: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return accelerations and multipliers of the free motion."""
        rows, k = self.rows(x, v)
        M, f = self.masses(), self.applied(v)
        right = [-(sum(e * f[c] / M[c] for c, e in row.items()) + b) for row, b in zip(rows, k, strict=True)]
        n = len(rows)
        S = [[mpf(0)] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                S[i][j] = sum((e * rows[j][c] / M[c] for c, e in rows[i].items() if c in rows[j]), mpf(0))
        lam = _solved(S, right)
        a = [fc / m for fc, m in zip(f, M, strict=True)]
        for row, force in zip(rows, lam, strict=True):
            for c, e in row.items():
                a[c] += e * force / M[c]
        return a, lam

    def inverse(self, x: Sequence[Any], v: Sequence[Any], a: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return multipliers and drive torques for a known motion; torques of the free motion do not act."""
        rows, _ = self.rows(x, v)
        n = len(x)
        right = [m * acc + (m * self.gravity if c % 3 == 1 else 0) for c, (m, acc) in enumerate(zip(self.masses(), a, strict=True))]
        solution = lu_solve(_dense([*rows, *self.driven()], n).T, matrix(right))
        return list(solution[: len(rows)]), list(solution[len(rows) :])

    def energy(self, x: Sequence[Any], v: Sequence[Any]) -> Any:
        """Return kinetic energy plus potential of gravity, zero at y = 0."""
        kinetic = sum(m * s * s for m, s in zip(self.masses(), v, strict=True)) / 2
        return kinetic + self.potential(x)

    def potential(self, x: Sequence[Any]) -> Any:
        return sum(link.mass * self.gravity * x[3 * k + 1] for k, link in enumerate(self.links))

    def reduced(self, x: Sequence[Any]) -> Any:
        """Return the inertia matrix in the drives' angles."""
        n, M = len(self.drives), self.masses()
        unit = [self.speeds(x, [mpf(int(i == k)) for k in range(n)]) for i in range(n)]
        return matrix([[sum(m * p * q for m, p, q in zip(M, unit[i], unit[j], strict=True)) for j in range(n)] for i in range(n)])

    def lagrange(self, angles: Sequence[Any], rates: Sequence[Any], guess: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return M and h of M u'' + h = tau by differences of M and of the potential: h = M' u' - d(u' M u')/du / 2 + dV/du."""
        n = len(angles)
        here = self.assembled(angles, guess)
        slopes = []
        for k in range(n):
            ends = []
            for sign in (1, -1):
                moved = self.assembled([u + (sign * STEP if i == k else 0) for i, u in enumerate(angles)], here)
                ends.append((self.reduced(moved), self.potential(moved)))
            slopes.append(((ends[0][0] - ends[1][0]) / (2 * STEP), (ends[0][1] - ends[1][1]) / (2 * STEP)))
        h = []
        for i in range(n):
            total = slopes[i][1]
            for k in range(n):
                for j in range(n):
                    total += (slopes[k][0][i, j] * rates[k] - slopes[i][0][k, j] * rates[k] / 2) * rates[j]
            h.append(total)
        return self.reduced(here), h


def _dense(rows: Sequence[Mapping[int, Any]], n: int) -> Any:
    out = matrix(len(rows), n)
    for i, row in enumerate(rows):
        for c, e in row.items():
            out[i, c] = e
    return out


def _solved(S: list[list[Any]], right: Sequence[Any]) -> list[Any]:
    """Return z of S z = right for a positive matrix of which the lower half is given, by S = L D L^T."""
    L: list[list[Any]] = []
    D: list[Any] = []
    y: list[Any] = []
    for i, row in enumerate(S):
        scaled: list[Any] = []  # L D of this row
        for j in range(i):
            scaled.append(row[j] - sum((g * e for g, e in zip(scaled, L[j], strict=False) if g and e), mpf(0)))
        L.append([g / d for g, d in zip(scaled, D, strict=True)])
        D.append(row[i] - sum((g * e for g, e in zip(scaled, L[i], strict=True) if g), mpf(0)))
        y.append(right[i] - sum((e * z for e, z in zip(L[i], y, strict=True) if e), mpf(0)))
    z = [a / d for a, d in zip(y, D, strict=True)]
    for i in reversed(range(len(z))):
        for j, e in enumerate(L[i]):
            z[j] -= e * z[i]
    return z


def moved(
    forward: Callable[[list[Any], list[Any]], list[Any]], x: Sequence[Any], v: Sequence[Any], end: Any, steps: int, columns: int,
    tolerance: Any = None,
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """Return position and velocity at the end by extrapolated midpoint steps of order 2 * columns (Gragg, Bulirsch and Stoer).

    tolerance: the last two columns of a step may differ by so much, else the step is halved; without it all steps are equal.
    """
    n = len(x)
    left, H = mpf(end), mpf(end) / steps
    z = [*x, *v]

    def rate(s: list[Any]) -> list[Any]:
        if max(abs(speed) for speed in s[n:]) > FASTEST:
            raise OverflowError("the step is too large: speeds grow without limit")
        return [*s[n:], *forward(s[:n], s[n:])]

    while left > mpf(10) ** (10 - mp.dps):
        H = min(H, left)
        after, doubt = z, mp.inf
        try:
            after, doubt = _extrapolated(rate, z, H, columns)
        except OverflowError:
            if tolerance is None:
                raise
        if tolerance is not None and not doubt < tolerance:
            H /= 2
            continue
        z, left = after, left - H
        if tolerance is not None and doubt < tolerance / 2**columns:
            H *= mpf("1.4")
    return z[:n], z[n:]


def _extrapolated(rate: Callable[[list[Any]], list[Any]], z: list[Any], H: Any, columns: int) -> tuple[list[Any], Any]:
    """Return the state after a step, and the difference of its last two approximations."""
    before: list[list[Any]] = []
    row: list[list[Any]] = []
    first = rate(z)
    for k in range(columns):
        m = 2 * (k + 1)
        h = H / m
        last, here = z, [a + h * b for a, b in zip(z, first, strict=True)]
        for _ in range(m - 1):
            last, here = here, [a + 2 * h * b for a, b in zip(last, rate(here), strict=True)]
        row = [[(a + b + h * c) / 2 for a, b, c in zip(here, last, rate(here), strict=True)]]
        for j in range(1, k + 1):
            factor = mpf(m) ** 2 / mpf(m - 2 * j) ** 2 - 1
            row.append([b + (b - a) / factor for a, b in zip(before[j - 1], row[-1], strict=True)])
        before = row
    return row[-1], max(abs(a - b) for a, b in zip(row[-1], row[-2], strict=True))
