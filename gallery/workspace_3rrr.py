"""Where can a planar parallel robot work, and where does it lose control?

One learns: the reach of a 3-RRR at a fixed orientation, its singularities of type I and II as curves, and how stiff, quick and strong it is
between them. The check is the robot on paper: the reach is what three circles of stretched legs have in common, without three circles of
folded legs; every point of its rim lies on one of them, and on curves of type II the three rods pass through one point or are parallel.

python gallery/workspace_3rrr.py [folder]      writes workspace_3rrr.html and .png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("3-rrr")
drives = {"stiffness": "1e4 N m/rad", "speeds": "3 rad/s", "efforts": "200 N m", "payload": "5 kg"}
plane = {"platform.x": "-0.5..1.3 m / 100", "platform.y": "-0.6..1.2 m / 100"}
a = m.workspace(plane, "all", at={"platform.angle": "20 deg"}, **drives)
circle = a.inscribed("circle")
print(a)
print(f"largest circle without singularities: radius {1e3 * circle.radius:.0f} mm about ({circle.center[0]:.3f}, {circle.center[1]:.3f}) m")

# ---- on paper: cranks 0.4 m, rods 0.6 m, bearings A, pins P of the platform
A = np.array([0.0, 1.0, 0.5 + 0.5j * np.sqrt(3.0)])
P = np.array([0.0, 0.4, 0.2 + 0.2j * np.sqrt(3.0)]) * np.exp(1j * np.radians(20.0))


def places(kind):
    found = np.concatenate([c.points for c in a.curves if c.kind == kind])
    return found[:, :1] + 1j * found[:, 1:]


legs = np.abs(places("type I") + P - A)
rim = np.abs(legs[:, :, None] - [1.0, 0.2]).min(axis=(1, 2)).max()

pins = places("type II") + P
states = np.concatenate([c.q for c in a.curves if c.kind == "type II"])
cranks = np.stack([states[:, m.system.names.q.index(n)] for n in ("J1", "J8", "J9")], axis=1)
rods = (pins - (A + 0.4 * np.exp(1j * cranks))) / 0.6
forces = np.stack([rods.real, rods.imag, (pins.conj() * rods).imag], axis=2)
lost = np.abs(np.linalg.det(forces)).max()
assert rim < 1e-12 and lost < 1e-9

centers = A - P  # of the circles; those of folded legs lie within the reach
side = np.roll(centers, -1) - centers
apart = np.abs(side)
meet = 0.5 * (centers + np.roll(centers, -1)) + 1j * side / apart * np.sqrt(1.0 - 0.25 * apart**2)  # corners of the rim
chords = np.roll(meet, -1) - meet
corners = 0.5 * abs((chords[0].conjugate() * chords[1]).imag)
angles = 2.0 * np.arcsin(0.5 * np.abs(chords))
area = corners + 0.5 * (angles - np.sin(angles)).sum() - 3.0 * np.pi * 0.2**2

a.plot(["dexterity", "stiffness"], folder / "workspace_3rrr.png", size=(8.4, 3.9))
sliders = {"platform.x": (-0.5, 1.3, 46), "platform.y": (-0.6, 1.2, 46), "platform.angle": ("-20 deg", "100 deg", 13)}
m.workspace(sliders, "all", **drives).show(folder / "workspace_3rrr.html")
print(f"reach at 20 degrees: {a.size:.3f} m^2 (check: {area:.3f})")
