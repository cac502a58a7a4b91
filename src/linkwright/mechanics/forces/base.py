"""The contract of a force and what it may look at: time, joint coordinates and speeds, points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from linkwright import joints as joint_types
from linkwright.errors import ModelError, nearest
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, joint_coordinates, joint_rate, locate, node_motion
from linkwright.model.curves import through
from linkwright.model.description import Joint, PointRef, Table
from linkwright.model.expressions import Expr, evaluate, free_variables
from linkwright.numerics.scalars import arctan2
from linkwright.numerics.spatial import point_wrench


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
        node = self.skel.tree.node_of_joint.get(joint.name)
        if node is not None:
            return self.m.v[self.skel.tree.nodes[node].v][i]
        return joint_rate(self.skel, self.m, joint, self.near[joint.name]).v[i]

    def channel(self, name: str) -> Any:
        """`t`, a joint's `A`, `A.v`, `C.slide`; a body's `rocker.angle`, `.angle.v`; a point's `ram.P.x`, `ram.P.vx`."""
        if name == "t":
            return self.t
        parts = name.split(".")
        d = self.skel.tree.description
        joints = {j.name: j for j in d.joints}
        for cylinder in d.cylinders:
            if cylinder.name == parts[0] and parts[1:] in ([], ["v"]):
                on = line(self, cylinder.between)
                return on.rate if parts[1:] else on.length
        if parts[0] in joints and self._joint_channel(joints[parts[0]], parts[1:]) is not None:
            return self._joint_channel(joints[parts[0]], parts[1:])
        if parts[0] in {b.name for b in d.bodies}:
            value = self._body_channel(parts[0], parts[1:])
            if value is not None:
                return value
        raise ModelError(
            f"there is no channel '{name}' a force can depend on. {nearest(name, ['t', *joints], 'Channels')} "
            "A joint's speed is 'A.v', a body's angle 'rocker.angle', a point's coordinate 'body.point.x'."
        )

    def _joint_channel(self, joint: Joint, rest: list[str]) -> Any:
        jt = joint_types.create(joint.type, joint.options)
        speed = bool(rest) and rest[-1] == "v"
        part = ".".join(rest[:-1] if speed else rest)
        names = jt.v_names if speed else jt.q_names
        if part not in names:
            return None
        return self.speed(joint, names.index(part)) if speed else self.coordinate(joint, names.index(part))

    def _body_channel(self, body: str, rest: list[str]) -> Any:
        d = self.skel.tree.description
        node = self.skel.node(body)
        X, V, _ = node_motion(self.skel, self.m, node)
        if d.planar and rest == ["angle"]:
            return arctan2(X.R[1, 0], X.R[0, 0])
        if d.planar and rest == ["angle", "v"]:
            return V[2]
        axes = d.plane or "xyz"
        if len(rest) != 2 or rest[1].removeprefix("v") not in tuple(axes):
            return None
        point = locate(self.skel, self.m, (body, rest[0]))
        values = point.velocity if rest[1].startswith("v") else point.position
        return values[axes.index(rest[1].removeprefix("v"))]

    def value(self, law: Any) -> Any:
        """A number, a table over a channel, or an expression of channels."""
        if isinstance(law, Table):
            return through(law.x, law.y, law.interpolation)(self.channel(law.channel))
        if isinstance(law, Expr):
            return evaluate(law, {name: self.channel(name) for name in free_variables(law)})
        return law


Wrenches = list[tuple[int, Any]]  # (node, [moment; force] at the node's subsystem origin); ground is left out


class Force(Protocol):
    """Something that pushes bodies; `energy` is zero where the force stores none.

    Where its work goes: a conservative force stores all of it in `energy`. Any other either puts work in or takes it out
    (a load), or has a method `loss(at)`, the power it turns into heat; then the rest of its work is in `energy`.
    """

    from_outside: bool  # a load from outside the machine; everything else pushes between its bodies and ground
    conservative: bool

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
