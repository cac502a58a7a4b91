"""Velocities of joints by name, as dampers, friction, springs and stops name them.

A             all velocities of a joint: the only one of a hinge, the angular velocity of a ball
hip.angle1    one of several
base.linear   those that slide, base.angular those that turn, of a joint that does both
"""

from __future__ import annotations

from typing import Any, NamedTuple

from linkwright import elements
from linkwright.errors import ModelError, nearest
from linkwright.joints import JOINTS, speed_names, velocity_kinds, velocity_parts
from linkwright.model.description import Description, Joint

_LINES = tuple(elements.held_in(x) for x in elements.ELEMENTS if x.coordinate)


class JointPart(NamedTuple):
    """Some or all velocities of a joint."""

    joint: Joint
    entries: tuple[int, ...]

    @property
    def kinds(self) -> set[str]:
        """'angle', 'length' or both."""
        every = velocity_kinds(JOINTS[self.joint.type])
        return {every[i] for i in self.entries}


def start_channel(d: Description, name: str) -> tuple[str, str] | None:
    """(name in `start:`, dimension) of one coordinate or velocity of a joint with several: `C.slide`, `base.vx`; None if it is none."""
    head, _, rest = name.partition(".")
    joint = next((j for j in d.joints if j.name == head), None)
    part, rate = rest.removesuffix(".v"), rest.endswith(".v")
    if joint is None or not part:
        return None
    jt = JOINTS[joint.type]
    if part in speed_names(jt):
        part, rate = jt.v_names[speed_names(jt)[part]], True
    if part not in jt.v_names or (part not in jt.q_names and not rate):
        return None
    kind = velocity_kinds(jt)[jt.v_names.index(part)]
    return f"{head}.{part}{'.v' if rate else ''}", {"angle": "angular speed", "length": "speed"}[kind] if rate else kind


def line_element(d: Description, name: str) -> Any:
    """The element that is a coordinate by its own name, a cylinder; None if there is none of that name."""
    return next((x for x in elements.every(d, _LINES) if x.name == name), None)


def joint_name(name: str) -> str:
    """The joint of a name that may say which of its velocities."""
    return name.partition(".")[0]


def joint_part(d: Description, name: str) -> JointPart:
    """The velocities of that name; raise ModelError where there are none."""
    joint = d.joint(joint_name(name))
    return part_of(joint, name)


def part_of(joint: Joint, name: str) -> JointPart:
    """The velocities of a joint by the whole name."""
    known = velocity_parts(JOINTS[joint.type])
    rest = name.partition(".")[2]
    if rest not in known:
        names = [f"{joint.name}.{x}" if x else joint.name for x in known]
        raise ModelError(f"'{name}' is no velocity of the {joint.type} joint '{joint.name}'. {nearest(name, names, 'Velocities')}")
    return JointPart(joint, known[rest])
