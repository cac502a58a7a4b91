"""Runs of Hoang's robot that its items share: exact ones, and by the method of the paper.

The integration step is not in the paper: 0.002 s fits what it says of residuals in both cases.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from linkwright.api import compile, drives, load, stabilizers

LINK, ARM, BASE, RADIUS = 0.62, 0.581, 1.2, 0.2 / math.sqrt(3.0)  # m: l2, l1, L0, b
GAIN = 10.0  # r Km / Ra, N m / V
WANTED = {"A1": 0.4, "A2": 0.8, "A3": 1.0}
STEP = 0.002  # s, of the paper's own method


@cache
def robot() -> Any:
    return compile(load("3-rrr-motors"))


def drive(case: int) -> dict[str, Any]:
    """Case 1: constant voltages. Case 2: the PD law read as joint torque, through the motor's constant."""
    if case == 1:
        return {"A1": drives.voltage(5), "A2": drives.voltage(-5), "A3": drives.voltage(5)}

    def law(joint: str) -> Any:
        return drives.voltage(lambda t, st: (150.0 * (WANTED[joint] - st[joint]) - 50.0 * st[f"{joint}.v"]) / GAIN)

    return {joint: law(joint) for joint in WANTED}


@cache
def exact(case: int) -> Any:
    """Five seconds, every millisecond, far more accurate than any figure."""
    s = robot()
    return s.simulate(s.start, 5.0, drive=drive(case), tolerance=1e-10, sample_interval=np.linspace(0.0, 5.0, 5001))


@cache
def as_published(case: int, post_adjusted: bool = True) -> Any:
    """Three seconds by the paper's own method: Runge-Kutta 4 with Baumgarte's terms and post-adjusting, sampled at every step."""
    s = robot()
    keep: Any = stabilizers.Baumgarte(1.0, 100.0 * math.sqrt(2.0))
    if post_adjusted:
        keep = keep + stabilizers.PostAdjust(M=0.1, A=100.0 * (2.0 * LINK) ** 2)
    times = np.linspace(0.0, 3.0, 1501)
    return s.simulate(s.start, 3.0, drive=drive(case), integrator="rk4", step=STEP, stabilizer=keep, sample_interval=times)


def gaps(run: Any) -> np.ndarray:
    """Largest |f| of (36) at every sample, m^2, from the printed equation."""
    q = np.asarray(run.q)
    corners = np.array([[0.0, 0.0], [BASE, 0.0], [BASE / 2.0, BASE * math.sqrt(3.0) / 2.0]])
    turn = q[:, 5:6] + np.array([7.0 * math.pi / 6.0, -math.pi / 6.0, math.pi / 2.0])
    dx = q[:, 3:4] + RADIUS * np.cos(turn) - corners[:, 0] - ARM * np.cos(q[:, :3])
    dy = q[:, 4:5] + RADIUS * np.sin(turn) - corners[:, 1] - ARM * np.sin(q[:, :3])
    return np.abs(dx**2 + dy**2 - LINK**2).max(axis=1)


def determinants(case: int) -> tuple[np.ndarray, np.ndarray]:
    """det Phi_theta and det Phi_x of (36), m^6 and m^4: rows here are f / (2 l2)."""
    run = exact(case)
    size = (2.0 * LINK) ** 3
    return size * np.asarray(run["det.independent"]), size * np.asarray(run["det.dependent"])


def crossings(case: int) -> tuple[int, int]:
    """Sign changes of det Phi_theta and det Phi_x in the first second."""
    theta, x = (int(np.count_nonzero(np.diff(np.sign(values[:1001])))) for values in determinants(case))
    return theta, x


def zeros(case: int) -> np.ndarray:
    """Times at which det Phi_x changes its sign."""
    x = determinants(case)[1]
    at = np.flatnonzero(np.diff(np.sign(x)))
    t = np.asarray(exact(case).t)
    return t[at] + (t[at + 1] - t[at]) * x[at] / (x[at] - x[at + 1])
