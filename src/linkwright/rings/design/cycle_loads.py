"""The loads of a cycle at a glance: drive torques and forces, cylinders, belts, bearings, shaking force; what `linkwright cycle` prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import Result, Table, Trajectory, cycles, elements, listing, marked, show, unit_of
from linkwright.rings.design.bearing_loads import Bearings, bearings
from linkwright.rings.design.belts import BeltTable, belts
from linkwright.rings.design.cycle_averages import extremes
from linkwright.rings.design.cylinders import CylinderTable, cylinders
from linkwright.rings.design.drive_duty import Efforts, efforts
from linkwright.rings.design.effort_jumps import Jump, jump_notes, jumps


@dataclass(frozen=True)
class CycleLoads(Result):
    """Efforts and bearings of a cycle, or why there are none."""

    why: str = ""
    efforts: Efforts | None = None
    bearings: Bearings | None = None
    cylinders: CylinderTable | None = None
    belts: BeltTable | None = None
    shaking: tuple[float, float] = (0.0, 0.0)  # largest force and moment on the ground, the moment about the origin
    near_shaking: tuple[bool, bool] = (False, False)  # taken near a singular position
    outside: tuple[str, ...] = ()  # loads that `shaking` counts as forces from outside of the machine
    within: tuple[float, float] | None = None  # the same if the machine's own frame took up the loads
    units: tuple[str, ...] = ()
    jumps: tuple[Jump, ...] = ()  # of the drives' efforts, between samples
    steps: int = 0  # of a cycle; 0: a run

    def __str__(self) -> str:
        if self.why:
            return self.why
        pins = f"loads of the pins (P: equivalent load, 'linkwright docs bearing-loads')\n{self.bearings}"
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
        said = f"shaking force on the ground up to {force}, shaking moment about the origin up to {moment}"
        if self.within is None:
            return said
        force, moment = (f"{show(x / size)} {symbol}" for x, (symbol, size) in zip(self.within, units, strict=True))
        several = len(self.outside) > 1
        named = f"{'loads' if several else 'load'} {listing(map(repr, self.outside))}"
        them = "them" if several else "it"
        return f"{said}, with {named} as from outside of the machine; if its own frame takes {them} up, as in a press, {force} and {moment}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Limits of the figures: efforts that jump between samples, few samples."""
        if self.efforts is None:
            return ()
        few = f"figures belong to {self.steps} steps, and larger values may lie between them. The default of 360 steps is closer"
        return (*jump_notes(self.jumps, self.units, self.efforts.dimension), *([few] if 0 < self.steps < cycles.COARSE_SAMPLES else []))

    def table(self) -> Table:
        """Return drive torques and forces, with bearings, cylinders and belts as parts; one row with the reason where there are none."""
        tables = [x.table() for x in (self.efforts, self.bearings, self.cylinders, self.belts) if x]
        if not tables:
            return Table.of(["why"], [(self.why,)], "loads")
        first, *rest = tables
        return Table(first.columns, first.title, (*first.notes, *self.notes), tuple(rest))

    def as_dict(self) -> dict[str, Any]:
        """Return the loads in SI; `linkwright docs bearing-loads` lists the fields."""
        if self.efforts is None or self.bearings is None:
            return {"computed": False, "why": self.why}
        shaking: dict[str, Any] = {"force_max": self.shaking[0], "moment_max": self.shaking[1]}
        shaking |= {"near_force_max": self.near_shaking[0], "near_moment_max": self.near_shaking[1]}
        if self.within is not None:
            shaking |= {"outside": list(self.outside), "within_force_max": self.within[0], "within_moment_max": self.within[1]}
        jumped = [x.as_dict() for x in self.jumps]
        found = {"computed": True, "why": "", **self.efforts.as_dict(), **self.bearings.as_dict(), "shaking": shaking, "jumps": jumped}
        more = (self.cylinders, self.belts)
        return found | {k: rows for x in more if x for k, rows in x.as_dict().items()}


def cycle_loads(c: Trajectory) -> CycleLoads:
    """Efforts, bearing table and shaking force of a cycle; needs masses."""
    outside = tuple(x.name for x in elements.from_outside(c.skel.tree.description))
    wanted: dict[str, Callable[[Any], np.ndarray]] = {"shaking": lambda x: np.array(x.loads.ground_wrench)}
    if outside:
        wanted["within"] = lambda x: np.array(x.loads.shaking(outside=False))
    found = c._sampled(wanted, loads=True)
    force, moment = (extremes(c.t, x, c.t) for x in _sizes(found["shaking"]).T)
    near = bool(c.near_singular[force.sample_high]), bool(c.near_singular[moment.sample_high])
    within = None
    if outside:
        inner_force, inner_moment = (extremes(c.t, x, c.t).high for x in _sizes(found["within"]).T)
        within = (inner_force, inner_moment)
    return CycleLoads(
        "", efforts(c), bearings(c), cylinders(c), belts(c), (force.high, moment.high), near, outside, within,
        c.skel.tree.description.units, jumps(c), _steps(c),
    )  # fmt: skip


def _sizes(wrenches: np.ndarray) -> np.ndarray:
    """(samples, 2): sizes of force and moment."""
    return np.sqrt(np.sum(wrenches * wrenches, axis=2))


def _steps(c: Trajectory) -> int:
    """Steps of a cycle; 0 for a run, whose samples are not those of a cycle."""
    return len(c) - 1 if c.drive else 0
