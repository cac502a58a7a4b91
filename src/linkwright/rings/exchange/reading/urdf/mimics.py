"""Joints of a URDF that follow others: <mimic>, parameters of ros2_control, plugins of Gazebo."""

from __future__ import annotations

from collections.abc import Iterator

from linkwright.rings.exchange.reading.draft import ONE_COORDINATE, RobotDraft
from linkwright.rings.exchange.reading.urdf.gazebo import gazebo_mimics
from linkwright.rings.exchange.reading.urdf.joints import JOINT_TAGS
from linkwright.rings.exchange.reading.xml_reading import XmlElement


def read_mimics(draft: RobotDraft, robot: XmlElement) -> None:
    """Add a coupling for every joint that follows another; where several places say so, the first counts: <mimic> before others."""
    found: dict[str, str] = {}
    for follower, leader, multiplier, offset, element in (*_mimics(robot), *_controlled(robot), *gazebo_mimics(robot)):
        if follower not in draft.joint_names.of:
            draft.notes.warn(f"{element.where}: a joint '{follower}', which is not there, mimics '{leader}'")
            continue
        name = draft.joint_names.of[follower]
        if name in found:
            continue
        if leader not in draft.joint_names.of:
            draft.notes.warn(f"{element.where}: joint '{name}' mimics '{leader}', which is not there; it moves on its own")
            continue
        other = draft.joint_names.of[leader]
        types = [draft.joints[x].type for x in (name, other)]
        if any(t not in ONE_COORDINATE for t in types):
            draft.notes.lose(f"mimic of '{name}' from '{other}': {types[0]} and {types[1]} joints are not coupled", mechanism=True)
            continue
        found[name] = other
        if _circle(found, name):
            raise element.error(f"joint '{name}' mimics itself, by way of '{other}'.")
        draft.couple(f"{name}_mimic", other, name, multiplier, offset, element.where)


def _mimics(robot: XmlElement) -> Iterator[tuple[str, str, float, float, XmlElement]]:
    for j in robot.all(*JOINT_TAGS):
        mimic = j.one("mimic")
        if mimic is not None:
            yield j.get("name"), mimic.attribute("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0), mimic


def _controlled(robot: XmlElement) -> Iterator[tuple[str, str, float, float, XmlElement]]:
    """Joints of <ros2_control> with <param name="mimic">."""
    for joint in (j for control in robot.all("ros2_control") for j in control.all("joint")):
        said = {x.get("name"): x for x in joint.all("param")}
        if "mimic" in said:
            ratio, offset = (said[k].as_number(said[k].text, k) if k in said else x for k, x in (("multiplier", 1.0), ("offset", 0.0)))
            yield joint.get("name"), said["mimic"].text.strip(), ratio, offset, said["mimic"]


def _circle(found: dict[str, str], name: str) -> bool:
    at = found[name]
    while at in found and at != name:
        at = found[at]
    return at == name
