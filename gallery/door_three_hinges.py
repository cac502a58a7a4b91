"""A door on three hinges: which of their loads can be known?

One learns: two hinges are two too many for a rigid door. It moves as with one, but how the hinges share the load is open, and
Linkwright says so (`unique`). Sums over the hinges are certain. Whoever wants single loads must say more: which hinge leaves what free.
The check is the balance of the door: together the hinges carry its weight m g and the moment m g a, a being how far its center
hangs out. If the lowest hinge bears the weight and the top one only holds, at a distance b, it pulls with m g a / b.

python gallery/door_three_hinges.py [folder]      writes door_three_hinges.html and .png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("door")
s = m.system
HINGES = ("H1", "H2", "H3")
weight, a, b = 44.8 * 9.81, 0.4, 1.6  # N; center to hinge line, lowest to highest hinge, m

ways = {
    "least loads": {},
    "H1 ten times as stiff": {"stiffness": {"H1": 10}},
    "H2 loose": {"release": {"H2": ["tx", "ty", "tz", "rx", "ry"]}},
    "H1 bears, H3 holds": {"release": {"H1": ["rx", "ry"], "H2": ["tx", "ty", "tz", "rx", "ry"], "H3": ["tz", "rx", "ry"]}},
}
for name, choice in ways.items():
    loads = s.inverse(s.start, **choice)
    w = [loads.wrench[h] for h in HINGES]
    assert not any(x.unique_force.any() for x in w)  # no force of a hinge is certain, whichever way it is shared
    force, moment = sum(x.force for x in w), sum(x.moment + np.cross(x.at, x.force) for x in w)
    assert np.allclose(force, [0, 0, weight]) and np.allclose(moment, [0, -weight * a, 0])  # but these sums are
    print(f"{name:22} up {np.round([x.force[2] for x in w], 1)} N, out {np.round([x.force[0] for x in w], 1)} N")

pull, check = -w[2].force[0], weight * a / b
print(f"pull of the top hinge that only holds: {pull:.3f} N (check: {check:.3f})")
assert abs(pull - check) < 1e-9 * check

c = m.cycle(steps=90)
m.show(folder / "door_three_hinges.html")
c.plot("mechanism", folder / "door_three_hinges.png", at=s.assemble(q={"H1": "35 deg"}), size=(4.2, 3.2), labels=False)
