"""Frames of a URDF that close loops: pairs in a YAML file beside it (Gepetto), or pairs by their names (onshape-to-robot, Gepetto)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from linkwright.api import Joint, ModelError, Placement, Source, counted, file_nodes, files, geometry, nearest
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.poses import HERE, axes_along, times
from linkwright.rings.exchange.reading.robot_draft import RobotDraft
from linkwright.rings.exchange.reading.urdf.joints import JOINT_TAGS, TreeJoints, child_of
from linkwright.rings.exchange.reading.urdf.links import origin
from linkwright.rings.exchange.reading.xml_reading import XmlElement

LISTS = ("closed_loop", "type", "name_mot", "mot", "joint_name", "joint_type")
ONSHAPE = re.compile(r"closing_(.+)_1\Z")
GEPETTO = re.compile(r"((?:closedloop|fermeture).*)_A\Z")
UNIVERSAL = re.compile(r"(?:UJOINT_)?([XYZ])([XYZ])\Z")
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class LoopFile:
    """Gepetto's YAML file beside a URDF: pairs of frames with the kind of each, motors, joints that are of another type."""

    pairs: tuple[tuple[file_nodes.FileNode, file_nodes.FileNode, str], ...] = ()
    motors: tuple[str, ...] = ()
    joints: tuple[tuple[file_nodes.FileNode, str], ...] = ()


def loop_file(path: Path) -> LoopFile:
    """The YAML file beside a URDF that says `closed_loop:`; nothing without one."""
    for beside in (path.with_suffix(".yaml"), path.with_name("robot.yaml")):
        if beside.is_file():
            text = files.read_regular(beside, file_nodes.MOST_BYTES).decode("utf-8", "replace")
            if "closed_loop" in text:
                return _loop_file(file_nodes.from_text(text, files.shown(beside)))
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
        raise root.error(f"joint_name has {counted(len(lists['joint_name']), 'entry')} and joint_type {len(types)}; they belong together.")
    motors = tuple(x.string("name_mot") for x in lists["name_mot"] or lists["mot"])
    return LoopFile(tuple(pairs), motors, tuple(zip(lists["joint_name"], types, strict=True)))


def of_this_robot(found: LoopFile, robot: XmlElement, notes: ImportNotes) -> LoopFile:
    """The file of loops, if it names any frame of this robot; one that names none belongs to another robot beside it."""
    known = {x.get("name") for x in robot.all("link", *JOINT_TAGS)}
    if found.pairs and not any(x.string("closed_loop") in known for first, second, _ in found.pairs for x in (first, second)):
        notes.warn(f"{found.pairs[0][0].where}: the YAML file beside names no frame of this robot and is not used")
        return LoopFile()
    return found


def retype(draft: RobotDraft, found: LoopFile, tree: TreeJoints) -> None:
    """Give joints of the tree the type that the YAML file says, at the URDF's joint frame."""
    elements = {j.get("name"): j for j in tree.carrying}
    for node, kind in found.joints:
        name = node.string("joint_name")
        if name not in elements:  # the file's own reader passes over it
            draft.notes.warn(f"{node.where}: joint_name: there is no joint '{name}'; its type {kind} is not used")
            continue
        made = _retyped(draft.joints[draft.joint_names.of[name]], kind, origin(elements[name]), node)
        draft.joints[made.name] = made
        draft.stops = [s for s in draft.stops if s.joint != made.name or made.type == "revolute"]
        draft.notes.infer_of_joint(made.name, f"{made.type}, as the YAML file says")


def _retyped(joint: Joint, kind: str, at: Placement, node: file_nodes.FileNode) -> Joint:
    plain = replace(joint, frame_first=at, frame_second=HERE, options=())
    if kind == "SPHERICAL":
        return replace(plain, type="spherical")
    if kind == "FIXED":
        return replace(plain, type="fixed")
    pair = UNIVERSAL.match("XY" if kind == "CARDAN" else kind)
    if pair is None or pair[1] == pair[2]:
        raise node.error(
            f"joint_type: '{kind}' is not known. Allowed: SPHERICAL, FIXED, CARDAN, UJOINT_XY and other pairs of axes.", name=kind
        )
    x, y = AXES[pair[1]], AXES[pair[2]]
    own = Placement((0.0, 0.0, 0.0), geometry.columns(x, y, geometry.cross(x, y)))
    return replace(plain, type="universal", frame_first=times(at, own), frame_second=own)


# -------------------------------------------------------------------- pairs of frames


def read_frames(draft: RobotDraft, found: LoopFile, tree: TreeJoints) -> None:
    """Add the closing joints of pairs of frames: those of the YAML file, else those that names make."""
    joints = {j.get("name"): child_of(j) for j in tree.carrying}
    for first, second, kind in found.pairs:
        links = [_frame(draft, node, joints) for node in (first, second)]
        label = first.string("closed_loop").removesuffix("_A").removesuffix("_B").removeprefix("closedloop_")
        _weld(draft, label, links, kind, first.where)
    if found.pairs:
        return
    for name in list(draft.links.of):
        onshape, gepetto = ONSHAPE.match(name), GEPETTO.match(name)
        if onshape and f"closing_{onshape[1]}_2" in draft.links.of:
            _mate(draft, onshape[1])
        elif gepetto and f"{gepetto[1]}_B" in draft.links.of:
            _weld(draft, gepetto[1], [name, f"{gepetto[1]}_B"], "6d")
            draft.notes.infer(f"frames '{name}' and '{gepetto[1]}_B' are welded, as their names say")


def _frame(draft: RobotDraft, node: file_nodes.FileNode, joints: dict[str, str]) -> str:
    """The link of a frame: a link, or the child of a joint of that name."""
    name = node.string("closed_loop")
    link = name if name in draft.links.of else joints.get(name)
    if link is None:
        raise node.error(f"closed_loop: there is no frame '{name}'.", nearest(name, draft.links.of, "Links"))
    return link


def _weld(draft: RobotDraft, label: str, links: Sequence[str], kind: str, where: Source | None = None) -> None:
    """A pair of frames that coincide, altogether (6d) or in their origins (3d)."""
    bodies = [draft.links.of[x] for x in links]
    name = draft.joint_names.add(label)
    place = where or draft.bodies[bodies[0]].where
    draft.add_joint(Joint(name, "fixed" if kind == "6d" else "spherical", bodies[0], bodies[1], where=place), closes=True)


def _mate(draft: RobotDraft, label: str) -> None:
    """Frames of onshape-to-robot: a point each, or with second points `_z` an axis each."""
    ends = [f"closing_{label}_{i}" for i in (1, 2)]
    bodies = [draft.links.of[x] for x in ends]
    place = draft.bodies[bodies[0]].where
    if all(f"{x}_z" in draft.links.of for x in ends):
        frames = [_towards(draft, x, f"{x}_z") for x in ends]
        joint = Joint(draft.joint_names.add(label), "revolute", bodies[0], bodies[1], frames[0], frames[1], where=place)
        draft.notes.infer(f"frames '{ends[0]}', '{ends[1]}' and the points along their z axes become the hinge '{joint.name}'")
    else:
        joint = Joint(draft.joint_names.add(label), "spherical", bodies[0], bodies[1], where=place)
        draft.notes.infer(f"frames '{ends[0]}' and '{ends[1]}' become the ball joint '{joint.name}'; a fixed mate looks the same in URDF")
    draft.add_joint(joint, closes=True)


def _towards(draft: RobotDraft, link: str, other: str) -> Placement:
    """A frame at a link's origin whose z axis points to the origin of another link; both are fixed to the same one."""
    at = []
    for name in (link, other):
        fixed = [j for j in draft.joints.values() if j.second == draft.links.of[name] and j.type == "fixed"]
        if len(fixed) != 1:
            raise ModelError(
                f"link '{name}' closes a loop by its name, but is not held by a fixed joint.",
                draft.bodies[draft.links.of[name]].where,
                name=name,
            )
        at.append(fixed[0])
    if at[0].first != at[1].first:
        raise ModelError(f"links '{link}' and '{other}' mark an axis, but are fixed to different links.", at[1].where, name=link)
    back = geometry.transpose(at[0].frame_first.rotation)
    return axes_along("z", geometry.rotate(back, geometry.sub(at[1].frame_first.at, at[0].frame_first.at)))
