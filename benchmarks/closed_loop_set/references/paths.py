"""Optimal four-bars for a path, as roots of the conditions of an optimum: least squares of timed points, Hoecken's straight line.

Derivatives are central differences in three times as many digits as the result needs. Both are local optima: that no better one exists is
not proven.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mpmath import expj, lu_solve, matrix, mp, mpc, mpf, pi, sqrt

DIGITS = 120  # digits of the arithmetic; steps of differences are 1e-30, so that slopes have some 60 digits and curvatures 55
STEP = mpf(10) ** -30


def solved(conditions: Callable[[list[Any]], list[Any]], start: Sequence[Any], steps: int = 40) -> list[Any]:
    """Return the root that Newton's method with differences reaches."""
    mp.dps = DIGITS
    x = [mpf(v) for v in start]
    for _ in range(steps):
        F = conditions(x)
        columns = []
        for k in range(len(x)):
            up, down = (conditions([v + (sign * STEP if i == k else 0) for i, v in enumerate(x)]) for sign in (1, -1))
            columns.append([(a - b) / (2 * STEP) for a, b in zip(up, down, strict=True)])
        step = lu_solve(matrix(columns).T, matrix(F))
        x = [a - b for a, b in zip(x, step, strict=True)]
        if max(abs(s) for s in step) < mpf(10) ** -32:
            return x
    raise ArithmeticError("Newton's method does not converge from this start")


def coupler_point(x: Sequence[Any], angle: Any, sign: int) -> Any:
    """Return P of the four-bar (Ax, Ay, Dx, Dy, Bx, By as crank at angle 0, coupler length, rocker length, Px, Py along the coupler)."""
    a, d, w = mpc(x[0], x[1]), mpc(x[2], x[3]), mpc(x[4], x[5])
    b = a + w * expj(angle)
    apart = d - b
    square = (apart * apart.conjugate()).real
    share = (x[6] * x[6] - x[7] * x[7] + square) / (2 * square)
    along = apart * mpc(share, sign * sqrt(x[6] * x[6] / square - share * share)) / x[6]
    return b + along * mpc(x[8], x[9])


def misses(points: Sequence[tuple[str, str]], angles: Sequence[Any], sign: int, held: dict[int, Any]) -> Callable[[list[Any]], Any]:
    """Return the sum of squared distances as a function of the dimensions that are not held."""

    def objective(free: list[Any]) -> Any:
        rest = iter(free)
        x = [held[k] if k in held else next(rest) for k in range(10)]
        out = mpf(0)
        for p, angle in zip(points, angles, strict=True):
            away = coupler_point(x, angle, sign) - mpc(*p)
            out += (away * away.conjugate()).real
        return out

    return objective


def stationary(objective: Callable[[list[Any]], Any], start: Sequence[Any]) -> tuple[list[Any], Any]:
    """Return the dimensions where the slopes of an objective vanish, and the objective there."""

    def slopes(x: list[Any]) -> list[Any]:
        out = []
        for k in range(len(x)):
            up, down = (objective([v + (sign * STEP if i == k else 0) for i, v in enumerate(x)]) for sign in (1, -1))
            out.append((up - down) / (2 * STEP))
        return out

    x = solved(slopes, start)
    return x, objective(x)


def hoecken() -> dict[str, Any]:
    """Return the proportions of the lambda linkage with the straightest line over half a turn.

    Crank 1, ground g, coupler = rocker = the arm beyond the coupler's pin = L. The path is symmetric; its height over the length of the
    line has four alternating extremes in each half: at the middle, inside twice and at the end. A minimax by two proportions and a
    level asks for as many.
    """
    mp.dps = DIGITS
    half = pi / 2

    def at(g: Any, L: Any, delta: Any) -> Any:
        x = [mpf(0), mpf(0), g, mpf(0), mpf(1), mpf(0), L, L, 2 * L, mpf(0)]
        return coupler_point(x, pi + delta, 1)

    def conditions(z: list[Any]) -> list[Any]:
        g, L, level, E, first, second = z
        length = abs(at(g, L, half).real - at(g, L, -half).real)

        def height(delta: Any) -> Any:
            return (at(g, L, delta).imag - level) / length

        inside = [(height(d + STEP) - height(d - STEP)) / STEP for d in (first, second)]
        return [height(mpf(0)) - E, height(first) + E, height(second) - E, height(half) + E, *inside]

    z = _first_hoecken(at, half)
    g, L, _, E, first, second = solved(conditions, z)
    return {"ground": g, "coupler": L, "width over length": 2 * abs(E), "length": abs(at(g, L, half).real - at(g, L, -half).real),
            "extremes": (first, second)}  # fmt: skip


def _first_hoecken(at: Callable[[Any, Any, Any], Any], half: Any) -> list[Any]:
    g = mpf(3) - mpf("0.8") * (2 * half / pi) ** 2
    L = (3 * g - 1) / 2
    first, second = half / 2, half * sqrt(mpf(3)) / 2  # extremes of the Chebyshev polynomial of degree six
    heights = [at(g, L, d).imag for d in (mpf(0), first, second, half)]
    length = abs(at(g, L, half).real - at(g, L, -half).real)
    level = (max(heights) + min(heights)) / 2
    return [g, L, level, (heights[0] - level) / length, first, second]
