"""How hard must the two motors of an ankle push off?

One learns: the map between motors and joints of a humanoid's ankle. 80 N m of pitch and 10 N m of roll at the joints, late in a step, are
torques of two motors through cranks and pushrods; the same map gives reflected inertia, dead centers, C for the controller and a tree for
simulators.
The check is the ankle on paper: a crank's angle from its circle and the rod's length, rods that carry forces along their line, and the
moments of both rods about the pitch and roll axes.

python gallery/ankle.py [folder]      writes ankle.html and .png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("ankle")
s = m.system
t = s.transmission(motors=["left", "right"], joints=["pitch", "roll"])
pose = {"pitch": "25 deg", "roll": "6 deg"}
x = t.at(joints=pose)
tau = x.motor_torques({"pitch": "80 N m", "roll": "10 N m"})
print(t.summary())
print("motor torques", dict(zip(t.motors, tau.round(3).tolist(), strict=True)), "N m")
print("armature of cranks, rods and rotors at the joints, kg m^2\n", x.reflected.M.round(6))
print(t.polynomials(4))
print("tree for simulators: inertia off by at most", f"{100 * t.tree().difference.inertia:.1f} %")

# ---- on paper: lengths of the model file, in meters
r, lever, half, drop, high = 0.052, 0.044, 0.032, 0.008, (0.210, 0.290)
a, b = np.radians(25), np.radians(6)
Ry = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
Rx = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
moments, angles, arms = [], [], []
for side, z in zip((1, -1), high, strict=True):
    C, S = np.array([0, side * half, z]), Ry @ Rx @ [-lever, side * half, -drop]
    length2 = (lever - r) ** 2 + (z + drop) ** 2
    # |C + r (-cos, 0, sin) - S| = length: p cos + q sin = w
    d = C - S
    p, q, w = -2 * r * d[0], 2 * r * d[2], length2 - r * r - d @ d
    angle = np.arctan2(q, p) - np.arccos(w / np.hypot(p, q))
    R = C + r * np.array([-np.cos(angle), 0, np.sin(angle)])
    rod = (S - R) / np.linalg.norm(S - R)  # from crank to foot
    on_foot = np.cross(S, rod)
    moments.append([on_foot[1], on_foot @ Ry[:, 0]])  # about the axes of pitch and, turned by it, roll
    arms.append(np.cross(R - C, -rod)[1])
    angles.append(np.arctan2(np.sin(angle), np.cos(angle)))
pushes = np.linalg.solve(np.array(moments).T, [80.0, 10.0])  # of the rods, N
paper = -pushes * arms  # the motor holds what the rod pushes back
assert np.allclose(angles, x.motor, atol=1e-12), (angles, x.motor)
print("pushes of the rods", pushes.round(1), "N")
print(f"torque of the left motor: {tau[0]:.4f} N m (check: {paper[0]:.4f})")
assert np.allclose(tau, paper, rtol=1e-10)

st = s.assemble(pose)
m.show(folder / "ankle.html")
m.plot("mechanism", folder / "ankle.png", at=st, trace=[], size=(4.2, 3.2), labels=False)
