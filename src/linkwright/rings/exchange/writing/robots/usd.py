"""A mechanism as USD text with UsdPhysics: rigid bodies at their poses, joints with loops among them, a scene with its gravity.

Joints of the tree belong to the articulation, those that close loops are excluded from it. Ball and universal joints exist there; others
are chains of hinges and sliders. Springs and dampers in joints are drives that hold a target. Attributes of UsdPhysics have single
precision, so the same numbers follow in double precision under `linkwright:`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from linkwright.api import Pose, System, Visual, array, call_explained, files, spatial
from linkwright.api import elements as element_kinds
from linkwright.rings.exchange.writing import loops
from linkwright.rings.exchange.writing.losses import Loss, tree_losses, two_sided
from linkwright.rings.exchange.writing.robots.joint_properties import Acts, JointActs, collected
from linkwright.rings.exchange.writing.robots.links_and_joints import Robot, RobotJoint, RobotLink
from linkwright.rings.exchange.writing.robots.prepared_system import RobotText, prepared
from linkwright.rings.exchange.writing.visuals import Shapes, bars, rgba

WHOLE = frozenset(["ball", "universal"])
TYPES = {"turn": "Revolute", "slide": "Prismatic", "ball": "Spherical", "fixed": "Fixed", "universal": ""}
IDENTIFIER = re.compile(r"[^A-Za-z0-9_]")
DEGREES = 180.0 / math.pi
JOINTS, SCENE = "joints", "scene"  # prims besides the bodies
LOCKED = ("transX", "transY", "transZ", "rotZ")  # of a universal joint


@call_explained
def usd_text(model: System | loops.HasSystem, *, floor: float = 0.0) -> RobotText:
    """The mechanism as the text of a .usda file. Joints are zero at the start of the model. Bodies below `floor`, a share of the
    mechanism's inertia, are raised to it."""
    system, start = prepared(model, "USD", floor, closing=False)
    robot = Robot.of(system, start, spatial.IDENTITY, WHOLE, floor)
    for name in system.tree.cuts:
        robot.close(name)
    writer = _Writer(robot, collected(robot, names_drives=True), Shapes(system.description, None, ()))
    text = writer.text()
    zeros = {j.name: j.zero for j in robot.joints if j.entry is not None}
    lost = (*tree_losses(model, matrix=False), *writer.acts.lost, *writer.lost, *writer.shapes.lost)
    return RobotText(text, (*lost, *two_sided(system.description, lost)), zeros)


class _Writer:
    """The prims of one mechanism."""

    def __init__(self, robot: Robot, acts: Acts, shapes: Shapes):
        self.robot, self.acts, self.shapes = robot, acts, shapes
        self.lost: list[Loss] = []
        self.paths: dict[str, str] = {}
        self.taken: dict[str, set[str]] = {}
        self.ground = robot.system.description.bodies[0].name
        self.top = _identifier(robot.system.description.name)
        d = robot.system.description
        lines = [x for x in (*d.springs, *d.dampers) if getattr(x, "between", None) and not element_kinds.joint_of(x)]
        self.lost += [Loss(x.name, f"a {x.word} between two points") for x in lines if "drake" in x.formats]

    def text(self) -> str:
        d = self.robot.system.description
        about = f"Written by {files.OWNER}. {d.name}: {d.about or 'a mechanism'}.".replace('"', "'").replace("\n", " ").replace("\\", "/")
        head = ["#usda 1.0", "(", f'    defaultPrim = "{self.top}"', f'    doc = "{about}"', "    kilogramsPerUnit = 1"]
        head += ["    metersPerUnit = 1", '    upAxis = "Z"', ")", ""]
        links = [x for x in (*self.robot.links.values(), *self.robot.inner.values()) if x.name != self.ground]
        for link in links:
            self.paths[link.name] = self._fresh(f"/{self.top}", link.name)
        for joint in self.robot.joints:
            if joint.kind != "free":
                self.paths[f"joint {joint.name}"] = self._fresh(f"/{self.top}/{JOINTS}", joint.name)
        body = [line for link in links for line in self._link(link)]
        body += self._drawn(self.ground, self.robot.links[self.ground].X_LB) if self.ground in self.robot.links else []
        joints = [line for j in self.robot.joints if j.kind != "free" for line in self._joint(j)]
        inside = [*_scene(d.gravity), *body, *_block(f'def Scope "{JOINTS}"', joints)]
        return "\n".join([*head, *_block(f'def Xform "{self.top}"', inside, ["PhysicsArticulationRootAPI"])]) + "\n"

    def _fresh(self, scope: str, wanted: str) -> str:
        """A path that no other prim has."""
        name, n, taken = _identifier(wanted), 1, self.taken.setdefault(scope, {JOINTS, SCENE})
        while name in taken:
            n += 1
            name = f"{_identifier(wanted)}_{n}"
        taken.add(name)
        return f"{scope}/{name}"

    # ------------------------------------------------------------ bodies

    def _link(self, link: RobotLink) -> list[str]:
        R, p = np.asarray(link.X_WL.R, float), np.asarray(link.X_WL.p, float)
        lines = [
            f"quatd xformOp:orient = {_tuple(_quaternion(R))}",
            f"double3 xformOp:translate = {_tuple(p)}",
            'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]',
            *self._mass(link),
        ]
        if link.body:
            lines += self._drawn(link.body, link.X_LB)
        name = self.paths[link.name].rpartition("/")[2]
        return _block(f'def Xform "{name}"', lines, ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])

    def _mass(self, link: RobotLink) -> Iterator[str]:
        solid = link.solid
        mass = 0.0 if solid is None else float(solid.mass)
        yield from _exact("float", "physics:mass", [mass])
        if not mass or solid is None:
            yield "custom bool linkwright:massless = 1"
            self.lost.append(Loss(link.name, "its mass is zero there, which other programs compute from shapes: give a floor", "reader"))
            return
        inertia = np.asarray(solid.inertia, float)
        moments, axes = np.linalg.eigh(inertia)
        moments = np.maximum(moments, 0.0)
        if np.linalg.det(axes) < 0.0:
            axes[:, 2] = -axes[:, 2]
        yield from _exact("point3f", "physics:centerOfMass", link.X_LB.point(solid.com))
        if not moments.any():
            yield "custom bool linkwright:point = 1"
        yield from _exact("float3", "physics:diagonalInertia", moments)
        yield f"quatf physics:principalAxes = {_tuple(_quaternion(axes))}"
        tensor = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        yield f"custom double[] linkwright:inertia = [{', '.join(_number(x) for x in tensor)}]"

    def _drawn(self, body: str, X_LB: Pose) -> list[str]:
        out: list[str] = []
        for k, shape in enumerate(self.shapes.of(body) or bars(self.robot.system, body)):
            out += _shape(f"{_identifier(body)}_shape_{k + 1}", shape, X_LB)
        return out

    # ------------------------------------------------------------ joints

    def _joint(self, j: RobotJoint) -> list[str]:
        own = self.acts.of(j.name)
        ends = [self.robot.links.get(x) or self.robot.inner[x] for x in (j.parent, j.child)]
        lines = []
        X = j.X_WJ @ Pose(_axes(j), np.zeros(3))
        for i, link in enumerate(ends):
            at = X if link.name == self.ground else link.X_WL.inverse() @ X
            if link.name != self.ground:
                lines.append(f"rel physics:body{i} = <{self.paths[link.name]}>")
            lines += _exact("point3f", f"physics:localPos{i}", at.p)
            lines += _exact("quatf", f"physics:localRot{i}", _quaternion(np.asarray(at.R, float)))
        schemas: list[str] = []
        if j.closes:
            lines.append("uniform bool physics:excludeFromArticulation = 1")
        if j.kind == "universal":
            for free in LOCKED:
                schemas.append(f"PhysicsLimitAPI:{free}")
                lines += [f"float limit:{free}:physics:high = -1", f"float limit:{free}:physics:low = 1"]
        if j.kind in ("turn", "slide"):
            lines += ['uniform token physics:axis = "X"', *self._acting(j, own, schemas)]
        name = self.paths[f"joint {j.name}"].rpartition("/")[2]
        return _block(f'def Physics{TYPES[j.kind]}Joint "{name}"', lines, schemas)

    def _acting(self, j: RobotJoint, own: JointActs, schemas: list[str]) -> Iterator[str]:
        """Limits, drives, rotor, friction and mimic of a joint of one coordinate."""
        turning = j.kind == "turn"
        size, token = (DEGREES, "angular") if turning else (1.0, "linear")
        for name, value in (("lowerLimit", own.lower), ("upperLimit", own.upper)):
            if value is not None:
                yield from _exact("float", f"physics:{name}", [size * value])
        if own.speed is not None:
            yield from _exact("custom float", "physxJoint:maxJointVelocity", [size * own.speed])
        if own.stop is not None:
            self.lost.append(Loss(j.name, "the stiffness of a stop"))
        efforts = [abs(float(x)) for x in (own.drive.limits if own.drive is not None else ()) if x is not None]
        if own.stiffness or own.damping or own.drive is not None:
            schemas.append(f"PhysicsDriveAPI:{token}")
            at = f"drive:{token}:physics"
            yield from _exact("float", f"{at}:stiffness", [own.stiffness / size])
            yield from _exact("float", f"{at}:damping", [own.damping / size])
            yield from _exact("float", f"{at}:targetPosition", [size * own.reference])
            if efforts:
                yield from _exact("float", f"{at}:maxForce", [max(efforts)])
            yield f'uniform token {at}:type = "force"'
            if own.drive is None:
                yield "custom bool linkwright:passive = 1"
        if own.armature:
            for name in ("physxJoint:armature", "newton:armature"):
                yield from _exact("custom float", name, [own.armature])
        if own.friction:
            yield from _exact("custom float", "mjc:frictionloss", [own.friction])
        if own.leader:
            yield from self._mimic(j, own, size, schemas)

    def _mimic(self, j: RobotJoint, own: JointActs, size: float, schemas: list[str]) -> Iterator[str]:
        leader = next(x for x in self.robot.joints if x.name == own.leader)
        path = self.paths[f"joint {leader.name}"]
        schemas.append("NewtonMimicAPI")
        yield from _exact("custom float", "newton:mimicCoef0", [size * own.offset])
        yield from _exact("custom float", "newton:mimicCoef1", [own.multiplier])
        yield f"custom rel newton:mimicJoint = <{path}>"
        if leader.kind == j.kind:
            axis = "rotX" if j.kind == "turn" else "transX"
            schemas.append(f"PhysxMimicJointAPI:{axis}")
            yield from _exact("custom float", f"physxMimicJoint:{axis}:gearing", [-own.multiplier])
            yield from _exact("custom float", f"physxMimicJoint:{axis}:offset", [-size * own.offset])
            yield f"custom rel physxMimicJoint:{axis}:referenceJoint = <{path}>"


def _axes(j: RobotJoint) -> np.ndarray:
    """Axes of the joint's frame with x along its axis, y along the second axis of a universal joint."""
    if j.kind not in ("turn", "slide", "universal"):
        return np.eye(3)
    x = np.asarray(j.axis, float) / np.linalg.norm(j.axis)
    y = np.asarray(j.axis2, float) if j.kind == "universal" else np.cross(np.eye(3)[int(np.argmin(np.abs(x)))], x)
    y = y - (x @ y) * x
    y /= np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _scene(gravity: Sequence[Any]) -> list[str]:
    g = np.array([float(x) for x in gravity])
    size = float(np.linalg.norm(g))
    direction = g / size if size else np.array([0.0, 0.0, -1.0])
    lines = [*_exact("vector3f", "physics:gravityDirection", direction), *_exact("float", "physics:gravityMagnitude", [size])]
    return _block(f'def PhysicsScene "{SCENE}"', lines)


def _shape(name: str, shape: Visual, X_LB: Pose) -> list[str]:
    at = shape.placement
    X = X_LB @ Pose(array(at.rotation).astype(float), array(at.at).astype(float))
    lines = [f"quatd xformOp:orient = {_tuple(_quaternion(np.asarray(X.R, float)))}", f"double3 xformOp:translate = {_tuple(X.p)}"]
    ops = ["xformOp:translate", "xformOp:orient"]
    a, b, c = (float(x) for x in shape.size)
    kind = {"box": "Cube", "sphere": "Sphere", "cylinder": "Cylinder", "capsule": "Capsule"}[shape.shape]
    if kind == "Cube":
        lines += ["double size = 1", f"float3 xformOp:scale = {_tuple([a, b, c])}"]
        ops.append("xformOp:scale")
    else:
        lines.append(f"double radius = {_number(a)}")
        if kind != "Sphere":
            lines += [f"double height = {_number(b)}", 'uniform token axis = "Z"']
    r, g, b, _ = rgba(shape.color)
    lines.append(f"color3f[] primvars:displayColor = [{_tuple([r, g, b])}]")
    order = ", ".join(f'"{x}"' for x in ops)
    return _block(f'def {kind} "{name}"', [*lines, f"uniform token[] xformOpOrder = [{order}]"])


# -------------------------------------------------------------------- text


def _block(head: str, lines: Sequence[str], schemas: Sequence[str] = ()) -> list[str]:
    applied = ", ".join(f'"{x}"' for x in schemas)
    meta = ["(", f"    prepend apiSchemas = [{applied}]", ")"] if schemas else []
    return [" ".join([head, "("]) if schemas else head, *meta[1:], "{", *(f"    {x}" for x in lines), "}"]


def _exact(kind: str, name: str, values: Any) -> Iterator[str]:
    """An attribute in single precision, and in double precision where that says more."""
    numbers = [float(x) + 0.0 for x in values]
    yield f"{kind} {name} = {_number(numbers[0]) if len(numbers) == 1 else _tuple(numbers)}"
    if any(float(str(np.float32(x))) != x for x in numbers):
        double = "double" if len(numbers) == 1 else "double[]"
        text = _number(numbers[0]) if len(numbers) == 1 else f"[{', '.join(_number(x) for x in numbers)}]"
        yield f"custom {double} linkwright:{name} = {text}"


def _number(x: float) -> str:
    return repr(float(x) + 0.0).removesuffix(".0")


def _tuple(values: Any) -> str:
    return f"({', '.join(_number(x) for x in values)})"


def _identifier(name: str) -> str:
    """A name as prims may have it."""
    plain = IDENTIFIER.sub("_", name) or "unnamed"
    return f"_{plain}" if plain[0].isdigit() else plain


def _quaternion(R: np.ndarray) -> np.ndarray:
    """w, x, y, z of a rotation matrix, w not negative."""
    K = np.array([
        [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
        [0.0, R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
        [0.0, 0.0, R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
        [0.0, 0.0, 0.0, R[2, 2] - R[0, 0] - R[1, 1]],
    ])  # fmt: skip
    _, V = np.linalg.eigh(K + np.triu(K, 1).T)
    q = V[:, -1]
    return -q if q[0] < 0.0 else q
