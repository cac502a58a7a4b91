"""The contract of a force, and the wrenches of efforts in joints and of forces along a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from linkwright.elements import FRAMES, LINE, POINT
from linkwright.mechanics.kinematics.motion import joint_rate, locate, locate_at, pose_of
from linkwright.model.coordinates import joint_name, lengths
from linkwright.model.description import Joint, PointRef
from linkwright.numerics.spatial import point_wrench
from linkwright.numerics.tolerances import SQUARE_FLOOR

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant


Wrenches = list[tuple[int, Any]]  # (node, [moment; force] at the node's subsystem origin); ground is left out


class Force(Protocol):
    """Something that pushes bodies; `energy` is zero where the force stores none.

    Where its work goes: a conservative force stores all of it in `energy`. Any other either puts work in or takes it out
    (a load, a cylinder), or `loses` some: `loss(at)` is the power it turns into heat, and the rest of its work is in `energy`.
    """

    @property
    def name(self) -> str: ...
    @property
    def from_outside(self) -> bool: ...  # a load from outside the machine; everything else pushes between its bodies and ground
    @property
    def conservative(self) -> bool: ...
    @property
    def loses(self) -> bool: ...

    def wrenches(self, at: Instant) -> Wrenches: ...
    def energy(self, at: Instant) -> Any: ...
    def loss(self, at: Instant) -> Any: ...


def joint_effort(at: Instant, joint: Joint, effort: Any, i: int = 0) -> Wrenches:
    """An effort in a joint's coordinate as the wrench pair on its two bodies; works for cut joints too."""
    r = joint_rate(at.skel, at.motion, joint, at.references[joint.name])
    pairs = ((r.first, r.G_first), (r.second, r.G_second))
    return [(node, G[i] * effort) for node, G in pairs if node >= 0]


def joint_efforts(at: Instant, joint: Joint, efforts: Mapping[int, Any]) -> Wrenches:
    """The same of several velocities of one joint."""
    r = joint_rate(at.skel, at.motion, joint, at.references[joint.name])
    pairs = ((r.first, r.G_first), (r.second, r.G_second))
    return [(node, sum((G[i] * effort for i, effort in efforts.items()), np.zeros(6))) for node, G in pairs if node >= 0]


class ForceLine(NamedTuple):
    """The straight line between two points: its length, rate, and unit vector from the first to the second."""

    length: Any
    rate: Any
    n: Any
    ends: tuple[Any, Any]


def line(at: Instant, between: tuple[PointRef, PointRef]) -> ForceLine:
    """Return the line from the first point to the second; its direction n is zero where they coincide."""
    a, b = locate(at.skel, at.motion, between[0]), locate(at.skel, at.motion, between[1])
    r = b.position - a.position
    length = np.sqrt(r @ r + SQUARE_FLOOR)
    n = r / length
    return ForceLine(length, n @ (b.velocity - a.velocity), n, (a, b))


def push(on: ForceLine, force: Any) -> Wrenches:
    """A force that drives the two ends apart (negative: pulls them together)."""
    a, b = on.ends
    ends = ((a, -force), (b, force))
    return [(p.node, point_wrench(p.arm, f * on.n)) for p, f in ends if p.node >= 0]


def acting_at(at: Instant, thing: Any, node: int) -> Any:
    """World point at which something of `Description.acting` pushes a body: the point of a load, the end of a line, or the joint."""
    skel = at.skel
    d = skel.tree.description
    if thing.acts == POINT:
        return locate(skel, at.motion, (thing.body, thing.point)).position
    between = thing.between if thing.acts in (LINE, FRAMES) else lengths(d).get(thing.joint)
    if between:
        return next(x.position for x in (locate(skel, at.motion, ref) for ref in between) if x.node == node)
    joint = d.joint(joint_name(thing.joint))
    return locate_at(skel, at.motion, skel.node(joint.second), pose_of(joint.frame_second).p).position
