"""Touches of a description: which outlines may touch, in which order, and by which law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from linkwright.elements import Circle, Clearance, Contact, Line, Ring, Surface
from linkwright.mechanics.contact import shapes, solids
from linkwright.mechanics.contact.nearest import vector
from linkwright.mechanics.contact.shapes import Spot
from linkwright.model.description import Description, Placement
from linkwright.numerics.spatial import array


@dataclass(frozen=True)
class Touch:
    """A place where two outlines may touch."""

    name: str  # of its channels: `step`; `grip.left` where a side lists surfaces; `box.1` where a pair has several places
    owner: Contact | Clearance  # with mu, restitution and jam
    first: Spot  # A
    second: Spot  # B, from which the normal points
    place: int = 0  # which of the places of these two

    @property
    def mu(self) -> float:
        return self.owner.mu

    @property
    def restitution(self) -> float:
        return self.owner.restitution

    @property
    def jam(self) -> str:
        return self.owner.jam


def touches(d: Description) -> tuple[Touch, ...]:
    """Return all touches of a description, in the order of the rows of kernel `contact_terms`."""
    return (*_of_contacts(d), *_of_clearances(d))


def spots(d: Description) -> tuple[Spot, ...]:
    """Return all surfaces of a description on their bodies, also those of clearances."""
    loose = [x for touch in _of_clearances(d) for x in (touch.first, touch.second)]
    return (*(_spot(d, x) for x in d.surfaces), *loose)


def tangent_count(d: Description) -> int:
    """Return the number of directions in which touches slip: one in a plane, two in space."""
    return 1 if d.planar else 2


def _of_contacts(d: Description) -> Iterator[Touch]:
    among = shapes if d.planar else solids
    surfaces = {x.name: x for x in d.surfaces}
    for owner in d.contacts:
        for a, b in owner.pairs:
            first, second = _spot(d, surfaces[a]), _spot(d, surfaces[b])
            listed = [x for x, side in ((a, owner.first), (b, owner.second)) if len(side) > 1]
            name, count = ".".join([owner.name, *listed]), among.touch_count(first.surface, second.surface)
            for i in range(count):
                yield Touch(f"{name}.{i + 1}" if count > 1 else name, owner, first, second, i)


def _spot(d: Description, x: Surface) -> Spot:
    body = d.body(x.body)
    axes = tangent_count(d) + 1
    return Spot(x, x.body, tuple(vector(*body.point(name).at[:axes]) for name in x.points))


def _of_clearances(d: Description) -> Iterator[Touch]:
    """A pin of the first body in a hole of the second; corners of a block of the second body between two walls of the first."""
    for x in d.clearances:
        j = d.joint(x.joint)
        if not x.slides:
            pin = Spot(Circle(x.name, j.first, (), x.radius), j.first, (_at(j.frame_first, 0.0, 0.0),))
            hole = Spot(Ring(x.name, j.second, (), x.radius + x.clearance), j.second, (_at(j.frame_second, 0.0, 0.0),))
            yield Touch(f"{x.name}.contact", x, pin, hole)
            continue
        length: Any = x.length
        half = 0.5 * length
        for i, (along, side) in enumerate(((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))):
            corner = _at(j.frame_second, half * along, side * x.radius)
            block = Spot(Circle(x.name, j.second, (), 0.0), j.second, (corner,), f"corner {i + 1}")
            normal: Any = array(j.frame_first.rotation)[:, 1] * -side
            wall = Spot(
                Line(x.name, j.first, (), tuple(normal)), j.first, (_at(j.frame_first, 0.0, side * (x.radius + x.clearance)),), f"{side}"
            )
            yield Touch(f"{x.name}.contact.{i + 1}", x, block, wall)


def _at(frame: Placement, x: Any, y: Any) -> Any:
    """A place of a joint's frame in its body."""
    R = array(frame.rotation)
    return (array(frame.at) + R[:, 0] * x + R[:, 1] * y)[:2]
