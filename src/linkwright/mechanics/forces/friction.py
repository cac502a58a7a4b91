"""Friction in a joint, smooth through zero speed so that a run can pass a reversal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.mechanics.forces.base import Wrenches, joint_effort
from linkwright.model.description import Friction

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant


@dataclass(frozen=True)
class FrictionForce:
    """-coulomb tanh(v / speed) - viscous v. The part that grows with the joint's load (mu, radius) needs
    the reactions and is added by inverse dynamics."""

    friction: Friction
    from_outside = False
    conservative = False

    @property
    def name(self) -> str:
        return self.friction.name

    def wrenches(self, at: Instant) -> Wrenches:
        f, joint = self.friction, at.joint(self.friction.joint)
        v = at.speed(joint)
        return joint_effort(at, joint, -f.coulomb * np.tanh(v / f.speed) - f.viscous * v)

    def loss(self, at: Instant) -> Any:
        f = self.friction
        v = at.speed(at.joint(f.joint))
        return (f.coulomb * np.tanh(v / f.speed) + f.viscous * v) * v

    def energy(self, at: Instant) -> Any:
        return 0.0
