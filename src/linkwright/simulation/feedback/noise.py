"""Noise of sensors: what a sampled controller measures is the truth and a normal deviate, anew for every sample.

The deviates of a sample depend on the seed and the number of the sample alone: a run can be repeated, interrupted and gone on with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, call_explained
from linkwright.mechanics.kinematics.motion import displaced
from linkwright.mechanics.kinematics.skeleton import Skeleton, velocity_kinds
from linkwright.model.file import quantity
from linkwright.text.units import KINDS


@dataclass(frozen=True)
class Noise:
    """Standard deviations, SI; the same for all sensors of a kind."""

    angle: float = 0.0
    length: float = 0.0
    angular_speed: float = 0.0
    speed: float = 0.0
    force: float = 0.0
    torque: float = 0.0
    seed: int = 0

    def measured(self, skel: Skeleton, q: np.ndarray, v: np.ndarray, sample: int) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and speeds of the tree's joints as sensors read them: not quite on the loops."""
        rng = _deviates(self.seed, sample)
        kinds = velocity_kinds(skel)
        where = np.array([self.angle if k == "angle" else self.length for k in kinds])
        how_fast = np.array([self.angular_speed if k == "angle" else self.speed for k in kinds])
        return displaced(skel, q, where * rng.standard_normal(len(v))), v + how_fast * rng.standard_normal(len(v))

    def sensed(self, forces: np.ndarray, kinds: Any, sample: int) -> np.ndarray:
        rng = _deviates(self.seed, sample, 1)
        sizes = np.array([self.force if k == "force" else self.torque for k in kinds])
        return forces + sizes * rng.standard_normal(len(forces))


def _deviates(*numbers: int) -> np.random.Generator:
    """A generator that depends on these numbers alone; times before zero have negative samples."""
    return np.random.default_rng([n % (1 << 63) for n in numbers])


@call_explained
def noise(
    angle: Any = 0.0, length: Any = 0.0, angular_speed: Any = 0.0, speed: Any = 0.0, force: Any = 0.0, torque: Any = 0.0, *, seed: int = 0
) -> Noise:
    """Describe the noise of the sensors of a sampled controller by standard deviations.

    Parameters
    ----------
    angle : float or str, default 0
        Standard deviation of measured angles ("0.01 deg").
    length : float or str, default 0
        Of measured lengths ("5 um").
    angular_speed : float or str, default 0
        Of measured angular speeds ("1 deg/s").
    speed : float or str, default 0
        Of measured speeds.
    force : float or str, default 0
        Of measured forces.
    torque : float or str, default 0
        Of measured torques.
    seed : int, default 0
        Random seed.

    Returns
    -------
    Noise
        Noise for `simulate(noise=...)`.

    Examples
    --------
    >>> lw.control.noise(angle="0.01 deg", seed=3).seed
    3
    """
    given = {"angle": angle, "length": length, "angular_speed": angular_speed, "speed": speed, "force": force, "torque": torque}
    sizes = {k: quantity(x, KINDS[k.replace("_", " ")], f"noise: {k}") for k, x in given.items()}
    for name, size in sizes.items():
        if not (np.isfinite(size) and size >= 0.0):
            raise UsageError(f"noise: the standard deviation of {name} is {size:g}. It must be zero or more.", value=size)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UsageError(f"noise: seed is a whole number of zero or more, not {seed!r}.", value=seed)
    return Noise(**sizes, seed=seed)
