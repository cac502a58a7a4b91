"""Koul, Shah and Saha: subsystem-level Lagrange multipliers (SSLM), on the carpet scraper and the 3-RRR manipulator.

The items in the paper's order; here those of its Tables 1 and 2. Ground pivots, the base of the manipulator and gravity (9.81 m/s^2
along -y) are not in the paper and are taken as docs/reference/models.md says. papers/Koul2013/README.md has the details.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwright.rings.papers import Item, compared
from linkwright.rings.papers import koul_printed as printed_data
from linkwright.rings.papers.koul_matrices import SPEED, manipulator, scraper

ENDS = {  # the points of the models between which lengths of Table 1 are
    "carpet-scraper": (
        "crank.O1 crank.A", "rocker.O2 rocker.B", "coupler.A coupler.S", "arm.O4 arm.Q", "link5.P link5.S", "tool.Q tool.T",
        "link7.R link7.S",
    ),
    "3-rrr": (
        "link1.A1 link1.B1", "link2.B1 link2.P1", "platform.P1 platform.P2", "link4.P2 link4.B2", "link5.P3 link5.B3", "link6.A2 link6.B2",
        "link7.A3 link7.B3",
    ),
}  # fmt: skip
TABULATED = (0.73e-3, 13.30e-3, 22.12e-3, 157e-3, 57e-3, 2449e-3, 57e-3)  # kg m^2 about the links' origins [Chaudhary2007 Table 1]


def _data(s: Any, st: Any, lengths: tuple[float, ...], masses: tuple[float, ...]) -> float:
    """Largest difference of the model from a table, m or kg."""
    ends = (pair.split() for pair in ENDS[s.description.name])
    found = [float(np.linalg.norm(s.point(st, b) - s.point(st, a))) for a, b in ends]
    held = [s.description.body(pair.split(".")[0]).mass for pair in ENDS[s.description.name]]
    return float(max(np.abs(np.subtract(found, lengths)).max(), np.abs(np.subtract(held, masses)).max()))


def pantograph_error(s: Any, angles: range = range(0, 360, 30)) -> float:
    """How far the tool is from O4 + 3.5 (S - O4) over a cycle, m."""
    worst = 0.0
    for x in angles:
        st = s.assemble(q={"J1": math.radians(x)})
        pivot, pin, tip = (s.point(st, name) for name in ("arm.O4", "link5.S", "tool.T"))
        worst = max(worst, float(np.linalg.norm(tip - pivot - 3.5 * (pin - pivot))))
    return worst


def rod_inertias() -> np.ndarray:
    """Inertias of the scraper's links about their origins as uniform rods; the coupler's origin is its middle."""
    share = np.array([3.0, 3.0, 12.0, 3.0, 3.0, 3.0, 3.0])
    return np.array(printed_data.MASSES) * np.array(printed_data.LENGTHS) ** 2 / share


def link_parameters() -> Item:
    first = _data(*scraper(), printed_data.LENGTHS, printed_data.MASSES)
    off = max(first, _data(*manipulator(), printed_data.RRR_LENGTHS, printed_data.RRR_MASSES), pantograph_error(scraper()[0]))
    rods = float(np.abs(rod_inertias() / np.array(TABULATED) - 1.0).max())
    return compared(
        "Table 1",
        "lengths and masses of both examples, as used",
        "14 lengths, 14 masses",
        f"taken as printed; with joint 5 at 0.3346 - 0.239 m the tool enlarges 3.5 times exactly; uniform rods meet the inertias that "
        f"[Chaudhary2007] tabulates within {100 * rods:.1f} %",
        off,
        1e-12,
        "the table; T = O4 + 3.5 (S - O4) over a cycle",
        "inertias, ground pivots, the place of joint 5 and the manipulator's base are not in the table",
    )


def upright_angle() -> float:
    """theta_1 of the manipulator for which its platform is at exactly 60 deg, theta_6 and theta_7 as printed."""
    s, st = manipulator()

    def tilt(x: float) -> float:
        here = s.assemble({"J1": x, "J8": st["J8"], "J9": st["J9"]})
        return float(here["platform.angle"]) - math.pi / 3

    points = [1.04, 1.0395]
    values = [tilt(x) for x in points]
    while abs(points[-1] - points[-2]) > 1e-10:
        (x, y), (f, g) = points[-2:], values[-2:]
        points.append(y - g * (y - x) / (g - f))
        values.append(tilt(points[-1]))
    return points[-1]


def initial_configuration() -> Item:
    s, st = scraper()
    robot, start = manipulator()
    gap = max(
        float(np.abs(s.closure(st).phi).max()), float(np.abs(s.closure(st).J @ st.v).max()), float(np.abs(robot.closure(start).phi).max())
    )
    printed = max(abs(st["J1"]), abs(st["J1.v"] - SPEED), *(abs(start[j] - x) for j, x in (("J1", 1.04), ("J8", 4.1883), ("J9", 5.7637))))
    upright, angle = upright_angle(), math.degrees(start["platform.angle"])
    return compared(
        "Table 2",
        "initial angles and speeds of the drives",
        "scraper 0 and 4.7124 rad/s; 3-RRR 1.04, 4.1883, 5.7637 rad at rest",
        f"loops closed to {max(gap, 1e-17):.0e} m; the platform is at {angle:.3f} deg, at 60 deg theta_1 would be {upright:.5f} rad",
        max(printed, abs(upright - 1.04)),
        5e-3,
        "the table; theta_1 for a platform at 60 deg, within the two digits that 1.04 has",
        "on an equilateral base of 1 m, which is ours: that the platform is then upright makes it probable, not certain",
    )
