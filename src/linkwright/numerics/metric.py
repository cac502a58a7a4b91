"""The characteristic length: what makes meters and radians comparable.

kappa is the RMS distance of all joint points from their centroid in the drawn position. Columns of J
for translational coordinates are multiplied by it and translational rows divided by it before any norm,
rank or singular value is taken, so results do not depend on the unit of length [Aghili2005 (48)].
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def characteristic_length(points: np.ndarray) -> float:
    """RMS distance of points (n, 3) from their centroid; 1 m where there is no extent."""
    if len(points) == 0:
        return 1.0
    kappa = float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1))))
    return kappa if kappa > 1e-12 else 1.0


def scale(kinds: Iterable[str], kappa: float) -> np.ndarray:
    """1 for angles, kappa for lengths."""
    return np.array([kappa if k == "length" else 1.0 for k in kinds])
