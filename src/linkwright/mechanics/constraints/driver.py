"""Prescribed motion: a joint's coordinate or a distance follows a law of time.

phi = q - f(t), with b = -f'(t) at velocity level and -f''(t) inside k: J v + b = 0, J a + k = 0. The
multiplier is the drive's effort (torque or force) in the house sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.errors import UsageError
from linkwright.mechanics.constraints.base import Constraint, ConstraintRows
from linkwright.mechanics.constraints.rod import distance_rows
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, joint_coordinates, joint_rate, locate
from linkwright.model.coordinates import joint_name, joint_part, lengths
from linkwright.model.curves import Curve
from linkwright.model.description import Description, Joint, PointRef
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


# ---------------------------------------------------------------- plans that numbers decided, and the constraints of driven coordinates

Order = tuple[tuple[int, ...], tuple[int, ...]]  # of the rows and columns of an elimination


class Spin(NamedTuple):
    """A link that spins in place about the line through two of its joints: idle in any spanning tree, see `closing.idle_motions`."""

    bodies: tuple[str, ...]
    first: str
    second: str
    entry: int = -1  # of v that is scaled to one, if the direction in v is the same in every position; -1: it depends on the position
    chains: tuple[tuple[str, ...], ...] = ()  # ends that are three hinges at one point instead of a ball joint, toward the link


@dataclass(frozen=True)
class EliminationPlan:
    """Decisions made on numbers before tracing."""

    order: tuple[int, ...]  # of elimination: loops, and late subsystems as number of loops + index
    single: bool = False  # the order is one of single rows instead of loops
    axes: str = "first"  # of which body's axes the rows of point-holding joints are taken along
    keep: tuple[int, ...] | None = None  # independent rows; None: all
    saddle: Order | None = None  # a subsystem has no inertia: order of elimination of the whole saddle-point matrix
    nominal: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # nominal size of the pivots of each solve
    orders: Mapping[str, Order] = field(default_factory=dict)  # of the solves with drives
    idle: tuple[tuple[Any, ...], ...] = ()  # constant directions of v that spin a link in place
    spins: tuple[Spin, ...] = ()  # all idle motions as lines of links, for any numbers and positions: see `closing.idle_motions`

    @property
    def moving_spins(self) -> tuple[Spin, ...]:
        """Idle motions whose directions in v depend on the position."""
        return tuple(x for x in self.spins if x.entry < 0)

    @property
    def spinning(self) -> int:
        """How many idle motions there are."""
        return len(self.idle) + len(self.moving_spins)

    @property
    def spins_follow(self) -> bool:
        """True if the idle directions are known for other parameters of the mechanism too."""
        return len(self.spins) == self.spinning

    @property
    def body_axes(self) -> bool:
        return self.keep is None


def driven(desc: Description, drive: str, law: Curve) -> Constraint:
    """The constraint that moves a joint's coordinate, a cylinder's length or a coordinate of a point (`ram.P.x`)."""
    body, _, rest = drive.partition(".")
    point, _, axis = rest.rpartition(".")
    if point and axis in ("x", "y", "z") and any(b.name == body for b in desc.bodies):
        return DrivenPoint(drive, (body, point), "xyz".index(axis), law)
    between = lengths(desc).get(drive)
    if between is not None:
        return DrivenDistance(drive, between, law)
    joint = desc.joint(joint_name(drive))
    jt = joints.create(joint.type, joint.options)
    if drive != joint.name and jt.q_names == jt.v_names:
        return Driver(joint, law, joint_part(desc, drive).entries[0])
    if jt.nv != 1:
        raise UsageError(
            f"joint '{drive}' has {jt.nv} degrees of freedom and is not one drive. Drive a hinge, a slider or a cylinder.", name=drive
        )
    return Driver(joint, law)
