"""Pin in a slot: translation along x of F (the slot) and rotation about z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import JointType, slide, turn
from linkwright.numerics.scalars import arctan2, common_type, unwrap
from linkwright.numerics.spatial import array, rotation_z


@dataclass(frozen=True)
class PinSlot(JointType):
    """q = (slide along x of F, angle about z)."""

    nq = nv = 2
    rows = ("ty", "tz", "rx", "ry")
    coordinate_kinds = ("length", "angle")
    q_names = v_names = ("slide", "angle")
    in_plane = True
    synonyms = ("slot", "pin_in_slot", "half")
    axes = ("x", "x")
    axis_keys = ("slot",)
    guide = 0

    def pose(self, q: Any) -> Any:
        return rotation_z(q[1]), array([q[0], 0.0, 0.0])

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        return np.array([p[0], unwrap(arctan2(R[1, 0], R[0, 0]), near[1])])

    def subspace(self, q: Any) -> Any:
        S = np.zeros((6, 2), dtype=common_type(q))
        S[3, 0] = S[2, 1] = 1.0
        S[4, 1] = -q[0]  # p x z: the turning point is away from F's origin
        return S

    def bias(self, q: Any, v: Any) -> Any:
        b = np.zeros(6, dtype=common_type(q, v))
        b[4] = -v[0] * v[1]
        return b

    def qdot(self, q: Any, v: Any) -> Any:
        return v

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        return np.concatenate([p[1:], _rows.alignment(R)])

    def gradient(self, R: Any, p: Any) -> Any:
        return np.concatenate([_rows.translation_gradient((1, 2)), _rows.alignment_gradient(R)])

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.concatenate([np.zeros(2), _rows.alignment_curvature(R, w)])

    def pieces(self) -> Any:
        return (slide("x", 0), turn("z", 1))
