"""Maps of a robot: measures over a slice with its located curves, volumes with their surfaces, working modes side by side."""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import numpy as np

from linkwright.api import UsageError, counted, nearest
from linkwright.rings.robots.workspace.result import KIND_NAMES, Workspace, WorkspaceModes
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, drawn, four, in_lines, with_unit, y_axis
from linkwright.rings.studio.style import RAMP

TRIMMED = 2.0  # percent of values at an end whose color is that of the next ones, where a measure grows without bound
FIRST = ("dexterity", "stiffness", "speed", "acceleration", "effort_share", "turning_stiffness")
SURFACES = "surfaces"


class Shades(NamedTuple):
    """Values as they are colored: perhaps their logarithm, within limits."""

    values: np.ndarray
    low: float
    high: float
    logarithmic: bool
    cut: bool  # values beyond the limits


def maps(workspace: Workspace | WorkspaceModes, what: Any = None, path: Place = None, **paper: Unpack[Paper]) -> Any:
    """Draw measures of a workspace; `what` names them, by default up to six that it has. Of several modes one measure, a panel for each."""
    if isinstance(workspace, WorkspaceModes):
        return _modes(workspace, what, path, **paper)
    if len(workspace.axes) == 3 and what in (None, SURFACES):
        return _volume(workspace, path, **paper)
    if len(workspace.axes) == 1:
        return _lines(workspace, what, path, **paper)
    if len(workspace.axes) != 2:
        raise UsageError(
            f"a map has two axes, this one has {len(workspace.axes)}: take a slice, a.slice({{'{workspace.axes[-1].name}': ...}}).plot()."
        )
    chosen = _chosen(workspace, what)

    def make(frame: Frame) -> Any:
        columns = min(len(chosen), 1 if len(chosen) == 1 else 2 if len(chosen) <= 4 else 3)
        rows = -(-len(chosen) // columns)
        figure = frame.figure(6.4 if columns == 1 else 5.2 * columns, 5.0 if rows == 1 else 4.4 * rows)
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, name in zip(grid, chosen, strict=False):
            _panel(frame, axes, workspace, name)
        for axes in grid[len(chosen) :]:
            axes.set_axis_off()
        _legend(frame, figure, [workspace])
        return figure

    return drawn(make, path, **paper)


def _chosen(workspace: Workspace, what: Any) -> list[str]:
    known = ["reach", *workspace.measures]
    most_maps = 6
    if what is None:
        found = [n for n in FIRST if n in workspace.values]
        return found or [n for n in workspace.measures if n not in ("type1", "type2")][:most_maps] or ["reach"]
    names = [what] if isinstance(what, str) else [str(x) for x in what]
    for name in names:
        if name not in known:
            raise UsageError(f"the workspace has no '{name}'.", nearest(name, known, "It has"))
    if not 1 <= len(names) <= most_maps:
        raise UsageError(f"{counted(len(names), 'map')} in one picture. 1 to {most_maps} are possible.")
    return names


def _modes(every: WorkspaceModes, what: Any, path: Place, **paper: Unpack[Paper]) -> Any:
    name = (_chosen(every[0], what))[0]
    most_modes = 16
    shown = every.modes[:most_modes]

    def make(frame: Frame) -> Any:
        columns = min(4, len(shown))
        rows = -(-len(shown) // columns)
        figure = frame.figure(3.4 * columns, 3.4 * rows + 0.5)
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        for axes, a in zip(grid, shown, strict=False):
            _panel(frame, axes, a, name, title=f"mode {a.mode}", bar=False)
        for axes in grid[len(shown) :]:
            axes.set_axis_off()
        _legend(frame, figure, shown)
        return figure

    return drawn(make, path, **paper)


def shades(values: np.ndarray) -> Shades:
    """Colors of a measure: logarithmic over wide ranges, trimmed where it grows without bound near a singularity."""
    known = values[np.isfinite(values)]
    if not len(known):
        return Shades(values, 0.0, 1.0, False, False)
    low, high = np.percentile(known, [TRIMMED, 100.0 - TRIMMED])
    spread = 100.0  # ratio of the largest to the smallest positive value from which colors are logarithmic
    if known.min() > 0.0 and known.max() > 1.0 and high > spread * low:
        with np.errstate(invalid="ignore", divide="ignore"):
            return Shades(np.log10(values), float(np.log10(low)), float(np.log10(high)), True, True)
    wide = float(np.ptp(known)) > 4.0 * (high - low)
    if not wide:
        low, high = known.min(), known.max()
    return Shades(values, float(low), float(high), False, bool(wide))


def _panel(frame: Frame, axes: Any, a: Workspace, name: str, title: str = "", bar: bool = True) -> None:
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap

    x, y = a.axes
    values = np.where(a.reach, 1.0, np.nan) if name == "reach" else a.values[name] / a.unit(name)[1]
    s = shades(values)
    tint = ListedColormap([RAMP[3]]) if name == "reach" else LinearSegmentedColormap.from_list("workspace", list(RAMP))
    places = (x.values / x.size, y.values / y.size)
    if np.isfinite(s.values).any():
        high = s.high if s.high > s.low else s.low + 1.0
        border = _border(a)
        shown = s.values if border is None else _wider(s.values)
        made = axes.pcolormesh(*places, np.ma.masked_invalid(shown.T), cmap=tint, vmin=s.low, vmax=high, shading="nearest", rasterized=True)
        if border is not None:
            made.set_clip_path(border, axes.transData)
        if bar and name != "reach":
            _bar(axes, made, s, with_unit(name, a.unit(name)[0]))
    for c in a.curves:
        axes.plot(c.points[:, 0] / x.size, c.points[:, 1] / y.size, **_line(frame, c.kind))
    if a.of_start and all(v.values[0] <= h <= v.values[-1] for v, h in zip(a.axes, a.home, strict=True)):
        axes.plot(a.home[0] / x.size, a.home[1] / y.size, "+", color=frame.look.ink, ms=7, mew=1.2)
    axes.set_xlim(places[0][0], places[0][-1])
    axes.set_ylim(places[1][0], places[1][-1])
    if x.kind == y.kind and "." in x.name and "." in y.name:  # not of two drives
        axes.set_aspect("equal")
    axes.grid(visible=False)
    axes.set_xlabel(with_unit(x.name, x.unit), parse_math=False)
    y_axis(axes, y.name, y.unit)
    said = [title] if title else [name if name == "reach" else a.about[name]]
    if not a.reach.any():
        said.append("no pose in reach")
    axes.set_title(in_lines(said, axes, 8.0), fontsize=8, loc="left", parse_math=False)


def _border(a: Workspace) -> Any:
    """The located end of the reach as a path with holes; None where it does not consist of closed curves."""
    from matplotlib.path import Path

    ends = [c for c in a.curves if c.kind != "type II"]
    if not ends or not all(c.closed for c in ends):
        return None
    sizes = np.array([x.size for x in a.axes])
    rings = [c.points / sizes for c in ends]
    made = []
    for k, ring in enumerate(rings):
        inside = sum(Path(other).contains_point(ring[0]) for j, other in enumerate(rings) if j != k)
        x, y = ring.T
        turned = float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum()) > 0.0
        made.append(Path(ring if turned == (inside % 2 == 0) else ring[::-1]))  # holes the other way round
    return Path.make_compound_path(*made)


def _wider(values: np.ndarray) -> np.ndarray:
    """Values with those of neighbors beside their rim, so that cells cover all of the reach."""
    out = values.copy()
    for _ in range(2):
        around = np.full((*out.shape, 4), np.nan)
        around[1:, :, 0], around[:-1, :, 1], around[:, 1:, 2], around[:, :-1, 3] = out[:-1], out[1:], out[:, :-1], out[:, 1:]
        known = np.isfinite(around)
        mean = np.where(known, around, 0.0).sum(axis=-1) / np.maximum(known.sum(axis=-1), 1)
        out = np.where(np.isnan(out) & known.any(axis=-1), mean, out)
    return out


def _bar(axes: Any, made: Any, s: Shades, label: str) -> None:
    bar = axes.figure.colorbar(made, ax=axes, pad=0.02, aspect=28, extend="both" if s.cut else "neither")
    bar.set_label(label, parse_math=False)
    bar.outline.set_visible(False)
    if s.logarithmic:
        ends = range(int(np.ceil(s.low)), int(np.floor(s.high)) + 1)
        ticks = list(ends) if len(ends) > 1 else [s.low, 0.5 * (s.low + s.high), s.high]
        bar.set_ticks(ticks[:: max(1, len(ticks) // 6)])
        bar.set_ticklabels([four(10.0**t) for t in ticks[:: max(1, len(ticks) // 6)]])


def _line(frame: Frame, kind: str) -> dict[str, Any]:
    """Line of a kind of curve."""
    look = frame.look
    return {
        "type I": {"color": look.ink, "lw": 1.3},
        "type II": {"color": look.accent, "lw": 1.5},
        "limit": {"color": look.ink, "lw": 1.1, "ls": (0, (4, 2))},
    }[kind]


NAMES = {"type I": "type I: end of the reach", "type II": "type II: drives lose control", "limit": "limit of a joint"}


def _legend(frame: Frame, figure: Any, every: Any) -> None:
    """Kinds that the panels have."""
    from matplotlib.lines import Line2D

    kinds = [k for k in KIND_NAMES if any(x.kind == k for a in every for x in a.located)]
    handles = [Line2D([], [], **_line(frame, k), label=NAMES[k]) for k in kinds]
    if any(a.of_start for a in every):
        handles.append(Line2D([], [], color=frame.look.ink, ls="", marker="+", ms=7, mew=1.2, label="start"))
    figure.legend(handles=handles, loc="outside lower left", ncols=max(1, len(handles)), fontsize=8)


# -------------------------------------------------------------------- lines and volumes


def _lines(a: Workspace, what: Any, path: Place, **paper: Unpack[Paper]) -> Any:
    chosen = [n for n in _chosen(a, what) if n != "reach"] or ["type2"]
    x = a.axes[0]

    def make(frame: Frame) -> Any:
        figure = frame.figure(7.0, 2.2 * len(chosen) + 0.8)
        panels = figure.subplots(len(chosen), 1, squeeze=False, sharex=True).ravel()
        for axes, name in zip(panels, chosen, strict=True):
            s = a.values[name] / a.unit(name)[1]
            axes.plot(x.values / x.size, s, color=RAMP[1], lw=1.4)
            for p in a.located:
                for v in p.points[:, 0] / x.size:
                    axes.axvline(v, **_line(frame, p.kind))
            y_axis(axes, name, a.unit(name)[0])
        panels[-1].set_xlabel(with_unit(x.name, x.unit), parse_math=False)
        _legend(frame, figure, [a])
        return figure

    return drawn(make, path, **paper)


def _volume(a: Workspace, path: Place, **paper: Unpack[Paper]) -> Any:
    """Surfaces of a volume: the end of the reach and limits faint, type II strong."""
    sizes = np.array([x.size for x in a.axes])

    def make(frame: Frame) -> Any:
        from matplotlib.patches import Patch
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        figure = frame.figure(7.4, 6.6)
        axes = figure.add_subplot(projection="3d")
        handles = []
        for s in a.surfaces:
            color = _line(frame, s.kind)["color"] if s.kind == "type II" else RAMP[2] if s.kind == "type I" else RAMP[4]
            handles.append(Patch(facecolor=color, alpha=0.75 if s.kind == "type II" else 0.4, label=NAMES[s.kind]))
            faces = Poly3DCollection((s.points / sizes)[s.triangles], alpha=0.75 if s.kind == "type II" else 0.22, linewidths=0.0)
            faces.set_facecolor(color)
            axes.add_collection3d(faces)
        for k, x in enumerate(a.axes):
            getattr(axes, f"set_{'xyz'[k]}lim")(x.values[0] / x.size, x.values[-1] / x.size)
            getattr(axes, f"set_{'xyz'[k]}label")(with_unit(x.name, x.unit), parse_math=False)
        if len({x.kind for x in a.axes}) == 1:
            axes.set_box_aspect([float(np.ptp(x.values)) for x in a.axes])
        figure.legend(handles=handles, loc="outside lower left", ncols=max(1, len(handles)), fontsize=8)
        return figure

    return drawn(make, path, **paper)
