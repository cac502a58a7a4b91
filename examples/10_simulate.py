"""Simulate: the carpet scraper let go and driven, a wiper under a controller, and what runs say about themselves.

python examples/10_simulate.py [folder]      writes into folder (default build/simulate)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/simulate")
folder.mkdir(parents=True, exist_ok=True)

s = lw.compile("carpet-scraper")
st = s.assemble(q={"J1": 0.0}, v={"J1": 4.7124})

free = s.simulate(st, 5, tolerance=1e-10, events=[lw.events.when("J1.v", direction="falling", name="turns back")], certify=True)
print("let go at 4.7124 rad/s")
print(free.checks())
E = free["energy.total"]
print(f"energy {E[0]:.6f} J, changed by at most {np.abs(E - E[0]).max():.1e} J")
backs = [e.time for e in free.events]
print(f"swings with a period of {np.diff(backs).mean():.9f} s ({len(backs)} turning points)\n")

# driven at a given speed: the torque that takes, and the work it does
driven = s.simulate(
    st, 2 * np.pi / 4.7124, drive={"J1": lw.drives.speed("4.7124 rad/s")}, tolerance=1e-10, sample_interval=2 * np.pi / 4.7124 / 72
)
needed = lw.load("carpet-scraper").cycle(steps=72)["J1.torque"]
print("one turn at 4.7124 rad/s")
print(f"torque {driven['J1.torque'].min():.3f} .. {driven['J1.torque'].max():.3f} N m,")
print(f"that of the inverse dynamics to {np.abs(driven['J1.torque'] - needed).max():.0e} N m")
change = driven["energy.total"][-1] - driven["energy.total"][0]
print(f"work of the drive {driven['work.in'][-1]:.2e} J, change of energy {change:.2e} J: a cycle gives back what it takes\n")

# the wiper's crank, held at 45 rpm by a controller that is sampled every 5 ms and remembers
WANTED, EVERY = 45 * 2 * np.pi / 60, 0.005
total = 0.0


def controller(t, st):
    global total
    error = WANTED - st["A.v"]
    total += EVERY * error
    return 6.0 * error + 60.0 * total


wiper = lw.compile("wiper")
held = wiper.simulate(wiper.start, 5, drive={"A": lw.drives.torque(controller, every=EVERY)})
late = held.between(2, 5)["A.v", "rpm"]
print(f"wiper with a sampled controller: {late.min():.2f} .. {late.max():.2f} rpm after 2 s")
print(held.checks(), "\n")

free.plot(["J1", "J1.v", "energy.kinetic", "energy.potential"], folder / "free.png")
held.plot(["A.v", "A.torque", "work.in"], folder / "controlled.png")
free.save(folder / "free.npz")
again = lw.load_result(folder / "free.npz")
print("saved and opened again: identical" if again.identical(free) else "the file differs")
