"""Joint types: one file each, parameters and mathematics together.

A joint connects frame F (on its first body) with frame M (on its second). A joint file answers
two families of questions, both in terms of the pose X_FM = (R, p) alone, so no file knows which
way the tree runs through it or whether it is in the tree at all:

in the tree    nq nv            sizes of its coordinates q and velocities v
               pose(q)          X_FM as (R, p)
               coordinates(R, p, near)   inverse of pose; angles unwrapped towards `near`
               subspace(q)      S, (6, nv): twist of M in F, axes and origin of F, [angular; linear]
               bias(q, v)       (dS/dt) v
               span             optional: a constant basis of the freedoms at M's origin, where it does not depend on q
               turning(q, v)    optional: the angular parts of both in M's axes, where R_FM' S has no simple form otherwise
               qdot(q, v)       rate of q
as a cut       rows             one label a row: tx ty tz (along F's axes), rx ry rz (about them)
               residual(R, p, near)      phi, zero when closed
               gradient(R, p)   D, (rows, 6): d phi/dt = D [w; dp/dt], w = angular velocity of M in F, F axes
               curvature(R, p, w, u)     d phi/dt at zero second derivatives: (dD/dt) [w; u]

`residual` is primary: gradient and curvature are its exact derivatives everywhere, not only where
the joint is closed. Adding a type: one file with a frozen dataclass and one line in `JOINTS`.
"""

from __future__ import annotations

from typing import Any, Protocol

from linkwright.errors import UsageError, nearest
from linkwright.joints.cylindrical import Cylindrical
from linkwright.joints.fixed import Fixed
from linkwright.joints.free import Free
from linkwright.joints.pin_slot import PinSlot
from linkwright.joints.planar import Planar
from linkwright.joints.prismatic import Prismatic
from linkwright.joints.revolute import Revolute
from linkwright.joints.screw import Screw
from linkwright.joints.spherical import Spherical
from linkwright.joints.universal import Universal


class JointType(Protocol):
    """What a joint file provides; see the module's text for the meaning of each."""

    nq: int
    nv: int
    rows: tuple[str, ...]
    coordinate_kinds: tuple[str, ...]  # "angle", "length" or "quaternion" for every entry of q
    q_names: tuple[str, ...]  # what a person calls each entry of q; "" for the only one
    v_names: tuple[str, ...]
    in_plane: bool  # may stand in a planar mechanism

    def pose(self, q: Any) -> Any: ...
    def coordinates(self, R: Any, p: Any, near: Any) -> Any: ...
    def subspace(self, q: Any) -> Any: ...
    def bias(self, q: Any, v: Any) -> Any: ...
    def qdot(self, q: Any, v: Any) -> Any: ...
    def residual(self, R: Any, p: Any, near: Any) -> Any: ...
    def gradient(self, R: Any, p: Any) -> Any: ...
    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any: ...


JOINTS: dict[str, Any] = {
    "revolute": Revolute,
    "prismatic": Prismatic,
    "screw": Screw,
    "cylindrical": Cylindrical,
    "universal": Universal,
    "pin_slot": PinSlot,
    "spherical": Spherical,
    "planar": Planar,
    "fixed": Fixed,
    "free": Free,
}
PLANE_ROWS = ("tx", "ty", "rz")  # what is left of a joint's rows in a planar mechanism


def create(kind: str, options: tuple[tuple[str, Any], ...] = ()) -> Any:
    """The joint type of that name with its options (`pitch` of a screw)."""
    if kind not in JOINTS:
        raise UsageError(f"there is no joint type '{kind}'. {nearest(kind, JOINTS, 'Types')}")
    return JOINTS[kind](**dict(options))


def row_indices(joint: Any, planar: bool) -> tuple[int, ...]:
    """Which of a joint's rows apply: all in space, those acting in the plane otherwise."""
    return tuple(i for i, label in enumerate(joint.rows) if not planar or label in PLANE_ROWS)
