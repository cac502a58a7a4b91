"""A windscreen wiper: how far does the blade's arm swing while the motor goes round?

One learns: a crank-rocker four-bar turns rotation into a swing, and its ends are where crank and coupler lie in one line.
The check: there the coupler's length and the crank's add up, or subtract, so C lies on the circle of radius L2 + L1 or L2 - L1
about A. The law of cosines in the triangle A-C-D gives the rocker's two end angles with nothing but four lengths.

python gallery/wiper.py [folder]      writes wiper.html (the live page) and wiper.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("wiper")
reach = m.limits("D")  # the rocker's hinge, from dead center to dead center
swing = np.degrees(reach.high - reach.low)
c = m.cycle(steps=72)

A, B, C, D = (np.array(p) for p in ((0, 0), (150, 260), (905, 750), (1000, 0)))  # the drawing, mm
L1, L2, L3, L4 = (np.linalg.norm(p - q) for p, q in ((A, B), (B, C), (C, D), (D, A)))
ends = [np.degrees(np.arccos((L3**2 + L4**2 - (L2 + sign * L1) ** 2) / (2 * L3 * L4))) for sign in (1, -1)]
check = ends[0] - ends[1]

print(f"torque of the motor {c['A.torque'].min():.2f} .. {c['A.torque'].max():.2f} N m, pin C up to {c.bearings()['C'].max:.1f} N")
print(f"swing of the rocker: {swing:.3f} deg (check: {check:.3f})")
assert abs(swing - check) < 1e-6 and abs(np.ptp(c["rocker.angle", "deg"]) - check) < 0.1  # 72 samples miss the ends by a little

m.show(folder / "wiper.html")
c.plot("mechanism", folder / "wiper.png", size=(4.2, 3.2), labels=False)
