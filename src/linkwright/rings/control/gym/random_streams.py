"""Random numbers of many environments at once: each environment has a stream of its own.

The numbers of an environment follow from its seed, its episode and how often this episode was drawn, whatever other environments there are:
an environment draws the same in a vector of a thousand as alone. Generator: SplitMix64, started at a hash of those three.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.api import UsageError

GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
TO_UNIT = 2.0**-53


def hashed(z: np.ndarray) -> np.ndarray:
    """Mix the bits of whole numbers: the output function of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


class RowRandom:
    """Random numbers for n environments; every method returns an array whose first axis is the environments."""

    def __init__(self, seeds: Any, episodes: Any, draws: int = 0):
        key = np.asarray(seeds, dtype=np.uint64)
        for part in (np.asarray(episodes, dtype=np.uint64), np.full(len(key), draws, dtype=np.uint64)):
            key = hashed(hashed(key + GOLDEN) + part)
        self._key, self._used = key, 0

    def __len__(self) -> int:
        return len(self._key)

    def _next(self, count: int) -> np.ndarray:
        """(n, count) numbers from 0 to 1, 1 excluded."""
        steps = np.arange(self._used + 1, self._used + count + 1, dtype=np.uint64)
        self._used += count
        return (hashed(self._key[:, None] + steps * GOLDEN) >> np.uint64(11)) * TO_UNIT

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: int | None = None) -> np.ndarray:
        """Return numbers between low and high: (n,), or with a size (n, size)."""
        found = self._next(1)[:, 0] if size is None else self._next(size)
        return low + (np.asarray(high) - low) * found

    def normal(self, mean: Any = 0.0, deviation: Any = 1.0, size: int | None = None) -> np.ndarray:
        """Return normally distributed numbers: (n,), or with a size (n, size)."""
        u = self._next(2 * (1 if size is None else size)).reshape(len(self), -1, 2)
        found = np.sqrt(-2.0 * np.log1p(-u[..., 0])) * np.cos(2.0 * np.pi * u[..., 1])
        return mean + deviation * (found[:, 0] if size is None else found)

    def integers(self, low: int, high: int) -> np.ndarray:
        """Return whole numbers from low to high, high excluded: (n,)."""
        if not high > low:
            raise UsageError(f"integers needs low < high, not {low} and {high}.", value=low)
        return (low + np.floor(self._next(1)[:, 0] * (high - low))).astype(np.int64)

    def choice(self, values: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Return one of the values for each environment: (n,), or rows of an array."""
        given = np.asarray(values)
        if not len(given):
            raise UsageError("choice needs at least one value.")
        return given[self.integers(0, len(given))]
