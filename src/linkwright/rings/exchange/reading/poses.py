"""Placements of frames as plain floats: products, inverses, rotations as files of robots write them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from linkwright.api import Description, Joint, Mat3, Placement, Vec3, description, geometry

HERE = Placement()


def pose(xyz: Sequence[float] = description.ZERO3, rpy: Sequence[float] = description.ZERO3) -> Placement:
    """The placement of a translation and fixed-axis angles: Rz(yaw) Ry(pitch) Rx(roll)."""
    return Placement((xyz[0], xyz[1], xyz[2]), geometry.rotation_rpy(*rpy))


def pose_wxyz(xyz: Sequence[float], w: float, x: float, y: float, z: float) -> Placement:
    """The placement of a translation and a quaternion, which need not be a unit one."""
    return Placement((xyz[0], xyz[1], xyz[2]), geometry.rotation_quaternion(w, x, y, z))


def times(*factors: Placement) -> Placement:
    """The product of placements, from the left: the last frame in the first one's reference."""
    out = HERE
    for x in factors:
        out = (
            x
            if out is HERE
            else Placement(geometry.add(out.at, geometry.rotate(out.rotation, x.at)), geometry.product(out.rotation, x.rotation))
        )
    return out


def inverse(x: Placement) -> Placement:
    back = geometry.transpose(x.rotation)
    return Placement(geometry.scale(-1.0, geometry.rotate(back, x.at)), back)


def axes_along(main: str, direction: Sequence[float]) -> Placement:
    """A frame at the origin whose axis `main` has the direction; parallel to the reference where that is its own axis."""
    d = (float(direction[0]), float(direction[1]), float(direction[2]))
    return Placement(description.ZERO3, geometry.frame_along(main, d, d))


def distance(one: Placement, other: Placement) -> float:
    """Distance of the origins."""
    return math.dist(one.at, other.at)


def rotation_about(axis: str, angle: float) -> Mat3:
    """The rotation about a coordinate axis."""
    c, s = math.cos(angle), math.sin(angle)
    if axis == "x":
        return ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))
    return ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))


def joint_motion(joint: Joint, q: float) -> Placement:
    """X_FM of a joint of one coordinate at q; of others at their zero."""
    if q == 0.0 or joint.type not in ("revolute", "prismatic", "screw"):
        return HERE
    if joint.type == "prismatic":
        return Placement((q, 0.0, 0.0), description.EYE3)
    travel = float(dict(joint.options).get("pitch", 0.0)) * q
    return Placement((0.0, 0.0, travel), rotation_about("z", q))


def placed(d: Description, carrying: Sequence[Joint], at: Mapping[str, float]) -> dict[str, Placement]:
    """Poses of the bodies that the joints carry one after the other, each from its first body to its second; `at`: coordinates."""
    out = {d.bodies[0].name: HERE}
    left, before = list(carrying), -1
    while len(left) != before:
        before = len(left)
        for j in left:
            if j.first in out and j.second not in out:
                out[j.second] = times(out[j.first], j.frame_first, joint_motion(j, at.get(j.name, 0.0)), inverse(j.frame_second))
        left = [j for j in left if j.second not in out]
    return out


def as_vector(values: Sequence[float]) -> Vec3:
    return (float(values[0]), float(values[1]), float(values[2]))
