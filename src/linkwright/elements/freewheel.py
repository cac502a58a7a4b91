"""Freewheel: a one-way clutch in a joint, free to run one way and held the other way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.elements.base import Looks, ModelElement, Scalar, choice, in_joint, number, place
from linkwright.errors import Source
from linkwright.numerics.scalars import real, where


@dataclass(frozen=True)
class Freewheel(ModelElement):
    """A one-way clutch: against motion in the direction that it `blocks` up to `capacity`, against the other one `drag`.

    The effort is capacity tanh(v/speed): the blocked direction creeps at a speed below `speed` while the effort is below the capacity,
    and slips beyond it.
    """

    section, word = "freewheels", "freewheel"
    synonyms = ("freewheel", "one_way_clutches", "one_way_clutch", "sprag_clutches", "sprag_clutch", "overrunning_clutches")
    of_speed = True
    switches = True
    looks = Looks("", mark="ratchet")

    name: str
    joint: str = in_joint(one=True)
    capacity: Scalar = number("effort", "largest effort against the blocked direction", least=0.0, preset=(1000.0, 10.0))
    speed: Scalar = number("rate", "of the creep at which three quarters of the capacity hold", 0.001, above=0.0)
    drag: Scalar = number("effort", "against the free direction", 0.0, least=0.0)
    blocks: str = choice("backward", "forward", meaning="direction in which it holds: against a falling or a growing coordinate")
    where: Source | None = place()

    def law(self, at: Any) -> Any:
        side = 1.0 if self.blocks == "forward" else -1.0
        held = where(real(side * at.v) > 0.0, self.capacity, self.drag)
        return -held * np.tanh(at.v / self.speed)

    def lost(self, at: Any) -> Any:
        return -self.law(at) * at.v
