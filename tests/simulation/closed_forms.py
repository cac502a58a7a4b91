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


def change_point(A):
    """(M, V) of the change-point four-bar with M/2 A'^2 + V constant: the coupler's direction along the smooth branch is
    analytic in A, with sin(delta/2) = sqrt(l0 l1 / (l2 l3)) cos(A/2) between the links at C."""
    l0, l1, l2, l3 = 1.0, 0.5, 0.8, 0.7
    ratio = math.sqrt(l0 * l1 / (l2 * l3))
    delta = 2 * np.arcsin(ratio * np.cos(A / 2))
    slope = -ratio * np.sin(A / 2) / np.cos(delta / 2)
    B = l1 * np.exp(1j * A)
    w, dw = l2 + l3 * np.exp(-1j * delta), -1j * slope * l3 * np.exp(-1j * delta)
    u = (l0 - B) / w
    spin = (-1j * B / (l0 - B) - dw / w).imag
    C, dC = B + l2 * u, 1j * B + 1j * l2 * spin * u
    links = ((l1, B / 2, B / 2, 1.0), (l2, (B + C) / 2, (1j * B + dC) / 2, spin), (l3, (C + l0) / 2, dC / 2, spin - slope))
    M = sum(l * (abs(dp) ** 2 + l * l / 12 * turn**2) for l, _, dp, turn in links)
    return M, sum(l * GRAVITY * p.imag for l, p, _, _ in links)


def change_point_error(start: float, speed: float, time: float, end: float) -> float:
    """By how much the crank's angle `end` at `time` differs from the closed form: time is the integral of the slowness, by
    Gauss's rule on quarter turns (40 points each: to round-off)."""
    M, V = change_point(np.array([start]))
    E = 0.5 * M[0] * speed**2 + V[0]

    def slowness(A):
        M, V = change_point(A)
        return np.sqrt(M / (2 * (E - V)))

    x, weight = np.polynomial.legendre.leggauss(40)
    edges = np.linspace(start, end, 1 + math.ceil((end - start) / (math.pi / 2)))
    half = 0.5 * np.diff(edges)
    nodes = 0.5 * (edges[1:] + edges[:-1])[:, None] + half[:, None] * x
    total = float(np.sum(half[:, None] * weight * slowness(nodes)))
    return (total - time) / float(slowness(np.array([end]))[0])
