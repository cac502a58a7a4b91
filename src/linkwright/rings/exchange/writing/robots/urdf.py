"""A mechanism as URDF: links, elementary joints, limits, damping, mimics, transmissions, shapes; loops by a dialect of `dialects`.

URDF has no gravity and its z axis points up, so the mechanism is turned until its gravity points down. A link's frame lies on the axis
of the joint that carries it; it has the axes of our body.
"""

from __future__ import annotations

from xml.etree import ElementTree as xml

import numpy as np

from linkwright.api import Pose, System, UsageError, Visual, array, call_explained, files, nearest
from linkwright.rings.exchange.writing import loops
from linkwright.rings.exchange.writing.losses import Loss
from linkwright.rings.exchange.writing.robots import dialects
from linkwright.rings.exchange.writing.robots.drake import DRAKE, spring_lines
from linkwright.rings.exchange.writing.robots.joint_properties import Acts, JointActs, collected
from linkwright.rings.exchange.writing.robots.preparing import RobotText, prepared
from linkwright.rings.exchange.writing.robots.structure import Robot, RobotJoint, RobotLink, numbers, placing, zero_state
from linkwright.rings.exchange.writing.trees import tree_losses
from linkwright.rings.exchange.writing.visuals import Shapes, bars, rgba

UNLIMITED = 1e9  # limits that URDF asks for where the model has none
GRAVITY = 9.81  # m/s^2 that readers of URDF assume
MESHES = (".stl", ".obj", ".dae", ".glb", ".gltf", ".ply")


@call_explained
def urdf_text(
    model: System | loops.HasSystem, *, dialect: str = "plain", zero: str = "start", floor: float = 0.0, folder: str | None = None
) -> RobotText:
    """The mechanism as URDF. `dialect` says how loops are written: "plain" (they are lost), "urdf+", "constraint", "loop_joint", "gepetto"
    (with a YAML file beside), "onshape" or "two-parents". Joints are zero at the start of the model, or with zero="model" where ours are.
    Bodies below `floor`, a share of the mechanism's inertia, are raised to it. Meshes are named relative to `folder`."""
    if not isinstance(dialect, str) or dialect not in dialects.DIALECTS:
        raise UsageError(f"there is no dialect '{dialect}' of URDF.", nearest(str(dialect), dialects.DIALECTS, "Dialects"))
    if zero not in ("start", "model"):
        raise UsageError(
            f"zero is 'start' (joints count from the start) or 'model' (as in the model), not '{zero}'.", name="zero", value=zero
        )
    chosen = dialects.DIALECTS[dialect]
    if zero == "model" and chosen.needs_closed:
        raise UsageError(
            f"the dialect '{dialect}' reads loops off the file's pose, in which they are closed: use zero='start'.", name=dialect
        )
    system, start = prepared(model, "URDF", floor)
    state = start if zero == "start" else zero_state(system)
    robot = Robot.of(system, state, upright(system), chosen.whole, floor)
    shapes = Shapes(system.description, folder, MESHES)
    root = xml.Element("robot", {"name": system.description.name, "xmlns:drake": DRAKE})
    d = system.description
    root.append(xml.Comment(f" Written by {files.OWNER}. {d.name}: {d.about or 'a mechanism'}. ".replace("--", "- -")))
    closing = chosen.write(robot)
    acts = collected(robot, names_drives=True)
    for link in (*robot.links.values(), *robot.inner.values()):
        _link(root, robot, link, shapes)
    for joint in robot.joints:
        _joint(root, robot, joint, acts, chosen)
    for element in closing.elements:
        root.append(element)
    _springs(root, robot)
    for joint in robot.joints:
        _transmission(root, joint, acts)
    xml.indent(root, "  ")
    lost = (*tree_losses(model, matrix=False), *closing.lost, *acts.lost, *_losses(robot, acts), *shapes.lost)
    zeros = {j.name: j.zero for j in robot.joints if j.entry is not None}
    return RobotText(xml.tostring(root, encoding="unicode") + "\n", lost, zeros, closing.beside(robot, acts))


def upright(system: System) -> Pose:
    """The rotation by which the mechanism's gravity points along -z; none without gravity."""
    g = np.asarray([float(x) for x in system.description.gravity])
    size = float(np.linalg.norm(g))
    if size == 0.0 or abs(g[2] + size) < 1e-12 * size:
        return Pose(np.eye(3), np.zeros(3))
    z = -g / size
    x = np.eye(3)[0] if abs(z[0]) < 0.9 else np.eye(3)[1]
    x = x - z * (z @ x)
    x /= np.linalg.norm(x)
    return Pose(np.stack([x, np.cross(z, x), z]), np.zeros(3))


def _losses(robot: Robot, acts: Acts) -> list[Loss]:
    """Losses that URDF has and other formats have not."""
    out, d = [], robot.system.description
    size = float(np.linalg.norm([float(x) for x in d.gravity]))
    if size != GRAVITY:
        out.append(Loss("gravity", f"{size:g} m/s^2; URDF has none, readers assume {GRAVITY:g} m/s^2 along -z", "gravity"))
    for name, a in acts.joints.items():
        if a.stiffness:
            out.append(Loss(name, "a spring in a joint"))
        if a.stop is not None:
            out.append(Loss(name, "the stiffness of a stop; there it is a limit"))
        if a.armature and a.drive is None:
            out.append(Loss(name, "the armature of a joint without a drive"))
        if a.drive is not None and a.drive.limits[0] is not None and a.drive.limits[0] != -(a.drive.limits[1] or 0.0):
            out.append(Loss(name, "different limits of its torque in the two directions", "drive"))
    return out


# -------------------------------------------------------------------- links


def origin(X: Pose, tag: str = "origin") -> xml.Element:
    """An element with xyz and rpy of a pose."""
    at, angles = placing(X)
    return xml.Element(tag, xyz=numbers(at), rpy=numbers(angles))


def _link(root: xml.Element, robot: Robot, link: RobotLink, shapes: Shapes) -> None:
    e = xml.SubElement(root, "link", name=link.name)
    solid = link.solid
    if solid is not None and (solid.mass or np.any(solid.inertia)):
        inertial = xml.SubElement(e, "inertial")
        inertial.append(origin(Pose(np.asarray(link.X_LB.R, float), link.X_LB.point(solid.com))))
        xml.SubElement(inertial, "mass", value=numbers([solid.mass]))
        I = solid.inertia
        tensor = {"ixx": I[0, 0], "ixy": I[0, 1], "ixz": I[0, 2], "iyy": I[1, 1], "iyz": I[1, 2], "izz": I[2, 2]}
        xml.SubElement(inertial, "inertia", {k: numbers([x]) for k, x in tensor.items()})
    if link.body:
        for shape in shapes.of(link.body) or bars(robot.system, link.body):
            _visual(e, link, shape)


def _visual(e: xml.Element, link: RobotLink, shape: Visual) -> None:
    visual = xml.SubElement(e, "visual")
    at = shape.placement
    visual.append(origin(link.X_LB @ Pose(array(at.rotation).astype(float), array(at.at).astype(float))))
    a, b, _ = shape.size
    forms: dict[str, dict[str, str]] = {
        "mesh": {"filename": shape.file, "scale": numbers(shape.size)},
        "box": {"size": numbers(shape.size)},
        "sphere": {"radius": numbers([a])},
        "cylinder": {"radius": numbers([a]), "length": numbers([b])},
        "capsule": {"radius": numbers([a]), "length": numbers([b])},
    }
    xml.SubElement(xml.SubElement(visual, "geometry"), shape.shape, forms[shape.shape])
    if shape.color:
        material = xml.SubElement(visual, "material", name=shape.color)
        xml.SubElement(material, "color", rgba=numbers(rgba(shape.color)))


# -------------------------------------------------------------------- joints


def _joint(root: xml.Element, robot: Robot, j: RobotJoint, acts: Acts, chosen: dialects.Dialect) -> None:
    own = acts.of(j.name)
    limited = own.lower is not None or own.upper is not None
    kinds = {"turn": "revolute" if limited else "continuous", "slide": "prismatic", "ball": "continuous", "universal": "continuous"}
    more = chosen.marks(own)
    e = xml.SubElement(root, "joint", {"name": j.name, "type": {**kinds, "free": "floating", "fixed": "fixed"}[j.kind], **more})
    xml.SubElement(e, "parent", link=j.parent)
    xml.SubElement(e, "child", link=j.child)
    parent = robot.links.get(j.parent) or robot.inner[j.parent]
    e.append(origin(parent.X_WL.inverse() @ j.X_WJ))
    if j.kind in ("turn", "slide"):
        xml.SubElement(e, "axis", xyz=numbers(j.axis))
        _limit(e, j, own)
    if own.damping or own.friction:
        xml.SubElement(e, "dynamics", damping=numbers([own.damping]), friction=numbers([own.friction]))
    if own.leader:
        xml.SubElement(e, "mimic", joint=own.leader, multiplier=numbers([own.multiplier]), offset=numbers([own.offset]))


def _limit(e: xml.Element, j: RobotJoint, own: JointActs) -> None:
    """<limit>, which sliders and limited hinges need, with numbers for all that the model leaves open."""
    limits = own.drive.limits if own.drive is not None else (None, None)
    given = [abs(float(x)) for x in limits if x is not None]
    if j.kind == "turn" and own.lower is None and own.upper is None:
        if given:
            xml.SubElement(e, "limit", effort=numbers([max(given)]), velocity=numbers([UNLIMITED]))
        return
    lower, upper = (-UNLIMITED if own.lower is None else own.lower, UNLIMITED if own.upper is None else own.upper)
    more = {"effort": numbers([max(given, default=UNLIMITED)]), "velocity": numbers([UNLIMITED])}
    xml.SubElement(e, "limit", {"lower": numbers([lower]), "upper": numbers([upper]), **more})


def _transmission(root: xml.Element, j: RobotJoint, acts: Acts) -> None:
    """A transmission for every drive, with the rotor's inertia as Drake has it."""
    own = acts.of(j.name)
    if own.drive is None:
        return
    e = xml.SubElement(root, "transmission", name=f"{j.name}_transmission")
    xml.SubElement(e, "type").text = "transmission_interface/SimpleTransmission"
    joint = xml.SubElement(e, "joint", name=j.name)
    xml.SubElement(joint, "hardwareInterface").text = "hardware_interface/EffortJointInterface"
    actuator = xml.SubElement(e, "actuator", name=f"{j.name}_motor")
    if float(own.drive.gear_ratio) != 1.0:
        xml.SubElement(actuator, "mechanicalReduction").text = numbers([own.drive.gear_ratio])
    if own.armature:
        xml.SubElement(actuator, "drake:rotor_inertia", value=numbers([own.armature]))


def _springs(root: xml.Element, robot: Robot) -> None:
    """Coil springs and dampers between points, as Drake reads them; other readers leave them out."""
    for line in spring_lines(robot):
        e = xml.SubElement(root, line.tag)
        for side, point, body, at in line.ends:
            xml.SubElement(e, f"{line.tag}_body_{side}", name=body)
            xml.SubElement(e, f"{line.tag}_{point}", value=numbers(at))
        for what, value in line.values:
            xml.SubElement(e, f"{line.tag}_{what}", value=numbers([value]))
