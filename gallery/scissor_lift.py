"""A scissor lift: what must the spindle pull to lift 150 kg from low down?

One learns: a scissor is at its worst when it is low. The spindle's force goes with the cotangent of the bars' angle and with the
number of stages.
The check is virtual work by hand: with N stages of bars of length l at the angle a, the table is N l sin a high and the carriage
l cos a away, so F = g cot a (N m_table + 2 m_bar (1/2 + 3/2 + ... )), each pair of bars having its middle half a stage up.

python gallery/scissor_lift.py [folder]      writes scissor_lift.html and scissor_lift.png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np
from scipy.integrate import trapezoid

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)


def by_hand(stages, angle):
    bars = sum(2 * 8 * (i - 0.5) for i in range(1, stages + 1))
    return 9.81 / np.tan(angle) * (stages * 150 + bars)


for stages in (1, 2, 4):
    s = lw.compile(lw.load("scissor-lift", N=stages))
    force = -s.inverse(s.start).tau["slide"]  # outwards is positive; the spindle pulls the carriage in
    print(f"{stages} stages at 20 deg: the spindle pulls {force:8.1f} N, by hand {by_hand(stages, np.radians(20)):8.1f} N")
    assert abs(force - by_hand(stages, np.radians(20))) < 1e-9 * force

m = lw.load("scissor-lift")
s = m.system
found, check = -s.inverse(s.start).tau["slide"], by_hand(3, np.radians(20))
print(f"pull of the spindle, three stages: {found / 1e3:.4f} kN (check: {check / 1e3:.4f})")
assert abs(found - check) < 1e-9 * check

c = m.cycle(steps=180)  # 8 s up, 2 s waiting, 8 s down
up = c.between(0, 8)
energy = trapezoid(up["slide.power"], up.t)
print(f"lifted by {np.ptp(c['table.R3.y']):.3f} m with {energy / 1e3:.3f} kJ")
m.show(folder / "scissor_lift.html")
high = s.assemble(q={"slide": -0.4})
c.plot("mechanism", folder / "scissor_lift.png", at=high, trace=[], size=(4.2, 3.2), labels=False)
