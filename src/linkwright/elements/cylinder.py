"""Cylinder: a linear actuator between two points, hydraulic, pneumatic or electric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from linkwright.elements.base import DRIVES, Key, Limit, Looks, ModelElement, PointRef, Scalar, either, ends, held, needs, number, place
from linkwright.errors import Source


@dataclass(frozen=True)
class Cylinder(ModelElement):
    """A linear actuator between two points: it pushes with `force`, or is driven in length (`drive`)."""

    section, word, group, form = "cylinders", "cylinder", "motion", "cylinder"
    synonyms = ("actuating_cylinders", "hydraulics", "pistons", "linear_actuators")
    coordinate = True
    joins = True
    looks = Looks("telescope")
    formats = held(mjcf="cylinder")
    lost_as = "a cylinder between two points"
    order = ("between", "stroke", "force", "pressure", "bore", "rod")
    together = (either("force", "pressure", needed=False), needs("pressure", "bore"), needs("rod", "bore"))
    further = MappingProxyType(
        {
            "stroke": Key("numbers", "shortest and longest length between the eyes: a rigid stop", "length"),
            "pressure": Key("number", "on the piston, in the place of `force`", "pressure", channels=True),
        }
    )

    name: str
    between: tuple[PointRef, PointRef] = ends()
    force: Any = number("force", "push, while it is not driven", 0.0, varies=True)
    where: Source | None = place()
    bore: Scalar | None = number("length", "diameter of the piston, for pressures and flows", None, above=0.0, aside=True)
    rod: Scalar | None = number("length", "diameter of the piston rod", None, above=0.0, aside=True)

    def limits(self) -> Iterator[Limit]:
        if self.bore is not None and self.rod is None:  # a pressure below that of the surroundings
            pulls = "has to pull but has no rod end, which needs `rod:`: a pressure of"
            yield Limit(DRIVES, "cap.pressure", "pressure", 0.0, None, pulls, loads=True)

    def law(self, at: Any) -> Any:
        """The push; `at.value` gives formulas and tables their values here."""
        return at.value(self.force)
