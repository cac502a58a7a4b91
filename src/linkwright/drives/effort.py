"""An effort in a joint: a torque where it turns, a force where it slides or in a cylinder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwright.drives.base import DriveOutput, DriveSpecification, Follower, Reading, Start, sample_time
from linkwright.drives.place import DriveTarget
from linkwright.drives.signals import read_signal
from linkwright.mechanics.instant import Instant
from linkwright.model.curves.lines import Constant


@dataclass(frozen=True, eq=False, repr=False)
class Torque(DriveSpecification):
    """`lw.torque(value)`: a constant, (times, values), or a function of t or of t and the state."""

    value: Any
    every: Any = None
    kind = "torque"

    def bind(self, target: DriveTarget, start: Start) -> BoundEffort:
        what = f"the {target.effort_kind} of '{target.name}'"
        signal = read_signal(self.value, target.dimension("effort"), what, start.description)
        every = 0.0 if isinstance(signal, Constant) else sample_time(self.every, what)
        return BoundEffort(target, Reading(signal, every))


@dataclass(frozen=True)
class BoundEffort(Follower):
    target: DriveTarget
    reading: Reading
    moves = False
    states = ()
    armature = 0.0
    notes = ()

    @property
    def constant(self) -> float | None:
        """The effort, where it is a constant entry of tau."""
        return self.signal.level if isinstance(self.signal, Constant) and self.target.entry is not None else None

    @property
    def channels(self) -> dict[str, str]:
        return {f"{self.target.name}.{self.target.effort_kind}": self.target.effort_kind, f"{self.target.name}.power": "power"}

    def doing(self, here: Instant, x: Any, held: Any) -> DriveOutput:
        return DriveOutput(self.reading.value(here, held))

    def record(self, here: Instant, x: Any, held: Any) -> list[Any]:
        effort = self.reading.value(here, held)
        return [effort, effort * self.target.speed(here)]
