"""Functions of one variable with exact first and second derivatives: drives, couplings, cams.

A law is called with x and returns (f, f', f''), over any scalar. Drives follow laws of time,
couplings laws of another joint's coordinate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.scalars import real, where

Law = Callable[[Any], tuple[Any, Any, Any]]


@dataclass(frozen=True)
class LinearLaw:
    """f = offset + slope x: constant speed, or a gear ratio."""

    offset: Any
    slope: Any

    def __call__(self, x: Any) -> tuple[Any, Any, Any]:
        return self.offset + self.slope * x, self.slope, 0.0


@dataclass(frozen=True)
class SplineLaw:
    """Natural cubic spline through points; straight lines beyond its ends keep it twice differentiable."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    second: tuple[float, ...]  # f'' at the points

    @classmethod
    def through(cls, x: Sequence[float], y: Sequence[float]) -> SplineLaw:
        """The classical tridiagonal system for f'' with f'' = 0 at both ends."""
        n = len(x)
        h, slope = np.diff(x), np.diff(y) / np.diff(x)
        A, b = np.eye(n), np.zeros(n)
        for i in range(1, n - 1):
            A[i, i - 1 : i + 2] = h[i - 1], 2.0 * (h[i - 1] + h[i]), h[i]
            b[i] = 6.0 * (slope[i] - slope[i - 1])
        return cls(tuple(map(float, x)), tuple(map(float, y)), tuple(map(float, np.linalg.solve(A, b))))

    def __call__(self, x: Any) -> tuple[Any, Any, Any]:
        pieces = [self._piece(i, x) for i in range(len(self.x) - 1)]
        first, last = self._end(0, x), self._end(-1, x)
        out = []
        for k in range(3):
            value = first[k]
            for i, piece in enumerate(pieces):
                value = where(real(x) >= self.x[i], piece[k], value)
            out.append(where(real(x) >= self.x[-1], last[k], value))
        return out[0], out[1], out[2]

    def _piece(self, i: int, x: Any) -> tuple[Any, Any, Any]:
        h = self.x[i + 1] - self.x[i]
        a, b = (self.x[i + 1] - x) / h, (x - self.x[i]) / h
        m0, m1 = self.second[i], self.second[i + 1]
        f = a * self.y[i] + b * self.y[i + 1] + ((a * a * a - a) * m0 + (b * b * b - b) * m1) * h * h / 6.0
        df = (self.y[i + 1] - self.y[i]) / h + ((3.0 * b * b - 1.0) * m1 - (3.0 * a * a - 1.0) * m0) * h / 6.0
        return f, df, a * m0 + b * m1

    def _end(self, i: int, x: Any) -> tuple[Any, Any, Any]:
        at = self.x[i]
        f, df, _ = self._piece(0 if i == 0 else len(self.x) - 2, at)
        return f + df * (x - at), df + 0.0 * x, 0.0 * x
