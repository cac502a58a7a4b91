"""Rope: two points that are never farther apart than its length; inextensible, without mass, slack in between.

It pulls and never pushes, so it closes no loop: it ends the travel of its own length, as a rigid stop does (`simulation.rigid_stops`).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from linkwright.elements.base import IDLE, Key, Looks, ModelElement, PointRef, Scalar, ends, held, needs, number, place, rebound
from linkwright.elements.rod import Rod
from linkwright.errors import Source


@dataclass(frozen=True)
class Rope(ModelElement):
    """A rod with `slack: true`: it pulls when its ends are as far apart as its length, and hangs loose otherwise."""

    section, word, group, form, held_in = Rod.section, Rod.word, "constraints", "rope", "ropes"
    says = "rope"
    typical = ("slack", "restitution")
    coordinate = True
    pulls = True
    joins = True
    looks = Looks("rope", 1.4)
    formats = held()
    together = (needs("restitution", "slack"),)
    order = ("between", "length", "slack", "restitution")
    further = MappingProxyType({"slack": Key("flag", "it may be shorter than its length and then pulls nothing")})

    name: str
    between: tuple[PointRef, PointRef] = ends()
    length: Scalar = number("length", "distance at which it becomes taut (default: as in the drawing)", above=0.0, drawn=True)
    where: Source | None = place()
    restitution: Scalar = rebound("it became taut")

    @property
    def acts(self) -> str:
        return IDLE

    @property
    def travel_ends(self) -> tuple[Scalar | None, Scalar | None]:
        return None, self.length
