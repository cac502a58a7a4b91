"""A motor, its gearbox and a flywheel for the carpet scraper: what they see over a cycle, and which ratio suits best.

python examples/07_motor_and_flywheel.py [folder]      writes into folder (default build/drive)
"""

import sys
from pathlib import Path

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/drive")
folder.mkdir(parents=True, exist_ok=True)

motor = {
    "Kt": "0.1 N m/A",
    "R": "0.3 ohm",
    "J": "2e-4 kg m^2",
    "friction": "0.02 N m",
    "supply_voltage": "48 V",
    "rated_current": "10 A",
    "max_current": "40 A",
    "max_speed": "4500 rpm",
}
c = lw.load("carpet-scraper").cycle(steps=120)
print(c.drive_sizing())

for ratio in (30, 60, 90):
    sizing = c.drive_sizing(motor=motor, gear_ratio=ratio, efficiency=0.85)
    x = sizing.figures()
    verdict = "fits" if sizing.ok else "does not fit: " + ", ".join(m.what for m in sizing.margins if not m.ok)
    print(f"ratio {ratio}: {x['current_rms']:.2f} A RMS, {x['current_peak']:.1f} A peak, {x['voltage_max']:.1f} V, {verdict}")

sizing = c.drive_sizing(motor=motor, gear_ratio=60, efficiency=0.85)
print(f"\n{sizing}")
sizing.plot(folder / "motor.png")

wheel = c.flywheel(0.05)
print(f"\n{wheel}")
