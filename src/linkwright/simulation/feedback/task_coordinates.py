"""Coordinates a controller follows: joints, cylinders, points and poses of bodies, as rows over any scalar.

A task coordinate theta(q) has a value, its row J_t of d theta = J_t v dt, and a bias, so that its acceleration is J_t a + bias
[Aghili2005 (38), (39): the rows are a left inverse of Lambda, and the bias carries the rate of Lambda]. Names:

    A   C.slide   lift                 a coordinate of a joint, cut or not; the length of a cylinder
    hand.E   hand.E.x                  a point of a body, all of its components or one
    hand.angle                         the angle of a body in a plane
    platform                           the pose: (x, y, angle) in a plane, (x, y, z, roll, pitch, yaw) in space
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.drives.base import DriveTarget, target
from linkwright.errors import UsageError, nearest
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, body_jacobian, joint_rate, locate, locate_at, node_motion
from linkwright.model.coordinates import Distance, movable
from linkwright.model.description import PointRef
from linkwright.numerics.scalars import arctan2, common_type
from linkwright.numerics.spatial import cross, half_angle_vector, skew


class TaskReference(NamedTuple):
    """Reference values of a task's components, and their first and second derivatives."""

    value: Sequence[Any]
    rate: Sequence[Any]
    acceleration: Sequence[Any]


class TaskRows(NamedTuple):
    """One task at a motion: what it is, and against a reference the errors (wanted minus is) and the wanted acceleration."""

    value: list[Any]
    J: Any  # (components, nv)
    bias: Any
    error: list[Any]
    error_rate: list[Any]
    acceleration: Any  # wanted, of J_t a + bias


@dataclass(frozen=True)
class CoordinateTask:
    """A coordinate of a joint or the length of a cylinder."""

    at: DriveTarget

    @property
    def name(self) -> str:
        return self.at.name

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.at.position_kind,)

    def rows(self, skel: Skeleton, m: Motion, references: Mapping[str, Any], wanted: TaskReference) -> TaskRows:
        value, J, bias = self._here(skel, m, references)
        return TaskRows([value], J, np.array([bias]), *_followed([value], J @ m.v, wanted))

    def _here(self, skel: Skeleton, m: Motion, references: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        on = self.at.on
        if isinstance(on, Distance):
            return _distance(skel, m, on.between)
        i = on.v
        if self.at.entry is not None:
            J = np.zeros((1, skel.tree.nv))
            J[0, self.at.entry] = 1.0
            node = skel.tree.nodes[skel.tree.node_of_joint[on.joint.name]]
            return m.q[node.q][i], J, 0.0
        r = joint_rate(skel, m, on.joint, references[on.joint.name])
        J = sum(G[i : i + 1] @ body_jacobian(skel, m, n) for n, G in ((r.first, r.G_first), (r.second, r.G_second)) if n >= 0)
        return r.q[i], J, r.bias[i]


def _distance(skel: Skeleton, m: Motion, between: tuple[PointRef, PointRef]) -> tuple[Any, Any, Any]:
    """Length between two points, its row and bias."""
    a, b = locate(skel, m, between[0]), locate(skel, m, between[1])
    r, dr = b.position - a.position, b.velocity - a.velocity
    length = np.sqrt(r @ r)
    n = r / length
    rate = n @ dr
    bias = n @ (b.acceleration - a.acceleration) + (dr @ dr - rate * rate) / length
    J = sum(sign * (n @ _point_rows(skel, m, p))[None, :] for p, sign in ((a, -1.0), (b, 1.0)) if p.node >= 0)
    return length, J, bias


def _point_rows(skel: Skeleton, m: Motion, p: Any) -> Any:
    """(3, nv): velocity of a located point per v."""
    if p.node < 0:
        return np.zeros((3, skel.tree.nv))
    return np.concatenate([-skew(p.arm), np.eye(3)], axis=1) @ body_jacobian(skel, m, p.node)


@dataclass(frozen=True)
class PointTask:
    """World components of a point of a body."""

    ref: PointRef
    axes: tuple[int, ...]
    name: str
    labels: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("length",) * len(self.axes)

    def rows(self, skel: Skeleton, m: Motion, references: Mapping[str, Any], wanted: TaskReference) -> TaskRows:
        p, pick = locate(skel, m, self.ref), list(self.axes)
        J = _point_rows(skel, m, p)[pick]
        value = list(p.position[pick])
        return TaskRows(value, J, p.acceleration[pick], *_followed(value, p.velocity[pick], wanted))


@dataclass(frozen=True)
class AngleTask:
    """The angle of a body in the plane; its error is the shorter way round."""

    body: str
    kinds: tuple[str, ...] = ("angle",)

    @property
    def name(self) -> str:
        return f"{self.body}.angle"

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.name,)

    def rows(self, skel: Skeleton, m: Motion, references: Mapping[str, Any], wanted: TaskReference) -> TaskRows:
        node = skel.node(self.body)
        X, V, A = node_motion(skel, m, node)
        s, c = np.sin(wanted.value[0]), np.cos(wanted.value[0])
        error = arctan2(s * X.R[0, 0] - c * X.R[1, 0], c * X.R[0, 0] + s * X.R[1, 0])
        J = body_jacobian(skel, m, node)[2:3]
        value = arctan2(X.R[1, 0], X.R[0, 0])
        return TaskRows([value], J, A[2:3], [error], [wanted.rate[0] - V[2]], np.array([wanted.acceleration[0]]))


@dataclass(frozen=True)
class PoseTask:
    """Origin and axes of a body in space; axes by roll, pitch and yaw about x, y, z of the world, roll first."""

    body: str
    kinds: tuple[str, ...] = ("length",) * 3 + ("angle",) * 3

    @property
    def name(self) -> str:
        return self.body

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.body}.{x}" for x in ("x", "y", "z", "roll", "pitch", "yaw"))

    def rows(self, skel: Skeleton, m: Motion, references: Mapping[str, Any], wanted: TaskReference) -> TaskRows:
        """Turning errors are twice the quaternion's vector of R_wanted R', along the world's axes."""
        node = skel.node(self.body)
        X, V, A = node_motion(skel, m, node)
        p = locate_at(skel, m, node, np.zeros(3))
        R, w, dw = turning(TaskReference(*(x[3:] for x in wanted)))
        _, u = half_angle_vector(R @ X.R.T)
        J = np.concatenate([_point_rows(skel, m, p), body_jacobian(skel, m, node)[:3]])
        error = [*(f - x for f, x in zip(wanted.value[:3], p.position, strict=True)), *(2.0 * u)]
        rate = [*(f - x for f, x in zip(wanted.rate[:3], p.velocity, strict=True)), *(w - V[:3])]
        acceleration = np.concatenate([_array(wanted.acceleration[:3]), dw])
        return TaskRows([*p.position, *rpy_of(X.R)], J, np.concatenate([p.acceleration, A[:3]]), error, rate, acceleration)


@dataclass(frozen=True)
class OriginTask:
    """A body's origin in a plane."""

    body: str
    letters: str
    kinds: tuple[str, ...] = ("length", "length")

    @property
    def name(self) -> str:
        return self.body

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.body}.{x}" for x in self.letters)

    def rows(self, skel: Skeleton, m: Motion, references: Mapping[str, Any], wanted: TaskReference) -> TaskRows:
        p = locate_at(skel, m, skel.node(self.body), np.zeros(3))
        value = list(p.position[:2])
        return TaskRows(value, _point_rows(skel, m, p)[:2], p.acceleration[:2], *_followed(value, p.velocity[:2], wanted))


def turning(wanted: TaskReference) -> tuple[Any, Any, Any]:
    """(R, w, dw/dt) of roll, pitch and yaw with their rates."""
    (r, p, y), (dr, dp, dy), (ddr, ddp, ddy) = wanted
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(x), np.sin(x)) for x in (r, p, y))
    z, zero = np.array([0.0, 0.0, 1.0]), 0.0 * cy
    across = np.array([-sy, cy, zero])  # the pitch axis
    ahead = np.array([cy * cp, sy * cp, -sp])  # the roll axis
    left = [cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr]
    up = [cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr]
    R = np.array([list(ahead), left, up]).T
    w = dy * z + dp * across + dr * ahead
    dw = ddy * z + ddp * across + ddr * ahead + dp * cross(dy * z, across) + dr * cross(dy * z + dp * across, ahead)
    return R, w, dw


def rpy_of(R: Any) -> list[Any]:
    """Roll, pitch, yaw of a rotation; pitch within a quarter turn."""
    level = np.sqrt(R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0])
    return [arctan2(R[2, 1], R[2, 2]), arctan2(-R[2, 0], level), arctan2(R[1, 0], R[0, 0])]


def _followed(value: Sequence[Any], rate: Any, wanted: TaskReference) -> tuple[list[Any], list[Any], Any]:
    error = [f - x for f, x in zip(wanted.value, value, strict=True)]
    error_rate = [f - x for f, x in zip(wanted.rate, rate, strict=True)]
    return error, error_rate, _array(wanted.acceleration)


def _array(values: Sequence[Any]) -> Any:
    return np.array(list(values), dtype=common_type(*[np.asarray(x) for x in values]) if len(values) else float)


Task = CoordinateTask | PointTask | AngleTask | OriginTask | PoseTask


def nothing_wanted(task: Task) -> TaskReference:
    n = len(task.kinds)
    return TaskReference([0.0] * n, [0.0] * n, [0.0] * n)


def values_of(tasks: Sequence[Task], skel: Skeleton, m: Motion, references: Mapping[str, Any]) -> list[float]:
    """Values of the components of tasks."""
    return [float(x) for task in tasks for x in task.rows(skel, m, references, nothing_wanted(task)).value]


def tasks_of(skel: Skeleton, name: str) -> list[Task]:
    """The task of a name; a pose in a plane is a point and an angle."""
    d = skel.tree.description
    head, _, rest = str(name).partition(".")
    if head in movable(d):
        return [CoordinateTask(target(skel, name))]
    bodies = {b.name: b for b in d.bodies if skel.node(b.name) >= 0}
    if head not in bodies:
        known = [*movable(d), *bodies]
        raise UsageError(f"reference: there is no joint, cylinder or body '{head}'.", nearest(head, known, "Known"))
    if not rest:
        return _pose(skel, head)
    if rest == "angle" and d.planar:
        return [AngleTask(head)]
    letters = d.plane or "xyz"
    points = {p.name for p in bodies[head].points}
    point, _, axis = rest.partition(".")
    if point in points and (not axis or axis in letters):
        axes = tuple(range(len(letters))) if not axis else (letters.index(axis),)
        return [PointTask((head, point), axes, str(name), tuple(f"{head}.{point}.{letters[i]}" for i in axes))]
    if head in skel.tree.floating:  # its place is coordinates of the tree, such as platform.x
        return [CoordinateTask(target(skel, name))]
    known = [*(f"{head}.{p}" for p in points), *([f"{head}.angle"] if d.planar else []), head]
    raise UsageError(f"reference: '{name}' is not a coordinate of body '{head}'.", nearest(str(name), known, "Its coordinates"))


def _pose(skel: Skeleton, body: str) -> list[Task]:
    d = skel.tree.description
    if not d.planar:
        return [PoseTask(body)]
    return [OriginTask(body, d.plane or "xy"), AngleTask(body)]
