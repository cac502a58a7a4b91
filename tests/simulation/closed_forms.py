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


def three_cranks(speed: float, seconds: float) -> float:
    """Angle of the cranks of `three-cranks` from +x: with p = pi/2 - A a pendulum, p'' = (g 1.4 / I) sin p."""
    inertia = 3 * 0.16 / 3 + 0.32
    found = solve_ivp(
        lambda t, y: [y[1], GRAVITY * 1.4 / inertia * math.sin(y[0])], (0, seconds), [0.0, -speed], "DOP853", rtol=1e-13, atol=1e-13
    )
    return math.pi / 2 - found.y[0, -1]


def sarrus(seconds: float) -> float:
    """Height of the top of `sarrus`, 2 L sin p, started at p = pi/4 with p' = -0.5: M p'' + M' p'^2 / 2 + 8 g L cos p = 0."""
    length = math.sqrt(0.08)
    rod = length**2 / 12

    def mass(p: float) -> tuple[float, float]:
        s, c = math.sin(p), math.cos(p)
        value = 2 * (rod + length**2 / 4) + 2 * rod + length**2 * (0.5 * s * s + 4.5 * c * c + 8 * c * c)
        return value, -24.0 * length**2 * s * c

    def rates(t: float, y: np.ndarray) -> list[float]:
        m, slope = mass(y[0])
        return [y[1], -(0.5 * slope * y[1] ** 2 + 8 * GRAVITY * length * math.cos(y[0])) / m]

    found = solve_ivp(rates, (0, seconds), [math.pi / 4, -0.5], "DOP853", rtol=1e-13, atol=1e-13)
    return 2 * length * math.sin(found.y[0, -1])
