"""Stops: ends of the travel of a joint or cylinder, elastic with the damping of Hunt and Crossley, or rigid.

    push = stiffness d (1 + damping d')  at depth d > 0, and never a pull

The damping grows with the depth, so the push begins at zero however fast the end is hit. It takes energy on the way in and out; where a
fast retreat would need a pull, the contact lets go and what is left in the spring is lost as well. A stop without a stiffness is rigid and
has no law: it is an event and a constraint while it is touched, `simulation.rigid_stops`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from linkwright.elements.base import IDLE, REACH, Key, Limit, Looks, ModelElement, Scalar, either, held, in_joint, needs, number, place
from linkwright.errors import Source
from linkwright.numerics.scalars import real, where


@dataclass(frozen=True)
class Stop(ModelElement):
    """Ends of the travel of a joint or cylinder: at depth d beyond one it pushes back with stiffness d (1 + damping d'), never pulls.

    An end that is None is open; `damping` is per speed: s/rad, or s/m where it slides. `stiffness` None: rigid.
    """

    section, word, form = "stops", "stop", "stop"
    synonyms = ("limits", "limit", "end_stops", "bumpers")
    of_speed = True
    switches = True
    looks = Looks("", mark="wall")
    formats = held(mjcf="range", robot="range")
    order = ("joint", "range", "min", "max", "stiffness", "damping", "restitution")
    together = (either("range", ("min", "max")), needs("damping", "stiffness"), either("stiffness", "restitution", needed=False))
    further = MappingProxyType({"range": Key("numbers", "both ends, in the place of `min` and `max`", "travel")})

    name: str
    joint: str = in_joint(named=True, one=True, lines=True)
    stiffness: Scalar = number("effort/travel", "of an elastic stop (default: rigid)", above=0.0, optional=True)  # or None
    lower: Scalar | None = number("travel", "lower end", None, key="min")
    upper: Scalar | None = number("travel", "upper end", None, key="max")
    damping: Scalar = number("1/rate", "share of the push at a speed of one, of an elastic stop", 0.0, least=0.0)
    where: Source | None = place()
    restitution: Scalar = number(  # of a rigid one
        "pure number", "speed after an impact over the speed before, of a rigid stop", 0.0, least=0.0, most=1.0, absent=True
    )

    @property
    def rigid(self) -> bool:
        return self.stiffness is None

    @property
    def acts(self) -> str:
        return IDLE if self.rigid else super().acts

    @property
    def travel_ends(self) -> tuple[Scalar | None, Scalar | None]:
        return self.lower, self.upper

    def limits(self) -> Iterator[Limit]:
        far = "is passed: the motion reaches"
        if self.rigid:
            yield Limit(REACH, "", "travel", self.lower, self.upper, far, far, own=True)

    def law(self, at: Any) -> Any:
        effort: Any = 0.0
        for side, depth, speed in self._ends(at):
            effort = effort - side * self._push(depth, speed)
        return effort

    def stored(self, at: Any) -> Any:
        return sum(where(real(depth) > 0.0, 0.5 * self.stiffness * depth * depth, 0.0) for _, depth, _ in self._ends(at))

    def lost(self, at: Any) -> Any:
        """Power done on the stop that is not stored in its spring: (push - stiffness d) d', never negative."""
        out: Any = 0.0
        for _, depth, speed in self._ends(at):
            spring = where(real(depth) > 0.0, self.stiffness * depth, 0.0)
            out = out + (self._push(depth, speed) - spring) * speed
        return out

    def _push(self, depth: Any, speed: Any) -> Any:
        damped = 1.0 + self.damping * speed
        pushed = where(real(damped) > 0.0, self.stiffness * depth * damped, 0.0)
        return where(real(depth) > 0.0, pushed, 0.0)

    def _ends(self, at: Any) -> list[tuple[float, Any, Any]]:
        """(side, depth, rate of the depth) of each end there is."""
        ends = ((-1.0, self.lower), (1.0, self.upper))
        return [] if self.rigid else [(side, side * (at.x - end), side * at.v) for side, end in ends if end is not None]
