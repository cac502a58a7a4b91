"""Coordinates that the name of a spring, damper, friction or stop means: a joint's only one, one of several, or all."""

from __future__ import annotations

from typing import NamedTuple

from linkwright import joints
from linkwright.model.description import Description, Joint


class ActedCoordinates(NamedTuple):
    """A joint and the velocities of it that something acts in."""

    joint: Joint
    entries: tuple[int, ...]


def acted(description: Description, name: str) -> ActedCoordinates | None:
    """Return the joint and its entries for `"A"` (all of them) or `"C.slide"`; None if no joint is called so (a cylinder is)."""
    known = {j.name for j in description.joints}
    if name in known:
        joint = description.joint(name)
        return ActedCoordinates(joint, tuple(range(joints.create(joint.type, joint.options).nv)))
    owner, _, part = name.rpartition(".")
    if owner not in known:
        return None
    joint = description.joint(owner)
    names = joints.create(joint.type, joint.options).v_names
    return ActedCoordinates(joint, (names.index(part),)) if part in names else None
