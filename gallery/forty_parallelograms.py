"""Forty parallelograms through forty singularities at once.

One learns: when the cranks lie along the ground line all forty loops lose rank in the same instant, and each could fold into an
antiparallelogram: 2^40 ways to continue, one of them smooth. The run takes that one and says what it passed.
The check: on the parallel branch the chain is a pendulum, theta'' = g 3 (3 N + 1) / (2 (4 N + 1)) sin theta, from N + 1 cranks of
inertia 1/3 and N couplers that only translate. That single equation is integrated beside it.

The page plays the run and computes with all 81 bodies: let them swing, turn the first crank by hand. The picture shows a chain of three.

python gallery/forty_parallelograms.py [folder] [N]      writes forty_parallelograms.html and .png into folder (default build/gallery)
"""

import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)
N = int(sys.argv[2]) if len(sys.argv) > 2 else 40
SECONDS = 4.0


def pendulum(n):
    """Angle of n parallelograms' cranks from upright, started there with 1 rad/s."""
    factor = 9.81 * 3 * (3 * n + 1) / (2 * (4 * n + 1))
    return solve_ivp(lambda t, y: [y[1], factor * np.sin(y[0])], (0, SECONDS), [0.0, 1.0], "DOP853", rtol=1e-12, atol=1e-12).y[0, -1]


def turned(n, **options):
    m = lw.load("parallelogram-chain", N=n)
    return m, m.simulate(SECONDS, drive={}, sample_interval="20 ms", **options)


m, run = turned(N, integrator="rk4", step=0.01)
found, check = np.degrees(run["G0"][-1]) - 90, np.degrees(pendulum(N))
for p in run.passages:
    print(p)
print(f"{len(run.passages)} passages, {sum(p.lost for p in run.passages)} rows lost and found again")
print(f"angle of {N} parallelograms after 4 s: {found:.3f} deg (check: {check:.3f})")
assert {p.lost for p in run.passages} == {N} and abs(found - check) < 0.01
run.show(folder / "forty_parallelograms.html")

three, run = turned(3)
assert abs(run["G0"][-1] - np.pi / 2 - pendulum(3)) < 1e-6
near = run.at(run.passages[0].time - 0.05)  # a moment before all lie flat
three.plot("mechanism", folder / "forty_parallelograms.png", at=near, trace=[], size=(4.2, 2.4), labels=False)
