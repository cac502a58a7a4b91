"""Elements that close loops in a URDF: <loop> and <coupling> of URDF+, <constraint>, <loop_joint>, Drake's constraints and springs.

Other programs close loops in three further ways, which are read too: SDF in <gazebo> elements (it may also hold springs of joints),
a YAML file next to the URDF (pairs of frames of Gepetto, `loop_files`), and pairs of frames by their names (onshape-to-robot, Gepetto).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from linkwright.api import Description, Joint, ModelError, Placement, Source, Vec3, counted, file_nodes, geometry, nearest
from linkwright.rings.exchange.reading.joint_frames import axes, direction, framed
from linkwright.rings.exchange.reading.names import usable
from linkwright.rings.exchange.reading.poses import HERE, as_vector, axes_along, placed, pose, times
from linkwright.rings.exchange.reading.robot_draft import ONE_COORDINATE, RobotDraft
from linkwright.rings.exchange.reading.safe_xml import XmlElement
from linkwright.rings.exchange.reading.sdf.frames import PoseGraph
from linkwright.rings.exchange.reading.sdf.joints import add_joints, joints_of, read_mimics
from linkwright.rings.exchange.reading.sdf.scopes import FrameRef, Scope, scope_of
from linkwright.rings.exchange.reading.sdf.tags import PLACES
from linkwright.rings.exchange.reading.tags import check_tags
from linkwright.rings.exchange.reading.urdf.joints import TYPES, TreeJoints, child_of, parent_of
from linkwright.rings.exchange.reading.urdf.links import origin
from linkwright.rings.exchange.reading.urdf.loop_files import LoopFile, read_closures

ONSHAPE = re.compile(r"closing_(.+)_1\Z")
GEPETTO = re.compile(r"((?:closedloop|fermeture).*)_A\Z")
UNIVERSAL = re.compile(r"(?:UJOINT_)?([XYZ])([XYZ])\Z")
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def retype(draft: RobotDraft, found: LoopFile, tree: TreeJoints) -> None:
    """Give joints of the tree the type that the YAML file says, at the URDF's joint frame."""
    elements = {j.get("name"): j for j in tree.carrying}
    for node, kind in found.joints:
        name = node.string("joint_name")
        if name not in elements:  # the file's own reader passes over it
            draft.notes.warn(f"{node.where}: joint_name: there is no joint '{name}'. Its type {kind} is not used")
            continue
        made = _retyped(draft.joints[draft.joint_names.of[name]], kind, origin(elements[name]), node)
        draft.joints[made.name] = made
        draft.stops = [s for s in draft.stops if s.joint != made.name or made.type == "revolute"]
        draft.notes.infer_of_joint(made.name, f"{made.type}, as in the YAML file")


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
    read_closures(draft, found, tree.root)
    for first, second, kind in found.pairs:
        links = [_frame(draft, node, joints) for node in (first, second)]
        label = first.string("closed_loop").removesuffix("_A").removesuffix("_B").removeprefix("closedloop_")
        _weld(draft, label, links, kind, first.where)
    if found.pairs or found.closures:
        return
    for name in list(draft.links.of):
        onshape, gepetto = ONSHAPE.match(name), GEPETTO.match(name)
        if onshape and f"closing_{onshape[1]}_2" in draft.links.of:
            _mate(draft, onshape[1])
        elif gepetto and f"{gepetto[1]}_B" in draft.links.of:
            _weld(draft, gepetto[1], [name, f"{gepetto[1]}_B"], "6d")
            draft.notes.infer(f"frames '{name}' and '{gepetto[1]}_B' are welded, as in their names")


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
        frames = [_toward(draft, x, f"{x}_z") for x in ends]
        joint = Joint(draft.joint_names.add(label), "revolute", bodies[0], bodies[1], frames[0], frames[1], where=place)
        draft.notes.infer(f"frames '{ends[0]}', '{ends[1]}' and the points along their z axes become the hinge '{joint.name}'")
    else:
        joint = Joint(draft.joint_names.add(label), "spherical", bodies[0], bodies[1], where=place)
        draft.notes.infer(f"frames '{ends[0]}' and '{ends[1]}' become the ball joint '{joint.name}'. A fixed mate looks the same in URDF")
    draft.add_joint(joint, closes=True)


def _toward(draft: RobotDraft, link: str, other: str) -> Placement:
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


ADDED = ("link", "model", "include")  # parts of a mechanism that are not read here
SPRING = ("springStiffness", "springReference")


def read_gazebo(draft: RobotDraft, robot: XmlElement) -> None:
    """Add the joints and springs of all <gazebo> elements; other contents are left out and listed."""
    blocks = robot.all("gazebo")
    joints = [x for block in blocks if not block.get("reference") for x in block.all("joint")]
    if joints:
        _close(draft, robot, joints)
    for block in blocks:
        _spring(draft, block)
        for x in block.all(*ADDED, *(["joint"] if block.get("reference") else [])):
            draft.notes.lose(f"{x.where}: {x.shown} in <gazebo>, which is not read", mechanism=True)
        for x in block.all("plugin"):
            if not mimic_of(x):
                draft.notes.drop("Gazebo plugin", x.get("filename") or x.get("name"))
        if any(x.tag not in ("joint", "plugin", *ADDED, *SPRING) for x in block):
            draft.notes.drop("<gazebo> element", str(block.where))


def _close(draft: RobotDraft, robot: XmlElement, joints: Sequence[XmlElement]) -> None:
    """Add joints of SDF to the tree: poses count from the child link, where it is with all joints of the tree at zero."""
    for j in joints:
        check_tags(j, PLACES, draft.notes, "model")
    poses = placed(Description("", tuple(draft.bodies.values()), ()), tuple(draft.joints.values()), {})
    draft.bodies = {name: replace(b, start=poses[name]) for name, b in draft.bodies.items()}
    links = [XmlElement("link", {"name": x.get("name")}, x.where) for x in robot.all("link")]
    model = XmlElement("model", {"name": draft.name}, robot.where, (*links, *joints))
    scope = scope_of(model, parent=Scope("", robot))
    graph = PoseGraph(scope)
    for x in links:
        graph.known[FrameRef(scope, x.get("name"))] = poses[draft.links.of[x.get("name")]]
    found = joints_of(draft, scope, graph)
    add_joints(draft, found, graph)
    read_mimics(draft, found)
    for j in found:
        if draft.joint_names.of[j.full] in draft.closing:
            draft.notes.infer_of_joint(j.name, "closes a loop, as in <gazebo>")


def _spring(draft: RobotDraft, block: XmlElement) -> None:
    """Add the spring of the joint that a block refers to; one that has no such joint is listed."""
    stiffness, name = block.content("springStiffness", 0.0), block.get("reference")
    if not stiffness:
        return
    joint = draft.joint_names.of.get(name, "")
    if joint and draft.joints[joint].type in ONE_COORDINATE:
        draft.spring(joint, stiffness, block.content("springReference", 0.0), block.where)
    else:
        draft.notes.lose(f"{block.where}: spring of '{name}', which is not a joint with one coordinate", mechanism=True)


def mimic_of(plugin: XmlElement) -> tuple[str, str] | None:
    """Return the joints that a plugin ties, the follower and its leader; None for other plugins, which may have several <joint>."""
    if not (plugin.all("mimicJoint") and plugin.all("joint")):
        return None
    return plugin.need("mimicJoint").text.strip(), plugin.need("joint").text.strip()


def gazebo_mimics(robot: XmlElement) -> Iterator[tuple[str, str, float, float, XmlElement]]:
    """Yield followers, leaders, multipliers and offsets of plugins that make joints mimic others."""
    for plugin in (x for block in robot.all("gazebo") for x in block.all("plugin")):
        tied = mimic_of(plugin)
        if tied is not None:
            yield (*tied, plugin.content("multiplier", 1.0), plugin.content("offset", 0.0), plugin)


CLOSING_TYPES = tuple(k for k in TYPES if k not in ("floating", "screw"))
X: Vec3 = (1.0, 0.0, 0.0)


def read_loops(draft: RobotDraft, robot: XmlElement, tree: TreeJoints) -> None:
    """Add all closing joints and couplings that have an element of their own."""
    for element in robot:
        if element.tag == "coupling":
            _coupling(draft, element, tree)
        elif element.tag in READERS:
            READERS[element.tag](draft, element)


def close(
    draft: RobotDraft,
    element: XmlElement,
    kind: str,
    links: Sequence[str],
    frames: tuple[Placement, Placement],
    own: tuple[Placement, Placement] = (HERE, HERE),
) -> str:
    """Add a closing joint between frames of two links of the file and return its name."""
    first, second = (draft.body_of(x, element.where, element.shown) for x in links)
    if first == second:
        raise element.error(f"it connects link '{links[0]}' with itself.", name=links[0])
    name = draft.joint_names.add(element.get("name") or f"{links[0]}_{links[1]}")
    draft.add_joint(framed(name, kind, (first, second), frames, own, element), closes=True)
    return name


def _axis(element: XmlElement, tag: str = "axis") -> Vec3:
    found = element.one(tag)
    return X if found is None else direction(found, found.numbers("xyz", 3, X))


def _loop(draft: RobotDraft, element: XmlElement) -> None:
    """URDF+: <predecessor link> and <successor link> with an <origin> each, <axis>."""
    sides = element.need("predecessor"), element.need("successor")
    kind = TYPES[element.attribute("type", CLOSING_TYPES)]
    own = axes(kind, element, _axis(element))
    name = close(draft, element, kind, [x.attribute("link") for x in sides], (origin(sides[0]), origin(sides[1])), (own, own))
    draft.points_only.append(name)  # the reference program of URDF+ ignores the axis


def _constraint(draft: RobotDraft, element: XmlElement) -> None:
    """<parent link>, <parent_origin>, <parent_axis> and the same of the child; a universal joint has one axis on each."""
    kind = TYPES[element.attribute("type", CLOSING_TYPES)]
    links = [element.need(side).attribute("link") for side in ("parent", "child")]
    first, second = (_axis(element, f"{side}_axis") for side in ("parent", "child"))
    universal = kind == "universal"
    own = (axes_along("x", first), axes_along("y", second)) if universal else (axes(kind, element, first), axes(kind, element, second))
    close(draft, element, kind, links, (origin(element, "parent_origin"), origin(element, "child_origin")), own)


def _loop_joint(draft: RobotDraft, element: XmlElement) -> None:
    """<link1 link xyz rpy/> and <link2 .../>; some programs write link1 twice."""
    sides = element.all("link1", "link2")
    if len(sides) != 2:
        raise element.error(f"it needs <link1 .../> and <link2 .../>, not {counted(len(sides), 'such element')}.")
    kind = TYPES[element.attribute("type", CLOSING_TYPES)]
    own = axes(kind, element, _axis(element))
    frames = [pose(x.numbers("xyz", 3, (0.0, 0.0, 0.0)), x.numbers("rpy", 3, (0.0, 0.0, 0.0))) for x in sides]
    close(draft, element, kind, [x.attribute("link") for x in sides], (frames[0], frames[1]), (own, own))


# -------------------------------------------------------------------- Drake


def _drake_ends(element: XmlElement, points: Sequence[str]) -> tuple[list[str], list[Vec3]]:
    links = [element.need(f"{element.tag}_body_{side}").attribute("name") for side in "AB"]
    at = [x.numbers("value", 3) for x in (element.need(f"{element.tag}_{p}") for p in points)]
    return links, [as_vector(x) for x in at]


def drake_ball(draft: RobotDraft, element: XmlElement) -> None:
    links, at = _drake_ends(element, ("p_AP", "p_BQ"))
    close(draft, element, "spherical", links, (Placement(at[0]), Placement(at[1])))


def drake_spring(draft: RobotDraft, element: XmlElement) -> None:
    """A coil spring with a damper between two points."""
    links, at = _drake_ends(element, ("p_AP", "p_BQ"))
    bodies = [draft.body_of(x, element.where, element.shown) for x in links]
    name = usable(f"{links[0]}_{links[1]}_spring")
    ends = tuple(draft.point(b, name, p) for b, p in zip(bodies, at, strict=True))
    free, stiffness = (element.need(f"{element.tag}_{x}").number("value") for x in ("free_length", "stiffness"))
    damper = element.one(f"{element.tag}_damping")
    draft.spring_damper(name, (ends[0], ends[1]), free, stiffness, 0.0 if damper is None else damper.number("value"))


READERS: dict[str, Callable[[RobotDraft, XmlElement], None]] = {
    "loop": _loop,
    "constraint": _constraint,
    "loop_joint": _loop_joint,
    "drake:ball_constraint": drake_ball,
    "drake:linear_spring_damper": drake_spring,
}


# -------------------------------------------------------------------- couplings of URDF+


def _coupling(draft: RobotDraft, element: XmlElement, tree: TreeJoints) -> None:
    """ratio times the sum of the joint angles up to the predecessor is the sum up to the successor, both from where their chains part."""
    sides = [element.need(x).attribute("link") for x in ("predecessor", "successor")]
    for link in sides:
        draft.body_of(link, element.where, element.shown)
    chains = [_chain(tree, link) for link in sides]
    while chains[0] and chains[1] and chains[0][0] is chains[1][0]:
        chains = [x[1:] for x in chains]
    names = [[draft.joint_names.of[j.get("name")] for j in x] for x in chains]
    moving = [[n for n in x if draft.joints[n].type in ONE_COORDINATE] for x in names]
    if not moving[0] or not moving[1]:
        raise element.error(f"no joint moves '{sides[not moving[1]]}' apart from the other link, so there is nothing to couple.")
    ratio = element.need("ratio").number("value")
    draft.couple_sums(draft.coupling_name(element.get("name") or "coupling"), moving[0], moving[1], ratio, element.where)


def _chain(tree: TreeJoints, link: str) -> list[XmlElement]:
    """Joints of the tree from the root to a link."""
    carrying = {child_of(j): j for j in tree.carrying}
    out = []
    while link in carrying:
        out.append(carrying[link])
        link = parent_of(carrying[link])
    return out[::-1]
