"""Static lost motion: how far an output moves within all plays while the drives hold, at every position of a cycle.

A cycle has it as the channel `D.lost_motion`, and `D.lost_motion.B` as the part of the play B: see `mechanics.inverse.lost_motion`. This is
the table and the plot over the positions of a drive, by plays.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from linkwright.api import Cell, Mechanism, Result, Table, UsageError, counted, elements, is_rotary, show, unit_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import Paper


@dataclass(frozen=True)
class LostMotion(Result):
    """How far an output moves to each side within all plays, over the positions of a drive, SI.

    `contributions` (positions, plays) are those of each play, and `half` is their sum. Both are infinite where nothing holds the output.
    """

    output: str
    drive: str
    plays: tuple[str, ...]
    position: np.ndarray = field(repr=False)
    nominal: np.ndarray = field(repr=False)
    contributions: np.ndarray = field(repr=False)
    notes: tuple[str, ...]
    unit: tuple[tuple[str, float], tuple[str, float]]  # of positions and of the output

    @property
    def ok(self) -> bool:
        """True if the lost motion is bounded at every position."""
        return bool(np.isfinite(self.contributions).all())

    @property
    def half(self) -> np.ndarray:
        """How far the output moves to each side of its nominal position."""
        return self.contributions.sum(axis=1)

    @property
    def largest(self) -> float:
        """Largest lost motion to one side."""
        return float(self.half.max())

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data in SI. None stands for a lost motion that is not bounded."""
        plays = [{"play": name, "half": [_finite(x) for x in self.contributions[:, i]]} for i, name in enumerate(self.plays)]
        return {
            "output": self.output, "drive": self.drive, "ok": self.ok, "position": self.position.tolist(), "nominal": self.nominal.tolist(),
            "half": [_finite(x) for x in self.half], "plays": plays, "notes": list(self.notes),
        }  # fmt: skip

    def table(self) -> Table:
        """Return the lost motion at every position with the contribution of each play. The plays are a part of the table."""
        (where, turn), (what, size) = self.unit
        heads = [(self.drive, where, ".5g"), (self.output, what), ("lost motion +-", what), *((name, what) for name in self.plays)]
        rows = [
            (x / turn, y / size, _cell(half / size), *(_cell(c / size) for c in each))
            for x, y, half, each in zip(self.position, self.nominal, self.half, self.contributions, strict=True)
        ]
        return Table.of(heads, rows, "lost motion", self.notes, parts=(self._plays(),))

    def _plays(self) -> Table:
        (where, turn), (what, size) = self.unit
        rows = []
        for i, name in enumerate(self.plays):
            each, k = self.contributions[:, i] / size, int(self.contributions[:, i].argmax())
            finite = each[np.isfinite(each)]
            rows.append((name, float(finite.mean()) if len(finite) else None, _cell(float(each[k])), self.position[k] / turn))
        return Table.of(["play", ("mean +-", what), ("largest +-", what), ("at", where, ".5g")], rows, "plays")

    def __str__(self) -> str:
        (where, turn), (what, size) = self.unit
        k, bounded = int(self.half.argmax()), np.isfinite(self.half)
        lines = [f"lost motion of {self.output}, {counted(len(self.position), 'position')} of {self.drive}"]
        if bounded.any():
            least = f"smallest: +- {show(float(self.half[bounded].min()) / size)} {what}"
            most = f"+- {show(self.largest / size)} {what}" if bounded.all() else "unbounded"
            lines.append(f"{least}, largest: {most} at {show(self.position[k] / turn)} {where}")
        return "\n".join([*lines, self._plays().text(), *(f"note: {x}" for x in self.notes)])

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Unpack[Paper]) -> Figure | Path:
        """Plot the lost motion over the positions of the drive, by plays (matplotlib Figure, or a file)."""
        return import_module("linkwright.rings.studio.plots.lost_motion").lost_motion(self, path, **options)


def _cell(x: float) -> Any:
    return float(x) if np.isfinite(x) else Cell(float(x), "unbounded")


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


# -------------------------------------------------------------------- computing


def lost_motion(m: Mechanism, output: str, drive: str | None, *, steps: int, start: Any, stop: Any) -> LostMotion:
    """Compute the lost motion of an output over the cycle of a drive, from the channels that a cycle has."""
    d = m.description
    touches = [f"{x.name}.contact" if isinstance(x, elements.Clearance) else x.name for x in d.touch_laws]
    if any(output.startswith(f"{name}.") for name in touches):  # the ideal joint has no gap that could change
        raise UsageError(f"'{output}' belongs to a contact. Lost motion is one of a joint, a body or a point of a body.", name=output)
    c = m.cycle(drive or (d.drives[0].joint if d.drives else None), steps=steps, speed=0, start=start, stop=stop)
    names = [x.name for x in elements.plays_of(d)]
    whole = f"{output}.lost_motion"
    found = c.read([whole, *(f"{whole}.{name}" for name in names)])
    each = np.array([found[f"{whole}.{name}"] for name in names]).T
    free = int((~np.isfinite(each)).any(axis=1).sum())
    notes = (f"Near {counted(free, 'position')} of the drive nothing holds the output: a dead center.",) if free else ()
    units = d.units
    unit = (unit_of(units, "angle" if is_rotary(d, c.drive) else "length"), unit_of(units, c.dimension(output)))
    return LostMotion(output, c.drive, tuple(names), c[c.drive], c[output], each, notes, unit)
