"""A boot lid with gas springs: how far must one lift it until it rises by itself?

One learns: weight and springs nearly balance, and what is left changes its sign twice. Unlatched, the lid jumps up a little; then it
wants a hand, and beyond some angle the springs take over.
The check is virtual work from positions alone: move the lid by a hair, and the pull times the handle's rise is each weight times
the rise of its center, less the gas force times what the spring grows. The gas obeys Boyle: F = F1 / (1 - k x), x being how far it
is pushed in and k such that the push is 1.3 F1 at full stroke.

python gallery/boot_lid.py [folder]      writes boot_lid.html and boot_lid.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("boot-lid")
s = m.system
closed = float(s.start["A"])


def pull(angle):
    """Upwards at the handle, N: the torque that holds the hinge A, over the handle's rise for a turn of A."""
    torque = s.inverse(s.assemble(q={"A": angle})).tau["A"]
    return torque / s.assemble(q={"A": angle}, v={"A": 1.0})["lid.H.vy"]


def places(angle):
    """The rise of the lid's center, of the levers' middles and of the handle, and the spring's length; m, from the drawing's numbers."""
    st = s.assemble(q={"A": angle})
    b, c = (complex(*s.point(st, p)[:2]) for p in ("lid.B", "lid.C"))
    drawn_b, drawn_c, drawn_com = -0.110 + 0.130j, 0.040 + 0.140j, 0.430 + 0.120j
    com = b + (c - b) / (drawn_c - drawn_b) * (drawn_com - drawn_b)
    spring = np.linalg.norm(s.point(st, "lid.S") - s.point(st, "ground.G"))
    return np.array([com.imag, b.imag / 2, c.imag / 2, s.point(st, "lid.H")[1], spring])


def by_hand(angle, hair=1e-5):
    lid, front, rear, handle, grown = places(angle + hair) - places(angle - hair)
    gas = 230 / (1 - (1 - 1 / 1.3) / 0.170 * (0.500 - places(angle)[4]))
    return (9.81 * (14 * lid + 0.6 * front + 0.6 * rear) - gas * grown) / handle


for angle in (0, 20, 40, 60, 80):
    print(f"opened by {angle:2d} deg at the hinge: {pull(closed + np.radians(angle)):7.2f} N upwards at the handle")
found, check = (np.degrees(brentq(f, closed + 0.7, closed + 1.4) - closed) for f in (pull, by_hand))
print(f"the springs take over after: {found:.3f} deg (check: {check:.3f})")
assert abs(found - check) < 1e-4  # the differences are good to the hair squared

m.show(folder / "boot_lid.html")
c = m.cycle(steps=60)
half = s.assemble(q={"A": closed + np.radians(found)})
c.plot("mechanism", folder / "boot_lid.png", at=half, trace=["lid.H"], size=(4.2, 3.2), labels=False)
