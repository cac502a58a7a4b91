"""The loads of a cycle at a glance: drive torques and forces, cylinders, belts, bearings, shaking force; what `linkwright turn` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.design.bearings import Bearings, bearings
from linkwright.design.belts import BeltTable, belts
from linkwright.design.cylinders import CylinderTable, cylinders
from linkwright.design.efforts import Efforts, efforts
from linkwright.design.jumps import Jump, jump_notes, jumps
from linkwright.design.tables import extremes, marked, show
from linkwright.motion.quick_drives import FEW
from linkwright.results.trajectory import Trajectory, unit_of


@dataclass(frozen=True)
class CycleLoads:
    """Efforts and bearings of a cycle, or why there are none."""

    why: str = ""
    efforts: Efforts | None = None
    bearings: Bearings | None = None
    cylinders: CylinderTable | None = None
    belts: BeltTable | None = None
    shaking: tuple[float, float] = (0.0, 0.0)  # largest force and moment on the ground, the moment about the origin
    near_shaking: tuple[bool, bool] = (False, False)  # taken near a singular position
    units: tuple[str, ...] = ()
    jumps: tuple[Jump, ...] = ()  # of the drives' efforts, between samples
    steps: int = 0  # of a turn; 0: a run

    def __str__(self) -> str:
        if self.why:
            return self.why
        pins = f"loads of the pins (P: equivalent load, docs/loads.md)\n{self.bearings}"
        said = "".join(f"\nnote: {x}" for x in self.notes)
        lifted = f"\n\ncylinders\n{self.cylinders}" if self.cylinders else ""
        pulled = f"\n\nbelts, chains and ropes\n{self.belts}" if self.belts else ""
        return f"drive torques and forces\n{self.efforts}{said}{lifted}{pulled}\n\n{pins}\n\n{self.shaken}"

    @property
    def shaken(self) -> str:
        """`shaking force on the ground up to 12.3 N, shaking moment about the origin up to 4.5 N m`."""
        units = [unit_of(self.units, kind) for kind in ("force", "torque")]
        found = zip(self.shaking, self.near_shaking, units, strict=True)
        force, moment = (f"{show(marked(x / size, near))} {symbol}" for x, near, (symbol, size) in found)
        return f"shaking force on the ground up to {force}, shaking moment about the origin up to {moment}"

    @property
    def notes(self) -> list[str]:
        """Limits of the figures: efforts that jump between samples, few samples."""
        if self.efforts is None:
            return []
        few = f"figures are those of {self.steps} steps, and larger values may lie between them; 360 steps, the default, are closer"
        return [*jump_notes(self.jumps, self.units, self.efforts.dimension), *([few] if 0 < self.steps < FEW else [])]

    def as_dict(self) -> dict[str, Any]:
        """SI; `docs/loads.md` lists the fields."""
        if self.efforts is None or self.bearings is None:
            return {"computed": False, "why": self.why}
        shaking = {"force_max": self.shaking[0], "moment_max": self.shaking[1]}
        shaking |= {"near_force_max": self.near_shaking[0], "near_moment_max": self.near_shaking[1]}
        jumped = [x.as_dict() for x in self.jumps]
        found = {"computed": True, "why": "", **self.efforts.as_dict(), **self.bearings.as_dict(), "shaking": shaking, "jumps": jumped}
        more = {"cylinders": self.cylinders, "belts": self.belts}
        return found | {name: x.as_dict() for name, x in more.items() if x}


def cycle_loads(c: Trajectory) -> CycleLoads:
    """Efforts, bearing table and shaking force of a cycle; needs masses."""
    ground = c.sampled({"shaking": lambda x: np.array(x.loads.ground_wrench)}, loads=True)["shaking"]
    sizes = np.sqrt(np.sum(ground * ground, axis=2))
    force, moment = (extremes(c.t, x, c.t) for x in sizes.T)
    shaking = force.high, moment.high
    near = bool(c.near_singular[force.sample_high]), bool(c.near_singular[moment.sample_high])
    units = c.skel.tree.description.units
    return CycleLoads("", efforts(c), bearings(c), cylinders(c), belts(c), shaking, near, units, jumps(c), _steps(c))


def _steps(c: Trajectory) -> int:
    """Steps of a turn; 0 for a run, whose samples are not those of a cycle."""
    return len(c) - 1 if c.drive else 0
