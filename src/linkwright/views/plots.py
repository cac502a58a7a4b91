"""Curves of a turn or run, labelled in the units of the model's file.

plot(c, ["rocker.angle", "coupler.P.x"], "curves.png")      one panel for each kind of quantity
overview(c, "overview.png")                                  positions, velocities, accelerations
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.results import Trajectory
from linkwright.views import files, style

MOST_CURVES = 8  # in one panel of the overview


def plot(
    trajectory: Trajectory,
    channels: Sequence[str],
    path: str | os.PathLike[str] | None = None,
    *,
    over: str = "t",
    dark: bool = False,
    force: bool = False,
) -> Any:
    """Channels over time or over another channel, one panel for each kind; the Figure, or with `path` the file written."""
    if not channels:
        raise UsageError("name at least one channel to plot, for example 'rocker.angle'; `trajectory.channels` lists them.")
    kinds: dict[str, list[str]] = {}
    for name in channels:
        kinds.setdefault(trajectory.dimension(name), []).append(name)
    return _panels(trajectory, [[names] for names in kinds.values()], over, path, dark, force)


def overview(
    trajectory: Trajectory, path: str | os.PathLike[str] | None = None, *, over: str | None = None, dark: bool = False, force: bool = False
) -> Any:
    """Positions, velocities and accelerations of the main angles (left) and marked points (right), stacked."""
    over = over or natural_axis(trajectory)
    angles, points = main_angles(trajectory, over), marked_points(trajectory)
    axes = trajectory.skel.tree.description.plane or "xyz"
    rows = []
    for rate, prefix in (("", ""), (".v", "v"), (".a", "a")):
        cells = [[f"{a}{rate}" for a in angles]] if angles else []
        cells += [[f"{p}.{prefix}{x}" for p in points for x in axes]] if points else []
        rows.append([cell[:MOST_CURVES] for cell in cells])
    if not rows[0]:
        raise UsageError(
            "there is nothing to show: the mechanism has neither moving angles nor marked points. Name channels and use plot()."
        )
    return _panels(trajectory, rows, over, path, dark, force)


def natural_axis(c: Trajectory) -> str:
    """The drive's coordinate where it moves one way only, else time."""
    if c.drive in c.channels and c[c.drive].ndim == 1:
        steps = np.diff(c[c.drive])
        if np.all(steps > 0) or np.all(steps < 0):
            return c.drive
    return "t"


def main_angles(c: Trajectory, over: str = "") -> list[str]:
    """Body angles in the plane, joint coordinates in space; without the one plotted over and what stands still or repeats it."""
    d = c.skel.tree.description
    names = [f"{b.name}.angle" for b in d.bodies[1:]] if d.planar else [j.name for j in d.joints if j.name in c.channels]
    base = c[over] if over in c.channels and over != "t" else None
    out = []
    for name in names:
        values = c[name]
        if values.ndim != 1 or c.dimension(name) != "angle" or np.ptp(values) < 1e-9:
            continue
        if base is None or np.ptp(values - base) > 1e-9:
            out.append(name)
    return out[:MOST_CURVES]


def marked_points(c: Trajectory) -> list[str]:
    """Points of moving bodies that are no joint, such as `coupler.P`; otherwise the last joint of the last body."""
    d = c.skel.tree.description
    out = []
    for b in d.bodies[1:]:
        joined = [
            np.array(j.frame_first.at if j.first == b.name else j.frame_second.at, float) for j in d.joints if b.name in (j.first, j.second)
        ]
        out += [f"{b.name}.{p.name}" for p in b.points if all(np.linalg.norm(np.array(p.at, float) - at) > 1e-9 for at in joined)]
    return out[:3]


def _panels(c: Trajectory, rows: list[list[list[str]]], over: str, path: Any, dark: bool, force: bool) -> Any:
    if path is not None:
        files.checked(path, files.PICTURES, force=force)
    look = style.theme(dark)
    with style.settings(look):
        from matplotlib.figure import Figure

        columns = max(len(row) for row in rows)
        height = {1: 3.6, 2: 5.4}.get(len(rows), 2.3 * len(rows))
        figure = Figure(figsize=(7.0 if columns == 1 else 10.0, height), layout="constrained")
        grid = figure.subplots(len(rows), columns, sharex=True, squeeze=False)
        symbol, size = c.unit(over)
        for axes_row, row in zip(grid, rows, strict=True):
            for axes, names in zip(axes_row, row, strict=False):
                _curves(axes, c, names, c[over] / size)
        for axes in grid[-1]:
            axes.set_xlabel(f"{over} [{symbol}]", parse_math=False)
        if path is None:
            return figure
        with files.replacing(path, files.PICTURES, force=force) as temporary:
            style.write(figure, temporary)
    return Path(path)


def _curves(axes: Any, c: Trajectory, names: list[str], x: np.ndarray) -> None:
    symbol, size = c.unit(names[0])
    labels = []
    for name in names:
        values = c[name] / size
        parts = values.T if values.ndim == 2 else values[None]
        for i, part in enumerate(parts):
            axes.plot(x, part, lw=1.6, color=style.PALETTE[len(labels) % len(style.PALETTE)])
            labels.append(name if values.ndim == 1 else f"{name}[{i}]")
    axes.set_ylabel(f"[{symbol}]", parse_math=False)
    axes.margins(x=0.0)
    legend = axes.legend(labels, fontsize=7.5, loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.4)
    for text in legend.get_texts():
        text.set_parse_math(False)
