"""Damper: a force against the rates of a joint or of the distance of two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwright.mechanics.forces.base import ForceLine, Wrenches, joint_efforts, line, push
from linkwright.model.coordinates import joint_part
from linkwright.model.description import Damper

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant


@dataclass(frozen=True)
class DamperForce:
    """-coefficient * rate, of every velocity it acts on."""

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
            return push(on, self.along(at, on))
        joint, entries = joint_part(at.skel.tree.description, d.joint)
        v = at.rates(joint)
        return joint_efforts(at, joint, {i: -d.coefficient * v[i] for i in entries})

    def along(self, at: Instant, on: ForceLine) -> Any:
        """Force on the line between its points that drives them apart."""
        return -self.damper.coefficient * on.rate

    def loss(self, at: Instant) -> Any:
        d = self.damper
        if d.between is not None:
            rate = line(at, d.between).rate
            return d.coefficient * rate * rate
        joint, entries = joint_part(at.skel.tree.description, d.joint)
        v = at.rates(joint)
        return d.coefficient * sum(v[i] * v[i] for i in entries)

    def energy(self, at: Instant) -> Any:
        return 0.0
