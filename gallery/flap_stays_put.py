"""A flap with a gas spring and a folding stay: from where on does it stay put?

One learns: friction that holds is a range and not a number. Below an angle the flap falls shut, above another one it opens by itself, and
between them it stays where the hand leaves it. `m.holding_range()` finds these angles, and how much each joint adds.
The check is virtual work from positions alone: turn the hinge by a hair, and what is missing is each weight times the rise of its center,
less the gas force times what the spring grows. The friction of the hinge and of the stay's elbow can make up for it as long as it is not
larger than 0.6 N m, plus 0.8 N m times the turn of the elbow for a turn of the hinge. The gas obeys Boyle, as in boot_lid.py.

python gallery/flap_stays_put.py [folder]      writes flap_stays_put.html and flap_stays_put.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("flap")
h = m.holding_range()
print(h)
(stretch,) = h.stays


def places(angle):
    """Moment of the weights over g (kg m), length of the gas spring (m), and angle of the elbow; a pair of compasses finds the elbow."""
    s, d, drawn_s, drawn_k = 0.200 * np.exp(1j * angle), 0.060 - 0.150j, 0.200, 0.240 - 0.180j
    lower, upper, far = abs(drawn_k - d), abs(drawn_s - drawn_k), abs(s - d)
    k = d + lower * (s - d) / far * np.exp(-1j * np.arccos((lower**2 + far**2 - upper**2) / (2 * lower * far)))
    weights = 6 * 0.250 * np.sin(angle) + 0.2 * (s + k).imag / 2 + 0.2 * (k + d).imag / 2
    return np.array([weights, abs(0.120 * np.exp(1j * angle) - (0.100 - 0.160j)), np.angle((s - k) / (d - k))])


def missing(angle, hair=1e-5):
    """Torque that is missing to keep the flap from falling, with all friction against it."""
    rise, grown, elbow = (places(angle + hair) - places(angle - hair)) / (2 * hair)
    gas = 82 / (1 - (1 - 1 / 1.3) / 0.150 * (0.300 - places(angle)[1]))
    return 9.81 * rise - gas * grown - (0.6 + 0.8 * abs(elbow))


found, check = np.degrees([stretch.start, brentq(missing, np.radians(30), np.radians(70))])
print(f"the flap stays put from: {found:.3f} deg (check: {check:.3f})")
assert abs(found - check) < 1e-4  # the differences are good to the hair squared
assert np.isclose(np.degrees(stretch.stop), 77.412, atol=1e-3)  # from there on it opens by itself

m.show(folder / "flap_stays_put.html")
h.plot(folder / "flap_stays_put.png", size=(4.2, 2.8))
