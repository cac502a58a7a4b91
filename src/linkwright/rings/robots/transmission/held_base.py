"""A robot whose floating base is held where it is at the start: the same joints, and positions that code can close."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from linkwright.mechanics.kinematics.base import base_joints
from linkwright.mechanics.kinematics.skeleton import pose_of
from linkwright.model.description import Body, Description, Joint, Placement, Vec3
from linkwright.numerics.spatial import Pose
from linkwright.rings.robots.transmission.maps import Transmission

if TYPE_CHECKING:
    from linkwright.system.system import System


def transmission(system: System, motors: Any, joints: Any, within: Any) -> Transmission:
    """The map between motors and joints; its ranges, where a base floats, on the robot that is held."""
    held = partial(_held, system, motors, joints, within)
    return Transmission(system.core, system._motions.assemble, motors, joints, within, held=held)


def _held(system: System, motors: Any, joints: Any, within: Any) -> Transmission | None:
    other = with_base_held(system)
    return None if other is None else transmission(type(system)(other, list(system.tree.cuts)), motors, joints, within)


def with_base_held(system: System) -> Description | None:
    """The description with every floating base fixed to ground; None where nothing floats.

    For positions and their rates only: weight and everything else that acts on the base is as before.
    """
    base = set(base_joints(system.tree))
    if not base:
        return None
    d = system.description
    poses = {node.body: system.pose(system.start, node.body) for node in system.tree.nodes}
    bodies = [replace(b, start=_placed(poses[b.name])) if b.name in poses else b for b in d.bodies]
    moved = replace(d, bodies=tuple(bodies), start=tuple(x for x in d.start if x[0].partition(".")[0] not in base))
    return replace(moved, joints=tuple(_fixed(moved, j) if j.name in base else j for j in d.joints))


def _fixed(d: Description, j: Joint) -> Joint:
    """A fixed joint at the place where the second side is now."""
    first, second = _pose(d.body(j.first)), _pose(d.body(j.second)) @ pose_of(j.frame_second)
    return replace(j, type="fixed", options=(), frame_first=_placed(first.inverse() @ second))


def _pose(body: Body) -> Pose:
    return pose_of(body.start)


def _placed(X: Pose) -> Placement:
    return Placement(_vector(X.p), (_vector(X.R[0]), _vector(X.R[1]), _vector(X.R[2])))


def _vector(x: Any) -> Vec3:
    return float(x[0]), float(x[1]), float(x[2])
