"""Sobol points: the same as scipy's, shifted by the seed, evenly spread."""

from __future__ import annotations

import numpy as np
from scipy.stats import qmc

from linkwright.numerics.sobol import BITS, MOST_DIMENSIONS, sobol


def test_points_without_a_seed_are_those_of_scipy() -> None:
    known = qmc.Sobol(MOST_DIMENSIONS, scramble=False, bits=BITS).random(512)
    assert np.array_equal(sobol(512, MOST_DIMENSIONS), known)


def test_a_seed_shifts_the_points_and_keeps_them_even() -> None:
    first, again, other = sobol(256, 5, seed=1), sobol(256, 5, seed=1), sobol(256, 5, seed=2)
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    for points in (first, other):
        assert points.min() >= 0.0 and points.max() < 1.0
        # a digital shift keeps the net: every one of 256 equal intervals of a coordinate has one point
        assert all(len(np.unique(np.floor(256 * points[:, j]))) == 256 for j in range(5))
