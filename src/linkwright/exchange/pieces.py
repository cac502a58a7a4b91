"""Joints as chains of elementary joints, which every other program has: turn, slide, screw, ball.

A joint's pose X_FM(q) is a product of pieces, so its inverse (a joint that the tree runs through backwards) is the
product of the inverted pieces in the opposite order: the same coordinate about the negative axis. Coordinates and
velocities of all pieces but a reversed ball are therefore exactly ours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.model.description import Joint
from linkwright.numerics.spatial import quaternion_rotation

X, Y, Z = np.eye(3)


class Piece(NamedTuple):
    """One elementary joint: what it does, along or about which axis of the joint's frame, and which entries it reads."""

    kind: str  # "turn", "slide", "screw", "ball"
    axis: np.ndarray  # a positive coordinate moves the carried side along it; zero for a ball
    q: slice  # entries of the joint's q
    v: slice
    name: str
    reversed: bool = False


def _entry(kind: str, axis: np.ndarray, q: int, v: int | None = None) -> tuple[str, np.ndarray, slice, slice]:
    v = q if v is None else v
    return kind, axis, slice(q, q + 1), slice(v, v + 1)


_BALL = ("ball", np.zeros(3), slice(0, 4), slice(0, 3))
_PIECES: dict[str, tuple[tuple[str, np.ndarray, slice, slice], ...]] = {
    "revolute": (_entry("turn", Z, 0),),
    "prismatic": (_entry("slide", X, 0),),
    "screw": (_entry("screw", Z, 0),),
    "cylindrical": (_entry("turn", Z, 0), _entry("slide", Z, 1)),
    "universal": (_entry("turn", X, 0), _entry("turn", Y, 1)),
    "pin_slot": (_entry("slide", X, 0), _entry("turn", Z, 1)),
    "planar": (_entry("slide", X, 0), _entry("slide", Y, 1), _entry("turn", Z, 2)),
    "spherical": (_BALL,),
    "free": (_entry("slide", X, 4, 3), _entry("slide", Y, 5, 4), _entry("slide", Z, 6, 5), _BALL),
    "fixed": (),
}


def pieces(joint: Joint, reversed: bool) -> tuple[Piece, ...]:
    """The pieces from the carrying to the carried body."""
    names = joints.create(joint.type, joint.options).v_names
    out = [Piece(kind, axis, q, v, piece_name(joint, names, v)) for kind, axis, q, v in _PIECES[joint.type]]
    if not reversed:
        return tuple(out)
    return tuple(p._replace(axis=0.0 - p.axis, reversed=True) for p in out[::-1])


def piece_name(joint: Joint, v_names: tuple[str, ...], v: slice) -> str:
    """`A` for the only coordinate, `C.slide` for one of several, `C.ball` for a rotation beside translations."""
    if v.stop - v.start == len(v_names):
        return joint.name
    part = v_names[v.start] if v.stop - v.start == 1 else "ball"
    return f"{joint.name}.{part}"


def ball_position(p: Piece, q: Any) -> np.ndarray:
    """Quaternion wxyz of the carried side in the carrying one."""
    w, x, y, z = q[p.q]
    return np.array([w, -x, -y, -z]) if p.reversed else np.array([w, x, y, z])


def ball_rates(p: Piece, q: Any) -> np.ndarray:
    """(3, 3): angular velocity of the carried side in its own axes from ours (M in F, M axes); its rate adds no term.

    Reversed, F turns in M with -w, in F's axes -R w, and d(R w)/dt = R (dw/dt) because w x w = 0.
    """
    return -quaternion_rotation(q[p.q]) if p.reversed else np.eye(3)
