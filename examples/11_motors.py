"""DC motors on a planar robot: currents, heat, and where the electric power goes.

python examples/11_motors.py [folder]      writes into folder (default build/motors)
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/motors")
folder.mkdir(parents=True, exist_ok=True)
DRIVES = ("A1", "A2", "A3")


def volts(motor=None):
    return {
        "A1": lw.drives.voltage("5 V", motor=motor),
        "A2": lw.drives.voltage("-5 V", motor=motor),
        "A3": lw.drives.voltage("5 V", motor=motor),
    }


def total(run, name):
    """Energy over the run that a power of all three motors amounts to, J."""
    power = sum(run[f"motor.{d}.{name}"] for d in DRIVES)
    return float(np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(run.t)))


m = lw.load("3-rrr-motors")
paper = m.simulate(0.5, drive=volts(), tolerance=1e-10)  # the file's motors: Kt and Ke as printed in the paper
print(paper.checks())

# a motor that exists: Kt = Ke, with friction, a gearbox that loses a tenth, inductance, and an amplifier with limits
real = lw.drives.dc_motor(
    Kt="0.3 N m/A",
    R="3 ohm",
    L="1.5 mH",
    J="0.001 kg m^2",
    gear_ratio=10,
    efficiency=0.9,
    friction="0.02 N m",
    supply_voltage="34 V",
    max_current="2 A",
)
run = m.simulate(0.5, drive=volts(real))
print(f"\n{real}")
print(run.checks())
for d in DRIVES:
    i, u = run[f"motor.{d}.current"], run[f"motor.{d}.voltage"]
    print(f"{d}: current {i.min():6.3f} .. {i.max():6.3f} A, terminals {u.min():6.2f} .. {u.max():6.2f} V")

parts = {n: total(run, n) for n in ("power.electric", "heat", "power.magnetic", "loss.friction", "loss.gearbox", "power.mechanical")}
for name, joules in parts.items():
    print(f"  {name:17} {joules:9.5f} J")
gap = sum(run[f"motor.{d}.power.electric"] - sum(run[f"motor.{d}.{n}"] for n in list(parts)[1:]) for d in DRIVES)
print(f"electric power less all the others: at most {np.abs(gap).max():.1e} W at any sample")
print(f"work into the mechanism {run['work.in'][-1]:.5f} J, of which {run['energy.rotors'][-1]:.5f} J are in the rotors at the end")

currents = [f"motor.{d}.current" for d in DRIVES]
run.plot([*DRIVES, *currents, *(f"motor.{d}.heat" for d in DRIVES)], folder / "motors.png")
print(f"curves are in {folder}")
