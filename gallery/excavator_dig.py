"""A face shovel digs: three cylinders share 200 kN at the teeth over four loops.

One learns: with a tri-lever the boom's cylinder also feels what the bucket's does; every force at the teeth and every weight finds
its way to all three, and the inverse dynamics gives all of them at once.
The check is virtual work: let one cylinder grow by a hair and hold the other two. Its force times that hair is the sum of all
weights times the rises of their centers, less the work of the digging force on the way of the teeth. Only positions are used, and
the energy balance of the whole dig is held against the work at the teeth.

python gallery/excavator_dig.py [folder]      writes excavator_dig.html and excavator_dig.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np
from scipy.integrate import trapezoid

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("excavator")
s = m.system
CYLINDERS = ("J4", "J10", "J13")
DIG = np.array([-200e3, -50e3])  # N, of the ground on the teeth


def at_the_bucket(push, st):
    """[moment; force] at the bucket's origin J8 of a push at the teeth T."""
    rx, ry = st["bucket.T.x"] - st["bucket.J8.x"], st["bucket.T.y"] - st["bucket.J8.y"]
    return [0, 0, rx * push[1] - ry * push[0], push[0], push[1], 0]


loads = s.inverse(s.start, wrench={"bucket": at_the_bucket(DIG, s.start)})
for name in CYLINDERS:
    print(f"{name}: {loads.tau[name] / 1e3:8.2f} kN, {s.inverse(s.start).tau[name] / 1e3:8.2f} kN of it carry the machine itself")

# By hand: the energy at hand is the weights' (here from the library's sum over bodies), the way of the teeth from the positions.
HAIR = 1e-5
held = {name: float(s.start[name]) for name in CYLINDERS}
out, back = (s.assemble(q={**held, "J10": held["J10"] + h}) for h in (HAIR, -HAIR))
rise = out["energy.potential"] - back["energy.potential"]
way = (s.point(out, "bucket.T") - s.point(back, "bucket.T"))[:2]
found, check = loads.tau["J10"], (rise - DIG @ way) / (2 * HAIR)
print(f"boom cylinder with 200 kN at the teeth: {found / 1e3:.3f} kN (check: {check / 1e3:.3f})")
assert abs(found - check) < 1e-5 * abs(check)

# The whole dig, 8 s: the push rises and falls while the boom lifts. It ends as it began, so cylinders do the teeth's work exactly.
run = m.simulate(
    8, wrench={"bucket": lambda t, st: at_the_bucket(DIG * np.exp(-(((t - 4.5) / 0.8) ** 2)), st)}, tolerance=1e-8, sample_interval="80 ms"
)
teeth = run["bucket.T.vx"], run["bucket.T.vy"]
done = -trapezoid((DIG[0] * teeth[0] + DIG[1] * teeth[1]) * np.exp(-(((run.t - 4.5) / 0.8) ** 2)), run.t)
work = sum(trapezoid(run[f"{name}.power"], run.t) for name in CYLINDERS)
print(f"the dig takes {done / 1e3:.2f} kJ at the teeth, the cylinders give {work / 1e3:.2f} kJ")
assert abs(done - work) < 1e-3 * abs(done)  # trapezoids of 80 ms

run.show(folder / "excavator_dig.html")
run.plot([f"{name}.force" for name in CYLINDERS], folder / "excavator_dig.png", size=(4.2, 3.2))
