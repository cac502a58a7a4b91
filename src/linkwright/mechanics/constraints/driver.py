"""Prescribed motion: a joint's coordinate or a distance follows a law of time.

phi = q - f(t), with b = -f'(t) at velocity level and -f''(t) inside k: J v + b = 0, J a + k = 0. The
multiplier is the drive's effort (torque or force) in the house sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints.base import ConstraintRows
from linkwright.mechanics.constraints.rod import distance_rows
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, joint_coordinates, joint_rate, locate
from linkwright.model.curves import Curve
from linkwright.model.description import Joint, PointRef
from linkwright.numerics.spatial import skew


@dataclass(frozen=True)
class Driver:
    """One coordinate of a joint, cut or not, follows law(t)."""

    joint: Joint
    law: Curve
    coordinate: int = 0
    labels: tuple[str, ...] = ("drive",)

    @property
    def name(self) -> str:
        return self.joint.name

    @property
    def kinds(self) -> tuple[str, ...]:
        kinds = joints.create(self.joint.type, self.joint.options).coordinate_kinds
        return (kinds[self.coordinate],)

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        i = self.coordinate
        r = joint_rate(skel, m, self.joint, references[self.joint.name])
        q = joint_coordinates(skel, m, self.joint, references[self.joint.name])  # of a joint of the tree without any arc tangent
        f, df, ddf = self.law(t)
        G = [(r.first, r.G_first[i : i + 1]), (r.second, r.G_second[i : i + 1])]
        return ConstraintRows(np.array([q[i] - f]), G, r.bias[i : i + 1] - ddf, np.array([-df]))


@dataclass(frozen=True)
class DrivenPoint:
    """One coordinate of a point of a body follows law(t)."""

    name: str
    ref: PointRef
    axis: int
    law: Curve
    labels: tuple[str, ...] = ("path",)
    kinds: tuple[str, ...] = ("length",)

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        p, pick = locate(skel, m, self.ref), slice(self.axis, self.axis + 1)
        f, df, ddf = self.law(t)
        G = np.concatenate([-skew(p.arm), np.eye(3)], axis=1)[pick]
        return ConstraintRows(p.position[pick] - f, [(p.node, G)], p.acceleration[pick] - ddf, np.array([-df]))


@dataclass(frozen=True)
class DrivenDistance:
    """A cylinder moved in length: the distance of two points follows law(t)."""

    linear_in_v = True  # k has a term linear in v: the moving length couples to the closing speed
    name: str
    between: tuple[PointRef, PointRef]
    law: Curve
    labels: tuple[str, ...] = ("length",)
    kinds: tuple[str, ...] = ("length",)

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        L, dL, ddL = self.law(t)
        return distance_rows(skel, m, self.between, L, dL, ddL)
