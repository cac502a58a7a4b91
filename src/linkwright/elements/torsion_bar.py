"""Torsion bar: a spring in a joint that runs onto much stiffer ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from linkwright.elements.base import Looks, ModelElement, Scalar, in_joint, number, place
from linkwright.errors import Source
from linkwright.numerics.scalars import real, where


@dataclass(frozen=True)
class TorsionBar(ModelElement):
    """effort = -stiffness (q - free_position) - end_stiffness d, with d the depth beyond `min` or `max`; all of it is stored."""

    section, word, type = "springs", "spring", "bar"
    typical = ("joint", "end_stiffness", "min", "max")
    synonyms = ("torsion_bars", "anti_roll_bars")
    says = "torsion bar"
    conservative = True
    looks = Looks("", mark="spiral")

    name: str
    joint: str = in_joint(one=True)
    stiffness: Scalar = number("effort/travel", "of the bar", least=0.0, preset=(1000.0, 10.0))
    end_stiffness: Scalar = number("effort/travel", "of both ends, added to `stiffness` beyond them", above=0.0)
    lower: Scalar = number("travel", "lower end", key="min")
    upper: Scalar = number("travel", "upper end", key="max")
    free_position: Scalar = number("travel", "coordinate at which it is relaxed", 0.0)
    where: Source | None = place()

    def law(self, at: Any) -> Any:
        return -self.stiffness * (at.x - self.free_position) - self.end_stiffness * sum(self._beyond(at))

    def stored(self, at: Any) -> Any:
        x = at.x - self.free_position
        return 0.5 * self.stiffness * x * x + 0.5 * self.end_stiffness * sum(d * d for d in self._beyond(at))

    def _beyond(self, at: Any) -> tuple[Any, Any]:
        """How far the coordinate is below the lower end (negative) and above the upper one; zero within."""
        low, high = at.x - self.lower, at.x - self.upper
        return where(real(low) < 0.0, low, 0.0), where(real(high) > 0.0, high, 0.0)

    def refused(self, about: Any) -> Iterator[tuple[str, str]]:
        if about.numeric(self.lower) >= about.numeric(self.upper):
            low, high = (about.shown(x, "travel") for x in (self.lower, self.upper))
            yield "", f"{about.what}: the lower end {low} is not below the upper {high}. Exchange or correct them."
