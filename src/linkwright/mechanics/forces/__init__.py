"""Forces: one file a family, all with one shape.

A force is made from its data in the description; `wrenches(at)` returns what it does to bodies at
one `Instant` (pose, speed, time), `energy(at)` what it stores. An effort in a joint is the
wrench pair S'-dual on the joint's two bodies, so springs and dampers act in cut joints as well.
Adding a kind: one file and one line in `FORCES`.
"""

from __future__ import annotations

from typing import Any

from linkwright.mechanics.forces.base import Force, ForceLine, Wrenches, acting_at, joint_effort, joint_efforts, line, push
from linkwright.mechanics.forces.damper import DamperForce
from linkwright.mechanics.forces.friction import FrictionForce
from linkwright.mechanics.forces.load import CylinderForce, LoadForce
from linkwright.mechanics.forces.spring import CoilSpringForce, GasSpringForce, TorsionSpringForce
from linkwright.mechanics.forces.stop import StopForce
from linkwright.model import description as d

FORCES: dict[type, Any] = {
    d.TorsionSpring: TorsionSpringForce,
    d.CoilSpring: CoilSpringForce,
    d.GasSpring: GasSpringForce,
    d.Damper: DamperForce,
    d.Friction: FrictionForce,
    d.Stop: StopForce,
    d.Load: LoadForce,
    d.Cylinder: CylinderForce,
}


def of_description(desc: d.Description) -> tuple[Force, ...]:
    """All forces a model file names, in a fixed order."""
    return tuple(FORCES[type(x)](x) for x in desc.acting)


__all__ = ["FORCES", "Force", "ForceLine", "Wrenches", "acting_at", "joint_effort", "joint_efforts", "line", "of_description", "push"]
