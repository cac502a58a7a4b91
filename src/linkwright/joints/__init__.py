"""Joint types: one file each, parameters and mathematics together.

A joint connects frame F (on its first body) with frame M (on its second). A joint file answers
two families of questions, both in terms of the pose X_FM = (R, p) alone, so no file knows which
way the tree runs through it or whether it is in the tree at all:

in the tree    nq nv            sizes of its coordinates q and velocities v
               pose(q)          X_FM as (R, p)
               coordinates(R, p, near)   inverse of pose; angles unwrapped toward `near`
               subspace(q)      S, (6, nv): twist of M in F, axes and origin of F, [angular; linear]
               bias(q, v)       (dS/dt) v
               qdot(q, v)       rate of q
as a cut       rows             one label a row: tx ty tz (along F's axes), tn (along a normal in F's x-y plane), rx ry rz (about them)
               residual(R, p, near)      phi, zero when closed
               gradient(R, p)   D, (rows, 6): d phi/dt = D [w; dp/dt], w = angular velocity of M in F, F axes
               curvature(R, p, w, u)     d phi/dt at zero second derivatives: (dD/dt) [w; u]

`residual` is primary: gradient and curvature are its exact derivatives everywhere, not only where
the joint is closed. What other rooms ask about a type (its options in a model file, the guide that a drawing
shows, the elementary motions that converters write) are attributes with defaults in `base.JointType`; no other
room compares type names. Adding a type: one file with a frozen dataclass and one line in `JOINTS`.
"""

from __future__ import annotations

from typing import Any

from linkwright.errors import UsageError, nearest
from linkwright.joints.base import Elementary, JointOption, JointType
from linkwright.joints.cylindrical import Cylindrical
from linkwright.joints.fixed import Fixed
from linkwright.joints.floating_bearing import FloatingBearing
from linkwright.joints.free import Free
from linkwright.joints.pin_slot import PinSlot
from linkwright.joints.planar import Planar
from linkwright.joints.prismatic import Prismatic
from linkwright.joints.revolute import Revolute
from linkwright.joints.screw import Screw
from linkwright.joints.spherical import Spherical
from linkwright.joints.universal import Universal

JOINTS: dict[str, Any] = {
    "revolute": Revolute,
    "prismatic": Prismatic,
    "screw": Screw,
    "cylindrical": Cylindrical,
    "universal": Universal,
    "pin_slot": PinSlot,
    "spherical": Spherical,
    "floating_bearing": FloatingBearing,
    "planar": Planar,
    "fixed": Fixed,
    "free": Free,
}
PLANE_ROWS = ("tx", "ty", "tn", "rz")  # what is left of a joint's rows in a planar mechanism


def create(kind: str, options: tuple[tuple[str, Any], ...] = ()) -> Any:
    """The joint type of that name with its options (`pitch` of a screw)."""
    if kind not in JOINTS:
        raise UsageError(f"there is no joint type '{kind}'.", nearest(kind, JOINTS, "Types"))
    return JOINTS[kind](**dict(options))


def row_indices(joint: Any, planar: bool) -> tuple[int, ...]:
    """Indices of a joint's rows that apply: all in space, those acting in the plane otherwise."""
    return tuple(i for i, label in enumerate(joint.rows) if not planar or label in PLANE_ROWS)


def holds(joint: Any, planar: bool) -> bool:
    """True if the joint has constraint rows: a free joint has none, a planar one none in its plane."""
    return bool(row_indices(joint, planar))


def is_hinge(joint: Any) -> bool:
    """True for one rotation about a fixed axis."""
    return joint.keeps_origin and joint.coordinate_kinds == ("angle",)


def is_ball(joint: Any) -> bool:
    """True if the joint holds one point and no rotation."""
    return joint.keeps_origin and joint.rows == ("tx", "ty", "tz")


def is_cross(joint: Any) -> bool:
    """True for two rotations about the axes of a cross: a universal joint."""
    return joint.keeps_origin and joint.coordinate_kinds == ("angle", "angle")


def is_slider(joint: Any) -> bool:
    """True for one translation along x of F."""
    return joint.coordinate_kinds == ("length",) and along_x(joint)


def velocity_kinds(joint: Any) -> tuple[str, ...]:
    """'angle' or 'length' for every velocity of a joint type."""
    kinds = joint.coordinate_kinds
    return ("angle",) * 3 + tuple(kinds[4:]) if "quaternion" in kinds else tuple(kinds)


def velocity_parts(joint: Any) -> dict[str, tuple[int, ...]]:
    """Velocities by the name that follows the joint's: all of them by none, each by its own; `angular` and `linear` where it does both."""
    every = tuple(range(joint.nv))
    kinds = velocity_kinds(joint)
    out = {"": every, **{name: (i,) for i, name in enumerate(joint.v_names)}} if joint.nv > 1 else {"": every}
    if joint.nv > 2 and len(set(kinds)) == 2:
        out |= {name: tuple(i for i in every if kinds[i] == kind) for name, kind in (("angular", "angle"), ("linear", "length"))}
    return out


def speed_names(joint: Any) -> dict[str, int]:
    """Names that mean a velocity and never a position, with its entry: `wx` of a rotation, `vx` where the coordinate is called x."""
    found = {name if name not in joint.q_names else f"v{name}": i for i, name in enumerate(joint.v_names)}
    return {name: i for name, i in found.items() if name in ("wx", "wy", "wz", "vx", "vy", "vz")}


def attitudes(joint: Any) -> dict[str, int]:
    """Names of the whole rotation of a ball or free joint, and how many numbers each has."""
    return {"quat": 4, "rpy": 3} if "quaternion" in joint.coordinate_kinds else {}


def grouped(joint: Any, entries: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Velocities of a joint as vectors, where all components of one are among them, and single numbers."""
    whole = [v for v in joint.vectors if set(v) <= set(entries)]
    return (*whole, *((i,) for i in entries if not any(i in v for v in whole)))


def position_of(joint: Any, i: int) -> int | None:
    """Entry of q whose rate is velocity `i`; None for a component of an angular velocity."""
    return joint.q_names.index(joint.v_names[i]) if joint.v_names[i] in joint.q_names else None


def along_x(joint: Any) -> bool:
    """True if the joint's guide is straight, along x of F; of a class, that of its default options."""
    if joint.guide is None:
        return False
    one = joint() if isinstance(joint, type) else joint
    return all(tuple(track(one, s)) == (s, 0.0, 0.0) for s in (0.0, 1.0, 2.0))


def track(joint: Any, s: Any) -> Any:
    """Return the place of M's origin in F at `s` of the guide's coordinate."""
    q = [0.0] * joint.nq
    q[joint.guide] = s
    return joint.pose(q)[1]


__all__ = [
    "JOINTS",
    "PLANE_ROWS",
    "Elementary",
    "JointOption",
    "JointType",
    "along_x",
    "attitudes",
    "create",
    "grouped",
    "holds",
    "is_ball",
    "is_cross",
    "is_hinge",
    "is_slider",
    "position_of",
    "row_indices",
    "speed_names",
    "track",
    "velocity_kinds",
    "velocity_parts",
]  # fmt: skip
