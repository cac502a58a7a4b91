"""An arm presses on its rail while it slides: motion and force controlled at once.

One learns: three motors on two degrees of freedom have one to spare, enough to choose the force on the rail. The controller takes the
load in the hand for twice what it is, so the hand is off by a little while it moves, but the force rises as commanded.
The check: at the end the arm rests, so each motor balances the force at the tip alone, torque = -F times the horizontal lever from
its hinge to the tip. The levers come from lengths and angles, the force is the one that was asked for: 20 N at 0.12 m.

python gallery/hybrid_force_control.py [folder]      writes hybrid_force_control.html and .png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)
MOTORS = ["J1", "J2", "J3"]
FORCE = 20.0  # N, of the rail on the tip: upwards, so the arm presses down

m = lw.load("3r-slider")
s = m.system
st = s.assemble(q={"J1": float(s.start["J1"]), "J2": float(s.start["J2"])}, v={"J1": 0.0, "J2": 0.0})
task = {"hand.E.x": lw.control.minimum_jerk("0.12 m", "0.8 s"), "hand.angle": 0}
press = {"tip.ty": lw.control.minimum_jerk(f"{FORCE} N", "0.4 s", start="0 N")}
control = lw.control.hybrid(task, press, P=400, F=3, I=60, drives=MOTORS, model=m.with_(load="0.6 kg"))
run = s.simulate(st, 1.6, control=control, tolerance=1e-9, sample_interval="5 ms")
off = 1e3 * run["control.hand.E.x.error"]
print(f"hand off its path by {np.abs(off).max():.2f} mm at most, {abs(off[-1]):.0e} mm in the end")
print(f"force on the rail {run['lam.tip.ty'].min():.3f} .. {run['lam.tip.ty'].max():.3f} N, in the end {run['lam.tip.ty'][-1]:.6f} N")

found = {j: float(run[f"{j}.torque"][-1]) for j in MOTORS}
angle1, angle2 = run["J1"][-1], run["J1"][-1] + run["J2"][-1]
tip = 0.30 * np.cos(angle1) + 0.25 * np.cos(angle2) + 0.10  # the hand is level
levers = {"J1": tip, "J2": tip - 0.30 * np.cos(angle1), "J3": 0.10}
for j in MOTORS:
    print(f"{j}: {found[j]:8.5f} N m, lever times force {-FORCE * levers[j]:8.5f} N m")
    assert abs(found[j] + FORCE * levers[j]) < 1e-4  # errors have died away as exp(-15 t)
print(f"torque of the shoulder at rest: {found['J1']:.4f} N m (check: {-FORCE * levers['J1']:.4f})")
assert np.abs(run["lam.tip.ty"] - run["control.tip.ty.wanted"]).max() < 0.01  # of 20 N, while the hand moves

run.show(folder / "hybrid_force_control.html")
run.plot([*(f"{j}.torque" for j in MOTORS), "lam.tip.ty"], folder / "hybrid_force_control.png", size=(4.2, 3.2))
