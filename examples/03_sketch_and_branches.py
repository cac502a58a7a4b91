"""A rough sketch with exact lengths, and the other ways to assemble the same links.

python examples/03_sketch_and_branches.py
"""

import numpy as np

import linkwright as lw

# The built-in four-bar is drawn to two digits; its lengths are exact, so it is closed exactly, on the drawn branch.
m = lw.load("four-bar")
s = lw.compile(m)
print(f"loops closed to {np.abs(s.closure(s.start).phi).max():.1e} m")
print(f"coupler {np.linalg.norm(s.point(s.start, 'coupler.C') - s.point(s.start, 'coupler.B')):.12f} m")

# The same crank angle allows a second position: the elbow on the other side.
for state in s.branches({"A": "60 deg"}):
    x, y, _ = s.point(state, "rocker.C")
    print(f"crank at {np.degrees(state['A']):5.1f} deg: C at ({x:.4f}, {y:.4f}) m, rocker at {np.degrees(state['rocker.angle']):7.2f} deg")

# `guess` starts the search near another branch; from there the mechanism stays on it.
other = s.assemble(q={"A": "60 deg"}, guess={"D": "-80 deg"})
print(f"from a guess: rocker at {np.degrees(other['rocker.angle']):.2f} deg")

# Longer crank: another parameter, the same drawing.
long = m.with_(L1="0.35 m")
print(f"crank of 0.35 m: the rocker swings {np.ptp(long.cycle(steps=72)['rocker.angle', 'deg']):.1f} deg")
