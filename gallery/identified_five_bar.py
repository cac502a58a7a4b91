"""A five-bar weighs itself: which masses and what friction does it have, if only its two motors can be asked?

One learns: torques along one well chosen motion determine eleven combinations of sixteen masses, moments and inertias, and not the mass
of a crank; that is enough to predict every torque. The model has wrong masses and no friction. A motion is designed within limits of
angle, speed and torque, "measured" on a machine with the true numbers and with noise, and the mechanism is identified from it.
The check is the torque that holds the machine still, from the heights of the true masses alone: circles give the joint of the rods, and the
slope of the weights' energy over the angle of the left crank is the torque. Identification and dynamics do not enter.

python gallery/identified_five_bar.py [folder]      writes identified_five_bar.html and identified_five_bar.png into folder
"""

import sys
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

PINS = {"A": (0, 0), "B": (0, 80), "C": (100, 276), "D": (200, 80), "E": (200, 0)}  # mm
LINKS = {"left": "AB", "left_rod": "BC", "right_rod": "DC", "right": "ED"}
TRUE = {"left": 0.26, "left_rod": 0.22, "right_rod": 0.31, "right": 0.18}  # kg, uniform rods
NOISE = 1e-3  # N m
ROD = abs(complex(100, 196)) / 1e3  # m


def five_bar(masses, friction):
    bodies = {name: {"pins": list(pins), "mass": masses[name]} for name, pins in LINKS.items()}
    model = {"name": "identified five-bar", "plane": "xy", "units": ["mm", "kg", "deg", "rpm"], "gravity": [0, "-9.81 m/s^2"]}
    rubbing = {f"{n}_friction": {"joint": n, "coulomb": f"{x} N m", "speed": "0.01 rad/s"} for n, x in friction.items()}
    drawing = {name: list(at) for name, at in PINS.items()}
    more = {"drawing": drawing, "bodies": {"ground": {"pins": ["A", "E"]}, **bodies}, "drive": {"A": "30 rpm", "E": "60 rpm"}}
    return lw.load(model | more | ({"friction": rubbing} if rubbing else {}))


machine = five_bar(TRUE, {"A": 0.02, "E": 0.03})
model = five_bar(dict.fromkeys(TRUE, 0.25), {})  # equal masses, no friction

limits = {n: {"position": ("20 deg", "160 deg"), "speed": "4 rad/s", "torque": "2 N m"} for n in "AE"}
motion = lw.excitation(model, duration="4 s", harmonics=4, limits=limits, friction=True, evaluations=200)
run = machine.follow(motion.motion, duration=4.0, steps=400)
rng = np.random.default_rng(1)
data = {name: run[name] for name in ("t", "A", "A.v", "A.a", "E", "E.v", "E.a")}
data |= {f"{n}.torque": run[f"{n}.torque"] + NOISE * rng.standard_normal(len(run)) for n in "AE"}
found = lw.identify(model, data, friction=True)
print(motion)
print(found)


def height(angle, A=0j, E=0.2 + 0j, crank=0.08):
    """Weights times their heights, J, with the left crank at this angle and the right one upright."""
    B, D = A + crank * np.exp(1j * angle), E + crank * 1j
    C = (B + D) / 2 + 1j * np.sqrt(ROD**2 - abs(D - B) ** 2 / 4) * (D - B) / abs(D - B)
    ends = {"left": A + B, "left_rod": B + C, "right_rod": D + C, "right": E + D}
    return 9.81 * sum(TRUE[name] * (x / 2).imag for name, x in ends.items())


hair = 1e-5
check = 1e3 * (height(np.pi / 3 + hair) - height(np.pi / 3 - hair)) / (2 * hair)
s = found.mechanism.system
torque = 1e3 * s.inverse(s.assemble({"A": np.pi / 3, "E": np.pi / 2})).tau["A"]
print(f"torque that holds the left crank at 60 degrees: {torque:.0f} N mm (check: {check:.0f})")
assert abs(torque - check) < 0.25  # N mm: a quarter of the noise of a single reading

found.mechanism.show(folder / "identified_five_bar.html")
predicted = found.mechanism.follow(motion.motion, duration=4.0, steps=400)
before = model.follow(motion.motion, duration=4.0, steps=400)
figure = predicted.plot("A.torque", size=(4.2, 3.2))
axes = figure.axes[0]
unit = axes.lines[0].get_ydata()[0] / predicted["A.torque"][0]
axes.lines[0].set_label("identified")
axes.plot(before["t"], unit * before["A.torque"], "--", color="#999", lw=1.0, label="model", zorder=0)
axes.plot(data["t"][::4], unit * data["A.torque"][::4], ".", color="#c44", ms=2.5, label="measured")
axes.legend(fontsize=7, loc="lower right")
figure.savefig(folder / "identified_five_bar.png", dpi=150)
