"""Prismatic joint: one translation along x of F; no rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import JointType, slide
from linkwright.numerics.spatial import array


@dataclass(frozen=True)
class Prismatic(JointType):
    """q = (travel along x of F)."""

    nq = nv = 1
    rows = ("ty", "tz", "rx", "ry", "rz")
    coordinate_kinds = ("length",)
    q_names = v_names = ("",)
    in_plane = True
    synonyms = ("slider", "slide", "sliding", "linear", "translational", "translation", "p", "guide", "rail")
    axes = ("x", "x")
    guide = 0
    span = np.eye(6)[:, 3:4]  # the travel along x, whatever q

    def pose(self, q: Any) -> Any:
        return np.eye(3), array([q[0], 0.0, 0.0])

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        return p[:1]

    def subspace(self, q: Any) -> Any:
        return np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]).T

    def bias(self, q: Any, v: Any) -> Any:
        return np.zeros(6)

    def qdot(self, q: Any, v: Any) -> Any:
        return v

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        return np.concatenate([p[1:], _rows.orientation(R)])

    def gradient(self, R: Any, p: Any) -> Any:
        return np.concatenate([_rows.translation_gradient((1, 2)), _rows.orientation_gradient(R)])

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.concatenate([np.zeros(2), _rows.orientation_curvature(R, w)])

    def pieces(self) -> Any:
        return (slide("x", 0),)
