"""A point that runs straight: which four-bar draws a line of 200 mm while its crank makes half a turn?

One learns: a straight line needs no guide. Hoeken's linkage, one dimension of it free, is fitted so that the largest deviation from the
line is least; its deviation then has the same size several times along the line, with alternating sign.
The check is a pair of compasses: a circle about C and one about the crank's end give B, the coupler's point lies on its line beyond B, and
what it leaves the line by is the range of its height while the crank makes half a turn.

python gallery/straight_line.py [folder]      writes straight_line.html and straight_line.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

found = lw.synthesize(straight={"length": "200 mm", "share": 0.5}, kind="hoeken", count=1)
print(found)
best = found.best
m = best.mechanism

pins = best.linkage.pins
O, A, B, C, P = (pins[name] for name in "OABCP")
r, coupler, rocker, beyond = abs(A - O), abs(B - A), abs(B - C), (P - A) / (B - A)
angles = np.angle(A - O) + np.radians(np.linspace(-90, 90, 721))
ends = O + r * np.exp(1j * angles)
d = abs(C - ends)
along = (coupler**2 - rocker**2 + d**2) / (2 * d)
side = np.sign(((B - A) / (C - A)).imag)  # the side of A-C on which B is drawn
eye = ends + (along + 1j * side * np.sqrt(coupler**2 - along * along)) * (C - ends) / d
point = ends + beyond * (eye - ends)
line = (point[-1] - point[0]) / abs(point[-1] - point[0])
across = ((point - point[0]) / line).imag

strip, check = 2 * best.measures["largest deviation"], float(np.ptp(across))
print(f"over {np.ptp((point / line).real) * 1e3:.1f} mm the point stays in a strip of: {strip * 1e6:.2f} um (check: {check * 1e6:.2f})")
assert abs(strip - check) < 1e-3 * strip  # the extremes of the strip fall between samples

m.show(folder / "straight_line.html")
m.cycle().plot("mechanism", folder / "straight_line.png", trace=["coupler.P"], size=(4.2, 3.2), labels=False)
