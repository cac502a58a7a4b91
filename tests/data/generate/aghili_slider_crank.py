"""Motion of Aghili's slider-crank (Fig. 4): crank angle at four times, and when and how fast it passes its singular positions.

On the branch q2 = 2 pi - 2 q1 with l = m = 1 and 1 N m at the crank the energy (3 - 2 cos 2q) q'^2 / 2 + g sin q - q is constant. The
first way is the quadrature of the closed-loop set (`one_degree`); the second integrates (3 - 2 cos 2q) q'' + 2 sin(2q) q'^2 + g cos q = 1.

    python -m tests.data.generate.aghili_slider_crank
"""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpf, nstr

from benchmarks.closed_loop_set.references.one_degree import Conservative, integral
from benchmarks.closed_loop_set.references.plane import moved

TIMES = ("0.5", "1", "2", "3")
GRAVITIES = ("0", "9.81")
POSITIONS = (3, 5, 7)  # times pi / 2
DIGITS = 30


def crank(gravity: str) -> Conservative:
    """Return the crank at rest at 2 pi / 3; the torque is a potential of -1 N m per radian."""
    g = mpf(gravity)
    return Conservative(lambda q: 3 - 2 * mp.cos(2 * q), lambda q: g * mp.sin(q) - q, 2 * mp.pi / 3, 0)


def angle(gravity: str, time: str) -> tuple[Any, Any]:
    """Return angle and speed after a time."""
    model = crank(gravity)
    q = model.from_rest(mpf(time), mpf(1) / 8)
    return q, model.speed(q)


def passage(gravity: str, count: int) -> tuple[Any, Any]:
    """Return time and speed at count * pi / 2; q = q0 + x^2 takes the zero of the speed at the start away."""
    model, q = crank(gravity), count * mp.pi / 2
    last, pieces = mp.sqrt(q - model.start), 24

    def slowness(x: Any) -> Any:
        return 2 * x / model.speed(model.start + x * x)

    return mp.fsum(integral(slowness, last * k / pieces, last * (k + 1) / pieces) for k in range(pieces)), model.speed(q)


def integrated(gravity: str, time: str, steps: int) -> tuple[Any, Any]:
    """Return angle and speed after a time by the equation of motion: the second way."""
    g = mpf(gravity)

    def forward(q: list[Any], v: list[Any]) -> list[Any]:
        return [(1 - g * mp.cos(q[0]) - 2 * mp.sin(2 * q[0]) * v[0] ** 2) / (3 - 2 * mp.cos(2 * q[0]))]

    q, v = moved(forward, [2 * mp.pi / 3], [mpf(0)], mpf(time), steps, 10)
    return q[0], v[0]


def main() -> None:
    with mp.workdps(DIGITS):
        for g in GRAVITIES:
            for t in TIMES:
                print(f"g {g}, {t} s: q1, q1' =", *(nstr(x, 20) for x in angle(g, t)))
            for n in POSITIONS:
                print(f"g {g}, {n} pi/2: t, q1' =", *(nstr(x, 20) for x in passage(g, n)))


if __name__ == "__main__":
    main()
