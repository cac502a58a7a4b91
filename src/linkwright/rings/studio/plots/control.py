"""A controlled run at a glance, or several of them on one task.

control(run, "control.png")                          references and values, errors, efforts and voltages with limits, forces, authority
                                                     where it was lost, paths of points in a plane
control(run, other={"hybrid": run2}, name="projected")    norms of efforts and of errors of all, over time  [Aghili2005 Fig. 8]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Unpack

import numpy as np

from linkwright.api import NEGLIGIBLE, Trajectory, UsageError, unit_of
from linkwright.rings.studio.plots.common_parts import (
    Frame,
    Paper,
    Place,
    color_of,
    draw_flags,
    drawn,
    flags_of,
    four,
    with_unit,
    x_axis,
    y_axis,
)
from linkwright.simulation.feedback.control_performance import DriveEffort, EffortNorms, effort_norms, errors, facts, force_errors, force_of

WANTED = (0, (4, 2))  # dashes of references and wanted forces
FAR = 30.0  # errors that differ by more than this need a logarithmic scale
PLOTTED_LIMIT = 1.5  # limits farther away than this many times what was used do not stretch the picture
VAST = 1e6  # and by more than this on none: the smaller one is zero beside the other
TALL, LOW, SQUARE = 1.85, 1.3, 3.1  # inches of panels: of curves, of errors, of paths
PLATE = (("voltage", "V", "supply_voltage"), ("current", "A", "max_current"))  # what limits a motor
Panel = Callable[[Frame, Any, np.ndarray], None]


def control(
    c: Trajectory, path: Place = None, *, other: Mapping[str, Trajectory] | None = None, name: str = "this run", **paper: Unpack[Paper]
) -> Any:
    """References, errors and efforts of a controller; with `other` runs by name the norms of all of them instead."""
    if other:
        return compared({name: c, **other}, path, **paper)
    _controlled(c, "this run")
    panels, points = [*_followed(c), *_efforts(c), *_forces(c), *_authority(c)], _points(c)
    heights = [height for _, height in panels]

    def make(frame: Frame) -> Any:
        rows = [*heights, SQUARE] if points else heights
        figure = frame.figure(7.4, 0.7 + sum(rows))
        places = figure.add_gridspec(len(rows), max(len(points), 1), height_ratios=rows)
        grid = _one_axis([figure.add_subplot(places[k, :]) for k in range(len(panels))])
        x = x_axis(c, "t", grid[-1])
        for axes, (draw, _) in zip(grid, panels, strict=True):
            draw(frame, axes, x)
        _let_go(frame, grid, c, x)
        draw_flags(frame, grid, flags_of(c), c, x, names=False)
        figure.align_ylabels(grid)
        for k, point in enumerate(points):
            _path(c, point, frame, figure.add_subplot(places[-1, k]))
        return figure

    return drawn(make, path, **paper)


def _one_axis(panels: list[Any]) -> list[Any]:
    """Panels below each other with one axis of time, its numbers at the lowest."""
    for axes in panels[:-1]:
        axes.sharex(panels[-1])
        axes.tick_params(labelbottom=False)
    return panels


def _controlled(c: Any, who: str) -> None:
    if not isinstance(c, Trajectory):
        raise UsageError(f"'{who}' is {type(c).__name__}, not a run.", name=who)
    if not errors(c) or len(c) < 2:
        raise UsageError(
            f"{who} followed nothing: 'control' shows a run with a controller, such as control=lw.control.projected(...).", name=who
        )


def _kinds(c: Trajectory, names: Iterable[str]) -> dict[str, list[str]]:
    """Names by the dimension of their errors."""
    out: dict[str, list[str]] = {}
    for n in names:
        out.setdefault(c.dimension(f"control.{n}.error"), []).append(n)
    return out


def _least(c: Trajectory, kind: str) -> float:
    """Below that an error is round-off: of a radian, of the mechanism's size, of the efforts."""
    size = float(c.frame.kappa)
    typical = {"angle": 1.0, "length": size}
    if kind not in typical:
        peak = effort_norms(c).metric_peak
        typical = {"torque": peak, "force": peak / size}
    return NEGLIGIBLE * typical.get(kind, 0.0)


def _unit(c: Trajectory, kind: str) -> tuple[str, float]:
    return unit_of(c.skel.tree.description.units, kind)


# -------------------------------------------------------------------- one run


def _followed(c: Trajectory) -> list[tuple[Panel, float]]:
    """References and values, and below them their errors; angles and lengths by themselves."""
    kinds = _kinds(c, errors(c)).items()
    return [x for kind, names in kinds for x in ((partial(_values, c, kind, names), TALL), (partial(_gaps, c, kind, names), LOW))]


def _values(c: Trajectory, kind: str, names: list[str], frame: Frame, axes: Any, x: np.ndarray) -> None:
    symbol, size = _unit(c, kind)
    for k, n in enumerate(names):
        y = c[f"control.{n}.value"] / size
        axes.plot(x, y, lw=1.7, color=color_of(k))
        axes.plot(x, c[f"control.{n}.reference"] / size, lw=1.1, ls=WANTED, color=frame.look.ink)
        frame.name(axes, y, n, color_of(k))
    _not_too_close(axes, 1e3 * _least(c, kind) / size)
    y_axis(axes, names[0] if len(names) == 1 else {"length": "position"}.get(kind, kind), symbol, kind)
    axes.set_title("value, and reference dashed", fontsize=8, loc="left")


def _gaps(c: Trajectory, kind: str, names: list[str], frame: Frame, axes: Any, x: np.ndarray) -> None:
    symbol, size = _unit(c, kind)
    found = errors(c)
    axes.axhline(0.0, color=frame.look.faint, lw=0.9)
    for k, n in enumerate(names):
        axes.plot(x, found[n] / size, lw=1.4, color=color_of(k))
    largest = float(np.linalg.norm([found[n] for n in names], axis=0).max()) / size
    _not_too_close(axes, _least(c, kind) / size)
    y_axis(axes, "error", symbol)
    text = "largest" if len(names) == 1 else "largest norm"
    axes.set_title(f"{text} {four(largest)} {symbol}", fontsize=8, loc="left", parse_math=False)


def _points(c: Trajectory) -> list[tuple[str, tuple[str, str]]]:
    """Points of a planar mechanism that were followed in both directions: what they are called, and the two coordinates. Those that
    stayed where they were have no path."""
    plane, found = c.skel.tree.description.plane, errors(c)
    if not plane:
        return []
    heads = dict.fromkeys(n.rpartition(".")[0] for n in found if n.rpartition(".")[2] in plane)
    both = {h: (f"{h}.{plane[0]}", f"{h}.{plane[1]}") for h in heads}
    whole = {h: xy for h, xy in both.items() if all(n in found and c.dimension(f"control.{n}.error") == "length" for n in xy)}
    far = 1e3 * _least(c, "length")
    return [
        (h, xy) for h, xy in whole.items() if max(float(np.ptp([*c[f"control.{n}.value"], *c[f"control.{n}.reference"]])) for n in xy) > far
    ]


def _path(c: Trajectory, point: tuple[str, tuple[str, str]], frame: Frame, axes: Any) -> None:
    """Path of a point, and its reference thin over it; equal scales."""
    name, coordinates = point
    symbol, size = _unit(c, "length")
    went, wanted = ([c[f"control.{n}.{word}"] / size for n in coordinates] for word in ("value", "reference"))
    axes.plot(*went, lw=2.4, color=color_of(0), solid_joinstyle="round")
    axes.plot(*wanted, lw=0.9, color=frame.look.ink)
    axes.plot(went[0][0], went[1][0], "o", ms=6.0, mfc=frame.look.paper, mec=color_of(0), mew=1.5, zorder=5)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.09)
    axes.ticklabel_format(useOffset=False)
    for label, n in zip((axes.set_xlabel, axes.set_ylabel), coordinates, strict=True):
        label(with_unit(n.rpartition(".")[2], symbol), parse_math=False)
    axes.set_title(f"path of {name}: ring at its start, reference thin", fontsize=8, loc="left", parse_math=False)


def _efforts(c: Trajectory) -> list[tuple[Panel, float]]:
    """Drive torques and forces by kind, with limits; held ones as steps. Below them what limits motors."""
    norms = effort_norms(c)
    out: list[tuple[Panel, float]] = []
    for kind in dict.fromkeys(d.kind for d in norms.by_drive.values()):
        out.append((partial(_pushing, c, norms, kind), TALL))
    for what, unit, key in PLATE:
        motors = [d for d in norms.by_drive.values() if getattr(d, key) is not None and f"motor.{d.drive}.{what}" in c.columns]
        out += [(partial(_plate, c, motors, what, unit, key), LOW)] if motors else []
    return out


def _pushing(c: Trajectory, norms: EffortNorms, kind: str, frame: Frame, axes: Any, x: np.ndarray) -> None:
    symbol, size = _unit(c, kind)
    known = facts(c)
    drives = [d for d in norms.by_drive.values() if d.kind == kind]
    axes.axhline(0.0, color=frame.look.faint, lw=0.9)
    for k, d in enumerate(drives):
        y = c[f"{d.drive}.{kind}"] / size
        axes.plot(x, y, lw=1.5, color=color_of(k), drawstyle="steps-post" if known.every and d.drive not in known.motors else "default")
        frame.name(axes, y, d.drive, color_of(k))
    used = max(d.peak for d in drives)
    limits = _limits(frame, axes, [d.limit / size for d in drives if d.limit is not None], used / size)
    rms = float(np.sqrt(sum(d.rms**2 for d in drives)))
    said = [f"RMS {four(rms / size)} {symbol}", f"peak {four(used / size)} {symbol}"]
    if any(d.limited for d in drives):
        share = 100.0 * effort_norms(c, [d.drive for d in drives]).saturated
        who = "at the limit" if len(drives) == 1 else "one or more at the limit"
        where = " (dashed)" if limits else " (below)" if any(d.drive in known.motors for d in drives) else ""
        said.append(f"{who}{where} {four(share)} % of the time")
    y_axis(axes, kind, symbol)
    axes.set_title(", ".join(said), fontsize=8, loc="left", parse_math=False)


def _limits(frame: Frame, axes: Any, limits: Iterable[float], used: float) -> bool:
    """Dashed lines on both sides; whether there are any."""
    near = sorted({x for x in limits if x <= PLOTTED_LIMIT * used})
    for limit in near:
        for sign in (-1.0, 1.0):
            axes.axhline(sign * limit, color=frame.look.accent, lw=0.9, ls=(0, (5, 3)))
    return bool(near)


def _plate(c: Trajectory, motors: list[DriveEffort], what: str, unit: str, key: str, frame: Frame, axes: Any, x: np.ndarray) -> None:
    """Voltage or current of motors between its limits."""
    names = list(effort_norms(c).by_drive)
    held = what == "voltage" and facts(c).every and all(d.max_current is None for d in motors)  # else it changes with the speed
    axes.axhline(0.0, color=frame.look.faint, lw=0.9)
    used = 0.0
    for d in motors:
        y, color = c[f"motor.{d.drive}.{what}"], color_of(names.index(d.drive))
        axes.plot(x, y, lw=1.4, color=color, drawstyle="steps-post" if held else "default")
        frame.name(axes, y, d.drive, color)
        used = max(used, float(np.abs(y).max()))
    limits = sorted({float(getattr(d, key)) for d in motors})
    dashed = " (dashed)" if _limits(frame, axes, limits, used) else ""
    y_axis(axes, what, unit)
    allowed = " or ".join(f"{four(x)} {unit}" for x in limits)
    axes.set_title(f"peak {four(used)} {unit}, limit {allowed}{dashed}", fontsize=8, loc="left", parse_math=False)


def _forces(c: Trajectory) -> list[tuple[Panel, float]]:
    return [(partial(_held, c, kind, names), TALL) for kind, names in _kinds(c, force_errors(c)).items()]


def _held(c: Trajectory, kind: str, names: list[str], frame: Frame, axes: Any, x: np.ndarray) -> None:
    """Forces wanted (dashed), acting, and as sensed where that differs."""
    symbol, size = _unit(c, kind)
    apart, floor = False, _least(c, kind)
    for k, n in enumerate(names):
        acting, sensed, wanted = force_of(c, n), c[f"control.{n}.sensed"], c[f"control.{n}.wanted"]
        if float(np.abs(acting - sensed).max()) > max(1e-6 * float(np.abs([acting, sensed]).max()), floor):
            axes.plot(x, sensed / size, lw=0.8, color=color_of(k), alpha=0.6)
            apart = True
        axes.plot(x, acting / size, lw=1.7, color=color_of(k))
        axes.plot(x, wanted / size, lw=1.1, ls=WANTED, color=frame.look.ink)
        frame.name(axes, acting / size, n, color_of(k))
    found = force_errors(c)
    largest = float(np.linalg.norm([found[n] for n in names], axis=0).max()) / size
    _not_too_close(axes, 1e3 * floor / size)
    y_axis(axes, f"held {kind}", symbol)
    text = "acting, as sensed thin, and target dashed" if apart else "acting, and target dashed"
    norm = "" if len(names) == 1 else " (norm)"
    axes.set_title(f"{text}: off by at most {four(largest)} {symbol}{norm}", fontsize=8, loc="left", parse_math=False)


def _not_too_close(axes: Any, least: float) -> None:
    """Round-off is no curve: an axis shows at least this much."""
    low, high = axes.get_ylim()
    if high - low < least:
        axes.set_ylim(0.5 * (low + high) - least, 0.5 * (low + high) + least)


def _authority(c: Trajectory) -> list[tuple[Panel, float]]:
    """Control authority relative to the start, where efforts were ever damped."""
    if "control.damping" not in c.columns or not (c["control.damping"] > 0.0).any():
        return []

    def draw(frame: Frame, axes: Any, x: np.ndarray) -> None:
        axes.plot(x, np.maximum(c["control.authority"], 1e-16), lw=1.4, color=frame.look.ink)
        axes.set_yscale("log")
        y_axis(axes, "control authority", "-")
        axes.set_title("relative to the start; shaded: efforts were damped", fontsize=8, loc="left")

    return [(draw, LOW)]


def _let_go(frame: Frame, grid: Iterable[Any], c: Trajectory, x: np.ndarray) -> None:
    """Shade the times at which efforts were damped."""
    if "control.damping" not in c.columns:
        return
    on = c["control.damping"] > 0.0
    lost = 0.15  # shade over the times at which a controller let go
    for axes in grid:
        for start, end in _spans(on):
            axes.axvspan(x[max(start - 1, 0)], x[min(end, len(x) - 1)], color=frame.look.accent, alpha=lost, lw=0.0, zorder=0.5)


def _spans(on: np.ndarray) -> list[tuple[int, int]]:
    """(first, one after the last) of every stretch that is on."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


# -------------------------------------------------------------------- several runs


def compared(runs: Mapping[str, Trajectory], path: Place = None, **paper: Unpack[Paper]) -> Any:
    """Euclidean norms over time of the efforts, of the errors and of the force errors of several runs."""
    for who, run in runs.items():
        _controlled(run, who)
    most_runs = 8
    if len(runs) > most_runs:
        some = ", ".join(repr(n) for n in list(runs)[:2])
        raise UsageError(
            f"{len(runs)} runs are too many for one picture. Choose at most {most_runs}, of a comparison by result.plot(names=[{some}]).",
            name="runs",
        )
    first = next(iter(runs.values()))
    units = first.skel.tree.description.units
    panels = [_effort_norm(runs, units)]
    for title, read in (("error", errors), ("force error", force_errors)):
        kinds = dict.fromkeys(k for run in runs.values() for k in _kinds(run, read(run)))
        panels += [_error_norm(runs, units, kind, title, read) for kind in kinds]

    def make(frame: Frame) -> Any:
        figure = frame.figure(7.4, 1.1 + 2.0 * len(panels))
        grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        x_axis(first, "t", grid[-1])
        for axes, panel in zip(grid, panels, strict=True):
            _curves(axes, runs, *panel)
        _who(figure, runs)
        figure.align_ylabels(list(grid))
        return figure

    return drawn(make, path, **paper)


Curves = tuple[dict[str, np.ndarray], str, str, float]  # by run, label, unit, what an axis shows at least


def _effort_norm(runs: Mapping[str, Trajectory], units: tuple[str, ...]) -> Curves:
    """Norm of the efforts; torques and forces together in the metric of the mechanism."""
    norms = {who: effort_norms(run) for who, run in runs.items()}
    kinds = {n.kind for n in norms.values()}
    kind = kinds.pop() if len(kinds) == 1 else "mixed"
    symbol, size = unit_of(units, "force" if kind == "force" else "torque")
    out = {}
    for who, n in norms.items():
        weigh = {"force": n.length if kind == "mixed" else 1.0}
        parts = [runs[who][f"{d.drive}.{d.kind}"] * weigh.get(d.kind, 1.0) for d in n.by_drive.values()]
        out[who] = np.sqrt(np.sum(np.square(parts), axis=0)) / size
    return out, "norm of efforts", symbol, 0.0


def _error_norm(runs: Mapping[str, Trajectory], units: tuple[str, ...], kind: str, title: str, read: Any) -> Curves:
    symbol, size = unit_of(units, kind)
    out = {}
    for who, run in runs.items():
        found = read(run)
        names = _kinds(run, found).get(kind, [])
        if names:
            out[who] = np.sqrt(np.sum(np.square([found[n] for n in names]), axis=0)) / size
    return out, title, symbol, _least(next(iter(runs.values())), kind) / size


def _curves(axes: Any, runs: Mapping[str, Trajectory], curves: Mapping[str, np.ndarray], label: str, symbol: str, least: float) -> None:
    """Curves of equal shape stay visible: later ones are thinner and dashed over the earlier."""
    for k, who in enumerate(runs):
        if who in curves:
            axes.plot(runs[who].t, curves[who], lw=max(2.4 - 0.35 * k, 1.0), ls=_dashes(k), color=color_of(k))
    tops = [float(y.max()) for y in curves.values()]
    if label != "norm of efforts" and FAR * min(tops) < max(tops) < VAST * min(tops):
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(max(tops) / VAST, 0.3 * min(float(y[y > 0.0].min(initial=np.inf)) for y in curves.values())))
    else:
        axes.set_ylim(0.0, max(axes.get_ylim()[1], least))
    y_axis(axes, label, symbol)


def _dashes(k: int) -> Any:
    return ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))[k % 4]


def _who(figure: Any, runs: Mapping[str, Trajectory]) -> None:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=color_of(k), lw=max(2.4 - 0.35 * k, 1.0), ls=_dashes(k)) for k in range(len(runs))]
    room = 0.62 + 0.068 * max(len(n) for n in runs)  # inches of the widest entry, about
    side = max(1, min(len(runs), int(figure.get_size_inches()[0] / room)))
    made = figure.legend(lines, list(runs), loc="outside upper left", ncols=side, fontsize=8, handlelength=2.6)
    for text in made.get_texts():
        text.set_parse_math(False)
