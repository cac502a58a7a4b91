"""A Geneva wheel: how far does it turn while the crank turns by 68.8 deg in the middle of an index?

One learns: a wheel with four slots runs up to 2.4 times as fast as its crank, and rests for three quarters of the time. Contact moves it:
the pin pushes one wall of the slot, then the other one catches it, and the disc locks it between two indexes.
The check is the closed form of an ideal wheel without play: beta = atan2(a sin alpha, C - a cos alpha), whose rate is largest at
alpha = 0, a / (C - a) of the speed of the crank.

python gallery/geneva_wheel.py [folder]      writes geneva_wheel.html and geneva_wheel.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("geneva")
run = m.simulate(1.0)
print(run.certificate)

C = 100.0
a = C * np.sin(np.pi / 4)
alpha = run["A"] - 2 * np.pi
wheel = np.interp([-0.6, 0.6], alpha, run["W"])  # the pin pushes in the first half and brakes in the second
beta = np.arctan2(a * np.sin(0.6), C - a * np.cos(0.6))
found, check = np.degrees(wheel[0] - wheel[1]), np.degrees(2 * beta)
print(f"turn of the wheel from 34.4 deg before to 34.4 deg after the middle: {found:.2f} deg (check: {check:.2f})")
assert abs(found - check) < np.degrees(2 * 0.02 / np.hypot(C - a * np.cos(0.6), a * np.sin(0.6)))  # the play at both ends

run.show(folder / "geneva_wheel.html")
m.plot("mechanism", folder / "geneva_wheel.png", trace=[], size=(4.2, 3.2), labels=False)
