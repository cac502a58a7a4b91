"""Coordinates by name, as drives, stops, channels and start values name them, and parts of joints, as springs, dampers and friction do.

A coordinate is one number: the angle or travel of a joint, or a length that an element gives its name to (a cylinder). It has a name,
a kind (angle or length), and the kinds of its speed and effort follow. `Instant.travel`, `travel_rate` and `along` read its value and
its rate, and turn an effort along it into wrenches. A name means:

A             the only coordinate of a joint; the first one of a joint with several
hip.angle1    one of several
lift          the length of a cylinder

A part is some or all velocities of a joint:

A             all of them: the only one of a hinge, the angular velocity of a ball
hip.angle1    one of several
base.linear   those that slide, base.angular those that turn, of a joint that does both
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from linkwright import elements
from linkwright.errors import ModelError, nearest
from linkwright.joints import JOINTS, position_of, speed_names, velocity_kinds, velocity_parts
from linkwright.model.description import Description, Joint, PointRef

_LENGTHS = tuple(elements.held_in(x) for x in elements.ELEMENTS if x.coordinate)  # fields with elements that are coordinates
SPEED_KINDS = {"angle": "angular speed", "length": "speed"}
ACCELERATION_KINDS = {"angle": "angular acceleration", "length": "acceleration"}
EFFORT_KINDS = {"angle": "torque", "length": "force"}


@dataclass(frozen=True)
class Coordinate:
    """One number that can be driven, stopped and read. The kinds are those of `text.units.KINDS`."""

    name: str
    kind: str  # "angle" or "length"

    @property
    def rotary(self) -> bool:
        return self.kind == "angle"

    @property
    def speed_kind(self) -> str:
        return SPEED_KINDS[self.kind]

    @property
    def acceleration_kind(self) -> str:
        return ACCELERATION_KINDS[self.kind]

    @property
    def effort_kind(self) -> str:
        return EFFORT_KINDS[self.kind]


@dataclass(frozen=True)
class JointCoordinate(Coordinate):
    """Entry `v` of a joint's velocity, the rate of entry `q` of its coordinates; `q` is None for a component of an angular velocity."""

    joint: Joint
    q: int | None
    v: int

    @property
    def alone(self) -> bool:
        """True if it is all that its joint can do."""
        return JOINTS[self.joint.type].nv == 1


@dataclass(frozen=True)
class Distance(Coordinate):
    """The length of the line between two points."""

    between: tuple[PointRef, PointRef]

    @property
    def alone(self) -> bool:
        return True


def lengths(d: Description) -> dict[str, tuple[PointRef, PointRef]]:
    """Return the ends of every length that is a coordinate, by name."""
    return {x.name: x.between for x in elements.every(d, _LENGTHS)}


def movable(d: Description) -> list[str]:
    """Return the names of joints and of lengths: all that has coordinates."""
    return [*(j.name for j in d.joints), *lengths(d)]


def coordinates(d: Description) -> list[JointCoordinate | Distance]:
    """Return every coordinate in the order of the file: those of joints (not the components of quaternions), then lengths."""
    return [*joint_coordinates(d), *(Distance(name, "length", between) for name, between in lengths(d).items())]


def joint_coordinates(d: Description) -> list[JointCoordinate]:
    """Return the coordinates of all joints, in the order of the file."""
    every = (entry_of(j, i) for j in d.joints for i in range(JOINTS[j.type].nv))
    return [x for x in every if x.q is not None]


def entry_of(joint: Joint, i: int, name: str = "") -> JointCoordinate:
    """Return velocity `i` of a joint as a coordinate, called by its full name unless another one is given."""
    jt = JOINTS[joint.type]
    label = jt.v_names[i]
    return JointCoordinate(name or (f"{joint.name}.{label}" if label else joint.name), velocity_kinds(jt)[i], joint, position_of(jt, i), i)


def coordinate(d: Description, name: str) -> JointCoordinate | Distance:
    """Return the coordinate of that name; raise ModelError where there is none."""
    found = coordinate_or_none(d, name)
    if found is not None:
        return found
    joint, entries = joint_part(d, name)
    if not entries:
        raise ModelError(f"joint '{name}' is {joint.type}: it has no coordinate that could move. Name another joint.", name=name)
    single = [entry_of(joint, i).name for i in entries]
    raise ModelError(f"'{name}' is not a single coordinate of the {joint.type} joint '{joint.name}'. Use {' or '.join(single)}.", name=name)


def coordinate_or_none(d: Description, name: str) -> JointCoordinate | Distance | None:
    """Return the coordinate of that name; None where there is none."""
    ends = lengths(d).get(name)
    if ends is not None:
        return Distance(name, "length", ends)
    head, _, label = name.partition(".")
    joint = next((j for j in d.joints if j.name == head), None)
    names = () if joint is None else JOINTS[joint.type].v_names
    if joint is None or not names or (label and label not in names):
        return None
    return entry_of(joint, names.index(label) if label else 0, name)


def is_rotary(d: Description, name: str) -> bool:
    """Return True for an angle, whose effort is a torque; False for a slide, a length or a component of a quaternion."""
    found = coordinate_or_none(d, name)
    if found is None:
        d.joint(joint_name(name))  # raises where there is none
    return found is not None and found.rotary


def slides(d: Description, name: str) -> bool:
    """Return True for a length, and for a part of a joint that only slides."""
    return name in lengths(d) or joint_part(d, name).kinds == {"length"}


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
    return f"{head}.{part}{'.v' if rate else ''}", SPEED_KINDS[kind] if rate else kind


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
        raise ModelError(f"'{name}' is not a velocity of the {joint.type} joint '{joint.name}'.", None, nearest(name, names, "Velocities"))
    return JointPart(joint, known[rest])
