"""Polynomials by their coefficients, lowest power first; constant, straight and parabolic curves are among them.
"""

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


@dataclass(frozen=True)
class Polynomial(Curve):
    """f = c0 + c1 x + c2 x^2 + ..., by Horner's scheme with both derivatives."""

    coefficients: tuple[Any, ...]

    def __call__(self, x: Any, /) -> Jet:
        f: Any = 0.0 * x
        df: Any = 0.0 * x
        half: Any = 0.0 * x
        for c in reversed(self.coefficients):
            half = half * x + df
            df = df * x + f
            f = f * x + c
        return f, df, 2.0 * half
