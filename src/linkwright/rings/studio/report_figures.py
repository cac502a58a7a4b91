"""Figures of the report, in the size they are printed: the mechanism, the drawing to scale with distances of pins and the
table of all links, curves side by side, the motor's diagram.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import SAME_NUMBER, System, Trajectory, UsageError, contact, counted, curve_extremes, nearest, show, unit_of
from linkwright.rings.design.cycle_averages import time_mean
from linkwright.rings.design.link_dimensions import LinkDimension, WheelRadius, link_dimensions, wheel_radii
from linkwright.rings.studio import picture, plots, style
from linkwright.rings.studio.plots import motors
from linkwright.rings.studio.plots.efforts import effort_channels
from linkwright.rings.studio.plots.motors import torque_speed
from linkwright.rings.studio.report_parts import MINUS, MM, figure, note, part, table
from linkwright.rings.studio.scale_drawing import scale_drawing
from linkwright.rings.studio.scale_drawing_svg import sheet_scale, svg_figure
from linkwright.rings.studio.scene import off_at
from linkwright.rings.studio.style import DRIVEN, LIGHT, PALETTE

SHEET, BESIDE_TABLE = (178.0, 88.0), (104.0, 68.0)  # mm of paper: over the whole width, and where the table is beside the drawing
BESIDE = 14  # rows of a table beside a drawing
MOST_LINES = 36  # dimension lines that can be distinguished on paper
MOST_ROWS = 60


def dimensions_section(system: System) -> str:
    """Return the part with the drawing of a planar mechanism and the table of its links; "" where there are no lengths."""
    d = system.description
    rows, wheels = link_dimensions(d), wheel_radii(d)
    if not rows:
        return part("Dimensions", _wheels(system, wheels))
    drawn = _drawing(system, len(rows)) if d.planar else ""
    listed = _table(system, rows) + _wheels(system, wheels)
    text = note(_explained(d, bool(drawn)))
    if drawn and len(rows) <= BESIDE:
        return part("Dimensions", f'<div class="rp-dimensions">{drawn}<div>{listed}{text}</div></div>')
    return part("Dimensions", drawn, listed, text)


def _explained(d: Any, drawn: bool) -> str:
    unit = unit_of(d.units, "length")[0]
    said = (
        "x and y of a place are measured from the first place of its link, with x toward the second. "
        "On the ground they follow the axes of the drawing."
    )
    return (f"Drawn to scale, numbers in {unit}. " if drawn else "") + said


def _drawing(system: System, count: int) -> str:
    """The drawing as SVG in the page, as large as the sheet allows."""
    if count > MOST_LINES:
        return ""
    sheet = BESIDE_TABLE if count <= BESIDE else SHEET
    wide = None
    letters = 1.9  # mm, height of capitals on paper
    for _ in range(2):  # letters have their size on paper, and what is written decides the scale
        drawing = scale_drawing(system, positions=0, trace=[], dimensions=True, width=wide)
        wide = f"{2.0 * letters / sheet_scale(drawing, sheet)} mm"
    drawing = scale_drawing(system, positions=0, trace=[], dimensions=True, width=wide)
    alt = f"{system.description.name} to scale, with the distances of the pins of every link"
    return f'<figure class="rp-figure">{svg_figure(drawing, sheet, alt)}</figure>\n'


def _table(system: System, rows: tuple[LinkDimension, ...]) -> str:
    """One row a distance; links that are alike in one row."""
    d = system.description
    symbol, size = unit_of(d.units, "length")
    axes = "xy" if d.planar else "xyz"
    groups: dict[tuple[Any, ...], list[str]] = {}
    by_body: dict[str, list[LinkDimension]] = {}
    for row in rows:
        by_body.setdefault(row.body, []).append(row)
    for body, own in by_body.items():
        key = tuple((r.first, r.second) if body == d.bodies[0].name else tuple(np.round([r.distance, *r.along], 12)) for r in own)
        groups.setdefault(key, []).append(body)
    out: list[tuple[Any, ...]] = []
    for bodies in groups.values():
        own = by_body[bodies[0]]
        origin = own[0].first
        for k, r in enumerate(own):
            of = (", ".join(bodies) if len(bodies) <= 3 else f"{bodies[0]} and {len(bodies) - 1} alike") if k == 0 else ""
            place = [_clean(x, r.distance) / size for x in r.along[: len(axes)]] if r.first == origin else [None] * len(axes)
            out.append((of, f"{r.first} – {r.second}", r.distance / size, *place))
    shown = out[:MOST_ROWS]
    header = [("link", ""), ("between", ""), ("distance", symbol), *((x, symbol) for x in axes)]
    more = note(f"and {counted(len(out) - len(shown), 'more distance')}") if len(out) > len(shown) else ""
    return table(header, shown, left=2) + more


def _wheels(system: System, rows: tuple[WheelRadius, ...]) -> str:
    """Radii of pulleys, sprockets and gears."""
    symbol, size = unit_of(system.description.units, "length")
    body = [(r.wheel, r.of, r.radius / size) for r in rows[:MOST_ROWS]]
    more = note(f"and {counted(len(rows) - len(body), 'more wheel')}") if len(rows) > len(body) else ""
    return table([("wheel", ""), ("of", ""), ("radius", symbol)], body, left=2) + more


def _clean(x: float, size: float) -> float:
    return 0.0 if abs(x) < SAME_NUMBER * size else float(x)


WIDTH = 182.0  # mm of a line on the sheet
MOST_CURVES = 6
SMALL: dict[Any, Any] = {"font.size": 7.5, "axes.labelsize": 7.5, "xtick.labelsize": 7.0, "ytick.labelsize": 7.0, "axes.linewidth": 0.6}


@dataclass(frozen=True)
class ReportPanel:
    """Curves of one dimension in one pair of axes."""

    title: str
    names: tuple[str, ...]
    rms: bool = False  # mark the extreme and the RMS (of a single curve)


def mechanism(system: Any, c: Trajectory | None, *, width: float = 92.0, height: float = 78.0) -> str:
    """The mechanism where the motion begins, without what is switched off there; with the paths of its points, unless it is a run."""
    scale = 1.25 if system.description.planar else 1.4  # names are that much smaller than in a picture of its own
    size = (width * MM * scale, height * MM * scale)
    own = c is not None and not c.drive and c.skel.tree.cuts == system.tree.cuts  # a cycle is drawn as the file is
    turn = c if c is not None and c.proof is None else None
    trace = None if turn is not None else []
    drawn = picture.draw(system, turn=turn, trace=trace, size=size, at=c.state(0) if c is not None and own else None, off=off_at_start(c))
    return figure(drawn, "rp-mechanism", f"{system.description.name} at its start position")


def off_at_start(c: Trajectory | None) -> list[str]:
    """Rods and joints that a run begins without."""
    return [] if c is None else off_at(c, 0)


def curves(c: Trajectory, panels: Sequence[ReportPanel], name: str, *, over: str = "t", height: float = 46.0, columns: int = 2) -> str:
    """Panels side by side over time or the drive's coordinate."""
    shown = [p for p in panels if p.names]
    if not shown:
        return ""
    columns = min(columns, len(shown))
    rows = -(-len(shown) // columns)
    with style.settings(LIGHT):
        import matplotlib
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        matplotlib.rcParams.update(SMALL)
        room = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.04, wspace=0.03)
        drawn = Figure(figsize=(WIDTH * MM, rows * height * MM), layout=room)
        grid = drawn.subplots(rows, columns, squeeze=False).ravel()
        for i, (axes, p) in enumerate(zip(grid, shown, strict=False)):
            beside = shown[i - i % columns : i - i % columns + columns]
            _panel(axes, c, p, over)
            _heading(axes, p, max(_legend_rows(x) for x in beside))
        for axes in grid[len(shown) :]:
            axes.set_axis_off()
        return figure(drawn, name, "; ".join(f"{p.title}: {', '.join(p.names)}" for p in shown))


def _panel(axes: Any, c: Trajectory, p: ReportPanel, over: str) -> None:
    symbol, size = c.unit(p.names[0])
    unit, scale = c.unit(over)
    x = c[over] / scale
    values = c.read(p.names)
    for i, name in enumerate(p.names):
        axes.plot(x, values[name] / size, lw=1.2, color=DRIVEN if p.rms else PALETTE[i % len(PALETTE)], label=name)
    if p.rms:
        _extremes(axes, c, x, values[p.names[0]] / size, symbol)
    for place in c.singular:
        axes.axvline(float(np.interp(place.t, c.t, x)), color=LIGHT.accent, lw=0.8, ls=(0, (4, 2)), zorder=1.5)
    axes.set_xlabel(f"{over} [{unit}]", parse_math=False, labelpad=1.5)
    axes.set_ylabel(f"[{symbol}]", parse_math=False, labelpad=2.0)
    axes.margins(x=0.0, y=0.1)
    _ticks(axes, c, over)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-5, 7), useOffset=False, useMathText=True)  # numbers of any size have room
    low, high = (np.array([f(v) for v in values.values()]) / size for f in (np.min, np.max))
    largest = max(float(np.abs(low).max()), float(np.abs(high).max()))
    if float(high.max() - low.min()) < 1e-6 * largest:  # what stays the same is a straight line, not its round-off
        axes.set_ylim(low.min() - 0.1 * largest, high.max() + 0.1 * largest)


def _ticks(axes: Any, c: Trajectory, over: str) -> None:
    """Ticks of an angle at every 60 deg, reduced to one turn where the drive makes full turns."""
    unit, scale = c.unit(over)
    if unit == "deg" and np.ptp(c[over] / scale) > 180.0:
        from matplotlib.ticker import FuncFormatter, MultipleLocator

        axes.xaxis.set_major_locator(MultipleLocator(60.0))
        if c.full_turn and over == c.drive:
            axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{round(x, 6) % 360.0:g}"))


def _legend_rows(p: ReportPanel) -> int:
    """Lines between the title and the axes: names of curves, or peak and RMS."""
    return int(p.rms) if len(p.names) < 2 else -(-len(p.names) // (3 if len(p.names) > 2 else 2))


def _heading(axes: Any, p: ReportPanel, legend_rows: int) -> None:
    """Title, and the names of the curves, above the axes so that none of them is covered; titles of a row are level."""
    axes.set_title(p.title, fontsize=7.5, loc="left", pad=4.0 + 9.0 * legend_rows, fontweight="bold", parse_math=False)
    if len(p.names) > 1:
        legend = axes.legend(
            fontsize=6.5, loc="lower left", bbox_to_anchor=(-0.01, 0.985), ncols=3 if len(p.names) > 2 else 2, handlelength=1.1,
            columnspacing=1.0, handletextpad=0.4, borderpad=0.1, borderaxespad=0.0, labelspacing=0.2,
        )  # fmt: skip
        for written in legend.get_texts():
            written.set_parse_math(False)


def _extremes(axes: Any, c: Trajectory, x: np.ndarray, y: np.ndarray, symbol: str) -> None:
    """The largest value marked, the RMS dashed, both written above; * near a singular position."""
    rms = float(np.sqrt(time_mean(c.t, y**2)))
    axes.axhline(0.0, color=LIGHT.faint, lw=0.7)
    ends, k = curve_extremes(c.t, y), int(np.argmax(np.abs(y)))
    peak = ends.high if ends.high >= -ends.low else ends.low
    axes.axhline(rms, color=LIGHT.ink, lw=0.7, ls=(0, (5, 3)))
    axes.plot(x[k], y[k], "o", ms=3.6, color=DRIVEN, mec=LIGHT.paper, mew=0.6, zorder=5)
    near = "*" if c.near_singular[k] else ""
    label = f"peak {show(peak).replace('-', MINUS, 1)}{near}, RMS {show(rms)}{near} {symbol} (dashed)"
    axes.annotate(label, (0.0, 1.0), (0.0, 3.5), xycoords="axes fraction", textcoords="offset points", fontsize=6.8, parse_math=False)


def motor(sizing: Any) -> str:
    """The motor's cycle inside its continuous and its peak region."""
    drawn = torque_speed(sizing, size=(92.0 * MM * 1.25, 62.0 * MM * 1.25))
    return figure(drawn, "rp-motor", f"torque over speed of the motor of {sizing.history.name}")


def run_motors(run: Trajectory) -> str:
    """Motors of a simulation within their limits."""
    count = sum(n.startswith("motor.") and n.endswith(".current") for n in run.columns)
    if not count:
        return ""
    drawn = motors.motor(run, size=(WIDTH * MM * 1.25, 62.0 * MM * 1.25))
    return figure(drawn, "rp-motors", "torque over speed of the motors")


def chosen_panels(c: Trajectory, names: Sequence[str]) -> list[ReportPanel]:
    """Panels of the channels that are asked for: those of one dimension that follow each other share one."""
    out: list[ReportPanel] = []
    for name in names:
        if name not in c.channels:
            raise UsageError(f"the report has no curve of '{name}'.", nearest(name, list(c.channels), "Channels"))
        if c[name].ndim != 1:
            parts = [n for n in c.channels if n.startswith(f"{name}.") and c[n].ndim == 1]
            raise UsageError(
                f"'{name}' has several components. Name one for a curve{': ' + ', '.join(parts[:4]) if parts else ''}.", name=name
            )
        kind = c.dimension(name)
        if out and c.dimension(out[-1].names[0]) == kind and len(out[-1].names) < MOST_CURVES:
            out[-1] = ReportPanel(kind[:1].upper() + kind[1:] or "Values", (*out[-1].names, name))
        else:
            out.append(ReportPanel(name, (name,)))
    return out


def overlaid(runs: Sequence[tuple[str, Trajectory]], channel: str, name: str, *, height: float = 52.0) -> str:
    """One channel of several motions over their drives' travel."""
    with style.settings(LIGHT):
        import matplotlib
        from matplotlib.figure import Figure

        matplotlib.rcParams.update(SMALL)
        drawn = Figure(figsize=(WIDTH * MM, height * MM), layout="constrained")
        axes = drawn.subplots()
        over = plots.natural_axis(runs[0][1])
        (unit, scale), (symbol, size) = runs[0][1].unit(over), runs[0][1].unit(channel)
        for i, (label, c) in enumerate(runs):
            axes.plot(c[over] / scale, c[channel] / size, lw=1.2, color=PALETTE[i % len(PALETTE)], label=label)
        axes.set_title(channel, fontsize=7.5, loc="left", fontweight="bold", parse_math=False)
        axes.set_xlabel(f"{over} [{unit}]", parse_math=False, labelpad=1.5)
        axes.set_ylabel(f"[{symbol}]", parse_math=False, labelpad=2.0)
        axes.margins(x=0.0)
        _ticks(axes, runs[0][1], over)
        for written in axes.legend(fontsize=6.5, loc="best").get_texts():
            written.set_parse_math(False)
        return figure(drawn, name, f"{channel} of {', '.join(label for label, _ in runs)}")


def motion_panels(c: Trajectory, over: str) -> list[ReportPanel]:
    """Angles of the links and coordinates of the marked points; sliders where there are no points."""
    d = c.skel.tree.description
    angles = plots.main_angles(c, over)[:MOST_CURVES]
    points = plots.marked_points(c)[:2]
    places = [f"{p}.{x}" for p in points for x in (d.plane or "xyz")][:MOST_CURVES]
    strokes = [n for j in d.joints for n in (j.name, f"{j.name}.slide") if _strokes(c, n)]
    out = [ReportPanel("Angles of the links" if d.planar else "Angles of the hinges", tuple(angles))]
    out += [ReportPanel("Marked points", tuple(places)), ReportPanel("Strokes", tuple(strokes[:MOST_CURVES]))]
    return [p for p in out if p.names][:2]


def _strokes(c: Trajectory, name: str) -> bool:
    return name in c.channels and c.dimension(name) == "length" and c[name].ndim == 1 and bool(np.ptp(c[name]) > 1e-9)


def effort_panels(c: Trajectory) -> list[ReportPanel]:
    """Efforts and powers of the drives; torques and forces apart."""
    efforts = effort_channels(c)
    out = []
    for kind in ("torque", "force"):
        names = [n for n in efforts if n.endswith(f".{kind}")][:MOST_CURVES]
        out.append(ReportPanel(f"Drive {kind}" + _at(names), tuple(names), rms=len(names) == 1))
    powers = tuple(f"{n.rpartition('.')[0]}.power" for n in efforts[:MOST_CURVES])
    out.append(ReportPanel("Power" + _at(powers), powers, rms=len(powers) == 1))
    return [p for p in out if p.names]


def _of(names: Sequence[str]) -> str:
    """A single curve has no legend, so the title says whose it is."""
    return f" of {names[0]}" if len(names) == 1 else ""


def _at(names: Sequence[str]) -> str:
    return f" at {names[0].rpartition('.')[0]}" if len(names) == 1 else ""


def run_panels(run: Trajectory) -> list[ReportPanel]:
    """Time histories of a simulation: drives or joints, their speeds, what acted, and energies."""
    d = run.skel.tree.description
    driven = [x.joint for x in d.drives if x.joint in run.channels and run[x.joint].ndim == 1]
    singles = [j.name for j in d.joints if j.name in run.channels and run._channel(j.name).dimension in ("angle", "length")]
    lead = (driven or [n for n in singles if run[n].ndim == 1])[:MOST_CURVES]
    same = tuple(n for n in lead if run.dimension(n) == run.dimension(lead[0])) if lead else ()
    pressed = tuple(n for x in contact.touches(d) if (n := f"{x.name}.force") in run.columns)
    acted = [n for n in run.columns if n.endswith((".torque", ".force")) and not n.startswith("motor.") and n not in pressed]
    efforts = [n for n in acted if run.columns[n].values.ndim == 1]
    alike = tuple(n for n in efforts if run.dimension(n) == run.dimension(efforts[0]))[:MOST_CURVES] if efforts else ()
    out = [
        ReportPanel("Position" + _of(same), same),
        ReportPanel("Speed" + _of(same), tuple(f"{n}.v" for n in same)),
        *(p for p in motion_panels(run, "t") if p.names != same),
        ReportPanel("Drive torques and forces" if len(alike) != 1 else f"{alike[0]}, applied", alike),
        ReportPanel("Contact forces" if len(pressed) != 1 else pressed[0], pressed[:MOST_CURVES]),
        ReportPanel("Energy", tuple(n for n in ("energy.kinetic", "energy.potential", "energy.total") if n in run.channels)),
    ]
    return [p for p in out if p.names]
