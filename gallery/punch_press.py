"""A knuckle press: 120 kN at the sheet from a small torque, and the flywheel that carries it over the stroke.

One learns: near its lowest point the knuckle multiplies force, the torque has a peak where the sheet is met and changes its sign
behind it; a motor that gives the mean only needs a flywheel to lend the rest.
The check: at low speed the work that the crank does is the work the sheet takes (the area under its force over the stroke, by
trapezoids on paper) plus the lifting of links and ram. What a flywheel must lend is the range of that energy over a cycle,
E = range of (area + weight times height), and for a fluctuation f at speed w it needs I = E / (f w^2). Torques do not enter.

python gallery/punch_press.py [folder]      writes punch_press.html and punch_press.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("punch-press")
still = m.cycle(steps=240, speed=0)  # slow: no inertia
wheel = still.flywheel(0.05, speed="60 rpm")

# The sheet's force over the ram's height as in the file, m and N, and its area from the top down to a height y.
height = 1e-3 * np.array([38, 42, 44, 46, 48, 50])
force = 1e3 * np.array([120, 100, 80, 45, 12, 0])


def area(y):
    """Work the sheet has taken when the ram is at y: trapezoids between the points of the table above y."""
    h = np.append(y, height[height > y])
    f = np.append(np.interp(y, height, force), force[height > y])
    return float(np.sum(0.5 * (f[1:] + f[:-1]) * np.diff(h)))


middle = {"crank": ("E", "B", 8), "rod": ("B", "K", 6), "upper": ("O", "K", 7), "lower": ("K", "R", 7)}  # uniform: weight half-way
lifted = sum(kg * 9.81 * (still[f"{body}.{p}.y"] + still[f"{body}.{q}.y"]) / 2 for body, (p, q, kg) in middle.items())
energy = lifted + 40 * 9.81 * still["ram.R.y"] + [area(y) for y in still["ram.R.y"]]
w = 2 * np.pi  # 60 rpm
check = float(np.ptp(energy)) / (0.05 * w**2)

c = m.cycle(steps=90)
print(f"at 60 rpm the crank needs {c['E.torque'].min():.0f} .. {c['E.torque'].max():.0f} N m, mean {np.mean(c['E.torque'][:-1]):.1f} N m")
print(f"the sheet takes {area(still['ram.R.y'].min()):.1f} J of a stroke, the flywheel lends {wheel.energy:.1f} J")
print(f"flywheel for 5 % at 60 rpm: {wheel.classical:.1f} kg m^2 (check: {check:.1f})")
assert abs(wheel.classical - check) < 2e-3 * check  # the torque's corners fall between samples

m.show(folder / "punch_press.html")
c.plot("torque", folder / "punch_press.png", size=(4.2, 3.2))
