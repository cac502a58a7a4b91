"""Channels as curves over time, a crank angle or any other channel: one panel for each kind of quantity, all with one x axis.

plot(c, ["rocker.angle", "coupler.P.x"], "curves.png", over="A")
plot(run, "A.torque", other=coarse)                          two runs, and below them their difference
overview(c, "overview.png")                                  positions, velocities, accelerations
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from linkwright.api import JOINTS, ChannelError, Trajectory, UsageError, joints, lengths
from linkwright.rings.studio.plots.common_parts import (
    Frame,
    Paper,
    Place,
    color_of,
    default_axis,
    draw_flags,
    drawn,
    flags_of,
    four,
    natural_axis,
    with_unit,
    x_axis,
    y_axis,
)

MOST_CURVES = 8  # in one panel of the overview
DASHES = ((0, (5, 2)), (0, (1.5, 1.5)), (0, (7, 2, 1.5, 2)))


def plot(
    trajectory: Trajectory,
    channels: str | Sequence[str],
    path: Place = None,
    *,
    over: str | None = None,
    other: Trajectory | Mapping[str, Trajectory] | None = None,
    difference: bool = True,
    marks: bool = True,
    **paper: Unpack[Paper],
) -> Any:
    """Channels over time or another channel (default: the crank angle of a full turn, else t), one panel for each kind.

    `other` is a run to compare with, or several by name: dashed, and with `difference` their distance at equal times below.
    `marks`: events and singular passages as flags. The Figure, or with `path` the file written.
    """
    names = [channels] if isinstance(channels, str) else list(channels)
    if not names:
        raise UsageError("name at least one channel to plot, for example 'rocker.angle'. `trajectory.channels` lists them.")
    most_named = 40  # curves of one plot
    if len(names) > most_named:
        raise UsageError(f"{len(names)} channels are too many for one picture. Name at most {most_named}.")
    axis = over or (natural_axis(trajectory) if trajectory.full_turn else "t")
    others = _others(other)
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(trajectory.dimension(name), []).append(name)
    panels = [_Panel(trajectory, kind, kinds[kind], others) for kind in kinds]

    def make(frame: Frame) -> Any:
        with_gap = difference and bool(others)
        heights = [h for _ in panels for h in ((2.4, 1.0) if with_gap else (1.0,))]
        figure = frame.figure(7.2, {1: 3.4, 2: 5.2}.get(len(panels), 2.2 * len(panels)) * (1.3 if with_gap else 1.0))
        grid = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        x = x_axis(trajectory, axis, grid[-1])
        for k, panel in enumerate(panels):
            panel.draw(frame, grid[2 * k if with_gap else k], axis, x)
            if with_gap:
                panel.gaps(frame, grid[2 * k + 1], x)
        if others:
            _who(grid[0], others, frame)
        if marks:
            draw_flags(frame, grid, flags_of(trajectory), trajectory, x)
        figure.align_ylabels(list(grid))
        return figure

    return drawn(make, path, **paper)


def _others(other: Any) -> dict[str, Trajectory]:
    if other is None:
        return {}
    named = other if isinstance(other, Mapping) else {"other": other}
    for key, run in named.items():
        if not isinstance(run, Trajectory):
            raise UsageError(
                f"other is a run to compare with, or runs by name, {{'coarse': run2}}. '{key}' is {type(run).__name__}.", name=key
            )
    if not 0 < len(named) <= len(DASHES):
        raise UsageError(f"one to {len(DASHES)} other runs can be distinguished in one plot, not {len(named)}.")
    return dict(named)


def components(c: Trajectory, name: str, values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """A channel as single curves: `coupler.P` in the plane gives `coupler.P.x` and `coupler.P.y`."""
    if values.ndim == 1:
        return [(name, values)]
    axes = c.skel.tree.description.plane or "xyz"
    flat = values.reshape(len(values), -1).T
    spatial = len(flat) == len(axes) and c.dimension(name) not in ("mixed", "none")
    return [(f"{name}.{axes[i]}" if spatial else f"{name}[{i}]", part) for i, part in enumerate(flat)]


class _Panel:
    """Channels of one kind in one unit."""

    def __init__(self, c: Trajectory, kind: str, names: list[str], others: Mapping[str, Trajectory]):
        self.c, self.kind, self.others = c, kind, others
        self.symbol, self.size = c.unit(names[0])
        read = c.read(names)
        self.names = names
        self.curves = [part for n in names for part in components(c, n, read[n] / self.size)]
        self.label = self.curves[0][0] if len(self.curves) == 1 else names[0] if len(names) == 1 else kind
        if kind in ("mixed", "none") and len(names) > 1:
            self.label = ""

    def draw(self, frame: Frame, axes: Any, axis: str, x: np.ndarray) -> None:
        for k, (name, values) in enumerate(self.curves):
            axes.plot(x, values, lw=1.6, color=color_of(k))
            if len(self.curves) > 1:
                frame.name(axes, values, name, color_of(k))
        for (key, run), dashes in zip(self.others.items(), DASHES, strict=False):
            there = self._of(key, run, [axis])[axis] / self.c.unit(axis)[1]
            for k, (_, values) in enumerate(self._parts(key, run)):
                axes.plot(there, values, lw=1.3, ls=dashes, color=frame.look.ink if len(self.curves) == 1 else color_of(k))
        axes.margins(x=0.0)
        y_axis(axes, self.label, self.symbol, self.kind)

    def _of(self, key: str, run: Trajectory, names: Sequence[str]) -> dict[str, np.ndarray]:
        try:
            return run.read(names)
        except ChannelError as problem:
            raise ChannelError(f"the run '{key}' cannot be compared: {problem}", name=key) from problem

    def _parts(self, key: str, run: Trajectory) -> list[tuple[str, np.ndarray]]:
        read = self._of(key, run, self.names)
        return [part for n in self.names for part in components(run, n, read[n] / self.size)]

    def gaps(self, frame: Frame, axes: Any, x: np.ndarray) -> None:
        """Other less this one at equal times; between samples the other is read on its loops."""
        axes.axhline(0.0, color=frame.look.faint, lw=0.9)
        for (key, run), dashes in zip(self.others.items(), DASHES, strict=False):
            both = (self.c.t >= run.t.min()) & (self.c.t <= run.t.max())
            if not both.any():
                continue
            t = self.c.t[both]
            there = run if len(t) == len(run) and np.array_equal(t, run.t) else run.at(t)
            gaps = [theirs - mine[both] for (_, mine), (_, theirs) in zip(self.curves, self._parts(key, there), strict=True)]
            for k, gap in enumerate(gaps):
                axes.plot(x[both], gap, lw=1.2, ls="-" if len(self.others) == 1 else dashes, color=color_of(k))
            largest = max(float(np.abs(g).max()) for g in gaps)
            axes.set_title(f"{key}: off by at most {four(largest)} {self.symbol}", fontsize=7.5, loc="left", parse_math=False)
        axes.margins(x=0.0)
        y_axis(axes, "difference", self.symbol)


def _who(axes: Any, others: Mapping[str, Trajectory], frame: Frame) -> None:
    """Legend of the runs above the first panel."""
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=frame.look.ink, lw=1.6)]
    lines += [Line2D([], [], color=frame.look.ink, lw=1.3, ls=d) for _, d in zip(others, DASHES, strict=False)]
    made = axes.legend(
        lines, ["this run", *others], fontsize=7.5, ncols=len(lines), loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2
    )
    for text in made.get_texts():
        text.set_parse_math(False)


# -------------------------------------------------------------------- overview


def overview(trajectory: Trajectory, path: Place = None, *, over: str | None = None, **paper: Unpack[Paper]) -> Any:
    """Positions, velocities and accelerations of the main angles, of sliders and cylinders, and of marked points, stacked in columns."""
    axis = over or default_axis(trajectory)
    angles, slides, points = main_angles(trajectory, axis), main_travels(trajectory, axis), marked_points(trajectory)
    plane = trajectory.skel.tree.description.plane or "xyz"
    rows = []
    for rate, prefix in (("", ""), (".v", "v"), (".a", "a")):
        cells = [[f"{a}{rate}" for a in names] for names in (angles, slides) if names]
        cells += [[f"{p}.{prefix}{x}" for p in points for x in plane]] if points else []
        rows.append([cell[:MOST_CURVES] for cell in cells])
    if not rows[0]:
        raise UsageError(
            "there is nothing to show: the mechanism has neither moving angles, sliders nor marked points. Name channels and use plot()."
        )

    def make(frame: Frame) -> Any:
        columns = len(rows[0])
        figure = frame.figure({1: 7.2, 2: 11.0}.get(columns, 15.4), 6.9)
        grid = figure.subplots(3, columns, sharex=True, squeeze=False)
        for k in range(columns):
            x = x_axis(trajectory, axis, grid[-1, k])
            for axes, row in zip(grid[:, k], rows, strict=True):
                _Panel(trajectory, trajectory.dimension(row[k][0]), row[k], {}).draw(frame, axes, axis, x)
            figure.align_ylabels(list(grid[:, k]))
        return figure

    return drawn(make, path, **paper)


def main_angles(c: Trajectory, over: str = "") -> list[str]:
    """Body angles in the plane, joint coordinates in space; without the one plotted over and what is at rest or repeats it."""
    d = c.skel.tree.description
    names = [f"{b.name}.angle" for b in d.moving] if d.planar else [j.name for j in d.joints if j.name in c.channels]
    base = c[over] if over in c.channels and over != "t" else None
    out = []
    for name in names:
        values = c[name]
        if values.ndim != 1 or c.dimension(name) != "angle" or np.ptp(values) < 1e-9:
            continue
        if base is None or np.ptp(values - base) > 1e-9:
            out.append(name)
    return out[:MOST_CURVES]


def main_travels(c: Trajectory, over: str = "") -> list[str]:
    """Coordinates of sliders and lengths of cylinders, without the one plotted over and what is at rest."""
    d = c.skel.tree.description
    names = [*(j.name for j in d.joints if joints.is_slider(JOINTS[j.type])), *lengths(d)]
    moving = [n for n in names if n != over and all(f"{n}{rate}" in c.channels for rate in ("", ".v", ".a"))]
    return [n for n in moving if np.ptp(c[n]) > 1e-9][:MOST_CURVES]


def marked_points(c: Trajectory) -> list[str]:
    """Points of moving bodies that are no joint, such as `coupler.P`; otherwise the last joint of the last body."""
    d = c.skel.tree.description
    out = []
    for b in d.moving:
        joined = [
            np.array(j.frame_first.at if j.first == b.name else j.frame_second.at, float) for j in d.joints if b.name in (j.first, j.second)
        ]
        out += [f"{b.name}.{p.name}" for p in b.points if all(np.linalg.norm(np.array(p.at, float) - at) > 1e-9 for at in joined)]
    return out[:3]


__all__ = ["MOST_CURVES", "main_angles", "marked_points", "natural_axis", "overview", "plot", "with_unit"]
