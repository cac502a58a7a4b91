"""Aghili's simulation of the slider-crank as published: Runge-Kutta 4, (25) with M_c'', and the correction (37) of positions.

Written out for this one mechanism (l = m = 1, two angles, one constraint) on arrays of runs, so that thousands of them cost little: the
product's own stabilizer of (36), (37) is in `aghili`, and its accelerations are limits along the branch, which is another
method. A singular value below an absolute tolerance counts as zero; a relative one would never do so with a single row.

Which runs leave the motion is decided by round-off: each passage multiplies what velocities have across the branch, and (37) corrects
positions only. So no count of failing step sizes means anything by itself. `statement()` says how large the share of failing runs is among
starts that differ by less than any figure could show, with its range, and what a velocity across the branch makes of it.
"""

from __future__ import annotations

from functools import cache
from math import cos, pi, sin, sqrt
from typing import NamedTuple

import numpy as np

STEPS = range(420, 590, 10)  # of five seconds: steps from 11.9 to 8.6 ms, the paper's 10 ms among them
DURATION, TORQUE, GRAVITY = 5.0, 1.0, 9.81
START = 2.0 * pi / 3.0
STARTS = 20  # for every step size
MOVED = 1e-12  # rad along the branch, or rad/s across it: far above round-off, far below what a figure shows
OFF = 0.01  # rad: runs that end farther from the motion have left it
CONFIDENCE = 1.96  # standard deviations: 95 %
MARKS = (0, 25, 50, 75, 95, 100)  # %: shares are said between two of these


class Share(NamedTuple):
    """Runs that failed, of how many."""

    failed: int
    runs: int

    @property
    def value(self) -> float:
        return self.failed / self.runs

    @property
    def range(self) -> tuple[float, float]:
        """The share of all such runs, with 95 % confidence: the score interval, which holds for shares of 0 and 1 too."""
        n, p, z = self.runs, self.value, CONFIDENCE
        middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n)
        half = z / (1.0 + z * z / n) * sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)

    def __str__(self) -> str:
        """The range in marks that no other round-off moves it across: `none of 340 runs`, `50 to 75 % of 340 runs`."""
        low, high = (100.0 * x for x in self.range)
        least, most = max(m for m in MARKS if m <= low), min(m for m in MARKS if m >= high)
        share = "none" if not self.failed else f"more than {least} %" if most == 100 else f"{least} to {most} %"
        return f"{share} of {self.runs} runs"


def _row(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A of (67), and the inverse of its square, zero where A counts as zero."""
    c12 = np.cos(x[0] + x[1])
    a = np.cos(x[0]) + c12
    square = a * a + c12 * c12
    tolerance = 1e-12
    counts = square > tolerance**2
    return a, c12, np.where(counts, 1.0 / np.where(counts, square, 1.0), 0.0)


def rates(x: np.ndarray, g: np.ndarray) -> np.ndarray:
    """(25) with M_c'' of (29), gamma = 1, of runs with x = q1, q2 and their rates."""
    q1, q2, w1, w2 = x
    c2, s2, w12 = np.cos(q2), np.sin(q2), w1 + w2
    A1, A2, inverse = _row(x)
    f1 = TORQUE + s2 * (w2 * w2 + 2.0 * w1 * w2) - g * (A2 + 2.0 * np.cos(q1))
    f2 = -s2 * w1 * w1 - g * A2
    m11, m12, m22 = 3.0 + 2.0 * c2, 1.0 + c2, 1.0
    n11, n12, n22 = A1 * A1 * inverse, A1 * A2 * inverse, A2 * A2 * inverse  # 1 - P
    normal = (np.sin(q1) * w1 * w1 + np.sin(q1 + q2) * w12 * w12) * inverse  # of A^+ (-dA/dt q')
    p11, p12, p22 = 1.0 - n11, -n12, 1.0 - n22
    f1, f2 = p11 * f1 + p12 * f2 + A1 * normal, p12 * f1 + p22 * f2 + A2 * normal
    a11, a12 = p11 * m11 + p12 * m12 + n11, p11 * m12 + p12 * m22 + n12
    a21, a22 = p12 * m11 + p22 * m12 + n12, p12 * m12 + p22 * m22 + n22
    det = a11 * a22 - a12 * a21
    return np.array([w1, w2, (a22 * f1 - a12 * f2) / det, (a11 * f2 - a21 * f1) / det])


def _corrected(x: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """(37), one iteration after every step; where asked for the same of velocities, which the paper leaves alone."""
    A1, A2, inverse = _row(x)
    gap = (np.sin(x[0]) + np.sin(x[0] + x[1])) * inverse
    q = np.array([x[0] - A1 * gap, x[1] - A2 * gap])
    A1, A2, inverse = _row(q)
    gap = np.where(velocities, (A1 * x[2] + A2 * x[3]) * inverse, 0.0)
    return np.array([*q, x[2] - A1 * gap, x[3] - A2 * gap])


def ends(x: np.ndarray, steps: np.ndarray, g: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """q1 of every run after five seconds; not finite for runs that burst."""
    dt, out = DURATION / steps, x.copy()
    with np.errstate(all="ignore"):
        for k in range(int(steps.max())):
            k1 = rates(x, g)
            k2 = rates(x + 0.5 * dt * k1, g)
            k3 = rates(x + 0.5 * dt * k2, g)
            k4 = rates(x + dt * k3, g)
            x = _corrected(x + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), velocities)
            out = np.where(k < steps, x, out)
    return out[0]


def motion(g: float, steps: int = 4000) -> float:
    """q1 after five seconds from the one equation (3 - 2 cos 2 q1) q1'' + 2 sin(2 q1) q1'^2 + g cos q1 = f1, which has no constraint."""

    def rate(q: float, w: float) -> tuple[float, float]:
        return w, (TORQUE - 2.0 * sin(2.0 * q) * w * w - g * cos(q)) / (3.0 - 2.0 * cos(2.0 * q))

    h, (q, w) = DURATION / steps, (START, 0.0)
    for _ in range(steps):
        k1 = rate(q, w)
        k2 = rate(q + 0.5 * h * k1[0], w + 0.5 * h * k1[1])
        k3 = rate(q + 0.5 * h * k2[0], w + 0.5 * h * k2[1])
        k4 = rate(q + h * k3[0], w + h * k3[1])
        q += h / 6.0 * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0])
        w += h / 6.0 * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1])
    return q


CASES = {  # gravity, velocities projected too, a velocity across the branch at the start
    "without gravity": (0.0, False, False),
    "with gravity": (GRAVITY, False, False),
    "with gravity, across": (GRAVITY, False, True),
    "without gravity, velocities": (0.0, True, False),
    "with gravity, velocities": (GRAVITY, True, False),
    "with gravity, across, velocities": (GRAVITY, True, True),
}


@cache
def shares(starts: int = STARTS, seed: int = 1) -> dict[str, Share]:
    """Runs that end off the motion in every case: all step sizes, each from several starts, moved by some 1e-12."""
    each = len(STEPS) * starts
    moved = MOVED * np.random.default_rng(seed).normal(size=(len(CASES), each))
    g, velocities, across = (np.repeat([case[i] for case in CASES.values()], each) for i in range(3))
    q = START + np.where(across, 0.0, moved.ravel())
    w = np.where(across, moved.ravel(), 0.0)  # along A = (2, 1) cos q1
    found = ends(np.array([q, 2.0 * pi - 2.0 * q, 2.0 * w, w]), np.tile(np.repeat(STEPS, starts), len(CASES)), g, velocities)
    right = np.where(g == 0.0, motion(0.0), motion(GRAVITY))
    failed = ~(np.abs(found - right) < OFF)  # so that what is not finite fails
    return {name: Share(int(n), each) for name, n in zip(CASES, failed.reshape(len(CASES), each).sum(axis=1), strict=True)}


def statement() -> str:
    """How often the published method leaves the motion: the one sentence for all pages."""
    found = shares()
    projected = Share(sum(s.failed for name, s in found.items() if "velocities" in name), 3 * found["with gravity"].runs)
    sizes = f"{len(STEPS)} step sizes from {1e3 * DURATION / max(STEPS):.1f} to {1e3 * DURATION / min(STEPS):.1f} ms"
    return (
        f"{sizes}, {STARTS} starts each that differ by some {MOVED:.0e} rad along the branch: with gravity (four passages) "
        f"{found['with gravity']} end more than {OFF:g} rad off the motion, without gravity (one passage) {found['without gravity']}; "
        f"from starts with some {MOVED:.0e} rad/s across the branch, with gravity {found['with gravity, across']}; "
        f"where velocities are projected too, {projected}"
    )
