"""Motions that are known otherwise: one-freedom equations of the test mechanisms, integrated tightly or by quadrature."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

GRAVITY = 9.81


def slider_crank(start: float, speed: float, times, torque: float = 1.0, gravity: float = GRAVITY) -> np.ndarray:
    """Angle of the equal slider-crank's crank on its smooth branch: (3 - 2 cos 2q) q'' + 2 sin 2q q'^2 + g cos q = torque."""

    def rates(t, y):
        a = (torque - 2 * math.sin(2 * y[0]) * y[1] ** 2 - gravity * math.cos(y[0])) / (3 - 2 * math.cos(2 * y[0]))
        return [y[1], a]

    t = np.atleast_1d(np.asarray(times, dtype=float))
    return solve_ivp(rates, (0.0, t[-1]), [start, speed], method="DOP853", t_eval=t, rtol=1e-13, atol=1e-13).y[0]


def parallelograms(n: int, times) -> np.ndarray:
    """Angle from upright of the cranks of n parallelograms in a row, started upright with 1 rad/s."""
    factor = GRAVITY * 3 * (3 * n + 1) / (2 * (4 * n + 1))
    t = np.atleast_1d(np.asarray(times, dtype=float))
    found = solve_ivp(lambda t, y: [y[1], factor * math.sin(y[0])], (0, t[-1]), [0.0, 1.0], "DOP853", t_eval=t, rtol=1e-13, atol=1e-13)
    return found.y[0]
