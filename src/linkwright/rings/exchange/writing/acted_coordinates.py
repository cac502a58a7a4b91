"""Coordinates that the name of a spring, damper, friction or stop means: a joint's only one, one of several, or all."""

from __future__ import annotations

from typing import NamedTuple

from linkwright.api import Description, Joint, coordinates, joints


class ActedCoordinates(NamedTuple):
    """A joint and the velocities of it that something acts in."""

    joint: Joint
    entries: tuple[int, ...]


def acted(description: Description, name: str) -> ActedCoordinates | None:
    """Return the joint and its entries for `"A"` (all of them) or `"C.slide"`; None if no joint is called so (a cylinder is)."""
    joint = next((j for j in description.joints if j.name == coordinates.joint_name(name)), None)
    entries = None if joint is None else joints.velocity_parts(joints.JOINTS[joint.type]).get(name.partition(".")[2])
    return None if joint is None or entries is None else ActedCoordinates(joint, entries)
