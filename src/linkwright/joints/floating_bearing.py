"""Floating bearing: holds a point across an axis, free to slide along it and to tilt (a self-aligning, non-locating bearing).

It has the two rows by which a loop in a plane is closed in space, and no more: a point or a hinge in its place would repeat what the
other joints of the loop hold already, so that loads along the axis are not determined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import JointType, ball, slide
from linkwright.numerics.scalars import common_type
from linkwright.numerics.spatial import array, cross, quaternion_rate, quaternion_rotation, rotation_quaternion, skew


@dataclass(frozen=True)
class FloatingBearing(JointType):
    """q = (quaternion wxyz of R_FM, travel of M along z of F); v = (angular velocity of M in F, in M's axes; speed along z)."""

    nq, nv = 5, 4
    rows = ("tx", "ty")
    coordinate_kinds = ("quaternion",) * 4 + ("length",)
    q_names = ("qw", "qx", "qy", "qz", "slide")
    v_names = ("wx", "wy", "wz", "slide")
    in_plane = False
    synonyms = ("non_locating_bearing", "self_aligning", "ball_slot", "inline", "point_on_line")

    def pose(self, q: Any) -> Any:
        return quaternion_rotation(q[:4]), array([0.0, 0.0, q[4]])

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        q = rotation_quaternion(R)
        return np.array([*(-q if np.real(q @ np.asarray(near[:4])) < 0 else q), p[2]])

    def subspace(self, q: Any) -> Any:
        S = np.zeros((6, 4), dtype=common_type(q))
        S[:3, :3] = quaternion_rotation(q[:4])
        S[3:, :3] = skew(array([0.0, 0.0, q[4]])) @ S[:3, :3]
        S[5, 3] = 1.0
        return S

    def bias(self, q: Any, v: Any) -> Any:
        return np.concatenate([np.zeros(3), cross(array([0.0, 0.0, v[3]]), quaternion_rotation(q[:4]) @ v[:3])])

    def qdot(self, q: Any, v: Any) -> Any:
        return np.concatenate([quaternion_rate(q[:4], v[:3]), v[3:]])

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        return p[:2]

    def gradient(self, R: Any, p: Any) -> Any:
        return _rows.translation_gradient((0, 1))

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.zeros(2)

    def pieces(self) -> Any:
        return (slide("z", 4, 3), ball())
