"""Theo Jansen's leg: how long is a step?

One learns: eight bars and one crank make a foot that goes flat and straight on the ground and is lifted on its way back; pins
that join three bars need nothing special.
The check rebuilds the leg with a pair of compasses: each joint is where two circles meet (the thirteen published lengths are the
radii), from the crank to the foot, on the side where the drawing has it. No equation of Linkwright takes part.

python gallery/jansen_leg.py [folder]      writes jansen_leg.html and jansen_leg.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("jansen-leg")
c = m.cycle(steps=360)
x, y = c["shin.F.x", "cm"], c["shin.F.y", "cm"]
step = float(np.ptp(x))


def meet(p, r, q, s, side):
    """Where circles about p and q (complex, radii r and s) meet: side +1 is left of the way from p to q."""
    d = abs(q - p)
    along = (r**2 - s**2 + d**2) / (2 * d)
    return p + (q - p) / d * (along + side * 1j * np.sqrt(r**2 - along**2))


crank = c["O"]
G, X = -38 - 7.8j, 15 * np.exp(1j * crank)
U = meet(G, 41.5, X, 50, +1)
V = meet(G, 40.1, U, 55.8, +1)
L = meet(G, 39.3, X, 61.9, -1)
K = meet(V, 39.4, L, 36.7, -1)
F = meet(L, 49, K, 65.7, +1)
check = float(np.ptp(F.real))

down = y < y.min() + 0.05 * np.ptp(y)
print(f"the foot is lifted by {np.ptp(y):.2f} cm and on the ground for {100 * np.mean(down[:-1]):.0f} % of the cycle")
print(f"length of a step: {step:.4f} cm (check: {check:.4f})")
assert abs(step - check) < 1e-9 * check and np.abs(x + 1j * y - F).max() < 1e-9

m.show(folder / "jansen_leg.html")
c.plot("mechanism", folder / "jansen_leg.png", trace=["shin.F"], size=(4.2, 3.2), labels=False)
