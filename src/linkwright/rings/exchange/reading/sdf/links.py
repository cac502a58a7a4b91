"""Links of an SDF file: mass data and shapes."""

from __future__ import annotations

from dataclasses import replace

from linkwright.model.description import GROUND, Body, Point, Visual
from linkwright.rings.exchange.reading.draft import RobotDraft
from linkwright.rings.exchange.reading.poses import inverse, times
from linkwright.rings.exchange.reading.sdf.frames import PoseGraph
from linkwright.rings.exchange.reading.sdf.scopes import FrameRef, Scope
from linkwright.rings.exchange.reading.sdf.tags import PLACES
from linkwright.rings.exchange.reading.shapes import ShapeFiles, color_of, drawable, inertia_about, shapes
from linkwright.rings.exchange.reading.tags import check_tags, only_a_picture
from linkwright.rings.exchange.reading.xml_reading import XmlElement

MASS, MOMENT = 1.0, 1.0  # of a link that says nothing: SDF's own defaults


def read_links(draft: RobotDraft, scope: Scope, graph: PoseGraph, files: ShapeFiles) -> None:
    """Add the links of a model as bodies; those of a static one are part of the ground."""
    for name, link in scope.all("link"):
        full = scope.full(name)
        at = graph.of(FrameRef(scope, name))
        shown = _visuals(draft, scope, name, graph, files)
        if scope.static:
            draft.links.of[full] = GROUND
            ground = draft.bodies[GROUND]
            placed = tuple(replace(v, placement=times(at, v.placement)) for v in shown)
            point = Point(draft.links.fresh(full), at.at, at.rotation)
            draft.bodies[GROUND] = Body(GROUND, (*ground.points, point), visuals=(*ground.visuals, *placed))
        else:
            body = draft.links.add(full)
            mass, com, inertia = _inertial(draft, scope, name, graph)
            draft.bodies[body] = Body(body, (), mass, com, inertia, at, where=link.where, visuals=shown)


def _inertial(draft: RobotDraft, scope: Scope, name: str, graph: PoseGraph) -> tuple:
    """Mass, center and inertia in the link's axes."""
    link = FrameRef(scope, name)
    found = link.element.one("inertial")
    if found is None:
        draft.notes.infer(f"link '{scope.full(name)}' has no <inertial>: SDF's default, 1 kg and 1 kg m^2 about its origin")
        return (MASS, (0.0, 0.0, 0.0), ((MOMENT, 0.0, 0.0), (0.0, MOMENT, 0.0), (0.0, 0.0, MOMENT)))
    if found.get("auto", "false") == "true":
        draft.notes.warn(f"link '{scope.full(name)}': inertia from its collision shapes (auto) is not computed; give <mass> and <inertia>")
    mass = found.content("mass", MASS)
    if mass < 0.0:
        raise found.error(f"the mass of link '{name}' is {mass:g} kg; mass is zero or more.")
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
