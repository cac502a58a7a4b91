"""Targets of assembly for points, bodies and joints, as constraints whose law runs from 0 to 1.

Assembly walks t from 0 (where the mechanism is) to 1 (where it is wanted), so a target moves along a
straight line and a body turns about one axis on the way; the branch is followed, never jumped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints.base import ConstraintRows
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, joint_rate, locate, locate_at, node_motion
from linkwright.model.description import Joint, PointRef
from linkwright.numerics.scalars import common_type
from linkwright.numerics.spatial import array, half_angle_vector, quaternion_rotation, rotation_quaternion, skew


@dataclass(frozen=True)
class PointTarget:
    """A point of a body goes to a place; `axes` are the world components that count (two in a plane)."""

    ref: PointRef
    begin: tuple[float, ...]
    end: tuple[float, ...]
    axes: tuple[int, ...]

    @property
    def name(self) -> str:
        return ".".join(self.ref)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple("xyz"[i] for i in self.axes)

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("length",) * len(self.axes)

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        p = locate(skel, m, self.ref)
        begin, rate = np.array(self.begin), np.array(self.end) - np.array(self.begin)
        pick = list(self.axes)
        G = np.concatenate([-skew(p.arm), np.eye(3)], axis=1)[pick]
        return ConstraintRows((p.position - begin - t * rate)[pick], [(p.node, G)], p.acceleration[pick], -rate[pick])


@dataclass(frozen=True)
class PoseTarget:
    """A body goes to a pose: its origin along a straight line, its axes about one rotation vector."""

    body: str
    begin: tuple[Any, Any]  # (R, p)
    turn: tuple[float, float, float]  # rotation vector from begin to end, world axes
    end: tuple[float, float, float]
    planar: bool

    @property
    def name(self) -> str:
        return self.body

    @property
    def labels(self) -> tuple[str, ...]:
        return ("x", "y", "rz") if self.planar else ("x", "y", "z", "rx", "ry", "rz")

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("length", "length", "angle") if self.planar else ("length",) * 3 + ("angle",) * 3

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        """Rotation rows: twice the quaternion vector of R_body R_wanted', in world axes."""
        node = skel.node(self.body)
        X, V, _ = node_motion(skel, m, node)
        p = locate_at(skel, m, node, np.zeros(3))
        R0, p0 = array(self.begin[0]), np.array(self.begin[1])
        rate, turn = np.array(self.end) - p0, np.array(self.turn)
        s, u = half_angle_vector(X.R @ R0.T @ rotation_vector(t * turn).T)
        w = V[:3] - turn  # error rate; exact at s = 1, where assembly ends
        position = np.concatenate([-skew(p.arm), np.eye(3)], axis=1)
        attitude = np.concatenate([s * np.eye(3) - skew(u), np.zeros((3, 3))], axis=1)
        phi = np.concatenate([p.position - p0 - t * rate, 2.0 * u])
        G = np.concatenate([position, attitude])
        k = np.concatenate([p.acceleration, s * m.A[node][:3] - 0.5 * (u @ w) * w])
        pick = [0, 1, 5] if self.planar else list(range(6))
        return ConstraintRows(phi[pick], [(node, G[pick])], k[pick], np.concatenate([-rate, -turn])[pick])


@dataclass(frozen=True)
class JointTarget:
    """A joint moves from the coordinates `begin` at a constant `rate` of its velocities; `pick` are the entries of v that count.

    A quaternion turns about one axis of M. Its rows are twice the vector of the quaternion between the wanted and the actual
    attitude, in M's axes: E = R_wanted' R, phi = 2 u, phi' = (s + u x) (w - rate), exact at s = 1, where assembly ends.
    """

    joint: Joint
    begin: tuple[float, ...]
    rate: tuple[float, ...]
    pick: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.joint.name

    @property
    def labels(self) -> tuple[str, ...]:
        names = joints.create(self.joint.type, self.joint.options).v_names
        return tuple(names[i] for i in self.pick)

    @property
    def kinds(self) -> tuple[str, ...]:
        kinds = joints.create(self.joint.type, self.joint.options).coordinate_kinds
        every = ("angle",) * 3 + kinds[4:] if "quaternion" in kinds else kinds
        return tuple(every[i] for i in self.pick)

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        r = joint_rate(skel, m, self.joint, references[self.joint.name])
        rate, begin, pick = np.array(self.rate), np.array(self.begin), list(self.pick)
        turned = np.eye(len(rate))
        if "quaternion" in joints.create(self.joint.type, self.joint.options).coordinate_kinds:
            wanted = quaternion_rotation(begin[:4]) @ rotation_vector(t * rate[:3])
            s, u = half_angle_vector(wanted.T @ quaternion_rotation(r.q[:4]))
            phi = np.concatenate([2.0 * u, r.q[4:] - begin[4:] - t * rate[3:]])
            turned = turned.astype(common_type(s, u))
            turned[:3, :3] = s * np.eye(3) + skew(u)
        else:
            phi = r.q - begin - t * rate
        G = [(r.first, (turned @ r.G_first)[pick]), (r.second, (turned @ r.G_second)[pick])]
        return ConstraintRows(phi[pick], G, (turned @ r.bias)[pick], -rate[pick])


def rotation_vector(a: Any) -> np.ndarray:
    """Rotation matrix of a rotation vector (Rodrigues)."""
    angle = np.sqrt(a @ a)
    if angle < 1e-300:
        return np.eye(3)
    K = skew(np.asarray(a) / angle)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def rotation_vector_between(R0: Any, R1: Any) -> np.ndarray:
    """The rotation vector that turns R0 into R1, world axes; of half a turn one of the two."""
    q = rotation_quaternion(np.asarray(R1) @ np.asarray(R0).T)
    s, u = q[0], q[1:]
    size = float(np.sqrt(u @ u))
    return np.zeros(3) if size < 1e-300 else 2.0 * float(np.arctan2(size, s)) / size * u
