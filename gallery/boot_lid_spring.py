"""The spring of a boot lid: which gas spring, fixed where, makes the lid easiest to move?

One learns: force and anchor belong together. Moving the anchor of the spring within 60 mm and choosing its force anew takes a third off the
largest torque that has to be held by hand anywhere between closed and open; the anchor is at the edge of what was allowed, and the result
says what another millimeter would bring.
The check is virtual work from positions alone: turn the hinge by a hair, and the torque is each weight times the rise of its center, less
the gas force times what the spring grows. The gas obeys Boyle, as in boot_lid.py.

python gallery/boot_lid_spring.py [folder]      writes boot_lid_spring.html and boot_lid_spring.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("boot-lid")
slowly = lw.Cycle(speed=0, steps=60)  # no inertia
found = m.optimize("min peak A.torque", {"gas.force": "100..500 N", "ground.G": "+- 60 mm"}, case=slowly, count=64, starts=3)
print(found)

best, s = found.mechanism, found.mechanism.system
c = best.cycle(speed=0, steps=60)
worst = int(np.argmax(np.abs(c["A.torque"])))
G = np.array([found.numbers["ground.G.x"], found.numbers["ground.G.y"]])


def places(angle):
    """The rise of the lid's center and of the levers' middles, and the spring's length; m, from the drawing's numbers."""
    st = s.assemble(q={"A": angle})
    b, c = (complex(*s.point(st, p)[:2]) for p in ("lid.B", "lid.C"))
    drawn_b, drawn_c, drawn_com = -0.110 + 0.130j, 0.040 + 0.140j, 0.430 + 0.120j
    com = b + (c - b) / (drawn_c - drawn_b) * (drawn_com - drawn_b)
    return np.array([com.imag, b.imag / 2, c.imag / 2, np.linalg.norm(s.point(st, "lid.S")[:2] - G)])


def by_hand(angle, hair=1e-5):
    lid, front, rear, grown = places(angle + hair) - places(angle - hair)
    gas = found.numbers["gas.force"] / (1 - (1 - 1 / 1.3) / 0.170 * (0.500 - places(angle)[3]))
    return (9.81 * (14 * lid + 0.6 * front + 0.6 * rear) - gas * grown) / (2 * hair)


torque, check = float(abs(c["A.torque"][worst])), abs(by_hand(c["A"][worst]))
print(f"largest torque at the hinge, was {found.goals[0].before:.3f} N m, is: {torque:.3f} N m (check: {check:.3f})")
assert abs(torque - check) < 1e-4 * check and torque < 0.7 * found.goals[0].before  # the differences are good to the hair squared

found.show(folder / "boot_lid_spring.html")
found.plot(folder / "boot_lid_spring.png", size=(4.2, 3.2))
