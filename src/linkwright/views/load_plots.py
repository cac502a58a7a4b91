"""Curves of loads, labelled in the units of the model's file.

torque(c, "torque.png")                     effort and power of every drive over the turn, with extremes and RMS
pin_loads(c, "loads.png")                   size of every pin's load over the turn
hodograph(c, "C", "hodograph.png")          a pin's load as a curve in the axes of the links it joins
torque_speed(sizing, "motor.png")           the motor's cycle in its torque-speed diagram, with its limits
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.errors import ChannelError, UsageError, nearest
from linkwright.results import Trajectory, unit_of
from linkwright.views import files, style
from linkwright.views.plots import natural_axis
from linkwright.views.style import DRIVEN, PALETTE, Theme

Place = str | os.PathLike[str] | None
MOST_DRIVES = 6
MOST_PINS = 10
MARKS = 12  # positions marked along a hodograph


def _saved(make: Any, path: Place, dark: bool, force: bool) -> Any:
    """Make a figure in our style; write it if there is a path."""
    if path is not None:
        files.checked(path, files.PICTURES, force=force)
    look = style.theme(dark)
    with style.settings(look):
        figure = make(look)
        if path is None:
            return figure
        with files.replacing(path, files.PICTURES, force=force) as temporary:
            style.write(figure, temporary)
    return Path(path)


# -------------------------------------------------------------------- efforts


def effort_channels(c: Trajectory) -> list[str]:
    """`A.torque`, `J10.force`: efforts of the drives."""
    return [f"{d}.{kind}" for d in c.loads[0].tau for kind in ("torque", "force") if f"{d}.{kind}" in c.channels]


def torque(c: Trajectory, path: Place = None, *, drives: Sequence[str] | None = None, dark: bool = False, force: bool = False) -> Any:
    """Effort of each drive over the turn with its largest and least value and its RMS; below it the power."""
    efforts = effort_channels(c)
    if drives is not None:
        named = {name.rpartition(".")[0]: name for name in efforts}
        for d in drives:
            if d not in named:
                raise ChannelError(f"there is no drive '{d}'. {nearest(d, named, 'Drives')}")
        efforts = [named[d] for d in drives]
    if not efforts:
        raise UsageError("nothing drives the mechanism, so there is no effort to show.")
    efforts = efforts[:MOST_DRIVES]

    def make(look: Theme) -> Any:
        from matplotlib.figure import Figure

        rows = len(efforts) + 1
        figure = Figure(figsize=(7.0, 1.5 + (2.9 if len(efforts) == 1 else 1.75) * len(efforts)), layout="constrained")
        heights = [2.0 if len(efforts) == 1 else 1.4] * len(efforts) + [1.0]
        grid = figure.subplots(rows, 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        over = natural_axis(c)
        x = _x(c, over, grid[-1])
        for i, (axes, name) in enumerate(zip(grid, efforts, strict=False)):
            _effort(axes, c, name, over, x, DRIVEN if len(efforts) == 1 else PALETTE[i % len(PALETTE)], look)
        _powers(grid[-1], c, efforts, x)
        figure.align_ylabels(list(grid))
        return figure

    return _saved(make, path, dark, force)


def _x(c: Trajectory, over: str, axes: Any) -> np.ndarray:
    symbol, size = c.unit(over)
    axes.set_xlabel(f"{over} [{symbol}]", parse_math=False)
    axes.margins(x=0.0)
    x = c[over] / size
    if symbol == "deg" and np.ptp(x) > 180.0:
        axes.xaxis.set_major_locator(_multiples(60.0))
    return x


def _multiples(base: float) -> Any:
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(base)


def _effort(axes: Any, c: Trajectory, name: str, over: str, x: np.ndarray, colour: str, look: Theme) -> None:
    symbol, size = c.unit(name)
    y = c[name] / size
    rms = float(np.sqrt(_time_mean(c.t, y**2)))
    axes.axhline(0.0, color=look.faint, lw=0.9)
    axes.plot(x, y, lw=1.8, color=colour)
    axes.axhline(rms, color=look.ink, lw=0.9, ls=(0, (5, 3)))
    axes.set_ylabel(f"{name} [{symbol}]", parse_math=False)
    axes.margins(x=0.0, y=0.16)
    unit = c.unit(over)[0]
    texts = []
    for word, i in (("max", int(np.argmax(y))), ("min", int(np.argmin(y)))):
        axes.plot(x[i], y[i], "o", ms=4.5, color=colour, mec=look.paper, mew=0.8, zorder=5)
        texts.append(f"{word} {four(y[i])} {symbol} at {four(x[i])} {unit}")
    axes.set_title("     ".join([*texts, f"RMS {four(rms)} {symbol} (dashed)"]), fontsize=8, loc="left", parse_math=False)
    axes.ticklabel_format(axis="y", style="plain")


def _powers(axes: Any, c: Trajectory, efforts: list[str], x: np.ndarray) -> None:
    names = [f"{name.rpartition('.')[0]}.power" for name in efforts]
    symbol, size = c.unit(names[0])
    many = len(names) > 1
    for i, name in enumerate(names):
        y = c[name] / size
        colour = PALETTE[i % len(PALETTE)] if many else DRIVEN
        axes.plot(x, y, lw=1.4, color=colour, label=name)
        if not many:
            axes.fill_between(x, y, 0.0, color=colour, alpha=0.16, lw=0.0)
    axes.axhline(0.0, color="#8593a0", lw=0.9)
    axes.set_ylabel(f"power [{symbol}]", parse_math=False)
    axes.ticklabel_format(axis="y", style="plain")
    if many:
        _legend(axes)


def four(x: float) -> str:
    """Four digits without an exponent where a person would write none."""
    rounded = float(f"{x:.4g}")
    return f"{rounded:.0f}" if 1e3 <= abs(rounded) < 1e9 else f"{rounded + 0.0:g}"


def _time_mean(t: np.ndarray, y: np.ndarray) -> float:
    span = float(t[-1] - t[0])
    return float(np.sum(0.5 * (y[1:] + y[:-1]) * np.diff(t))) / span if span > 0.0 else float(y.mean())


def _legend(axes: Any, **options: Any) -> None:
    settings = {"fontsize": 7.5, "loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "handlelength": 1.4}
    for text in axes.legend(**(settings | options)).get_texts():
        text.set_parse_math(False)


# -------------------------------------------------------------------- pins


def eyes(c: Trajectory) -> list[tuple[str, str]]:
    """(pin, body) for every load worth a curve: one of the two at a pin of two links, all at a pin of more."""
    suffix = ".size"
    every = [tuple(n[: -len(suffix)].split(".on.")) for n in c.channels if ".on." in n and n.endswith(suffix)]
    ground = c.skel.tree.description.bodies[0].name
    out = []
    for pin in dict.fromkeys(p for p, _ in every):
        bodies = [b for p, b in every if p == pin]
        out += [(pin, b) for b in bodies] if len(bodies) > 2 else [(pin, next((b for b in bodies if b != ground), bodies[0]))]
    return out


def pin_loads(
    c: Trajectory, path: Place = None, *, pins: Sequence[tuple[str, str]] | None = None, dark: bool = False, force: bool = False
) -> Any:
    """Size of the pins' loads over the turn; by default of the most loaded ones, named beside their curves."""
    chosen = list(pins) if pins is not None else eyes(c)
    sizes = {eye: c.load(*eye).size for eye in chosen}
    ranked = sorted(chosen, key=lambda eye: -float(sizes[eye].max()))[:MOST_PINS]
    ranked = [eye for eye in ranked if sizes[eye].max() > 0.0] or ranked[:1]
    if not ranked:
        raise UsageError("the mechanism has no pin that carries a load.")

    def make(look: Theme) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.6, 4.0), layout="constrained")
        axes = figure.subplots()
        x = _x(c, natural_axis(c), axes)
        symbol, size = unit_of(c.skel.tree.description.units, "force")
        for i, eye in enumerate(ranked):
            y = sizes[eye] / size
            label = f"{eye[0]} on {eye[1]}: {four(y.max())} {symbol}"
            axes.plot(x, y, lw=1.6, color=PALETTE[i % len(PALETTE)], label=label)
            k = int(np.argmax(y))
            axes.plot(x[k], y[k], "o", ms=4.0, color=PALETTE[i % len(PALETTE)], mec=look.paper, mew=0.7, zorder=5)
        axes.set_ylabel(f"load of the pin [{symbol}]", parse_math=False)
        axes.ticklabel_format(axis="y", style="plain")
        axes.set_ylim(bottom=0.0)
        _legend(axes, title="largest load", title_fontsize=8)
        return figure

    return _saved(make, path, dark, force)


def hodograph(
    c: Trajectory,
    pin: str,
    path: Place = None,
    *,
    on: str | None = None,
    frames: Sequence[str] | None = None,
    dark: bool = False,
    force: bool = False,
) -> Any:
    """A pin's load on a link (`on`) as a curve of its tip, one panel for the axes of each link at the pin, in the plane.

    Read the panel in a link's own axes: where the curve stays in one sector the load always presses the same part of the
    bearing ring in that link; where it goes round the origin every part is loaded in turn.
    """
    d = c.skel.tree.description
    if not d.planar:
        raise UsageError("hodographs are drawn for planar mechanisms; in space plot the components, for example 'S.on.coupler.x'.")
    bodies = [b for j in d.joints if (j.pin or j.name) == pin for b in (j.first, j.second)]
    names = list(dict.fromkeys(j.pin or j.name for j in d.joints))
    if not bodies:
        raise ChannelError(f"there is no pin '{pin}'. {nearest(pin, names, 'Pins')}")
    bodies = list(dict.fromkeys(bodies))
    ground = d.bodies[0].name
    body = on or next((b for b in reversed(bodies) if b != ground), bodies[-1])
    chosen = list(frames) if frames is not None else [("world" if b == ground else b) for b in bodies][:3]

    def make(look: Theme) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3.9 * len(chosen) + 0.4, 4.3), layout="constrained")
        for axes, frame in zip(np.atleast_1d(figure.subplots(1, len(chosen), squeeze=False)[0]), chosen, strict=True):
            _hodograph(axes, c, pin, body, frame, look)
        return figure

    return _saved(make, path, dark, force)


def hodographs(c: Trajectory, path: Place = None, *, most: int = 4, dark: bool = False, force: bool = False) -> Any:
    """The most loaded pins of the machine, each on its link and in that link's own axes, on one sheet."""
    if not c.skel.tree.description.planar:
        raise UsageError("hodographs are drawn for planar mechanisms.")
    ranked = sorted(eyes(c), key=lambda eye: -float(c.load(*eye).size.max()))[:most]
    if not ranked:
        raise UsageError("the mechanism has no pin that carries a load.")

    def make(look: Theme) -> Any:
        from matplotlib.figure import Figure

        columns = min(2, len(ranked))
        rows = -(-len(ranked) // columns)
        figure = Figure(figsize=(4.1 * columns, 4.1 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (pin, body) in zip(grid, ranked, strict=False):
            _hodograph(axes, c, pin, body, body, look)
        for axes in grid[len(ranked) :]:
            axes.set_axis_off()
        return figure

    return _saved(make, path, dark, force)


def _hodograph(axes: Any, c: Trajectory, pin: str, body: str, frame: str, look: Theme) -> None:
    h = c.load(pin, body, frame=frame)
    symbol, size = unit_of(c.skel.tree.description.units, "force")
    x, y = (h.force / size).T
    reach = max(float(np.hypot(x, y).max()), 1e-12)
    axes.axhline(0.0, color=look.faint, lw=0.9)
    axes.axvline(0.0, color=look.faint, lw=0.9)
    axes.plot(x, y, lw=1.7, color=PALETTE[0])
    k = int(np.argmax(h.size))
    axes.annotate(
        "", xy=(x[k], y[k]), xytext=(0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": DRIVEN, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
    )
    over = natural_axis(c)
    unit, scale = c.unit(over)
    place = c[over] / scale
    written: list[np.ndarray] = []
    for i, text in _round_places(place, unit):
        here = np.array([x[i], y[i]])
        if any(float(np.linalg.norm(here - w)) < 0.09 * reach for w in written):
            continue  # where the load hardly changes, names would pile up
        written.append(here)
        axes.plot(x[i], y[i], "o", ms=3.2, color=PALETTE[0], mec=look.paper, mew=0.6, zorder=5)
        away = here / max(float(np.hypot(x[i], y[i])), 1e-9 * reach) * 9.0
        axes.annotate(text, (x[i], y[i]), away, textcoords="offset points", fontsize=7.2, ha="center", va="center", color=look.ink)
    axes.plot(0.0, 0.0, "o", ms=4.0, color=look.ink, zorder=6)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    still = frame in ("world", c.skel.tree.description.bodies[0].name)
    name = "the world's" if still else f"its own ({frame}'s)" if frame == body else f"{frame}'s"
    where = f"max {four(h.max / size)} {symbol} at {over} = {four(place[k])} {unit}"
    axes.set_title(f"{pin} on {body}, in {name} axes\n{where}", fontsize=8.5, parse_math=False)
    axes.set_xlabel(f"along x [{symbol}]", parse_math=False)
    axes.set_ylabel(f"along y [{symbol}]", parse_math=False)


def _round_places(place: np.ndarray, unit: str) -> list[tuple[int, str]]:
    """Samples nearest to equal steps of the turn, with what to write there: every 30 deg of a full turn."""
    low, high = float(place.min()), float(place.max())
    if unit == "deg" and high - low > 180.0:
        marks = np.arange(np.ceil(low / 30.0) * 30.0, high - 1e-9, 30.0)
        return [(int(np.argmin(np.abs(place - m))), f"{m % 360:g}") for m in marks]
    if unit == "rad" and high - low > np.pi:
        marks = np.arange(np.ceil(np.degrees(low) / 30.0 - 1e-9) * 30.0, np.degrees(high) - 1e-6, 30.0)
        return [(int(np.argmin(np.abs(np.degrees(place) - m))), f"{m % 360:g}°") for m in marks]
    marks = np.linspace(low, high, MARKS)
    return [(int(np.argmin(np.abs(place - m))), f"{m:.3g}") for m in marks]


# -------------------------------------------------------------------- motor


def torque_speed(sizing: Any, path: Place = None, *, dark: bool = False, force: bool = False) -> Any:
    """The cycle of the motor as a closed curve of torque over speed, inside its continuous and its peak region.

    `sizing` is what `c.drive_sizing(motor=...)` returns. The cross is the RMS torque at the mean speed: it must lie inside the
    continuous region, the whole cycle inside the peak region.
    """
    if sizing.motor is None:
        raise UsageError("no motor is given: make the sizing with motor={'Kt': ..., 'R': ...} first.")

    def make(look: Theme) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        axes = figure.subplots()
        _regions(axes, sizing, look)
        _cycle(axes, sizing, look)
        return figure

    return _saved(make, path, dark, force)


def _regions(axes: Any, sizing: Any, look: Theme) -> None:
    """Continuous and peak torque over speed, in all four quadrants that are used."""
    m, (symbol, size) = sizing.motor, unit_of(sizing.units, "angular speed")
    speed, torque = sizing.motor_speed, sizing.motor_torque
    no_load = m.voltage / m.Ke if m.voltage is not None and m.Ke > 0.0 else np.inf
    ends = [x for x in (m.max_speed, no_load if np.isfinite(no_load) else None) if x is not None]
    fastest = min(ends) if ends else 1.25 * float(np.abs(speed).max() or 1.0)
    both = float(speed.min()) < -1e-9 * max(1.0, float(np.abs(speed).max()))
    down = float(speed.min()) < 0.0 and not float(speed.max()) > 0.0
    w = np.linspace(0.0, fastest, 200)
    bound = 1.3 * max(float(np.abs(torque).max()), m.max_torque or 0.0, m.rated_torque or 0.0)
    drives, brakes = np.minimum(m.peak_curve(w), bound), np.minimum(np.where(np.isfinite(m.peak_curve(-w)), m.peak_curve(-w), bound), bound)
    for sign in [-1.0] if down else [1.0, -1.0] if both else [1.0]:
        label = "peak" if sign > 0 or down else None
        if m.max_torque is not None or m.voltage is not None:
            axes.fill_between(sign * w / size, sign * np.maximum(drives, 0.0), -sign * brakes, color=PALETTE[5], alpha=0.13, lw=0.0)
            axes.plot(sign * w / size, sign * np.maximum(drives, 0.0), color=PALETTE[5], lw=1.4, label=label)
            axes.plot(sign * w / size, -sign * brakes, color=PALETTE[5], lw=1.4)
        if m.rated_torque is not None:
            end = min(m.rated_speed if m.rated_speed is not None else fastest, fastest)
            v = np.linspace(0.0, end, 100)
            lasting = np.maximum(np.minimum(m.peak_curve(v), m.rated_torque), 0.0)
            axes.fill_between(sign * v / size, sign * lasting, -sign * m.rated_torque, color=PALETTE[1], alpha=0.18, lw=0.0)
            axes.plot(sign * v / size, sign * lasting, color=PALETTE[1], lw=1.4, label="continuous" if label else None)
            axes.plot(sign * v / size, np.full(len(v), -sign * m.rated_torque), color=PALETTE[1], lw=1.4)
    axes.axhline(0.0, color=look.faint, lw=0.9)
    axes.axvline(0.0, color=look.faint, lw=0.9)
    axes.set_xlabel(f"motor speed [{symbol}]", parse_math=False)


def _cycle(axes: Any, sizing: Any, look: Theme) -> None:
    size = unit_of(sizing.units, "angular speed")[1]
    speed, torque = sizing.motor_speed / size, sizing.motor_torque
    axes.plot(np.append(speed, speed[0]), np.append(torque, torque[0]), color=DRIVEN, lw=1.8, label="cycle")
    k = int(np.argmax(np.abs(torque)))
    axes.plot(speed[k], torque[k], "o", ms=5.0, color=DRIVEN, mec=look.paper, mew=0.8, zorder=5)
    t = sizing.history.t
    mean = _time_mean(t, np.abs(speed)) * (-1.0 if speed.max() <= 0.0 else 1.0)
    rms = sizing.rms(torque)
    axes.plot(mean, rms, "x", ms=7.5, mew=2.0, color=look.ink, label=f"RMS torque {rms:.3g} N m", zorder=6)
    axes.set_ylabel("motor torque [N m]")
    kind = "" if sizing.history.rotary else " rad/m"
    axes.set_title(f"{sizing.history.name}: ratio {sizing.ratio:.4g}{kind}, peak {abs(torque[k]):.3g} N m", fontsize=9, loc="left")
    axes.margins(0.04)
    _legend(axes)
