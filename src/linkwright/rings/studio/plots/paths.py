"""Paths of points with the mechanism faintly behind, and the mechanism alone.

path_of(c, "coupler.png", points=["coupler.P"])      where points go: dots at equal steps, an arrow for the direction
m.plot("mechanism", at=state)                        the mechanism in one state
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from linkwright.api import ChannelError, State, Trajectory, UsageError, nearest, unit_of
from linkwright.rings.studio.picture import draw
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, color_of, drawn, natural_axis, open_side, with_unit
from linkwright.rings.studio.plots.curves import marked_points
from linkwright.rings.studio.plots.subjects import system_of
from linkwright.rings.studio.scene import Scene, Stage
from linkwright.rings.studio.style import Theme, mixed


def mechanism(
    subject: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    at: State | None = None,
    trace: Sequence[str] | None = None,
    size: tuple[float, float] | None = None,
    dark: bool = False,
    labels: bool = True,
    off: Sequence[str] = (),
) -> Any:
    """The picture of a Mechanism, a System or the mechanism of a motion, whose points then leave their paths."""
    turn = subject if isinstance(subject, Trajectory) else None
    return draw(system_of(subject), path, at=at, turn=turn, trace=trace, size=size, dark=dark, labels=labels, off=off)


DOTS = 12  # about so many on a path, unless a cycle has its own round steps
LOOKS = 40  # samples that determine how far sliders travel
Pick = tuple[int, int]  # world axes to the right and upwards


def path_of(
    c: Trajectory, path: Place = None, *, points: str | Sequence[str] | None = None, mechanism: bool = True, **paper: Unpack[Paper]
) -> Any:
    """Paths of points (`"coupler.P"`; default: the marked ones), with equal scales; in space as front, side and top view.

    Dots mark equal steps of the crank or of time, so that their distance shows the speed; the ring is the start.
    `mechanism`: draw it faintly behind, where it starts.
    """
    names = _points(c, points)
    d = c.skel.tree.description
    letters = d.plane or "xyz"
    views: list[Pick] = [(0, 1)] if d.planar else [(0, 2), (1, 2), (0, 1)]
    symbol, size = unit_of(d.units, "length")
    trails = {name: values / size for name, values in c.read(names).items()}
    scene = Scene(system_of(c), c[:: max(1, len(c) // LOOKS)]) if mechanism else None
    times, note = _steps(c)

    def make(frame: Frame) -> Any:
        figure, panels = _sheets(frame, len(views), scene, c)
        reach = max(float(np.ptp(p, axis=0).max()) for p in trails.values())
        reach = reach if scene is None else max(reach, float(np.ptp(scene.extent(c.instant(0), whole_turn=True), axis=0).max()) / size)
        for axes, view in zip(panels, views, strict=True):
            if scene is not None:
                Behind(axes, scene, c, view, size, frame.look).draw()
            for k, (name, p) in enumerate(trails.items()):
                Trail(axes, c.t, p[:, view], color_of(k), frame.look).draw(times, name, reach)
            axes.set_aspect("equal", adjustable="datalim")
            axes.margins(0.09)
            axes.set_xlabel(with_unit(letters[view[0]], symbol), parse_math=False)
            axes.set_ylabel(with_unit(letters[view[1]], symbol), parse_math=False)
        panels[0].set_title(note, fontsize=8, loc="left", parse_math=False)
        return figure

    return drawn(make, path, **paper)


def _points(c: Trajectory, points: str | Sequence[str] | None) -> list[str]:
    names = [points] if isinstance(points, str) else list(points) if points is not None else marked_points(c)
    known = [f"{b.name}.{p.name}" for b in c.skel.tree.description.moving for p in b.points]
    if not names:
        example = f", for example points=['{known[-1]}']" if known else ""
        raise UsageError(f"the mechanism has no marked point to follow. Name some{example}.", name="mechanism")
    most_points = 6
    if len(names) > most_points:
        raise UsageError(f"{len(names)} paths are too many for one picture. Name at most {most_points}.")
    for name in names:
        if name not in known:
            raise ChannelError(f"there is no point '{name}' of a moving body.", nearest(name, known, "Points"))
    return names


def _sheets(frame: Frame, count: int, scene: Scene | None, c: Trajectory) -> tuple[Any, list[Any]]:
    """One panel in the plane, as high as what it shows; in space front, side and top view as on a drawing."""
    if count > 1:
        figure = frame.figure(8.4, 7.4)
        grid = figure.subplots(2, 2)
        grid[1, 1].set_axis_off()
        return figure, [grid[0, 0], grid[0, 1], grid[1, 0]]
    height = 4.8
    if scene is not None:
        span = np.ptp(scene.extent(c.instant(0), whole_turn=True)[:, :2], axis=0)
        height = float(np.clip(6.4 * span[1] / max(span[0], 1e-12) + 0.6, 2.6, 7.0))
    figure = frame.figure(6.4, height)
    return figure, [figure.subplots()]


def _steps(c: Trajectory) -> tuple[np.ndarray, str]:
    """(times of the dots, what they mean): every 30 degrees of a full turn, else a round number of seconds."""
    axis = natural_axis(c)
    if c.full_turn and axis != "t" and c.dimension(axis) == "angle":
        x = c[axis]
        order = np.argsort(x, kind="stable")
        marks = 30.0 * np.arange(np.ceil(np.degrees(x.min()) / 30.0 - 1e-9), np.degrees(x.max()) / 30.0 - 1e-9)
        return np.interp(np.radians(marks), x[order], c.t[order]), f"dots every 30\u00b0 of {axis}"
    span = float(c.t[-1] - c.t[0])
    power = 10.0 ** np.floor(np.log10(span / DOTS))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= 0.999 * span / DOTS)
    return np.arange(c.t[0] + step, c.t[-1] + 1e-9 * span, step), f"dots every {step:g} s"


class Trail:
    """One path in the axes of a panel."""

    def __init__(self, axes: Any, t: np.ndarray, p: np.ndarray, color: str, look: Theme):
        self.axes, self.t, self.p, self.color, self.look = axes, t, p, color, look

    def draw(self, times: np.ndarray, name: str, reach: float) -> None:
        """The curve with its dots, start and name; `reach` is the size of everything in the panel."""
        p, color = self.p, self.color
        self.axes.plot(p[:, 0], p[:, 1], lw=1.7, color=color, zorder=6, solid_joinstyle="round")
        dots = np.column_stack([np.interp(times, self.t, x) for x in p.T])
        self.axes.plot(dots[:, 0], dots[:, 1], "o", ms=3.6, color=color, mec=self.look.paper, mew=0.6, ls="none", zorder=7)
        self.axes.plot(*p[0], "o", ms=6.0, mfc=self.look.paper, mec=color, mew=1.5, zorder=8)
        heads(self.axes, p, color, (0.3,))
        self._name(name, reach)

    def _name(self, name: str, reach: float) -> None:
        """Beside the start, on the side where the path is farthest."""
        from matplotlib.patheffects import withStroke

        d = open_side(self.p[0], self.p, (0.14 * reach, 0.06 * reach))
        note = self.axes.annotate(
            name, self.p[0], d * 9.0, textcoords="offset points", fontsize=8.5, color=self.color, zorder=9,
            ha="left" if d[0] > 0.3 else "right" if d[0] < -0.3 else "center",
            va="bottom" if d[1] > 0.3 else "top" if d[1] < -0.3 else "center",
            path_effects=[withStroke(linewidth=2.4, foreground=self.look.paper)],
        )  # fmt: skip
        note.set_parse_math(False)


def heads(axes: Any, p: np.ndarray, color: Any, shares: Sequence[float], scale: Sequence[float] = (1.0, 1.0)) -> None:
    """Arrow heads along a curve at shares of its length; `scale` makes the two axes comparable."""
    steps = np.linalg.norm(np.diff(p, axis=0) / np.asarray(scale), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    if not length[-1] > 0.0:
        return
    for share in shares:
        ends = [np.array([np.interp(s * length[-1], length, x) for x in p.T]) for s in (share - 0.012, share)]
        arrow = {"arrowstyle": "-|>", "color": color, "lw": 1.4, "mutation_scale": 13.0, "shrinkA": 0.0, "shrinkB": 0.0}
        axes.annotate("", xy=tuple(ends[1]), xytext=tuple(ends[0]), arrowprops=arrow, zorder=7)


class Behind:
    """The mechanism at its first sample in pale lines, seen along one world axis."""

    def __init__(self, axes: Any, scene: Scene, c: Trajectory, view: Pick, size: float, look: Theme):
        self.axes, self.scene, self.stage = axes, scene, Stage(scene.skel, c.instant(0))
        self.view, self.size, self.look = list(view), size, look
        self.pale = mixed(look.faint, look.paper, 0.62)

    def _seen(self, points: np.ndarray) -> np.ndarray:
        return np.atleast_2d(points)[:, self.view] / self.size

    def draw(self) -> None:
        from matplotlib.patches import Polygon

        for piece in self.scene.pieces:
            p = self._seen(self.stage.place(piece.node, piece.points))
            if piece.closed:
                self.axes.add_patch(Polygon(p, closed=True, fc=mixed(self.look.faint, self.look.paper, 0.82), ec="none", zorder=1))
            p = np.vstack([p, p[:1]]) if piece.closed else p
            self._bar(p, 4.5)
        for t in self.scene.telescopes:
            a, b = (self.stage.spot(e) for e in t.ends)
            share = min(0.85, t.barrel / max(float(np.linalg.norm(b - a)), 1e-12))
            self._bar(self._seen(np.array([a, b])), 2.5)
            self._bar(self._seen(np.array([a, a + share * (b - a)])), 6.0)
        for line in self.scene.lines:
            self._bar(self._seen(np.array([self.stage.spot(e) for e in line.ends])), 2.5)
        for guide in self.scene.guides:
            X = self.stage.pose(guide.node) @ guide.frame
            self._bar(self._seen(X.p + np.outer([guide.low, guide.high], X.R[:, 0])), 1.2)
        for pin in self.scene.pins:
            at = self._seen(self.stage.spot(pin.spot))[0]
            mark = {"marker": "^", "ms": 9.0} if pin.grounded else {"marker": "o", "ms": 4.5}
            self.axes.plot(
                *at,
                mfc=self.pale if pin.grounded else self.look.paper,
                mec=mixed(self.look.faint, self.look.paper, 0.3),
                mew=0.8,
                zorder=3,
                **mark,
            )

    def _bar(self, p: np.ndarray, width: float) -> None:
        self.axes.plot(p[:, 0], p[:, 1], lw=width, color=self.pale, zorder=2, solid_capstyle="round", solid_joinstyle="round")
