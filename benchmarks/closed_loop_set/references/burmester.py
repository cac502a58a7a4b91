"""Links that guide a body through five poses: all of them, in 40 digits, by elimination.

A link from a ground point a to a point x of the body keeps its length in five poses (d_i, t_i), relative to the first:

    |d_i|^2 / 2 + d_i . (R_i x) - d_i . a - (cos t_i - 1) P - sin t_i Q = 0,     P = a . x,   Q = a_y x_x - a_x x_y.

Four linear equations in (x, a, P, Q) leave a plane of two parameters; the two definitions of P and Q are quadrics on it, which meet in at
most four points: a resultant of degree four has them all. The same equations give the cranks of a timed path: there t_i is the turn of the
crank, x its pin with the sign changed and a its pivot, because |P_i - a - R_i w| is the length of the coupler's arm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from mpmath import arg, cos, det, eig, expj, lu_solve, matrix, mp, mpc, mpf, sin

from benchmarks.closed_loop_set.references.certificates import DIGITS, System, total

Pose = tuple[Any, Any, Any]  # x, y, angle in rad
SMALL = mpf(10) ** -20


def equations(poses: Sequence[tuple[str, str, str]]) -> System:
    """Return the four equations of (x_x, x_y, a_x, a_y) as polynomials whose coefficients come from decimal texts, for Krawczyk's test."""

    def system(z: Sequence[Any], number: Callable[[str], Any]) -> list[Any]:
        from mpmath import iv

        turned = (lambda t: (iv.cos(t), iv.sin(t))) if number is iv.mpf else (lambda t: (cos(t), sin(t)))
        x, y, a, b = z
        squares = []
        for px, py, angle in poses:
            c, s = turned(number(angle))
            u, v = x * c - y * s - a + number(px), x * s + y * c - b + number(py)
            squares.append(total([u * u, v * v]))
        return [squares[i] - squares[0] for i in range(1, 5)]

    return system


def dyads(poses: Sequence[Pose]) -> tuple[list[tuple[Any, Any]], int]:
    """Return the real links (x, a) as complex numbers, x in the frame of the body, a on the ground, and the number of complex ones."""
    mp.dps = DIGITS
    place = [mpc(x, y) for x, y, _ in poses]
    turn = [expj(t) for *_, t in poses]
    rows, right = [], []
    for i in range(1, 5):
        d, r = place[i] - place[0], turn[i] / turn[0]
        turned = d * r.conjugate()  # d . (R x) = Re(conj(d) r x)
        rows.append([turned.real, turned.imag, -d.real, -d.imag, 1 - r.real, -r.imag])
        right.append(-(abs(d) ** 2) / 2)
    found = []
    for z in _points(rows, right):
        x, a = mpc(z[0].real, z[1].real), mpc(z[2].real, z[3].real)
        if max(abs(v.imag) for v in z) < SMALL * (1 + abs(x) + abs(a)):
            found.append((x / turn[0], a + place[0]))  # from the axes of the ground to those of the body
    return sorted(found, key=lambda link: (link[1].real, link[1].imag)), 4 - len(found)


def _points(rows: list[list[Any]], right: list[Any]) -> list[list[Any]]:
    """Return the four complex points of the plane rows z = right on both quadrics."""
    # solve for four unknowns by two free ones; the best conditioned choice of six over two
    best = max(combinations(range(6), 4), key=lambda keep: abs(det(matrix([[r[k] for k in keep] for r in rows]))))
    free = [k for k in range(6) if k not in best]
    A = matrix([[r[k] for k in best] for r in rows])
    columns = [lu_solve(A, matrix(right)), *(lu_solve(A, matrix([-r[k] for r in rows])) for k in free)]
    plane = [[mpf(0)] * 3 for _ in range(6)]  # z_k = plane[k] . (1, s, t)
    for row, k in enumerate(best):
        plane[k] = [column[row] for column in columns]
    plane[free[0]], plane[free[1]] = [mpf(0), mpf(1), mpf(0)], [mpf(0), mpf(0), mpf(1)]
    first = _quadric(plane, ((0, 2, 1), (1, 3, 1)), 4)
    second = _quadric(plane, ((0, 3, 1), (1, 2, -1)), 5)

    def in_t(q: list[list[Any]], s: Any) -> list[Any]:
        return [q[2][2], q[1][2] * s + q[0][2], q[1][1] * s * s + q[0][1] * s + q[0][0]]

    def resultant(s: Any) -> Any:
        p, q = in_t(first, s), in_t(second, s)
        return det(matrix([[*p, 0], [0, *p], [*q, 0], [0, *q]]))

    at = [mpf(k) for k in range(-2, 3)]
    power = lu_solve(matrix([[s**k for k in range(4, -1, -1)] for s in at]), matrix([resultant(s) for s in at]))
    out = []
    for s in _roots(list(power)):
        p, q = in_t(first, s), in_t(second, s)
        t = (q[0] * p[2] - p[0] * q[2]) / (p[0] * q[1] - q[0] * p[1])  # the common root
        out.append([c[0] + c[1] * s + c[2] * t for c in plane])
    return out


def _roots(power: list[Any]) -> list[Any]:
    """Return the roots of a polynomial, highest power first: the eigenvalues of its companion matrix, with 20 digits to spare."""
    n = len(power) - 1
    with mp.extradps(20):
        companion = matrix(n)
        for k in range(n):
            companion[0, k] = -power[k + 1] / power[0]
            if k:
                companion[k, k - 1] = 1
        return list(eig(companion, left=False, right=False))


def _quadric(plane: list[list[Any]], products: Sequence[tuple[int, int, int]], alone: int) -> list[list[Any]]:
    """Return the coefficients of 1, s, t (upper triangle) of a sum of signed products of coordinates minus one coordinate."""
    out = [[mpf(0)] * 3 for _ in range(3)]
    for i, k, sign in products:
        for m in range(3):
            for n in range(3):
                out[min(m, n)][max(m, n)] += sign * plane[i][m] * plane[k][n]
    for m in range(3):
        out[0][m] -= plane[alone][m]
    return out


def deviation(poses: Sequence[Pose], link: tuple[Any, Any]) -> Any:
    """Return the largest difference of a link's lengths in the poses."""
    lengths = [abs(mpc(x, y) + expj(t) * link[0] - link[1]) for x, y, t in poses]
    return max(lengths) - min(lengths)


def timed(points: Sequence[tuple[Any, Any]], turns: Sequence[Any]) -> list[dict[str, Any]]:
    """Return every four-bar A-B-C-D whose coupler point passes five points while its crank A-B turns by the given angles.

    Pins at the first point, complex. For each crank of the first five poses the coupler's turns follow, and all other links for them.
    """
    mp.dps = DIGITS
    at = [mpc(*p) for p in points]
    found = []
    for minus_w, a in dyads([(*p, t) for p, t in zip(points, turns, strict=True)])[0]:
        pins = [a - expj(t) * minus_w for t in turns]
        coupler = [arg(p - b) for p, b in zip(at, pins, strict=True)]
        poses = [(p.real, p.imag, angle) for p, angle in zip(at, coupler, strict=True)]
        for x, d in dyads(poses)[0]:
            c = at[0] + expj(coupler[0]) * x
            if abs(d - a) + abs(c - pins[0]) > mpf(10) ** -15:
                found.append({"A": a, "B": pins[0], "C": c, "D": d})
    return found
