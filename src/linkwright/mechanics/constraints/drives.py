"""Inputs of equations that are decided before evaluation: a plan that numbers decided, and constraints of driven coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from linkwright import joints
from linkwright.errors import UsageError
from linkwright.mechanics.constraints import Constraint
from linkwright.mechanics.constraints.driver import DrivenDistance, DrivenPoint, Driver
from linkwright.model.coordinates import joint_name, joint_part, lengths
from linkwright.model.curves import Curve
from linkwright.model.description import Description

Order = tuple[tuple[int, ...], tuple[int, ...]]  # of the rows and columns of an elimination


class Spin(NamedTuple):
    """A link that spins in place about the line through two of its joints: an idle motion of any spanning tree, see `closing.idle`."""

    bodies: tuple[str, ...]
    first: str
    second: str
    entry: int = -1  # of v that is scaled to one, if the direction in v is the same in every position; -1: it depends on the position
    chains: tuple[tuple[str, ...], ...] = ()  # ends that are three hinges at one point instead of a ball joint, towards the link


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
    spins: tuple[Spin, ...] = ()  # all idle motions as lines of links, for any numbers and positions: see `closing.idle`

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
        """True if the idle directions are known for other numbers of the mechanism too."""
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
        raise UsageError(f"joint '{drive}' has {jt.nv} degrees of freedom and is not one drive; drive a hinge, a slider or a cylinder.")
    return Driver(joint, law)
