"""Universal (Hooke) joint: rotation about x of F, then about the carried y of M."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import JointType, turn
from linkwright.numerics.scalars import arctan2, common_type, unwrap
from linkwright.numerics.spatial import array, cross, rotation_x, rotation_y


@dataclass(frozen=True)
class Universal(JointType):
    """q = (angle about x of F, angle about y of M)."""

    nq = nv = 2
    rows = ("tx", "ty", "tz", "rz")
    coordinate_kinds = ("angle", "angle")
    q_names = v_names = ("angle1", "angle2")
    in_plane = False
    synonyms = ("cardan", "hooke", "gimbal", "u", "cross")
    axes = ("x", "y")
    keeps_origin = True

    def pose(self, q: Any) -> Any:
        return rotation_x(q[0]) @ rotation_y(q[1]), np.zeros(3)

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        """y_M = (0, cos a, sin a) in F and x_F = (cos b, 0, sin b) in M, for R = Rx(a) Ry(b)."""
        return np.array([unwrap(arctan2(R[2, 1], R[1, 1]), near[0]), unwrap(arctan2(R[0, 2], R[0, 0]), near[1])])

    def subspace(self, q: Any) -> Any:
        S = np.zeros((6, 2), dtype=common_type(q))
        S[0, 0] = 1.0
        S[1, 1], S[2, 1] = np.cos(q[0]), np.sin(q[0])
        return S

    def turning(self, q: Any, v: Any) -> Any:
        """Subspace and bias of the rotation in M's axes."""
        c, s = np.cos(q[1]), np.sin(q[1])
        return array([[c, 0.0], [0.0, 1.0], [s, 0.0]]), v[0] * v[1] * array([-s, 0.0, c])

    def bias(self, q: Any, v: Any) -> Any:
        b = np.zeros(6, dtype=common_type(q, v))
        b[1], b[2] = -np.sin(q[0]) * v[0] * v[1], np.cos(q[0]) * v[0] * v[1]
        return b

    def qdot(self, q: Any, v: Any) -> Any:
        return v

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        """x_F . y_M = 0, signed so that the row's direction is +z at the closed joint."""
        return np.concatenate([p, np.array([-R[0, 1]])])

    def gradient(self, R: Any, p: Any) -> Any:
        D = np.zeros((1, 6), dtype=common_type(R))
        D[0, :3] = -cross(R[:, 1], _rows.X)
        return np.concatenate([_rows.translation_gradient((0, 1, 2)), D])

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.concatenate([np.zeros(3), -cross(w, cross(w, R[:, 1]))[:1]])

    def pieces(self) -> Any:
        return (turn("x", 0), turn("y", 1))
