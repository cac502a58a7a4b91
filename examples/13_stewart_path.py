"""A Stewart platform that follows a path: with the model as it is, with masses known to 20 %, and with a real controller's habits.

python examples/13_stewart_path.py [folder]      writes into folder (default build/stewart_path)
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/stewart_path")
folder.mkdir(parents=True, exist_ok=True)
LEGS = [f"leg{i}" for i in range(1, 7)]

m = lw.load("stewart")
s = m.system

# a closed curve in space that begins at rest, and the platform rolls, pitches and yaws on its way: x, y, z, roll, pitch, yaw
path = [
    "0.06 m*(1 - cos(8 rad/s*t))",
    "0.08 m*sin(8 rad/s*t)^3",
    "0.7 m + 0.03 m*(1 - cos(16 rad/s*t))",
    "8 deg*sin(8 rad/s*t)^3",
    "5 deg*(1 - cos(8 rad/s*t))",
    "10 deg*sin(16 rad/s*t)^3",
]


def wanted(t):
    return np.stack([0.06 * (1 - np.cos(8 * t)), 0.08 * np.sin(8 * t) ** 3, 0.7 + 0.03 * (1 - np.cos(16 * t))], axis=1)


def followed(name, run):
    off = np.linalg.norm(run["platform.C"] - wanted(run.t), axis=1)
    push = max(float(np.abs(run[f"{leg}.force"]).max()) for leg in LEGS)
    print(f"{name:34} off the path by at most {1e3 * off.max():.2g} mm; legs push up to {push:.0f} N")
    return off


def heavier(factor):
    """What a controller believes that has the masses wrong."""

    def more(b):
        return replace(b, mass=factor * b.mass, inertia=tuple(tuple(factor * x for x in r) for r in b.inertia)) if b.mass else b

    return lw.Mechanism(replace(m.description, bodies=tuple(more(b) for b in m.description.bodies)))


ideal = s.simulate(s.start, 0.8, control=lw.control.projected({"platform": path}, P=900), tolerance=1e-8, sample_interval=0.01)
followed("the model as it is", ideal)

# all masses and weights c = 1.2 times too large: e'' + c D e' + c P e = -(c - 1) (a_wanted - a_free), so |e| < 0.2 |a| / (1.2 P)
wrong = s.simulate(
    s.start, 0.8, control=lw.control.projected({"platform": path}, P=900, model=heavier(1.2)), tolerance=1e-8, sample_interval=0.01
)
followed("masses 20 % too large", wrong)
print(f"{'':34} weight alone makes {1e3 * 0.2 * 9.81 / (1.2 * 900):.2g} mm")

# sampled, one sample late, with noisy sensors and legs that give no more than 450 N
real = s.simulate(
    s.start,
    0.8,
    control=lw.control.projected({"platform": path}, P=900, every="2 ms"),
    actuators=lw.control.actuator(limit="450 N"),
    noise=lw.control.noise(angle="0.005 deg", length="20 um", angular_speed="0.1 deg/s", speed="0.5 mm/s", seed=1),
    delay="2 ms",
    tolerance=1e-6,
    sample_interval=0.01,
)
followed("2 ms samples, delay, noise, 450 N", real)

# the controller by itself: what it would do at a measured state
c = s.control(lw.control.projected({"platform": path}, P=900))
print("at the start:", {leg: f"{force:.1f} N" for leg, force in c(s.start).items()})

real.plot([*(f"{leg}.force" for leg in LEGS), "control.platform.x.error"], folder / "legs.png")
print(f"curves are in {folder}")
