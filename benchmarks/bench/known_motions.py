"""Motions through singular positions that are known otherwise, to judge runs by: one degree of freedom, closed geometry, quadrature."""

from __future__ import annotations

import numpy as np

from linkwright.integrators import Problem, integrate, python_kernel

GRAVITY = 9.81
GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.5, 0.8, 0.7  # meters, of the change-point four-bar; rods of 1 kg/m
NODES = 120  # of a Gauss rule over one turn of the crank, enough for round-off


def chain_angle(n: int, seconds: float) -> float:
    """Angle by which the cranks of n parallelograms in a row have turned from upright, started with 1 rad/s."""
    factor = GRAVITY * 3 * (3 * n + 1) / (2 * (4 * n + 1))

    def rates(x: np.ndarray) -> np.ndarray:
        return np.array([x[1], factor * np.sin(x[0])])

    one = Problem(python_kernel(rates, 3, 2), 1, 1)
    return float(integrate(one, [0.0, 1.0], 0.0, seconds, tolerance=1e-13, samples=[seconds]).y[-1, 0])


def change_point(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(inertia, potential) of the change-point four-bar on its smooth branch, as functions of the crank's angle.

    Where the links at C are bent by delta, sin(delta/2) = sqrt(l0 l1 / (l2 l3)) cos(angle/2) is the branch that goes straight
    through. In complex numbers: from B to D lies the coupler turned by u times (l2 + l3 exp(-i delta))."""
    ratio = np.sqrt(GROUND * CRANK / (COUPLER * ROCKER))
    delta = 2 * np.arcsin(ratio * np.cos(angle / 2))
    bend = -ratio * np.sin(angle / 2) / np.cos(delta / 2)  # d delta / d angle
    B = CRANK * np.exp(1j * angle)
    shape = COUPLER + ROCKER * np.exp(-1j * delta)
    u = (GROUND - B) / shape
    spin = np.imag(-1j * B / (GROUND - B) + 1j * bend * ROCKER * np.exp(-1j * delta) / shape)  # of the coupler
    C, C_rate = B + COUPLER * u, 1j * B + 1j * spin * COUPLER * u
    rods = (
        (CRANK, B / 2, 1j * B / 2, 1.0),
        (COUPLER, (B + C) / 2, (1j * B + C_rate) / 2, spin),
        (ROCKER, (C + GROUND) / 2, C_rate / 2, spin - bend),
    )
    inertia = sum(l * np.abs(rate) ** 2 + l**3 / 12 * turn**2 for l, _, rate, turn in rods)
    return np.asarray(inertia), np.asarray(sum(GRAVITY * l * np.imag(middle) for l, middle, _, _ in rods))


def change_point_error(start: float, speed: float, seconds: float, end: float) -> float:
    """How far a crank that began at `start` with `speed` > 0 is from where it should be, if it is at `end` after that time."""
    M, V = change_point(np.array([start]))
    total = 0.5 * M * speed**2 + V

    def slowness(angle: np.ndarray) -> np.ndarray:
        M, V = change_point(angle)
        return np.sqrt(M / (2 * (total - V)))

    x, w = np.polynomial.legendre.leggauss(NODES)
    edges = np.linspace(start, end, 1 + int(np.ceil((end - start) / np.pi)))
    half = 0.5 * (edges[1] - edges[0])
    needed = sum(float(half * w @ slowness(left + half * (1 + x))) for left in edges[:-1])
    return (needed - seconds) / float(slowness(np.array([end]))[0])
