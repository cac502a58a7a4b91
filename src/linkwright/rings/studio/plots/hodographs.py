"""Loads of pins as curves of their tip, in the axes of the links they join, for planar mechanisms.

hodograph(c, "C", "hodograph.png")          one pin, a panel for the axes of each link there
hodographs(c, "hodographs.png")             the most loaded pins, each in its link's own axes
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from linkwright.api import ChannelError, Trajectory, UsageError, nearest, unit_of
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, default_axis, drawn, four, open_side, places, turn_step
from linkwright.rings.studio.plots.efforts import near_text, needs_loads, ranked_eyes
from linkwright.rings.studio.style import DRIVEN, PALETTE, Theme

MARKS = 12  # positions marked along a hodograph


def _flat_only(c: Trajectory) -> None:
    if not c.skel.tree.description.planar:
        raise UsageError(
            "hodographs are drawn for planar mechanisms. In space plot the components, for example 'S.on.coupler.x'.", name="plane"
        )
    needs_loads(c)


def hodograph(
    c: Trajectory,
    pin: str,
    path: Place = None,
    *,
    on: str | None = None,
    frames: Sequence[str] | None = None,
    **paper: Unpack[Paper],
) -> Any:
    """A pin's load on a link (`on`) as a curve of its tip, one panel for the axes of each link at the pin, in the plane.

    Read the panel in a link's own axes: where the curve stays in one sector the load always presses the same part of the
    bearing ring in that link; where it goes round the origin every part is loaded in turn.
    """
    _flat_only(c)
    d = c.skel.tree.description
    bodies = [b for j in d.joints if (j.pin or j.name) == pin for b in (j.first, j.second)]
    names = list(dict.fromkeys(j.pin or j.name for j in d.joints))
    if not bodies:
        raise ChannelError(f"there is no pin '{pin}'.", nearest(pin, names, "Pins"))
    bodies = list(dict.fromkeys(bodies))
    if on is not None and on not in bodies:
        raise ChannelError(f"pin '{pin}' does not join '{on}'.", nearest(on, bodies, "Bodies there"))
    ground = d.bodies[0].name
    body = on or next((b for b in reversed(bodies) if b != ground), bodies[-1])
    chosen = list(frames) if frames is not None else [("world" if b == ground else b) for b in bodies][:3]

    def make(frame: Frame) -> Any:
        figure = frame.figure(3.9 * len(chosen) + 0.4, 4.3)
        for axes, name in zip(figure.subplots(1, len(chosen), squeeze=False)[0], chosen, strict=True):
            _hodograph(axes, c, pin, body, name, frame.look)
        return figure

    return drawn(make, path, **paper)


def hodographs(c: Trajectory, path: Place = None, *, most: int = 4, **paper: Unpack[Paper]) -> Any:
    """The most loaded pins of the machine, each on its link and in that link's own axes, on one sheet."""
    _flat_only(c)
    ranked = ranked_eyes(c, most)
    if not ranked:
        raise UsageError("the mechanism has no pin that carries a load.")

    def make(frame: Frame) -> Any:
        columns = min(2, len(ranked))
        rows = -(-len(ranked) // columns)
        figure = frame.figure(4.1 * columns, 4.1 * rows)
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (pin, body) in zip(grid, ranked, strict=False):
            _hodograph(axes, c, pin, body, body, frame.look)
        for axes in grid[len(ranked) :]:
            axes.set_axis_off()
        return figure

    return drawn(make, path, **paper)


def hodograph_of(
    c: Trajectory,
    path: Place = None,
    *,
    pin: str | None = None,
    on: str | None = None,
    frames: Sequence[str] | None = None,
    most: int = 4,
    **paper: Unpack[Paper],
) -> Any:
    """One pin (`pin`, its load `on` a body, in the axes of `frames`), or without a name the most loaded ones."""
    if pin is None:
        return hodographs(c, path, most=most, **paper)
    return hodograph(c, pin, path, on=on, frames=frames, **paper)


def _hodograph(axes: Any, c: Trajectory, pin: str, body: str, frame: str, look: Theme) -> None:
    h = c.load(pin, body, frame=frame)
    symbol, size = unit_of(c.skel.tree.description.units, "force")
    x, y = (h.force / size).T
    axes.axhline(0.0, color=look.faint, lw=0.9)
    axes.axvline(0.0, color=look.faint, lw=0.9)
    axes.plot(x, y, lw=1.7, color=PALETTE[0])
    k = int(np.argmax(h.magnitude))
    arrow = {"arrowstyle": "-|>", "color": DRIVEN, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(x[k], y[k]), xytext=(0.0, 0.0), arrowprops=arrow)
    over = default_axis(c)
    unit, place = c.unit(over)[0], places(c, over)
    _places(axes, x, y, round_places(place, unit), look)
    axes.plot(0.0, 0.0, "o", ms=4.0, color=look.ink, zorder=6)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    still = frame in ("world", c.skel.tree.description.bodies[0].name)
    name = "the world's" if still else f"its own ({frame}'s)" if frame == body else f"{frame}'s"
    where = f"max {four(h.max / size)} {symbol} at {over} = {four(place[k], place)} {unit}{near_text(c, k)}"
    axes.set_title(f"{pin} on {body}, in {name} axes\n{where}", fontsize=8.5, parse_math=False)
    axes.set_xlabel(f"along x [{symbol}]", parse_math=False)
    axes.set_ylabel(f"along y [{symbol}]", parse_math=False)


def _places(axes: Any, x: np.ndarray, y: np.ndarray, places: list[tuple[int, str]], look: Theme) -> None:
    """Dots with positions of the cycle; where the load hardly changes, names would pile up and are left out."""
    from matplotlib.patheffects import withStroke

    reach = max(float(np.hypot(x, y).max()), 1e-12)
    curve = np.column_stack([x, y])
    beside = 0.05 * max(float(np.ptp(curve, axis=0).max()), 1e-12)
    halo = [withStroke(linewidth=2.0, foreground=look.paper)]
    written: list[np.ndarray] = []
    for i, text in places:
        here = np.array([x[i], y[i]])
        if any(float(np.linalg.norm(here - w)) < 0.09 * reach for w in written):
            continue
        written.append(here)
        axes.plot(x[i], y[i], "o", ms=3.2, color=PALETTE[0], mec=look.paper, mew=0.6, zorder=5)
        away = open_side(here, curve, (1.3 * beside, beside)) * np.array([11.0, 8.5])
        style = {"fontsize": 7.2, "ha": "center", "va": "center", "color": look.ink, "path_effects": halo, "zorder": 5}
        axes.annotate(text, (x[i], y[i]), away, textcoords="offset points", **style)


def round_places(place: np.ndarray, unit: str) -> list[tuple[int, str]]:
    """Samples nearest to equal, round steps of the motion, with what to write there: every 30 deg of a full turn, every 0.1 s."""
    low, high = float(place.min()), float(place.max())
    if unit == "deg" and high - low > 180.0:
        marks = np.arange(np.ceil(low / 30.0) * 30.0, high - 1e-9, 30.0)
        return [(int(np.argmin(np.abs(place - m))), f"{m % 360:g}") for m in marks]
    if unit == "rad" and high - low > np.pi:
        marks = np.arange(np.ceil(np.degrees(low) / 30.0 - 1e-9) * 30.0, np.degrees(high) - 1e-6, 30.0)
        return [(int(np.argmin(np.abs(np.degrees(place) - m))), f"{m % 360:g}°") for m in marks]
    if not high > low:
        return [(0, f"{low:.3g}")]
    step = turn_step(high - low, MARKS) if unit == "deg" else round_step((high - low) / MARKS)
    marks = np.arange(int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9)) + 1)
    return [(int(np.argmin(np.abs(place - m * step))), f"{m * step:.6g}") for m in marks]


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, ... (times a power of ten) that is not below `least`."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= least * (1.0 - 1e-9)))
