"""Files that list the closed loops of a URDF, which other programs write next to it.

    robot.yaml            Gepetto: pairs of frames, `closed_loop`, their kinds, motors, joints of other types
    loop_closures.yaml    sw2robot: `closures` of two links with a point and an axis in the frame of the root link, and
                          `independent` joints, which are driven
                          others: `pin_loops` and `ball_loops` of a parent and a child with a point in each
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from linkwright.api import Description, Joint, Placement, Vec3, counted, file_nodes, files, geometry, nearest
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.poses import axes_along, inverse, placed, times
from linkwright.rings.exchange.reading.robot_draft import RobotDraft
from linkwright.rings.exchange.reading.safe_xml import XmlElement
from linkwright.rings.exchange.reading.urdf.joints import JOINT_TAGS

LISTS = ("closed_loop", "type", "name_mot", "mot", "joint_name", "joint_type")
NAME = "loop_closures.yaml"
PLACES = (NAME, f"config/{NAME}", f"../{NAME}", f"../config/{NAME}")  # from the folder of the URDF, which is often `urdf` of a package
CLOSURES = {"closures": ("link_a", "link_b"), "pin_loops": ("parent", "child"), "ball_loops": ("parent", "child")}
ROOT = "base_link"  # in whose frame points of `closures` are


@dataclass(frozen=True)
class LoopFile:
    """A YAML file next to a URDF: pairs of frames with the kind of each, closures with places of their own, motors, joints that are of
    another type."""

    pairs: tuple[tuple[file_nodes.FileNode, file_nodes.FileNode, str], ...] = ()
    motors: tuple[str, ...] = ()
    joints: tuple[tuple[file_nodes.FileNode, str], ...] = ()
    closures: tuple[tuple[str, file_nodes.FileNode], ...] = ()  # list in the file, entry


def loop_file(path: Path) -> LoopFile:
    """The YAML file next to a URDF, or in the package that its folder belongs to, that lists loops; nothing without one."""
    for beside in (path.with_suffix(".yaml"), path.with_name("robot.yaml"), *(path.parent / x for x in PLACES)):
        if beside.is_file():
            text = files.read_regular(beside, file_nodes.MOST_BYTES).decode("utf-8", "replace")
            if "closed_loop" in text:
                return _loop_file(file_nodes.from_text(text, files.shown(beside)))
            if any(re.search(rf"^{key}\s*:", text, re.MULTILINE) for key in CLOSURES):
                return _closure_file(file_nodes.from_text(text, files.shown(beside)))
    return LoopFile()


def _loop_file(root: file_nodes.FileNode) -> LoopFile:
    entries = root.mapping("the file of loops")
    lists = {key: entries[key].sequence(key) if key in entries and entries[key].text != "" else () for key in LISTS}
    kinds = [x.string("type").lower() for x in lists["type"]]
    pairs = []
    for i, node in enumerate(lists["closed_loop"]):
        first, second = node.sequence("closed_loop", 2)
        kind = kinds[i] if i < len(kinds) else "6d"
        if kind not in ("3d", "6d"):
            raise node.error(f"type of a closed loop is 3d (a point) or 6d (a frame), not '{kind}'.", value=kind)
        pairs.append((first, second, kind))
    types = [x.string("joint_type").upper() for x in lists["joint_type"]]
    if len(types) != len(lists["joint_name"]):
        raise root.error(f"joint_name has {counted(len(lists['joint_name']), 'entry')} and joint_type {len(types)}. They belong together.")
    motors = tuple(x.string("name_mot") for x in lists["name_mot"] or lists["mot"])
    return LoopFile(tuple(pairs), motors, tuple(zip(lists["joint_name"], types, strict=True)))


def of_this_robot(found: LoopFile, robot: XmlElement, notes: ImportNotes) -> LoopFile:
    """The file of loops, if it names any frame of this robot; one that names none belongs to another robot beside it."""
    known = {x.get("name") for x in robot.all("link", *JOINT_TAGS)}
    named = [x for first, second, _ in found.pairs for x in (first, second)]
    named += [x for key, entry in found.closures for x in _ends(key, entry)]
    if named and not any(x.string("the name of a link") in known for x in named):
        notes.warn(f"{named[0].where}: the YAML file next to it names no frame of this robot and is not used")
        return LoopFile()
    return found


def _closure_file(root: file_nodes.FileNode) -> LoopFile:
    entries = root.mapping("the file of loops")
    closures = [(key, x) for key in CLOSURES if key in entries and entries[key].text != "" for x in entries[key].sequence(key)]
    given = entries.get("independent")
    motors = () if given is None or given.text == "" else tuple(x.string("independent") for x in given.sequence("independent"))
    return LoopFile(motors=motors, closures=tuple(closures))


def _ends(key: str, entry: file_nodes.FileNode) -> list[file_nodes.FileNode]:
    """Names of the two links that a closure joins."""
    found = entry.mapping(f"an entry of {key}")
    lacking = [x for x in CLOSURES[key] if x not in found]
    if lacking:
        raise entry.error(f"an entry of {key} lacks '{lacking[0]}', the name of a link.", name=lacking[0])
    return [found[x] for x in CLOSURES[key]]


def read_closures(draft: RobotDraft, found: LoopFile, root: str) -> None:
    """Add the hinges and balls of a file `loop_closures.yaml`."""
    if not found.closures:
        return
    poses = placed(Description("", tuple(draft.bodies.values()), ()), tuple(draft.joints.values()), {})
    frame = draft.links.of.get(ROOT, draft.links.of[root])
    for key, entry in found.closures:
        nodes = _ends(key, entry)
        bodies = [_body(draft, x) for x in nodes]
        given = entry.mapping(key)
        if bodies[0] == bodies[1]:
            raise entry.error(f"an entry of {key} joins '{nodes[0].string(key)}' with itself.", name=nodes[0].string(key))
        label = given["name"].string("name") if "name" in given else f"{nodes[0].string(key)}_{nodes[1].string(key)}"
        name = draft.joint_names.add(label)
        if key == "closures":
            at = times(poses[frame], Placement(_vector(entry, "point")), axes_along("z", _vector(entry, "axis", direction=True)))
            frames = [times(inverse(poses[b]), at) for b in bodies]
        else:
            frames = [Placement(_vector(entry, f"{side}_xyz")) for side in CLOSURES[key]]
        hinge = key == "closures" or (key == "pin_loops" and "axis" in given)
        if key == "pin_loops" and hinge:
            own = axes_along("z", _vector(entry, "axis", direction=True))
            turned = times(inverse(poses[bodies[1]]), poses[bodies[0]])
            frames = [times(frames[0], own), Placement(frames[1].at, geometry.product(turned.rotation, own.rotation))]
        kind = "revolute" if hinge else "spherical"
        draft.add_joint(Joint(name, kind, bodies[0], bodies[1], frames[0], frames[1], where=entry.where), closes=True)
        draft.notes.infer_of_joint(name, f"closes a loop, as in {NAME}")


def _body(draft: RobotDraft, node: file_nodes.FileNode) -> str:
    name = node.string("the name of a link")
    if name not in draft.links.of:
        raise node.error(f"loop_closures: there is no link '{name}'.", nearest(name, draft.links.of, "Links"))
    return draft.links.of[name]


def _vector(entry: file_nodes.FileNode, key: str, *, direction: bool = False) -> Vec3:
    """Three numbers of an entry; a direction is not zero."""
    given = entry.mapping("a closure").get(key)
    if given is None:
        raise entry.error(f"a closure lacks '{key}'.", name=key)
    values = []
    for x in given.sequence(key, 3):
        try:
            values.append(float(x.string(key)))
        except ValueError:
            raise x.error(f"{key} has three plain numbers, not '{x.string(key)[:40]}'.", name=key) from None
    if not all(abs(x) < 1e9 for x in values) or (direction and sum(x * x for x in values) < 1e-18):
        raise given.error(f"{key} {'is a direction, not zero' if direction else 'is a place in meters'}.", name=key)
    return (values[0], values[1], values[2])
