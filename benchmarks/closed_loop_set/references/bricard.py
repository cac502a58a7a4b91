"""Bricard's mechanism: six hinges and six equal links at right angles, five of them moving. Redundant constraints, one degree of freedom.

First way: the motion has threefold symmetry. Turning angles of the links alternate between two, alpha and beta, and loops are closed where
(1 + cos alpha)(1 + cos beta) = 1. With a = tan(alpha/2) and b = tan(beta/2) this is the oval (1 + a^2)(1 + b^2) = 4, on which the angle
s = arg(a + i b) is a coordinate without dead centers; all rods follow from s in closed form, energy gives s by quadrature. Second way:
absolute coordinates from the file; the closed form must also close the chain.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp

from benchmarks.closed_loop_set.references.absolute import Absolute
from benchmarks.closed_loop_set.references.one_degree import Conservative
from benchmarks.closed_loop_set.references.space import cross
from benchmarks.closed_loop_set.references.writing import agree, case, hinge, quantity, rod, task

SOURCE = (
    "M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado: A benchmarking system for MBS simulation software: problem standardization and "
    "performance measurement. Multibody System Dynamics 16 (2006) 179-190, problem A04",
    "IFToMM library of computational benchmark problems: Bricard's mechanism",
    "R. Bricard: Memoire sur la theorie de l'octaedre articule. Journal de mathematiques pures et appliquees 3 (1897) 113-148",
)
SCRIPT = "benchmarks/closed_loop_set/references/bricard.py"
POINTS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))  # P0 ... P5 at the start
AXES = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))  # of the hinges there
WIDTH, G, END = "0.1", "9.81", "10"

Vector = list[Any]
Matrix = list[list[Any]]


def oval(s: Any) -> tuple[Any, Any, Any, Any]:
    """Return alpha, beta and their rates by s."""
    c, t = mp.cos(s), mp.sin(s)
    q = mp.sqrt(1 + 3 * mp.sin(2 * s) ** 2)
    r = mp.sqrt(6 / (1 + q))
    dr = -r * 3 * mp.sin(4 * s) / q / (2 * (1 + q))
    a, b, da, db = r * c, r * t, dr * c - r * t, dr * t + r * c
    return 2 * mp.atan(a), 2 * mp.atan(b), 2 * da / (1 + a * a), 2 * db / (1 + b * b)


def chain(s: Any) -> tuple[list[Vector], list[Matrix], list[Vector], list[Vector]]:
    """Return P0 ... P5, rotations of the five rods since the start, their angular velocities and the velocities of P0 ... P5, by s."""
    alpha, beta, dalpha, dbeta = oval(s)
    turn, rate = [alpha + mp.pi / 2, beta + mp.pi / 2], [dalpha, dbeta]
    zero = [mp.mpf(0)] * 3
    R: Matrix = [[mp.mpf(i == j) for j in range(3)] for i in range(3)]
    w, p, v = zero, zero, zero
    points, turned, spins, speeds = [p], [], [], [v]
    for k in range(5):
        axis = _times(R, AXES[k])
        w = [x + rate[k % 2] * n for x, n in zip(w, axis, strict=True)]
        R = _product(R, _about(AXES[k], turn[k % 2]))
        d = _times(R, [y - x for x, y in zip(POINTS[k], POINTS[k + 1], strict=True)])
        v = [x + y for x, y in zip(v, cross(w, d), strict=True)]
        p = [x + y for x, y in zip(p, d, strict=True)]
        points.append(p)
        turned.append(R)
        spins.append(w)
        speeds.append(v)
    return points, turned, spins, speeds


def inertia(s: Any) -> Any:
    """Return M of five bars of 1 kg."""
    points, _, spins, speeds = chain(s)
    along, across = mp.mpf(WIDTH) ** 2 / 6, (1 + mp.mpf(WIDTH) ** 2) / 12
    total = mp.mpf(0)
    for k in range(5):
        u = [y - x for x, y in zip(points[k], points[k + 1], strict=True)]
        middle = [(x + y) / 2 for x, y in zip(speeds[k], speeds[k + 1], strict=True)]
        spin = mp.fsum(x * y for x, y in zip(u, spins[k], strict=True))
        total += mp.fsum(x * x for x in middle) + across * (mp.fsum(x * x for x in spins[k]) - spin**2) + along * spin**2
    return total


def potential(s: Any) -> Any:
    points = chain(s)[0]
    return mp.mpf(G) * mp.fsum((points[k][1] + points[k + 1][1]) / 2 for k in range(5))


def made() -> dict[str, Any]:
    with mp.workdps(30):
        names = [f"rod{k + 1}" for k in range(5)]
        ends = ["ground", *names, "ground"]
        bodies = [
            rod(name, POINTS[k], POINTS[k + 1], 1.0, {f"P{k}": POINTS[k], f"P{k + 1}": POINTS[k + 1]}, float(WIDTH))
            for k, name in enumerate(names)
        ]
        joints = [hinge(f"P{k}", ends[k] if k < 5 else "ground", ends[k + 1] if k < 5 else ends[k], POINTS[k], AXES[k]) for k in range(6)]
        out = case(
            "bricard",
            "Bricard's mechanism (six hinges, redundant constraints)",
            SOURCE,
            corrections=[],
            notes=["Counting joints gives no degree of freedom; there is one, and one of the thirty constraints depends on the others."],
            gravity=[0.0, -9.81, 0.0],
            bodies=bodies,
            joints=joints,
            forces=[],
            start={"velocities": {}},
            tasks=[],
        )
        out["tasks"] = _tasks(out)
    return out


def _tasks(out: dict[str, Any]) -> list[dict[str, Any]]:
    start = 5 * mp.pi / 4
    model, other = Conservative(inertia, potential, start, 0), Absolute(out)
    begin = model.acceleration(start, mp.mpf(0)) * oval(start)[2]  # of hinge P0; the rate of s is zero
    agree("acceleration", begin, other.acceleration(other.start(), "P0"), 1e-15)
    side = 1 if model.acceleration(start, mp.mpf(0)) > 0 else -1
    rest = model.rest(side, mp.mpf("0.05"))
    s, sign = model.swinging(mp.mpf(END), rest, 12)
    speed = sign * model.speed(s)
    points, turned, spins, speeds = chain(s)
    closed = max(abs(x - y) for x, y in zip(points[5], POINTS[5], strict=True))
    agree("closing of the chain", closed, mp.mpf(0), 1e-27)
    there = model.acceleration(s, speed) * oval(s)[2] + mp.diff(lambda x: oval(x)[2], s) * speed**2
    middles = [
        [[(x + y) / 2 * f for x, y in zip(p[k], p[k + 1], strict=True)] for k in range(5)] for p, f in ((points, 1), (speeds, speed))
    ]
    moving = other.moving(middles[0], turned, middles[1], [[speed * x for x in w] for w in spins])
    agree("acceleration at the end", there, other.acceleration(moving, "P0"), 1e-14)
    at_end = [
        quantity(f"P3 {c}", "m", x, {"what": "position", "body": "rod3", "point": "P3", "component": c}, scale=1.0, uncertainty=1e-17)
        for c, x in zip("xyz", points[3], strict=True)
    ]
    at_end += [
        quantity(
            f"P3 v{c}", "m/s", speed * x, {"what": "velocity", "body": "rod3", "point": "P3", "component": c}, scale=1.0, uncertainty=1e-16
        )
        for c, x in zip("xyz", speeds[3], strict=True)
    ]
    first = quantity("acceleration of hinge P0", "rad/s^2", begin, {"what": "rotation acceleration", "joint": "P0"}, uncertainty=1e-17)
    return [
        task("start", "accelerations", {}, [first], "closed form at 30 digits; absolute coordinates agree to 1e-15", SCRIPT),
        task(
            "swing",
            "free motion",
            {"time": float(END)},
            at_end,
            "quadrature of the energy over the closed form at 30 digits, 24 and 48 nodes a piece agree to 1e-19 s; accelerations at start "
            "and end agree with absolute coordinates",
            SCRIPT,
        ),
    ]


def _times(R: Matrix, x: Any) -> Vector:
    return [mp.fsum(R[i][j] * x[j] for j in range(3)) for i in range(3)]


def _product(A: Matrix, B: Matrix) -> Matrix:
    return [[mp.fsum(A[i][k] * B[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def _about(axis: tuple[int, int, int], angle: Any) -> Matrix:
    """Return the rotation about a global axis."""
    i = axis.index(1)
    j, k = (i + 1) % 3, (i + 2) % 3
    R = [[mp.mpf(a == b) for b in range(3)] for a in range(3)]
    R[j][j] = R[k][k] = mp.cos(angle)
    R[k][j] = mp.sin(angle)
    R[j][k] = -R[k][j]
    return R


CASES = {"bricard": made}
