"""MuJoCo's own reading of a model: its specification for names and intent, its compiled form for numbers.

Meshes are handed over only where a body's inertia comes from them; all others are replaced by a small tetrahedron, of which the compiler
needs nothing but its frame. So a missing mesh costs a picture, and large ones no time.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from linkwright.api import ModelError, Source, UsageError, files, listing
from linkwright.properties import cached_property
from linkwright.rings.exchange.reading.mjcf.text import MeshFile, MjcfText
from linkwright.rings.exchange.reading.notes import ImportNotes

EDGES = (0.1, 0.1, 0.4)  # m: of the tetrahedron in place of a mesh; slender, so that a capsule fits around it
LINE = re.compile(r"line (\d+)")


def mujoco() -> Any:
    """The package, or a message that says how to install it."""
    try:
        return import_module("mujoco")
    except ImportError:
        raise UsageError("reading MJCF needs the package mujoco: pip install 'linkwright[mjcf]'.") from None


@dataclass(frozen=True)
class CompiledMjcf:
    """Specification and model of a file, places of its elements, and paths of the meshes of its geoms."""

    spec: Any
    model: Any
    text: MjcfText = field(repr=False)
    meshes: tuple[MeshFile | None, ...]  # of the model's meshes; None where a mesh has no file
    unweighed: frozenset[str] = frozenset()  # bodies whose mass would come from meshes that are missing

    @cached_property
    def bodies_of_spec(self) -> dict[int, Any]:
        return {b.id: b for b in self.spec.bodies}

    @cached_property
    def joints_of_spec(self) -> dict[int, Any]:
        return {j.id: j for j in self.spec.joints}

    @cached_property
    def meshes_of_spec(self) -> dict[int, Any]:
        return {x.id: x for x in self.spec.meshes}

    def place(self, element: Any) -> Source | None:
        """The line of an element of the specification; None where it is not known."""
        found = LINE.search(getattr(element, "info", "") or "")
        return self.text.place(int(found[1])) if found and not self.text.models else None


def compiled(text: MjcfText, notes: ImportNotes) -> CompiledMjcf:
    """Compile a text."""
    with _warnings_as_notes(mujoco(), notes):
        return _compiled(mujoco(), text, notes)


@contextmanager
def _warnings_as_notes(mj: Any, notes: ImportNotes) -> Generator[None]:
    """Take MuJoCo's warnings into the report; by itself it writes them into a file in the current folder, or raises them as warnings."""
    before, said = mj.get_mju_user_warning(), list[str]()
    mj.set_mju_user_warning(said.append)
    try:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always", UserWarning)
            yield
    finally:
        mj.set_mju_user_warning(before)
        for text in dict.fromkeys(" ".join(str(x).split()) for x in (*said, *(w.message for w in raised))):
            notes.warn(f"MuJoCo: {text}")


def _compiled(mj: Any, text: MjcfText, notes: ImportNotes, damaged: frozenset[str] = frozenset()) -> CompiledMjcf:
    """Compile a text without the meshes in `damaged`; where it fails, those that fail by themselves are left out once."""
    try:
        spec = mj.MjSpec.from_string(text.text, include=dict(text.models)) if text.models else mj.MjSpec.from_string(text.text)
    except (ValueError, RuntimeError) as problem:
        raise _refused(problem, text) from None
    named = {mesh.name: text.meshes.get(mesh.file) for mesh in spec.meshes}
    unweighed = _with_placeholders(mj, spec, text, notes, damaged)
    try:
        model = spec.compile()
    except (ValueError, RuntimeError) as problem:
        found = frozenset() if damaged else _damaged(mj, spec, notes, text)
        if not found:
            raise _refused(problem, text) from None
        return _compiled(mj, text, notes, found)
    _finite(model, text)
    meshes = tuple(named.get(model.mesh(i).name) for i in range(model.nmesh))
    return CompiledMjcf(spec, model, text, meshes, frozenset(unweighed))


def _refused(problem: Exception, text: MjcfText) -> ModelError:
    """MuJoCo's message with the line of the file instead of that of the text it was given."""
    message = "; ".join(" ".join(x.split()) for x in str(problem).splitlines() if x.strip())
    found = LINE.search(message)
    where = text.place(int(found[1])) if found else text.places[0] if text.places else None
    message = re.sub(r"^(XML )?Error:\s*", "", re.sub(r",?\s*line \d+", "", message))
    return ModelError(f"MuJoCo does not accept the model: {message.rstrip('. ')}.", where if where is None or found else Source(where.file))


# -------------------------------------------------------------------- meshes


def _damaged(mj: Any, spec: Any, notes: ImportNotes, text: MjcfText) -> frozenset[str]:
    """Meshes handed over that MuJoCo cannot read even by themselves."""
    out = []
    for handed, content in spec.assets.items():
        if handed not in text.meshes:
            continue
        alone = mj.MjSpec()
        alone.assets[handed] = content
        alone.add_mesh(name="mesh", file=handed)
        alone.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_MESH, meshname="mesh")
        try:
            alone.compile()
        except (ValueError, RuntimeError) as problem:
            out.append(handed)
            notes.warn(f"the mesh {text.meshes[handed].path} cannot be read: {' '.join(str(problem).split()).removeprefix('Error: ')}")
    return frozenset(out)


def _with_placeholders(mj: Any, spec: Any, text: MjcfText, notes: ImportNotes, damaged: frozenset[str]) -> list[str]:
    """Replace meshes that give no inertia, and hand over the others; names of bodies that lose their mass by missing meshes."""
    weighing = _weighing(mj, spec)
    missing: set[str] = set()
    for mesh in spec.meshes:
        source = text.meshes.get(mesh.file)
        if source is None:
            continue  # vertices are in the text
        handed = mesh.file
        content = _content(source) if mesh.name in weighing and handed not in damaged else None
        if content is None:
            missing |= {mesh.name} & weighing
            mesh.file, mesh.content_type = "", ""
            mesh.uservert, mesh.userface, mesh.usernormal = _placeholder(mesh.scale), [], []
            mesh.usertexcoord, mesh.userfacenormal, mesh.userfacetexcoord = [], [], []
        else:
            spec.assets[handed] = content
    if not missing:
        return []
    return _without_mass(mj, spec, missing, notes)


def _placeholder(scale: Any) -> list[float]:
    """Corners of a tetrahedron that has its size after scaling."""
    x, y, z = (edge / value if value else edge for edge, value in zip(EDGES, np.asarray(scale, float), strict=True))
    return [0.0, 0.0, 0.0, x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z]


def _weighing(mj: Any, spec: Any) -> set[str]:
    """Meshes from which the inertia of a body is computed."""
    always = spec.compiler.inertiafromgeom == mj.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    out = set()
    for body in spec.bodies:
        if always or not body.explicitinertial:
            out |= {g.meshname for g in body.geoms if g.type == mj.mjtGeom.mjGEOM_MESH}
    return out | {g.meshname for g in spec.geoms if g.meshname and g.type != mj.mjtGeom.mjGEOM_MESH}  # a primitive fitted to a mesh


def _content(mesh: MeshFile) -> bytes | None:
    path, _ = mesh.find()
    most_bytes = 100_000_000  # of a mesh from which an inertia is computed
    return None if path is None else files.read_regular(path, most_bytes, "a mesh of that size is not read")


def _without_mass(mj: Any, spec: Any, missing: set[str], notes: ImportNotes) -> list[str]:
    """Take the geoms of missing meshes out of the masses; bodies that have no other get a placeholder."""
    lighter, lost = [], []
    always = spec.compiler.inertiafromgeom == mj.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    least = 1e-6  # kg and kg m^2 of a body whose mesh is missing, while it is compiled
    for body in spec.bodies:
        geoms = [g for g in body.geoms if g.meshname in missing]
        if not geoms or (body.explicitinertial and not always):
            continue
        for g in geoms:
            g.mass = 0.0
        others = [g for g in body.geoms if g.meshname not in missing and g.mass != 0.0 and g.density != 0.0]
        lighter.append(body.name or "a body without a name")
        if not others and body.name != "world":
            body.explicitinertial = True
            body.mass, body.ipos, body.inertia = least, [0.0, 0.0, 0.0], [least, least, least]
            lost.append(body.name)
    if lighter:
        notes.warn(
            f"the mass of {listing(lighter, 4)} leaves out missing meshes ({listing(sorted(missing), 4)}): allow "
            "their folder (folders=[...], --folder), or give the bodies an <inertial>"
        )
    return lost


def _finite(model: Any, text: MjcfText) -> None:
    names = (
        "body_pos",
        "body_quat",
        "body_mass",
        "body_inertia",
        "body_ipos",
        "jnt_pos",
        "jnt_axis",
        "qpos0",
        "qpos_spring",
        "eq_data",
        "key_qpos",
    )
    largest = 1e12  # of a number that is used
    for name in names:
        values = np.asarray(getattr(model, name))
        if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > largest:
            raise ModelError(
                f"the model has numbers that are not finite or above {largest:g} ({name}).", Source(text.places[0].file), name="model"
            )
