"""A plain loop in a file of its own, for processes that compile it or find its code."""

from __future__ import annotations

import numpy as np


def halved(x: np.ndarray, y: np.ndarray) -> int:
    """Fill y with half of x; returns how many entries are not zero."""
    count = 0
    for i in range(x.shape[0]):
        y[i] = 0.5 * x[i]
        if y[i] != 0.0:
            count += 1
    return count
