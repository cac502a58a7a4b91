"""Oscillations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.model.curves import Curve, Jet


@dataclass(frozen=True)
class Sine(Curve):
    """center + amplitude sin(w t + phase)"""

    center: float
    amplitude: float
    w: float
    phase: float

    def __call__(self, x: Any, /) -> Jet:
        angle = self.w * x + self.phase
        sine = np.sin(angle)
        return (
            self.center + self.amplitude * sine,
            self.amplitude * self.w * np.cos(angle),
            -self.amplitude * self.w * self.w * sine,
        )
