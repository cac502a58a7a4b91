"""Nearest points of outlines in a plane, as closed forms over any scalar: floats, complex numbers, traced symbols.

Those of round surfaces (`Disc`, `Wall`, `Rail`) serve in space as well: a disc is a ball there, a wall a plane.

An outline that is touched (`Outline`) finds its point nearest to a round, a disc with center c and radius r; r = 0 is a sharp corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from linkwright.numerics.scalars import arctan2, common_type, real, where

NO_DIRECTION = 1e-150  # square of a distance, in m^2: two centers so near have no direction, and take the first axis


class Found(NamedTuple):
    """Nearest points: the gap, the points on the round and on the outline, and the normal out of the outline."""

    gap: Any
    first: Any
    second: Any
    normal: Any

    def swapped(self) -> Found:
        """The same with the outline as first."""
        return Found(self.gap, self.second, self.first, -self.normal)


class Round(NamedTuple):
    """A disc, or with radius 0 a sharp corner."""

    center: Any
    radius: Any


class Outline(Protocol):
    """What is touched."""

    def nearest(self, x: Round) -> Found: ...


def vector(*x: Any) -> Any:
    return np.array(x, dtype=common_type(*(np.array([c]) for c in x)))


def chosen(condition: Any, a: Found, b: Found) -> Found:
    """a where the condition holds, else b, entry by entry."""
    return Found(
        where(condition, a.gap, b.gap),
        *(vector(*(where(condition, p, q) for p, q in zip(x, y, strict=True))) for x, y in zip(a[1:], b[1:], strict=True)),
    )


def smallest(found: Sequence[Found]) -> Found:
    """The one with the smallest gap."""
    out = found[0]
    for other in found[1:]:
        out = chosen(real(other.gap) < real(out.gap), other, out)
    return out


def direction(d: Any) -> tuple[Any, Any]:
    """Length and unit vector; of nothing the first axis."""
    square = d @ d
    there = real(square) > NO_DIRECTION
    length = np.sqrt(where(there, square, NO_DIRECTION))
    return where(there, length, 0.0 * length), vector(*(where(there, x / length, 1.0 if i == 0 else 0.0) for i, x in enumerate(d)))


@dataclass(frozen=True)
class Disc:
    """A disc that is touched from outside."""

    center: Any
    radius: Any

    def nearest(self, x: Round) -> Found:
        distance, n = direction(x.center - self.center)
        return Found(distance - x.radius - self.radius, x.center - x.radius * n, self.center + self.radius * n, n)


@dataclass(frozen=True)
class Hole:
    """A round hole that is touched from inside."""

    center: Any
    radius: Any

    def nearest(self, x: Round) -> Found:
        distance, e = direction(x.center - self.center)
        return Found(self.radius - distance - x.radius, x.center + x.radius * e, self.center + self.radius * e, -e)


@dataclass(frozen=True)
class Wall:
    """A straight line without ends; solid against its normal."""

    point: Any
    normal: Any

    def nearest(self, x: Round) -> Found:
        above = (x.center - self.point) @ self.normal
        return Found(above - x.radius, x.center - x.radius * self.normal, x.center - above * self.normal, self.normal)


@dataclass(frozen=True)
class Rail:
    """A straight bar with round ends, touched from both sides; `ends` False: a touch at its ends belongs to another place."""

    start: Any
    end: Any
    radius: Any
    ends: bool = True

    def nearest(self, x: Round) -> Found:
        along = self.end - self.start
        square = along @ along
        t = ((x.center - self.start) @ along) / square
        before, behind = real(t) < 0.0, real(t) > 1.0
        foot = self.start + where(before, 0.0, where(behind, 1.0, t)) * along
        distance, n = direction(x.center - foot)
        gap = distance - x.radius - self.radius
        if not self.ends:  # apart from the end, but with the same slope there
            beyond = where(before, t, where(behind, t - 1.0, 0.0 * t))
            gap = gap + beyond * beyond * np.sqrt(square)
        return Found(gap, x.center - x.radius * n, foot + self.radius * n, n)


BEHIND = 1e-6  # of an edge's length: rounds deeper in the solid than this, and than other edges say, are outside
FIRST = 1e-9  # of what is beyond an edge: of two edges with a corner in common the one that the round leaves least counts


class _Edge(NamedTuple):
    """A round's center before an edge."""

    found: Found
    apart: Any  # enlarges the gap where the place belongs to another edge
    order: Any  # the smallest counts
    size: Any = 1.0


@dataclass(frozen=True)
class Boundary:
    """Straight edges in a row, with the solid on one side; `turn` 1: to the left of their direction.

    `among`: the edges that count here. Those of a notched row are in groups, so that a round in a notch touches an edge of each; an edge
    then has the corner at its start alone (`alone`), and what is beyond its end is apart, with the same slope there.
    """

    points: Sequence[Any]
    edges: Sequence[tuple[int, int]]
    turn: float
    radius: Any
    among: Sequence[int]
    ends: bool = True
    alone: bool = False

    def nearest(self, x: Round) -> Found:
        found = [self._edge(i, x) for i in self.among]
        if self.alone:
            depth = self._depth(x)
            found = [self._before(edge, depth) for edge in found]
        out = found[0]
        for other in found[1:]:
            closer = real(other.order) < real(out.order)
            out = _Edge(
                chosen(closer, other.found, out.found), where(closer, other.apart, out.apart), where(closer, other.order, out.order)
            )
        n = out.found.normal
        gap = out.found.gap - x.radius - self.radius + out.apart
        return Found(gap, x.center - x.radius * n, out.found.second + self.radius * n, n)

    def _depth(self, x: Round) -> Any:
        """How deep the center of a round is in the solid, 0 outside."""
        first = self._edge(0, x)
        gap, least = first.found.gap, first.order
        for i in range(1, len(self.edges)):
            edge = self._edge(i, x)
            closer = real(edge.order) < real(least)
            gap, least = where(closer, edge.found.gap, gap), where(closer, edge.order, least)
        return where(real(gap) < 0.0, -gap, 0.0 * gap)

    def _before(self, edge: _Edge, depth: Any) -> _Edge:
        """An edge at whose back a round is that other edges say is outside, as a distance."""
        gap, n = edge.found.gap, edge.found.normal
        back = real(gap) < -(2.0 * real(depth) + BEHIND * real(edge.size))
        turned = Found(-gap, edge.found.first, edge.found.second, -n)
        return edge._replace(found=chosen(back, turned, edge.found))

    def _normal(self, i: int) -> Any:
        """Out of the solid at an edge, of the edge's length."""
        a, b = self.edges[i]
        along = self.points[b] - self.points[a]
        return self.turn * vector(along[1], -along[0])

    def _outward(self, i: int, at_end: bool) -> Any:
        """Between the directions out of the solid at both edges of a corner; None at the end of an open row."""
        j = i + 1 if at_end else i - 1
        if self.edges[i][1 if at_end else 0] != self.edges[j % len(self.edges)][0 if at_end else 1]:
            return None
        return sum(n / np.sqrt(n @ n) for n in (self._normal(i), self._normal(j % len(self.edges))))

    def _edge(self, i: int, x: Round) -> _Edge:
        """The center of a round before an edge with its corners."""
        a, b = self.edges[i]
        along, out = self.points[b] - self.points[a], self._normal(i)
        square = along @ along
        size = np.sqrt(square)
        t = ((x.center - self.points[a]) @ along) / square
        n = out / size
        above = (x.center - self.points[a]) @ n
        inside = Found(above, x.center, x.center - above * n, n)
        found = chosen(real(t) < 0.0, self._corner(i, False, x), chosen(real(t) > 1.0, self._corner(i, True, x), inside))
        before, behind = where(real(t) < 0.0, t, 0.0 * t), where(real(t) > 1.0, t - 1.0, 0.0 * t)
        beyond = (before * before + behind * behind) * size
        apart: Any = 0.0 * t
        if not self.ends:
            apart = beyond
        elif self.alone and self._outward(i, True) is not None:
            apart = behind * behind * size
        return _Edge(found, apart, abs(found.gap) + FIRST * beyond, size)

    def _corner(self, i: int, at_end: bool, x: Round) -> Found:
        """A corner as it is touched: the distance counts outward."""
        at = self.points[self.edges[i][1 if at_end else 0]]
        distance, n = direction(x.center - at)
        outward = self._outward(i, at_end)
        sign = 1.0 if outward is None else where(real((x.center - at) @ outward) < 0.0, -1.0, 1.0)
        return Found(sign * distance, x.center, at, sign * n)


BACK = 1.1  # radii of a bowl: a center farther from its own is at its back, not deep in it


@dataclass(frozen=True)
class Rim:
    """A part of a circle about the direction `middle`, as far to both sides as an angle; its ends are corners. `side` -1: from inside."""

    center: Any
    radius: Any
    middle: Any
    reach: Any  # cosine of the angle to both sides
    ends: Sequence[Any]
    side: float

    def holds(self, e: Any) -> Any:
        """True for a direction within it."""
        return real(e @ self.middle) >= real(self.reach)

    def nearest(self, x: Round) -> Found:
        distance, e = direction(x.center - self.center)
        side = self.side if self.side > 0.0 else where(real(distance) < BACK * real(self.radius), -1.0, 1.0)
        n = side * e
        on = Found(side * (distance - self.radius) - x.radius, x.center - x.radius * n, self.center + self.radius * e, n)
        return chosen(self.holds(e), on, smallest([Disc(end, 0.0).nearest(x) for end in self.ends]))

    def on(self, other: Outline) -> Found:
        """The rim where it touches something else: with its round part, or with an end."""
        found = other.nearest(Round(self.center, self.radius))
        return chosen(self.holds(-found.normal), found, smallest([other.nearest(Round(end, 0.0)) for end in self.ends]))


SCAN = 9  # places of a profile at which its nearest point is looked for, over half a turn
NEWTON = 6  # steps from the best of them
LONGEST = 0.3  # of a step, in radians


@dataclass(frozen=True)
class Lobe:
    """A closed curve about a center, by its radius over the angle in axes R: value, first and second derivative."""

    center: Any
    R: Any
    law: Any

    def _at(self, angle: Any) -> tuple[Any, Any, Any]:
        """Place, tangent and second derivative by the angle, from the center in the axes of the body."""
        r, dr, ddr = self.law(angle)
        e, f = vector(np.cos(angle), np.sin(angle)), vector(-np.sin(angle), np.cos(angle))
        return r * e, dr * e + r * f, (ddr - r) * e + (2.0 * dr) * f

    def _place(self, angle: Any) -> Any:
        return self.law.value(angle) * vector(np.cos(angle), np.sin(angle))

    def _best(self, start: Any, gap: Any, step: Any) -> Any:
        """The angle of the smallest gap: the best of some places around a first guess, then Newton's method."""
        best = start - 0.5 * np.pi
        least = gap(self._place(best))
        for k in range(1, SCAN):
            angle = start + np.pi * (k / (SCAN - 1) - 0.5)
            size = gap(self._place(angle))
            closer = real(size) < real(least)
            best, least = where(closer, angle, best), where(closer, size, least)
        for _ in range(NEWTON):
            by = step(*self._at(best))
            best = best + where(real(by) > LONGEST, LONGEST, where(real(by) < -LONGEST, -LONGEST, by))
        return best

    def nearest(self, x: Round) -> Found:
        c = self.R.T @ (x.center - self.center)

        def step(p: Any, d: Any, dd: Any) -> Any:
            """Of (c - p) d = 0, whose derivative is negative where the distance is smallest."""
            f, slope = (c - p) @ d, d @ d - (c - p) @ dd
            return where(real(slope) > 0.0, f / slope, f / (d @ d))

        angle = self._best(arctan2(c[1], c[0]), lambda p: (c - p) @ (c - p), step)
        p, d, _ = self._at(angle)
        n = vector(d[1], -d[0]) / np.sqrt(d @ d)
        above, n = (c - p) @ n, self.R @ n
        return Found(above - x.radius, x.center - x.radius * n, self.center + self.R @ p, n)

    def on(self, other: Outline) -> Found:
        """The curve where it touches a wall; of anything else that is touched the nearest point is found the other way round."""
        assert isinstance(other, Wall)
        n = self.R.T @ other.normal

        def step(p: Any, d: Any, dd: Any) -> Any:
            """Of d n = 0, whose derivative is positive in the lowest point."""
            f, slope = d @ n, dd @ n
            return -where(real(slope) > 0.0, f / slope, f / (d @ d) ** 0.5)

        angle = self._best(arctan2(-n[1], -n[0]), lambda p: p @ n, step)
        p, _, _ = self._at(angle)
        place = self.center + self.R @ p
        above = (place - other.point) @ other.normal
        return Found(above, place, place - above * other.normal, other.normal)
