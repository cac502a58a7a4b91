"""A cam and its follower: above which speed does the follower fly?

One learns: a cam pushes and never pulls. Near the top of the stroke the spring alone must slow the follower down, and above a speed it
cannot, so the follower leaves the disc and comes down with a blow. Runs at more and more speeds find the limit by bisection.
The check is the force at the top, m (g - e w^2) + F0 + 2 k e, which is zero at w^2 = (m g + F0 + 2 k e) / (m e).

python gallery/cam_lifts_off.py [folder]      writes cam_lifts_off.html and cam_lifts_off.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)


def lifts(speed):
    run = lw.load("cam-follower", **{"drive.A": speed}).simulate(2 * np.pi / speed)
    return any(event.name == "cam leaves" for event in run.events)


low, high = 100.0, 130.0
while high - low > 0.01:
    middle = (low + high) / 2
    low, high = (low, middle) if lifts(middle) else (middle, high)

check = np.sqrt((0.5 * 9.81 + 20 + 2 * 2000 * 0.010) / (0.5 * 0.010))
print(f"speed at which the follower lifts off: {high:.2f} rad/s (check: {check:.2f})")
assert 0 <= high - check < 0.02  # the bisection ends there

m = lw.load("cam-follower")
m.show(folder / "cam_lifts_off.html")
m.plot("mechanism", folder / "cam_lifts_off.png", trace=[], size=(4.2, 3.2), labels=False)
