"""Motors that share the work: a planar robot with three motors and with nine, what they can push, and a bearing free of load.

python examples/14_shared_work.py [folder]      writes into folder (default build/shared_work)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/shared_work")
folder.mkdir(parents=True, exist_ok=True)

s = lw.compile("3-rrr")
BASE = ["J1", "J8", "J9"]  # motors at the base, as many as degrees of freedom
task = {
    "J1": lw.control.minimum_jerk(1.24, "1 s"),
    "J8": lw.control.minimum_jerk(4.3883, "1 s"),
    "J9": lw.control.minimum_jerk(5.9637, "1 s"),
}
drives = {"three motors": BASE, "nine motors": [*BASE, "J2", "J3", "J4", "J5", "J6", "J7"]}

for name, mine in drives.items():
    print(f"{name}: {s.controllable(s.start, mine)}")
print(f"two motors: {s.controllable(s.start, BASE[:2])}\n")

# the same motion with the least efforts that give it
result = lw.control.compare(
    s, s.start, 1, {name: lw.control.projected(task, P=100, drives=mine) for name, mine in drives.items()}, sample_interval=0.01
)
print(result)
rms = result.values("rms")
print(f"nine motors need {100 * (1 - rms['nine motors'] / rms['three motors']):.0f} % less\n")

# with two motors on one degree of freedom the slider-crank can also choose the load of its guide: here none, all the way
c = lw.load("slider-crank-equal").system
st = c.assemble(q={"A": "30 deg"})
to = {"A": lw.control.minimum_jerk("60 deg", "1 s")}
least = c.simulate(st, 1, control=lw.control.projected(to, P=100, drives=["A", "B"]))
light = c.simulate(st, 1, control=lw.control.hybrid(to, {"C.ty": 0}, P=100, drives=["A", "B"]))
for name, run in (("least efforts", least), ("no load", light)):
    torque = max(np.abs(run[f"{j}.torque"]).max() for j in ("A", "B"))
    print(f"{name:14} guide loaded by up to {np.abs(run['lam.C.ty']).max():6.3f} N, torques up to {torque:.2f} N m")

result.plot(folder / "efforts.png")
print(f"curves are in {folder}")
