"""Stops: one-sided springs at the ends of a joint's or cylinder's travel, with the damping of Hunt and Crossley.

    push = stiffness d (1 + damping d')  at depth d > 0, and never a pull

A stop without a stiffness is rigid and no force at all: `simulation.rigid_stops`. The damping grows with the depth, so the push
begins at zero however fast the end is hit. It takes energy on the way in and out; where a fast retreat would need a pull, the contact
lets go and what is left in the spring is lost as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwright.joints import JOINTS, position_of
from linkwright.mechanics.forces.base import ForceLine, Wrenches, joint_effort, line, push
from linkwright.model.coordinates import joint_part, lengths
from linkwright.model.description import Stop
from linkwright.numerics.scalars import real, where

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant


@dataclass(frozen=True)
class StopForce:
    """Pushes back beyond the lower and the upper end."""

    stop: Stop
    from_outside = False
    conservative = False

    @property
    def name(self) -> str:
        return self.stop.name

    def wrenches(self, at: Instant) -> Wrenches:
        if self.stop.stiffness is None:  # rigid: no force but a constraint while it is touched
            return []
        effort: Any = 0.0
        for side, depth, speed in self._ends(at):
            effort = effort - side * self._push(depth, speed)
        on = self._line(at)
        if on is not None:
            return push(on, effort)
        joint, (i,) = joint_part(at.skel.tree.description, self.stop.joint)
        return joint_effort(at, joint, effort, i)

    def energy(self, at: Instant) -> Any:
        return sum(where(real(depth) > 0.0, 0.5 * self.stop.stiffness * depth * depth, 0.0) for _, depth, _ in self._ends(at))

    def loss(self, at: Instant) -> Any:
        """Power done on the stop that is not stored in its spring: (push - stiffness d) d', never negative."""
        out: Any = 0.0
        for _, depth, speed in self._ends(at):
            spring = where(real(depth) > 0.0, self.stop.stiffness * depth, 0.0)
            out = out + (self._push(depth, speed) - spring) * speed
        return out

    def _push(self, depth: Any, speed: Any) -> Any:
        damped = 1.0 + self.stop.damping * speed
        held = where(real(damped) > 0.0, self.stop.stiffness * depth * damped, 0.0)
        return where(real(depth) > 0.0, held, 0.0)

    def _ends(self, at: Instant) -> list[tuple[float, Any, Any]]:
        """(side, depth, rate of the depth) of each end there is."""
        s, on = self.stop, self._line(at)
        if s.stiffness is None:
            return []
        if on is None:
            joint, (i,) = joint_part(at.skel.tree.description, s.joint)
            x, v = at.coordinate(joint, position_of(JOINTS[joint.type], i) or 0), at.speed(joint, i)
        else:
            x, v = on.length, on.rate
        ends = ((-1.0, s.lower), (1.0, s.upper))
        return [(side, side * (x - end), side * v) for side, end in ends if end is not None]

    def _line(self, at: Instant) -> ForceLine | None:
        between = lengths(at.skel.tree.description).get(self.stop.joint)
        return None if between is None else line(at, between)
