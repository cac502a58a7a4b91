"""Cylindrical joint: rotation about z and translation along it, independent of each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import JointType, slide, turn
from linkwright.numerics.scalars import arctan2, unwrap
from linkwright.numerics.spatial import array, rotation_z


@dataclass(frozen=True)
class Cylindrical(JointType):
    """q = (angle about z, travel along z)."""

    nq = nv = 2
    rows = ("tx", "ty", "rx", "ry")
    coordinate_kinds = ("angle", "length")
    q_names = v_names = ("angle", "travel")
    in_plane = False
    synonyms = ("cylinder", "c")

    def pose(self, q: Any) -> Any:
        return rotation_z(q[0]), array([0.0, 0.0, q[1]])

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        return np.array([unwrap(arctan2(R[1, 0], R[0, 0]), near[0]), p[2]])

    def subspace(self, q: Any) -> Any:
        S = np.zeros((6, 2))
        S[2, 0] = S[5, 1] = 1.0
        return S

    def bias(self, q: Any, v: Any) -> Any:
        return np.zeros(6)

    def qdot(self, q: Any, v: Any) -> Any:
        return v

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        return np.concatenate([p[:2], _rows.alignment(R)])

    def gradient(self, R: Any, p: Any) -> Any:
        return np.concatenate([_rows.translation_gradient((0, 1)), _rows.alignment_gradient(R)])

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.concatenate([np.zeros(2), _rows.alignment_curvature(R, w)])

    def pieces(self) -> Any:
        return (turn("z", 0), slide("z", 1))
