"""A crane hoist with two falls: what torque does its drum need when the hook is high?

One learns: two falls halve the pull of the rope only while they are vertical. Near the head of the jib they spread, the rope pulls harder,
and the drum has to be turned with more than half of the weight times its radius.
The check is virtual work with a ruler: the rope between the head sheave, the hook sheave and its anchor is drawn by tangents and
arcs, once with the hook a hair higher and once a hair lower. What the rope grows shorter by is what the drum takes up.

python gallery/crane_hoist.py [folder]      writes crane_hoist.html and crane_hoist.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

HEAD, ANCHOR, HOOK, DRUM = np.array([0.0, 2.0]), np.array([0.9, 2.0]), np.array([0.45, 0.9]), np.array([-1.1, 0.5])  # m
SHEAVE, RADIUS, MASS, G = 0.16, 0.26, 1000.0, 9.81

m = lw.load({
    "name": "crane hoist", "about": "Drum, head sheave and hook block with two falls", "plane": "xy", "units": ["mm", "kg", "deg", "rpm"],
    "gravity": [0, "-9.81 m/s^2"],
    "drawing": {name: list(1e3 * at) for name, at in zip("JEHA", (HEAD, ANCHOR, HOOK, DRUM), strict=True)},
    "bodies": {
        "ground": {"pins": ["A"], "points": ["J", "E"]},
        "drum": {"pins": ["A"], "mass": 60, "com": "A", "inertia": "0.8 kg m^2"},
        "hook": {"points": ["H"], "mass": MASS, "com": "H", "inertia": "10 kg m^2"},
    },
    "joints": {"lift": {"type": "prismatic", "between": ["ground", "hook"], "at": "H", "axis": [0, 1], "stroke": [-300, 850]}},
    "belts": {"rope": {"path": [
        {"joint": "A", "radius": 1e3 * RADIUS, "turn": "cw"}, {"at": "ground.J", "radius": 1e3 * SHEAVE},
        {"at": "hook.H", "radius": 1e3 * SHEAVE}, "ground.E",
    ]}},
    "drive": {"A": 15},
})  # fmt: skip
c = m.cycle(start=0, stop="6 turn", speed=0)  # the stroke ends it
height = HOOK[1] + c["lift"]
torque = float(np.interp(1.7, height, np.abs(c["A.torque"])))  # 300 mm below the head


def rope(y):
    """Length of the rope from the left of the head sheave over the hook to the anchor, m: tangents and arcs."""
    hook = np.array([HOOK[0], y])
    across = hook - HEAD
    first = np.sqrt(across @ across - (2 * SHEAVE) ** 2)  # the belt crosses from one sheave to the other
    down = np.arctan2(across[1], across[0]) - np.arctan2(2 * SHEAVE, first)  # direction of that span
    up = ANCHOR - hook
    second = np.sqrt(up @ up - SHEAVE**2)
    rise = np.arctan2(up[1], up[0]) + np.arctan2(SHEAVE, second)
    return first + second + SHEAVE * (0.5 * np.pi - down) + SHEAVE * (rise - down)


hair = 1e-5
check = MASS * G * RADIUS * 2 * hair / (rope(1.7 - hair) - rope(1.7 + hair))
print(f"half of the weight at the drum's radius: {0.5 * MASS * G * RADIUS:.1f} N m; {c.notes[-1]}")
print(f"torque of the drum with the hook 300 mm below the head: {torque:.2f} N m (check: {check:.2f})")
assert abs(torque - check) < 0.05  # 360 samples, straight lines between them

m.show(folder / "crane_hoist.html")
m.cycle(steps=60).plot("mechanism", folder / "crane_hoist.png", at=m.system.assemble(q={"lift": 0.45}), size=(4.2, 3.2), labels=False)
