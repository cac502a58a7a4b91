"""Common parts of all plots: paper and its options, axes in the file's units, round ticks, names beside curves, flags at times.

A plot is a function `draw(subject, path=None, *, ..., **paper)` that hands a `make(frame)` to `drawn`. The frame gives
figures of the right size and look, and collects names of curves, which are spread when the layout is known so that
none covers another.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from matplotlib.ticker import ScalarFormatter  # this module is imported when axes are drawn, so that nothing waits for matplotlib

from linkwright.api import Trajectory, UsageError, counted, files
from linkwright.rings.studio import style
from linkwright.rings.studio.style import PALETTE, Theme

Place = str | os.PathLike[str] | None
SMALL = 8.0  # points: names of curves
DPI = 160  # of pictures written
TURNS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0, 180.0, 360.0, 720.0, 1800.0, 3600.0)  # degrees between ticks


class Paper(TypedDict, total=False):
    """Options of every plot."""

    dark: bool
    size: tuple[float, float] | None  # inches
    title: str | None


class PlotOptions(Paper, total=False):
    """Options of the plots of a mechanism or motion; each plot has some of them."""

    over: str | None
    at: Any
    trace: Sequence[str] | None
    labels: bool
    off: Sequence[str]
    drives: Sequence[str] | None
    pins: Sequence[tuple[str, str]] | None
    pin: str | None
    on: str | None
    frames: Sequence[str] | None
    most: int
    drive: str | None
    motor: Any
    gear_ratio: Any
    efficiency: Any
    lead: Any
    points: str | Sequence[str] | None
    mechanism: bool
    channels: str | Sequence[str] | None
    other: Trajectory | Mapping[str, Trajectory] | None
    name: str
    difference: bool
    marks: bool


class StudyPlotOptions(Paper, total=False):
    """Options of the plots of a study; each plot has some of them."""

    measures: str | Sequence[str] | None
    columns: str | Sequence[str] | None
    over: Any
    at: Any
    limits: Any
    bins: int | None
    most: int


class SynthesisPlotOptions(Paper, total=False):
    """Options of the plot of a synthesis."""

    count: int


@dataclass
class Name:
    """A name to be written at the right end of a curve."""

    axes: Any
    y: float
    text: str
    color: Any
    note: Any = None


@dataclass
class Frame:
    """Paper for one figure."""

    look: Theme
    size: tuple[float, float] | None = None
    title: str | None = None
    names: list[Name] = field(default_factory=list)

    def figure(self, width: float, height: float, fixed: bool = False) -> Any:
        """An empty Figure of this size in inches, or of the size asked for; `fixed`: axes are placed by hand."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=self.size or (width, height), layout=None if fixed else "constrained")
        if self.title:
            figure.suptitle(
                self.title,
                fontsize=11.0,
                x=0.02,
                ha="left",
                parse_math=False,
                **({"y": 0.985, "va": "top"} if fixed else {}),
            )
        return figure

    def name(self, axes: Any, values: np.ndarray, text: str, color: Any) -> None:
        """Write a name beside the end of a curve."""
        finite = np.asarray(values)[np.isfinite(values)]
        self.names.append(Name(axes, float(finite[-1]) if len(finite) else 0.0, text, color))

    def settle(self, figure: Any) -> None:
        """Spread the names now that the room is known."""
        if not self.names:
            return
        for n in self.names:
            n.note = _note(n, 0.0, 0.0)
        laid_out(figure)
        point = 72.0 / figure.dpi
        for axes in dict.fromkeys(n.axes for n in self.names):
            mine = [n for n in self.names if n.axes is axes]
            box = axes.get_window_extent()
            low, high = sorted(axes.get_ylim())
            at = np.array([axes.transData.transform((0.0, float(np.clip(n.y, low, high))))[1] for n in mine]) * point
            step = min(1.22 * SMALL, (box.height * point + 6.0) / max(len(mine), 1))
            new = spread(at, step, box.y0 * point - 2.0, box.y1 * point + 2.0)
            for n, y, there in zip(mine, at, new, strict=True):
                n.note.remove()
                n.note = _note(n, float(y), float(there - y), size=min(SMALL, step / 1.12))


def _note(n: Name, y: float, shift: float, size: float = SMALL) -> Any:
    """The text, with a thin leader to its left end where it had to move: none goes through another name."""
    low, high = sorted(n.axes.get_ylim())
    line = (
        {"arrowstyle": "-", "color": n.color, "lw": 0.6, "shrinkA": 1.0, "shrinkB": 0.0, "relpos": (0.0, 0.5)} if abs(shift) > 2.5 else None
    )
    note = n.axes.annotate(
        n.text,
        (1.0, float(np.clip(n.y, low, high))),
        (9.0, shift),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="left",
        va="center",
        fontsize=size,
        color=n.color,
        arrowprops=line,
        annotation_clip=False,
    )
    note.set_parse_math(False)
    return note


def spread(at: np.ndarray, step: float, low: float, high: float) -> np.ndarray:
    """Positions at least `step` apart, in the order of `at`, moved as little as possible (least squares), within low .. high."""
    order = np.argsort(at, kind="stable")
    blocks: list[list[float]] = []  # mean, count of positions less their share of steps
    for k, i in enumerate(order):
        blocks.append([float(at[i]) - k * step, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            m, n = blocks.pop()
            blocks[-1] = [(blocks[-1][0] * blocks[-1][1] + m * n) / (blocks[-1][1] + n), blocks[-1][1] + n]
    base = np.repeat([m for m, _ in blocks], [int(n) for _, n in blocks])
    base = np.clip(base, low, max(low, high - (len(at) - 1) * step))
    out = np.empty(len(at))
    out[order] = base + step * np.arange(len(at))
    return out


def drawn(make: Callable[[Frame], Any], path: Place, *, dark: bool = False, size: Any = None, title: Any = None) -> Any:
    """The Figure of `make` in our style, or with `path` the file written."""
    if path is not None:
        files.checked(path, files.PICTURES)
    frame = Frame(style.theme(dark), _inches(size), None if title is None else str(title))
    with style.settings(frame.look):
        figure = make(frame)
        if path is not None:
            figure.set_dpi(DPI)  # texts are a little wider or narrower at other resolutions: lay out at the one written
        _finish(frame, figure, path is not None)
        if path is None:
            return figure
        with files.replacing(path, files.PICTURES) as temporary:
            style.write(figure, temporary, DPI)
    return Path(path)


def _finish(frame: Frame, figure: Any, final: bool) -> None:
    """Names in their places; a size that leaves no room for axes is an error. `final`: the layout need not be found again."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "constrained_layout not applied", UserWarning)
        try:
            frame.settle(figure)
            if not frame.names and (final or frame.size is not None):
                laid_out(figure)
        except UserWarning as problem:
            w, h = figure.get_size_inches()
            raise UsageError(f"{w:g} x {h:g} inches leave no room for the curves of this plot. Give it a larger size.", name=w) from problem
    if final:
        figure.set_layout_engine("none")


def laid_out(figure: Any) -> None:
    """Axes moved to where they will be drawn."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def _inches(size: Any) -> tuple[float, float] | None:
    if size is None:
        return None
    try:
        w, h = (float(x) for x in size)
    except (TypeError, ValueError):
        w = h = 0.0
    if not (1.0 <= w <= 60.0 and 1.0 <= h <= 60.0):
        raise UsageError(
            f"size is (width, height) in inches, each between 1 and 60, for example size=(3.5, 2.6), not {size!r:.60}.",
            name="size",
            value=size,
        )
    return w, h


# -------------------------------------------------------------------- axes
def natural_axis(c: Trajectory) -> str:
    """The drive's coordinate where it moves one way only, else time."""
    if c.drive in c.channels and c[c.drive].ndim == 1:
        steps = np.diff(c[c.drive])
        if len(steps) and (np.all(steps > 0) or np.all(steps < 0)):
            return c.drive
    return "t"


def default_axis(c: Trajectory) -> str:
    """Default axis of curves: time in a simulation, which may last many revolutions; else the natural axis."""
    return "t" if c.proof is not None or "lam" in c.arrays else natural_axis(c)


def with_unit(name: str, symbol: str) -> str:
    """`A.torque [N m]`; without brackets where there is no unit."""
    return name if symbol == "-" else f"{name} [{written(symbol)}]"


def written(symbol: str) -> str:
    """A unit as one writes it: m/s² for m/s^2."""
    return symbol.replace("^2", "²").replace("^3", "³")


def x_axis(c: Trajectory, over: str, axes: Any) -> np.ndarray:
    """Values of a channel in the file's unit, with label and round ticks on the axes given (the lowest panel)."""
    symbol, size = c.unit(over)
    values = c[over]
    if values.ndim != 1:
        raise UsageError(f"'{over}' has {counted(values.shape[1], 'component')}; plot over one number, for example over='t'.", name=over)
    x = values / size
    axes.set_xlabel(with_unit(over, symbol), parse_math=False)
    for panel in axes.get_shared_x_axes().get_siblings(axes):
        panel.margins(x=0.0)
    if c.dimension(over) == "angle":
        turn = bool(c.full_turn) and over == c.drive
        angle_ticks(axes.xaxis, symbol, float(np.ptp(x)), most=max(3, round(1.7 * width_of(axes))), turn=turn)
    return x


def places(c: Trajectory, over: str) -> np.ndarray:
    """Places of the samples in the file's unit, for texts: in a full turn angles of the drive from 0 to 360 deg."""
    return (c.place(c[over]) if over == c.drive else c[over]) / c.unit(over)[1]


def width_of(axes: Any) -> float:
    """Inches of the page that belong to an axes of a grid."""
    place = axes.get_subplotspec()
    return float(axes.figure.get_size_inches()[0]) / (place.get_gridspec().ncols if place is not None else 1)


def in_lines(texts: Iterable[str], axes: Any, size: float) -> str:
    """Short texts side by side, in as many lines as the width of an axes asks for."""
    room = 0.82 * 72.0 * width_of(axes) / (0.54 * size)
    lines: list[str] = []
    for text in texts:
        if lines and len(lines[-1]) + 5 + len(text) <= room:
            lines[-1] += "  ·  " + text  # spaces alone are lost in a page
        else:
            lines.append(text)
    return "\n".join(lines)


def angle_ticks(axis: Any, symbol: str, span: float, most: int = 12, *, turn: bool = False) -> None:
    """Ticks at multiples of 30, 90, ... degrees; of parts of pi where angles are in radians. `turn`: places in a full turn."""
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    degrees = {"deg": 1.0, "rad": 180.0 / np.pi}.get(symbol)
    if degrees is None or not span > 0.0:
        return
    step = turn_step(span * degrees, most)
    if symbol == "deg":
        axis.set_major_locator(MultipleLocator(step))
        if turn:
            axis.set_major_formatter(FuncFormatter(lambda x, _: f"{round(x, 6) % 360.0:g}"))
    elif step >= 15.0:  # smaller parts of pi are harder to read than decimals
        axis.set_major_locator(MultipleLocator(np.pi * step / 180.0))
        axis.set_major_formatter(FuncFormatter(lambda x, _: parts_of_pi(x % (2.0 * np.pi) if turn else x)))


def turn_step(span: float, most: int) -> float:
    """Degrees between ticks so that at most `most` steps fit; beyond the list 2, 5, 10, ... times its last."""
    far = (TURNS[-1] * m * 10.0**k for k in range(300) for m in (2.0, 5.0, 10.0))
    return next((s for s in chain(TURNS, far) if span / s <= most), span)


def parts_of_pi(x: float) -> str:
    """0, π/6, -3π/2, 2π."""
    from fractions import Fraction

    part = Fraction(x / np.pi).limit_denominator(12)
    if part == 0:
        return "0"
    sign, top, below = "\u2212" if part < 0 else "", abs(part.numerator), part.denominator
    return f"{sign}{'' if top == 1 else top}\u03c0{'' if below == 1 else f'/{below}'}"


def y_axis(axes: Any, label: str, symbol: str, dimension: str = "") -> None:
    """Label with its unit, plain numbers, and round ticks where angles go far."""
    axes.set_ylabel(with_unit(label, symbol), parse_math=False)
    low, high = axes.get_ylim()
    if axes.get_yscale() == "linear":
        axes.yaxis.set_major_formatter(Numbers())
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 5), useOffset=False, useMathText=True)
    if dimension == "angle" and symbol == "deg" and high - low > 20.0:
        angle_ticks(axes.yaxis, symbol, high - low, most=6)


def four(x: float, among: np.ndarray | None = None) -> str:
    """Four digits without an exponent where a person would write none; round-off of the values it is `among` is 0."""
    if among is not None and abs(x) < 1e-10 * float(np.nanmax(np.abs(among))):
        x = 0.0
    rounded = float(f"{x:.4g}")
    return f"{rounded:.0f}" if 1e3 <= abs(rounded) < 1e9 else f"{rounded + 0.0:g}"


def open_side(at: np.ndarray, curve: np.ndarray, reach: Sequence[float]) -> np.ndarray:
    """The direction in which a text beside a place of a curve is farthest from it; `reach` is where its middle would be."""
    angles = np.radians((45.0, 135.0, -45.0, -135.0, 90.0, -90.0, 0.0, 180.0))
    sides = np.column_stack([np.cos(angles), np.sin(angles)])
    centers = at + sides * np.asarray(reach)
    room = np.linalg.norm((centers[:, None] - curve[None]) / np.asarray(reach), axis=2).min(axis=1)
    return sides[int(np.argmax(np.round(room, 2)))]


def color_of(i: int) -> str:
    return PALETTE[i % len(PALETTE)]


def legend(axes: Any, **options: Any) -> None:
    """A quiet legend beside the axes, below in columns where names would take too much of the width; texts, not formulas."""
    settings: dict[str, Any] = {"fontsize": 7.5, "handlelength": 1.4}
    handles, texts = axes.get_legend_handles_labels()
    page = 72.0 * width_of(axes)
    wide = 0.58 * 7.5 * max((len(text) for text in texts), default=0)  # points, about; 34 more are for the line and gaps
    if wide + 34.0 <= 0.36 * page:
        made = axes.legend(**({"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} | settings | options))
    else:
        settings |= {"ncols": max(1, int(page / (wide + 34.0))), "fontsize": 7.5 * min(1.0, (page - 34.0) / wide)}
        made = axes.figure.legend(handles, texts, loc="outside lower center", **(settings | options))
    for text in made.get_texts():
        text.set_parse_math(False)


# -------------------------------------------------------------------- flags
@dataclass(frozen=True)
class Flag:
    """Something that happened at a time."""

    time: float
    text: str
    singular: bool = False


def flags_of(c: Trajectory) -> list[Flag]:
    """Events and singular passages of a run or cycle, in order of time."""
    inside = [p for p in c.passages if min(c.t[0], c.t[-1]) <= p.time <= max(c.t[0], c.t[-1])]
    found = [Flag(e.time, e.name) for e in c.events] + [Flag(p.time, PASSAGES[p.kind], True) for p in inside]
    found += [Flag(float(np.clip(x.t, c.t[0], c.t[-1])), "singular position", True) for x in c.singular if x.kind == "passage"]
    return sorted(found, key=lambda f: f.time)


PASSAGES = {
    "rank": "branches meet",
    "drives": "drives lose control authority",
    "coordinates": "coordinates do not determine the motion",
    "independent": "output at rest",
}  # short; str(passage) says more


def draw_flags(frame: Frame, panels: Iterable[Any], flags: Sequence[Flag], c: Trajectory, x: np.ndarray, *, names: bool = True) -> None:
    """Thin lines at times in all panels, their names in rows above the first; where a name has no room it is left out."""
    order = np.argsort(c.t, kind="stable")
    stations = [(float(np.interp(f.time, c.t[order], x[order])), f) for f in flags]
    panels = list(panels)
    for at, f in stations:
        for axes in panels:
            color = frame.look.accent if f.singular else frame.look.faint
            axes.axvline(at, color=color, lw=0.9, ls=(0, (4, 2)) if f.singular else (0, (1.5, 1.5)), zorder=1.5)
    if names:
        _flag_names(frame, panels[0], stations, x)


def _flag_names(frame: Frame, axes: Any, stations: list[tuple[float, Flag]], x: np.ndarray) -> None:
    width = 72.0 * axes.figure.get_size_inches()[0] * 0.8 / max(float(np.ptp(x)), 1e-300)  # points per unit of x, about
    ends = [-np.inf] * 3
    for at, f in sorted(stations, key=lambda s: s[0]):
        half = 0.5 * 0.56 * 7.0 * len(f.text)
        place = (at - float(np.min(x))) * width
        row = next((k for k, end in enumerate(ends) if place - half > end + 6.0), None)
        if row is None:
            continue
        ends[row] = place + half
        color = frame.look.accent if f.singular else frame.look.ink
        note = axes.annotate(
            f.text, (at, 1.0), (0.0, 3.0 + 9.0 * row), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="center", va="bottom", fontsize=7.0, color=color, annotation_clip=False,
        )  # fmt: skip
        note.set_parse_math(False)


# Numbers along axes as plain text: as mathematics, which matplotlib makes of them, they take a third of a plot's time.


class Numbers(ScalarFormatter):
    """Only the common power of ten, where there is one, stays mathematics."""

    def __call__(self, x: Any, pos: Any = None) -> str:
        return super().__call__(x, pos).removeprefix("$\\mathdefault{").removesuffix("}$")
