"""An effort in a joint: a torque if it turns, a force if it slides or in a cylinder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.drives.base import DriveOutput, DriveSpecification, DriveTarget, Follower, Reading, Start, read_signal, sample_time
from linkwright.errors import UsageError
from linkwright.mechanics.instant import Instant
from linkwright.model.curves.polynomial import Constant
from linkwright.model.file import quantity
from linkwright.numerics.scalars import real, where
from linkwright.text.units import NONE

OPEN = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False, repr=False)
class Torque(DriveSpecification):
    """`lw.drives.torque(value)`: a constant, (times, values), or a function of t or of t and the state.

    At the joint acts gear_ratio times the value, not beyond `limits`: one number for both directions, or (low, high), None for an open end.
    """

    value: Any
    every: Any = None
    gear_ratio: Any = 1.0
    limits: Any = None
    kind = "torque"

    def bind(self, target: DriveTarget, start: Start) -> BoundEffort:
        what = f"the {target.effort_kind} of '{target.name}'"
        signal = read_signal(self.value, target.dimension("effort"), what, start.description)
        every = 0.0 if isinstance(signal, Constant) else sample_time(self.every, what)
        gear_ratio = quantity(self.gear_ratio, NONE, f"the gear of '{target.name}'")
        if not (np.isfinite(gear_ratio) and gear_ratio != 0.0):
            raise UsageError(
                f"the gear of '{target.name}' is {gear_ratio:g}. It must be a number other than zero.", name=target.name, value=gear_ratio
            )
        return BoundEffort(target, Reading(signal, every), gear_ratio, effort_limits(self.limits, target))


def effort_limits(given: Any, target: DriveTarget) -> tuple[float, float] | None:
    """(least, largest) effort of a limit for both directions or of a pair; infinite where an end is open."""
    what = f"the limit of '{target.name}'"
    if given is None:
        return None
    if not isinstance(given, (tuple, list)):
        most = quantity(given, target.dimension("effort"), what)
        if not most > 0.0:
            raise UsageError(f"{what} is {most:g}. It must be greater than zero.", name=what, value=most)
        return -most, most
    if len(given) != 2:
        raise UsageError(f"{what} is one number, or a pair (low, high) with None for an open end; {len(given)} were given.", name=what)
    low, high = (open_ if x is None else quantity(x, target.dimension("effort"), what) for x, open_ in zip(given, OPEN, strict=True))
    if not low < high:
        raise UsageError(f"{what}: {low:g} is not below {high:g}. Exchange them.", name=what)
    return None if (low, high) == OPEN else (low, high)


def limited(effort: Any, limits: tuple[Any, Any] | None) -> Any:
    """The effort within the limits, which may be symbols."""
    if limits is None:
        return effort
    low, high = limits
    if not (isinstance(low, float) and low == -np.inf):
        effort = where(real(effort) < low, low, effort)
    return effort if isinstance(high, float) and high == np.inf else where(real(effort) > high, high, effort)


@dataclass(frozen=True)
class BoundEffort(Follower):
    target: DriveTarget
    reading: Reading
    gear_ratio: float = 1.0
    limits: tuple[float, float] | None = None
    moves = False
    states = ()
    armature = 0.0
    notes = ()

    @property
    def constant(self) -> float | None:
        """The effort, where it is a constant entry of tau."""
        if not isinstance(self.signal, Constant) or self.target.entry is None:
            return None
        return limited(self.gear_ratio * self.signal.level, self.limits)

    @property
    def channels(self) -> dict[str, str]:
        return {f"{self.target.name}.{self.target.effort_kind}": self.target.effort_kind, f"{self.target.name}.power": "power"}

    def doing(self, here: Instant, x: Any, held: Any) -> DriveOutput:
        return DriveOutput(self._effort(here, held))

    def record(self, here: Instant, x: Any, held: Any) -> list[Any]:
        effort = self._effort(here, held)
        return [effort, effort * self.target.speed(here)]

    def _effort(self, here: Instant, held: Any) -> Any:
        value = self.reading.value(here, held)
        return limited(self.gear_ratio * value, self.limits)
