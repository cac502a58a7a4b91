"""A mechanism as URDF: links, elementary joints, limits, damping, mimics, transmissions, shapes; loops by a dialect of `dialects`.

URDF has no gravity and its z axis points up, so the mechanism is turned until its gravity points down. A link's frame lies on the axis
of the joint that carries it; it has the axes of our body.

Each dialect writes the joints that close loops in its own way:

plain         not at all
urdf+         <loop> with predecessor, successor and axis; <coupling> between joints of one parent
constraint    <constraint> with origin and axis on parent and child
loop_joint    <loop_joint> of type spherical or fixed between two frames (Isaac Sim, Drake)
gepetto       pairs of frames, listed in a YAML file beside the URDF; ball joints of the tree are listed there too
onshape       pairs of frames that their names close: closing_NAME_1, closing_NAME_2, with _z a point along the axis
two-parents   joints whose child has a parent already
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree as xml

import numpy as np

from linkwright.api import Joint, Pose, System, UsageError, Visual, array, call_explained, files, nearest
from linkwright.rings.exchange.writing import loops
from linkwright.rings.exchange.writing.losses import Loss, tree_losses, two_sided
from linkwright.rings.exchange.writing.robots.drake import DRAKE, spring_lines
from linkwright.rings.exchange.writing.robots.joint_properties import Acts, JointActs, collected
from linkwright.rings.exchange.writing.robots.links_and_joints import Robot, RobotJoint, RobotLink, numbers, placing, zero_state
from linkwright.rings.exchange.writing.robots.prepared_system import RobotText, prepared
from linkwright.rings.exchange.writing.visuals import Shapes, bars, rgba

UP = 0.1  # m, distance of the second point on an axis in onshape-to-robot's files
TYPES = {"point": "spherical", "axis": "revolute", "weld": "fixed"}


@dataclass(frozen=True)
class LoopsText:
    """Elements that close the loops, what is lost, and texts of files beside."""

    elements: tuple[xml.Element, ...] = ()
    lost: tuple[Loss, ...] = ()
    pairs: tuple[tuple[str, str, str], ...] | None = None  # Gepetto: frames and "3d" or "6d"

    def beside(self, robot: Robot, acts: Any) -> dict[str, str]:
        if self.pairs is None:
            return {}
        balls = [j.name for j in robot.joints if j.kind == "ball"]
        motors = [name for name, x in acts.joints.items() if x.drive is not None]
        lines = [
            f"closed_loop: [{', '.join(f'[{quoted(a)}, {quoted(b)}]' for a, b, _ in self.pairs)}]",
            f"type: [{', '.join(quoted(x) for *_, x in self.pairs)}]",
            f"name_mot: [{', '.join(quoted(x) for x in motors)}]",
            f"joint_name: [{', '.join(quoted(x) for x in balls)}]",
            f"joint_type: [{', '.join(quoted('SPHERICAL') for _ in balls)}]",
        ]
        return {".yaml": files.signed("\n".join(lines) + "\n")}


@dataclass(frozen=True)
class Dialect:
    """A dialect: kinds of joints it has besides turns and slides, and the writer of its loops."""

    write: Callable[[Robot], LoopsText]
    whole: frozenset[str] = frozenset()
    needs_closed: bool = False
    marks: Callable[[Any], Mapping[str, str]] = field(default=lambda _: {})


def quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _cuts(robot: Robot) -> list[Joint]:
    return [robot.system.description.joint(name) for name in robot.system.tree.cuts]


def _plain(robot: Robot) -> LoopsText:
    why = "it closes a loop, which plain URDF cannot: the loop is open there. Choose a dialect"
    return LoopsText(lost=tuple(Loss(name, why) for name in robot.system.tree.cuts))


def _pose(X: Pose) -> dict[str, str]:
    at, angles = placing(X)
    return {"xyz": numbers(at), "rpy": numbers(angles)}


# -------------------------------------------------------------------- elements of their own


def _loop(robot: Robot) -> LoopsText:
    """<loop> holds the point; a hinge in space is two of them, on its axis."""
    out = []
    for c in loops.closings(robot.system):
        kind = TYPES[loops.closed_by(robot.system.description.joint(c.cut))]
        e = xml.Element("loop", name=c.name.replace(".", "_"), type=kind)
        for tag, body, at in (("predecessor", c.first, c.at_first), ("successor", c.second, c.at_second)):
            xml.SubElement(xml.SubElement(e, tag, link=body), "origin", _pose(robot.in_link(body, at)))
        xml.SubElement(e, "axis", xyz="0 0 1")
        out.append(e)
    return LoopsText(tuple(out))


def _constraint(robot: Robot) -> LoopsText:
    out = []
    for j in _cuts(robot):
        e = xml.Element("constraint", name=j.name, type=TYPES[loops.closed_by(j)])
        for side, body, at in (("parent", j.first, j.frame_first), ("child", j.second, j.frame_second)):
            xml.SubElement(e, side, link=body)
            xml.SubElement(e, f"{side}_origin", _pose(robot.in_link(body, at)))
            xml.SubElement(e, f"{side}_axis", xyz="0 0 1")
        out.append(e)
    return LoopsText(tuple(out))


def _loop_joint(robot: Robot) -> LoopsText:
    out = []
    for c in loops.closings(robot.system):
        e = xml.Element("loop_joint", name=c.name.replace(".", "_"), type="fixed" if c.weld else "spherical")
        for tag, body, at in (("link1", c.first, c.at_first), ("link2", c.second, c.at_second)):
            xml.SubElement(e, tag, {"link": body, **_pose(robot.in_link(body, at))})
        out.append(e)
    return LoopsText(tuple(out))


# -------------------------------------------------------------------- frames


def _frame(robot: Robot, name: str, body: str, X: Pose) -> list[xml.Element]:
    """A frame of a body: a link without mass on a fixed joint."""
    robot.names.add(name)
    joint = xml.Element("joint", name=robot.fresh(f"{name}_frame"), type="fixed")
    xml.SubElement(joint, "parent", link=body)
    xml.SubElement(joint, "child", link=name)
    xml.SubElement(joint, "origin", _pose(X))
    return [xml.Element("link", name=name), joint]


def _gepetto(robot: Robot) -> LoopsText:
    out, pairs = [], []
    for c in loops.closings(robot.system):
        label = robot.fresh(f"closedloop_{c.name}")
        names = (f"{label}_A", f"{label}_B")
        for name, body, at in zip(names, (c.first, c.second), (c.at_first, c.at_second), strict=True):
            out += _frame(robot, name, body, robot.in_link(body, at))
        pairs.append((*names, "6d" if c.weld else "3d"))
    return LoopsText(tuple(out), pairs=tuple(pairs))


def _onshape(robot: Robot) -> LoopsText:
    out, lost = [], []
    for j in _cuts(robot):
        how = loops.closed_by(j)
        if how == "weld":
            lost.append(Loss(j.name, "a fixed joint that closes a loop: a pair of frames is read as a ball"))
        for side, body, at in (("1", j.first, j.frame_first), ("2", j.second, j.frame_second)):
            X = robot.in_link(body, at)
            out += _frame(robot, f"closing_{j.name}_{side}", body, X)
            if how == "axis":
                out += _frame(robot, f"closing_{j.name}_{side}_z", body, Pose(X.R, X.p + UP * np.asarray(X.R, float)[:, 2]))
    return LoopsText(tuple(out), tuple(lost))


def _two_parents(robot: Robot) -> LoopsText:
    for name in robot.system.tree.cuts:
        robot.close(name)
    return LoopsText()


def _independent(acts: Any) -> dict[str, str]:
    return {"independent": "true" if acts.drive is not None else "false"}


DIALECTS: dict[str, Dialect] = {
    "plain": Dialect(_plain),
    "urdf+": Dialect(_loop, marks=_independent),
    "constraint": Dialect(_constraint),
    "loop_joint": Dialect(_loop_joint),
    "gepetto": Dialect(_gepetto, frozenset(["ball"])),
    "onshape": Dialect(_onshape),
    "two-parents": Dialect(_two_parents, needs_closed=True),
}


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
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        raise UsageError(f"there is no dialect '{dialect}' of URDF.", nearest(str(dialect), DIALECTS, "Dialects"))
    if zero not in ("start", "model"):
        raise UsageError(
            f"zero is 'start' (joints count from the start) or 'model' (as in the model), not '{zero}'.", name="zero", value=zero
        )
    chosen = DIALECTS[dialect]
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
    both = two_sided(d, lost)
    return RobotText(xml.tostring(root, encoding="unicode") + "\n", (*lost, *both), zeros, closing.beside(robot, acts))


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


def _joint(root: xml.Element, robot: Robot, j: RobotJoint, acts: Acts, chosen: Dialect) -> None:
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
    more = {"effort": numbers([max(given, default=UNLIMITED)]), "velocity": numbers([UNLIMITED if own.speed is None else own.speed])}
    if j.kind == "turn" and own.lower is None and own.upper is None:
        if given or own.speed is not None:
            xml.SubElement(e, "limit", more)
        return
    lower, upper = (-UNLIMITED if own.lower is None else own.lower, UNLIMITED if own.upper is None else own.upper)
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
