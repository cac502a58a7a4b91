"""Channels of touches, from the positions and speeds of their bodies: what forces do there is among the loads.

    step.gap             distance of the two surfaces, negative as deep as they overlap
    step.x  step.y       the point of the first surface that is nearest to the second
    step.slip            speed of the first body along the second, positive to the left of the normal, which points to the first
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from linkwright.mechanics.contact import touches
from linkwright.mechanics.instant import Instant
from linkwright.model.description import Description
from linkwright.numerics.spatial import point_velocity

Named = tuple[str, str, str, Any]  # name, dimension, meaning, how it is read at an instant


def contact_channels(d: Description) -> Iterator[Named]:
    """Yield gap, place and slip of every touch."""
    for i, touch in enumerate(touches(d)):
        name = touch.name
        yield f"{name}.gap", "length", f"gap of {name}", lambda x, i=i: x.touches[i].found.gap
        for k, axis in enumerate(d.plane or ""):
            yield f"{name}.{axis}", "length", f"{axis} of the nearest point at {name}", lambda x, i=i, k=k: _place(x, i)[k]
        yield f"{name}.slip", "speed", f"sliding speed at {name}", lambda x, i=i: _slip(x, i)


def _place(at: Instant, i: int) -> Any:
    here = at.touches[i]
    return here.found.first + at.skel.origin(here.second)[:2]


def _slip(at: Instant, i: int) -> Any:
    (_, first, second, normal), a, b = at.touches[i]
    apart = (at.skel.origin(a) - at.skel.origin(b))[:2]
    speeds = [_speed(at, node, arm) for node, arm in ((a, first - apart), (b, second))]
    x, y = speeds[0] - speeds[1]
    return normal[0] * y - normal[1] * x


def _speed(at: Instant, node: int, arm: Any) -> Any:
    """Velocity of a body's point, `arm` from the origin of its subsystem."""
    return point_velocity(at.motion.V[node], [*arm, 0.0])[:2] if node >= 0 else 0.0 * arm
