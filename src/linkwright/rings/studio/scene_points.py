"""Places on bodies, as drawings take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ScenePoint:
    """A place on a body (node -1: ground)."""

    node: int
    at: np.ndarray
