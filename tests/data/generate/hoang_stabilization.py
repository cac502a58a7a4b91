"""Errors of five stabilizations of the robot of [Hoang2023] against the exact motion: Runge-Kutta 4 of 0.002 s, at five times up to 3 s.

Baumgarte's terms (25), post-adjusting (26)-(34) of the platform alone, both, and projections of all coordinates onto the loops in the mass
metric and the Euclidean one. Arithmetic is that of doubles (`fp` of mpmath): errors are far above round-off.

    python -m tests.data.generate.hoang_stabilization
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import fp, mp, mpf

from tests.data.generate.hoang_robot import Law, Robot, Vector, pd_law, solved, voltages
from tests.data.generate.hoang_states import states

LAWS: dict[int, Law] = {1: voltages, 2: pd_law(1, 10)}
TIMES = (0.1, 0.5, 1.0, 2.0, 3.0)
STEP, OMEGA, MASS, PENALTY = 0.002, 100.0 * fp.sqrt(2.0), 0.1, 100.0
Correction = Callable[[Robot, Vector, Vector], tuple[Vector, Vector]]


def adjusted(robot: Robot, q: Vector, v: Vector) -> tuple[Vector, Vector]:
    """Return the state after post-adjusting: three steps of (29), then (34)."""

    def moved_by(rows: list[tuple[Any, Vector]], pull: Vector, gap: Vector) -> Vector:
        """Return -(M + Phi_x' A Phi_x)^-1 (pull + Phi_x' A gap)."""
        x = [row for _, row in rows]
        H = [[sum(PENALTY * x[r][i] * x[r][j] for r in range(3)) + (MASS if i == j else 0.0) for j in range(3)] for i in range(3)]
        return solved(H, [-(pull[i] + sum(PENALTY * x[r][i] * gap[r] for r in range(3))) for i in range(3)])

    star = q
    for _ in range(3):
        pull = [MASS * (a - b) for a, b in zip(q[3:], star[3:], strict=True)]
        q = [*q[:3], *(a + b for a, b in zip(q[3:], moved_by(robot.rows(q), pull, robot.gaps(q)), strict=True))]
    rows = robot.rows(q)
    rate = [t * v[i] + sum(a * b for a, b in zip(x, v[3:], strict=True)) for i, (t, x) in enumerate(rows)]
    return q, [*v[:3], *(a + b for a, b in zip(v[3:], moved_by(rows, [0.0] * 3, rate), strict=True))]


def projected(weights: Callable[[Robot], Vector]) -> Correction:
    """Return the projection of all coordinates onto the loops in a diagonal metric: Newton's method, then velocities."""

    def shift(robot: Robot, q: Vector, gap: Vector) -> Vector:
        rows, w = robot.rows(q), weights(robot)
        G = [[sum(a * b / m for a, b, m in zip(x, y, w[3:], strict=True)) for _, y in rows] for _, x in rows]
        for i, (t, _) in enumerate(rows):
            G[i][i] += t * t / w[i]
        lam = solved(G, gap)
        return [
            *(rows[i][0] * lam[i] / w[i] for i in range(3)),
            *(sum(rows[r][1][j] * lam[r] for r in range(3)) / w[3 + j] for j in range(3)),
        ]

    def correction(robot: Robot, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        for _ in range(3):
            q = [a - b for a, b in zip(q, shift(robot, q, robot.gaps(q)), strict=True)]
        rate = [t * v[i] + sum(a * b for a, b in zip(x, v[3:], strict=True)) for i, (t, x) in enumerate(robot.rows(q))]
        return q, [a - b for a, b in zip(v, shift(robot, q, rate), strict=True)]

    return correction


METHODS: dict[str, tuple[bool, Correction | None]] = {
    "Baum only": (True, None),
    "Baum+post": (True, adjusted),
    "post only": (False, adjusted),
    "M-orth full projection, no Baum": (False, projected(lambda robot: robot.M)),
    "Euclid full projection": (False, projected(lambda robot: [1.0] * 6)),
}


def exact(case: int) -> list[Vector]:
    """Return the coordinates at the times, by the extrapolated steps of `hoang_states`."""
    with mp.workdps(22):
        return [[float(x) for x in at.q] for at in states(LAWS[case], tuple(str(t) for t in TIMES), mpf(10) ** -16).values()]


def errors(case: int, method: str, right: list[Vector], times: tuple[float, ...] = TIMES) -> list[float]:
    """Return the error of the worst coordinate at the times."""
    robot, law, (baumgarte, correct) = Robot(fp), LAWS[case], METHODS[method]

    def rate(y: Vector) -> Vector:
        q, v = y[:6], y[6:]
        return [*v, *robot.motion(q, v, law(robot, q, v), delta=1.0, omega=OMEGA if baumgarte else 0)[0]]

    def ahead(y: Vector, k: Vector, h: float) -> Vector:
        return [a + h * b for a, b in zip(y, k, strict=True)]

    y, out = [*robot.start(), *[0.0] * 6], []
    for n in range(1, round(times[-1] / STEP) + 1):
        k1 = rate(y)
        k2 = rate(ahead(y, k1, STEP / 2))
        k3 = rate(ahead(y, k2, STEP / 2))
        k4 = rate(ahead(y, k3, STEP))
        y = ahead(y, [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)], STEP)
        if correct is not None:
            q, v = correct(robot, y[:6], y[6:])
            y = [*q, *v]
        if any(n == round(t / STEP) for t in times):
            at = right[[round(t / STEP) for t in times].index(n)]
            out.append(max(abs(a - b) for a, b in zip(y[:6], at, strict=True)))
    return out


def main() -> None:
    for case in LAWS:
        right = exact(case)
        for method in METHODS:
            print(f"case {case}, {method}:", *(f"{x:.6e}" for x in errors(case, method, right)))


if __name__ == "__main__":
    main()
