"""A push-pull toggle clamp: how hard does it press on its part after you let go of the handle?

One learns: behind the dead center the clamping force itself pushes the handle on to its rest, so the clamp stays closed without a hand, and
a small moment opens it again. The force is that of the rubber pad, less by what the plunger gives back behind the dead center. A torque
closes the clamp within 40 ms and ends at 0.4 s. The part is then pulled sideways with 100 N, and friction at the pad holds it.
The check is a slider-crank on paper: the pad is pressed by 2 mm less what crank and link are shorter at 6 deg than at the dead center. The
moments of link and rest about the axle of the handle balance.

python gallery/toggle_clamp.py [folder]      writes toggle_clamp.html and toggle_clamp.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("toggle-clamp")
run = m.simulate(1.2)
print(run.certificate)

r, rod, rubber, rest = 25.0, 60.0, 200.0, np.radians(6.0)
lean = np.arcsin(r * np.sin(rest) / rod)
force = rubber * (2.0 - (r + rod - r * np.cos(rest) - rod * np.cos(lean)))
opens = force * r * np.sin(rest + lean) / np.cos(lean) / 1e3  # N m about the axle of the handle
print(f"clamping force with nobody at the handle: {run['grip.force'][-1]:.2f} N (check: {force:.2f})")
assert abs(run["grip.force"][-1] - force) < 1e-6
assert abs(run["rest.force"][-1] * r / 1e3 * np.cos(rest) - opens) < 1e-9

limit = 0.3 * force  # N, what friction at the pad can take
for pull, holds in ((0.999 * limit, True), (1.001 * limit, False)):
    pulled = lw.load("toggle-clamp", pull=f"{pull} N").simulate(1.0)
    assert (pulled.events[-1].name == "rest touches") == holds

run.show(folder / "toggle_clamp.html")
m.plot("mechanism", folder / "toggle_clamp.png", trace=[], size=(4.2, 3.2), labels=False)
