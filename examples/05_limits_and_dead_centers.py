"""How far a mechanism goes: a four-bar whose crank cannot turn fully, its dead centers, and what happens beyond.

python examples/05_limits_and_dead_centers.py
"""

import numpy as np

import linkwright as lw

# With a crank of 0.8 m the four-bar is no longer a crank-rocker: it swings between two dead centers.
m = lw.load("four-bar", L1="0.8 m")
reach = m.limits("A")
print(f"A goes from {np.degrees(reach.low):.3f} to {np.degrees(reach.high):.3f} deg")

# At a dead center coupler and rocker lie in one line: the law of cosines says where.
L1, L2, L3, L4 = 0.8, 0.9, 0.75, 1.0
stretched = np.degrees(np.arccos((L1**2 + L4**2 - (L2 + L3) ** 2) / (2 * L1 * L4)))
print(f"stretched out at {stretched:.3f} deg by the law of cosines")

c = m.cycle(steps=90)
print("turn:", "; ".join(c.notes))
print(f"rocker swings {np.ptp(c['rocker.angle', 'deg']):.2f} deg")

# Asking for more than there is gives a reason, not a wrong answer.
try:
    lw.compile(m).assemble(q={"A": np.radians(stretched + 20)})
except lw.AssemblyError as problem:
    print(f"beyond it: {problem}")
