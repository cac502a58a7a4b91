"""Places of a mechanism at which a force or torque can act and whose rate can be read: the ends of a mechanical advantage.

    A   C.slide         a coordinate of a joint, cut or not
    piston              the length of a cylinder
    rocker.angle        the angle of a body in the plane
    coupler.P.x         a point along an axis of the world
    coupler.P           a point along its own path

A unit effort at a place is a set of wrenches on bodies; as efforts in the tree's coordinates it is the row by which the rate of the
place follows from the velocities of the tree: rate = row v (principle of virtual power).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.mechanics import forces
from linkwright.mechanics.dynamics.tree import generalized
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import locate
from linkwright.model.coordinates import coordinate_or_none
from linkwright.model.description import Description, PointRef
from linkwright.numerics.spatial import array, point_wrench

Pushes = Callable[[Instant], list[forces.Wrenches]]


@dataclass(frozen=True, eq=False)
class EffortPlace:
    """A place by name. `pushes` are the wrenches of unit efforts, several for a point that has several axes."""

    name: str
    kind: str  # of its coordinate: at an "angle" acts a torque, along a "length" a force
    pushes: Pushes
    acceleration: Callable[[Instant], Any] | None = None  # None: it cannot be prescribed as one number

    def rows(self, x: Instant) -> Any:
        """(components, nv): rates per velocity of the tree, and efforts in the tree's coordinates per unit effort here."""
        return np.array([generalized(x.skel, x.motion, push) for push in self.pushes(x)])

    def rate(self, x: Instant, v: Any) -> Any:
        """Rate of the place for velocities of the tree; of a point without an axis the size of its velocity."""
        found = self.rows(x) @ v
        return found[0] if len(found) == 1 else np.sqrt(found @ found)


def effort_place(d: Description, name: str) -> EffortPlace | None:
    """The place of that name; None if there is none."""
    found = coordinate_or_none(d, name)
    if found is not None and (found.alone or "." in name):
        return EffortPlace(name, found.kind, lambda x: [x.along(found)], lambda x: x.travel_acceleration(found))
    body, _, rest = name.partition(".")
    if body not in {b.name for b in d.bodies} or not rest:
        return None
    if rest == "angle" and d.planar:
        return EffortPlace(name, "angle", lambda x: _turning(x, x.skel.node(body)), lambda x: _spin(x, x.skel.node(body)))
    return _point(d, name, body, rest)


def resting_points(d: Description) -> set[str]:
    """Points (`crank.A`) that cannot move: those of the ground, and of a body where it is pinned to the ground."""
    ground = d.bodies[0].name
    out = {f"{ground}.{p.name}" for p in d.bodies[0].points}
    for j in d.joints:
        if ground in (j.first, j.second) and joints.JOINTS[j.type].keeps_origin:
            body, frame = (j.second, j.frame_second) if j.first == ground else (j.first, j.frame_first)
            out |= {f"{body}.{p.name}" for p in d.body(body).points if _same(p.at, frame.at)}
    return out


def _same(a: Any, b: Any) -> bool:
    """True for equal numbers; symbols are never equal."""
    return all(isinstance(x, (int, float)) and isinstance(y, (int, float)) and x == y for x, y in zip(a, b, strict=True))


def _point(d: Description, name: str, body: str, rest: str) -> EffortPlace | None:
    axes = d.plane or "xyz"
    known = {p.name for p in d.body(body).points}
    head, _, axis = rest.rpartition(".")
    if rest in known:
        return EffortPlace(name, "length", lambda x: _forces(x, (body, rest), range(len(axes))))
    if head in known and len(axis) == 1 and axis in axes:
        i = axes.index(axis)
        at = array(d.point((body, head)).at)
        return EffortPlace(
            name, "length", lambda x: _forces(x, (body, head), [i]), lambda x: x.point_acceleration(x.skel.node(body), at)[i]
        )
    return None


def _forces(x: Instant, ref: PointRef, axes: Any) -> list[forces.Wrenches]:
    """Unit forces along axes of the world on a point of a body."""
    p = locate(x.skel, x.motion, ref)
    return [[(p.node, point_wrench(p.arm, np.eye(3)[i]))] if p.node >= 0 else [] for i in axes]


def _turning(x: Instant, node: int) -> list[forces.Wrenches]:
    """A unit torque on a body in the plane."""
    return [[(node, np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))] if node >= 0 else []]


def _spin(x: Instant, node: int) -> Any:
    return x.A[node][2] if node >= 0 else 0.0
