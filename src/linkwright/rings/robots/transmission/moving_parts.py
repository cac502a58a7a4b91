"""Bodies between motors and joints: cranks, rods, levers. The bodies that the joints connect, and whatever hangs on them, are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from linkwright.api import Description, coordinates, lengths


def between(d: Description, motors: Sequence[str], joints: Sequence[str]) -> tuple[str, ...]:
    """Return the bodies that hang together with a motor once the bodies of the joints are taken away, in the order of the model."""
    fixed = {d.bodies[0].name, *(b for name in joints for b in ends(d, name))}
    edges = [*((j.first, j.second) for j in d.joints), *d.connected]
    for tie in d.ties:
        bodies = [b for name in tie.joints for b in ends(d, name)]
        edges += [(bodies[0], other) for other in bodies[1:] if bodies[0] not in fixed and other not in fixed]
    found = {b for name in motors for b in ends(d, name) if b not in fixed}
    grown = True
    while grown:
        more = {b for a, b in (*edges, *((b, a) for a, b in edges)) if a in found and b not in fixed} - found
        found, grown = found | more, bool(more)
    return tuple(b.name for b in d.bodies if b.name in found)


def ends(d: Description, name: str) -> tuple[str, str]:
    """The two bodies of a joint or cylinder."""
    between = lengths(d).get(name)
    if between is not None:
        return between[0][0], between[1][0]
    joint = d.joint(coordinates.joint_name(name))
    return joint.first, joint.second


def half_inertia(d: Description, bodies: Sequence[str]) -> Description:
    """Return the mechanism with half the masses, inertias and armatures of these bodies and of the joints at them."""

    def half(x: Any) -> Any:
        return tuple(map(half, x)) if isinstance(x, tuple) else 0.5 * x

    return replace(
        d,
        bodies=tuple(replace(b, mass=half(b.mass), inertia=half(b.inertia)) if b.name in bodies else b for b in d.bodies),
        joints=tuple(replace(j, armature=0.5 * j.armature) if j.first in bodies or j.second in bodies else j for j in d.joints),
    )
