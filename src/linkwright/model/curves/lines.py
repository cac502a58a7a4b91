"""Constant, straight and parabolic curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwright.model.curves import Curve, Jet


@dataclass(frozen=True)
class Constant(Curve):
    level: float

    def __call__(self, x: Any, /) -> Jet:
        return self.level, 0.0, 0.0


@dataclass(frozen=True)
class Line(Curve):
    """f = offset + slope x: constant speed, or a gear ratio."""

    offset: Any
    slope: Any

    def __call__(self, x: Any, /) -> Jet:
        return self.offset + self.slope * x, self.slope, 0.0


@dataclass(frozen=True)
class Parabola(Curve):
    """Constant acceleration through a value and a speed at time `at`; without a time, the same three numbers at every x."""

    f: Any
    df: Any = 0.0
    ddf: Any = 0.0
    at: Any = None

    def __call__(self, x: Any, /) -> Jet:
        if self.at is None:
            return self.f, self.df, self.ddf
        later = x - self.at
        return self.f + later * (self.df + 0.5 * later * self.ddf), self.df + later * self.ddf, self.ddf
