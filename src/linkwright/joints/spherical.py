"""Spherical joint: any rotation about one point, by a unit quaternion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import JointType, ball
from linkwright.numerics.scalars import common_type, real, where
from linkwright.numerics.spatial import quaternion_rate, quaternion_rotation, rotation_quaternion


@dataclass(frozen=True)
class Spherical(JointType):
    """q = quaternion wxyz of R_FM; v = angular velocity of M in F, in M's axes."""

    nq, nv = 4, 3
    rows = ("tx", "ty", "tz")
    coordinate_kinds = ("quaternion",) * 4
    q_names = ("qw", "qx", "qy", "qz")
    v_names = ("wx", "wy", "wz")
    in_plane = False
    synonyms = ("ball", "ball_joint", "socket", "ball_and_socket", "s", "spheric")
    keeps_origin = True
    vectors = ((0, 1, 2),)
    span = np.eye(6)[:, :3]  # all rotations about M's origin, whatever q

    def pose(self, q: Any) -> Any:
        return quaternion_rotation(q), np.zeros(3)

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        q = rotation_quaternion(R)
        return q * where(real(q @ np.asarray(near)) < 0.0, -1.0, 1.0)

    def subspace(self, q: Any) -> Any:
        S = np.zeros((6, 3), dtype=common_type(q))
        S[:3] = quaternion_rotation(q)
        return S

    def turning(self, q: Any, v: Any) -> Any:
        """Subspace and bias of the rotation in M's axes."""
        return np.eye(3), np.zeros(3)

    def bias(self, q: Any, v: Any) -> Any:
        """dR/dt v = R (v x v) = 0."""
        return np.zeros(6)

    def qdot(self, q: Any, v: Any) -> Any:
        return quaternion_rate(q, v)

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        return p

    def gradient(self, R: Any, p: Any) -> Any:
        return _rows.translation_gradient((0, 1, 2))

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.zeros(3)

    def pieces(self) -> Any:
        return (ball(),)
