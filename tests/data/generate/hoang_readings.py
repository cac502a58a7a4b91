"""Zeros of the determinants of the robot of [Hoang2023] under readings of its PD law, and what a small inductance changes.

Sign changes of det Phi_theta and det Phi_x in the first second for laws gain * PD - damping * speed, and the largest difference of a
coordinate in half a second between motors with inductance, currents from zero, and without. Runge-Kutta 4 in doubles (`fp` of mpmath).

    python -m tests.data.generate.hoang_readings
"""

from __future__ import annotations

from collections.abc import Callable

from mpmath import fp

from tests.data.generate.hoang_robot import WANTED, Law, Robot, Vector, pd_law, voltages

READINGS = {
    "PD=volts (k=10,c=10)": (10.0, 10.0),
    "PD=joint torque, back-emf kept (k=1,c=10)": (1.0, 10.0),
    "PD=joint torque, no back-emf (k=1,c=0)": (1.0, 0.0),
}
INDUCTANCES = {1: (1e-5, 5e-5, 1e-4), 2: (5e-5, 7e-5)}  # H, of the cases


def stepped(rate: Callable[[Vector], Vector], y: Vector, h: float) -> Vector:
    """Return the state after a step of Runge-Kutta 4."""

    def ahead(k: Vector, h: float) -> Vector:
        return [a + h * b for a, b in zip(y, k, strict=True)]

    k1 = rate(y)
    k2 = rate(ahead(k1, h / 2))
    k3 = rate(ahead(k2, h / 2))
    k4 = rate(ahead(k3, h))
    return ahead([(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)], h)


def crossings(law: Law, step: float = 1e-3) -> tuple[int, int]:
    """Return how often det Phi_theta and det Phi_x change their sign in the first second."""
    robot = Robot(fp)
    y, counts = [*robot.start(), *[0.0] * 6], [0, 0]

    def rate(y: Vector) -> Vector:
        return [*y[6:], *robot.motion(y[:6], y[6:], law(robot, y[:6], y[6:]))[0]]

    before = robot.determinants(y[:6])
    for _ in range(round(1.0 / step)):
        y = stepped(rate, y, step)
        now = robot.determinants(y[:6])
        counts = [n + (a * b < 0.0) for n, a, b in zip(counts, before, now, strict=True)]
        before = now
    return counts[0], counts[1]


def inductance(case: int, L: float, duration: float = 0.5) -> float:
    """Return the largest difference of a coordinate that the inductance makes; steps are the coil's time constant, at most 0.1 ms."""
    robot, Kt, Ke, R, ratio = Robot(fp), 3.0, 0.1, 3.0, 10.0
    steps = max(50, round(0.005 * R / L))  # in 5 ms, after which both motions are compared

    def volts(q: Vector, v: Vector) -> Vector:
        if case == 1:
            return [5.0, -5.0, 5.0]
        return [(150.0 * (float(w) - q[i]) - 50.0 * v[i]) / 10.0 for i, w in enumerate(WANTED)]

    def moving(y: Vector) -> Vector:
        q, v, i = y[:6], y[6:12], y[12:]
        current = [(u - R * a - Ke * ratio * w) / L for u, a, w in zip(volts(q, v), i, v, strict=False)]
        return [*v, *robot.motion(q, v, [ratio * Kt * a for a in i])[0], *current]

    law = voltages if case == 1 else pd_law(1.0, 10.0)

    def still(y: Vector) -> Vector:
        return [*y[6:], *robot.motion(y[:6], y[6:], law(robot, y[:6], y[6:]))[0]]

    a, b, worst = [*robot.start(), *[0.0] * 9], [*robot.start(), *[0.0] * 6], 0.0
    for _ in range(round(duration / 0.005)):
        for _ in range(steps):
            a = stepped(moving, a, 0.005 / steps)
        for _ in range(50):
            b = stepped(still, b, 0.0001)
        worst = max(worst, max(abs(x - z) for x, z in zip(a[:6], b[:6], strict=True)))
    return worst


def main() -> None:
    print("case 1:", crossings(voltages))
    for name, (gain, damping) in READINGS.items():
        print(f"case 2, {name}:", crossings(pd_law(gain, damping)))
    for case, values in INDUCTANCES.items():
        for L in values:
            print(f"case {case}, L = {L:g} H, 0.5 s: {inductance(case, L):.6e}")


if __name__ == "__main__":
    main()
