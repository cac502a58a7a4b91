"""States of the robot of [Hoang2023] after 0.1, 0.5 and 1 s in both cases and a third reading, with multipliers and determinants.

Extrapolated midpoint steps of order 28 on the printed equations, each with its own estimate below 1e-21; loops stay closed to 1e-19, though
nothing holds them.

    python -m tests.data.generate.hoang_states
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mpmath import mp, mpf, nstr

from benchmarks.closed_loop_set.references.plane import moved
from tests.data.generate.hoang_robot import Law, Robot, Vector, pd_law, rates, voltages

CASES: dict[str, Law] = {
    "case1 u=[5,-5,5] V (k=10,c=10)": voltages,
    "case2 PD=joint torque (k=1,c=10)": pd_law(1, 10),
    "case2 PD=voltage (k=10,c=10)": pd_law(10, 10),
}
TIMES = ("0.1", "0.5", "1.0")
DIGITS, TOLERANCE, COLUMNS = 30, mpf(10) ** -21, 14


class Reached(NamedTuple):
    """One sample of a run."""

    q: Vector
    v: Vector
    lam: Vector  # in the sign of (17)
    determinants: tuple[Any, Any]  # of Phi_theta and Phi_x
    gap: Any  # largest |f|, m^2


def states(law: Law, times: tuple[str, ...] = TIMES, tolerance: Any = TOLERANCE, *, columns: int = COLUMNS) -> dict[str, Reached]:
    """Return the states at the times, from rest at the printed start; the order is twice the columns."""
    robot = Robot()
    q, v, now, out = robot.start(), [mpf(0)] * 6, mpf(0), {}
    for time in times:
        q, v = moved(rates(robot, law), q, v, mpf(time) - now, 8, columns, tolerance)
        now = mpf(time)
        lam = robot.motion(q, v, law(robot, q, v))[1]
        out[time] = Reached(q, v, lam, robot.determinants(q), max(abs(x) for x in robot.gaps(q)))
    return out


def main() -> None:
    with mp.workdps(DIGITS):
        for name, law in CASES.items():
            for time, at in states(law).items():
                print(f"{name}, {time} s, loops within {nstr(at.gap, 2)} m^2")
                for what, values in (("q", at.q), ("q'", at.v), ("lambda", at.lam), ("determinants", at.determinants)):
                    print(f"    {what}:", *(nstr(x, 18) for x in values))


if __name__ == "__main__":
    main()
