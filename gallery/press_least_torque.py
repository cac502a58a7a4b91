"""A press with a smaller motor: where must the pins be for the same stroke, the same pressing and the least peak torque?

One learns: what the sheet takes is given, when the crank gives it is not. Shaft and knuckle move within 60 mm; stroke and lowest point
of the ram stay as they are, and the knuckle spreads the work over more of the cycle. The table of what binds says which bound costs most.
The check is energy from positions alone: circles give knuckle and ram for an angle of the crank, the area under the sheet's table and the
lifted weights give the energy, and its slope over the angle is the torque. Torques and reactions do not enter.

python gallery/press_least_torque.py [folder]      writes press_least_torque.html and press_least_torque.png into folder
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("punch-press")
found = m.optimize(
    "min peak E.torque",
    {"E": "+- 60 mm", "K": "+- 60 mm"},
    ["range ram.R.y = 57 mm", "min ram.R.y = 40.09 mm", "full turn"],
    case=lw.Cycle(speed=0, steps=120),
    count=32,
    starts=3,
)
print(found)

c = found.mechanism.cycle(speed=0, steps=120)
worst = int(np.argmax(np.abs(c["E.torque"])))
E, B, K, O, R = (complex(*c[p][0]) for p in ("crank.E", "crank.B", "rod.K", "upper.O", "ram.R"))
r, rod, upper, lower = abs(B - E), abs(K - B), abs(K - O), abs(K - R)
side = np.sign(((K - B) / (O - B)).imag)  # the side of B-O on which the knuckle is
height = 1e-3 * np.array([38, 42, 44, 46, 48, 50])  # the sheet's force over the ram's height as in the file, m and N
force = 1e3 * np.array([120, 100, 80, 45, 12, 0])


def energy(angle):
    """Weights lifted plus work the sheet has taken, J: trapezoids between the points of the table above the ram."""
    b = E + r * np.exp(1j * angle)
    d = abs(O - b)
    along = (rod**2 - upper**2 + d**2) / (2 * d)
    k = b + (along + 1j * side * np.sqrt(rod**2 - along * along)) * (O - b) / d
    y = k.imag - np.sqrt(lower**2 - (k.real - R.real) ** 2)
    h = np.append(y, height[height > y])
    f = np.append(np.interp(y, height, force), force[height > y])
    lifted = 8 * (E + b) / 2 + 6 * (b + k) / 2 + 7 * (O + k) / 2 + 7 * (k + 1j * y) / 2 + 40 * 1j * y
    return 9.81 * lifted.imag + float(np.sum(0.5 * (f[1:] + f[:-1]) * np.diff(h)))


angle, hair = np.angle(complex(*c["crank.B"][worst]) - E), 1e-5
torque, check = float(abs(c["E.torque"][worst])), abs(energy(angle + hair) - energy(angle - hair)) / (2 * hair)
print(f"peak torque of the crank, was {found.goals[0].before:.1f} N m, is: {torque:.1f} N m (check: {check:.1f})")
assert abs(torque - check) < 1e-4 * check and torque < found.goals[0].before  # the differences are good to the hair squared

found.show(folder / "press_least_torque.html")
found.plot(folder / "press_least_torque.png", size=(4.2, 3.2))
