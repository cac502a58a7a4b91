"""A joint taken out of the tree: its constraint rows close the loop, whatever its type.

Translation rows are the components of the M point in F's axes, so a multiplier is a force through
the M point along F's axes; rotation rows follow the joint type. In a planar mechanism only the rows
acting in the plane remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.constraints.base import Rows
from linkwright.description import Joint
from linkwright.kinematics import Motion, Skeleton, relative


@dataclass(frozen=True)
class CutJoint:
    joint: Joint
    type: Any
    picked: tuple[int, ...]  # rows that apply

    @classmethod
    def of(cls, skel: Skeleton, joint: Joint) -> CutJoint:
        jt = joints.create(joint.type, joint.options)
        return cls(joint, jt, joints.row_indices(jt, skel.tree.description.planar))

    @property
    def name(self) -> str:
        return self.joint.name

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.type.rows[i] for i in self.picked)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple("length" if label[0] == "t" else "angle" for label in self.labels)

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, near: Any) -> Rows:
        r = relative(skel, m, self.joint)
        pick = list(self.picked)
        D = self.type.gradient(r.R, r.p)[pick]
        phi = self.type.residual(r.R, r.p, near[self.joint.name])[pick]
        k = D @ np.concatenate([r.dw, r.du]) + self.type.curvature(r.R, r.p, r.w, r.u)[pick]
        return Rows(phi, [(r.first, D @ r.E_first), (r.second, D @ r.E_second)], k, np.zeros(len(pick)))
