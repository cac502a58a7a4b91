"""Surfaces in the plane: outlines on bodies that may touch others. They hold no mechanics of their own; `contacts:` names who touches whom.

Every surface is on one body, at its named points. What is solid decides the side of a touch:

    circle    disc about a point; radius 0 is a sharp point        ring      hole about a point, in which something moves
    line      half-plane behind a line; `normal` points out of it  segment   straight bar between two points, both sides; `radius` rounds it
    arc       sector's rim; `inside` of it a bowl                  capsule   bar between two points with round ends
    polygon   area within corners; `inside` of it a pocket         chain     open row of segments, touched from the left of its direction
    profile   smooth closed curve through points: a cam

Directions and angles are in the body's axes; a drawn body's are those of the drawing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from linkwright.elements.base import IDLE, Key, ModelElement, Scalar, number, place
from linkwright.errors import Source

RADIUS = "of its round ends and corners (default: sharp)"


def _placed(kind: str, meaning: str, form: str = "point") -> Mapping[str, Key]:
    return MappingProxyType({kind: Key(form, meaning, required=True)})


@dataclass(frozen=True)
class Surface(ModelElement):
    """An outline on a body."""

    section, word, form = "surfaces", "surface", "surface"
    synonyms = ("surface", "shapes", "outlines", "collision", "collisions", "geoms")
    group = "contact"
    least: ClassVar[int] = 1  # number of points
    many: ClassVar[bool] = False  # or more

    name: str
    body: str
    points: tuple[str, ...]

    @property
    def acts(self) -> str:
        return IDLE

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    @property
    def rounds(self) -> int:
        """Number of discs and corners with which it touches others; 0: it is only touched."""
        return 0

    @property
    def sharp(self) -> bool:
        """Return True if its corners have no radius, or if it has no thickness."""
        return False


@dataclass(frozen=True)
class Circle(Surface):
    """A disc about a point of a body; with radius 0 a sharp point."""

    type, typical, order = "circle", ("circle",), ("circle", "radius")
    further = _placed("circle", "its center, `body.point`")

    radius: Scalar = number("length", "of the disc (0: a sharp point)", least=0.0)
    where: Source | None = place()

    @property
    def rounds(self) -> int:
        return 1

    @property
    def sharp(self) -> bool:
        return _zero(self.radius)


@dataclass(frozen=True)
class Ring(Surface):
    """A round hole about a point of a body, in which something moves."""

    type, typical, order = "ring", ("ring",), ("ring", "radius")
    further = _placed("ring", "its center, `body.point`")

    radius: Scalar = number("length", "of the hole", above=0.0)
    where: Source | None = place()


@dataclass(frozen=True)
class Line(Surface):
    """A straight wall without ends through a point; the body is behind it."""

    type, typical, order = "line", ("line",), ("line", "normal")
    further = _placed("line", "a point on it, `body.point`")

    normal: tuple[Scalar, Scalar, Scalar] = number("pure number", "direction out of the body", axes="along", optional=False)
    where: Source | None = place()

    @property
    def keeps_axes(self) -> tuple[str, ...]:
        return (self.body,)


@dataclass(frozen=True)
class Segment(Surface):
    """A straight bar between two points of a body, touched from both sides; with a radius it is a capsule."""

    type, typical, order = "segment", ("segment",), ("segment", "radius")
    further = _placed("segment", "its two ends, `[body.point, body.point]`", "points")
    least = 2

    radius: Scalar = number("length", RADIUS, 0.0, least=0.0)
    where: Source | None = place()

    @property
    def rounds(self) -> int:
        return 2

    @property
    def sharp(self) -> bool:
        return _zero(self.radius)


@dataclass(frozen=True)
class Capsule(Segment):
    """A bar between two points of a body with round ends."""

    type, typical, order = "capsule", ("capsule",), ("capsule", "radius")
    further = _placed("capsule", "the centers of its round ends, `[body.point, body.point]`", "points")

    radius: Scalar = number("length", "half its thickness", above=0.0, optional=False)


def cannot_touch(a: Surface, b: Surface) -> str:
    """Return why two surfaces cannot touch, as said after their names; empty if they can."""
    if not a.rounds and not b.rounds:
        return f"are a {a.type} and a {b.type}, which have no corners or round parts. Give one body a circle, a segment or a polygon."
    thin = (Circle, Segment)
    if a.sharp and b.sharp and isinstance(a, thin) and isinstance(b, thin):
        return "are both without thickness, so that nothing says on which side they are. Give one of them a radius."
    return ""


def _zero(x: Scalar) -> bool:
    return isinstance(x, int | float) and x == 0.0
