"""Aghili's slider-crank with equal links: one degree of freedom, singular where the crank is upright, and the reference passes there.

With l = m = 1, q the crank's angle and a torque of 1 N m, (3 - 2 cos 2q) q'' + 2 sin(2q) q'^2 + g cos q = 1 and
(3 - 2 cos 2q) q'^2 / 2 = (q - q0) - g (sin q - sin q0): the first way integrates the energy, the second the equation of motion.
Point masses at B and C are shared among bodies with the same motion: half of them at both ends of crank and rod, half on the slider.
"""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpc, mpf, sinc

from benchmarks.closed_loop_set.references import plane_cases as cases
from benchmarks.closed_loop_set.references.plane import Link, Plane, moved
from benchmarks.closed_loop_set.references.writing import case, quantity, task

SCRIPT = "benchmarks/closed_loop_set/references/slider_cranks.py"
SOURCE = (
    "F. Aghili: A Unified Approach for Inverse and Direct Dynamics of Constrained Multibody Systems Based on Linear Projection Operator: "
    "Applications to Control and Simulation. IEEE Transactions on Robotics 21 (2005), section VIII-A and Fig. 4",
)
PINS = "A ground crank A\nB crank rod B\nC rod slider C"


def plane_of(gravity: str) -> Plane:
    one, half, quarter = mpc(1), mpf(1) / 2, mpf(1) / 4
    links = (
        Link("crank", mpf(1), quarter, {"A": mpc(0), "B": one, "center": one / 2}),
        Link("rod", mpf(1), quarter, {"B": mpc(0), "C": one, "center": one / 2}),
        Link("slider", half, mpf(1) / 100, {"C": mpc(0), "center": mpc(0)}),
    )
    return Plane(links, cases.pins(PINS), {"A": mpc(0)}, mpf(gravity), ("crank",), slides=("slider",), torques={"crank": mpf(1)})


def start() -> Any:
    return 2 * mp.pi / 3


def work(q: Any, g: Any) -> Any:
    """Return the kinetic energy at an angle."""
    return q - start() - g * (mp.sin(q) - mp.sin(start()))


def rate(q: Any, g: Any) -> Any:
    return mp.sqrt(2 * work(q, g) / (3 - 2 * mp.cos(2 * q)))


def seconds(q: Any, g: Any) -> Any:
    """Return the time at an angle: the integral of dq / q'; q = q0 + s^2 removes its singularity at rest."""

    def integrand(s: Any) -> Any:
        half = s * s / 2
        over = 1 - g * mp.cos(start() + half) * sinc(half)  # kinetic energy over s^2
        return 2 * mp.sqrt((3 - 2 * mp.cos(2 * (start() + s * s))) / (2 * over))

    last = mp.sqrt(q - start())
    pieces = 24
    return mp.quad(integrand, [last * mpf(k) / pieces for k in range(pieces + 1)], method="gauss-legendre")


def by_energy(end: str, g: Any, near: Any) -> Any:
    """Return the angle at a time, by Newton's method on the quadrature."""
    q = near
    for _ in range(20):
        step = (mpf(end) - seconds(q, g)) * rate(q, g)
        q += step
        if abs(step) < mpf(10) ** -30:
            return q
    raise ArithmeticError("Newton's method for the angle does not converge")


def by_motion(end: str, g: Any, steps: int) -> tuple[Any, Any]:
    """Return angle and speed at a time by extrapolated midpoint steps of the equation of motion."""

    def forward(q: list[Any], v: list[Any]) -> list[Any]:
        return [(1 - g * mp.cos(q[0]) - 2 * mp.sin(2 * q[0]) * v[0] ** 2) / (3 - 2 * mp.cos(2 * q[0]))]

    q, v = moved(forward, [start()], [mpf(0)], mpf(end), steps, 10)
    return q[0], v[0]


def _task(end: str, gravity: str, steps: int, crossed: int) -> dict[str, Any]:
    g = mpf(gravity)
    other, speed = by_motion(end, g, steps)
    q = by_energy(end, g, other)
    quantities = [
        quantity("crank angle", "rad", q - start(), {"what": "rotation", "joint": "A"}, scale=1.0, other=other - start()),
        quantity("crank speed", "rad/s", rate(q, g), {"what": "rotation rate", "joint": "A"}, scale=1.0, other=speed),
        quantity("C x", "m", 2 * mp.cos(q), {"what": "position", "body": "slider", "point": "C", "component": "x"}, scale=1.0),
    ]
    passed = f"{crossed} singular position{'s' if crossed != 1 else ''} passed on the way" if crossed else "no singular position on the way"
    how = f"quadrature of the energy at 40 digits; the equation of motion, extrapolated midpoint rule of order 20, agrees; {passed}"
    return task(f"free motion {end} s", "free motion", {"time": float(end)}, quantities, how, SCRIPT)


def made(name: str, gravity: str, runs: tuple[tuple[str, int, int], ...]) -> dict[str, Any]:
    """Return the case with or without gravity."""
    with mp.workdps(cases.WORK):
        plane = plane_of(gravity)
        angle, root = start(), mp.sqrt(mpf(3)) / 2
        # centers and angles of crank, rod (downwards to C) and slider
        x = [mpf("-0.25"), root / 2, angle, mpf("-0.75"), root / 2, mp.pi + mp.pi / 3, mpf(-1), mpf(0), mpf(0)]
        v = [mpf(0)] * 9
        fall = "with" if mpf(gravity) else "without"
        return case(
            name, f"Slider-crank with equal links, torque of 1 N m, {fall} gravity", SOURCE,
            corrections=[
                "Whether gravity acts in Fig. 4 is not said, nor the speed at the start: both with and without gravity are in the set, "
                "from rest.",
                "Equation (66) is that of two point masses m at the far ends of the links, l = m = 1.",
                "(68) has its cases exchanged, (69) its condition reversed; M_c' after (69) is M_c''.",
                "(71), (72): q1' reads q1'^2, and u* lacks m l^2; (75): -3/5, -3/5, +6/5 read 1, 1, -2.",
                "(51): A^T A reads A A^T; section II: A_W = A W^(-1/2).",
            ],
            notes=[
                "Where the crank is upright the rod lies on it, the loop loses rank and two branches meet; the reference stays on the "
                "slider's branch, rod angle = pi - crank angle.",
                "Half of each point mass is put at both ends of crank and rod, half of the last on the slider; the half at A does not "
                "move. Motion is that of the paper.",
            ],
            **cases.parts(plane, x, v, ["slider"]),
            tasks=[
                cases.accelerations(plane, x, v, SCRIPT), cases.joint_forces(plane, x, v, SCRIPT),
                *(_task(end, gravity, n, k) for end, n, k in runs),
            ],
        )  # fmt: skip


CASES = {
    "slider-crank": lambda: made("slider-crank", "9.81", (("1", 40, 0), ("3", 160, 2))),
    "slider-crank-flat": lambda: made("slider-crank-flat", "0", (("3", 80, 0), ("5", 160, 1))),
}
