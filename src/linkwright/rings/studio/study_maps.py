"""Studies over their variables: a map of two, curves over one, and the scatter matrix of variables and measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from linkwright.api import UsageError, counted, nearest, unit_kinds
from linkwright.rings.design.studies.statistics import statistics
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, color_of, drawn, in_lines, y_axis
from linkwright.rings.studio.study_columns import StudyColumn, StudyTable, dimension_of, outcome, plain_ticks, signed, x_axis_of
from linkwright.rings.studio.style import RAMP

MOST_POINTS = 20_000  # drawn; more take long and cover each other
MANY = 2000  # points that are a picture inside a vector file
SEEN = 500  # points between which contours are drawn; more would cover them
LEVELS = 12


# -------------------------------------------------------------------- a slice through a study


@dataclass(frozen=True, eq=False)
class Slice:
    """Rows with given values of all variables but those shown."""

    mask: np.ndarray
    fixed: tuple[str, ...]  # "L3 = 750 mm"
    free: tuple[str, ...]  # variables that are neither shown nor fixed, and vary


def sliced(data: StudyTable, shown: Sequence[StudyColumn], at: Any) -> Slice:
    """Fix variables at the values nearest to `at`; of a grid the others in the middle of their values."""
    given = _asked(data, shown, at)
    mask, fixed, free = np.ones(len(data.rows), bool), [], []
    for v in data.variables:
        levels = np.unique(v.values)
        if v in shown or len(levels) == 1:
            continue
        if v.name not in given and data.kind != "grid":
            free.append(v.name)
            continue
        x = levels[np.argmin(np.abs(levels - given.get(v.name, levels[(len(levels) - 1) // 2])))]
        mask &= v.values == x
        fixed.append(f"{v.name} = {v.text(float(x))}")
    return Slice(mask, tuple(fixed), tuple(free))


def _asked(data: StudyTable, shown: Sequence[StudyColumn], at: Any) -> dict[str, float]:
    """Values of `at` in the units shown."""
    if at is None:
        return {}
    if not isinstance(at, Mapping):
        raise UsageError(f'at is a dict of values of other variables, at={{"L3": "750 mm"}}, not {at!r:.40}.', name="at", value=at)
    others = [v.name for v in data.variables if v not in shown]
    if data.kind != "grid":
        raise UsageError(
            f"at= fixes variables of a grid. This study is of the plan '{data.kind}', whose designs have all values different.",
            name=data.kind,
        )
    out = {}
    for name, x in at.items():
        if name not in others:
            raise UsageError(f"at: '{name}' is not one of the other variables.", nearest(str(name), others, "Others"))
        c = data.columns[name]
        out[name] = unit_kinds.quantity(x, dimension_of(c), f"at: {name}") / c.size
    return out


def _varying(data: StudyTable) -> list[StudyColumn]:
    return [v for v in data.variables if np.ptp(v.values) > 0.0]


# -------------------------------------------------------------------- map


def contours(
    data: StudyTable, path: Place = None, *, measures: Any = None, over: Any = None, at: Any = None, **paper: Unpack[Paper]
) -> Any:
    """A measure over two variables: contours of a grid by its values, of other plans by triangulation; designs that failed as crosses.

    `measures`: those drawn; `over`: two variables, by default the first two that vary; `at`: values of the other axes of a grid, by
    default those in the middle. Where further variables vary freely there is no surface, and designs are colored points.
    """
    most_maps = 4
    chosen = data.chosen(measures, "measures", data.measures, most_maps)
    axes_of = _two(data, over)
    part = sliced(data, axes_of, at)

    def make(frame: Frame) -> Any:
        columns = 1 if len(chosen) == 1 else 2
        rows = -(-len(chosen) // columns)
        figure = frame.figure(6.2 if columns == 1 else 10.8, 4.4 * rows if rows == 1 else 4.0 * rows)
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, c in zip(grid, chosen, strict=False):
            _map(frame, axes, data, c, axes_of, part)
        for axes in grid[len(chosen) :]:
            axes.set_axis_off()
        return figure

    return drawn(make, path, **paper)


def _two(data: StudyTable, over: Any) -> list[StudyColumn]:
    varying = _varying(data)
    if over is None:
        if len(varying) < 2:
            raise UsageError("a map needs two variables. This study varies one: study.plot('curves').")
        return varying[:2]
    found = data.chosen(over, "over", data.variables, 2)
    if len(found) != 2 or found[0] is found[1] or any(v not in varying for v in found):
        raise UsageError(f"over: name two variables that vary, of {', '.join(v.name for v in varying)}.", name="over")
    return found


def _map(frame: Frame, axes: Any, data: StudyTable, c: StudyColumn, shown: Sequence[StudyColumn], part: Slice) -> None:
    x, y, z = (v.values[part.mask] for v in (*shown, c))
    known = np.isfinite(z)
    said = [*part.fixed]
    x_axis_of(axes, shown[0])
    y_axis(axes, shown[1].name, shown[1].symbol)
    axes.locator_params(axis="x", nbins=6)
    axes.grid(visible=False)
    if known.any():
        drawn_as = _surface(frame, axes, data, (x, y, z), bool(part.free))
        bar = axes.figure.colorbar(drawn_as, ax=axes, pad=0.02, aspect=28)
        bar.set_label(c.label, parse_math=False)
        bar.outline.set_visible(False)
        said += _extremes(frame, axes, c, x, y, z)
    if not known.all():
        _crosses(axes, x[~known], y[~known], frame)
    if part.free:
        said.append(f"{_free(part)}: no surface, only points")
    count = outcome(len(z), int((~known).sum()), int(data.unknown[part.mask].sum()))
    said.append(f"{count} (crosses)" if not known.all() else count)
    axes.set_title(in_lines(said, axes, 8.0), fontsize=8, loc="left", parse_math=False)


def _free(part: Slice) -> str:
    return f"{part.free[0]} varies as well" if len(part.free) == 1 else f"{len(part.free)} other variables vary"


def _surface(frame: Frame, axes: Any, data: StudyTable, points: tuple[np.ndarray, np.ndarray, np.ndarray], scattered: bool) -> Any:
    """Filled contours with thin lines; points where they make no surface. What a color bar is drawn for."""
    from matplotlib.colors import LinearSegmentedColormap

    x, y, z = points
    known = np.isfinite(z)
    colors = LinearSegmentedColormap.from_list("study", list(RAMP))
    levels = _levels(z[known])
    if not scattered and data.kind == "grid":
        xs, ys = np.unique(x), np.unique(y)
        field = np.full((len(ys), len(xs)), np.nan)
        field[np.searchsorted(ys, y), np.searchsorted(xs, x)] = z
        whole = np.isfinite(field)
        if (whole[1:, 1:] & whole[1:, :-1] & whole[:-1, 1:] & whole[:-1, :-1]).any():
            made = axes.contourf(xs, ys, np.ma.masked_invalid(field), levels, cmap=colors, extend="neither")
            axes.contour(xs, ys, np.ma.masked_invalid(field), levels, colors=frame.look.paper, linewidths=0.5, alpha=0.6)
            axes.set_xlim(xs[0], xs[-1])
            axes.set_ylim(ys[0], ys[-1])
            return made
    triangles = None if scattered else _triangles(x, y, known)
    if triangles is not None:
        made = axes.tricontourf(triangles, z[known], levels, cmap=colors)
        axes.tricontour(triangles, z[known], levels, colors=frame.look.paper, linewidths=0.5, alpha=0.6)
        if known.sum() <= SEEN:
            axes.plot(x[known], y[known], ".", ms=1.6, color=frame.look.ink, alpha=0.45)
        return made
    few = _some(int(known.sum()))
    at = (x[known][few], y[known][few])
    return axes.scatter(*at, c=z[known][few], s=14.0, cmap=colors, linewidths=0.0, rasterized=len(few) > MANY)


def _levels(z: np.ndarray) -> np.ndarray:
    """Round levels that hold all values; around a single value two."""
    from matplotlib.ticker import MaxNLocator

    low, high = float(z.min()), float(z.max())
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        room = max(abs(low) * 1e-3, 1e-12)
        return np.array([low - room, high + room])
    return np.asarray(MaxNLocator(LEVELS, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))


def _triangles(x: np.ndarray, y: np.ndarray, known: np.ndarray) -> Any:
    """Triangles between designs with a value, without those that have a failed one inside; None where points make no surface."""
    from matplotlib.tri import Triangulation

    at = np.column_stack([(v - v.min()) / (np.ptp(v) or 1.0) for v in (x, y)])  # equal scales: triangles are not long because units differ
    if len(np.unique(at[known], axis=0)) < 3 or np.linalg.matrix_rank(at[known] - at[known].mean(axis=0), 1e-6) < 2:
        return None
    scaled = Triangulation(at[known, 0], at[known, 1])
    hidden = np.zeros(len(scaled.triangles), bool)
    if not known.all():
        inside = np.asarray(scaled.get_trifinder()(at[~known, 0], at[~known, 1]))
        hidden[inside[inside >= 0]] = True
    return Triangulation(x[known], y[known], scaled.triangles, hidden)


def _some(count: int) -> np.ndarray:
    """Places of at most MOST_POINTS of so many points, the same ones every time."""
    if count <= MOST_POINTS:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, MOST_POINTS, replace=False))


def _crosses(axes: Any, x: np.ndarray, y: np.ndarray, frame: Frame, size: float = 4.5) -> None:
    few = _some(len(x))
    axes.plot(x[few], y[few], "x", ms=size, mew=1.1, color=frame.look.accent, clip_on=False, zorder=4, rasterized=len(few) > MANY)


def _extremes(frame: Frame, axes: Any, c: StudyColumn, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> list[str]:
    """Least and greatest value as triangles, and as text."""
    out = []
    for word, i, mark, sign in (("min", int(np.nanargmin(z)), "v", "\u25bd"), ("max", int(np.nanargmax(z)), "^", "\u25b3")):
        axes.plot(x[i], y[i], mark, ms=7.0, color=frame.look.paper, mec=frame.look.ink, mew=1.1, clip_on=False, zorder=5)
        out.append(f"{word} {c.text(float(z[i]))} ({sign})")
    return out


# -------------------------------------------------------------------- curves


def curves(data: StudyTable, path: Place = None, *, measures: Any = None, over: Any = None, at: Any = None, **paper: Unpack[Paper]) -> Any:
    """Measures over one variable; of a grid with several axes the others are fixed as in a map."""
    chosen = data.chosen(measures, "measures", data.measures, 8)
    varying = _varying(data) or data.variables
    x = data.chosen(over, "over", data.variables, 1)[0] if over is not None else varying[0]
    part = sliced(data, [x], at)
    order = np.argsort(x.values[part.mask], kind="stable")

    def make(frame: Frame) -> Any:
        figure = frame.figure(6.6, 1.0 + 2.2 * len(chosen))
        panels = figure.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0]
        for axes, c in zip(panels, chosen, strict=True):
            at, y = x.values[part.mask][order], c.values[part.mask][order]
            line = "" if part.free or data.kind not in ("grid", "rows") else "-"
            axes.plot(at, y, line, marker="o", ms=3.0 if len(y) <= 60 else 1.5, lw=1.6, color=color_of(0), rasterized=len(y) > MANY)
            lost = ~np.isfinite(y)
            if lost.any():
                from matplotlib.transforms import blended_transform_factory

                low = np.zeros(int(lost.sum()))
                mixed = blended_transform_factory(axes.transData, axes.transAxes)
                axes.plot(at[lost], low, "x", ms=4.5, mew=1.1, color=frame.look.accent, clip_on=False, zorder=4, transform=mixed)
            y_axis(axes, c.name, c.symbol)
        lost = int((~np.isfinite(chosen[0].values[part.mask])).sum())
        count = outcome(int(part.mask.sum()), lost, int(data.unknown[part.mask].sum()))
        free = [_free(part)] if part.free else []
        said = [*part.fixed, *free, f"{count} (crosses)" if lost else count]
        panels[0].set_title(in_lines(said, panels[0], 8.0), fontsize=8, loc="left", parse_math=False)
        x_axis_of(panels[-1], x)
        figure.align_ylabels(list(panels))
        return figure

    return drawn(make, path, **paper)


# -------------------------------------------------------------------- scatter matrix


def scatter(data: StudyTable, path: Place = None, *, columns: Any = None, **paper: Unpack[Paper]) -> Any:
    """Variables and measures against each other, their distributions on the diagonal, rank correlations above it.

    `columns`: those by name, at most seven; by default variables that vary and measures, the first of each.
    """
    most_columns = 7
    room = most_columns - min(len(data.measures), max(2, most_columns - len(_varying(data))))
    default = [*_varying(data)[:room], *data.measures][:most_columns]
    chosen = default if columns is None else data.chosen(columns, "columns", list(data.columns.values()), most_columns)
    if len(chosen) < 2:
        raise UsageError(
            "a scatter matrix needs two columns or more. This study has one that varies: study.plot('histogram').", name="columns"
        )
    few = _some(len(data.rows))

    def make(frame: Frame) -> Any:
        n = len(chosen)
        side = min(11.0, max(4.6, 1.75 * n + 0.6))
        figure = frame.figure(side, side)
        grid = figure.subplots(n, n, squeeze=False)
        for i, row in enumerate(chosen):
            for j, column in enumerate(chosen):
                _cell(frame, grid[i, j], data, row, column, few, (i, j, n))
        figure.align_labels()
        lost = int(data.failed.sum())
        count = outcome(len(data.rows), lost, int(data.unknown.sum()))
        said = [count + (" (crosses between variables)" if lost else ""), "numbers: rank correlation"]
        if len(few) < len(data.rows):
            said.append(f"{len(few):,} of them drawn")
        if len(chosen) < len(_varying(data)) + len(data.measures) and columns is None:
            said.append(f"{len(chosen)} of {counted(len(_varying(data)) + len(data.measures), 'column')}")
        grid[0, 0].set_title("  ·  ".join(said), fontsize=8, loc="left", parse_math=False)
        return figure

    return drawn(make, path, **paper)


def _cell(
    frame: Frame, axes: Any, data: StudyTable, row: StudyColumn, column: StudyColumn, few: np.ndarray, place: tuple[int, int, int]
) -> None:
    i, j, n = place
    axes.tick_params(labelsize=6.5, labelbottom=i == n - 1, labelleft=j == 0 and i > 0)
    if j > i:
        _correlation(frame, axes, row, column)
        return
    if i == j:
        known = row.values[row.known]
        if len(known):
            axes.hist(
                known,
                min(30, max(8, int(np.sqrt(len(known))))),
                color=color_of(0 if row.varied else 1),
                edgecolor=frame.look.paper,
                linewidth=0.3,
            )
        axes.set_yticks([])
    else:
        x, y = column.values[few], row.values[few]
        both = np.isfinite(x) & np.isfinite(y) & ~data.failed[few]
        size = float(np.clip(60.0 / np.sqrt(max(len(few), 1)), 0.8, 4.0))
        axes.plot(x[both], y[both], "o", ms=size, mew=0.0, alpha=0.6, color=color_of(0 if row.varied else 1), rasterized=len(few) > MANY)
        if row.varied and column.varied and data.failed.any():
            _crosses(axes, x[data.failed[few]], y[data.failed[few]], frame, 3.0)
    axes.grid(visible=False)
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(4 if n < 5 else 3, prune="both"))
    if i != j:
        axes.yaxis.set_major_locator(MaxNLocator(4 if n < 5 else 3, prune="both"))
    if i == n - 1:
        x_axis_of(axes, column, fontsize=7.5)
        axes.xaxis.label.set_text(_wrapped(column))
    if j == 0:
        axes.set_ylabel(_wrapped(row), fontsize=7.5, parse_math=False)
        plain_ticks(axes, "y")


def _wrapped(c: StudyColumn) -> str:
    """The label in lines that fit a cell."""
    import textwrap

    return "\n".join(textwrap.wrap(c.label, 18, break_long_words=False))


def _correlation(frame: Frame, axes: Any, row: StudyColumn, column: StudyColumn) -> None:
    """Rank correlation as a number, the larger the stronger."""
    axes.set_axis_off()
    known = row.known & column.known
    r = statistics(row.name, "", row.values[known], {column.name: column.values[known]}).ranks.get(column.name, float("nan"))
    strength = abs(r) if np.isfinite(r) else 0.0
    axes.text(
        0.5, 0.5, signed(r), transform=axes.transAxes, ha="center", va="center", fontsize=8.0 + 5.0 * strength,
        color=frame.look.ink, alpha=0.45 + 0.55 * strength,
    )  # fmt: skip
