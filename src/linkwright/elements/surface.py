"""Surfaces on bodies that may touch others. They hold no mechanics of their own; `contacts:` names who touches whom.

Every surface is on one body, at its named points. What is solid decides the side of a touch. In a plane they are outlines:

    circle    disc about a point; radius 0 is a sharp point        ring      hole about a point, in which something moves
    line      half-plane behind a line; `normal` points out of it  segment   straight bar between two points, both sides; `radius` rounds it
    arc       sector's rim; `inside` of it a bowl                  capsule   bar between two points with round ends
    polygon   area within corners; `inside` of it a pocket         chain     open row of segments, touched from the left of its direction
    profile   smooth closed curve through points: a cam

In space they are skins:

    sphere    ball about a point; radius 0 is a sharp point         plane     half-space behind a plane; `normal` points out of it
    capsule   bar between two points with round ends                disc      thin wheel about a point, whose rim touches
    box       block about a point; its corners touch planes, its faces, edges and corners spheres

Directions and angles are in the body's axes; a drawn body's are those of the drawing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from linkwright.elements.base import IDLE, Key, ModelElement, Scalar, choice, either, needs, number, place, table_keys
from linkwright.errors import Source, listing

PLANE, SPACE = (True, False), (False, True)  # where a surface lives: in planar models, in models in space
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
    lives: ClassVar[tuple[bool, bool]] = PLANE

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
    def wall(self) -> bool:
        """Return True if it is open at both ends and solid on the right of its direction."""
        return False

    @property
    def sharp(self) -> bool:
        """Return True if its corners have no radius, or if it has no thickness."""
        return False

    @property
    def solid(self) -> bool:
        """Return True if it is the shape of its body, as pictures draw it."""
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
    wall = True

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
    lives = (True, True)

    radius: Scalar = number("length", "half its thickness", above=0.0, optional=False)


@dataclass(frozen=True)
class Edges(Surface):
    """Straight edges between points of a body; corners that stick out touch others as well."""

    many = True

    radius: Scalar = number("length", RADIUS, 0.0, least=0.0)
    side: str = choice("outside", "inside", meaning="side on which others touch it")
    turn: float = 1.0  # 1: solid to the left of its direction, -1: to the right
    corners: tuple[int, ...] = ()  # points that stick out
    where: Source | None = place()

    closed: ClassVar[bool] = True

    @property
    def rounds(self) -> int:
        return len(self.corners)

    @property
    def sharp(self) -> bool:
        return _zero(self.radius)

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Points at the ends of every edge."""
        n = len(self.points)
        return tuple((i, (i + 1) % n) for i in range(n if self.closed else n - 1))

    @property
    def convex(self) -> bool:
        """Return True if it has no notches: another convex body touches it at one place, or along an edge."""
        return self.closed and len(self.corners) == len(self.points)


@dataclass(frozen=True)
class Polygon(Edges):
    """The area within corners of a body, also with notches; touched from inside it is a pocket."""

    type, typical, order = "polygon", ("polygon",), ("polygon", "radius", "side")
    further = _placed("polygon", "its corners, `[body.point, ..]`", "points")
    least = 3

    @property
    def solid(self) -> bool:
        return self.side == "outside"


@dataclass(frozen=True)
class Chain(Edges):
    """A row of straight edges that is open at both ends; others touch it from the left of its direction."""

    type, typical, order = "chain", ("chain",), ("chain", "radius")
    further = _placed("chain", "its points, `[body.point, ..]`", "points")
    hidden = ("side",)
    least = 2
    closed, wall = False, True


@dataclass(frozen=True)
class Arc(Surface):
    """The rim of a disc between two angles, counted counterclockwise; touched from inside it is a bowl."""

    type, typical, order = "arc", ("arc",), ("arc", "radius", "from", "to", "side")
    further = _placed("arc", "its center, `body.point`")

    radius: Scalar = number("length", "of the arc", above=0.0)
    first: Scalar = number("angle", "direction in which it begins", key="from")
    last: Scalar = number("angle", "direction in which it ends", key="to")
    side: str = choice("outside", "inside", meaning="side on which others touch it")
    where: Source | None = place()

    @property
    def rounds(self) -> int:
        return 1 if self.side == "outside" else 0

    @property
    def wall(self) -> bool:
        return self.side == "inside"

    @property
    def sharp(self) -> bool:
        return True

    @property
    def keeps_axes(self) -> tuple[str, ...]:
        return (self.body,)


@dataclass(frozen=True)
class Profile(Surface):
    """A smooth closed curve about a point of a body: the periodic cubic spline of its radii over the angle, a cam."""

    type, typical, order = "profile", ("profile",), ("profile", "table", "x", "y", "csv")
    further = MappingProxyType(
        {
            "profile": Key("point", "the point about which angles and radii count, `body.point`", required=True),
            **{name: key for name, key in table_keys("angle").items() if name != "interpolation"},
        }
    )
    together = (either("table", ("x", "y"), "csv"), needs("x", "y"), needs("y", "x"))

    angles: tuple[float, ...] = ()
    radii: tuple[float, ...] = ()
    where: Source | None = place()

    @property
    def rounds(self) -> int:
        return 1

    @property
    def keeps_axes(self) -> tuple[str, ...]:
        return (self.body,)


@dataclass(frozen=True)
class Sphere(Circle):
    """A ball about a point of a body; with radius 0 a sharp point."""

    type, typical, order, lives = "sphere", ("sphere",), ("sphere", "radius"), SPACE
    further = _placed("sphere", "its center, `body.point`")

    radius: Scalar = number("length", "of the ball (0: a sharp point)", least=0.0)


@dataclass(frozen=True)
class Plane(Line):
    """A flat wall without ends through a point; the body is behind it."""

    type, typical, order, lives = "plane", ("plane",), ("plane", "normal"), SPACE
    further = _placed("plane", "a point on it, `body.point`")


@dataclass(frozen=True)
class Disc(Surface):
    """A thin round disc about a point: a wheel, whose rim rolls on planes."""

    type, typical, order, lives = "disc", ("disc",), ("disc", "radius", "axis"), SPACE
    further = _placed("disc", "its center, `body.point`")

    radius: Scalar = number("length", "of its rim", above=0.0)
    axis: tuple[Scalar, Scalar, Scalar] = number("pure number", "direction of its axle", axes="along", optional=False)
    where: Source | None = place()

    @property
    def rounds(self) -> int:
        return 1

    @property
    def sharp(self) -> bool:
        return True

    @property
    def keeps_axes(self) -> tuple[str, ...]:
        return (self.body,)


@dataclass(frozen=True)
class Box(Surface):
    """A block about a point of a body."""

    type, typical, lives = "box", ("box",), SPACE
    order = ("box", "length", "width", "height", "along", "across")
    further = _placed("box", "its center, `body.point`")

    length: Scalar = number("length", "edge along `along`", above=0.0)
    width: Scalar = number("length", "edge along `across`", above=0.0)
    height: Scalar = number("length", "edge along the third direction", above=0.0)
    along: tuple[Scalar, Scalar, Scalar] = number("pure number", "direction of its length", (1.0, 0.0, 0.0), axes="along")
    across: tuple[Scalar, Scalar, Scalar] = number("pure number", "direction of its width", (0.0, 1.0, 0.0), axes="along")
    where: Source | None = place()

    @property
    def rounds(self) -> int:
        return 8

    @property
    def sharp(self) -> bool:
        return True

    @property
    def keeps_axes(self) -> tuple[str, ...]:
        return (self.body,)


PARTNERS = {  # in space: what a surface touches
    "sphere": ("sphere", "capsule", "box", "plane"),
    "capsule": ("sphere", "capsule", "plane"),
    "box": ("sphere", "plane"),
    "disc": ("plane",),
    "plane": ("sphere", "capsule", "box", "disc"),
}


def cannot_touch(a: Surface, b: Surface) -> str:
    """Return why two surfaces cannot touch, as said after their names; empty if they can."""
    if a.type in PARTNERS and b.type in PARTNERS:
        return _cannot_in_space(a, b)
    if not a.rounds and not b.rounds:
        return f"are a {a.type} and a {b.type}, which have no corners or round parts. Give one body a circle, a segment or a polygon."
    for x, y in ((a, b), (b, a)):
        if x.sharp and y.sharp and isinstance(x, Segment) and not isinstance(y, Line):
            return f"are a {x.type} without thickness and sharp corners, so that nothing says who is on which side. Give one a radius."
        if isinstance(x, Profile) and not isinstance(y, Circle | Line | Arc):
            return f"are a profile and a {y.type}. A profile touches circles, outer arcs and lines."
        if isinstance(x, Profile) and isinstance(y, Arc) and y.side == "inside":
            return "are a profile and an inner arc. A profile touches circles, outer arcs and lines."
    if a.sharp and b.sharp and isinstance(a, Circle) and isinstance(b, Circle):
        return "are two points, which never meet. Give one a radius."
    return ""


def _cannot_in_space(a: Surface, b: Surface) -> str:
    if b.type not in PARTNERS[a.type]:
        return f"are a {a.type} and a {b.type}. A {a.type} touches only these: {listing(PARTNERS[a.type])}."
    if a.sharp and b.sharp and isinstance(a, Sphere) and isinstance(b, Sphere):
        return "are two points, which never meet. Give one a radius."
    return ""


def _zero(x: Scalar) -> bool:
    return isinstance(x, int | float) and x == 0.0
