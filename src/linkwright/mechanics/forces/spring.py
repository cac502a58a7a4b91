"""Springs: in a joint, between two points (coil), and gas springs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.joints import JOINTS, position_of
from linkwright.mechanics.forces.base import ForceLine, Wrenches, joint_efforts, line, push
from linkwright.model.coordinates import joint_part
from linkwright.model.description import CoilSpring, GasSpring, Joint, TorsionSpring
from linkwright.numerics.scalars import arctan2, real, where

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant

NOTHING = 1e-200  # beside the square of a sine: its root has a derivative where frames coincide


@dataclass(frozen=True)
class TorsionSpringForce:
    """effort = -stiffness (q - free) + preload in every coordinate it acts on; of a ball q is its rotation vector."""

    spring: TorsionSpring
    from_outside = False
    conservative = True

    @property
    def name(self) -> str:
        return self.spring.name

    def wrenches(self, at: Instant) -> Wrenches:
        s = self.spring
        joint, found = self._coordinates(at)
        return joint_efforts(at, joint, {i: -s.stiffness * (x - s.free) + s.preload for i, x in found.items()})

    def energy(self, at: Instant) -> Any:
        s, total = self.spring, 0.0
        for x in self._coordinates(at)[1].values():
            total = total + 0.5 * s.stiffness * (x - s.free) * (x - s.free) - s.preload * (x - s.free)
        return total

    def _coordinates(self, at: Instant) -> tuple[Joint, dict[int, Any]]:
        """The joint, and the coordinate that belongs to each velocity."""
        joint, entries = joint_part(at.skel.tree.description, self.spring.joint)
        jt, q = JOINTS[joint.type], at.coordinates(joint)
        turned = rotation_vector(q[:4]) if "quaternion" in jt.coordinate_kinds else q
        own = {i: position_of(jt, i) for i in entries}
        return joint, {i: turned[i] if k is None else q[k] for i, k in own.items()}


def rotation_vector(q: Any) -> Any:
    """Axis times angle, at most half a turn, of a quaternion; d(angle^2/2)/dt is its product with the angular velocity."""
    sign = where(real(q[0]) < 0.0, -1.0, 1.0)
    size = np.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3] + NOTHING)
    return q[1:4] * (2.0 * sign * arctan2(size, sign * q[0]) / size)


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
        on = line(at, self.spring.between)
        return push(on, self.along(at, on))

    def along(self, at: Instant, on: ForceLine) -> Any:
        """Force on its line that drives the ends apart."""
        return -(self.spring.stiffness * (on.length - self.spring.free) + self.spring.preload)

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
        return push(on, self.along(at, on))

    def along(self, at: Instant, on: ForceLine) -> Any:
        """Force on its line that drives the ends apart."""
        return self.spring.force / (1.0 - self._shrink() * (self.spring.length - on.length))

    def energy(self, at: Instant) -> Any:
        """Work stored since full extension: the integral of the push over x."""
        x, c = self.spring.length - line(at, self.spring.between).length, self._shrink()
        if np.real(c) == 0.0:
            return self.spring.force * x
        return -self.spring.force * np.log(1.0 - c * x) / c

    def _shrink(self) -> Any:
        return (1.0 - 1.0 / self.spring.progression) / self.spring.stroke
