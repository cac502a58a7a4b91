"""Equations (17), (35) and (36) of Hoang et al. as printed, with numpy alone: what items about them are compared with.

Coordinates and units are the paper's (f in m^2); first derivatives are complex steps. Rows of rods in the product are f / (2 l2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwright.rings.papers.hoang_runs import ARM, BASE, GAIN, LINK, RADIUS

PRINTED_START = np.array([-0.1259, 1.3727, 3.2675, 0.59363, 0.60145, 0.020707])
HALF_DIGIT = np.array([0.5e-4] * 3 + [0.5e-5] * 2 + [0.5e-6])
DAMPING = 10.0  # c = r^2 Km Ke / Ra, N m s/rad
ROTOR = 1.0  # r^2 J_m, kg m^2
M_S = np.array(
    [ROTOR + 0.13 + 2.072 * ARM**2 / 4.0 + 0.75 * ARM**2 / 2.0] * 3 + [0.978 + 1.5 * 0.75] * 2 + [0.007 + 1.5 * 0.75 * RADIUS**2]
)
SMALL = 1e-30  # complex step


def rods(q: Any) -> tuple[Any, Any, Any]:
    """Rods of (36) as (2, 3), and the vectors of their ends from the cranks' bearings and the platform's center; over any scalar."""
    corners = np.array([[0.0, BASE, BASE / 2.0], [0.0, 0.0, BASE * math.sqrt(3.0) / 2.0]])
    turn = q[5] + np.array([7.0 * math.pi / 6.0, -math.pi / 6.0, math.pi / 2.0])
    a, b = ARM * np.array([np.cos(q[:3]), np.sin(q[:3])]), RADIUS * np.array([np.cos(turn), np.sin(turn)])
    return q[3:5, None] + b - corners - a, a, b


def phi(q: Any) -> Any:
    """f of (36), m^2."""
    return (rods(q)[0] ** 2).sum(axis=0) - LINK**2


def Phi(q: np.ndarray) -> np.ndarray:
    """Phi_q by complex steps of f."""
    return np.column_stack([phi(q + SMALL * 1j * e).imag for e in np.eye(6)]) / SMALL


def bias(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(dPhi/dt) q' = 2 r'.r' + 2 r.r'' of the rods r, where only the circles of their ends have a second derivative along q'."""
    r, a, b = rods(q)
    rate = rods(q + SMALL * 1j * v)[0].imag / SMALL
    return 2.0 * (rate**2).sum(axis=0) + 2.0 * (r * (a * v[:3] ** 2 - b * v[5] ** 2)).sum(axis=0)


def accelerations(q: np.ndarray, v: np.ndarray, volts: np.ndarray) -> np.ndarray:
    """q'' of (17), (19): nine equations for q'' and lambda."""
    J = Phi(q)
    push = np.concatenate([GAIN * volts - DAMPING * v[:3], np.zeros(3)])
    whole = np.block([[np.diag(M_S), -J.T], [J, np.zeros((3, 3))]])
    return np.linalg.solve(whole, np.concatenate([push, -bias(q, v)]))[:6]
