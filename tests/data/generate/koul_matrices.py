"""Matrices of koul_reference.json, and accelerations and forces at the start of both examples of [Koul2013].

Positions and velocities come from mpmath: two pairs of circles, or Newton's method on all loops. The matrices I, phi, J, Psi are
links written out as complex numbers (rings/papers/koul_by_hand.py); accelerations and forces are those of all Newton-Euler equations in
absolute coordinates, with 34 digits.

    python -m tests.data.generate.koul_matrices              prints koul_reference.json again
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
from mpmath import mp, mpf, nstr

from benchmarks.closed_loop_set.references import plane_cases, scrapers, three_rrr
from benchmarks.closed_loop_set.references.plane import Plane
from tests.data.generate.koul_motion import DIGITS, SPEED
from tests.rings.papers import koul_by_hand

BODIES = {  # links in the paper's order
    "carpet-scraper": ("crank", "rocker", "coupler", "arm", "link5", "tool", "link7"),
    "3-rrr": ("link1", "link2", "platform", "link4", "link5", "link6", "link7"),
}
TURNED = {"carpet-scraper": 3}  # alpha_3 points from joint 3 to joint 8, against the coupler's own axis


@cache
def start(name: str, rates: str = "") -> tuple[Plane, list[Any], list[Any]]:
    """Return the mechanism at the start of Table 2; rates: another speed of every drive."""
    with mp.workdps(DIGITS):
        if name == "carpet-scraper":
            plane = scrapers.koul()
            return plane, *scrapers.at(plane, 0, rates or SPEED)
        plane = three_rrr.koul()
        x = plane.assembled([mpf(a) for a in three_rrr.STARTS], plane_cases.guess(plane, three_rrr.DRAWN))
        return plane, x, plane.speeds(x, [mpf(rates or 0)] * 3)


def angles(name: str, rates: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Return theta and its rate in the paper's order, up to whole turns."""
    with mp.workdps(DIGITS):
        plane, x, v = start(name, rates)
        columns = [3 * plane.index(body) + 2 for body in BODIES[name]]
        turn = [mp.pi if k == TURNED.get(name) else mpf(0) for k in range(1, 8)]
        alpha, rate = [x[c] + t for c, t in zip(columns, turn, strict=True)], [v[c] for c in columns]
        example = koul_by_hand.LINKS[name].example
        across = mp.matrix(example.A.tolist()) ** -1
        theta = across * mp.matrix([a - mpf(o) for a, o in zip(alpha, example.offsets, strict=True)])
        return np.array([float(y) for y in theta]), np.array([float(y) for y in across * mp.matrix(rate)])


def reference(name: str) -> dict[str, np.ndarray]:
    """Return the entries of one example: at the start, and I and C q' in motion (the manipulator's cranks at 1 rad/s)."""
    links = koul_by_hand.LINKS[name]
    still, moving = links.matrices(*angles(name)), angles(name, "1" if name == "3-rrr" else "")
    return {**still._asdict(), "moving_I": links.matrices(*moving).I, "moving_C": links.coriolis(*moving)}


def loads(name: str) -> tuple[dict[str, Any], dict[str, tuple[Any, Any]]]:
    """Return the drives' accelerations, and the forces of all pins on their second bodies, at the start."""
    with mp.workdps(DIGITS):
        plane, x, v = start(name)
        a, lam = plane.forward(x, v)
        pins = {pin.name: (lam[2 * i], lam[2 * i + 1]) for i, pin in enumerate(plane.pins)}
        return {drive: a[3 * plane.index(drive) + 2] for drive in plane.drives}, pins


def main() -> None:
    print(json.dumps({name: {key: x.tolist() for key, x in reference(name).items()} for name in BODIES}, indent=1))
    for name in BODIES:
        accelerations, pins = loads(name)
        print(f"{name}:", {drive: nstr(a, 18) for drive, a in accelerations.items()}, "rad/s^2")
        print("   ", {pin: [nstr(y, 18) for y in force] for pin, force in pins.items()}, "N")


if __name__ == "__main__":
    main()
