"""Springs: in a joint, between two points (coil), and gas springs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.mechanics.forces.base import Wrenches, joint_effort, line, push
from linkwright.model.description import CoilSpring, GasSpring, TorsionSpring

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant


@dataclass(frozen=True)
class TorsionSpringForce:
    """effort = -stiffness (q - free) + preload."""

    spring: TorsionSpring
    from_outside = False
    conservative = True

    @property
    def name(self) -> str:
        return self.spring.name

    def wrenches(self, at: Instant) -> Wrenches:
        s, joint = self.spring, at.joint(self.spring.joint)
        return joint_effort(at, joint, -s.stiffness * (at.coordinate(joint) - s.free) + s.preload)

    def energy(self, at: Instant) -> Any:
        s = self.spring
        x = at.coordinate(at.joint(s.joint)) - s.free
        return 0.5 * s.stiffness * x * x - s.preload * x


@dataclass(frozen=True)
class CoilSpringForce:
    """Pull = stiffness (length - free) + preload along the line of its ends."""

    spring: CoilSpring
    from_outside = False
    conservative = True

    @property
    def name(self) -> str:
        return self.spring.name

    def wrenches(self, at: Instant) -> Wrenches:
        s, on = self.spring, line(at, self.spring.between)
        return push(on, -(s.stiffness * (on.length - s.free) + s.preload))

    def energy(self, at: Instant) -> Any:
        s = self.spring
        x = line(at, s.between).length - s.free
        return 0.5 * s.stiffness * x * x + s.preload * x


@dataclass(frozen=True)
class GasSpringForce:
    """Push = force / (1 - c x) with x = length_extended - length and c = (1 - 1/progression)/stroke.

    Isothermal gas: volume shrinks linearly with x; at x = stroke the push is progression * force.
    """

    spring: GasSpring
    from_outside = False
    conservative = True

    @property
    def name(self) -> str:
        return self.spring.name

    def wrenches(self, at: Instant) -> Wrenches:
        on = line(at, self.spring.between)
        return push(on, self.spring.force / (1.0 - self._shrink() * (self.spring.length - on.length)))

    def energy(self, at: Instant) -> Any:
        """Work stored since full extension: the integral of the push over x."""
        x, c = self.spring.length - line(at, self.spring.between).length, self._shrink()
        if np.real(c) == 0.0:
            return self.spring.force * x
        return -self.spring.force * np.log(1.0 - c * x) / c

    def _shrink(self) -> Any:
        return (1.0 - 1.0 / self.spring.progression) / self.spring.stroke
