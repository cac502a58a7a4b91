"""Phase portraits: speed over position of a coordinate, with start, end, direction and singular passages.

phase(run, "phase.png", channels="A")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from linkwright.api import ChannelError, Trajectory, UsageError
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, angle_ticks, color_of, drawn, width_of, with_unit
from linkwright.rings.studio.plots.curves import main_angles
from linkwright.rings.studio.plots.paths import heads
from linkwright.rings.studio.style import DRIVEN


def phase(c: Trajectory, path: Place = None, *, channels: str | Sequence[str] | None = None, **paper: Unpack[Paper]) -> Any:
    """Speed over position of joints, body angles or cylinders (`channels`; default: the drive, or what moves unevenly).

    The ring is the start, the square the end; crosses are singular passages. A closed curve is a periodic motion.
    """
    names = [channels] if isinstance(channels, str) else list(channels) if channels is not None else _interesting(c)
    most = 6
    if not 0 < len(names) <= most:
        raise UsageError(f"name one to {most} coordinates, for example channels='A' or channels=['A', 'rocker.angle'].", name="channels")
    for name in names:
        if f"{name}.v" not in c.channels or c.dimension(name) not in ("angle", "length") or c[name].ndim != 1:
            fitting = [n for n in c.channels if f"{n}.v" in c.channels and c.dimension(n) == "angle"]
            what = "has more than one component" if name in c.channels else "is no coordinate"
            raise ChannelError(
                f"'{name}' {what}: a phase portrait needs a position and its speed, such as {', '.join(fitting[:6])}.", name=name
            )

    def make(frame: Frame) -> Any:
        columns = min(len(names), 3 if len(names) != 4 else 2)
        rows = -(-len(names) // columns)
        figure = frame.figure({1: 5.6, 2: 8.0}.get(columns, 10.5), (4.2 if columns == 1 else 3.4) * rows)
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, name in zip(grid, names, strict=False):
            _portrait(axes, c, name, frame)
        for axes in grid[len(names) :]:
            axes.set_axis_off()
        return figure

    return drawn(make, path, **paper)


def _interesting(c: Trajectory) -> list[str]:
    """The drive if its speed changes, else angles whose speed does."""
    if f"{c.drive}.v" in c.channels and c[c.drive].ndim == 1:
        speed = c[f"{c.drive}.v"]
        if np.ptp(speed) > 1e-6 * max(float(np.abs(speed).max()), 1e-12):
            return [c.drive]
    return main_angles(c, c.drive)[:2]


def _portrait(axes: Any, c: Trajectory, name: str, frame: Frame) -> None:
    look = frame.look
    (symbol, size), (speed_symbol, speed_size) = c.unit(name), c.unit(f"{name}.v")
    q, v = c[name] / size, c[f"{name}.v"] / speed_size
    p = np.column_stack([q, v])
    axes.axhline(0.0, color=look.faint, lw=0.9)
    axes.plot(q, v, lw=1.6, color=color_of(0), zorder=3)
    span = np.maximum(np.ptp(p, axis=0), 1e-300)
    heads(axes, p, color_of(0), (0.2, 0.5, 0.8) if len(c) > 3 else (), tuple(span))
    axes.plot(q[0], v[0], "o", ms=6.5, mfc=look.paper, mec=DRIVEN, mew=1.6, ls="none", zorder=6, label="start")
    axes.plot(q[-1], v[-1], "s", ms=5.0, color=DRIVEN, mec=look.paper, mew=0.8, ls="none", zorder=5, label="end")
    inside = [x.time for x in c.passages if c.t[0] <= x.time <= c.t[-1]]
    if inside:
        at = [np.interp(inside, c.t, x) for x in (q, v)]
        axes.plot(*at, "x", ms=6.5, mew=1.6, color=look.accent, ls="none", zorder=6, label="singular passage")
    axes.margins(0.08)
    axes.set_xlabel(with_unit(name, symbol), parse_math=False)
    axes.set_ylabel(with_unit(f"{name}.v", speed_symbol), parse_math=False)
    if c.dimension(name) == "angle":
        angle_ticks(axes.xaxis, symbol, float(np.ptp(q)), most=max(3, round(1.7 * width_of(axes))))
    axes.legend(
        fontsize=7.5, ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.1, handletextpad=0.2, columnspacing=1.0
    )
