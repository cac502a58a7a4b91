"""Efforts of drives with their power, and loads of pins, over a cycle or a run.

torque(c, "torque.png")                     effort and power of every drive, with extremes and RMS
pin_loads(c, "loads.png")                   size of the load of the most loaded pins
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from linkwright.api import ChannelError, LinkwrightError, Trajectory, UsageError, nearest, unit_of
from linkwright.rings.design.cycle_averages import extremes, time_mean
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
    in_lines,
    legend,
    places,
    x_axis,
    y_axis,
)
from linkwright.rings.studio.style import DRIVEN, Theme


def needs_loads(c: Trajectory) -> None:
    """Raise one sentence if loads cannot be known here."""
    try:
        _ = c.instant(0).loads
    except LinkwrightError as problem:
        raise UsageError(f"there are no loads to plot: {problem}") from problem


def effort_channels(c: Trajectory) -> list[str]:
    """`A.torque`, `J10.force`: drive torques and forces, recorded by a run or solved for in a cycle."""
    if "lam" in c.arrays:
        return [n for n, x in c.columns.items() if x.dimension in ("torque", "force") and n.count(".") == 1 and n.endswith(x.dimension)]
    needs_loads(c)
    return [f"{d}.{kind}" for d in c.instant(0).loads.tau for kind in ("torque", "force") if f"{d}.{kind}" in c.channels]


def torque(
    c: Trajectory, path: Place = None, *, drives: Sequence[str] | None = None, over: str | None = None, **paper: Unpack[Paper]
) -> Any:
    """Effort of each drive with its largest and least value and its RMS; below it the power."""
    efforts = effort_channels(c)
    if drives is not None:
        named = {name.rpartition(".")[0]: name for name in efforts}
        for d in [drives] if isinstance(drives, str) else drives:
            if d not in named:
                raise ChannelError(f"there is no drive '{d}'.", nearest(d, named, "Drives"))
        efforts = [named[d] for d in ([drives] if isinstance(drives, str) else drives)]
    if not efforts:
        raise UsageError("nothing drives the mechanism, so there is no effort to show.", name="drive")
    most_drives = 6
    efforts = efforts[:most_drives]
    axis = over or default_axis(c)

    def make(frame: Frame) -> Any:
        many = len(efforts) > 1
        figure = frame.figure(7.0, 1.5 + (1.55 if many else 2.9) * len(efforts))
        grid = figure.subplots(len(efforts) + 1, 1, sharex=True, height_ratios=[1.4 if many else 2.0] * len(efforts) + [1.0])
        x = x_axis(c, axis, grid[-1])
        for i, (axes, name) in enumerate(zip(grid, efforts, strict=False)):
            _effort(axes, c, name, axis, x, color_of(i) if many else DRIVEN, frame.look)
        _powers(frame, grid[-1], c, efforts, x)
        draw_flags(frame, grid, flags_of(c), c, x, names=False)
        figure.align_ylabels(list(grid))
        return figure

    return drawn(make, path, **paper)


def near_text(c: Trajectory, i: int) -> str:
    """Remark on a value taken at sample i."""
    return " (near a singular position)" if c.near_singular[i] else ""


def _effort(axes: Any, c: Trajectory, name: str, over: str, x: np.ndarray, color: str, look: Theme) -> None:
    symbol, size = c.unit(name)
    y = c[name] / size
    rms = float(np.sqrt(time_mean(c.t, y**2)))
    axes.axhline(0.0, color=look.faint, lw=0.9)
    axes.plot(x, y, lw=1.8, color=color)
    axes.axhline(rms, color=look.ink, lw=0.9, ls=(0, (5, 3)))
    axes.margins(x=0.0, y=0.16)
    y_axis(axes, name, symbol)
    unit, where = c.unit(over)[0], places(c, over)
    texts = []
    ends = extremes(c.t, y, where)
    for word, i, top, at in (("max", ends.sample_high, ends.high, ends.at_high), ("min", ends.sample_low, ends.low, ends.at_low)):
        axes.plot(x[i], y[i], "o", ms=4.5, color=color, mec=look.paper, mew=0.8, zorder=5)
        texts.append(f"{word} {four(top, y)} {symbol} at {four(at, x)} {unit}{near_text(c, i)}")
    mean = f"RMS {four(rms)} {symbol} (dashed){near_text(c, int(np.argmax(np.abs(y))))}"
    axes.set_title(in_lines([*texts, mean], axes, 8.0), fontsize=8, loc="left", parse_math=False)


def _powers(frame: Frame, axes: Any, c: Trajectory, efforts: list[str], x: np.ndarray) -> None:
    names = [f"{name.rpartition('.')[0]}.power" for name in efforts]
    symbol, size = c.unit(names[0])
    many = len(names) > 1
    axes.axhline(0.0, color=frame.look.faint, lw=0.9)
    for i, name in enumerate(names):
        y = c[name] / size
        color = color_of(i) if many else DRIVEN
        axes.plot(x, y, lw=1.4, color=color)
        if many:
            frame.name(axes, y, name.rpartition(".")[0], color)
        else:
            axes.fill_between(x, y, 0.0, color=color, alpha=0.16, lw=0.0)
    y_axis(axes, "power", symbol)


# -------------------------------------------------------------------- pins


def eyes(c: Trajectory) -> list[tuple[str, str]]:
    """(pin, body) for every load worth a curve: one of the two at a pin of two links, all at a pin of more."""
    suffix = ".magnitude"
    every = [tuple(n[: -len(suffix)].split(".on.")) for n in c.channels if ".on." in n and n.endswith(suffix)]
    ground = c.skel.tree.description.bodies[0].name
    out = []
    for pin in dict.fromkeys(p for p, _ in every):
        bodies = [b for p, b in every if p == pin]
        out += [(pin, b) for b in bodies] if len(bodies) > 2 else [(pin, next((b for b in bodies if b != ground), bodies[0]))]
    return out


def ranked_eyes(c: Trajectory, most: int) -> list[tuple[str, str]]:
    """The most loaded ones, most loaded first."""
    needs_loads(c)
    read = c.read([f"{p}.on.{b}.magnitude" for p, b in eyes(c)])
    largest = {eye: float(read[f"{eye[0]}.on.{eye[1]}.magnitude"].max()) for eye in eyes(c)}
    ranked = sorted(largest, key=lambda eye: -largest[eye])[:most]
    return [eye for eye in ranked if largest[eye] > 0.0] or ranked[:1]


def pin_loads(
    c: Trajectory, path: Place = None, *, pins: Sequence[tuple[str, str]] | None = None, over: str | None = None, **paper: Unpack[Paper]
) -> Any:
    """Size of the pins' loads; by default of the most loaded ones, named beside their curves with the largest load."""
    most_pins = 10
    chosen = list(pins) if pins is not None else ranked_eyes(c, most_pins)
    if not chosen:
        raise UsageError("the mechanism has no pin that carries a load.")
    symbol, size = unit_of(c.skel.tree.description.units, "force")
    sizes = {eye: c.load(*eye).magnitude / size for eye in chosen}
    chosen.sort(key=lambda eye: -float(sizes[eye].max()))
    marks = np.where(c.near_singular, " *", "")

    def make(frame: Frame) -> Any:
        figure = frame.figure(7.6, 4.0)
        axes = figure.subplots()
        x = x_axis(c, over or default_axis(c), axes)
        for i, eye in enumerate(chosen):
            y = sizes[eye]
            top = extremes(c.t, y, x)
            k = top.sample_high
            axes.plot(x, y, lw=1.6, color=color_of(i), label=f"{eye[0]} on {eye[1]}: {four(top.high)} {symbol}{marks[k]}")
            axes.plot(x[k], y[k], "o", ms=4.0, color=color_of(i), mec=frame.look.paper, mew=0.7, zorder=5)
        axes.set_ylim(bottom=0.0)
        y_axis(axes, "load of the pin", symbol)
        near = any(marks[extremes(c.t, y, x).sample_high] for y in sizes.values())
        legend(axes, title="largest load (* near a singular position)" if near else "largest load", title_fontsize=8)
        draw_flags(frame, [axes], flags_of(c), c, x)
        return figure

    return drawn(make, path, **paper)
