"""Friction in a joint, smooth through zero speed so that a run can pass a reversal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.joints import JOINTS, grouped
from linkwright.mechanics.forces.base import Wrenches, joint_efforts
from linkwright.model.coordinates import joint_part
from linkwright.model.description import Friction, Joint

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant

NOTHING = 1e-200  # beside the square of a speed: its root has a derivative at rest


@dataclass(frozen=True)
class FrictionForce:
    """-coulomb tanh(v / speed) - viscous v. The velocities of a ball are one vector: coulomb against its direction, tanh of its size.

    The part that grows with the joint's load (mu, radius) needs the reactions and is added by inverse dynamics.
    """

    friction: Friction
    from_outside = False
    conservative = False

    @property
    def name(self) -> str:
        return self.friction.name

    def wrenches(self, at: Instant) -> Wrenches:
        joint, efforts = self._efforts(at)
        return joint_efforts(at, joint, {i: -x for i, (x, _) in efforts.items()})

    def loss(self, at: Instant) -> Any:
        return sum(x * v for x, v in self._efforts(at)[1].values())

    def energy(self, at: Instant) -> Any:
        return 0.0

    def _efforts(self, at: Instant) -> tuple[Joint, dict[int, tuple[Any, Any]]]:
        """The joint, and what holds against each of its velocities, with the velocity."""
        f = self.friction
        joint, entries = joint_part(at.skel.tree.description, f.joint)
        v, out = at.rates(joint), {}
        for group in grouped(JOINTS[joint.type], entries):
            if len(group) == 1:
                x = v[group[0]]
                out[group[0]] = (f.coulomb * np.tanh(x / f.speed) + f.viscous * x, x)
                continue
            size = np.sqrt(sum(v[i] * v[i] for i in group) + NOTHING)
            slope = f.coulomb * np.tanh(size / f.speed) / size + f.viscous
            out |= {i: (slope * v[i], v[i]) for i in group}
        return joint, out
