"""`read_sdf`: the description in an SDF file, of one model or a whole world."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.errors import UsageError, nearest
from linkwright.model.description import GROUND, Joint, Point
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.draft import RobotDraft, names_of
from linkwright.rings.exchange.reading.folders import Folders
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.poses import inverse, times
from linkwright.rings.exchange.reading.sdf.constraints import read_constraints
from linkwright.rings.exchange.reading.sdf.frames import PoseGraph, canonical, link_of
from linkwright.rings.exchange.reading.sdf.includes import Includer
from linkwright.rings.exchange.reading.sdf.joints import SdfJoint, add_joints, joints_of, read_mimics
from linkwright.rings.exchange.reading.sdf.links import read_links
from linkwright.rings.exchange.reading.sdf.scopes import FrameRef, Scope, scope_of
from linkwright.rings.exchange.reading.sdf.tags import PLACES
from linkwright.rings.exchange.reading.shapes import ShapeFiles
from linkwright.rings.exchange.reading.tags import check_tags
from linkwright.rings.exchange.reading.xml_reading import XmlElement, read_xml

OLDEST, NEWEST = (1, 5), (1, 11)
GRAVITY = (0.0, 0.0, -9.8)  # of a world that says nothing: SDF's own default


def read_sdf(path: str | os.PathLike[str], folders: Any = None, drives: Sequence[str] = (), only: str = "") -> Imported:
    """The mechanism of an SDF file; `only` names one of several models, `drives` the joints that are driven."""
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
    scopes = list(world.inner())
    for scope in scopes:
        read_links(draft, scope, graph, shapes)
    joints = [j for scope in scopes for j in joints_of(draft, scope, graph)]
    _float(draft, scopes, joints)
    add_joints(draft, joints, graph)
    read_mimics(draft, joints)
    read_constraints(draft, scopes)
    _points(draft, scopes, graph)
    draft.name_drives(names_of(drives))
    shapes.report()
    return draft.finish({name: b.start for name, b in draft.bodies.items()})


def _need_version(root: XmlElement, notes: ImportNotes) -> None:
    found = re.fullmatch(r"(\d+)\.(\d+)", root.attribute("version"))
    if found is None:
        raise root.error(f"version is '{root.get('version')}'; it is written as 1.9.")
    version = (int(found[1]), int(found[2]))
    if version < OLDEST:
        raise root.error(f"SDF {root.get('version')} is not read: its axes are in the frame of the model. Convert it: gz sdf -p FILE.")
    if version > NEWEST:
        notes.warn(f"SDF {root.get('version')} is newer than 1.11, the newest version that is known here")


def _world(root: XmlElement, wanted: str) -> Scope:
    """The world of a file, or one around its models."""
    worlds = root.all("world")
    if len(worlds) > 1:
        raise worlds[1].error("a second <world>; one is read.")
    if worlds and root.all("model"):
        raise root.error("a <world> and a <model> beside it; a file has one of them.")
    place = worlds[0] if worlds else root
    models = place.all("model")
    if not models:
        raise root.error("the file has no <model>.")
    if wanted:
        known = [x.attribute("name") for x in models]
        if wanted not in known:
            raise UsageError(f"the file has no model '{wanted}'. {nearest(wanted, known, 'Models')}")
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
            draft.bodies[body] = replace(b, points=(*b.points, Point(label, at.at, at.rotation)))
