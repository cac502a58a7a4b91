"""Hoang et al.: geometry of the singular positions of the 3-RRR robot, and what neglecting the motors' inductance costs.

Sec. 5.1 says where the robot is singular: det Phi_x = 0 where the three rods are parallel or concurrent, det Phi_theta = 0 where a leg is
stretched or folded. Here the nine positions that case 1 passes in its first second are refined to round-off, and the lines are drawn from
the printed equations (36), not from Linkwright's model; the texts are Linkwright's own.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Instant, compiled_of, drives
from linkwright.mechanics.closing.singular_position import LostRank, singular_position
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.hoang_runs import ARM, BASE, LINK, RADIUS, exact, robot

CORNERS = np.array([[0.0, 0.0], [BASE, 0.0], [BASE / 2.0, BASE * math.sqrt(3.0) / 2.0]])  # O1, O2, O3
PINS = np.array([7.0 * math.pi / 6.0, -math.pi / 6.0, math.pi / 2.0])  # of B1, B2, B3 on the platform
MOTOR = {"Kt": 3.0, "Ke": 0.1, "R": 3.0, "J": 0.01, "gear_ratio": 10.0}  # [Hoang2023 sec. 5.2]
VOLTS = {"A1": 5.0, "A2": -5.0, "A3": 5.0}
TIMES = (1e-4, 1e-3, 1e-2)  # s: L/R
SHIFTS = (5.163467e-4, 4.298646e-3, 1.3074781e-2)  # rad: largest of the three cranks after 1 s, by LSODA on (4)-(7), (35), (36)


class Passed(NamedTuple):
    """A singular position of case 1: when it is passed, what vanishes, the position, and the text of the run."""

    time: float
    kind: str  # "Phi_x" or "Phi_theta"
    q: np.ndarray
    geometry: str


@cache
def passed() -> tuple[Passed, ...]:
    """The zeros of both determinants in the first second of case 1, each refined to round-off."""
    run, s = exact(1), robot()
    out = []
    for p in run.passages:
        if p.time > 1.0:
            break
        near = Instant(compiled_of(s).skel, run.at(p.time).q, np.zeros(6), 0.0, run.references[0])
        held = (0, 1, 2) if p.kind == "drives" else (3, 4, 5)
        at = singular_position(LostRank(compiled_of(s).loops, held), near, s.start.instant, reach=1e-4)
        assert at is not None
        out.append(Passed(p.time, "Phi_x" if p.kind == "drives" else "Phi_theta", at.q, p.geometry))
    return tuple(out)


def rods(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(cranks, rods, pins B) of (36) as unit vectors and points, (3, 2) each."""
    crank = np.array([np.cos(q[:3]), np.sin(q[:3])]).T
    B = q[3:5] + RADIUS * np.array([np.cos(q[5] + PINS), np.sin(q[5] + PINS)]).T
    return crank, (B - CORNERS - ARM * crank) / LINK, B


def lines(q: np.ndarray) -> float:
    """Determinant of the lines of the three rods, unit normals and distances in m: 0 where they meet in one point or are parallel."""
    _, rod, B = rods(q)
    normals = np.array([-rod[:, 1], rod[:, 0]]).T
    return float(np.linalg.det(np.column_stack([normals, np.sum(normals * B, axis=1)])))


def sines(q: np.ndarray) -> np.ndarray:
    """Sines of the angles between crank and rod of the three legs."""
    crank, rod, _ = rods(q)
    return crank[:, 0] * rod[:, 1] - crank[:, 1] * rod[:, 0]


def _geometry(kind: str, off: float, what: str, printed: str) -> Item:
    found = [x for x in passed() if x.kind == kind]
    said = "; ".join(f"t = {x.time:.4f} s: {x.geometry}" for x in found)
    return compared(
        "Sec. 5.1",
        what,
        printed,
        f"{len(found)} positions of case 1 in the first second. {said}",
        off,
        1e-12,  # positions are closed to 1e-13 of the mechanism's size
        "0, from the printed equations (36)",
        "the texts are those of run.passages",
    )


def rods_meet() -> Item:
    off = max(abs(lines(x.q)) for x in passed() if x.kind == "Phi_x")
    return _geometry("Phi_x", off, "determinant of the lines of the rods where det Phi_x = 0", "the rods are parallel or concurrent")


def legs_in_line() -> Item:
    off = max(float(np.abs(sines(x.q)).min()) for x in passed() if x.kind == "Phi_theta")
    return _geometry("Phi_theta", off, "sine of crank and rod of one leg where det Phi_theta = 0", "a leg is stretched or folded")


@cache
def shift(tau: float) -> np.ndarray:
    """How far the cranks are from those of L = 0 after 1 s of case 1, rad."""
    s = robot()
    motor = drives.dc_motor(**MOTOR, L=MOTOR["R"] * tau)
    run: Any = s.simulate(
        s.start, 1.0, drive={n: drives.voltage(u, motor=motor) for n, u in VOLTS.items()}, tolerance=1e-10, sample_interval=[1.0]
    )
    return np.asarray(run.q[-1][:3]) - np.asarray(exact(1).q[1000][:3])


def inductance() -> Item:
    """Largest shift of a crank for three time constants."""
    found = [float(np.abs(shift(tau)).max()) for tau in TIMES]
    table = "; ".join(f"L/R = {1e3 * tau:g} ms: {x:.2e} rad" for tau, x in zip(TIMES, found, strict=True))
    return compared(
        "(8)-(14)",
        "case 1: largest shift of a crank after 1 s if L di/dt is not left out",
        "L di/dt = 0",
        table,
        max(abs(x / y - 1.0) for x, y in zip(found, SHIFTS, strict=True)),
        1e-6,  # the reference has seven digits
        "LSODA on the printed equations with the currents as states, relative",
        "neither L nor L/R of the motors is printed; lw.drives.dc_motor(time_constant=...) makes a run note such an estimate",
    )


ITEMS = (rods_meet, legs_in_line, inductance)
