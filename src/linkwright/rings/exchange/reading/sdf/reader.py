"""`read_sdf`: the description in an SDF file, of one model or a whole world."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkwright.api import GROUND, Body, Joint, Placement, UsageError, Vec3, Visual, description, files, nearest
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.contact_shapes import ContactRequest
from linkwright.rings.exchange.reading.names import usable
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.poses import as_vector, axes_along, inverse, times
from linkwright.rings.exchange.reading.referenced_files import Folders
from linkwright.rings.exchange.reading.robot_contacts import FRICTION, LinkShapes
from linkwright.rings.exchange.reading.robot_draft import RobotDraft, names_of
from linkwright.rings.exchange.reading.safe_xml import XmlElement, read_xml
from linkwright.rings.exchange.reading.sdf.frames import PoseGraph, canonical, link_of
from linkwright.rings.exchange.reading.sdf.includes import Includer
from linkwright.rings.exchange.reading.sdf.joints import SdfJoint, add_joints, joints_of, read_mimics
from linkwright.rings.exchange.reading.sdf.scopes import FrameRef, Scope, find, scope_of
from linkwright.rings.exchange.reading.sdf.tags import PLACES
from linkwright.rings.exchange.reading.shapes import ShapeFiles, color_of, drawable, inertia_about, shapes
from linkwright.rings.exchange.reading.tags import check_tags, only_a_picture

OLDEST, NEWEST = (1, 5), (1, 11)
GRAVITY = (0.0, 0.0, -9.8)  # of a world that says nothing: SDF's own default

MASS, MOMENT = 1.0, 1.0  # of a link that says nothing: SDF's own defaults


def read_sdf(
    path: str | os.PathLike[str], folders: Any = None, drives: Sequence[str] = (), only: str = "", contacts: Any = None
) -> Imported:
    """The mechanism of an SDF file; `only` names one of several models, `drives` the joints that are driven, `contacts` asks for contacts
    of collision elements, see `contact_shapes`."""
    place = Path(path)
    root = read_xml(path, ("sdf",))
    notes = ImportNotes(files.shown(path), f"SDF {root.get('version')}")
    _need_version(root, notes)
    own = Folders.of(place, folders)
    check_tags(root, PLACES, notes)
    root = Includer(own, place, notes).expanded(root)
    world = _world(root, only)
    draft = RobotDraft.of(notes, _title(world) or place.stem)
    draft.gravity = _gravity(world.element, draft.gravity)
    graph, shapes = PoseGraph(world), ShapeFiles(own, notes, os.path.realpath(place.parent))
    scopes, touching = list(world.inner()), LinkShapes(ContactRequest.of(contacts), notes)
    for scope in scopes:
        read_links(draft, scope, graph, shapes, touching)
    joints = [j for scope in scopes for j in joints_of(draft, scope, graph)]
    _float(draft, scopes, joints)
    add_joints(draft, joints, graph)
    read_mimics(draft, joints)
    read_constraints(draft, scopes)
    _points(draft, scopes, graph)
    draft.name_drives(names_of(drives))
    shapes.report()
    return touching.finished(draft.finish({name: b.start for name, b in draft.bodies.items()}))


def _need_version(root: XmlElement, notes: ImportNotes) -> None:
    found = re.fullmatch(r"(\d+)\.(\d+)", root.attribute("version"))
    if found is None:
        raise root.error(f"version is '{root.get('version')}'. It is written as 1.9.")
    version = (int(found[1]), int(found[2]))
    if version < OLDEST:
        raise root.error(f"SDF {root.get('version')} is not read: its axes are in the frame of the model. Convert it: gz sdf -p FILE.")
    if version > NEWEST:
        notes.warn(f"SDF {root.get('version')} is newer than 1.11, the newest version that is known here")


def _world(root: XmlElement, wanted: str) -> Scope:
    """The world of a file, or one around its models."""
    worlds = root.all("world")
    if len(worlds) > 1:
        raise worlds[1].error("a second <world>. One is read.")
    if worlds and root.all("model"):
        raise root.error("a <world> and a <model> next to it. A file has one of them.")
    place = worlds[0] if worlds else root
    models = place.all("model")
    if not models:
        raise root.error("the file has no <model>.", name="files")
    if wanted:
        known = [x.attribute("name") for x in models]
        if wanted not in known:
            raise UsageError(f"the file has no model '{wanted}'.", nearest(wanted, known, "Models"))
        place = replace(place, children=tuple(x for x in place if x.tag != "model" or x.get("name") == wanted))
    return _without_prefix(scope_of(place))


def _without_prefix(world: Scope) -> Scope:
    """Names of a file with one model do not begin with the model's."""
    if len(world.models) == 1:
        only = next(iter(world.models.values()))
        length = len(only.element.get("name")) + 2
        only.path = ""
        for inner in [x for m in only.models.values() for x in m.inner()]:
            inner.path = inner.path[length:]
    return world


def _title(world: Scope) -> str:
    return next(iter(world.models)) if len(world.models) == 1 else world.element.get("name")


def _gravity(place: XmlElement, standard: Any) -> Any:
    if place.tag != "world":
        return standard
    given = place.one("gravity")
    return GRAVITY if given is None else tuple(given.as_numbers(given.text, "gravity", 3))


def _float(draft: RobotDraft, scopes: Sequence[Scope], joints: Sequence[SdfJoint]) -> None:
    """Add a free joint for every group of links that no joint connects with the world."""
    group = {name: name for name in draft.bodies}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = name = group[group[name]]
        return name

    for j in joints:
        if j.element.get("type") != "gearbox":
            group[root(j.bodies[0])] = root(j.bodies[1])
    first = [link_of(canonical(s)) for s in scopes if not s.is_world and not s.static and (s.models or any(s.all("link")))]
    links = [draft.links.of[x.scope.full(x.name)] for x in first if x.name]
    loose = []
    for body in (*links, *draft.bodies):
        if root(body) != root(GROUND):
            group[root(body)] = root(GROUND)
            loose.append(body)
    for body in loose:
        name = draft.joint_names.fresh("base" if len(loose) == 1 else f"{body}_base")
        draft.add_joint(Joint(name, "free", GROUND, body, draft.bodies[body].start, where=draft.bodies[body].where))
        draft.notes.infer(f"nothing holds link '{body}' to the world: it floats on the free joint '{name}'")


def _points(draft: RobotDraft, scopes: Sequence[Scope], graph: PoseGraph) -> None:
    """Frames of the file as points of the links that they are attached to."""
    for scope in scopes:
        for name, _ in scope.all("frame"):
            frame = FrameRef(scope, name)
            owner = link_of(frame)
            body = GROUND if owner.is_world else draft.links.of[owner.scope.full(owner.name)]
            b = draft.bodies[body]
            at = times(inverse(b.start), graph.of(frame))
            taken = {p.name for p in b.points}
            label = draft.point_name(scope.full(name), taken)
            draft.bodies[body] = replace(b, points=(*b.points, description.Point(label, at.at, at.rotation)))


# Drake's elements in SDF: points held together, springs between points.
def read_constraints(draft: RobotDraft, scopes: Sequence[Scope]) -> None:
    for scope in scopes:
        for i, element in enumerate(scope.element.all("drake:ball_constraint")):
            bodies, at = _ends(draft, scope, element)
            name = draft.joint_names.fresh(usable(scope.full(f"ball_{i + 1}")))
            joint = Joint(name, "spherical", bodies[0], bodies[1], Placement(at[0]), Placement(at[1]), where=element.where)
            draft.add_joint(joint, closes=True)
        for i, element in enumerate(scope.element.all("drake:linear_spring_damper")):
            bodies, at = _ends(draft, scope, element)
            name = usable(scope.full(f"spring_{i + 1}"))
            ends = [draft.point(b, name, p) for b, p in zip(bodies, at, strict=True)]
            free, stiffness = (element.content(f"{element.tag}_{x}") for x in ("free_length", "stiffness"))
            draft.spring_damper(name, (ends[0], ends[1]), free, stiffness, element.content(f"{element.tag}_damping", 0.0))


def _ends(draft: RobotDraft, scope: Scope, element: XmlElement) -> tuple[list[str], list[Vec3]]:
    bodies, at = [], []
    for side, point in (("A", "p_AP"), ("B", "p_BQ")):
        given = element.need(f"{element.tag}_body_{side}")
        link = link_of(find(scope, given.text.strip(), given, "body"))
        bodies.append(GROUND if link.is_world else draft.links.of[link.scope.full(link.name)])
        place = element.need(f"{element.tag}_{point}")
        at.append(as_vector(place.as_numbers(place.text, point, 3)))
    if bodies[0] == bodies[1]:
        raise element.error(f"it connects '{bodies[0]}' with itself.", name=bodies[0])
    return bodies, at


# Links of an SDF file: mass data and shapes.


def read_links(draft: RobotDraft, scope: Scope, graph: PoseGraph, files: ShapeFiles, touching: LinkShapes) -> None:
    """Add the links of a model as bodies; those of a static one are part of the ground."""
    for name, link in scope.all("link"):
        full = scope.full(name)
        at = graph.of(FrameRef(scope, name))
        shown = _visuals(draft, scope, name, graph, files)
        if scope.static:
            draft.links.of[full] = GROUND
            ground = draft.bodies[GROUND]
            placed = tuple(replace(v, placement=times(at, v.placement)) for v in shown)
            point = description.Point(draft.links.fresh(full), at.at, at.rotation)
            draft.bodies[GROUND] = Body(GROUND, (*ground.points, point), visuals=(*ground.visuals, *placed))
        else:
            body = draft.links.add(full)
            mass, com, inertia = _inertial(draft, scope, name, graph)
            draft.bodies[body] = Body(body, (), mass, com, inertia, at, where=link.where, visuals=shown)
        _collisions(draft, scope, name, graph, files, touching)


def _collisions(draft: RobotDraft, scope: Scope, name: str, graph: PoseGraph, files: ShapeFiles, touching: LinkShapes) -> None:
    """Collision elements of a link, which are only read if contacts are asked for."""
    link = FrameRef(scope, name)
    body = draft.links.of[scope.full(name)]
    for collision in link.element.all("collision"):
        touching.left += 1
        geometry = None if touching.request is None else collision.one("geometry")
        at = times(inverse(graph.of(link)), graph.within(collision, scope, link)) if geometry is not None else Placement()
        at = times(graph.of(link), at) if body == GROUND else at
        for kind in () if geometry is None else geometry.children:
            if kind.tag == "plane":
                normal = kind.one("normal")
                along = (0.0, 0.0, 1.0) if normal is None else normal.as_numbers(normal.text, "normal", 3)
                touching.add(
                    collision.get("name"), body, "plane", (), times(at, axes_along("z", along)), collision.where, _friction(collision)
                )
            else:
                shape = None if kind.tag == "mesh" else _shape(kind, scope.full(name), files)
                touching.add_visual(collision.get("name"), body, kind.tag, shape, at, collision.where, _friction(collision))


def _friction(collision: XmlElement) -> float:
    """Friction of <surface><friction><ode><mu>."""
    at: XmlElement | None = collision
    for tag in ("surface", "friction", "ode"):
        at = None if at is None else at.one(tag)
    return FRICTION if at is None else at.content("mu", FRICTION)


def _inertial(draft: RobotDraft, scope: Scope, name: str, graph: PoseGraph) -> tuple:
    """Mass, center and inertia in the link's axes."""
    link = FrameRef(scope, name)
    found = link.element.one("inertial")
    if found is None:
        draft.notes.infer(f"link '{scope.full(name)}' has no <inertial>: SDF's default, 1 kg and 1 kg m^2 about its origin")
        return (MASS, (0.0, 0.0, 0.0), ((MOMENT, 0.0, 0.0), (0.0, MOMENT, 0.0), (0.0, 0.0, MOMENT)))
    if found.get("auto", "false") == "true":
        draft.notes.warn(f"link '{scope.full(name)}': inertia from its collision shapes (auto) is not computed. Give <mass> and <inertia>")
    mass = found.content("mass", MASS)
    if mass < 0.0:
        raise found.error(f"the mass of link '{name}' is {mass:g} kg. Mass is zero or more.", name=name, value=mass)
    at = times(inverse(graph.of(link)), graph.within(found, scope, link))
    tensor = found.one("inertia")
    default = {k: MOMENT if k[1] == k[2] else 0.0 for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}
    values = default if tensor is None else {k: tensor.content(k, x) for k, x in default.items()}
    return (mass, at.at, inertia_about(scope.full(name), at.rotation, values, draft.notes))


def _visuals(draft: RobotDraft, scope: Scope, name: str, graph: PoseGraph, files: ShapeFiles) -> tuple[Visual, ...]:
    link = FrameRef(scope, name)
    out = []
    for visual in link.element.all("visual"):
        with only_a_picture(visual, draft.notes):
            check_tags(visual, PLACES, draft.notes)
            geometry = visual.one("geometry")
            at = times(inverse(graph.of(link)), graph.within(visual, scope, link))
            found = [_shape(kind, scope.full(name), files) for kind in (geometry.children if geometry is not None else ())]
            out += shapes(found, at, _color(visual), draft.notes)
    return drawable(out, draft.notes)


def _shape(kind: XmlElement, link: str, files: ShapeFiles) -> Visual | None:
    if kind.tag == "box":
        size = kind.need("size")
        x, y, z = size.as_numbers(size.text, "size", 3)
        return Visual("box", (x, y, z))
    if kind.tag in ("cylinder", "capsule"):
        return Visual(kind.tag, (kind.content("radius"), kind.content("length"), 0.0))
    if kind.tag == "sphere":
        return Visual("sphere", (kind.content("radius"), 0.0, 0.0))
    if kind.tag == "mesh":
        scale = kind.one("scale")
        x, y, z = (1.0, 1.0, 1.0) if scale is None else scale.as_numbers(scale.text, "scale", 3)
        file = files.mesh(kind.named_text("uri"), link)
        return None if file is None else Visual("mesh", (x, y, z), file=file)
    return None


def _color(visual: XmlElement) -> str:
    material = visual.one("material")
    for tag in ("diffuse", "ambient"):
        found = None if material is None else material.one(tag)
        if found is not None:
            parts = found.text.split()
            return color_of(found.as_numbers(found.text, tag, len(parts))) if len(parts) in (3, 4) else ""
    return ""
