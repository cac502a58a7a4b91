"""A linkage of your own, from a dict: draw the pins, name the bodies, say what drives it.

python examples/02_your_own_linkage.py [folder]
"""

import sys
from pathlib import Path

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/examples")
folder.mkdir(parents=True, exist_ok=True)

# Hoeken's linkage: point P runs nearly straight while the crank turns through half a circle.
hoeken = lw.load(
    {
        "name": "hoeken",
        "plane": "xy",
        "units": ["mm", "kg", "deg", "rpm"],
        "drawing": {"A": [0, 0], "B": [-100, 0], "D": [200, 0], "C": [50, 200], "P": [200, 400]},
        "bodies": {
            "ground": {"pins": ["A", "D"]},
            "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": 100}},
            "coupler": {"pins": ["B", "C"], "points": ["P"], "along": {"B": 0, "C": 250, "P": 500}},
            "rocker": {"pins": ["D", "C"], "along": {"D": 0, "C": 250}},
        },
        "drive": {"A": "60 rpm"},
        "start": {"A": "180 deg"},
    }
)
print(hoeken.info())

c = hoeken.cycle(steps=120)
angle = c["A", "deg"] % 360
straight = (angle > 100) & (angle < 260)  # the crank on the far side
y = c["coupler.P.y", "mm"][straight]
x = c["coupler.P.x", "mm"][straight]
print(f"\nP travels {x.max() - x.min():.0f} mm and leaves the straight line by {y.max() - y.min():.2f} mm")

c.plot("mechanism", folder / "hoeken.png")
hoeken.save(folder / "hoeken.yaml")  # the same mechanism as a model file
print(f"wrote {folder / 'hoeken.png'} and {folder / 'hoeken.yaml'}")
