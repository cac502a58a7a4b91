"""`read_usd`: the description in a USD file with UsdPhysics, of a whole stage."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkwright.api import GROUND, Body, Joint, Placement, Vec3, Visual, files
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.poses import inverse, times
from linkwright.rings.exchange.reading.referenced_files import Folders
from linkwright.rings.exchange.reading.robot_draft import RobotDraft, names_of
from linkwright.rings.exchange.reading.shapes import drawable
from linkwright.rings.exchange.reading.usd.joints import add_joints, is_joint, joints_of, read_actuators, read_mimics
from linkwright.rings.exchange.reading.usd.masses import mass_of
from linkwright.rings.exchange.reading.usd.prims import Frames, UsdPrim
from linkwright.rings.exchange.reading.usd.stage import UsdStage, library, opened, quiet

STANDARD = 9.81  # m/s^2, of a scene that says nothing
SHAPES = ("Cube", "Sphere", "Cylinder", "Capsule")


def read_usd(path: str | os.PathLike[str], folders: Any = None, drives: Sequence[str] = ()) -> Imported:
    """The mechanism of a USD file; `drives`: joints that are driven. `folders` are those from which layers may be read besides its own."""
    with quiet(Path(path)):
        return _read(path, folders, drives)


def _read(path: str | os.PathLike[str], folders: Any, drives: Sequence[str]) -> Imported:
    notes = ImportNotes(files.shown(path), "USD")
    stage = opened(path, Folders.of(path, folders), notes)
    every = list(_prims(stage))
    default = stage.stage.GetDefaultPrim()
    draft = RobotDraft.of(notes, str(default.GetName()) if default else stage.path.stem)
    draft.gravity = _gravity(stage, every)
    frames = Frames(stage)
    bodies = [p for p in every if p.has("PhysicsRigidBodyAPI") and p.flag("physics:rigidBodyEnabled", True)]
    if not bodies:
        raise stage.error(
            "the stage has no rigid body (PhysicsRigidBodyAPI), so there is no mechanism in it. Export it with its physics.", name="bodies"
        )
    colliders = _colliders(every, bodies, frames)
    for p in bodies:
        _body(draft, p, frames, colliders[p.path])
    _shapes(draft, stage, every, frames)
    found = joints_of(draft, stage, [p for p in every if is_joint(str(p.prim.GetTypeName()))], frames)
    add_joints(draft, found)
    _hold(draft, bodies)
    _float(draft)
    read_mimics(draft, found)
    read_actuators(draft, every)
    draft.name_drives([draft.joint_names.of.get(x, x) for x in names_of(drives)])
    return draft.finish({name: b.start for name, b in draft.bodies.items()})


def _prims(stage: UsdStage) -> Any:
    """Active prims, those of instances too."""
    usd = library("Usd")
    for prim in usd.PrimRange.Stage(stage.stage, usd.TraverseInstanceProxies()):
        yield UsdPrim(stage, prim)


def _gravity(stage: UsdStage, every: Sequence[UsdPrim]) -> Vec3:
    """Gravity of the first scene; without one the standard, against the up axis."""
    down = (0.0, -1.0, 0.0) if stage.up == "Y" else (0.0, 0.0, -1.0)
    scene = next((p for p in every if str(p.prim.GetTypeName()) == "PhysicsScene"), None)
    size, direction = STANDARD, down
    if scene is not None:
        given, along = scene.number("physics:gravityMagnitude", -math.inf), scene.vector("physics:gravityDirection") or [0.0, 0.0, 0.0]
        length = math.sqrt(sum(x * x for x in along))
        if not math.isfinite(length):
            raise stage.error("physics:gravityDirection is not finite.", scene.prim, name="gravity")
        size = given * stage.meters if math.isfinite(given) and given >= 0.0 else STANDARD
        direction = (along[0] / length, along[1] / length, along[2] / length) if length > 1e-9 else down
    x, y, z = (size * d + 0.0 for d in direction)
    return (x, y, z)


# -------------------------------------------------------------------- bodies


def _body(draft: RobotDraft, p: UsdPrim, frames: Frames, shapes: Sequence[tuple[UsdPrim, Visual | None]]) -> None:
    frame = frames.of(p.prim)
    name = draft.links.add(p.name) if p.name not in draft.links.of else draft.links.fresh(p.name)
    draft.links.of[p.path] = name
    mass, com, tensor = mass_of(p, frame.scale, shapes, draft.notes)
    for what in ("physics:velocity", "physics:angularVelocity"):
        if any(p.vector(what) or ()):
            draft.notes.drop("speed of a body at the start", name)
    body = Body(name, mass=mass, com=com, inertia=tensor, start=frame.at, where=p.stage.where)
    draft.bodies[name] = body


def _colliders(every: Sequence[UsdPrim], bodies: Sequence[UsdPrim], frames: Frames) -> dict[str, list[tuple[UsdPrim, Visual | None]]]:
    """Shapes that collide, by the path of the body that they are in and in its axes; None for one that is not simple."""
    own, out = {p.path: p for p in bodies}, {p.path: [] for p in bodies}
    for p in every:
        if p.has("PhysicsCollisionAPI") and p.flag("physics:collisionEnabled", True):
            path = next((x for x in _upwards(p.prim) if x in own), "")
            if path:
                kind, frame = str(p.prim.GetTypeName()), frames.of(p.prim)
                made = _visual(p, kind, frame.scale) if kind in SHAPES else None
                back = inverse(frames.of(own[path].prim).at)
                out[path].append((p, made and replace(made, placement=times(back, frame.at, made.placement))))
    return out


def _upwards(prim: Any) -> Iterator[str]:
    """Paths of a prim and those around it."""
    while prim and str(prim.GetPath()) != "/":
        yield str(prim.GetPath())
        prim = prim.GetParent()


def _hold(draft: RobotDraft, bodies: Sequence[UsdPrim]) -> None:
    """Kinematic bodies are fixed at their place."""
    for p in bodies:
        if p.flag("physics:kinematicEnabled", False):
            name = draft.links.of[p.path]
            joint = draft.joint_names.fresh(f"{name}_held")
            draft.add_joint(Joint(joint, "fixed", GROUND, name, draft.bodies[name].start, where=p.stage.where))
            draft.notes.infer(f"the kinematic body '{name}' is fixed at its place in the file")


def _float(draft: RobotDraft) -> None:
    """Add a free joint for every group of bodies that no joint connects with the world."""
    group = {name: name for name in draft.bodies}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = name = group[group[name]]
        return name

    for j in draft.joints.values():
        group[root(j.first)] = root(j.second)
    for rod in draft.rods:
        (first, _), (second, _) = rod.between
        group[root(first)] = root(second)
    loose = []
    for body in draft.bodies:
        if root(body) != root(GROUND):
            group[root(body)] = root(GROUND)
            loose.append(body)
    for body in loose:
        name = draft.joint_names.fresh("base" if len(loose) == 1 else f"{body}_base")
        draft.add_joint(Joint(name, "free", GROUND, body, draft.bodies[body].start, where=draft.bodies[body].where))
        draft.notes.infer(f"nothing holds body '{body}' to the world: it floats on the free joint '{name}'")


# -------------------------------------------------------------------- shapes


def _shapes(draft: RobotDraft, stage: UsdStage, every: Sequence[UsdPrim], frames: Frames) -> None:
    """Simple shapes as pictures of the body that they are in; meshes are counted."""
    for p in every:
        kind = str(p.prim.GetTypeName())
        owner = _owner(draft, p.prim) if kind in (*SHAPES, "Mesh") else ""
        if not owner:
            continue
        if kind == "Mesh":
            draft.notes.drop("mesh")
            continue
        frame = frames.of(p.prim)
        made = _visual(p, kind, frame.scale)
        if made is not None:
            body = draft.bodies[owner]
            placed = replace(made, placement=times(inverse(body.start), frame.at, made.placement))
            draft.bodies[owner] = replace(body, visuals=drawable([*body.visuals, placed], draft.notes))


def _owner(draft: RobotDraft, prim: Any) -> str:
    """The body that a shape belongs to; empty for one of the world."""
    return next((draft.links.of[x] for x in _upwards(prim) if x in draft.links.of), "")


def _visual(p: UsdPrim, kind: str, scale: Sequence[float]) -> Visual | None:
    """A shape, along z in its own frame."""
    x, y, z = (p.stage.meters * k for k in scale)
    if kind == "Cube":
        edge = p.finite("size", 2.0)
        size: Vec3 = (edge * x, edge * y, edge * z)
        return Visual("box", size) if min(size) > 0.0 else None
    radius = p.finite("radius", 1.0 if kind in ("Sphere", "Cylinder") else 0.5)
    if kind == "Sphere":
        return Visual("sphere", (radius * x, 0.0, 0.0)) if radius * x > 0.0 else None
    height, axis = p.finite("height", 2.0 if kind == "Cylinder" else 1.0), p.text("axis", "Z").upper()
    along, across = {"X": (x, y), "Y": (y, z)}.get(axis, (z, x))
    turned = {"X": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)), "Y": ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))}
    size = (radius * across, height * along, 0.0)
    at = Placement((0.0, 0.0, 0.0), turned[axis]) if axis in turned else Placement()
    return Visual(kind.lower(), size, at) if min(size[:2]) > 0.0 else None
