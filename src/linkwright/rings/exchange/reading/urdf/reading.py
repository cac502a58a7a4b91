"""`read_urdf`: the description in a URDF file, with its loops."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.model.description import Description
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.draft import RobotDraft, names_of
from linkwright.rings.exchange.reading.folders import Folders
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.poses import placed
from linkwright.rings.exchange.reading.shapes import ShapeFiles
from linkwright.rings.exchange.reading.tags import check_tags
from linkwright.rings.exchange.reading.urdf.balls import with_balls
from linkwright.rings.exchange.reading.urdf.drives import read_drives
from linkwright.rings.exchange.reading.urdf.frames import loop_file, of_this_robot, read_frames, retype
from linkwright.rings.exchange.reading.urdf.gazebo import read_gazebo
from linkwright.rings.exchange.reading.urdf.joints import JOINT_TAGS, close_two_parents, need_known_base, read_joints, starting, tree_of
from linkwright.rings.exchange.reading.urdf.links import read_links
from linkwright.rings.exchange.reading.urdf.loops import read_loops
from linkwright.rings.exchange.reading.urdf.mimics import read_mimics
from linkwright.rings.exchange.reading.urdf.tags import PLACES
from linkwright.rings.exchange.reading.xml_reading import XmlElement, read_xml

WORLD = "world"


def read_urdf(path: str | os.PathLike[str], folders: Any = None, base: str = "fixed", drives: Sequence[str] = ()) -> Imported:
    """The mechanism of a URDF file; `base`: the root link is "fixed" to the ground or "free"; `drives`: joints that are driven."""
    need_known_base(base)
    robot = read_xml(path, ("robot",))
    refuse_xacro(robot)
    place = Path(path)
    notes = ImportNotes(files.shown(path), "URDF")
    check_tags(robot, PLACES, notes)
    robot = with_balls(with_world(robot))
    draft = RobotDraft.of(notes, robot.get("name") or place.stem)
    shapes = ShapeFiles(Folders.of(place, folders), notes, os.path.realpath(place.parent))
    tree = tree_of(robot)
    read_links(draft, robot, shapes, tree.root if base == "fixed" else None)
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
    return draft.finish(placed(Description("", tuple(draft.bodies.values()), ()), carrying, at))


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
