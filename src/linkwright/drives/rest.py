"""Rest of a coordinate at the end of its travel: a rigid stop holds it, beside whatever drives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwright.drives.base import DriveOutput
from linkwright.drives.place import DriveTarget
from linkwright.mechanics.instant import Instant
from linkwright.model.curves.lines import Constant


@dataclass(frozen=True)
class StopRest:
    """A coordinate that is held at a value by a stop."""

    coordinate: str
    at: float

    def bind(self, place: DriveTarget) -> BoundRest:
        return BoundRest(place, self.at)


@dataclass(frozen=True)
class BoundRest:
    """The same at its place. Its multiplier is what the stop pushes with."""

    target: DriveTarget
    at: float
    moves = True
    rests = True
    every = 0.0
    armature = 0.0
    states = ()
    notes = ()
    signal = Constant(0.0)

    @property
    def channels(self) -> dict[str, str]:
        return {f"{self.target.name}.stop.{self.target.effort_kind}": self.target.effort_kind}

    def doing(self, here: Instant, x: Any, held: Any) -> DriveOutput:
        return DriveOutput(motion=(self.at, 0.0, 0.0))

    def record(self, here: Instant, x: Any, held: Any) -> list[Any]:
        return [1.0]


def is_rest(bound: Any) -> bool:
    """True for a coordinate that a stop holds, not a drive."""
    return getattr(bound, "rests", False)
