"""A joint taken out of the tree: its constraint rows close the loop, whatever its type.

Translation rows are the components of the M point in F's axes, so a multiplier is a force through
the M point along F's axes; rotation rows follow the joint type. In a planar mechanism only the rows
acting in the plane remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints.base import BodyAxisRows, ConstraintRows
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, node_columns, pose_of, relative
from linkwright.mechanics.kinematics.skeleton import snapped
from linkwright.model.description import Joint, Placement
from linkwright.numerics.spatial import EYE, cross, skew, turn, turn_back


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

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        r = relative(skel, m, self.joint)
        pick = list(self.picked)
        D = self.type.gradient(r.R, r.p)[pick]
        phi = self.type.residual(r.R, r.p, references[self.joint.name])[pick]
        k = D @ np.concatenate([r.dw, r.du]) + self.type.curvature(r.R, r.p, r.w, r.u)[pick]
        return ConstraintRows(phi, [(r.first, D @ r.E_first), (r.second, D @ r.E_second)], k, np.zeros(len(pick)))

    def body_axis_rows(self, skel: Skeleton, m: Motion, references: Any, axes: str = "first") -> BodyAxisRows | None:
        """Joints that hold a point: its components along the axes of one of the two bodies (as the motion keeps them)
        instead of F's. On the loops these are the same equations, and the multipliers turn back. None for joints that let
        the point slide."""
        held = (0, 1) if skel.tree.description.planar else (0, 1, 2)
        if self.picked[: len(held)] != held or self.type.rows[: len(held)] != ("tx", "ty", "tz")[: len(held)]:
            return None
        pick: list[int] = list(held)
        rest = [i for i in self.picked if i not in held]
        one, two = _end(skel, m, self.joint.first, self.joint.frame_first), _end(skel, m, self.joint.second, self.joint.frame_second)
        base = one if axes == "first" else two
        lead = [EYE if end.W is base.W else turn_back(base.W, end.W) for end in (one, two)]  # from each body's axes to the chosen
        ends = [(one, lead[0], -1.0), (two, lead[1], 1.0)]
        phi = turn_back(base.W, two.p - one.p)[pick]
        k = (turn(lead[1], two.du) - turn(lead[0], one.du))[pick]
        back = turn_back(one.F, turn_back(lead[0], EYE))[np.ix_(pick, pick)]  # R_F' times the chosen axes
        gradients = [[L] for L in lead]
        if rest:
            r = relative(skel, m, self.joint)
            D = self.type.gradient(r.R, r.p)[rest]
            phi = np.concatenate([phi, self.type.residual(r.R, r.p, references[self.joint.name])[rest]])
            k = np.concatenate([k, D[:, :3] @ r.dw + self.type.curvature(r.R, r.p, r.w, r.u)[rest]])
            back = np.block([[back, np.zeros((len(pick), len(rest)))], [np.zeros((len(rest), len(pick))), np.eye(len(rest))]])
            about_F = [one.F.T, one.F.T @ turn_back(one.W, two.W)]  # angular velocities in F's axes
            gradients = [[L, D[:, :3] @ R] for L, R in zip(lead, about_F, strict=True)]
        blocks: dict[int, Any] = {}
        G = []
        for (end, _, sign), maps in zip(ends, gradients, strict=True):
            G.append((end.node, sign * _on_twist(end, maps, pick)))
            if end.node >= 0:
                J = [turn(maps[0], node_columns(skel, m, end.node, end.arm))[pick]]
                J += [D @ node_columns(skel, m, end.node) for D in maps[1:]]
                j = skel.tree.nodes[end.node].subsystem
                part = sign * np.concatenate(J)
                blocks[j] = blocks[j] + part if j in blocks else part
        return BodyAxisRows(ConstraintRows(phi, G, k, np.zeros(len(k))), blocks, back)


class _End(NamedTuple):
    """One side of a joint: its frame and the motion of that frame's origin, in the body's axes unless said otherwise."""

    node: int
    W: Any  # the body's axes in the world
    F: Any  # the joint's frame in the body's axes
    arm: Any  # from the node's N
    from_origin: Any  # from the subsystem's origin, world axes
    p: Any  # in the world
    du: Any  # bias acceleration


def _end(skel: Skeleton, m: Motion, body: str, frame: Placement) -> _End:
    node, X = skel.node(body), pose_of(frame)
    if node < 0:
        return _End(node, EYE, X.R, X.p, X.p, X.p, np.zeros(3))
    X = snapped(skel.X_NC[node] @ X)
    arm, w, W = turn(m.B[node], X.p), m.w[node], m.W[node]
    there = m.p[node] + turn(W, arm)
    du = m.du[node] + cross(m.dw[node], arm) + cross(w, cross(w, arm))
    return _End(node, W, turn(m.B[node], X.R), arm, there, there + skel.origin(node), du)


def _on_twist(end: _End, maps: list[Any], pick: list[int]) -> Any:
    """The rows as they act on a twist at the subsystem's origin, in world axes."""
    point = turn(maps[0], turn_back(end.W, np.concatenate([-skew(end.from_origin), np.eye(3)], axis=1)))[pick]
    turning = [np.concatenate([turn_back(end.W, np.eye(3)), np.zeros((3, 3))], axis=1)] if len(maps) > 1 else []
    return np.concatenate([point, *(D @ T for D, T in zip(maps[1:], turning, strict=True))])
