"""Surfaces of a description at a pose: as outlines that are touched, and as the rounds that touch others."""

from __future__ import annotations

from typing import Any

from linkwright.elements import Circle, Line, Ring, Surface
from linkwright.mechanics.contact.nearest import Disc, Found, Hole, Outline, Rail, Round, Wall, direction, vector
from linkwright.model.description import Body


class Placed:
    """A surface at a pose of its body in the plane: rotation R (2, 2) and origin p."""

    def __init__(self, surface: Surface, body: Body, R: Any, p: Any):
        self.surface, self.R = surface, R
        self.points = [R @ vector(*body.point(name).at[:2]) + p for name in surface.points]

    def outline(self, *, ends: bool = True) -> Outline:
        """The surface as it is touched."""
        x: Any = self.surface
        if isinstance(x, Circle):
            return Disc(self.points[0], x.radius)
        if isinstance(x, Ring):
            return Hole(self.points[0], x.radius)
        if isinstance(x, Line):
            return Wall(self.points[0], direction(self.R @ vector(*x.normal[:2]))[1])
        return Rail(*self.points, x.radius, ends)

    def rounds(self) -> list[Round]:
        """Discs and corners with which it touches others."""
        x: Any = self.surface
        return [Round(p, x.radius) for p in self.points] if x.rounds else []


def touch_count(a: Surface, b: Surface) -> int:
    """Number of places at which two surfaces can touch."""
    return len(_places(a, b))


def _places(a: Surface, b: Surface) -> list[tuple[bool, int]]:
    """Places of a pair: whether a round of B touches A, and which."""
    if isinstance(a, Circle):
        return [(False, 0)]
    if isinstance(b, Circle):
        return [(True, 0)]
    return [*((False, i) for i in range(a.rounds)), *((True, i) for i in range(b.rounds))]


def found(a: Placed, b: Placed) -> list[Found]:
    """Nearest points of all places of a pair, normals from B to A."""
    out = []
    both = all(x.surface.rounds > 1 for x in (a, b))
    for other, i in _places(a.surface, b.surface):
        out.append(a.outline(ends=not both).nearest(b.rounds()[i]).swapped() if other else b.outline().nearest(a.rounds()[i]))
    return out
