"""Surfaces of a description at a pose: as outlines that are touched, and with what they touch others.

A pair of surfaces has a fixed number of places, `touch_count`. Each is a round of one surface on the outline of the other:

    rounds of a convex polygon, two or three groups   neighboring corners are in different ones; of each the corner with the smallest gap
    rounds of anything else, and in a hollow          one by one
    edges of a row with notches, two or three groups  so that a round can lie in a notch, on two edges

so a place follows a corner as long as that touches, and gaps change without jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.elements import Arc, Circle, Edges, Line, Profile, Ring, Segment, Surface
from linkwright.mechanics.contact.nearest import (
    Boundary,
    Disc,
    Found,
    Hole,
    Lobe,
    Outline,
    Rail,
    Rim,
    Round,
    Wall,
    direction,
    smallest,
    vector,
)
from linkwright.model.curves.tables import periodic_spline
from linkwright.numerics.scalars import arctan2, real, where
from linkwright.properties import cached_property

WHOLE = 1e-12  # of a cosine: an arc of a whole revolution has no ends


class Place(NamedTuple):
    """Where two surfaces may touch: rounds of A on edges of B, or `turned` of B on A."""

    turned: bool
    rounds: tuple[int, ...]
    edges: tuple[int, ...]
    alone: bool  # edges are in several groups


def places(a: Surface, b: Surface) -> list[Place]:
    """Return the places at which two surfaces can touch; a round or smooth one has one on what is touched."""
    if isinstance(a, Profile) and not isinstance(b, Line):
        return _on(b, a, True)
    if isinstance(b, Profile) and not isinstance(a, Line):
        return _on(a, b, False)
    single = (Circle, Arc, Profile)
    if isinstance(a, Circle) or (isinstance(a, single) and a.rounds and not isinstance(b, Circle)):
        return _on(a, b, False)
    if isinstance(b, single) and b.rounds:
        return _on(b, a, True)
    return [*_on(a, b, False), *_on(b, a, True)]


def touch_count(a: Surface, b: Surface) -> int:
    """Return the number of places at which two surfaces can touch."""
    return len(places(a, b))


def _on(a: Surface, b: Surface, turned: bool) -> list[Place]:
    """Places of the rounds of a on the outline of b."""
    rounds = _groups(a.rounds) if isinstance(a, Edges) and a.convex and _bulges(b) else [(i,) for i in range(a.rounds)]
    edges = [()]
    if isinstance(b, Edges):
        every = len(b.edges)
        edges = [tuple(range(every))] if b.convex and _bulges(b) else _groups(every, closed=b.closed)
    return [Place(turned, own, others, len(edges) > 1) for own in rounds for others in edges]


def _bulges(x: Surface) -> bool:
    """Return True if what touches it from outside has it on one side of a straight line."""
    return not isinstance(x, Ring) and getattr(x, "side", "outside") == "outside" and (not isinstance(x, Edges) or x.convex)


def _groups(n: int, *, closed: bool = True) -> list[tuple[int, ...]]:
    """Numbers in two groups, in three for an odd number in a ring, so that neighbors are in different ones."""
    found = [list(range(0, n, 2)), list(range(1, n, 2))]
    if closed and n % 2 and n > 1:
        found.append([found[0].pop()])
    return [tuple(x) for x in found if x]


@dataclass(frozen=True, eq=False)
class Spot:
    """A surface on a body, with its points there; `part` tells surfaces of one name apart."""

    surface: Surface
    body: str
    places: tuple[Any, ...]
    part: str = ""


class Placed:
    """A surface at a pose of its body in the plane: rotation R (2, 2) and origin p."""

    def __init__(self, spot: Spot, R: Any, p: Any):
        self.surface, self.R = spot.surface, R
        self.points = [R @ place + p for place in spot.places]

    def outline(self, edges: Sequence[int], *, ends: bool = True, alone: bool = False) -> Outline:
        """The surface as it is touched."""
        x: Any = self.surface
        if isinstance(x, Circle):
            return Disc(self.points[0], x.radius)
        if isinstance(x, Ring):
            return Hole(self.points[0], x.radius)
        if isinstance(x, Line):
            return Wall(self.points[0], direction(self.R @ vector(*x.normal[:2]))[1])
        if isinstance(x, Segment):
            return Rail(*self.points, x.radius, ends)
        if isinstance(x, Edges):
            return Boundary(self.points, x.edges, x.turn, x.radius, edges, ends, alone)
        return self.curve

    @cached_property
    def curve(self) -> Any:
        """An arc or a profile."""
        x: Any = self.surface
        if isinstance(x, Profile):
            return Lobe(self.points[0], self.R, periodic_spline(np.array(x.angles), np.array(x.radii)))
        middle, reach = 0.5 * (x.first + x.last), 0.5 * (x.last - x.first)
        e = [self.R @ vector(np.cos(angle), np.sin(angle)) for angle in (middle, x.first, x.last)]
        ends = [self.points[0] + x.radius * d for d in e[1:]]
        return Rim(self.points[0], x.radius, e[0], np.cos(reach) - WHOLE, ends, 1.0 if x.side == "outside" else -1.0)

    def on(self, other: Outline, rounds: Sequence[int]) -> Found:
        """Where it touches another outline, with some of its rounds: the one with the smallest gap."""
        x: Any = self.surface
        if isinstance(x, Arc | Profile):
            return self.curve.on(other)
        at = [self.points[k] for k in (x.corners if isinstance(x, Edges) else range(x.rounds))]
        return smallest([other.nearest(Round(at[i], x.radius)) for i in rounds])


def found(a: Placed, b: Placed) -> list[Found]:
    """Nearest points of all places of a pair, normals from B to A."""
    every = places(a.surface, b.surface)
    both = any(x.turned for x in every) and not all(x.turned for x in every)
    out = []
    for x in every:
        own, other = (b, a) if x.turned else (a, b)
        touched = own.on(other.outline(x.edges, ends=not (both and x.turned), alone=x.alone), x.rounds)
        out.append(touched.swapped() if x.turned else touched)
    return out


# -------------------------------------------------------------------- outlines for drawings

ROUND = 48  # points of a circle


def drawn(spot: Spot, reach: float) -> tuple[list[Any], bool]:
    """Points of a surface's outline in the axes of its body, over any scalar, and whether it is closed; of a line as far as `reach`."""
    x: Any = spot.surface
    at, radius = list(spot.places), getattr(spot.surface, "radius", 0.0)
    thin = isinstance(radius, int | float) and radius == 0.0
    if isinstance(x, Circle | Ring):
        return ([at[0]], False) if thin else (_bow(at[0], x.radius, 0.0, 2.0 * np.pi, ROUND)[:-1], True)
    if isinstance(x, Line):
        n = direction(vector(*x.normal[:2]))[1]
        along = reach * vector(n[1], -n[0])
        return [at[0] - along, at[0] + along], False
    if isinstance(x, Arc):
        return _bow(at[0], x.radius, x.first, x.last, ROUND), False
    if isinstance(x, Profile):
        law = periodic_spline(np.array(x.angles), np.array(x.radii))
        angles = x.angles[0] + 2.0 * np.pi * np.arange(3 * ROUND) / (3 * ROUND)
        return [at[0] + law.value(float(a)) * vector(np.cos(a), np.sin(a)) for a in angles], True
    if not isinstance(x, Edges):
        return (at, False) if thin else (_rounded([at[0], at[1]], [(0, 1), (1, 0)], x.radius), True)
    edges = x.edges if x.turn > 0.0 else [(b, a) for a, b in reversed(x.edges)]
    return (at, x.closed) if thin or not x.closed else (_rounded(at, edges, x.radius), True)


def _bow(center: Any, radius: Any, first: Any, last: Any, count: int) -> list[Any]:
    """Points of an arc."""
    angles = [first + (last - first) * (i / count) for i in range(count + 1)]
    return [center + radius * vector(np.cos(a), np.sin(a)) for a in angles]


def _rounded(at: Sequence[Any], edges: Sequence[tuple[int, int]], radius: Any) -> list[Any]:
    """Outline of edges counterclockwise with a radius: each moved out, and bows between those that turn left."""
    normals = []
    for a, b in edges:
        along = at[b] - at[a]
        normals.append(vector(along[1], -along[0]) / np.sqrt(along @ along))
    out: list[Any] = []
    for i, (a, _) in enumerate(edges):
        before, after = normals[i - 1], normals[i]
        turn = arctan2(before[0] * after[1] - before[1] * after[0], before @ after)
        turn = where(real(turn) < -3.0, turn + 2.0 * np.pi, turn)  # at the end of a bar
        start = arctan2(before[1], before[0])
        out += _bow(at[a], radius, start, start + turn, ROUND // 6)
    return out
