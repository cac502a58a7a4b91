"""Two shipped mechanisms: what they are, one turn of each, pictures, curves, and a page with all of it.

python examples/01_wiper_and_scraper.py [folder]      writes into build/demo unless told otherwise
"""

import sys
from pathlib import Path

import linkwright as lw
from linkwright.views import plots
from linkwright.views.page import Page
from linkwright.views.text import aligned, turn_table

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo")
folder.mkdir(parents=True, exist_ok=True)
page = Page("Linkwright: a wiper and a carpet scraper")

for name in ("wiper", "carpet-scraper"):
    m = lw.load(name)
    info = m.info()
    print(info)
    c = m.turn(steps=120)  # every 3 degrees: positions, velocities, accelerations of everything
    print(f"\n{aligned(*turn_table(c))}\n")

    m.picture(folder / f"{name}.png", turn=c, force=True)
    m.animate(folder / f"{name}.gif", turn=c, force=True)
    plots.overview(c, folder / f"{name}-curves.png", force=True)
    c.save(folder / f"{name}.csv", force=True)

    page.heading(name).text(info)
    page.picture(folder / f"{name}.png", "start position, and the paths of marked points over a turn")
    page.picture(folder / f"{name}.gif", "one turn")
    page.picture(folder / f"{name}-curves.png", "angles and points over the drive: position, velocity, acceleration")
    page.table(*turn_table(c))

page.save(folder / "index.html", force=True)
print(f"Pictures, animations, tables and a page are in {folder}: open {(folder / 'index.html').resolve()}")
