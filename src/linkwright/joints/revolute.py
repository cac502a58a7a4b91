"""Revolute joint: one rotation about z. Every pin of a drawing is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import JointType, turn
from linkwright.numerics.scalars import arctan2, unwrap
from linkwright.numerics.spatial import rotation_z


@dataclass(frozen=True)
class Revolute(JointType):
    """q = (angle about z of F)."""

    nq = nv = 1
    rows = ("tx", "ty", "tz", "rx", "ry")
    coordinate_kinds = ("angle",)
    q_names = v_names = ("",)
    in_plane = True
    synonyms = ("hinge", "pin", "revolve", "rotary", "rotational", "rotation", "r", "turning", "continuous")
    keeps_origin = True
    span = np.eye(6)[:, 2:3]  # the turn about z, whatever q

    def pose(self, q: Any) -> Any:
        return rotation_z(q[0]), np.zeros(3)

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        return np.array([unwrap(arctan2(R[1, 0], R[0, 0]), near[0])])

    def subspace(self, q: Any) -> Any:
        return np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]).T

    def bias(self, q: Any, v: Any) -> Any:
        return np.zeros(6)

    def qdot(self, q: Any, v: Any) -> Any:
        return v

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        return np.concatenate([p, _rows.alignment(R)])

    def gradient(self, R: Any, p: Any) -> Any:
        return np.concatenate([_rows.translation_gradient((0, 1, 2)), _rows.alignment_gradient(R)])

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.concatenate([np.zeros(3), _rows.alignment_curvature(R, w)])

    def pieces(self) -> Any:
        return (turn("z", 0),)
