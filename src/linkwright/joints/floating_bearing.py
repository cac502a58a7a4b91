"""Floating bearing: holds a point across an axis, free to slide along it and to tilt (a self-aligning, non-locating bearing).

It has the two rows by which a loop in a plane is closed in space, and no more: a point or a hinge in its place would repeat what the
other joints of the loop hold already, so that loads along the axis are not determined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import JointType, slide, turn
from linkwright.numerics.scalars import arctan2, common_type, unwrap
from linkwright.numerics.spatial import array, cross, rotation_x, rotation_y, rotation_z, skew


@dataclass(frozen=True)
class FloatingBearing(JointType):
    """q = (angle about z of F, tilt about the turned x, tilt about the y of M, travel along z of F); tilts below a quarter turn."""

    nq = nv = 4
    rows = ("tx", "ty")
    coordinate_kinds = ("angle", "angle", "angle", "length")
    q_names = v_names = ("angle", "tilt_x", "tilt_y", "slide")
    in_plane = False
    synonyms = ("non_locating_bearing", "self_aligning", "ball_slot", "inline", "point_on_line")

    def pose(self, q: Any) -> Any:
        return rotation_z(q[0]) @ rotation_x(q[1]) @ rotation_y(q[2]), array([0.0, 0.0, q[3]])

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        angle = unwrap(arctan2(-R[0, 1], R[1, 1]), near[0])
        tilt = arctan2(R[2, 1], np.sqrt(R[0, 1] * R[0, 1] + R[1, 1] * R[1, 1]))
        return np.array([angle, unwrap(tilt, near[1]), unwrap(arctan2(-R[2, 0], R[2, 2]), near[2]), p[2]])

    def _axes(self, q: Any) -> Any:
        """Axes of the three turns in F, as columns."""
        (ca, sa), (cb, sb) = ((np.cos(x), np.sin(x)) for x in (q[0], q[1]))
        return array([[0.0, ca, -sa * cb], [0.0, sa, ca * cb], [1.0, 0.0, sb]])

    def subspace(self, q: Any) -> Any:
        S = np.zeros((6, 4), dtype=common_type(q))
        S[:3, :3] = self._axes(q)
        S[3:, :3] = skew(array([0.0, 0.0, q[3]])) @ S[:3, :3]
        S[5, 3] = 1.0
        return S

    def bias(self, q: Any, v: Any) -> Any:
        (ca, sa), (cb, sb) = ((np.cos(x), np.sin(x)) for x in (q[0], q[1]))
        first, second = array([-sa, ca, 0.0]), array([-ca * cb, -sa * cb, 0.0])
        turned = v[0] * v[1] * first + v[0] * v[2] * second + v[1] * v[2] * array([sa * sb, -ca * sb, cb])
        w = self._axes(q) @ v[:3]
        return np.concatenate([turned, cross(array([0.0, 0.0, v[3]]), w) + cross(array([0.0, 0.0, q[3]]), turned)])

    def qdot(self, q: Any, v: Any) -> Any:
        return v

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        return p[:2]

    def gradient(self, R: Any, p: Any) -> Any:
        return _rows.translation_gradient((0, 1))

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.zeros(2)

    def pieces(self) -> Any:
        return (slide("z", 3), turn("z", 0), turn("x", 1), turn("y", 2))
