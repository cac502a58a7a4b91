"""Two built-in mechanisms: what they are, one turn of each, five simulated seconds, pictures, curves, and pages to play with.

The two pages compute by themselves: drag a pin, move a length, let it swing; the simulation plays in them. The index shows the rest.

python examples/01_wiper_and_scraper.py [folder]      writes into folder (default build/demo)
"""

import sys
from pathlib import Path

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo")
folder.mkdir(parents=True, exist_ok=True)
page = lw.Page("Linkwright: a wiper and a carpet scraper")


def run_table(run, channels):
    """Some channels every half second, in the file's units."""
    return run.at([0.5 * i for i in range(11)]).table(channels)


def simulated(name, m):
    """The wiper as its file drives it, the scraper let go at the speed of its drive; with the channels worth a look."""
    if name == "wiper":
        run = m.simulate(5, tolerance=1e-10)
        return (
            run,
            "5 s driven as its file says",
            ["t", "A", "A.v", "energy.total", "A.torque"],
            ["rocker.angle", "A.torque", "energy.total"],
        )
    s = m.system
    run = s.simulate(s.assemble(q={"J1": 0.0}, v={"J1": 4.7124}), 5, tolerance=1e-10, sample_interval="2 ms")
    return run, "5 s let go at 4.7124 rad/s", ["t", "J1", "J1.v", "energy.total"], ["J1", "J1.v", "energy.kinetic", "energy.potential"]


for name in ("wiper", "carpet-scraper"):
    m = lw.load(name)
    info = m.info()
    print(info)
    c = m.cycle(steps=120)  # every 3 degrees: positions, velocities, accelerations of everything
    turn = c[::10].table()
    print(f"\n{turn.text(width=150)}\n")
    run, what, listed, drawn = simulated(name, m)
    print(f"{name}: {what}\n{run_table(run, listed).text()}\n{run.checks()}\n")

    c.plot("mechanism", folder / f"{name}.png")
    m.animate(folder / f"{name}.gif")
    c.plot("overview", folder / f"{name}-curves.png")
    run.plot(drawn, folder / f"{name}-run.png")
    c.save(folder / f"{name}.csv")
    run.show(folder / f"{name}.html")

    page.heading(name).text(info)
    page.link(f"{name}.html", "Open its page: it moves, can be dragged and changed, and plays the simulation")
    page.picture(folder / f"{name}.png", "start position, and the paths of marked points over a cycle")
    page.picture(folder / f"{name}.gif", "one turn")
    page.picture(folder / f"{name}-curves.png", "angles and points over the drive: position, velocity, acceleration")
    page.table(turn)
    page.picture(folder / f"{name}-run.png", what)
    page.table(run_table(run, listed)).text(run.checks())

page.save(folder / "index.html")
print(f"Pictures, animations, tables and pages are in {folder}: open {(folder / 'index.html').resolve()}")
