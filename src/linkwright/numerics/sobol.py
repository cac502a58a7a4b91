"""Sobol points in up to ten dimensions, shifted by a seed: they fill a box evenly, without the second that scipy.stats needs to load.

Direction numbers are those of Joe and Kuo (2008), the same as scipy's; the shift flips the same random bits of all points of a dimension.
"""

from __future__ import annotations

import numpy as np

BITS = 30
# degree, inner coefficients and first direction numbers of each dimension's primitive polynomial; the first dimension has none
POLYNOMIALS: tuple[tuple[int, int, tuple[int, ...]], ...] = (
    (1, 0, (1,)),
    (2, 1, (1, 3)),
    (3, 1, (1, 3, 1)),
    (3, 2, (1, 1, 1)),
    (4, 1, (1, 1, 3, 3)),
    (4, 4, (1, 3, 5, 13)),
    (5, 2, (1, 1, 5, 5, 17)),
    (5, 4, (1, 1, 5, 5, 5)),
    (5, 7, (1, 1, 7, 11, 19)),
)
MOST_DIMENSIONS = len(POLYNOMIALS) + 1


def sobol(count: int, dimensions: int, *, seed: int | None = None) -> np.ndarray:
    """Return points (count, dimensions) in [0, 1); without a seed the first one is the origin."""
    assert 1 <= dimensions <= MOST_DIMENSIONS and 0 <= count < 2**BITS
    index = np.arange(count, dtype=np.uint64)
    gray = index ^ (index >> np.uint64(1))
    points = np.zeros((count, dimensions), dtype=np.uint64)
    for bit in range(max(int(count - 1).bit_length(), 1)):
        chosen = (gray >> np.uint64(bit)) & np.uint64(1)
        for j in range(dimensions):
            points[:, j] ^= chosen * np.uint64(_directions(j)[bit])
    if seed is not None:
        points ^= np.random.default_rng(seed).integers(0, 2**BITS, dimensions, dtype=np.uint64)
    return points / float(2**BITS)


def _directions(dimension: int) -> list[int]:
    """Return the direction numbers of a dimension, one for every bit."""
    if dimension == 0:
        return [1 << (BITS - 1 - k) for k in range(BITS)]
    degree, coefficients, first = POLYNOMIALS[dimension - 1]
    m = list(first)
    for k in range(degree, BITS):
        new = m[k - degree] ^ (m[k - degree] << degree)
        for j in range(1, degree):
            if (coefficients >> (degree - 1 - j)) & 1:
                new ^= m[k - j] << j
        m.append(new)
    return [m[k] << (BITS - 1 - k) for k in range(BITS)]
