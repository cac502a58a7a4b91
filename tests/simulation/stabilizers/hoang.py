"""Hoang's robot with its motors, integrated by a small Runge-Kutta loop of its own around the kernels.

Quasi-static motors: joint torque 10 u - 10 w (u in V, w in rad/s); rotors r^2 J = 1 kg m^2 on the cranks. f = |r|^2 - l2^2 = 2 l2 phi.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import yaml
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.model import library as models
from linkwright.simulation.stabilizers import Baumgarte, PostAdjust
from tests.reference import load

REFERENCE = load("aghili_hoang")
STATES = {1: REFERENCE["hoang_3rrr"]["case1 u=[5,-5,5] V (k=10,c=10)"]["states"]}
STATES[2] = REFERENCE["hoang_3rrr"]["case2 PD=joint torque (k=1,c=10)"]["states"]
ERRORS = {n: REFERENCE["hoang_stabilization_errors_vs_truth"][f"case{n} dt=0.002 err at .1,.5,1,2,3"] for n in (1, 2)}
ROD = 0.62
DRIVES = ("A1", "A2", "A3")
PAPER_BAUMGARTE = Baumgarte(delta=1.0, omega0=100 * np.sqrt(2.0))
PAPER_ADJUST = PostAdjust(M=0.1, A=100.0 * (2 * ROD) ** 2)


@cache
def robot() -> lw.System:
    document = yaml.safe_load(Path(models.__file__).with_name("3-rrr-motors.yaml").read_text(encoding="utf-8"))
    for crank in ("crank1", "crank2", "crank3"):
        document["bodies"][crank]["inertia"] = "0.13 kg m^2 + 1 kg m^2"
    return lw.compile(lw.load(document))


def torque(case: int, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Case 1: constant voltages. Case 2: the PD law as joint torque, with back-emf."""
    out = np.zeros(6)
    given = [50.0, -50.0, 50.0] if case == 1 else 150.0 * (np.array([0.4, 0.8, 1.0]) - q[:3]) - 50.0 * v[:3]
    out[:3] = given - 10.0 * v[:3]
    return out


def rates(case: int, y: np.ndarray, gains=None) -> np.ndarray:
    q, v = y[:6], y[6:]
    kernel = robot().kernel("rates", baumgarte=gains is not None)
    found = kernel(q, v, torque(case, q, v)) if gains is None else kernel(q, v, torque(case, q, v), gains)
    return np.concatenate([found.qdot, found.a])


@cache
def run(case: int, stabilizer, step: float, end: float) -> np.ndarray:
    """States after every step of Runge-Kutta 4, corrected after each as the stabilizer says."""
    s = robot()
    gains = None if stabilizer.gains is None else np.array(stabilizer.gains)
    correction = stabilizer.correction(s.kernels, s.start.q, s.start.references, DRIVES)
    y, out = np.concatenate([s.start.q, np.zeros(6)]), []
    out.append(y)
    for _ in range(round(end / step)):
        k1 = rates(case, y, gains)
        k2 = rates(case, y + 0.5 * step * k1, gains)
        k3 = rates(case, y + 0.5 * step * k2, gains)
        k4 = rates(case, y + step * k3, gains)
        y = y + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        out.append(y := y if correction is None else corrected(correction, y, gains))
    return np.array(out)


def corrected(correction, y: np.ndarray, gains) -> np.ndarray:
    more = {"tau": np.zeros(6)} | ({} if gains is None else {"gains": gains})
    q, v = y[:6], y[6:]
    for _ in range(1 if correction.once else 3):
        done = correction.kernel(q, v, **more)
        q = done.q
    return np.concatenate([q, done.v if correction.once else correction.kernel(q, v, **more).v])


def gap(path: np.ndarray) -> np.ndarray:
    """|f| of every state: the largest of the three, m^2."""
    return 2 * ROD * np.abs(robot().kernel("closure")(path[:, :6], path[:, 6:]).phi).max(axis=1)


@cache
def truth(case: int, end: float) -> dict[float, np.ndarray]:
    """Coordinates at the reference's times, good to 1e-9."""
    times = [t for t in (0.1, 0.5, 1.0, 2.0, 3.0) if t <= end]
    start = np.concatenate([robot().start.q, np.zeros(6)])
    found = solve_ivp(lambda t, y: rates(case, y), (0.0, end), start, method="DOP853", t_eval=times, rtol=1e-13, atol=1e-13)
    return {t: found.y[:6, i] for i, t in enumerate(times)}
