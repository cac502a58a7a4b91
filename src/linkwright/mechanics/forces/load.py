"""External loads and cylinders that push with a given force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import ModelError
from linkwright.mechanics.forces.base import ForceLine, Wrenches, line, push
from linkwright.mechanics.kinematics.motion import locate, node_motion
from linkwright.model.description import Cylinder, Load
from linkwright.numerics.spatial import point_wrench

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant


@dataclass(frozen=True)
class LoadForce:
    """A force and a moment on a body at a point, in world axes or carried along by a body."""

    load: Load
    from_outside = True
    conservative = False

    @property
    def name(self) -> str:
        return self.load.name

    def wrenches(self, at: Instant) -> Wrenches:
        point = locate(at.skel, at.motion, (self.load.body, self.load.point))
        if point.node < 0:
            return []
        try:
            force = np.array([at.value(x) for x in self.load.force])
            moment = np.array([at.value(x) for x in self.load.moment])
        except ModelError as error:
            raise ModelError(f"load '{self.name}': {error.message}", self.load.where) from error
        if self.load.axes != "world":
            R = node_motion(at.skel, at.motion, at.skel.node(self.load.axes))[0].R
            force, moment = R @ force, R @ moment
        return [(point.node, point_wrench(point.arm, force, moment))]

    def energy(self, at: Instant) -> Any:
        return 0.0


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
