"""What the carpet scraper's drive and pins carry over a cycle, and each link alone with its forces at the worst position.

python examples/06_loads_and_free_bodies.py [folder]      writes into folder (default build/loads)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/loads")
folder.mkdir(parents=True, exist_ok=True)

c = lw.load("carpet-scraper").cycle(steps=120)
table = c.bearings()
print(table)

c.plot("torque", folder / "torque.png")
c.plot("loads", folder / "loads.png")
c.plot("hodograph", folder / "hodograph.png", pin="A")
page = lw.Page("Carpet scraper: loads").text(table)
page.picture(folder / "torque.png", "torque of the drive over the cycle")
page.picture(folder / "loads.png", "loads of the pins")
page.picture(folder / "hodograph.png", "load of pin A in the axes of crank and coupler")

worst = max(table.rows, key=lambda row: row.max)
where = f"{np.degrees(worst.at_max):.6g} deg"
page.heading(f"The links at {where}, where pin {worst.pin} carries most")
for body in ("crank", "rocker", "coupler", "tool"):
    fb = c.free_body(body, where)
    fb.plot(folder / f"{body}.png")
    print(f"\n{fb}\nforces add up to {fb.residual:.0e} of the largest")
    page.picture(folder / f"{body}.png", body)

page.save(folder / "index.html")
print(f"\nDiagrams and a page are in {folder}")
