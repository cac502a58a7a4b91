"""Screw joint: rotation about z with a proportional travel along it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import ALONG, Elementary, JointOption, JointType
from linkwright.numerics.scalars import arctan2, common_type, unwrap
from linkwright.numerics.spatial import array, rotation_z


@dataclass(frozen=True)
class Screw(JointType):
    """q = (angle about z); travel = pitch * angle, pitch in m/rad.

    As a cut joint its last row compares the travel with the *counted* angle, whole turns
    included: `near` carries the count.
    """

    pitch: Any = 0.001

    nq = nv = 1
    rows = ("tx", "ty", "rx", "ry", "tz")
    coordinate_kinds = ("angle",)
    q_names = v_names = ("",)
    in_plane = False
    synonyms = ("helical", "thread", "lead_screw", "h")
    options: ClassVar[Mapping[str, JointOption]] = {
        "pitch": JointOption("travel per angle", "the travel per radian (5 mm/rad) or per turn (5 mm/turn)")
    }
    uncut = "a screw"  # its rows compare the travel with counted revolutions

    def pose(self, q: Any) -> Any:
        return rotation_z(q[0]), array([0.0, 0.0, self.pitch * q[0]])

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        return np.array([unwrap(arctan2(R[1, 0], R[0, 0]), near[0])])

    def subspace(self, q: Any) -> Any:
        return array([[0.0, 0.0, 1.0, 0.0, 0.0, self.pitch]]).T

    def bias(self, q: Any, v: Any) -> Any:
        return np.zeros(6)

    def qdot(self, q: Any, v: Any) -> Any:
        return v

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        travel = p[2] - self.pitch * self.coordinates(R, p, near)[0]
        return np.concatenate([p[:2], _rows.alignment(R), np.array([travel])])

    def gradient(self, R: Any, p: Any) -> Any:
        D = np.zeros((1, 6), dtype=common_type(R, np.asarray(self.pitch)))
        D[0, :3] = -self.pitch * self._angle_gradient(R)
        D[0, 5] = 1.0
        return np.concatenate([_rows.translation_gradient((0, 1)), _rows.alignment_gradient(R), D])

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        """d/dt of g.w with g = (x_M x (c e_y - s e_x))/r: quotient rule on angle = atan2(x_M)."""
        x = R[:, 0]
        dx = np.array([w[1] * x[2] - w[2] * x[1], w[2] * x[0] - w[0] * x[2]])
        full = np.array([dx[0], dx[1], w[0] * x[1] - w[1] * x[0]])
        ddx = np.array([w[1] * full[2] - w[2] * full[1], w[2] * full[0] - w[0] * full[2]])
        r2 = x[0] * x[0] + x[1] * x[1]
        rate = (x[0] * dx[1] - x[1] * dx[0]) / r2
        turn = (x[0] * ddx[1] - x[1] * ddx[0]) / r2 - 2.0 * rate * (x[0] * dx[0] + x[1] * dx[1]) / r2
        return np.concatenate([np.zeros(2), _rows.alignment_curvature(R, w), np.array([-self.pitch * turn])])

    @staticmethod
    def _angle_gradient(R: Any) -> np.ndarray:
        """d angle / d rotation: (x dy - y dx)/r2 with d x_M = w x x_M."""
        x, y, z = R[:, 0]
        r2 = x * x + y * y
        return np.array([-x * z, -y * z, r2]) / r2

    def pieces(self) -> Any:
        return (Elementary("screw", ALONG["z"], slice(0, 1), slice(0, 1), self.pitch),)
