"""The contract of a force and what it may look at: time, joint coordinates and speeds, points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from linkwright.description import Joint, PointRef, Table
from linkwright.errors import ModelError, nearest
from linkwright.expressions import Expr, evaluate, free_variables
from linkwright.kinematics import Motion, Skeleton, joint_coordinates, joint_rate, locate
from linkwright.scalars import interpolate
from linkwright.spatial import point_wrench


class Moment(NamedTuple):
    """One instant of a mechanism, as forces see it."""

    skel: Skeleton
    m: Motion
    t: Any
    near: Mapping[str, Any]  # reference coordinates for unwrapping cut joints

    def joint(self, name: str) -> Joint:
        return self.skel.tree.description.joint(name)

    def coordinate(self, joint: Joint, i: int = 0) -> Any:
        return joint_coordinates(self.skel, self.m, joint, self.near[joint.name])[i]

    def speed(self, joint: Joint, i: int = 0) -> Any:
        return joint_rate(self.skel, self.m, joint, self.near[joint.name]).v[i]

    def channel(self, name: str) -> Any:
        """`t`, a joint's coordinate `A` or speed `A.v`, a point's coordinate `ram.P.x`."""
        d = self.skel.tree.description
        if name == "t":
            return self.t
        head, _, tail = name.partition(".")
        joints = {j.name: j for j in d.joints}
        if head in joints and tail in ("", "v"):
            return self.speed(joints[head]) if tail else self.coordinate(joints[head])
        body, _, rest = name.partition(".")
        point, _, axis = rest.partition(".")
        axes = {a: i for i, a in enumerate(d.plane or "xyz")}
        if body in {b.name for b in d.bodies} and axis in axes:
            return locate(self.skel, self.m, (body, point)).position[axes[axis]]
        raise ModelError(
            f"there is no channel '{name}' a force can depend on. {nearest(name, ['t', *joints], 'Channels')} "
            "A joint's speed is 'A.v', a point's coordinate 'body.point.x'."
        )

    def value(self, law: Any) -> Any:
        """A number, a table over a channel, or an expression of channels."""
        if isinstance(law, Table):
            return interpolate(self.channel(law.channel), law.x, law.y)
        if isinstance(law, Expr):
            return evaluate(law, {name: self.channel(name) for name in free_variables(law)})
        return law


Wrenches = list[tuple[int, Any]]  # (node, [moment; force] at the node's subsystem origin); ground is left out


class Force(Protocol):
    """Something that pushes bodies; `energy` is zero where the force stores none."""

    @property
    def name(self) -> str: ...

    def wrenches(self, at: Moment) -> Wrenches: ...
    def energy(self, at: Moment) -> Any: ...


def joint_effort(at: Moment, joint: Joint, effort: Any, i: int = 0) -> Wrenches:
    """An effort in a joint's coordinate as the wrench pair on its two bodies; works for cut joints too."""
    r = joint_rate(at.skel, at.m, joint, at.near[joint.name])
    pairs = ((r.first, r.G_first), (r.second, r.G_second))
    return [(node, G[i] * effort) for node, G in pairs if node >= 0]


class Line(NamedTuple):
    """The straight line between two points: its length, rate, and unit vector from the first to the second."""

    length: Any
    rate: Any
    n: Any
    ends: tuple[Any, Any]


def line(at: Moment, between: tuple[PointRef, PointRef]) -> Line:
    a, b = locate(at.skel, at.m, between[0]), locate(at.skel, at.m, between[1])
    r = b.position - a.position
    length = np.sqrt(r @ r)
    n = r / length
    return Line(length, n @ (b.velocity - a.velocity), n, (a, b))


def push(on: Line, force: Any) -> Wrenches:
    """A force that drives the two ends apart (negative: pulls them together)."""
    a, b = on.ends
    ends = ((a, -force), (b, force))
    return [(p.node, point_wrench(p.arm, f * on.n)) for p, f in ends if p.node >= 0]
