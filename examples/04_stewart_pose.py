"""A Stewart platform: ask for a pose of the platform and read the lengths of its legs.

python examples/04_stewart_pose.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/examples")
folder.mkdir(parents=True, exist_ok=True)

s = lw.compile(lw.load("stewart"))
here = s.pose(s.start, "platform")

tilt = np.radians(8.0)
R = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
wanted = lw.Pose(R @ here.R, here.p + np.array([0.05, 0.0, 0.04]))

state = s.assemble(pose={"platform": wanted})
reached = s.pose(state, "platform")
print(f"platform at {np.round(reached.p, 6)} m, off by {np.abs(reached.p - wanted.p).max():.1e} m")
for i in range(1, 7):
    before, after = (np.linalg.norm(s.point(x, f"platform.P{i}") - s.point(x, f"ground.B{i}")) for x in (s.start, state))
    print(f"leg {i}: {before:.4f} m -> {after:.4f} m")

lw.load("stewart").plot("mechanism", folder / "stewart.png", at=state, trace=[])
print(f"wrote {folder / 'stewart.png'}")
