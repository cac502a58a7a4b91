"""Nearest points of outlines in a plane, as closed forms over any scalar: floats, complex numbers, traced symbols.

An outline that is touched (`Outline`) finds its point nearest to a round, a disc with center c and radius r; r = 0 is a sharp corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from linkwright.numerics.scalars import common_type, real, where

TINY = 1e-150  # square of a distance, in m^2: two centers so near have no direction, and take the first axis


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


def vector(x: Any, y: Any) -> Any:
    return np.array([x, y], dtype=common_type(np.array([x]), np.array([y])))


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
    there = real(square) > TINY
    length = np.sqrt(where(there, square, TINY))
    return where(there, length, 0.0 * length), vector(where(there, d[0] / length, 1.0), where(there, d[1] / length, 0.0))


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
