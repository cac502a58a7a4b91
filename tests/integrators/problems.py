"""Problems with known solutions, as kernels in plain Python."""

from __future__ import annotations

import math

import numpy as np

from linkwright.integrators import INTEGRATORS, Method, Problem, StepKernel

GRAVITY, LENGTH = 9.81, 0.7
METHODS: dict[str, Method] = {x.name: x for x in INTEGRATORS.values()}  # each once, though some have two names
ADAPTIVE = [name for name, x in METHODS.items() if x.adaptive]


def every_method(step: float, tolerance: float, **tolerances: float) -> list[tuple[str, dict[str, float]]]:
    """Each registered method with its option: a step where it is fixed, otherwise a tolerance, or its own one in `tolerances`."""
    assert tolerances.keys() <= set(ADAPTIVE)
    return [(name, {"tolerance": tolerances.get(name, tolerance)} if x.adaptive else {"step": step}) for name, x in METHODS.items()]


def oscillator(x, y, w):
    y[0] = x[1]
    y[1] = -x[0]
    return 0


def kepler(x, y, w):
    r = math.sqrt(x[0] * x[0] + x[1] * x[1])
    y[0], y[1] = x[2], x[3]
    y[2], y[3] = -x[0] / (r * r * r), -x[1] / (r * r * r)
    return 0


def van_der_pol(x, y, w):
    y[0] = x[1]
    y[1] = x[3] * (1.0 - x[0] * x[0]) * x[1] - x[0]
    return 0


def falling(x, y, w):
    y[0] = x[1]
    y[1] = -GRAVITY
    return 0


def pendulum(x, y, w):
    """A point on a circle in its two coordinates: a = g + lam (x, y) with x . a + v . v = 0."""
    r2 = x[0] * x[0] + x[1] * x[1]
    lam = -(x[2] * x[2] + x[3] * x[3] - GRAVITY * x[1]) / r2
    y[0], y[1] = x[2], x[3]
    y[2], y[3] = lam * x[0], lam * x[1] - GRAVITY
    return 0


def onto_the_circle(x, y, w):
    """One Newton step for x^2 + y^2 = L^2, in units of L; the velocity made tangential."""
    r2 = x[0] * x[0] + x[1] * x[1]
    gap = 0.5 * (r2 - LENGTH * LENGTH) / (LENGTH * LENGTH)
    radial = (x[0] * x[2] + x[1] * x[3]) / (LENGTH * LENGTH)
    move = gap * LENGTH * LENGTH / r2
    turn = radial * LENGTH * LENGTH / r2
    for i in range(2):
        y[i] = x[i] - move * x[i]
        y[2 + i] = x[2 + i] - turn * x[i]
    y[4], y[5], y[6] = abs(gap), abs(radial), abs(move) * math.sqrt(r2) / LENGTH
    return 0


def spinning(x, y, w):
    """Quaternion (w, x, y, z) with constant body rates in the velocities."""
    q, v = x, x[4:]
    y[0] = 0.5 * (-q[1] * v[0] - q[2] * v[1] - q[3] * v[2])
    y[1] = 0.5 * (q[0] * v[0] + q[2] * v[2] - q[3] * v[1])
    y[2] = 0.5 * (q[0] * v[1] + q[3] * v[0] - q[1] * v[2])
    y[3] = 0.5 * (q[0] * v[2] + q[1] * v[1] - q[2] * v[0])
    y[4] = y[5] = y[6] = 0.0
    return 0


OSCILLATOR = Problem(StepKernel(3, 2, function=oscillator), 1, 1)
KEPLER = Problem(StepKernel(5, 4, function=kepler), 2, 2)
VAN_DER_POL = Problem(StepKernel(4, 2, function=van_der_pol), 1, 1, parameters=(5.0,))
CIRCLE = StepKernel(5, 7, function=onto_the_circle)
PENDULUM = Problem(StepKernel(5, 4, function=pendulum), 2, 2, project=CIRCLE)


def pendulum_start(angle: float) -> np.ndarray:
    return np.array([LENGTH * math.sin(angle), -LENGTH * math.cos(angle), 0.0, 0.0])


def pendulum_angle(angle: float, t: np.ndarray) -> np.ndarray:
    """Released at rest: sin(theta / 2) = k cd(omega t, k)."""
    from scipy.special import ellipj

    k = math.sin(angle / 2)
    _, cn, dn, _ = ellipj(math.sqrt(GRAVITY / LENGTH) * np.asarray(t), k * k)
    return 2.0 * np.arcsin(k * cn / dn)
