"""Play in the gearbox of a drive: `play:` of an entry under `drive:`.

The motor, seen through its gearbox, gets a joint of its own (`A_motor` of joint A, with the body `A_rotor`), on which the drive acts. A
coupling of ratio 1 with this play, `A_gearbox`, moves the joint. The armature of the joint and the inertia of the rotor move to the motor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from linkwright.elements import Coupling
from linkwright.errors import listing
from linkwright.joints import JOINTS
from linkwright.model.description import Body, Joint
from linkwright.model.file.body_frames import Shape
from linkwright.model.file.elements import Elements
from linkwright.model.file.joints_section import Joints
from linkwright.model.file.reading_context import Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.units import ANGLE, INERTIA, LENGTH, NONE, multiply

GearedDrives = Mapping[str, dict[str, FileNode]]  # keys of the drives that have play, by joint
PRESCRIBED = ("speed", "position", "moves")  # of the motor, which needs no inertia then
SLIDES = "prismatic"
TURNS_OR_SLIDES = ("revolute", SLIDES)


def motor_joint(name: str) -> str:
    """Name of the joint of the motor that moves a joint through a gearbox with play."""
    return f"{name}_motor"


def _rotor(name: str) -> str:
    return f"{name}_rotor"


def gearbox(name: str) -> str:
    """Name of the coupling between a motor and the joint that it moves."""
    return f"{name}_gearbox"


def add_motors(context: Context, shapes: Mapping[str, Shape], found: Joints, drives: GearedDrives) -> Joints:
    """The joints of a model, among them those of motors that move their joint through a gearbox with play."""
    joints = {j.name: j for j in found.joints}
    poses: dict[str, Any] = {**{name: shape.pose for name, shape in shapes.items()}, **dict(found.poses)}
    starts = {**{name: shape.start for name, shape in shapes.items()}, **{b.name: b.start for b in found.links}}
    for name, keys in drives.items():
        joint = joints.get(name)
        if joint is None:
            continue  # a cylinder, or a misspelled name: the drive itself is refused
        _check(joint, keys, (*shapes, *joints))
        motor, rotor, heavy = motor_joint(name), _rotor(name), joint.armature + _reflected(context, joint, keys)
        _need_inertia(context, joint, heavy, keys)
        joints[name] = replace(joint, armature=0.0)
        joints[motor] = replace(joint, name=motor, second=rotor, pin="", armature=heavy, where=keys["play"].where)
        body = Body(rotor, mass=0.0, start=starts[joint.second], where=keys["play"].where)
        found = replace(found, links=(*found.links, body), poses=(*found.poses, (rotor, poses[joint.second])))
    return replace(found, joints=tuple(joints.values()))


def _check(joint: Joint, keys: Mapping[str, FileNode], taken: tuple[str, ...]) -> None:
    """Raise ModelError for a drive that cannot have play."""
    what, node = f"drive of '{joint.name}'", keys["play"]
    if joint.type not in TURNS_OR_SLIDES:
        raise node.error(
            f"{what}: `play` is one of a hinge or a slider, and '{joint.name}' is a {joint.type} joint. Take it out, or write a coupling "
            "with `play`.",
            name=joint.name,
        )
    both = [x for x in (motor_joint(joint.name), _rotor(joint.name)) if x in taken]
    if both:
        raise node.error(f"{what}: a gearbox with play needs the name {listing(both)}, which is taken. Rename it.", name=both[0])


def _reflected(context: Context, joint: Joint, keys: Mapping[str, FileNode]) -> Any:
    """Inertia of the rotor of a dc_motor as seen at the joint, J N^2."""
    plate = (keys["dc_motor"].entries or {}) if "dc_motor" in keys else {}
    if "J" not in plate:
        return 0.0
    per = multiply(ANGLE, LENGTH, -1) if joint.type == SLIDES else NONE
    N = context.number(plate["gear_ratio"], per, f"drive of '{joint.name}': gear_ratio") if "gear_ratio" in plate else 1.0
    return context.number(plate["J"], INERTIA, f"drive of '{joint.name}': J") * N * N


def _need_inertia(context: Context, joint: Joint, armature: Any, keys: Mapping[str, FileNode]) -> None:
    """Raise ModelError for a motor without an inertia that forces move."""
    if context.numeric(armature) > 0.0 or any(k in keys for k in PRESCRIBED):
        return
    by = "`J:` of its rotor" if "dc_motor" in keys else f"joint '{joint.name}' an `armature:`, the inertia of the motor at the joint"
    raise keys["play"].error(
        f"drive of '{joint.name}': `play` parts the motor from the joint, so the motor needs an inertia. Give {by}.", name=joint.name
    )


def read_gearboxes(reader: Elements, drives: GearedDrives, taken: tuple[str, ...]) -> tuple[Coupling, ...]:
    """The couplings between motors and the joints that they move."""
    out = []
    for name, keys in drives.items():
        if motor_joint(name) not in reader.joints:
            continue
        what, slides = f"drive of '{name}'", "length" in JOINTS[reader.joints[name].type].coordinate_kinds
        if gearbox(name) in taken:
            raise keys["play"].error(f"{what}: a coupling has the name '{gearbox(name)}' of its gearbox. Rename it.", name=gearbox(name))
        play = reader.positive(keys, "play", LENGTH if slides else ANGLE, what)
        hits = reader.restitution(keys, what)
        where = keys["play"].where
        out.append(Coupling(gearbox(name), motor_joint(name), name, offset=0.0, where=where, play=play, restitution=hits))
    return tuple(out)
