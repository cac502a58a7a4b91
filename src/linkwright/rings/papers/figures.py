"""Figures of papers drawn again: panels of curves in the house style, written as PNG.

    compared(..., figure=figures.drawing([Panel("torque [N m]", (Curve(angle, torque, "with gravity"),))], over="crank [deg]"))

`drawing` returns what `Item.figure` wants: something to call with a path. Nothing is drawn, and matplotlib is not loaded, before it is
called; where curves are costly, give it a function that returns the panels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

WIDTH, HEIGHT = 6.4, 2.3  # inches of one panel


class FigureCurve(NamedTuple):
    """y over x; `name` is written at its end. Curves of one `color` number belong together; `kind` is line, dashed or points."""

    x: Any
    y: Any
    name: str = ""
    kind: str = "line"
    color: int | None = None


class FigurePanel(NamedTuple):
    """Axes with their curves; a caption above, thin lines at `marks`, y logarithmic if asked for."""

    label: str  # of y, with its unit
    curves: Sequence[FigureCurve]
    caption: str = ""
    marks: Sequence[float] = ()
    logarithmic: bool = False
    limits: tuple[float, float] | None = None  # of y
    legend: bool = False  # names in a list beside the axes, where curves end too close to each other
    over: str = ""  # label of x where it is not that of all


Panels = Sequence[FigurePanel]


@dataclass(frozen=True)
class FigureDrawing:
    """A figure to be drawn: called with a path it writes the panels, row by row, as a PNG."""

    source: Panels | Callable[[], Panels]
    over: str
    columns: int
    title: str | None

    @property
    def panels(self) -> Panels:
        return self.source if isinstance(self.source, Sequence) else self.source()

    def __call__(self, path: Path) -> None:
        from linkwright.rings.studio.plots.common_parts import drawn

        drawn(lambda frame: _sheet(frame, self.panels, self.over, self.columns), path, title=self.title)


def drawing(panels: Panels | Callable[[], Panels], over: str = "t [s]", columns: int = 1, title: str | None = None) -> FigureDrawing:
    """Return a figure for `Item.figure`, from panels or a function that gives them."""
    return FigureDrawing(panels, over, columns, title)


def _sheet(frame: Any, panels: Panels, over: str, columns: int) -> Any:
    rows = math.ceil(len(panels) / columns)
    width = WIDTH if columns == 1 else 0.72 * WIDTH * columns
    figure = frame.figure(width, HEIGHT * rows + (0.3 if frame.title else 0.0))
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        _panel(frame, axes, panel)
        axes.set_xlabel(panel.over or over, parse_math=False)
    for axes in grid[len(panels) :]:
        axes.remove()
    return figure


def _panel(frame: Any, axes: Any, panel: FigurePanel) -> None:
    from linkwright.rings.studio.plots.common_parts import color_of, legend

    looks = {"line": {"lw": 1.4}, "dashed": {"lw": 1.2, "ls": (0, (5, 2))}, "points": {"lw": 0.0, "marker": "o", "ms": 4.0, "mfc": "none"}}
    for i, curve in enumerate(panel.curves):
        color = color_of(i if curve.color is None else curve.color)
        axes.plot(curve.x, curve.y, color=color, label=curve.name or f"_{i}", **looks[curve.kind])
        if curve.name and not panel.legend:
            frame.name(axes, curve.y, curve.name, color)
    for x in panel.marks:
        axes.axvline(x, color=frame.look.accent, lw=0.8, ls=(0, (4, 2)), zorder=1.5)
    if panel.logarithmic:
        axes.set_yscale("log")
    if panel.limits is not None:
        axes.set_ylim(*panel.limits)
    if panel.legend:
        legend(axes)
    axes.margins(x=0.0)
    axes.set_ylabel(panel.label, parse_math=False)
    if panel.caption:
        axes.set_title(panel.caption, fontsize=9.0, loc="left", parse_math=False)
