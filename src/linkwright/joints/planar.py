"""Planar joint: two translations in the x-y plane of F and a rotation about z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import JointType, slide, turn
from linkwright.numerics.scalars import arctan2, common_type, unwrap
from linkwright.numerics.spatial import array, rotation_z


@dataclass(frozen=True)
class Planar(JointType):
    """q = (x, y, angle about z), v = dq/dt, all in F  [Hoang: x_C, y_C, phi]."""

    nq = nv = 3
    rows = ("tz", "rx", "ry")
    coordinate_kinds = ("length", "length", "angle")
    q_names = v_names = ("x", "y", "angle")
    in_plane = True
    synonyms = ("plane", "flat")
    floats = True
    vectors = ((0, 1),)

    def pose(self, q: Any) -> Any:
        return rotation_z(q[2]), array([q[0], q[1], 0.0])

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        return np.array([p[0], p[1], unwrap(arctan2(R[1, 0], R[0, 0]), near[2])])

    def subspace(self, q: Any) -> Any:
        S = np.zeros((6, 3), dtype=common_type(q))
        S[3, 0] = S[4, 1] = S[2, 2] = 1.0
        S[3, 2], S[4, 2] = q[1], -q[0]  # p x z
        return S

    def bias(self, q: Any, v: Any) -> Any:
        b = np.zeros(6, dtype=common_type(q, v))
        b[3], b[4] = v[1] * v[2], -v[0] * v[2]
        return b

    def qdot(self, q: Any, v: Any) -> Any:
        return v

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        return np.concatenate([p[2:], _rows.alignment(R)])

    def gradient(self, R: Any, p: Any) -> Any:
        return np.concatenate([_rows.translation_gradient((2,)), _rows.alignment_gradient(R)])

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.concatenate([np.zeros(1), _rows.alignment_curvature(R, w)])

    def pieces(self) -> Any:
        return (slide("x", 0), slide("y", 1), turn("z", 2))
