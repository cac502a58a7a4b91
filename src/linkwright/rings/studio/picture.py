"""A still picture of a mechanism, planar or spatial, at its start or at any state.

draw(m, "wiper.png")                     the start position, marked points traced over a cycle
draw(m, at=s.assemble(q={"A": 1.0}))     another position; returns the matplotlib Figure
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import LinkwrightError, State, System, Trajectory, UsageError, files, mechanism_of
from linkwright.rings.studio import style
from linkwright.rings.studio.paper_sheet import BAND, Sheet, window
from linkwright.rings.studio.planar_drawing import PlanarDrawing, drawn_bodies, furniture, legend_room, legend_rows
from linkwright.rings.studio.scene import Scene, Stage
from linkwright.rings.studio.spatial_drawing import SHARP, Spatial

TURN_STEPS = 120  # of the cycle that gives traces and travels


def draw(
    mechanism: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    at: State | None = None,
    turn: Trajectory | None = None,
    trace: Sequence[str] | None = None,
    size: tuple[float, float] | None = None,
    dark: bool = False,
    labels: bool = True,
    off: Sequence[str] = (),
) -> Any:
    """A picture of a Mechanism or System: the Figure, or with `path` (.png, .svg, .pdf) the file written.

    `at` is the state drawn (default the start); `trace` names points (`"coupler.P"`) whose paths over a cycle are shown
    (default: marked points, without any the tip where links meet; `[]`: none, which also saves the cycle); `turn` is that turn, if
    it is at hand; `size` in inches; `off` names rods that are not drawn.
    """
    if at is not None and not isinstance(at, State):
        raise UsageError(f"at is a state, m.system.assemble({{...}}) or run.at('1 s'), not {type(at).__name__}.", name="at", value=at)
    if size is not None and not (
        isinstance(size, Sequence) and len(size) == 2 and all(isinstance(x, (int, float)) and x > 0 for x in size)
    ):
        raise UsageError(f"size is (width, height) in inches, such as (6, 4), not {size!r:.40}.", name="size", value=size)
    if path is not None:
        files.checked(path, files.PICTURES)
    canvas = Canvas(mechanism, turn=turn, trace=trace, size=size, dark=dark, labels=labels, at=at)
    with style.settings(canvas.look):
        figure = canvas.figure(None if at is None else at.instant, off=off)
        if path is None:
            return figure
        with files.replacing(path, files.PICTURES) as temporary:
            style.write(figure, temporary)
    return Path(path)


def turned(system: System, steps: int = TURN_STEPS) -> Trajectory | None:
    """One cycle for traces and travels, or None if there is none."""
    try:
        return mechanism_of(system).cycle(steps=steps)
    except LinkwrightError:
        return None


class Canvas:
    """A scene with a fixed window, drawn at any instant: one figure for a picture, many for an animation."""

    def __init__(
        self,
        mechanism: Any,
        *,
        turn: Trajectory | None = None,
        trace: Sequence[str] | None = None,
        size: tuple[float, float] | None = None,
        dark: bool = False,
        labels: bool = True,
        at: State | None = None,
        whole_turn: bool = False,
    ):
        system: System = getattr(mechanism, "system", mechanism)
        self.look = style.theme(dark)
        wants_turn = turn is None and (trace is None or len(trace) > 0)
        self.scene = Scene(system, turned(system) if wants_turn else turn)
        self.traces = self.scene.trace(trace)
        self.labels, self.size, self.whole_turn = labels, size, whole_turn
        self._last: Any = None
        self.dpi = SHARP  # pixels an inch of what is drawn as an image
        self.points = self.scene.extent(self.scene.start if at is None else at.instant, whole_turn=whole_turn)
        if self.traces:
            self.points = np.concatenate([self.points, *(path for _, path in self.traces)])

    def figure(self, instant: Any = None, *, again: bool = False, off: Sequence[str] = (), sample: int | None = None) -> Any:
        """A Figure of the scene at an instant (default the start); `again`: the one of the last call, drawn anew; `off`: rods that are
        not there at this instant; `sample`: its number in the run whose touches are drawn."""
        self.scene.absent = off
        forces = self.scene.touch_forces
        self.scene.pushes = None if forces is None or sample is None else forces.at(sample)
        instant = self.scene.start if instant is None else instant
        return self._flat(instant, again) if self.scene.description.planar else self._deep(instant)

    def _flat(self, instant: Any, again: bool) -> Any:
        (w, h), low, high, pt = window(self.points, self.size, BAND)
        rows = len(legend_rows(drawn_bodies(self.scene), legend_room(w * 72))) if self.labels else 1
        if rows > 2:
            (w, h), low, high, pt = window(self.points, self.size, BAND + 13.0 * (rows - 2))
        if not again or self._last is None:
            self._last = _blank((w, h), self.look.paper)
        figure, axes = emptied(self._last)
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        sheet = Sheet(axes, self.look, low, high, pt)
        painter = PlanarDrawing(self.scene, bar_width(self.scene, pt))
        painter.paint(sheet, instant, self.traces, self.labels, self.whole_turn)
        furniture(sheet, painter, self.points, self.labels)
        return figure

    def _deep(self, instant: Any) -> Any:
        return Spatial(self.scene, self.look, self.dpi).figure(instant, self.points, self.traces, self.size, self.labels)


def _blank(size: tuple[float, float], paper: Any) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, facecolor=paper)
    figure.add_axes((0.0, 0.0, 1.0, 1.0)).set_axis_off()
    return figure


def emptied(figure: Any) -> tuple[Any, Any]:
    """(figure, axes) with nothing drawn: making them anew takes longer than drawing a linkage."""
    axes, *others = figure.axes
    for thing in (*axes.lines, *axes.patches, *axes.collections, *axes.texts, *axes.artists, *figure.texts, *others):
        thing.remove()
    return figure, axes


def bar_width(scene: Scene, pt: float) -> float:
    """Width of bars in points: a share of the typical link, within what looks right."""
    stage = Stage(scene.skel, scene.start)
    lengths = [
        float(np.linalg.norm(np.diff(stage.place(p.node, p.points), axis=0), axis=1).max()) for p in scene.pieces if len(p.points) > 1
    ]
    lengths += [float(np.linalg.norm(stage.spot(t.ends[0]) - stage.spot(t.ends[1]))) for t in scene.telescopes]
    return float(np.clip(0.10 * np.median(lengths) / pt, 5.0, 11.0)) if lengths else 9.0
