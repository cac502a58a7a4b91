"""Drives of a URDF: transmissions, ros2_control, `independent` joints of URDF+, motors named in a YAML file; gears and rotors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linkwright.rings.exchange.reading.robot_draft import RobotDraft
from linkwright.rings.exchange.reading.safe_xml import XmlElement
from linkwright.rings.exchange.reading.urdf.joints import JOINT_TAGS


def read_drives(draft: RobotDraft, robot: XmlElement, named: Sequence[str], motors: Sequence[str]) -> None:
    """Name the driven joints: those of the caller, else of the YAML file beside, else those that the URDF marks, else all of a tree."""
    _transmissions(draft, robot, not named)
    if named:
        draft.name_drives(named)
        return
    for name in motors:
        if name in draft.joint_names.of:
            draft.drive(draft.joint_names.of[name])
        else:
            draft.notes.warn(f"name_mot of the YAML file: there is no joint '{name}'")
    marked = [j for j in robot.all(*JOINT_TAGS) if j.get("independent").lower() in ("true", "1")]
    if robot.all("loop", "coupling"):
        for j in marked:
            draft.drive(draft.joint_names.of[j.get("name")], j.where)
    draft.name_drives(())


def _transmissions(draft: RobotDraft, robot: XmlElement, driving: bool) -> None:
    for element in robot.all("transmission"):
        for joint in element.all("joint"):
            if joint.attribute("name") not in draft.joint_names.of:
                draft.notes.warn(f"{joint.where}: a transmission names the joint '{joint.get('name')}', which is not there")
                continue
            name = draft.joint_names.of[joint.get("name")]
            for actuator in element.all("actuator"):
                _rotor(draft, name, actuator)
            _gear(draft, name, [joint, *element.all("actuator")])
            if driving:
                draft.drive(name, element.where)
    for control in robot.all("ros2_control"):
        for joint in control.all("joint"):
            if driving and joint.all("command_interface") and joint.get("name") in draft.joint_names.of:
                draft.drive(draft.joint_names.of[joint.get("name")], joint.where)


def _rotor(draft: RobotDraft, name: str, actuator: XmlElement) -> None:
    """Drake's rotor inertia and gear ratio, as armature at the joint."""
    rotor, gear = actuator.one("drake:rotor_inertia"), actuator.one("drake:gear_ratio")
    ratio = 1.0 if gear is None else gear.number("value")
    if rotor is not None:
        joint = draft.joints[name]
        draft.joints[name] = replace(joint, armature=joint.armature + rotor.number("value") * ratio * ratio)


def _gear(draft: RobotDraft, name: str, places: Sequence[XmlElement]) -> None:
    """The gear of a drive, which files give in the actuator or in the joint of a transmission."""
    for reduction in (x for place in places for x in place.all("mechanicalReduction") if x.text.strip()):
        ratio = reduction.as_number(reduction.text)
        if ratio:
            draft.gears[name] = ratio
        else:
            draft.notes.warn(f"{reduction.where}: a <mechanicalReduction> of zero is none")
