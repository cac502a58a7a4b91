"""Surfaces in space at a pose: where two of them touch, with a fixed number of places for each pair, as for outlines in a plane.

    pair                    places
    sphere with any         1
    disc on a plane         1: the lowest point of its rim; none where it lies flat (`lies_flat`)
    capsule on a plane      2: its round ends
    two capsules            5: the ends of each before the other, and where they cross
    box on a plane          4: of two opposite corners the lower one, so that the corners of a face are all there

so a place follows a corner as long as that touches, and gaps change without jumps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.elements import Box, Capsule, Disc, Plane, Sphere, Surface
from linkwright.mechanics.contact.nearest import Disc as Ball
from linkwright.mechanics.contact.nearest import Found, Rail, Round, Wall, chosen, direction, smallest, vector
from linkwright.numerics.scalars import real, where

FLAT = 1e-6  # sine of the angle between a disc and a plane, below which the disc lies flat
PARALLEL = 1e-12  # square of the sine of the angle of two bars, below which they do not cross
ORDER = ("sphere", "capsule", "disc", "box", "plane")  # the later one is touched


def touch_count(a: Surface, b: Surface) -> int:
    """Return the number of places at which two surfaces can touch."""
    both = {a.type, b.type}
    return 5 if both == {"capsule"} else {"capsule": 2, "box": 4}.get((both - {"plane"}).pop(), 1) if "plane" in both else 1


class PlacedSolid:
    """A surface at a pose of its body: rotation R (3, 3) and origin p."""

    def __init__(self, spot: Any, R: Any, p: Any):
        self.surface, self.R = spot.surface, R
        self.points = [R @ place + p for place in spot.places]

    def axes(self) -> tuple[Any, Any, Any]:
        """Directions of the edges of a box."""
        return tuple(self.R @ e for e in box_axes(self.surface))

    def wall(self) -> Wall:
        """A plane as it is touched."""
        return Wall(self.points[0], self.R @ direction(vector(*self.surface.normal))[1])

    def rail(self, *, ends: bool = True) -> Rail:
        """A capsule as it is touched."""
        return Rail(*self.points, self.surface.radius, ends)

    def round(self, i: int = 0) -> Round:
        """A sphere, or an end of a capsule."""
        return Round(self.points[i], self.surface.radius)


def box_axes(x: Any) -> tuple[Any, Any, Any]:
    """Directions of the edges of a box in its body."""
    e = direction(vector(*x.along))[1]
    f = vector(*x.across)
    f = direction(f - (f @ e) * e)[1]
    return e, f, cross(e, f)


def cross(a: Any, b: Any) -> Any:
    """The vector product, over any scalar."""
    return vector(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def found(a: PlacedSolid, b: PlacedSolid) -> list[Found]:
    """Nearest points of all places of a pair, normals from B to A."""
    if ORDER.index(a.surface.type) > ORDER.index(b.surface.type):
        return [x.swapped() for x in found(b, a)]
    own, other = a.surface, b.surface
    if isinstance(other, Plane):
        return _on_wall(a, b.wall())
    if isinstance(own, Sphere):
        if isinstance(other, Box):
            return [_on_box(a.round(), b)]
        return [b.rail().nearest(a.round()) if isinstance(other, Capsule) else Ball(b.points[0], other.radius).nearest(a.round())]
    return [
        *(b.rail().nearest(a.round(i)) for i in range(2)),
        *(a.rail(ends=False).nearest(b.round(i)).swapped() for i in range(2)),
        _crossing(a.rail(), b.rail()),
    ]


def _on_wall(a: PlacedSolid, wall: Wall) -> list[Found]:
    own: Any = a.surface
    if isinstance(own, Disc):
        axle = a.R @ direction(vector(*own.axis))[1]
        _, down = direction((wall.normal @ axle) * axle - wall.normal)
        return [wall.nearest(Round(a.points[0] + own.radius * down, 0.0))]
    if isinstance(own, Box):
        e, f, g = a.axes()
        half = 0.5 * own.length * e, 0.5 * own.width * f, 0.5 * own.height * g
        out = []
        for signs in ((1.0, 1.0, 1.0), (1.0, 1.0, -1.0), (1.0, -1.0, 1.0), (1.0, -1.0, -1.0)):
            arm = sum(s * x for s, x in zip(signs, half, strict=True))
            out.append(smallest([wall.nearest(Round(a.points[0] + side * arm, 0.0)) for side in (1.0, -1.0)]))
        return out
    return [wall.nearest(a.round(i)) for i in range(len(a.points))]


def _on_box(x: Round, box: PlacedSolid) -> Found:
    """A ball on a face, an edge or a corner; with its center inside, on the nearest face."""
    own: Any = box.surface
    axes, half = box.axes(), (0.5 * own.length, 0.5 * own.width, 0.5 * own.height)
    apart = x.center - box.points[0]
    at = [apart @ e for e in axes]
    held = [where(real(c) > real(h), h + 0.0 * c, where(real(c) < -real(h), -h + 0.0 * c, c)) for c, h in zip(at, half, strict=True)]
    foot = box.points[0] + sum(c * e for c, e in zip(held, axes, strict=True))
    distance, n = direction(x.center - foot)
    outside = Found(distance - x.radius, x.center - x.radius * n, foot, n)
    depth, inside = None, outside
    for c, h, e in zip(at, half, axes, strict=True):
        side = where(real(c) < 0.0, -1.0, 1.0)
        deep = h - side * c
        face = Found(-deep - x.radius, x.center - x.radius * side * e, x.center + deep * side * e, side * e)
        inside = face if depth is None else chosen(real(deep) < real(depth), face, inside)
        depth = deep if depth is None else where(real(deep) < real(depth), deep, depth)
    return chosen(real(distance) > 0.0, outside, inside)


def _crossing(a: Rail, b: Rail) -> Found:
    """Where two bars cross: with the nearest points beyond an end, or in parallel, the gap is enlarged."""
    u, w, apart = a.end - a.start, b.end - b.start, a.start - b.start
    uu, ww, uw, ua, wa = u @ u, w @ w, u @ w, u @ apart, w @ apart
    square = (uu * ww - uw * uw) / (uu * ww)  # of the sine between them
    crosses = real(square) > PARALLEL
    sine = where(crosses, square, PARALLEL) * uu * ww
    s, t = (uw * wa - ww * ua) / sine, (uu * wa - uw * ua) / sine
    beyond = sum((where(real(x) < 0.0, x, where(real(x) > 1.0, x - 1.0, 0.0 * x))) ** 2 for x in (s, t))
    size = np.sqrt(uu) + np.sqrt(ww)
    flat = where(crosses, 0.0 * square, 1.0 - square / PARALLEL)
    on = [where(real(x) < 0.0, 0.0 * x, where(real(x) > 1.0, 1.0 + 0.0 * x, x)) for x in (s, t)]
    first, second = a.start + on[0] * u, b.start + on[1] * w
    distance, n = direction(first - second)
    gap = distance - a.radius - b.radius + (beyond + flat * flat) * size
    return Found(gap, first - a.radius * n, second + b.radius * n, n)


def lies_flat(a: PlacedSolid, b: PlacedSolid) -> bool:
    """Return True for a disc on a plane, as numbers, that has no lowest point."""
    if isinstance(b.surface, Disc):
        a, b = b, a
    if not isinstance(a.surface, Disc) or not isinstance(b.surface, Plane):
        return False
    n, axle = b.wall().normal, a.R @ direction(vector(*a.surface.axis))[1]
    return float(np.linalg.norm(cross(n, axle))) < FLAT


def tangents(n: Any) -> tuple[Any, Any]:
    """Two directions across a normal in space: those of x and y, turned on the shortest way from the z axis to it.

    They turn evenly except where the normal passes from above z = -1/2 to below: there the turn begins at -z.
    """
    up = where(real(n[2]) > -0.5, 1.0, -1.0)
    a = -1.0 / (up + n[2])
    b = n[0] * n[1] * a
    return vector(1.0 + up * n[0] * n[0] * a, up * b, -up * n[0]), vector(b, up + n[1] * n[1] * a, -n[1])
