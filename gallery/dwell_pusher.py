"""A pusher that rests: which linkage holds it within 0.2 mm while the crank turns by 80 degrees?

One learns: a rest need not be drawn, it is asked for. A crank-rocker moves a rod and a pusher; the search finds where the pins must be for
the pusher to be at rest between 100 and 180 degrees of the crank and still to make a stroke of 100 mm.
The check is a pair of compasses: circles about B, D and C give the pusher's place from the pins alone.

python gallery/dwell_pusher.py [folder]      writes dwell_pusher.html and dwell_pusher.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load(
    {
        "name": "dwell pusher",
        "plane": "xy",
        "units": ["mm", "kg", "deg", "rpm"],
        "drawing": {"A": [0, 0], "B": [0, 60], "C": [240, 160], "D": [200, 0], "E": [420, 150]},
        "bodies": {
            "ground": {"pins": ["A", "D"]},
            "crank": {"pins": ["A", "B"]},
            "coupler": {"pins": ["B", "C"]},
            "rocker": {"pins": ["D", "C"]},
            "rod": {"pins": ["C", "E"]},
            "pusher": {"pins": ["E"]},
        },
        "joints": {"guide": {"type": "prismatic", "between": ["ground", "pusher"], "at": "E", "axis": [1, 0]}},
        "drive": {"A": "60 rpm"},
    }
)
lengths = {"crank.length": "40..100 mm", "coupler.length": "150..400 mm", "rocker.length": "100..300 mm", "rod.length": "150..400 mm"}
found = m.optimize(
    "min range guide while 100..180 deg",
    {**lengths, "ground.D.x": "100..300 mm", "ground.D.y": "-150..150 mm", "ground.guide.y": "0..300 mm"},
    ["range guide > 100 mm", "full turn"],
)
print(found)

best, c = found.mechanism, found.mechanism.cycle()
A, D = (complex(*c[f"ground.{p}"][0]) for p in "AD")
r2, r3, r4, rod = (found.numbers[f"{b}.length"] for b in ("crank", "coupler", "rocker", "rod"))


def pusher(angle):
    """The place of the pusher along its guide, m, by circles: C from B and D, E from C on the guide's line."""
    B = A + r2 * np.exp(1j * angle)
    d = abs(D - B)
    along = (r3**2 - r4**2 + d**2) / (2 * d)
    C = B + (along + 1j * np.sqrt(r3**2 - along * along)) * (D - B) / d
    return C.real + np.sqrt(rod**2 - (C.imag - c["pusher.E"][0, 1]) ** 2)


counted = np.mod(c["A"] - np.radians(100) + 1e-9, 2 * np.pi) <= np.radians(80) + 2e-9
rest, check = float(np.ptp(c["guide"][counted])), float(np.ptp(pusher(c["A"][counted])))
print(f"the range at rest in full: {rest * 1e3!r} mm")  # a search that ends when it is good enough ends elsewhere with other round-off
print(f"the pusher rests within: {rest * 1e3:.1f} mm (check: {check * 1e3:.1f})")
assert abs(rest - check) < 1e-9 and rest < 2.1e-4 and np.ptp(c["guide"]) > 0.0999  # loops are closed to round-off

best.show(folder / "dwell_pusher.html")
c.plot("mechanism", folder / "dwell_pusher.png", trace=["coupler.C"], size=(4.2, 3.2), labels=False)
