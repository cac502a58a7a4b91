"""Atlases of all working modes of a robot over the same poses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.errors import call_explained, calls_explained, counted
from linkwright.files.tables import Result, Table
from linkwright.rings.robots.workspace.result import AtlasCurve, Workspace


@calls_explained
@dataclass(frozen=True, eq=False)
class WorkspaceModes(Result):
    """One Workspace for each working mode; the mode of the start comes first: `every[0]`, `every.reach` (of any mode), `every.curves`."""

    modes: tuple[Workspace, ...] = field(repr=False)
    starts: int  # random starts of the search for modes
    share: float  # of these that converged
    seldom: int  # starts that led to the mode found least often

    def __len__(self) -> int:
        return len(self.modes)

    def __iter__(self) -> Iterator[Workspace]:
        return iter(self.modes)

    def __getitem__(self, k: int) -> Workspace:
        return self.modes[k]

    @property
    def reach(self) -> np.ndarray:
        """Poses in reach in any working mode."""
        return np.any([a.reach for a in self.modes], axis=0)

    @property
    def curves(self) -> tuple[AtlasCurve, ...]:
        """Curves of all modes."""
        return tuple(c for a in self.modes for c in a.curves)

    def __str__(self) -> str:
        found = f"{self.starts:,} random starts, each mode found {self.seldom} times or more"
        lines = [f"{counted(len(self), 'working mode')} of {self.modes[0].name!r} ({found})"]
        return "\n".join([*lines, self.table().text()])

    def table(self) -> Table:
        """Return a row for each mode: poses in reach, and located points of each kind."""
        kinds = ("type I", "type II", "limit")
        points = [[sum(len(x.share) for x in a.located if x.kind == k) for k in kinds] for a in self.modes]
        rows = [(a.mode, int(a.reach.sum()), a.reach.size, *n) for a, n in zip(self.modes, points, strict=True)]
        return Table.of(["mode", "in reach", "poses", *(f"points {k}" for k in kinds)], rows, "working modes")

    def plot(self, what: Any = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Draw one measure of all modes side by side."""
        from linkwright.rings.studio.atlas_plots import maps

        return call_explained(maps, "plot")(self, what, path, **options)

    def show(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Open a page with a slider for the working mode next to those of the axes; with `path` write it there: one HTML file."""
        from linkwright.rings.studio.atlas_page import write
        from linkwright.rings.studio.page import shown

        return shown("workspace", lambda place: write(self, place), path)
