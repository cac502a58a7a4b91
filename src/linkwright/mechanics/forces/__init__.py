"""Forces of elements on bodies, and of motors.

An element has its law with it (`linkwright.elements`); `ElementForce` finds its travel in the mechanism and makes wrenches of its efforts:
`wrenches(at)` at one `Instant` (pose, speed, time), `energy(at)` what it stores. An effort in a joint is the wrench pair S'-dual on the
joint's two bodies, so springs and dampers act in cut joints as well.
"""

from __future__ import annotations

from linkwright.mechanics.forces.base import Force, ForceLine, Wrenches, acting_at, joint_effort, joint_efforts, line, push
from linkwright.mechanics.forces.element import ElementForce
from linkwright.model import description as d


def of_description(desc: d.Description) -> tuple[Force, ...]:
    """All forces a model file names, in a fixed order."""
    return tuple(ElementForce(x) for x in desc.acting)


__all__ = [
    "ElementForce",
    "Force",
    "ForceLine",
    "Wrenches",
    "acting_at",
    "joint_effort",
    "joint_efforts",
    "line",
    "of_description",
    "push",
]
