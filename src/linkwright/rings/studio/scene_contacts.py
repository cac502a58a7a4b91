"""Surfaces of a scene that may touch: their outlines in the frames of their bodies, and where they touch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import Description, Instant, contact, kinematics

REACH = 0.75  # of a line without ends to either side, as a share of the size of the drawing
TOUCHING = 1e-6  # of the size: a smaller gap is a touch


@dataclass(frozen=True)
class SceneOutline:
    """The outline of a surface, (n, 3) in the frame of its body; a `wall` is solid on the right of its direction."""

    name: str
    place: int  # among all surfaces on bodies
    body: str
    node: int
    points: np.ndarray
    closed: bool
    wall: bool


def scene_outlines(d: Description, skel: kinematics.Skeleton, size: Callable[[], float]) -> list[SceneOutline]:
    """Every surface of a mechanism that has more than a point; lines reach as far as the drawing is large."""
    out = []
    for i, spot in enumerate(contact.spots(d)):
        points, closed = outline_places(spot, size())
        if len(points) > 1:
            every = np.array([[*p, 0.0] for p in points], dtype=float)
            out.append(SceneOutline(spot.surface.name, i, spot.body, skel.node(spot.body), every, closed, spot.surface.wall))
    return out


def outline_places(spot: contact.Spot, size: float) -> tuple[list[Any], bool]:
    """Places of an outline in its body, over any scalar."""
    return contact.drawn(spot, REACH * size)


def touching(at: Instant, size: float) -> list[np.ndarray]:
    """Places in the world where surfaces touch at an instant."""
    out = []
    for x in at.touches:
        if float(x.found.gap) < TOUCHING * size:
            out.append(np.array([*(np.asarray(x.found.first, dtype=float) + at.skel.origin(x.second)[:2]), 0.0]))
    return out
