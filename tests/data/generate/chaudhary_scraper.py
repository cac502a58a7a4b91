"""The driven carpet scraper of [Chaudhary2007]: torque by power balance, joint forces by all Newton-Euler equations at once.

At constant speed w the torque is M'(s) w^2/2 + V'(s), with inertia and potential over the crank's angle s from positions in closed form
(two pairs of circles and a parallelogram); derivatives are differences with 50 digits. RMS are trapezoids over the turn, which converge
faster than any power. The 21 equations of the links and their positions by Newton's method are a second way.

    python -m tests.data.generate.chaudhary_scraper
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from mpmath import findroot, mp, mpf, nstr

from benchmarks.closed_loop_set.references import scraper_energy as closed
from benchmarks.closed_loop_set.references import scrapers
from benchmarks.closed_loop_set.references.plane import Plane

SPEED = "4.712"
DIGITS, STEP = 50, mpf(10) ** -16  # differences are then off by 1e-32 of the third derivative
POINTS = 256  # of a turn: twice as many give the same RMS to 20 digits
JOINTS = {  # force of the paper -> pin
    "II-1": "J1", "I-1": "J2", "I-2": "J3", "III-1^0": "J4", "III-1^1": "J5", "III-2^0": "J6", "III-3^0": "J7",
    "lam1": "J8", "lam2": "J9", "lam3": "J10",
}  # fmt: skip


def machine(gravity: str = "9.81") -> Plane:
    return replace(scrapers.chaudhary(), gravity=mpf(gravity))


def torque(plane: Plane, s: Any) -> Any:
    """Return the crank's torque at an angle."""
    slope = [(f(plane, s + STEP) - f(plane, s - STEP)) / (2 * STEP) for f in (closed.inertia, closed.potential)]
    return slope[0] * mpf(SPEED) ** 2 / 2 + slope[1]


def torques(gravity: str, degrees: Iterable[int] = range(0, 360, 30)) -> dict[int, Any]:
    with mp.workdps(DIGITS):
        plane = machine(gravity)
        return {d: torque(plane, mp.pi * d / 180) for d in degrees}


def rms(gravity: str, points: int = POINTS) -> Any:
    with mp.workdps(DIGITS):
        plane = machine(gravity)
        return mp.sqrt(mp.fsum(torque(plane, 2 * mp.pi * k / points) ** 2 for k in range(points)) / points)


def extremes(gravity: str = "9.81") -> tuple[Any, Any]:
    """Return the smallest and the largest torque of the turn, where its slope by differences vanishes."""
    with mp.workdps(DIGITS):
        plane, h = machine(gravity), mpf(10) ** -8

        def slope(s: Any) -> Any:
            return (torque(plane, s + h) - torque(plane, s - h)) / (2 * h)

        places = [findroot(slope, (mp.pi * d / 180, mp.pi * (d + 1) / 180), solver="secant", tol=mpf(10) ** -24) for d in (191, 160)]
        return torque(plane, places[0]), torque(plane, places[1])


def forces(degrees: int, gravity: str = "9.81") -> tuple[Any, dict[str, tuple[Any, Any]]]:
    """Return the torque and the force of every pin on its second body, by the 21 equations."""
    with mp.workdps(DIGITS):
        plane = machine(gravity)
        x, v = scrapers.at(plane, degrees, SPEED)
        lam, (tau,) = plane.inverse(x, v, plane.accelerations_of(x, v, [mpf(0)]))
        place = {pin.name: 2 * i for i, pin in enumerate(plane.pins)}
        return tau, {name: (lam[place[pin]], lam[place[pin] + 1]) for name, pin in JOINTS.items()}


def main() -> None:
    for gravity in ("9.81", "0"):
        print(f"gravity {gravity} m/s^2: RMS {nstr(rms(gravity), 20)} N m")
        for d, tau in torques(gravity).items():
            print(f"    {d} deg: {nstr(tau, 20)} N m; by 21 equations {nstr(forces(d, gravity)[0], 20)}")
    print("extremes with gravity:", *(nstr(x, 20) for x in extremes()), "N m")


if __name__ == "__main__":
    main()
