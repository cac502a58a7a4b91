"""How quickly can a delta robot pick and place?

One learns: from a path, torque limits and limits of the ball joints to the time-optimal motion, and which limit decides where.
The check is a delta robot on paper (inverse kinematics in closed form, d'Alembert's principle with numerical derivatives) and another
method: torques are linear in u = s'' and x = s'^2, and the fastest motion has the largest x everywhere, so that one linear program over
the whole path, the largest sum of x, gives it at once.

python gallery/delta_fastest.py [folder]      writes delta_fastest.html and .png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import diags_array, vstack

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("delta")
points = [(-0.15, -0.05, -0.95), (-0.15, -0.05, -0.85), (0.15, 0.05, -0.85), (0.15, 0.05, -0.95)]
way = {"platform.C": lw.control.polyline(points, rounding="50 mm")}
motors = {"*.torque": "12 N m", "*.v": "20 rad/s"}
quick = m.time_optimal(way, motors, steps=200)
careful = m.time_optimal(way, {**motors, "P?.load": "18 N"}, steps=200)  # the ball joints at the platform
print(careful)

# ---- on paper
R, r, arm, rod, home, limit = 0.2, 0.06, 0.35, 0.8, np.radians(20), 12.0
out = np.array([[np.cos(a), np.sin(a), 0.0] for a in np.radians([0, 120, 240])])
down = np.array([0.0, 0.0, -1.0])


def angles(p):
    """Arms that reach the platform at p: a circle of the elbow about the base meets a sphere of radius `rod`."""
    d = p + (r - R) * out
    x, z = (d * out).sum(axis=1), d @ down
    return np.arctan2(z, x) - np.arccos((arm**2 + (d**2).sum(axis=1) - rod**2) / (2 * arm * np.hypot(x, z))) - home


def elbows(q):
    return (R + arm * np.cos(home + q))[:, None] * out + (arm * np.sin(home + q))[:, None] * down


def torques(p, v, a, h=1e-5):
    """Of the three arms, for position, velocity and acceleration of the platform; uniform rods weigh m/6 (2 1; 1 2) on their ends."""

    def second(f, h=2e-4):
        return (f(p + h * v + h * h * a / 2) - 2 * f(p) + f(p - h * v + h * h * a / 2)) / h**2

    Q = np.stack([(angles(p + h * e) - angles(p - h * e)) / (2 * h) for e in np.eye(3)], axis=1)  # dq/dp
    q, dp = angles(p), np.linalg.inv(Q)
    a_e, a_p = second(lambda x: elbows(angles(x))) - 9.81 * down, a - 9.81 * down  # less gravity
    u = 1.2 * (arm**2 / 3 + (0.025**2 + 0.022**2) / 4) * second(angles) - 1.2 * 9.81 * arm / 2 * np.cos(home + q)
    de = (elbows(q + h) - elbows(q - h)) / (2 * h)  # of each elbow by its own arm
    for k in range(3):
        u[k] += 2 * 0.08 / 6 * (2 * a_e[k] + a_p) @ de[k]
    return u + dp.T @ (0.5 * a_p + 2 * 0.08 / 6 * (a_e + 2 * a_p).sum(axis=0))


# ---- the largest x everywhere, by one linear program; path and grid are those of the motion
s, c = quick.s, quick.trajectory
rate, second = quick["path.rate"], quick["path.acceleration"]
inside = slice(1, -1)
place = c["platform.C"]
first = c["platform.C.v"][inside] / rate[inside, None]
bend = (c["platform.C.a"][inside] - first * second[inside, None]) / rate[inside, None] ** 2
first, bend = (np.concatenate([x[:1], x, x[-1:]]) for x in (first, bend))  # the path is straight at its ends
still = np.array([torques(p, 0 * p, 0 * p) for p in place])
push = np.array([torques(p, 0 * p, d) for p, d in zip(place, first, strict=True)]) - still
turn = np.array([torques(p, d, b) for p, d, b in zip(place, first, bend, strict=True)]) - still
n, ds, rows, right = len(s), np.diff(s), [], []
for k in range(3):
    for at in (slice(0, n - 1), slice(1, n)):  # limits hold at both ends of every interval
        on = push[at, k] / (2 * ds)
        here, there = (turn[at, k] - on, on) if at.start == 0 else (-on, on + turn[at, k])
        line = diags_array([here, there], offsets=[0, 1], shape=(n - 1, n))
        rows += [line, -line]
        right += [limit - still[at, k], limit + still[at, k]]
ends = [(0, 0)] + [(0, None)] * (n - 2) + [(0, 0)]
best = linprog(-np.ones(n), A_ub=vstack(rows), b_ub=np.concatenate(right), bounds=ends).x
check = float((2 * ds / (np.sqrt(best[:-1]) + np.sqrt(best[1:]))).sum())
print(f"with 18 N at the ball joints {careful.time:.4f} s, decided by {', '.join(sorted(set(careful.active) - {''}))}")
print(f"fastest pick and place: {quick.time:.4f} s (check: {check:.4f})")
assert abs(quick.time - check) < 1e-3 * check and quick.ok and careful.ok  # rods on paper have no thickness

careful.trajectory.show(folder / "delta_fastest.html")
careful.plot(["A1.torque", "A2.torque", "A3.torque", "P6.load"], folder / "delta_fastest.png", size=(4.2, 3.2))
