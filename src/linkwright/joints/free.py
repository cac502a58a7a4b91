"""Free joint: all six degrees of freedom; what carries a body that no tree joint carries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints.base import JointType, ball, slide
from linkwright.numerics.scalars import common_type, real, where
from linkwright.numerics.spatial import cross, quaternion_rate, quaternion_rotation, rotation_quaternion, skew


@dataclass(frozen=True)
class Free(JointType):
    """q = (quaternion wxyz of R_FM, position of M in F); v = (angular velocity in M's axes, velocity of M's origin in F's)."""

    nq, nv = 7, 6
    rows = ()
    coordinate_kinds = ("quaternion",) * 4 + ("length",) * 3
    q_names = ("qw", "qx", "qy", "qz", "x", "y", "z")
    v_names = ("wx", "wy", "wz", "x", "y", "z")
    in_plane = False
    synonyms = ("floating", "freejoint", "6dof", "free_flyer", "base")
    floats = True
    vectors = ((0, 1, 2), (3, 4, 5))
    span = np.eye(6)

    def pose(self, q: Any) -> Any:
        return quaternion_rotation(q[:4]), q[4:]

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        q = rotation_quaternion(R)
        return np.concatenate([q * where(real(q @ np.asarray(near[:4])) < 0.0, -1.0, 1.0), p])

    def subspace(self, q: Any) -> Any:
        S = np.zeros((6, 6), dtype=common_type(q))
        S[:3, :3] = quaternion_rotation(q[:4])
        S[3:, :3] = skew(q[4:]) @ S[:3, :3]
        S[3:, 3:] = np.eye(3)
        return S

    def bias(self, q: Any, v: Any) -> Any:
        return np.concatenate([np.zeros(3), cross(v[3:], quaternion_rotation(q[:4]) @ v[:3])])

    def qdot(self, q: Any, v: Any) -> Any:
        return np.concatenate([quaternion_rate(q[:4], v[:3]), v[3:]])

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        return np.zeros(0)

    def gradient(self, R: Any, p: Any) -> Any:
        return np.zeros((0, 6))

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.zeros(0)

    def pieces(self) -> Any:
        return (slide("x", 4, 3), slide("y", 5, 4), slide("z", 6, 5), ball())
