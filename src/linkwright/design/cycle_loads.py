"""The loads of a cycle at a glance: efforts of the drives, bearing table, shaking force; what `linkwright turn` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.design.bearings import Bearings, bearings
from linkwright.design.efforts import Efforts, efforts
from linkwright.design.jumps import Jump, jumps, told
from linkwright.design.tables import show
from linkwright.results.trajectory import Trajectory, unit_of


@dataclass(frozen=True)
class CycleLoads:
    """Efforts and bearings of a cycle, or why there are none."""

    why: str = ""
    efforts: Efforts | None = None
    bearings: Bearings | None = None
    shaking: tuple[float, float] = (0.0, 0.0)  # largest force and moment on the ground, the moment about the origin
    units: tuple[str, ...] = ()
    jumps: tuple[Jump, ...] = ()  # of the drives' efforts, between samples

    def __str__(self) -> str:
        if self.why:
            return self.why
        force, torque = unit_of(self.units, "force"), unit_of(self.units, "torque")
        shaking = f"shaking force on the ground up to {show(self.shaking[0] / force[1])} {force[0]}"
        shaking += f", shaking moment about the origin up to {show(self.shaking[1] / torque[1])} {torque[0]}"
        pins = f"loads of the pins (P: equivalent load, docs/loads.md)\n{self.bearings}"
        said = "".join(f"\nnote: {x}" for x in self.notes)
        return f"efforts of the drives\n{self.efforts}{said}\n\n{pins}\n\n{shaking}"

    @property
    def notes(self) -> list[str]:
        """What limits the figures: efforts that jump between samples."""
        return [] if self.efforts is None else told(self.jumps, self.units, self.efforts.dimension)

    def as_dict(self) -> dict[str, Any]:
        """SI; `docs/loads.md` lists the fields."""
        if self.efforts is None or self.bearings is None:
            return {"computed": False, "why": self.why}
        shaking = {"force_max": self.shaking[0], "moment_max": self.shaking[1]}
        jumped = [x.as_dict() for x in self.jumps]
        return {"computed": True, "why": "", **self.efforts.as_dict(), **self.bearings.as_dict(), "shaking": shaking, "jumps": jumped}


def cycle_loads(c: Trajectory) -> CycleLoads:
    """Efforts, bearing table and shaking force of a cycle; needs masses."""
    ground = c.sampled({"shaking": lambda x: np.array(x.loads.ground_wrench)}, loads=True)["shaking"]
    force, moment = np.sqrt(np.sum(ground * ground, axis=2)).max(axis=0).tolist()
    return CycleLoads("", efforts(c), bearings(c), (force, moment), c.skel.tree.description.units, jumps(c))
