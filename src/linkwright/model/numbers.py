"""Numbers of a mechanism apart from its structure: masses, centres, inertias, places on bodies and lengths of rods as one row.

    n = DesignNumbers.of(description)       n.structure    what code depends on: names, joints, rotations, which numbers are zero
                                      n.values       the numbers, in an order that the structure decides
    n.filled(values)                  the description with other numbers in place, over any scalar

Two mechanisms of the same structure run on the same code. Zeros belong to the structure, because code without them is shorter by
a third; so do rotations of frames, and everything that is not listed above (springs, loads, gravity).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.model.description import Body, Description, Joint

UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
Pattern = tuple[int, ...]  # of three coordinates: place in the row of numbers, or -1 for zero


class Number(NamedTuple):
    """One of the numbers, by a name for people."""

    name: str
    value: float


@dataclass(frozen=True, eq=False)
class DesignNumbers:
    """A description's numbers, and where each goes."""

    description: Description
    structure: tuple[Any, ...]  # hashable
    names: tuple[str, ...]
    values: np.ndarray
    bodies: tuple[tuple[int, Pattern, Pattern, tuple[Pattern, ...]], ...]  # mass, com, upper triangle of the inertia, points
    joints: tuple[tuple[Pattern, Pattern], ...]  # origins of both frames
    rods: tuple[int, ...]

    @classmethod
    def of(cls, d: Description) -> DesignNumbers:
        """The numbers of a description without expressions."""
        return _Collector(d).collected()

    @cached_property
    def parameters(self) -> tuple[Number, ...]:
        return tuple(Number(n, float(x)) for n, x in zip(self.names, self.values, strict=True))

    def filled(self, values: Sequence[Any]) -> Description:
        """The description with these numbers, over any scalar."""

        def at(pattern: Pattern) -> tuple[Any, ...]:
            return tuple(0.0 if i < 0 else values[i] for i in pattern)

        def body(b: Body, places: Any) -> Body:
            mass, com, inertia, points = places
            upper = dict(zip(UPPER, at(inertia), strict=True))
            rows = tuple(tuple(upper[min(i, j), max(i, j)] for j in range(3)) for i in range(3))
            moved = tuple(replace(p, at=at(x)) for p, x in zip(b.points, points, strict=True))
            return replace(b, mass=b.mass if mass < 0 else values[mass], com=at(com), inertia=rows, points=moved)

        def joint(j: Joint, places: tuple[Pattern, Pattern]) -> Joint:
            first, second = (replace(f, at=at(x)) for f, x in zip((j.frame_first, j.frame_second), places, strict=True))
            return replace(j, frame_first=first, frame_second=second)

        d = self.description
        return replace(
            d,
            bodies=tuple(body(*x) for x in zip(d.bodies, self.bodies, strict=True)),
            joints=tuple(joint(*x) for x in zip(d.joints, self.joints, strict=True)),
            rods=tuple(replace(r, length=values[i]) for r, i in zip(d.rods, self.rods, strict=True)),
        )


class _Collector:
    """DesignNumbers in the order in which they are met; equal places on one body are one number each."""

    def __init__(self, d: Description):
        self.d = d
        self.names: list[str] = []
        self.values: list[float] = []
        self.places: dict[tuple[str, Any], Pattern] = {}

    def collected(self) -> DesignNumbers:
        d = self.d
        bodies = tuple(self.body(b) for b in d.bodies)
        joints = tuple((self.place(j.first, j.name, j.frame_first.at), self.place(j.second, j.name, j.frame_second.at)) for j in d.joints)
        rods = tuple(self.number(f"{r.name}.length", r.length) for r in d.rods)
        structure = (
            tuple(_frame_of_body(b, x) for b, x in zip(d.bodies, bodies, strict=True)),
            tuple(_frame_of_joint(j, x) for j, x in zip(d.joints, joints, strict=True)),
            tuple((r.name, r.between, i) for r, i in zip(d.rods, rods, strict=True)),
            *(getattr(d, name) for name in ELSE),
        )
        return DesignNumbers(d, structure, tuple(self.names), np.array(self.values), bodies, joints, rods)

    def number(self, name: str, value: float) -> int:
        """Its place; -1 for zero."""
        if value == 0.0:
            return -1
        self.names.append(name)
        self.values.append(float(value))
        return len(self.values) - 1

    def place(self, body: str, name: str, at: Sequence[float]) -> Pattern:
        """Places of the coordinates of a point on a body."""
        key = (body, tuple(at))
        if key not in self.places:
            self.places[key] = tuple(self.number(f"{body}.{name}.{axis}", x) for axis, x in zip("xyz", at, strict=True))
        return self.places[key]

    def body(self, b: Body) -> tuple[int, Pattern, Pattern, tuple[Pattern, ...]]:
        points = tuple(self.place(b.name, p.name, p.at) for p in b.points)
        mass = -1 if b.mass is None else self.number(f"{b.name}.mass", b.mass)
        com = self.place(b.name, "com", b.com)
        inertia = tuple(self.number(f"{b.name}.inertia.{'xyz'[i]}{'xyz'[j]}", b.inertia[i][j]) for i, j in UPPER)
        return mass, com, inertia, points


ELSE = ("plane", "gravity", "couplings", "gears", "springs", "dampers", "frictions", "stops", "loads", "cylinders", "cuts")


def _frame_of_body(b: Body, places: Any) -> tuple[Any, ...]:
    """A body without its numbers."""
    return b.name, b.mass is None, places, tuple((p.name, p.rotation) for p in b.points)


def _frame_of_joint(j: Joint, places: tuple[Pattern, Pattern]) -> tuple[Any, ...]:
    return j.name, j.type, j.first, j.second, j.options, j.pin, j.frame_first.rotation, j.frame_second.rotation, places
