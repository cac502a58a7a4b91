"""A wheel without a rim walks down a slope: how fast does it turn when a spoke strikes the ground?

One learns: contacts held in phases, with an impact at each, and a periodic motion that needs no motor. The motor in the hub turns a
flywheel against the spokes. Of all periodic steps, `m.optimal` finds the one of least effort, and its torque is zero.
The check is the limit cycle on paper. An impact keeps the angular momentum about the new spoke's end, so the speed falls to k of its value.
In a step the wheel sinks by the length of the step times the sine of the slope, which makes up for the loss.

python gallery/rimless_wheel.py [folder]      writes rimless_wheel.html and rimless_wheel.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

count, spoke, slope, g = 8, 0.4, 0.12, 9.81
half = np.pi / count
step = 2 * spoke * np.sin(half)
ends = {f"E{i}": [spoke * np.sin(a), -spoke * np.cos(a)] for i, a in enumerate(half + 2 * half * np.arange(count))}
m = lw.load({
    "name": "rimless wheel", "plane": "xy", "gravity": [g * np.sin(slope), -g * np.cos(slope)],  # x points down the slope
    "bodies": {
        "ground": {"points": {"O": [0, 0]}},
        "wheel": {"points": {"C": [0, 0], **ends}, "bars": [["C", name] for name in ends], "mass": 2, "com": "C", "inertia": 0.05},
        "flywheel": {"points": {"R": [0, 0]}, "mass": 0.5, "com": "R", "inertia": 0.01},
    },
    "joints": {
        "base": {"type": "planar", "connect": ["ground.O", "wheel.C"]},
        "motor": {"type": "revolute", "connect": ["wheel.C", "flywheel.R"]},
    },
    "surfaces": {
        "slope": {"line": "ground.O", "normal": [0, 1]},
        **{f"tip{i}": {"circle": f"wheel.E{i}", "radius": 0} for i in (0, 1)},
    },
    "contacts": {f"spoke{i}": {"between": [f"tip{i}", "slope"], "mu": 1} for i in (0, 1)},
    "drive": ["motor"], "start": {"base.y": spoke * np.cos(half), "base.x.v": 1, "base.angle.v": -2.5},
})  # fmt: skip

walk = m.optimal(
    "least effort", phases=[{"hold": "spoke0", "duration": "0.2..0.6 s"}], limits={"motor.torque": "1 N m"}, steps=20,
    periodic={"base.x": step, "base.angle": "free", "motor": "free"},  # a step later the next spoke stands where this one would be
)  # fmt: skip
print(walk)
assert np.abs(walk["motor.torque"]).max() < 1e-6

mass, about = 2.5, 0.05 + 2.5 * spoke**2  # the flywheel turns freely: it is a mass in the hub
k = (0.05 + mass * spoke**2 * np.cos(2 * half)) / about
check = np.sqrt(2 * mass * g * step * np.sin(slope) / about / (1 - k**2))
print(f"speed at which a spoke strikes: {-walk['base.angle.v'][-1]:.4f} rad/s (check: {check:.4f})")
assert abs(walk["base.angle.v"][-1] + check) < 1e-5

run = walk.replay().run  # from event to event: it finds the next impact by itself
run.show(folder / "rimless_wheel.html")
m.plot("mechanism", folder / "rimless_wheel.png", trace=[], size=(4.2, 3.2), labels=False)
