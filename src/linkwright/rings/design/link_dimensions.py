"""Dimensions of the links: distances between the places where a link has pins, eyes and marked points.

    for row in link_dimensions(description):
        print(row.body, row.first, row.second, row.distance)

A link with two places has one distance. With more, every further place has its distances from the first two and its coordinates in axes
whose origin is the first place and whose x points to the second; the ground has the axes of the drawing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from linkwright.api import SAME_PLACE, Body, Description, elements, joints


@dataclass(frozen=True)
class LinkDimension:
    """Two places of a body, `a` and `b` in its frame, their distance, and the vector between them in axes of the link (m)."""

    body: str
    first: str
    second: str
    a: np.ndarray
    b: np.ndarray
    along: np.ndarray  # from the first place of the body to the second of this row

    @property
    def distance(self) -> float:
        return float(np.linalg.norm(self.b - self.a))


def link_dimensions(description: Description) -> tuple[LinkDimension, ...]:
    """Return the dimensions of every body that has two places or more, those of the ground first."""
    d = description.numbers()
    places = {b.name: _places(d, b) for b in d.bodies if not b.chain}
    every = [at for found in places.values() for _, at in found]
    size = max((float(np.linalg.norm(at)) for at in every), default=0.0) or 1.0
    return tuple(row for b in d.bodies if not b.chain for row in _rows(b.name, _apart(places[b.name], SAME_PLACE * size), b is d.bodies[0]))


@dataclass(frozen=True)
class WheelRadius:
    """A pulley, sprocket or gear with its radius (of gears and sprockets that of the pitch circle, m): where it is, and what runs on it."""

    wheel: str
    of: str
    radius: float


def wheel_radii(description: Description) -> tuple[WheelRadius, ...]:
    """Return the radii of the wheels of belts, chains, ropes and gears, in the order of the file."""
    d = description.numbers()
    found = [WheelRadius(at, x.name, float(radius)) for x in elements.constraints(d) for at, radius in x.wheels]
    return tuple(wheel for wheel in found if wheel.radius > 0.0)


def _places(d: Description, body: Body) -> list[tuple[str, np.ndarray]]:
    """Named points, and origins of joint frames that are at none of them; what slides has its origin anywhere along the guide."""
    found = [(p.name, np.array(p.at, dtype=float)) for p in body.points]
    for j in d.joints:
        if "length" in joints.create(j.type, j.options).coordinate_kinds:
            continue
        for owner, frame in ((j.first, j.frame_first), (j.second, j.frame_second)):
            if owner == body.name:
                found.append((j.pin or j.name, np.array(frame.at, dtype=float)))
    return found


def _apart(found: list[tuple[str, np.ndarray]], near: float) -> list[tuple[str, np.ndarray]]:
    out: list[tuple[str, np.ndarray]] = []
    for name, at in found:
        if all(np.linalg.norm(at - x) > near for _, x in out):
            out.append((name, at))
    return out


def _rows(body: str, places: list[tuple[str, np.ndarray]], ground: bool) -> Iterator[LinkDimension]:
    if len(places) < 2:
        return
    (one, a), (two, b) = places[:2]
    axes = np.eye(3) if ground else _axes(a, [x for _, x in places[1:]])
    yield LinkDimension(body, one, two, a, b, axes.T @ (b - a))
    for name, at in places[2:]:
        yield LinkDimension(body, one, name, a, at, axes.T @ (at - a))
        yield LinkDimension(body, two, name, b, at, axes.T @ (at - a))


def _axes(origin: np.ndarray, others: list[np.ndarray]) -> np.ndarray:
    """Axes of a link as columns: x to the second place, y in the plane of the third (in a plane: to its left)."""
    x = (others[0] - origin) / np.linalg.norm(others[0] - origin)
    flat = all(abs(p[2] - origin[2]) == 0.0 for p in others)
    y = np.cross([0.0, 0.0, 1.0], x) if flat else np.zeros(3)
    for p in others[1:]:
        if float(np.linalg.norm(y)) > 0.0:
            break
        aside = (p - origin) - x * float(x @ (p - origin))
        y = aside / np.linalg.norm(aside) if float(np.linalg.norm(aside)) > SAME_PLACE * float(np.linalg.norm(p - origin)) else y
    if not float(np.linalg.norm(y)) > 0.0:
        y = np.cross(np.eye(3)[int(np.argmin(np.abs(x)))], x)
        y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])
