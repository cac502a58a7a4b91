"""Bodies of a compiled model: masses, sites as points, visible geoms as pictures."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import GROUND, Body, Description, Mat3, Pose, Visual, description, quaternion_rotation
from linkwright.rings.exchange.reading.mjcf.mujoco_compiler import CompiledMjcf, mujoco
from linkwright.rings.exchange.reading.mjcf.names import MjcfNames
from linkwright.rings.exchange.reading.mjcf.text import MeshFile
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.shapes import not_shown
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import placement, vector

SHOWN_GROUPS = 3  # groups from this one on are hidden in MuJoCo's viewer; collision shapes are there by custom
DRAWN_FILES = (".stl", ".obj", ".glb", ".gltf", ".ply")


class MeshPaths:
    """Paths of mesh files from the model's folder; those that are not found are reported together."""

    def __init__(self, own: Path):
        self.own = own
        self.missing: dict[str, list[str]] = {}

    def of(self, mesh: MeshFile, body: str) -> str | None:
        path, why = mesh.find()
        if path is None:
            self.missing.setdefault(why, []).append(f"{mesh.path} of {body}")
            return None
        return os.path.relpath(path, self.own)

    def report(self, notes: ImportNotes) -> None:
        not_shown(self.missing, notes)


def pose(at: Any, quaternion: Any) -> Pose:
    """A pose of a compiled model."""
    return Pose(quaternion_rotation(np.asarray(quaternion, float)), np.asarray(at, float))


def bodies(there: CompiledMjcf, names: MjcfNames, shapes: MeshPaths, notes: ImportNotes) -> list[Body]:
    """All bodies in the order of the model, the world first as ground."""
    m = there.model
    points: dict[int, list[description.Point]] = {}
    for i in range(m.nsite):
        X = placement(pose(m.site_pos[i], m.site_quat[i]))
        points.setdefault(int(m.site_bodyid[i]), []).append(description.Point(names.sites[i], X.at, X.rotation))
    pictures = _pictures(there, shapes, names, notes)
    out = []
    for i in range(m.nbody):
        mass, com, inertia = (None, (0.0, 0.0, 0.0), _NOTHING) if i == 0 else _mass(there, i)
        where = there.place(there.bodies_of_spec[i])
        name = GROUND if i == 0 else names.bodies[i]
        out.append(Body(name, tuple(points.get(i, ())), mass, com, inertia, where=where, visuals=tuple(pictures.get(i, ()))))
    return out


_NOTHING: Mat3 = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def _mass(there: CompiledMjcf, i: int) -> tuple[float, Any, Mat3]:
    m = there.model
    if m.body(i).name in there.unweighed:
        return 0.0, (0.0, 0.0, 0.0), _NOTHING
    R = quaternion_rotation(m.body_iquat[i])
    inertia = (R * m.body_inertia[i]) @ R.T
    inertia = 0.5 * (inertia + inertia.T)
    rows = vector(inertia[0]), vector(inertia[1]), vector(inertia[2])
    return float(m.body_mass[i]), vector(m.body_ipos[i]), rows


def compensated(there: CompiledMjcf, names: MjcfNames, d: Description, notes: ImportNotes) -> Description:
    """The description with a load at the center of each body that carries part of its weight by itself (gravcomp)."""
    m, loads = there.model, []
    changed: dict[str, Body] = {}
    for b in range(1, m.nbody):
        share, body = float(m.body_gravcomp[b]), d.body(names.bodies[b])
        if not share or not body.mass:
            continue
        point = "center"
        while any(p.name == point for p in body.points):
            point += "_"
        changed[body.name] = replace(body, points=(*body.points, description.Point(point, body.com)))
        loads.append(
            description.Load(f"{body.name}_gravcomp", body.name, point, vector(-share * float(body.mass) * np.array(d.gravity, float)))
        )
    if loads:
        notes.infer(f"{len(loads)} bodies carry their weight by themselves (gravcomp): constant loads at their centers.")
    return replace(d, bodies=tuple(changed.get(b.name, b) for b in d.bodies), loads=(*d.loads, *loads))


# -------------------------------------------------------------------- pictures


def _pictures(there: CompiledMjcf, shapes: MeshPaths, names: MjcfNames, notes: ImportNotes) -> dict[int, list[Visual]]:
    """Shapes by body: those that touch nothing where a body has some, else all that MuJoCo's viewer shows."""
    m = there.model
    by_body: dict[int, list[int]] = {}
    for g in range(m.ngeom):
        by_body.setdefault(int(m.geom_bodyid[g]), []).append(g)
    out: dict[int, list[Visual]] = {}
    for body, geoms in by_body.items():
        shown = [g for g in geoms if m.geom_group[g] < SHOWN_GROUPS] or geoms
        free = [g for g in shown if not m.geom_contype[g] and not m.geom_conaffinity[g]]
        for g in free or shown:
            made = _visual(there, g, shapes, names, notes)
            if made is not None:
                out.setdefault(body, []).append(made)
    return out


def _visual(there: CompiledMjcf, g: int, shapes: MeshPaths, names: MjcfNames, notes: ImportNotes) -> Visual | None:
    mj, m = mujoco(), there.model
    kind, size = int(m.geom_type[g]), [float(x) for x in m.geom_size[g]]
    X = pose(m.geom_pos[g], m.geom_quat[g])
    material = int(m.geom_matid[g])
    color = _color(m.mat_rgba[material] if material >= 0 else m.geom_rgba[g])
    geom = mj.mjtGeom
    if kind == geom.mjGEOM_MESH:
        return _mesh(there, g, X, color, shapes, names, notes)
    sizes = {
        int(geom.mjGEOM_SPHERE): ("sphere", (size[0], 0.0, 0.0)),
        int(geom.mjGEOM_CAPSULE): ("capsule", (size[0], 2.0 * size[1], 0.0)),
        int(geom.mjGEOM_CYLINDER): ("cylinder", (size[0], 2.0 * size[1], 0.0)),
        int(geom.mjGEOM_BOX): ("box", (2.0 * size[0], 2.0 * size[1], 2.0 * size[2])),
    }
    if kind not in sizes:
        if kind != geom.mjGEOM_PLANE:
            notes.drop("undrawn shape", m.geom(g).name)
        return None
    return Visual(sizes[kind][0], sizes[kind][1], placement(X), color=color)


def _color(rgba: Any) -> str:
    """#rrggbb of components from 0 to 1."""
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, float(x)))):02x}" for x in rgba[:3])


def _mesh(there: CompiledMjcf, g: int, X: Pose, color: str, shapes: MeshPaths, names: MjcfNames, notes: ImportNotes) -> Visual | None:
    """The picture of a mesh's file: MuJoCo has moved the mesh into its principal axes, which `mesh_pos` and `mesh_quat` undo."""
    m = there.model
    i = int(m.geom_dataid[g])
    source = there.meshes[i]
    if source is None or not source.path.lower().endswith(DRAWN_FILES):
        notes.drop("undrawn shape", m.mesh(i).name)
        return None
    path = shapes.of(source, names.bodies.get(int(m.geom_bodyid[g]), GROUND))
    if path is None:
        return None
    spec = there.meshes_of_spec[i]
    scale, turned = np.array(spec.scale, float), quaternion_rotation(np.array(spec.refquat, float)).T
    reference = Pose(turned, -scale * (turned @ np.array(spec.refpos, float)))
    X = X @ pose(m.mesh_pos[i], m.mesh_quat[i]).inverse() @ reference
    return Visual("mesh", vector(scale), placement(X), path, color)
