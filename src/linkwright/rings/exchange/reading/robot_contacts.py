"""Contacts of URDF and SDF: collision elements of links. These formats have no pairs, so links that no joint connects may touch.

URDF has no floor. If the ground is asked for and the file has no plane there, the plane through the origin against gravity is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from linkwright.api import GROUND, JOINTS, Description, Placement, Pose, Source, Visual, counted, geometry, pose_of
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.contact_shapes import HOW, AllowedPair, CollisionShape, ContactRequest, with_contacts
from linkwright.rings.exchange.reading.notes import ImportNotes

FRICTION = 1.0  # of a link that says nothing: the default of SDF and Gazebo
FLOOR = "floor"


class LinkShapes:
    """Collision elements of a file while it is read; without a request they are counted."""

    def __init__(self, request: ContactRequest | None, notes: ImportNotes):
        self.request, self.notes = request, notes
        self.found: list[CollisionShape] = []
        self.friction: dict[int, float] = {}  # by number of the shape
        self.left = 0

    def add(self, name: str, body: str, kind: str, size: Sequence[float], at: Placement, where: Source | None, mu: float) -> None:
        self.friction[len(self.found)] = mu
        self.found.append(CollisionShape(name, body, body, kind, tuple(size), pose_of(at), where))

    def add_visual(self, name: str, body: str, tag: str, shape: Visual | None, at: Placement, where: Source | None, mu: float) -> None:
        """Add the shape of an element of that tag, None where it has no form that is drawn without a file."""
        self.add(name, body, tag.removeprefix("drake:"), () if shape is None else shape.size, at, where, mu)

    def finished(self, imported: Imported) -> Imported:
        """Return the import with the contacts that are asked for, with all that is noted by now."""
        if self.request is None:
            if self.left:
                self.notes.lose(f"{counted(self.left, 'collision shape')} ({HOW})")
            return replace(imported, report=self.notes.report())
        d, rigid = imported.description, _rigid(imported.description)
        shapes = [x._replace(rigid=rigid[x.body]) for x in self.found]
        if self.request.of_ground and not any(x.kind == "plane" and x.rigid == GROUND for x in shapes):
            shapes.append(_floor(d))
            self.notes.infer("the file has no floor: the plane through the origin against gravity is one.")
        made = with_contacts(d, self.request, shapes, _pairs(d, rigid, shapes, self.friction), self.notes)
        return replace(imported, description=made, report=self.notes.report())


def _floor(d: Description) -> CollisionShape:
    size = float(np.linalg.norm(np.array(d.gravity, float)))
    x, y, z = d.gravity
    up = (-x / size, -y / size, -z / size) if size else (0.0, 0.0, 1.0)
    R = np.array(geometry.frame_along("z", up, up), float)
    return CollisionShape(FLOOR, GROUND, GROUND, "plane", (), Pose(R, np.zeros(3)))


def _rigid(d: Description) -> dict[str, str]:
    """The first body of every group that joints without motion connect, the ground before others."""
    out = {b.name: b.name for b in d.bodies}
    for j in (x for x in d.joints if not JOINTS[x.type].nv):
        one, other = out[j.first], out[j.second]
        stays, goes = (one, other) if other != GROUND else (other, one)
        out = {body: stays if home == goes else home for body, home in out.items()}
    return out


def _pairs(
    d: Description, rigid: Mapping[str, str], shapes: Sequence[CollisionShape], friction: Mapping[int, float]
) -> Iterator[AllowedPair]:
    """Shapes of bodies that no joint with rows connects, with the smaller friction, as in ODE."""
    joined = {frozenset((rigid[j.first], rigid[j.second])) for j in d.joints if JOINTS[j.type].rows}
    for a, b in combinations(range(len(shapes)), 2):
        both = frozenset((shapes[a].rigid, shapes[b].rigid))
        if len(both) == 2 and both not in joined:
            yield AllowedPair(a, b, min(friction[i] for i in (a, b) if i in friction))
