"""SDF that a URDF gives to Gazebo in <gazebo> elements: joints that close loops, which URDF itself cannot hold, and springs of joints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from linkwright.api import Description
from linkwright.rings.exchange.reading.poses import placed
from linkwright.rings.exchange.reading.robot_draft import ONE_COORDINATE, RobotDraft
from linkwright.rings.exchange.reading.sdf.frames import PoseGraph
from linkwright.rings.exchange.reading.sdf.joints import add_joints, joints_of, read_mimics
from linkwright.rings.exchange.reading.sdf.scopes import FrameRef, Scope, scope_of
from linkwright.rings.exchange.reading.sdf.tags import PLACES
from linkwright.rings.exchange.reading.tags import check_tags
from linkwright.rings.exchange.reading.xml_reading import XmlElement

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
            draft.notes.infer_of_joint(j.name, "closes a loop, as <gazebo> says")


def _spring(draft: RobotDraft, block: XmlElement) -> None:
    """Add the spring of the joint that a block refers to; one that has no such joint is listed."""
    stiffness, name = block.content("springStiffness", 0.0), block.get("reference")
    if not stiffness:
        return
    joint = draft.joint_names.of.get(name, "")
    if joint and draft.joints[joint].type in ONE_COORDINATE:
        draft.spring(joint, stiffness, block.content("springReference", 0.0), block.where)
    else:
        draft.notes.lose(f"{block.where}: spring of '{name}', which is no joint with one coordinate", mechanism=True)


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
