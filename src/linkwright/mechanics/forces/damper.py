"""Damper: a force against the rate of a joint or of the distance of two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwright.mechanics.forces.base import Wrenches, joint_effort, line, push
from linkwright.model.description import Damper

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant


@dataclass(frozen=True)
class DamperForce:
    """-coefficient * rate."""

    damper: Damper
    from_outside = False
    conservative = False

    @property
    def name(self) -> str:
        return self.damper.name

    def wrenches(self, at: Instant) -> Wrenches:
        d = self.damper
        if d.between is not None:
            on = line(at, d.between)
            return push(on, -d.coefficient * on.rate)
        joint = at.joint(d.joint)
        return joint_effort(at, joint, -d.coefficient * at.speed(joint))

    def loss(self, at: Instant) -> Any:
        d = self.damper
        rate = line(at, d.between).rate if d.between is not None else at.speed(at.joint(d.joint))
        return d.coefficient * rate * rate

    def energy(self, at: Instant) -> Any:
        return 0.0
