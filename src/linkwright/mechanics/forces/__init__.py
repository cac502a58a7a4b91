"""Forces: one file a family, all with one shape.

A force is made from its data in the description: an element that has its law with it (`linkwright.elements`) by `ElementForce`, others
by a file here. `wrenches(at)` returns what it does to bodies at
one `Instant` (pose, speed, time), `energy(at)` what it stores. An effort in a joint is the
wrench pair S'-dual on the joint's two bodies, so springs and dampers act in cut joints as well.
Adding a kind: one file and one line in `FORCES`.
"""

from __future__ import annotations

from typing import Any

from linkwright import elements
from linkwright.mechanics.forces.base import Force, ForceLine, Wrenches, acting_at, joint_effort, joint_efforts, line, push
from linkwright.mechanics.forces.element import ElementForce
from linkwright.mechanics.forces.friction import FrictionForce
from linkwright.mechanics.forces.load import CylinderForce
from linkwright.mechanics.forces.stop import StopForce
from linkwright.model import description as d

FORCES: dict[type, Any] = {
    **dict.fromkeys((x for x in elements.ELEMENTS if not x.constraint), ElementForce),
    d.Friction: FrictionForce,
    d.Stop: StopForce,
    d.Cylinder: CylinderForce,
}


def of_description(desc: d.Description) -> tuple[Force, ...]:
    """All forces a model file names, in a fixed order."""
    return tuple(FORCES[type(x)](x) for x in desc.acting)


__all__ = [
    "FORCES",
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
