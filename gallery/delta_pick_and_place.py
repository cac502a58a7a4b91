"""A delta robot picks and places: does its motor do it?

One learns: from the motion of three arms to the torque of each, through a gearbox into the motor's torque-speed diagram, where
the cross (RMS torque at mean speed) must lie in the continuous region and the whole cycle inside the peak region.
The check is a delta robot on paper: the platform is a point that three spheres of radius `rod` fix, about the elbows moved
inwards by the platform's radius; arms are rods about a hinge; a uniform rod between moving ends weighs m/6 (2 1; 1 2) on
them. d'Alembert's principle with numerical derivatives of these positions gives the arm's torque, and from it the motor's.

python gallery/delta_pick_and_place.py [folder]      writes delta_pick_and_place.html and .png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np
from scipy.integrate import trapezoid

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

MOTOR = {"Kt": "0.05 N m/A", "R": "0.6 ohm", "J": "2e-5 kg m^2", "supply_voltage": "12 V", "rated_current": "3 A", "max_current": "6 A"}
RATIO, EFFICIENCY = 50, 0.9
m = lw.load("delta")
c = m.cycle(steps=60)
sizing = c.drive_sizing("A1", motor=MOTOR, gear_ratio=RATIO, efficiency=EFFICIENCY)
print(sizing)

# ---- on paper
R, r, arm, rod, home = 0.2, 0.06, 0.35, 0.8, np.radians(20)
out = np.array([[np.cos(a), np.sin(a), 0.0] for a in np.radians([0, 120, 240])])
down = np.array([0.0, 0.0, -1.0])


def elbows(q):
    return (R + arm * np.cos(home + q))[:, None] * out + (arm * np.sin(home + q))[:, None] * down


def platform(q):
    """The lower point at the distance `rod` from three elbows, each moved in by r."""
    p1, p2, p3 = elbows(q) - r * out
    n = np.cross(p2 - p1, p3 - p1)
    A = np.array([p2 - p1, p3 - p1, n])
    center = np.linalg.solve(A, [(p2 @ p2 - p1 @ p1) / 2, (p3 @ p3 - p1 @ p1) / 2, n @ p1])
    drop = np.sqrt(rod**2 - (center - p1) @ (center - p1)) * n / np.linalg.norm(n)
    return min(center + drop, center - drop, key=lambda p: p[2])


def along(f, q, v, a, h=1e-4):
    """Acceleration of f(q(t)) by central differences in time."""
    return (f(q + h * v + h * h * a / 2) - 2 * f(q) + f(q - h * v + h * h * a / 2)) / h**2


def torque(q, v, a, h=1e-6):
    """Of arm 1: inertia of the arm, and what its two rods, the others' and the platform pass on."""
    turn = 1.2 * (arm**2 / 3 + (0.025**2 + 0.022**2) / 4) * a[0] - 1.2 * 9.81 * arm / 2 * np.cos(home + q[0])
    one = np.array([h, 0.0, 0.0])
    de, dp = (elbows(q + one) - elbows(q - one)) / (2 * h), (platform(q + one) - platform(q - one)) / (2 * h)
    a_e, a_p = along(elbows, q, v, a) - 9.81 * down, along(platform, q, v, a) - 9.81 * down  # less gravity
    rods = 2 * 0.08 / 6 * sum((2 * a_e[k] + a_p) @ de[k] + (a_e[k] + 2 * a_p) @ dp for k in range(3))
    return turn + 0.5 * a_p @ dp + rods


Q, V, A = (np.stack([c[f"A{k}{rate}"] for k in (1, 2, 3)], axis=1) for rate in ("", ".v", ".a"))
T = np.array([torque(*x) for x in zip(Q, V, A, strict=True)])
V1 = np.where(np.abs(V[:, 0]) > 1e-9, V[:, 0], 0.0)  # round-off in a dwell is no speed
shaft = np.where(T * V1 >= 0, T / EFFICIENCY, T * EFFICIENCY) / RATIO + 2e-5 * RATIO * A[:, 0]
check = float(np.sqrt(trapezoid(shaft**2, c.t) / np.ptp(c.t)))
found = float(np.sqrt(trapezoid(sizing.motor_torque**2, c.t) / np.ptp(c.t)))
print(f"arm 1 needs up to {np.abs(c['A1.torque']).max():.3f} N m, on paper {np.abs(T).max():.3f} N m")
print(f"RMS torque of the motor: {found:.5f} N m (check: {check:.5f})")
assert abs(found - check) < 1e-4 * check  # rods on paper have no thickness

m.show(folder / "delta_pick_and_place.html")
sizing.plot(folder / "delta_pick_and_place.png", size=(4.2, 3.2))
