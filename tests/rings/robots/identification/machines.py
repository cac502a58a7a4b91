"""Synthetic machines with measured motion: a five-bar along a fixed Fourier motion, noise from a seed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.rings.robots.identification.fourier_excitation import FourierMotion

SECONDS, SAMPLES = 4.0, 301
CHANNELS = ("t", "A", "A.v", "A.a", "E", "E.v", "E.a")


def motion(system: lw.System, seed: int = 0, harmonics: int = 3, size: float = 1.0) -> FourierMotion:
    names, rng = compiled_of(system).drive_names, np.random.default_rng(seed)
    A, B = size * rng.standard_normal((2, len(names), harmonics))
    start = np.asarray(compiled_of(system).drive_positions(system.start), dtype=float)
    return FourierMotion(start, A, B, 2.0 * np.pi / SECONDS)


def followed(m: lw.Mechanism, series: FourierMotion, samples: int = SAMPLES) -> lw.Trajectory:
    def of(k: int) -> Any:
        return lambda t: tuple(float(x[k]) for x in series(t))

    laws = {name: of(k) for k, name in enumerate(compiled_of(m.system).drive_names)}
    return m.follow(laws, np.linspace(0.0, SECONDS, samples))


@cache
def five_bar_run() -> lw.Trajectory:
    m = lw.load("five-bar")
    return followed(m, motion(m.system))


def measured(c: lw.Trajectory, noise: float, seed: int) -> dict[str, np.ndarray]:
    """Positions as they are, torques with noise of this standard deviation."""
    rng = np.random.default_rng(seed)
    out = {name: np.array(c[name]) for name in CHANNELS}
    return out | {f"{n}.torque": c[f"{n}.torque"] + noise * rng.standard_normal(len(c)) for n in ("A", "E")}
