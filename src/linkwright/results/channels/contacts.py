"""Channels of touches, from the positions and speeds of their bodies: what forces do there is among the loads.

    step.gap             distance of the two surfaces, negative as deep as they overlap
    step.x  step.y       the point of the first surface that is nearest to the second; in space step.z as well
    step.slip            speed of the first body along the second, positive to the left of the normal, which points to the first
    step.slip.x  .y  .z  that speed in space, where step.slip is its size
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwright.mechanics.contact import touches
from linkwright.mechanics.instant import Instant
from linkwright.model.description import Description
from linkwright.numerics.spatial import point_velocity

Named = tuple[Any, ...]  # name, dimension, meaning, how it is read at an instant, and perhaps options of the channel


def contact_channels(d: Description) -> Iterator[Named]:
    """Yield gap, place and slip of every touch."""
    for i, touch in enumerate(touches(d)):
        name = touch.name
        yield f"{name}.gap", "length", f"gap of {name}", lambda x, i=i: x.touches[i].found.gap
        for k, axis in enumerate(d.plane or "xyz"):
            yield f"{name}.{axis}", "length", f"{axis} of the nearest point at {name}", lambda x, i=i, k=k: _place(x, i)[k]
        if d.planar:
            yield f"{name}.slip", "speed", f"sliding speed at {name}", lambda x, i=i: _slip(x, i)
            continue
        yield f"{name}.slip", "speed", f"sliding speed at {name}", lambda x, i=i: np.sqrt(_sliding(x, i) @ _sliding(x, i)), {"kink": 0.0}
        for k, axis in enumerate("xyz"):
            yield f"{name}.slip.{axis}", "speed", f"{axis} of the sliding velocity at {name}", lambda x, i=i, k=k: _sliding(x, i)[k]


def _place(at: Instant, i: int) -> Any:
    here = at.touches[i]
    return here.found.first + at.skel.origin(here.second)[: len(here.found.first)]


def _slip(at: Instant, i: int) -> Any:
    """Sliding speed in a plane, along the tangent."""
    normal, (x, y) = at.touches[i].found.normal, _apart(at, i)
    return normal[0] * y - normal[1] * x


def _sliding(at: Instant, i: int) -> Any:
    """Sliding velocity in space: what is across the normal."""
    normal, u = at.touches[i].found.normal, _apart(at, i)
    return u - (u @ normal) * normal


def _apart(at: Instant, i: int) -> Any:
    """Velocity of the nearest point of the first body, seen from the second."""
    (_, first, second, _), a, b = at.touches[i]
    apart = (at.skel.origin(a) - at.skel.origin(b))[: len(first)]
    return _speed(at, a, first - apart) - _speed(at, b, second)


def _speed(at: Instant, node: int, arm: Any) -> Any:
    """Velocity of a body's point, `arm` from the origin of its subsystem."""
    return point_velocity(at.motion.V[node], [*arm, 0.0][:3])[: len(arm)] if node >= 0 else 0.0 * arm
