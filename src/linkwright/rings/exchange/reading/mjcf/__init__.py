"""MJCF, the models of MuJoCo: names and intent from its specification, numbers from its compiler, loops understood afterwards."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright.api import Description, UsageError, files, nearest
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.contact_shapes import ContactRequest
from linkwright.rings.exchange.reading.mjcf.bodies import MeshPaths, bodies, compensated
from linkwright.rings.exchange.reading.mjcf.closures import closures
from linkwright.rings.exchange.reading.mjcf.contacts import leave_contacts, touching
from linkwright.rings.exchange.reading.mjcf.drives import acting_joints, drives
from linkwright.rings.exchange.reading.mjcf.forces import forces
from linkwright.rings.exchange.reading.mjcf.joints import MjcfTree, is_hinge_or_slide, poses, tree
from linkwright.rings.exchange.reading.mjcf.mujoco_compiler import CompiledMjcf, compiled, mujoco
from linkwright.rings.exchange.reading.mjcf.names import MjcfNames, names_of
from linkwright.rings.exchange.reading.mjcf.rotors import rotors, with_rotors
from linkwright.rings.exchange.reading.mjcf.text import read_text
from linkwright.rings.exchange.reading.names import usable
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.referenced_files import Folders
from linkwright.rings.exchange.reading.structure_recognition.closure_gaps import gaps
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import placement, vector

__all__ = ["read_mjcf"]

REFERENCE = "qpos0"


# From an MJCF file to a description.


def read_mjcf(path: str | os.PathLike[str], folders: Any = None, keyframe: str | int | None = None, contacts: Any = None) -> Imported:
    """Read an MJCF file: its description, closures as points and fixed joints, and a report.

    `folders` are those from which included files and meshes may be read beside its own. `keyframe` names the start, or counts from 0;
    "qpos0" is the position without a keyframe. By default the first keyframe is taken, if there is one. `contacts` asks for
    contacts of geoms, see `contact_shapes`.
    """
    mujoco()
    notes = ImportNotes(files.shown(path), "MJCF")
    places, request = Folders.of(path, folders), ContactRequest.of(contacts)
    there = compiled(read_text(path, places, notes, contacts=request is not None), notes)
    names = names_of(there.model, notes, acting_joints(there))
    found = tree(there, names)
    carried = rotors(there.model, notes)
    with_rotors(found, carried)
    closing = closures(there, names, found, notes)
    key = _keyframe(there, keyframe)
    shapes = MeshPaths(places.own)
    made = bodies(there, names, shapes, notes)
    if request is None:
        leave_contacts(there, notes)
    shapes.report(notes)
    control = np.array(there.model.key_ctrl[key], float) if key is not None else np.zeros(0)
    acting, driven = forces(there, names, found, carried, notes), drives(there, names, found, control, notes)
    _other_losses(there, names, notes)
    m = there.model
    gravity = np.zeros(3) if m.opt.disableflags & mujoco().mjtDisableBit.mjDSBL_GRAVITY else m.opt.gravity
    d = Description(
        name=usable(there.spec.modelname or os.path.splitext(os.path.basename(os.fspath(path)))[0]),
        bodies=(*made, *found.links),
        joints=(*found.order, *closing.joints),
        gravity=vector(gravity),
        parameters=tuple(driven.parameters),
        rods=tuple(closing.rods),
        couplings=tuple(closing.couplings),
        springs=(*acting.springs, *driven.springs),
        dampers=tuple(acting.dampers),
        frictions=tuple(acting.frictions),
        stops=tuple(acting.stops),
        loads=tuple(driven.loads),
        cylinders=tuple(driven.cylinders),
        drives=tuple(driven.drives.values()),
    )
    d = compensated(there, names, d, notes)
    d = d if request is None else touching(there, names, d, request, notes)
    d = _started(there, names, found, d, [j.name for j in closing.joints], key, notes)
    return Imported(d, tuple(j.name for j in closing.joints), notes.report(), start_given=True)


def _keyframe(there: CompiledMjcf, wanted: str | int | None) -> int | None:
    m = there.model
    every = [m.key(k).name for k in range(m.nkey)]
    if wanted is None:
        return 0 if every else None
    if wanted == REFERENCE:
        return None
    if isinstance(wanted, int) and not isinstance(wanted, bool) and 0 <= wanted < len(every):
        return wanted
    if wanted in every:
        return every.index(wanted)
    raise UsageError(f"there is no keyframe '{wanted}'.", nearest(str(wanted), [*every, REFERENCE], "Keyframes"))


def _started(
    there: CompiledMjcf, names: MjcfNames, found: MjcfTree, d: Description, closing: list[str], key: int | None, notes: ImportNotes
) -> Description:
    """The description in the pose of a keyframe, with its speeds; gaps of the loops at qpos0 and there."""
    m = there.model
    at_reference = _placed(d, poses(there, found, np.array(m.qpos0, float)))
    if key is None:
        return at_reference
    here = _placed(d, poses(there, found, np.array(m.key_qpos[key], float)))
    name = m.key(key).name or str(key)
    if closing:
        open_by = [max((x for _, x in gaps(one, closing)[0]), default=0.0) for one in (here, at_reference)]
        notes.infer(f"the start is keyframe '{name}': its loops are open by up to {open_by[0]:.2g} m ({open_by[1]:.2g} m at qpos0).")
    else:
        notes.infer(f"the start is keyframe '{name}'.")
    speeds = np.array(m.key_qvel[key], float)
    if not speeds.any():
        return here
    if closing or d.couplings:
        notes.lose(f"the speeds of keyframe '{name}', which the loops need not allow")
        return here
    return replace(here, start=tuple(_speeds(m, found, speeds)))


def _speeds(m: Any, found: MjcfTree, v: np.ndarray) -> Any:
    """Speeds of hinges and slides by channel."""
    for j, joint in found.moving.items():
        if is_hinge_or_slide(m, j):
            yield f"{joint.name}.v", float(v[int(m.jnt_dofadr[j])])


def _placed(d: Description, at: dict[str, Any]) -> Description:
    return replace(d, bodies=tuple(replace(b, start=placement(at[b.name])) for b in d.bodies))


def _other_losses(there: CompiledMjcf, names: MjcfNames, notes: ImportNotes) -> None:
    m = there.model
    for b in range(1, m.nbody):
        if m.body_mocapid[b] >= 0:
            notes.infer(f"the mocap body '{names.bodies[b]}' is fixed at its place in the file.")
    if m.opt.density or m.opt.viscosity:
        notes.lose("the fluid around the bodies (density, viscosity)", mechanism=True)
