"""The driven RSSR mechanism of [Chaudhary2007 6.2], dimensions of our own.

The 18 Newton-Euler equations of its bodies, and as a second way Lagrange's equation by differences.

    python -m tests.data.generate.chaudhary_rssr
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mpmath import mp, mpf, nstr

from benchmarks.closed_loop_set.references import rssr

DIGITS = 40
ANGLES = range(0, 360, 30)


class Driven(NamedTuple):
    """Torque of the crank, force of the ball joint on it, torque by Lagrange's equation."""

    torque: Any
    force: list[Any]
    other: Any


def driven(degrees: int, width: str = "0") -> Driven:
    """Return the loads at an angle; bars have a square section of that width, 0: thin rods."""
    with mp.workdps(DIGITS):
        theta, rate = mp.pi * degrees / 180, 10 * mp.pi / 3  # a turn in 0.6 s
        space, _ = rssr.instant(theta, mpf(width))
        v = space.speeds([rate])
        reactions, (tau,) = space.inverse(v, space.accelerations_of(v, [mpf(0)]))
        return Driven(tau, list(reactions["S"][0]), rssr.by_power(theta, rate, mpf(0), mpf(width)))


def main() -> None:
    for d in ANGLES:
        at = driven(d)
        print(f"{d} deg: {nstr(at.torque, 20)} N m, {nstr(at.other, 20)} by power; lambda", *(nstr(x, 18) for x in at.force), "N")


if __name__ == "__main__":
    main()
