"""Equations of the robot of [Hoang2023] as printed, (17), (35), (36), over the numbers of mpmath: `mp` with many digits, `fp` with doubles.

Coordinates are the paper's, three cranks and the platform (x_C, y_C, phi). M_s is diagonal and every constraint has four entries, so that

    (Phi M^-1 Phi') lambda = -(Phi M^-1 f + Phi' q'),      q'' = M^-1 (f + Phi' lambda)

is a system of three equations. The bearings of the cranks are not printed; see papers/Hoang2023/README.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mpmath import mp

Vector = list[Any]
Law = Callable[[Any, Vector, Vector], Vector]  # torques at the cranks from (robot, q, v)
PRINTED = ("-0.1259", "1.3727", "3.2675", "0.59363", "0.60145", "0.020707")
WANTED = ("0.4", "0.8", "1.0")


class Robot:
    """Dimensions and masses as printed, k = 10 N m/V and c = 10 N m s/rad at the cranks."""

    def __init__(self, ctx: Any = mp):
        number, root = ctx.mpf, ctx.sqrt(ctx.mpf(3))
        self.ctx = ctx
        self.l1, self.l2, self.base, self.b = number("0.581"), number("0.62"), number("1.2"), number("0.2") / root
        m1, m2, m7 = number("2.072"), number("0.75"), number("0.978")
        crank = number("0.01") * 100 + number("0.13") + m1 * self.l1**2 / 4 + m2 * self.l1**2 / 2
        self.M = [crank] * 3 + [m7 + 3 * m2 / 2] * 2 + [number("0.007") + 3 * m2 * self.b**2 / 2]
        self.bearings = ((number(0), number(0)), (self.base, number(0)), (self.base / 2, self.base * root / 2))
        self.corners = (7 * ctx.pi / 6, -ctx.pi / 6, ctx.pi / 2)

    # ---------------------------------------------------------------- loops

    def legs(self, q: Vector) -> list[tuple[Any, ...]]:
        """Return rod vector, crank pin and platform corner from their centers for every leg, as (dx, dy, ax, ay, bx, by)."""
        cos, sin = self.ctx.cos, self.ctx.sin
        out = []
        for i in range(3):
            ax, ay = self.l1 * cos(q[i]), self.l1 * sin(q[i])
            bx, by = self.b * cos(q[5] + self.corners[i]), self.b * sin(q[5] + self.corners[i])
            ox, oy = self.bearings[i]
            out.append((q[3] + bx - ox - ax, q[4] + by - oy - ay, ax, ay, bx, by))
        return out

    def gaps(self, q: Vector) -> Vector:
        """Return f of (36), m^2."""
        return [leg[0] ** 2 + leg[1] ** 2 - self.l2**2 for leg in self.legs(q)]

    def rows(self, q: Vector) -> list[tuple[Any, Vector]]:
        """Return for every leg the one entry of Phi_theta and the three of Phi_x."""
        return [
            (2 * (dx * ay - dy * ax), [2 * dx, 2 * dy, 2 * (dy * bx - dx * by)]) for dx, dy, ax, ay, bx, by in self.legs(q)
        ]  # fmt: skip

    def bias(self, q: Vector, v: Vector) -> Vector:
        """Return (dPhi/dt) q'."""
        out = []
        for i, (dx, dy, ax, ay, bx, by) in enumerate(self.legs(q)):
            ux, uy = v[3] - by * v[5] + ay * v[i], v[4] + bx * v[5] - ax * v[i]
            cx, cy = ax * v[i] ** 2 - bx * v[5] ** 2, ay * v[i] ** 2 - by * v[5] ** 2
            out.append(2 * (ux * ux + uy * uy + dx * cx + dy * cy))
        return out

    def determinants(self, q: Vector) -> tuple[Any, Any]:
        """Return det Phi_theta and det Phi_x."""
        rows = self.rows(q)
        return rows[0][0] * rows[1][0] * rows[2][0], determinant([x for _, x in rows])

    def closed(self, q: Sequence[Any]) -> Vector:
        """Return the coordinates with the cranks as given and the platform moved until the loops close."""
        found = [self.ctx.mpf(x) for x in q]
        for _ in range(8):
            step = solved([x for _, x in self.rows(found)], self.gaps(found))
            found = [*found[:3], *(a - b for a, b in zip(found[3:], step, strict=True))]
        return found

    def start(self) -> Vector:
        """Return the printed start: cranks as printed, the platform closed onto them (it moves in the last digit)."""
        return self.closed(PRINTED)

    # ---------------------------------------------------------------- motion

    def motion(
        self, q: Vector, v: Vector, torques: Vector, *, delta: Any = 0, omega: Any = 0
    ) -> tuple[Vector, Vector]:  # fmt: skip
        """Return (q'', lambda in the sign of (17)) under torques at the cranks, with Baumgarte's terms (25) if omega is given."""
        rows, given = self.rows(q), self.bias(q, v)
        if omega:
            for i, (gap, (t, x)) in enumerate(zip(self.gaps(q), rows, strict=True)):
                rate = t * v[i] + x[0] * v[3] + x[1] * v[4] + x[2] * v[5]
                given[i] = given[i] + 2 * delta * omega * rate + omega**2 * gap
        free = [torques[i] / self.M[i] for i in range(3)]
        G = [[sum(a * b / m for a, b, m in zip(x, y, self.M[3:], strict=True)) for _, y in rows] for _, x in rows]
        right = []
        for i, (t, _) in enumerate(rows):
            G[i][i] = G[i][i] + t * t / self.M[i]
            right.append(-(t * free[i] + given[i]))
        lam = solved(G, right)
        cranks = [free[i] + rows[i][0] * lam[i] / self.M[i] for i in range(3)]
        return [*cranks, *(sum(rows[i][1][j] * lam[i] for i in range(3)) / self.M[3 + j] for j in range(3))], lam

    def speeds(self, q: Vector, cranks: Vector) -> Vector:
        """Return all speeds that belong to speeds of the cranks."""
        rows = self.rows(q)
        return [*cranks, *solved([x for _, x in rows], [-t * w for (t, _), w in zip(rows, cranks, strict=True)])]


def determinant(A: list[Vector]) -> Any:
    (a, b, c), (d, e, f), (g, h, i) = A
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def solved(A: list[Vector], y: Vector) -> Vector:
    """Return x of three equations A x = y by Cramer's rule."""
    whole = determinant(A)
    return [determinant([[*row[:k], right, *row[k + 1 :]] for row, right in zip(A, y, strict=True)]) / whole for k in range(3)]


# -------------------------------------------------------------------- the two cases


def voltages(robot: Robot, q: Vector, v: Vector) -> Vector:
    """Return the torques of case 1: 5, -5, 5 V less the back EMF."""
    return [50 - 10 * v[0], -50 - 10 * v[1], 50 - 10 * v[2]]


def pd_law(gain: Any = 1, damping: Any = 10) -> Law:
    """Return the law of case 2, times `gain`, less `damping` of the back EMF: 1 and 10 is the joint torque, 10 and 10 the voltage."""

    def law(robot: Robot, q: Vector, v: Vector) -> Vector:
        number = robot.ctx.mpf
        return [gain * (150 * (number(w) - q[i]) - 50 * v[i]) - damping * v[i] for i, w in enumerate(WANTED)]

    return law


def rates(robot: Robot, law: Law) -> Callable[[Vector, Vector], Vector]:
    """Return accelerations as a function of positions and velocities."""
    return lambda q, v: robot.motion(q, v, law(robot, q, v))[0]
