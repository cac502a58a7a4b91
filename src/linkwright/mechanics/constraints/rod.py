"""A rod of constant length between two points: phi = (|r|^2 - L^2) / (2 L), in meters.

Polynomial in the positions, so it has no corner at r = 0; at the closed rod lam is the rod's force
in N, positive when it pushes its ends apart. (Hoang's residual is f = 2 L phi, his lambda = lam/(2 L).)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.mechanics.constraints.base import ConstraintRows
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, locate
from linkwright.model.description import PointRef, Rod
from linkwright.numerics.spatial import cross


@dataclass(frozen=True)
class RodConstraint:
    name: str
    between: tuple[PointRef, PointRef]
    length: Any
    labels: tuple[str, ...] = ("length",)
    kinds: tuple[str, ...] = ("length",)

    @classmethod
    def of(cls, skel: Skeleton, rod: Rod) -> RodConstraint:
        return cls(rod.name, rod.between, rod.length)

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        return distance_rows(skel, m, self.between, self.length)


def distance_rows(skel: Skeleton, m: Motion, between: tuple[PointRef, PointRef], L: Any, dL: Any = 0.0, ddL: Any = 0.0) -> ConstraintRows:
    """phi = (|r|^2 - L^2)/(2 L) for a length L(t); its rates dL, ddL are zero for a rod."""
    a, b = locate(skel, m, between[0]), locate(skel, m, between[1])
    r, dr, ddr = b.position - a.position, b.velocity - a.velocity, b.acceleration - a.acceleration
    g, dg, ddg = r @ r / 2.0, r @ dr, dr @ dr + r @ ddr
    # phi = g/L - L/2
    phi = g / L - L / 2.0
    drift = -(g / (L * L) + 0.5) * dL
    k = ddg / L - 2.0 * dg * dL / (L * L) + 2.0 * g * dL * dL / (L * L * L) - (g / (L * L) + 0.5) * ddL
    n = r / L
    G = [(a.node, -np.concatenate([cross(a.arm, n), n])[None, :]), (b.node, np.concatenate([cross(b.arm, n), n])[None, :])]
    return ConstraintRows(np.array([phi]), G, np.array([k]), np.array([drift]))
