"""Forces of elements on bodies, and of motors.

An element has its law with it (`linkwright.elements`); `ElementForce` finds its travel in the mechanism and makes wrenches of its efforts:
`wrenches(at)` at one `Instant` (pose, speed, time), `energy(at)` what it stores. An effort in a joint is the wrench pair S'-dual on the
joint's two bodies, so springs and dampers act in cut joints as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linkwright.elements.friction import CREEP, STAND_IN
from linkwright.mechanics.forces.base import Force, ForceLine, Wrenches, acting_at, joint_effort, joint_efforts, line, push
from linkwright.mechanics.forces.element import ElementForce
from linkwright.mechanics.forces.friction_rows import FrictionRow, friction_row, friction_rows
from linkwright.model import description as d
from linkwright.model.coordinates import joint_part

# friction that sticks: with its whole effort at any speed (inverse dynamics), turning round over a speed (equations that are integrated
# without events), without its dry part (runs, which have that in `simulation.friction_states`)
SHARP, SOFT, VISCOUS = "sharp", "soft", "viscous"


def of_description(desc: d.Description, friction: str = SHARP) -> tuple[Force, ...]:
    """All forces a model file names, in a fixed order; `friction`: SHARP, SOFT or VISCOUS."""
    return tuple(ElementForce(_with_friction(x, desc, friction)) for x in desc.acting)


def _with_friction(x: Any, desc: d.Description, friction: str) -> Any:
    """Friction that sticks in one of its forms; anything else as it is."""
    if not isinstance(x, d.Friction) or x.smooth:
        return x
    if friction == VISCOUS and len(joint_part(desc, x.joint).entries) == 1:
        return replace(x, coulomb=0.0)
    return replace(x, speed=CREEP if friction == SHARP else STAND_IN)


__all__ = [
    "SHARP",
    "SOFT",
    "VISCOUS",
    "ElementForce",
    "Force",
    "ForceLine",
    "FrictionRow",
    "Wrenches",
    "acting_at",
    "friction_row",
    "friction_rows",
    "joint_effort",
    "joint_efforts",
    "line",
    "of_description",
    "push",
]
