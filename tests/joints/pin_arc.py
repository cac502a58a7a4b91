"""A joint type that exists in the tests only: a pin that slides on a circular arc about the origin of F, as registered by a user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwright.joints import JointOption, JointType, _rows
from linkwright.numerics.scalars import arctan2, common_type, unwrap
from linkwright.numerics.spatial import array, rotation_z


@dataclass(frozen=True)
class PinArc(JointType):
    """q = (length of the arc from x of F, angle about z)."""

    radius: Any = 1.0

    nq = nv = 2
    rows = ("tn", "tz", "rx", "ry")  # tn: along the radius
    coordinate_kinds = ("length", "angle")
    q_names = v_names = ("slide", "angle")
    in_plane = True
    synonyms = ("arc", "curved_slot")
    options: ClassVar[Mapping[str, JointOption]] = {"radius": JointOption("length", "the radius of the arc about the first point (510 mm)")}
    guide = 0

    def pose(self, q: Any) -> Any:
        turned = q[0] / self.radius
        return rotation_z(q[1]), self.radius * array([np.cos(turned), np.sin(turned), 0.0])

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        turned = unwrap(arctan2(p[1], p[0]), near[0] / self.radius)
        return np.array([self.radius * turned, unwrap(arctan2(R[1, 0], R[0, 0]), near[1])])

    def subspace(self, q: Any) -> Any:
        c, s = np.cos(q[0] / self.radius), np.sin(q[0] / self.radius)
        S = np.zeros((6, 2), dtype=common_type(q, np.asarray(self.radius)))
        S[3, 0], S[4, 0], S[2, 1] = -s, c, 1.0
        S[3, 1], S[4, 1] = self.radius * s, -self.radius * c  # p x z
        return S

    def bias(self, q: Any, v: Any) -> Any:
        c, s = np.cos(q[0] / self.radius), np.sin(q[0] / self.radius)
        b = np.zeros(6, dtype=common_type(q, v, np.asarray(self.radius)))
        rate = v[0] * v[1] - v[0] * v[0] / self.radius
        b[3], b[4] = c * rate, s * rate
        return b

    def qdot(self, q: Any, v: Any) -> Any:
        return v

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        gap = np.sqrt(p[0] * p[0] + p[1] * p[1]) - self.radius
        return np.concatenate([np.array([gap]), p[2:], _rows.alignment(R)])

    def gradient(self, R: Any, p: Any) -> Any:
        D = np.zeros((1, 6), dtype=common_type(p))
        D[0, 3:5] = p[:2] / np.sqrt(p[0] * p[0] + p[1] * p[1])
        return np.concatenate([D, _rows.translation_gradient((2,)), _rows.alignment_gradient(R)])

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        """d/dt of n.u with n = p/|p| in the plane: (u.u - (n.u)^2)/|p|, the square of the speed across n."""
        square = p[0] * p[0] + p[1] * p[1]
        across = p[0] * u[1] - p[1] * u[0]
        bend = across * across / (square * np.sqrt(square))
        return np.concatenate([np.array([bend]), np.zeros(1), _rows.alignment_curvature(R, w)])


def arc_model(radius: float, rocker: bool) -> dict[str, Any]:
    """A crank with a coupler whose end C moves on a circle about D: on a massless rocker, or on an arc of the ground."""
    masses = {"mass": 0.9, "com": [0.55, 0.52], "inertia": 0.08}
    bodies: dict[str, Any] = {
        "ground": {"pins": ["A"], "points": {"D": [1.0, 0.0]}},
        "crank": {"pins": ["A", "B"], "mass": 0.3},
        "coupler": {"pins": ["B"], "points": ["C", "P"], **masses},
    }
    joints: dict[str, Any] = {"C": {"type": "pin_arc", "connect": ["ground.D", "coupler.C"], "radius": "R"}}
    if rocker:
        bodies["ground"], bodies["coupler"] = {"pins": ["A", "D"]}, {"pins": ["B", "C"], "points": ["P"], **masses}
        bodies["rocker"], joints = {"pins": ["D", "C"], "mass": 0}, {}
    return {
        "name": "rocker" if rocker else "arc",
        "parameters": {} if rocker else {"R": radius},
        "plane": "xy",
        "gravity": [0.0, -9.81],
        "drawing": {"A": [0.0, 0.0], "B": [0.15, 0.26], "C": [0.905, 0.75], "D": [1.0, 0.0], "P": [0.6, 0.76]},
        "bodies": bodies,
        "joints": joints,
        "drive": {"A": "45 rpm"},
    }
