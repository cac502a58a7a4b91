"""A gripper of two parallelograms: how rough must its jaws be to hold the part?

One learns: friction holds with what it needs and not with what it could. Below a coefficient of friction the part slides down, above it
nothing creeps, for any time. Runs with a smaller and smaller coefficient find the limit by bisection.
The check is the balance of the part: two jaws press with F each, so 2 mu F = m g. The spring pulls the jaws together at the height of their
upper pins with 40 N, and a parallelogram passes that on to whatever its finger touches, at any height. The cranks hang upright, so weights
add nothing.

python gallery/gripper_holds.py [folder]      writes gripper_holds.html and gripper_holds.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)


def slides(mu):
    return abs(lw.load("gripper", mu=mu).simulate(0.02, sample_interval=0.01)["part.P.vy"][-1]) > 1e-9


low, high = 0.0, 0.4
while high - low > 1e-5:
    middle = (low + high) / 2
    low, high = (middle, high) if slides(middle) else (low, middle)

check = 0.3 * 9.81 / (2 * 40.0)
print(f"friction that holds the part: {high:.4f} (check: {check:.4f})")
assert abs(high - check) < 2e-5  # the bisection ends there

m = lw.load("gripper")
m.show(folder / "gripper_holds.html")
m.plot("mechanism", folder / "gripper_holds.png", trace=[], size=(4.2, 3.2), labels=False)
