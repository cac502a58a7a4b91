"""Surfaces of a scene that may touch: their outlines in the frames of their bodies, and where they touch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Description, Instant, Trajectory, contact, kinematics

REACH = 1.5  # of a line without ends to either side, as a share of the size of the drawing
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
    """Every surface of a mechanism in a plane that has more than a point; lines reach as far as the drawing is large."""
    out: list[SceneOutline] = []
    if not d.planar:
        return out
    for i, spot in enumerate(contact.spots(d)):
        points, closed = outline_places(spot, size())
        if len(points) > 1:
            every = np.array([[*p, 0.0] for p in points], dtype=float)
            out.append(SceneOutline(spot.surface.name, i, spot.body, skel.node(spot.body), every, closed, spot.surface.wall))
    return out


def outline_places(spot: contact.Spot, size: float) -> tuple[list[Any], bool]:
    """Places of an outline in its body, over any scalar."""
    return contact.drawn(spot, REACH * size)


class TouchedPlace(NamedTuple):
    """A place where surfaces touch: in the world, the force on the first one, and whether it sticks; without a run neither is known."""

    at: np.ndarray
    force: np.ndarray
    sticks: bool


class TouchForces:
    """Forces and states of all touches over a run; empty of a cycle, which has none.

    Forces are normal force and friction, which is one number along the tangent in a plane and a vector in the world in space.
    """

    def __init__(self, c: Trajectory):
        d = c.skel.tree.description
        names = [x.name for x in contact.touches(d)]
        self.known = bool(names) and f"{names[0]}.force" in c.channels
        parts = ("force", "friction") if d.planar else ("force", "friction.x", "friction.y", "friction.z")
        self.forces, self.states = np.zeros((len(c), len(names), len(parts))), np.zeros((len(c), len(names)))
        for k, name in enumerate(names if self.known else ()):
            for i, part in enumerate(parts):
                self.forces[:, k, i] = c[f"{name}.{part}"]
            self.states[:, k] = c[f"{name}.state"]
        self.largest = float(np.nanmax(np.abs(self.forces), initial=0.0))

    def friction(self, touch: int) -> np.ndarray:
        """Size of the friction of a touch over the run."""
        return np.linalg.norm(self.forces[:, touch, 1:], axis=-1)

    def at(self, sample: int) -> list[tuple[np.ndarray, int]] | None:
        """Normal force, friction and state of each touch at a sample; None where they are not known."""
        return [(f, int(s)) for f, s in zip(self.forces[sample], self.states[sample], strict=True)] if self.known else None


class TouchEvent(NamedTuple):
    """What became of a touch at an event: it closed (an impact), opened, began to slip or to stick; energy lost in J."""

    time: float
    name: str
    impact: bool
    lost: float


def touch_events(c: Trajectory) -> list[TouchEvent]:
    """Impacts and changes of state of all touches of a run."""
    names, out = {x.name for x in contact.touches(c.skel.tree.description)}, []
    for e in c.events:
        verb, _, named = str(e.values.get("did", "")).partition(" ")
        if (name := named.split(",")[0]) in names:
            out.append(TouchEvent(e.time, name, verb == REACHED, float(e.values.get(LOST, 0.0))))
    return out


REACHED = "reach"  # of what events did: surfaces have met
LOST = "energy lost"  # value of an event that was an impact
STICKS = 1  # state of a touch in the channels of a run


def touching(at: Instant, size: float, known: Sequence[tuple[np.ndarray, int]] | None = None) -> list[TouchedPlace]:
    """Places where surfaces touch at an instant; `known` are force and state of each touch there."""
    out = []
    for i, x in enumerate(at.touches):
        if float(x.found.gap) >= TOUCHING * size:
            continue
        n = np.asarray(x.found.normal, dtype=float)
        forces, state = (np.zeros(len(n) if len(n) == 2 else 4), 0) if known is None else known[i]
        place = np.asarray(x.found.first, dtype=float) + at.skel.origin(x.second)[: len(n)]
        out.append(TouchedPlace(_in_space(place), _in_space(world_force(forces, n)), state == STICKS))
    return out


def world_force(forces: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Force on the first surface in the world, from normal force and friction as `TouchForces` has them; (.., axes)."""
    across = forces[..., 1:]
    if normal.shape[-1] == 2:
        across = across * np.stack([-normal[..., 1], normal[..., 0]], axis=-1)
    return forces[..., :1] * normal + across


def _in_space(p: np.ndarray) -> np.ndarray:
    return p if len(p) == 3 else np.array([*p, 0.0])
