"""A cam pushes cartons and rests twice a turn: up to which speed does its spring hold the roller on the cam?

One learns: a cam pushes and never pulls. The spring must slow the pusher down before the end of its stroke, and what that takes grows
with the square of the speed. Profile, pressure angle and curvature follow from the motion law, base circle and roller; `m.export` writes
the profile 1:1 for the workshop. The check needs the law alone: spring force over mass times acceleration, at its least over the rise.

python gallery/cam_pusher.py [folder]      writes cam_pusher.html, cam_pusher.png and the profile cam_pusher.svg into folder
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load(
    {
        "name": "cam-pusher",
        "plane": "xy",
        "units": ["mm", "kg", "deg", "rpm"],
        "gravity": ["0", "-9.81 m/s^2"],
        "parameters": {"base": "45 mm", "roller": "12 mm", "stroke": "40 mm"},
        "drawing": {"A": [0, 0], "R": [57, 0], "S": [110, 0], "P": [230, 0], "W": [180, 0]},
        "bodies": {
            "ground": {"pins": ["A"], "points": ["W"]},
            "disc": {"pins": ["A"], "mass": 4, "com": "A", "inertia": "6e-3 kg m^2"},
            "pusher": {"points": ["R", "S", "P"], "mass": 3, "com": "S", "inertia": "2e-2 kg m^2"},
        },
        "joints": {"slide": {"type": "prismatic", "between": ["ground", "pusher"], "at": "P", "axis": [1, 0]}},
        "cams": {
            "cam": {
                "from": "A",
                "to": "slide",
                "roller": {"at": "pusher.R", "radius": "roller"},
                "base": "base",
                "moves": [{"to": "stroke", "in": 120}, {"dwell": 60}, {"to": 0, "in": 120}, {"dwell": 60}],
            }
        },
        "springs": {"return": {"between": ["ground.W", "pusher.S"], "stiffness": "3 N/mm", "free_length": 110}},
        "drive": {"A": "150 rpm"},
    }
)
cam = m.cam("cam", motion=m.cycle(steps=1440))
print(cam)
assert cam.notes == () and abs(cam.base - 0.045) < 1e-12

h, beta, mass, k = 0.040, np.radians(120.0), 3.0, 3e3
x = np.linspace(0.0, 1.0, 200_001)  # of the rise: cycloidal
lift = h * (x - np.sin(2 * np.pi * x) / (2 * np.pi))
bend = 2 * np.pi * h / beta**2 * np.sin(2 * np.pi * x)  # second derivative by the angle of the cam
slowing = bend < -1e-6
squared = np.min(k * (0.110 - 0.070 + lift[slowing]) / (-mass * bend[slowing]))  # the spring is 40 mm shorter than free in the drawing
speed, check = cam.forces.speed * 30 / np.pi, np.sqrt(squared) * 30 / np.pi
print(f"speed at which the roller lifts off: {speed:.1f} rpm (check: {check:.1f})")
assert abs(speed - check) < 1e-4 * check

fast = m.with_(**{"drive.A": 1.1 * cam.forces.speed}).cam()
print(fast.notes[0])
m.show(folder / "cam_pusher.html")
m.plot("mechanism", folder / "cam_pusher.png", trace=[], size=(4.2, 3.2), labels=False)
m.export(folder / "cam_pusher.svg", cam="cam", bore="20 mm")
