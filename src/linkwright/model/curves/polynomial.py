"""Polynomials by their coefficients, lowest power first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwright.model.curves import Curve, Jet


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
