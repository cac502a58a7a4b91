"""`read_urdf`: the description in a URDF file, with its loops."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from linkwright.api import SAME_PLACE, Description, files, geometry
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.contact_shapes import ContactRequest
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.poses import placed, times
from linkwright.rings.exchange.reading.referenced_files import Folders
from linkwright.rings.exchange.reading.robot_contacts import LinkShapes
from linkwright.rings.exchange.reading.robot_draft import ONE_COORDINATE, RobotDraft, names_of
from linkwright.rings.exchange.reading.safe_xml import XmlElement, read_xml
from linkwright.rings.exchange.reading.shapes import ShapeFiles
from linkwright.rings.exchange.reading.tags import check_tags
from linkwright.rings.exchange.reading.urdf.drives import read_drives
from linkwright.rings.exchange.reading.urdf.joints import (
    JOINT_TAGS,
    child_of,
    close_two_parents,
    need_known_base,
    parent_of,
    read_joints,
    starting,
    tree_of,
)
from linkwright.rings.exchange.reading.urdf.links import origin, read_links
from linkwright.rings.exchange.reading.urdf.loop_files import loop_file, of_this_robot
from linkwright.rings.exchange.reading.urdf.loops import (
    gazebo_mimics,
    read_frames,
    read_gazebo,
    read_loops,
    retype,
)
from linkwright.rings.exchange.reading.urdf.tags import PLACES

WORLD = "world"

LETTERS = "xyz"
PARTS = ("parent", "child", "origin", "axis")


def read_urdf(
    path: str | os.PathLike[str], folders: Any = None, base: str = "fixed", drives: Sequence[str] = (), contacts: Any = None
) -> Imported:
    """The mechanism of a URDF file; `base`: the root link is "fixed" to the ground or "free"; `drives`: joints that are driven; `contacts`
    of collision elements, see `contact_shapes`."""
    need_known_base(base)
    robot = read_xml(path, ("robot",))
    refuse_xacro(robot)
    place = Path(path)
    notes = ImportNotes(files.shown(path), "URDF")
    check_tags(robot, PLACES, notes)
    robot = with_balls(with_world(robot))
    draft = RobotDraft.of(notes, robot.get("name") or place.stem)
    shapes = ShapeFiles(Folders.of(place, folders), notes, os.path.realpath(place.parent))
    tree, touching = tree_of(robot), LinkShapes(ContactRequest.of(contacts), notes)
    read_links(draft, robot, shapes, tree.root if base == "fixed" else None, touching)
    if base == "fixed":
        notes.infer(f"link '{tree.root}', the root, is the ground (base='free' lets it float)")
    beside = of_this_robot(loop_file(place), robot, notes)
    read_joints(draft, robot, tree)
    retype(draft, beside, tree)
    read_mimics(draft, robot)
    read_loops(draft, robot, tree)
    read_frames(draft, beside, tree)
    read_gazebo(draft, robot)
    at = starting(draft, in_limits=not (draft.closing or tree.cutting))
    close_two_parents(draft, tree, at)
    read_drives(draft, robot, names_of(drives), beside.motors)
    shapes.report()
    carrying = [j for name, j in draft.joints.items() if name not in draft.closing]
    return touching.finished(draft.finish(placed(Description("", tuple(draft.bodies.values()), ()), carrying, at)))


def with_world(robot: XmlElement) -> XmlElement:
    """The robot with a link `world`, where joints name it as their parent and there is none: Drake's way to fix a robot."""
    links = {x.get("name") for x in robot.all("link")}
    if WORLD in links or not any(x.get("link") == WORLD for j in robot.all(*JOINT_TAGS) for x in j.all("parent")):
        return robot
    return replace(robot, children=(XmlElement("link", {"name": WORLD}, robot.where), *robot.children))


def refuse_xacro(element: XmlElement) -> None:
    """Raise where macros are left that the program xacro has to write out."""
    texts = (element.text, *element.attributes.values())
    if element.tag.startswith("xacro:") or any("${" in x or "$(" in x for x in texts):
        raise element.error("this is xacro, not URDF yet. Write the macros out first: xacro robot.urdf.xacro > robot.urdf")
    for x in element:
        refuse_xacro(x)


# Ball joints of URDF files written here: three hinges at one point through two links without anything, read as the ball they stand for.
def with_balls(robot: XmlElement) -> XmlElement:
    """The robot with every chain N_x, N_y, N_z of hinges that nothing else names as one joint N of type ball."""
    joints = {j.get("name"): j for j in robot.all("joint") if j.get("type") == "continuous"}
    used, links = Counter(_names(robot)), {x.get("name"): x for x in robot.all("link")}
    taken = {j.get("name") for j in robot.all(*JOINT_TAGS)}
    made: dict[int, XmlElement | None] = {}
    for first in joints.values():
        name = first.get("name").removesuffix("_x")
        chain = [joints.get(f"{name}_{letter}") for letter in LETTERS]
        three = [j for j in chain if j is not None]
        if first is not chain[0] or len(three) < 3 or name in taken or not _is_ball(three, links, used):
            continue
        attributes = {"name": name, "type": "ball"}
        made[id(first)] = replace(first, attributes=attributes, children=(*first.all("parent"), *three[2].all("child"), _composed(three)))
        made |= {id(j): None for j in three[1:]} | {id(links[child_of(j)]): None for j in three[:2]}
    remaining = [made.get(id(x), x) for x in robot.children]
    return replace(robot, children=tuple(x for x in remaining if x is not None)) if made else robot


def _is_ball(chain: list[XmlElement], links: dict[str, XmlElement], used: Counter[str]) -> bool:
    """True for hinges about x, y and z of one frame: each carries the next through an empty link that is named three times."""
    for j, following in pairwise(chain):
        between = child_of(j)
        empty = between in links and not links[between].children and used[between] == 3
        if not empty or parent_of(following) != between or not between.startswith(j.get("name")):
            return False
    places = [origin(j) for j in chain]
    axes = [next((x.numbers("xyz", 3, (1.0, 0.0, 0.0)) for x in j.all("axis")), (1.0, 0.0, 0.0)) for j in chain]
    turned = (axes[0], geometry.rotate(places[1].rotation, axes[1]), geometry.rotate(times(places[1], places[2]).rotation, axes[2]))
    right = all(abs(x - float(i == k)) < SAME_PLACE for k, row in enumerate(turned) for i, x in enumerate(row))
    here = all(abs(x) < SAME_PLACE for place in places[1:] for x in place.at)
    return right and here and all(x.tag in PARTS for j in chain for x in j) and all(used[j.get("name")] == 1 for j in chain)


def _composed(chain: list[XmlElement]) -> XmlElement:
    """The origin of the last hinge in the link that carries the first."""
    found = times(*(origin(j) for j in chain))
    R = [[float(x) for x in row] for row in found.rotation]
    pitch = math.asin(max(-1.0, min(1.0, -R[2][0])))
    upright = abs(R[2][0]) > 1.0 - 1e-14  # roll and yaw turn about one axis there
    roll = 0.0 if upright else math.atan2(R[2][1], R[2][2])
    yaw = math.atan2(-R[0][1], R[1][1]) if upright else math.atan2(R[1][0], R[0][0])
    rows = {"xyz": found.at, "rpy": (roll, pitch, yaw)}
    return XmlElement("origin", {k: " ".join(repr(float(x)) for x in row) for k, row in rows.items()}, chain[0].where)


def _names(element: XmlElement) -> Iterator[str]:
    """All values of attributes in an element and those in it."""
    yield from element.attributes.values()
    for x in element:
        yield from _names(x)


# Joints of a URDF that follow others: <mimic>, parameters of ros2_control, plugins of Gazebo.


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
            draft.notes.warn(f"{element.where}: joint '{name}' mimics '{leader}', which is not there. It moves on its own")
            continue
        other = draft.joint_names.of[leader]
        types = [draft.joints[x].type for x in (name, other)]
        if any(t not in ONE_COORDINATE for t in types):
            draft.notes.lose(f"mimic of '{name}' from '{other}': {types[0]} and {types[1]} joints are not coupled", mechanism=True)
            continue
        found[name] = other
        if _circle(found, name):
            raise element.error(f"joint '{name}' mimics itself, by way of '{other}'.", name=name)
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
