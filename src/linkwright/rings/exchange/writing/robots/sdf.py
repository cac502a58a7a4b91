"""A mechanism as SDF 1.11: links at their poses, joints with loops among them, a world with its gravity.

Ball, universal and screw joints exist there; others are chains of hinges and sliders. A free body has no joint. Named points are frames.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as xml

import numpy as np

from linkwright.api import Pose, System, Visual, array, call_explained, files, spatial
from linkwright.rings.exchange.writing import loops
from linkwright.rings.exchange.writing.losses import Loss, tree_losses, two_sided
from linkwright.rings.exchange.writing.robots.drake import DRAKE, spring_lines
from linkwright.rings.exchange.writing.robots.joint_properties import Acts, JointActs, collected
from linkwright.rings.exchange.writing.robots.links_and_joints import Robot, RobotJoint, RobotLink, numbers, placing
from linkwright.rings.exchange.writing.robots.prepared_system import RobotText, prepared
from linkwright.rings.exchange.writing.visuals import Shapes, bars, rgba

VERSION = "1.11"
WHOLE = frozenset(["ball", "universal", "screw"])
MESHES = (".stl", ".obj", ".dae", ".glb", ".gltf")
GRAVITY = (0.0, 0.0, -9.8)  # of readers where no world says otherwise


@call_explained
def sdf_text(model: System | loops.HasSystem, *, world: bool = True, floor: float = 0.0, folder: str | None = None) -> RobotText:
    """The mechanism as SDF, in a world with its gravity, or as a model alone with world=False. Joints are zero at the start of the model.
    Bodies below `floor`, a share of the mechanism's inertia, are raised to it. Meshes are named relative to `folder`."""
    system, start = prepared(model, "SDF", floor, closing=False)
    d = system.description
    robot = Robot.of(system, start, spatial.IDENTITY, WHOLE, floor, apart=False)
    for name in system.tree.cuts:
        robot.close(name)
    acts, shapes = collected(robot, names_drives=False), Shapes(d, folder, MESHES)
    root = xml.Element("sdf", {"version": VERSION, "xmlns:drake": DRAKE})
    root.append(xml.Comment(f" Written by {files.OWNER}. {d.name}: {d.about or 'a mechanism'}. ".replace("--", "- -")))
    parent = root
    if world:
        parent = xml.SubElement(root, "world", name="world")
        xml.SubElement(parent, "gravity").text = numbers(d.gravity)
    e = xml.SubElement(parent, "model", name=d.name)
    for link in (*robot.links.values(), *robot.inner.values()):
        _link(e, robot, link, shapes)
    for joint in robot.joints:
        if joint.kind != "free":
            _joint(e, robot, joint, acts)
    _frames(e, robot)
    _springs(e, robot)
    xml.indent(root, "  ")
    zeros = {j.name: j.zero for j in robot.joints if j.entry is not None}
    lost = (*tree_losses(model, matrix=False), *acts.lost, *_losses(robot, world), *shapes.lost)
    return RobotText(xml.tostring(root, encoding="unicode") + "\n", (*lost, *two_sided(d, lost)), zeros)


def _losses(robot: Robot, world: bool) -> list[Loss]:
    """Losses that SDF has and other formats have not."""
    out, d = [], robot.system.description
    if not world and tuple(float(x) for x in d.gravity) != GRAVITY:
        out.append(Loss("gravity", f"{numbers(d.gravity)} m/s^2; a model has none, readers assume {numbers(GRAVITY)} m/s^2", "gravity"))
    for link in (*robot.links.values(), *robot.inner.values()):
        if link.body != d.bodies[0].name and not _mass(link):
            out.append(Loss(link.name, "its mass is zero there, which some readers refuse: a floor such as 1e-6 raises it", "reader"))
    return out


def _mass(link: RobotLink) -> float:
    return 0.0 if link.solid is None else float(link.solid.mass)


def _text(parent: xml.Element, tag: str, values: Any) -> xml.Element:
    e = xml.SubElement(parent, tag)
    e.text = values if isinstance(values, str) else numbers(values)
    return e


def _pose(parent: xml.Element, X: Pose) -> None:
    at, angles = placing(X)
    if np.any(at) or np.any(angles):
        _text(parent, "pose", [*at, *angles])


# -------------------------------------------------------------------- links


def _link(model: xml.Element, robot: Robot, link: RobotLink, shapes: Shapes) -> None:
    """A link; the ground is the world, and a link only for its shapes."""
    ground = link.body == robot.system.description.bodies[0].name
    drawn = (shapes.of(link.body) or bars(robot.system, link.body)) if link.body else ()
    if ground and not drawn:
        return
    e = xml.SubElement(model, "link", name=link.name)
    _pose(e, link.X_WL)
    if ground:
        joint = xml.SubElement(model, "joint", name=robot.fresh(f"{link.name}_fixed"), type="fixed")
        _text(joint, "parent", "world")
        _text(joint, "child", link.name)
    else:
        _inertial(e, link)
    for k, shape in enumerate(drawn):
        _visual(e, link, shape, k)


def _inertial(e: xml.Element, link: RobotLink) -> None:
    """Mass data, zeros too: a link without them has 1 kg there."""
    inertial = xml.SubElement(e, "inertial")
    solid = link.solid
    com = np.zeros(3) if solid is None else solid.com
    _pose(inertial, Pose(np.eye(3), link.X_LB.point(com)))
    _text(inertial, "mass", [_mass(link)])
    I = np.zeros((3, 3)) if solid is None else solid.inertia
    tensor = xml.SubElement(inertial, "inertia")
    for tag, x in (("ixx", I[0, 0]), ("ixy", I[0, 1]), ("ixz", I[0, 2]), ("iyy", I[1, 1]), ("iyz", I[1, 2]), ("izz", I[2, 2])):
        _text(tensor, tag, [x])


def _visual(e: xml.Element, link: RobotLink, shape: Visual, k: int) -> None:
    visual = xml.SubElement(e, "visual", name=f"{link.name}_visual_{k + 1}")
    at = shape.placement
    _pose(visual, link.X_LB @ Pose(array(at.rotation).astype(float), array(at.at).astype(float)))
    form = xml.SubElement(xml.SubElement(visual, "geometry"), shape.shape)
    if shape.shape == "mesh":
        _text(form, "uri", shape.file)
        _text(form, "scale", shape.size)
    elif shape.shape == "box":
        _text(form, "size", shape.size)
    else:
        _text(form, "radius", shape.size[:1])
        if shape.shape != "sphere":
            _text(form, "length", shape.size[1:2])
    if shape.color:
        _text(xml.SubElement(visual, "material"), "diffuse", rgba(shape.color))


def _frames(model: xml.Element, robot: Robot) -> None:
    """Named points of the moving bodies as frames on their links."""
    for b in robot.system.description.bodies[1:]:
        for p in b.points:
            e = xml.SubElement(model, "frame", name=robot.fresh(f"{b.name}_{p.name}"), attached_to=b.name)
            _pose(e, Pose(np.eye(3), robot.links[b.name].X_LB.point(array(p.at).astype(float))))


def _springs(model: xml.Element, robot: Robot) -> None:
    """Coil springs and dampers between points, as Drake reads them; other readers leave them out."""
    ground = robot.system.description.bodies[0].name
    for line in spring_lines(robot):
        e = xml.SubElement(model, line.tag)
        for side, point, body, at in line.ends:
            _text(e, f"{line.tag}_body_{side}", "world" if body == ground else body)
            _text(e, f"{line.tag}_{point}", at)
        for what, value in line.values:
            _text(e, f"{line.tag}_{what}", [value])


# -------------------------------------------------------------------- joints


def _joint(model: xml.Element, robot: Robot, j: RobotJoint, acts: Acts) -> None:
    own = acts.of(j.name)
    limited = own.lower is not None or own.upper is not None
    kinds = {"turn": "revolute" if limited else "continuous", "slide": "prismatic"}
    e = xml.SubElement(model, "joint", name=j.name, type=kinds.get(j.kind, j.kind))
    child = robot.links.get(j.child) or robot.inner[j.child]
    _pose(e, child.X_WL.inverse() @ j.X_WJ)
    _text(e, "parent", "world" if j.parent == robot.system.description.bodies[0].name else j.parent)
    _text(e, "child", j.child)
    if j.kind in ("turn", "slide", "screw", "universal"):
        _axis(e, "axis", j.axis, own)
    if j.kind == "universal":
        _axis(e, "axis2", j.axis2, JointActs())
    if j.kind == "screw":
        _text(e, "screw_thread_pitch", [2.0 * np.pi * j.pitch])  # m/rev, right-handed
    if j.closes:
        simbody = xml.SubElement(xml.SubElement(e, "physics"), "simbody")
        _text(simbody, "must_be_loop_joint", "true")


def _axis(joint: xml.Element, tag: str, axis: np.ndarray, own: JointActs) -> None:
    e = xml.SubElement(joint, tag)
    _text(e, "xyz", axis)
    efforts = [abs(float(x)) for x in (own.drive.limits if own.drive is not None else ()) if x is not None]
    most = {"effort": max(efforts, default=None), "velocity": own.speed}
    limits = {"lower": own.lower, "upper": own.upper, "stiffness": own.stop, **most}
    given = {name: value for name, value in limits.items() if value is not None}
    if given.keys() - {"stiffness"}:
        limit = xml.SubElement(e, "limit")
        for name, value in given.items():
            _text(limit, name, [value])
    dynamics = {"damping": own.damping, "friction": own.friction, "spring_stiffness": own.stiffness}
    if any(dynamics.values()):
        section = xml.SubElement(e, "dynamics")
        for name, value in {**dynamics, "spring_reference": own.reference if own.stiffness else 0.0}.items():
            _text(section, name, [value])
    if own.armature:
        _text(e, "drake:rotor_inertia", [own.armature])
    if own.leader:
        mimic = xml.SubElement(e, "mimic", joint=own.leader)
        for name, value in (("multiplier", own.multiplier), ("offset", own.offset), ("reference", 0.0)):
            _text(mimic, name, [value])
