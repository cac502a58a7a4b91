"""A planar 3-RRR robot on three DC motors: where does the electric energy go?

One learns: with voltages given and no motion prescribed, currents, torques and the closed-loop mechanism answer together. Most of
what a motor takes at the start is heat.
The check is energy: nothing is lost but heat in the windings (no friction, no gravity), so what the terminals take in, less the
kinetic energy of the bodies and of the rotors at the end, must have become heat. With L = 0 the current is (u - K N v) / R; heat is
computed from the currents, the other side from voltages and speeds.

python gallery/motor_driven_3rrr.py [folder]      writes motor_driven_3rrr.html and .png into folder (default build/gallery)
"""

import sys
from pathlib import Path

from scipy.integrate import trapezoid

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

K, R, J, N = 0.3, 3.0, 0.001, 10  # N m/A and V s/rad, ohm, kg m^2, gearbox
VOLTS = {"A1": 5.0, "A2": -5.0, "A3": 5.0}
motor = lw.drives.dc_motor(Kt=K, R=R, J=J, gear_ratio=N, supply_voltage="34 V")
m = lw.load("3-rrr-motors")
run = m.simulate(0.5, drive={d: lw.drives.voltage(u, motor=motor) for d, u in VOLTS.items()}, tolerance=1e-10, sample_interval="0.5 ms")
print(run.checks())


def over_time(y):
    return float(trapezoid(y, run.t))


heat = sum(over_time(R * run[f"motor.{d}.current"] ** 2) for d in VOLTS)
electric = sum(over_time(u * (u - K * N * run[f"{d}.v"]) / R) for d, u in VOLTS.items())
bodies = run["energy.kinetic"][-1] - run["energy.kinetic"][0]
rotors = sum(0.5 * J * N**2 * run[f"{d}.v"][-1] ** 2 for d in VOLTS)
check = electric - bodies - rotors

for d, u in VOLTS.items():
    print(f"{d}: {u:4.1f} V, {run[f'motor.{d}.current'][0]:6.3f} A at the start, {run[f'motor.{d}.current'][-1]:6.3f} A at the end")
print(f"from the terminals {electric:.5f} J; in bodies {bodies:.5f} J, in rotors {rotors:.5f} J")
print(f"heat of the windings: {heat:.4f} J (check: {check:.4f})")
assert abs(heat - check) < 1e-5 * heat  # trapezoids of half a millisecond

run.show(folder / "motor_driven_3rrr.html")
run.plot([f"motor.{d}.current" for d in VOLTS], folder / "motor_driven_3rrr.png", size=(4.2, 3.2))
