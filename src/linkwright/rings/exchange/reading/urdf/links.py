"""Links of a URDF: mass data and shapes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from linkwright.api import Body, Placement, Visual
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.poses import pose
from linkwright.rings.exchange.reading.robot_contacts import FRICTION, LinkShapes
from linkwright.rings.exchange.reading.robot_draft import RobotDraft
from linkwright.rings.exchange.reading.safe_xml import XmlElement
from linkwright.rings.exchange.reading.shapes import ShapeFiles, color_of, drawable, inertia_about, shapes
from linkwright.rings.exchange.reading.tags import check_tags, only_a_picture
from linkwright.rings.exchange.reading.urdf.tags import PLACES


def origin(element: XmlElement, tag: str = "origin") -> Placement:
    """The placement in an <origin> of an element; none: the identity."""
    found = element.one(tag)
    return pose() if found is None else pose(found.numbers("xyz", 3, (0.0, 0.0, 0.0)), found.numbers("rpy", 3, (0.0, 0.0, 0.0)))


def read_links(draft: RobotDraft, robot: XmlElement, files: ShapeFiles, ground: str | None, touching: LinkShapes) -> None:
    """Add all links of a robot as bodies; the link `ground` is the ground, with a point of its name."""
    colors: dict[str, str] = {}
    for material in robot.all("material"):
        with only_a_picture(material, draft.notes):
            check_tags(material, PLACES, draft.notes)
            colors[material.get("name")] = _color(material)
    for link in robot.all("link"):
        name = link.attribute("name")
        shown = _visuals(draft, link, files, colors)
        if name == ground:
            draft.be_ground(name, shown, link.where)
        else:
            body = draft.links.add(name)
            draft.bodies[body] = replace(_inertial(link, body, draft.notes), where=link.where, visuals=shown)
        _collisions(draft.links.of[name], link, files, touching, _friction(robot, name))


def _collisions(body: str, link: XmlElement, files: ShapeFiles, touching: LinkShapes, mu: float) -> None:
    """Collision elements of a link, which are only read if contacts are asked for."""
    for collision in link.all("collision"):
        touching.left += 1
        geometry = None if touching.request is None else collision.one("geometry")
        for kind in () if geometry is None else geometry.children:
            shape = None if kind.tag == "mesh" else _shape(kind, link.get("name"), files)
            touching.add_visual(collision.get("name"), body, kind.tag, shape, origin(collision), collision.where, mu)


def _friction(robot: XmlElement, link: str) -> float:
    """Friction of a link by <gazebo reference="link"><mu1>."""
    given = (x for gazebo in robot.all("gazebo") if gazebo.get("reference") == link for x in gazebo.all("mu1"))
    first = next(given, None)
    return FRICTION if first is None else first.as_number(first.text, "mu1")


def _inertial(link: XmlElement, name: str, notes: ImportNotes) -> Body:
    """Mass, center and inertia of a link in its own axes."""
    found = link.one("inertial")
    if found is None:
        return Body(name)
    mass = found.need("mass").number("value")
    if mass < 0.0:
        raise found.error(f"the mass of link '{link.get('name')}' is {mass:g} kg. Mass is zero or more.", value=mass)
    at = origin(found)
    tensor = found.one("inertia")
    values = {k: 0.0 if tensor is None else tensor.number(k, 0.0) for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}
    return Body(name, mass=mass, com=at.at, inertia=inertia_about(name, at.rotation, values, notes))


def _visuals(draft: RobotDraft, link: XmlElement, files: ShapeFiles, colors: Mapping[str, str]) -> tuple[Visual, ...]:
    out = []
    for visual in link.all("visual"):
        with only_a_picture(visual, draft.notes):
            check_tags(visual, PLACES, draft.notes)
            geometry = visual.one("geometry")
            material = visual.one("material")
            color = "" if material is None else _color(material) or colors.get(material.get("name"), "")
            found = [_shape(kind, link.get("name"), files) for kind in (geometry.children if geometry is not None else ())]
            out += shapes(found, origin(visual), color, draft.notes)
    return drawable(out, draft.notes)


def _shape(kind: XmlElement, link: str, files: ShapeFiles) -> Visual | None:
    if kind.tag == "box":
        x, y, z = kind.numbers("size", 3)
        return Visual("box", (x, y, z))
    if kind.tag in ("cylinder", "capsule", "drake:capsule"):
        return Visual(kind.tag.removeprefix("drake:"), (kind.number("radius"), kind.number("length"), 0.0))
    if kind.tag == "sphere":
        return Visual("sphere", (kind.number("radius"), 0.0, 0.0))
    if kind.tag == "mesh":
        one = len(kind.get("scale").split()) == 1
        x, y, z = kind.numbers("scale", 1) * 3 if one else kind.numbers("scale", 3, (1.0, 1.0, 1.0))
        file = files.mesh(kind.attribute("filename"), link)
        return None if file is None else Visual("mesh", (x, y, z), file=os.fspath(file))
    return None


def _color(material: XmlElement) -> str:
    found = material.one("color")
    return "" if found is None else color_of(found.numbers("rgba", 4, (0.7, 0.7, 0.7, 1.0)))
