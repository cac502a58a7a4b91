"""Cylinders that push with a given force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwright.errors import ModelError
from linkwright.mechanics.forces.base import ForceLine, Wrenches, line, push
from linkwright.model.description import Cylinder

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant


@dataclass(frozen=True)
class CylinderForce:
    """A push between two points; zero where the cylinder is driven in length."""

    cylinder: Cylinder
    from_outside = False
    conservative = False

    @property
    def name(self) -> str:
        return self.cylinder.name

    def wrenches(self, at: Instant) -> Wrenches:
        on = line(at, self.cylinder.between)
        return push(on, self.along(at, on))

    def along(self, at: Instant, on: ForceLine) -> Any:
        """Force on its line that drives the ends apart, without that of a drive."""
        try:
            return at.value(self.cylinder.force)
        except ModelError as error:
            raise ModelError(f"cylinder '{self.name}': {error.message}", self.cylinder.where) from error

    def energy(self, at: Instant) -> Any:
        return 0.0
