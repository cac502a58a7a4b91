"""Joints as chains of elementary joints, which every other program has: turn, slide, screw, ball (`JointType.pieces`).

A joint's pose X_FM(q) is a product of pieces, so its inverse (a joint that the tree runs through backwards) is the
product of the inverted pieces in the opposite order: the same coordinate about the negative axis. Coordinates and
velocities of all pieces but a reversed ball are therefore exactly ours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Description, Joint, UsageError, joints, quaternion_rotation


class JointPiece(NamedTuple):
    """One elementary joint: what it does, along or about which axis of the joint's frame, and which entries it reads."""

    kind: str  # "turn", "slide", "screw", "ball"
    axis: np.ndarray  # a positive coordinate moves the carried side along it; zero for a ball
    q: slice  # entries of the joint's q
    v: slice
    pitch: float  # of a screw
    name: str
    reversed: bool = False


def pieces(joint: Joint, reversed: bool) -> tuple[JointPiece, ...]:
    """Return the pieces from the carrying to the carried body; the type must have some, see `refuse`."""
    jt = joints.create(joint.type, joint.options)
    out = [JointPiece(p.kind, np.array(p.axis), p.q, p.v, float(p.pitch), piece_name(joint, jt.v_names, p.v)) for p in jt.pieces() or ()]
    if not reversed:
        return tuple(out)
    return tuple(p._replace(axis=0.0 - p.axis, reversed=True) for p in out[::-1])


def refuse(description: Description, program: str) -> None:
    """Raise a UsageError for the first joint that is not made of elementary motions."""
    for j in description.joints:
        if joints.create(j.type, j.options).pieces() is None:
            raise UsageError(
                f"{program} has no counterpart of the {j.type} joint '{j.name}', which is not a chain of turns and slides. Replace it "
                "in a copy of the model, for example by a link between two hinges.",
                name=j.name,
            )


def is_free(joint: Joint) -> bool:
    """True for a joint that other programs have as a whole: any translation, then any rotation."""
    return [p.kind for p in pieces(joint, False)] == ["slide", "slide", "slide", "ball"]


def piece_name(joint: Joint, v_names: tuple[str, ...], v: slice) -> str:
    """`A` for the only coordinate, `C.slide` for one of several, `C.ball` for a rotation beside translations."""
    if v.stop - v.start == len(v_names):
        return joint.name
    part = v_names[v.start] if v.stop - v.start == 1 else "ball"
    return f"{joint.name}.{part}"


def ball_position(p: JointPiece, q: Any) -> np.ndarray:
    """Quaternion wxyz of the carried side in the carrying one."""
    w, x, y, z = q[p.q]
    return np.array([w, -x, -y, -z]) if p.reversed else np.array([w, x, y, z])


def ball_rates(p: JointPiece, q: Any) -> np.ndarray:
    """(3, 3): angular velocity of the carried side in its own axes from ours (M in F, M axes); its rate adds no term.

    Reversed, F turns in M with -w, in F's axes -R w, and d(R w)/dt = R (dw/dt) because w x w = 0.
    """
    return -quaternion_rotation(q[p.q]) if p.reversed else np.eye(3)
