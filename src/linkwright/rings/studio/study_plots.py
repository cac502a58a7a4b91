"""Plots of a study: `study.plot(what)`.

    study.plot("histogram", "torque.png", measures="max A.torque", limits=("3.9 N m", "4.2 N m"))     with the share outside of the limits
    study.plot("tornado", "strongest.svg")                                                      variables, the strongest first
    study.plot("scatter")                                                                       variables and measures against each other
    study.plot("map", measures="max A.torque", over=("L1", "L2"), at={"L3": "750 mm"})                contours over two variables
    study.plot("curves", over="L1")                                                             measures over one variable

Every plot takes `dark`, `size` (inches), `title`; without a path it returns the Figure. Units are those in which ranges were written and
those of the model's file.

A tornado shows which variables change a measure most. Its bars depend on the plan of the study:

one at a time    the measure at the low and the high end of each variable, from its value with all in the middle
saltelli         Sobol indices: share of the variance by each variable alone and with all it acts together with
other plans      rank correlation (Spearman) of the measure with each variable
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from linkwright.api import UsageError, nearest, unit_kinds, whole_number
from linkwright.rings.design.studies.plans import DRAWN, OneAtATime, Saltelli
from linkwright.rings.design.studies.statistics import statistics
from linkwright.rings.design.studies.study import Study
from linkwright.rings.studio.plots import Entry, checked_options
from linkwright.rings.studio.plots.common_parts import SMALL, Frame, Paper, Place, color_of, drawn, in_lines, width_of, y_axis
from linkwright.rings.studio.study_columns import StudyColumn, StudyTable, dimension_of, outcome, plain_ticks, signed, table, x_axis_of
from linkwright.rings.studio.study_maps import contours, curves, scatter
from linkwright.rings.studio.style import DRIVEN, mixed

MOST_BARS = 16


def tornado(data: StudyTable, path: Place = None, *, measures: Any = None, most: int = 12, **paper: Unpack[Paper]) -> Any:
    """Bars of variables, the strongest first, for each measure; `most` of them."""
    most_measures = 4
    chosen = data.chosen(measures, "measures", data.measures, most_measures)
    whole_number(most, "most", 1, MOST_BARS)
    draw: Callable[[Frame, Any, StudyTable, StudyColumn, int], None] = {OneAtATime.kind: _bar_ends, Saltelli.kind: _indices}.get(
        data.kind, _ranks
    )
    bars = min(most, len(data.variables))
    ready = [_whole(data, c) for c in chosen]

    def make(frame: Frame) -> Any:
        figure = frame.figure(7.0, (1.15 + 0.34 * max(bars, 2)) * len(ready))
        for axes, c in zip(figure.subplots(len(ready), 1, squeeze=False)[:, 0], ready, strict=True):
            draw(frame, axes, data, c, most)
        return figure

    return drawn(make, path, **paper)


def _whole(data: StudyTable, c: StudyColumn) -> StudyColumn:
    if not c.known.any():
        raise UsageError(f"no design has a value of '{c.name}'. study.why has the reasons.", name=c.name)
    return c


def _axes(frame: Frame, axes: Any, names: list[str], label: str) -> np.ndarray:
    """Names from the top down, and the places of their bars."""
    places = np.arange(len(names), dtype=float)
    axes.set_yticks(places, names)
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0.0)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(label, parse_math=False)
    return places


# -------------------------------------------------------------------- one at a time


class Swing(NamedTuple):
    """A measure over the values of one variable, the others in the middle."""

    variable: StudyColumn
    x: np.ndarray  # in order
    y: np.ndarray

    def size(self, base: float) -> float:
        """The largest change from the middle."""
        change = np.abs(self.y - base)
        return float(np.nanmax(change)) if np.isfinite(change).any() else -1.0


def swings(data: StudyTable, c: StudyColumn) -> tuple[float, list[Swing]]:
    """The measure in the middle of all, and along each variable, the strongest first."""
    numbers = np.column_stack([v.values for v in data.variables])
    middle = numbers[data.rows == 0]
    if not len(middle) or not np.isfinite(base := float(c.values[data.rows == 0][0])):
        raise UsageError(f"the design with all variables in the middle has no '{c.name}', so changes from it are not known.", name=c.name)
    own = numbers != middle[0]
    out = []
    for i, v in enumerate(data.variables):
        at = np.flatnonzero(own[:, i] | ~own.any(axis=1))
        at = at[np.argsort(v.values[at], kind="stable")]
        out.append(Swing(v, v.values[at], c.values[at]))
    return base, sorted(out, key=lambda s: -s.size(base))


def _bar_ends(frame: Frame, axes: Any, data: StudyTable, c: StudyColumn, most: int) -> None:
    base, found = swings(data, c)
    found = found[:most]
    places = _axes(frame, axes, [s.variable.name for s in found], c.label)
    plain_ticks(axes, "x")
    axes.axvline(base, color=frame.look.ink, lw=1.0)
    reach = max(max(s.size(base) for s in found), 1e-12 * max(abs(base), 1e-300))
    for place, s in zip(places, found, strict=True):
        known = s.y[np.isfinite(s.y)]
        ends = [base, *s.y[[0, -1]][np.isfinite(s.y[[0, -1]])]]
        if known.min() < min(ends) - 1e-9 * reach or known.max() > max(ends) + 1e-9 * reach:  # an extreme between the ends
            axes.plot([known.min(), known.max()], [place, place], color=frame.look.ink, lw=1.2, zorder=3)
        both = (s.y[0] - base) * (s.y[-1] - base) > 0.0  # to one side: the smaller change in front
        order = sorted((0, -1), key=lambda k: -abs(np.nan_to_num(s.y[k] - base)))
        for depth, k in enumerate(order):
            color = color_of(0) if k == 0 else DRIVEN
            if np.isfinite(s.y[k]):
                height = 0.62 if not both or depth == 0 else 0.34
                axes.barh(place, s.y[k] - base, height, left=base, color=color, zorder=2.0 + 0.1 * depth)
        _end_texts(frame, axes, s, base, float(place))
    axes.set_xlim(*_room(np.concatenate([s.y for s in found]), base, reach))
    axes.set_title(
        in_lines([f"all in the middle: {c.text(base)}", "blue: low end of the variable", "orange: high end"], axes, 8.0),
        fontsize=8,
        loc="left",
        parse_math=False,
    )


def _room(y: np.ndarray, base: float, reach: float) -> tuple[float, float]:
    """Limits of the axis, with room for texts at both sides."""
    low, high = min(float(np.nanmin(y)), base), max(float(np.nanmax(y)), base)
    room = 0.2 * max(high - low, reach)
    return low - room, high + room


def _end_texts(frame: Frame, axes: Any, s: Swing, base: float, place: float) -> None:
    """Ends of the variable beside the bars they make; a failed end has no bar and says so."""
    texts: dict[int, list[str]] = {-1: [], 1: []}
    lost = []
    for k in (0, -1):
        text = s.variable.text(float(s.x[k]))
        if np.isfinite(s.y[k]):
            texts[1 if s.y[k] > base or (s.y[k] == base and k == -1) else -1].append(text)
        else:
            lost.append(text)
    known = s.y[np.isfinite(s.y)]
    for side, x in ((-1, min(float(known.min()), base)), (1, max(float(known.max()), base))):
        parts = [", ".join(texts[side])] if texts[side] else []
        if side == 1 and lost:
            parts.append(f"{', '.join(lost)} failed")
        axes.annotate(
            "   ".join(parts), (x, place), (4.0 * side, 0.0), textcoords="offset points", ha="left" if side > 0 else "right", va="center",
            fontsize=SMALL - 0.5, color=frame.look.accent if side == 1 and lost else frame.look.ink, parse_math=False,
        )  # fmt: skip


# -------------------------------------------------------------------- shares and correlations


def _indices(frame: Frame, axes: Any, data: StudyTable, c: StudyColumn, most: int) -> None:
    found = data.study.indices(c.name)
    order = np.argsort(-found.total, kind="stable")[:most]
    places = _axes(frame, axes, [found.names[i] for i in order], f"share of the variance of {c.name}")
    pale = mixed(color_of(0), frame.look.paper, 0.6)
    lines = {"ecolor": frame.look.ink, "elinewidth": 0.9, "capsize": 2.0}
    axes.barh(places - 0.18, found.total[order], 0.34, color=pale, xerr=found.deviation_total[order], error_kw=lines)
    axes.barh(places + 0.18, found.first[order], 0.34, color=color_of(0), xerr=found.deviation_first[order], error_kw=lines)
    axes.axvline(0.0, color=frame.look.faint, lw=0.9)
    ends = [found.first - found.deviation_first, found.total + found.deviation_total, found.first + found.deviation_first]
    axes.set_xlim(min(0.0, float(np.nanmin(ends)) - 0.02), max(1.0, float(np.nanmax(ends)) + 0.03))
    said = ["pale: with all it acts together with", "dark: alone", "lines: standard errors", f"{found.samples:,} samples"]
    axes.set_title(in_lines(said, axes, 8.0), fontsize=8, loc="left", parse_math=False)


def _ranks(frame: Frame, axes: Any, data: StudyTable, c: StudyColumn, most: int) -> None:
    ranks = statistics(c.name, "", c.values, {v.name: v.values for v in data.variables}).ranks
    found = sorted(((x, n) for n, x in ranks.items()), key=lambda e: -abs(np.nan_to_num(e[0])))[:most]
    places = _axes(frame, axes, [n for _, n in found], f"rank correlation with {c.name}")
    values = np.nan_to_num(np.array([x for x, _ in found]))
    axes.barh(places, values, 0.62, color=[DRIVEN if x >= 0.0 else color_of(0) for x in values])
    axes.axvline(0.0, color=frame.look.ink, lw=1.0)
    axes.set_xlim(-1.18, 1.18)
    axes.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0], ["\u22121", "\u22120.5", "0", "0.5", "1"])
    for place, (x, _), at in zip(places, found, values, strict=True):
        axes.annotate(
            signed(x), (at, place), (4.0 if at >= 0.0 else -4.0, 0.0), textcoords="offset points", va="center", fontsize=SMALL - 0.5,
            ha="left" if at >= 0.0 else "right", color=frame.look.ink,
        )  # fmt: skip
    lost = int((~c.known).sum())
    count = outcome(len(c.values), lost, int(data.unknown.sum()))
    said = ["orange: rises with the variable", "blue: falls", count + (" (not counted)" if lost else "")]
    axes.set_title(in_lines(said, axes, 8.0), fontsize=8, loc="left", parse_math=False)


MOST_PANELS = 6
BINS = (8, 80)
MOST_BINS = 1000


def plot(study: Study, what: str | Sequence[str] | None = None, path: Place = None, **options: Any) -> Any:
    """Draw a plot of `PLOTS`, or of measures by name what suits the plan. Return the Figure, or with `path` the file written."""
    chosen: list[str] = []
    if not isinstance(what, str) or what not in PLOTS:
        if what is not None:
            chosen = _measures(study, what)
        what = suiting(study)
    entry = PLOTS[what]
    if chosen:
        options = {"columns" if what == "scatter" else "measures": chosen, **options}
    checked_options(what, options, entry.options)
    return entry.draw(table(study), path, **options)


def _measures(study: Study, what: Any) -> list[str]:
    names = [what] if isinstance(what, str) else list(what) if isinstance(what, Sequence) else [repr(what)]
    for name in names:
        if name not in study.measures:
            raise UsageError(
                f"there is no plot and no measure '{name}'.", nearest(str(name), [*PLOTS, *study.measures], "Plots and measures")
            )
    return names


def suiting(study: Study) -> str:
    """The plot that suits the plan: curves or a map of a grid, a tornado of one at a time, a histogram of what was drawn."""
    plan = study.manifest["plan"].get("plan")
    if plan == "grid":
        lengths = [len(np.unique(study[name])) for name in study.names]
        return "map" if sum(n > 1 for n in lengths) > 1 else "curves"
    if plan in ("one at a time", Saltelli.kind):
        return "tornado"
    return "histogram" if plan in DRAWN else "scatter"


# -------------------------------------------------------------------- histogram


def histogram(
    data: StudyTable, path: Place = None, *, measures: Any = None, limits: Any = None, bins: int | None = None, **paper: Unpack[Paper]
) -> Any:
    """Distribution of measures; `limits` (low, high), or a dict of them by measure, are drawn with the share of designs outside."""
    chosen = data.chosen(measures, "measures", data.measures, MOST_PANELS)
    ends = _limits(data, chosen, limits)
    if bins is not None:
        whole_number(bins, "bins", 1, MOST_BINS)

    def make(frame: Frame) -> Any:
        columns = 1 if len(chosen) < 3 else 2
        rows = -(-len(chosen) // columns)
        figure = frame.figure(6.4 if columns == 1 else 9.6, 3.3 * rows if rows > 1 else 3.8)
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, c in zip(grid, chosen, strict=False):
            _bars(frame, axes, c, ends.get(c.name, (None, None)), bins, int(data.unknown.sum()))
        for axes in grid[len(chosen) :]:
            axes.set_axis_off()
        return figure

    return drawn(make, path, **paper)


def _limits(data: StudyTable, chosen: Sequence[StudyColumn], given: Any) -> dict[str, tuple[float | None, float | None]]:
    """Limits of measures in the units shown."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        if len(chosen) > 1:
            raise UsageError(
                f'limits of several measures are a dict by name: limits={{"{chosen[0].name}": ("low", "high")}}. Or name one by measures=.',
                name="limits",
            )
        given = {chosen[0].name: given}
    return {c.name: _ends(c, given[c.name]) for c in data.chosen(list(given), "limits", chosen, len(chosen))}


def _ends(c: StudyColumn, given: Any) -> tuple[float | None, float | None]:
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2 or all(x is None for x in given):
        raise UsageError(
            f'limits of {c.name} are a pair, ("3.9 N m", "4.2 N m"), with None for a side without one, not {given!r:.60}.', value=given,
            name="limits",
        )
    low, high = (None if x is None else _value(c, x) for x in given)
    if low is not None and high is not None and not low < high:
        raise UsageError(f"limits of {c.name}: the first must be the smaller one, not {given!r:.60}.", value=given, name="limits")
    return low, high


def _value(c: StudyColumn, x: Any) -> float:
    """A limit in the unit shown; without a unit it is SI."""
    return unit_kinds.quantity(x, dimension_of(c), f"the limit of {c.name}") / c.size


def _bars(frame: Frame, axes: Any, c: StudyColumn, ends: tuple[float | None, float | None], bins: int | None, unknown: int) -> None:
    """Bars, those outside of the limits in another color; counts and shares above."""
    low, high = ends
    y = c.values[c.known]
    x_axis_of(axes, c)
    if not len(y):
        axes.text(0.5, 0.5, "no design has a value", transform=axes.transAxes, ha="center", color=frame.look.accent)
        axes.set_yticks([])
        return
    edges = bin_edges(y, bins, ends)
    below, above = y < (-np.inf if low is None else low), y > (np.inf if high is None else high)
    inside = ~(below | above)
    color = color_of(0)
    axes.hist([y[inside], y[~inside]], edges, stacked=True, color=[color, frame.look.accent], edgecolor=frame.look.paper, linewidth=0.5)
    for end in (low, high):
        if end is not None:
            axes.axvline(end, color=frame.look.ink, lw=1.2, ls=(0, (5, 3)))
    axes.margins(y=0.08)
    y_axis(axes, "designs", "-")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="x", visible=False)
    axes.locator_params(axis="x", nbins=max(3, int(1.8 * width_of(axes))))
    said = [*_said(c, y, low, high, below, above), _counts(c, unknown)]
    axes.set_title(in_lines(said, axes, 8.0), fontsize=8, loc="left", parse_math=False)


def bin_edges(y: np.ndarray, bins: int | None, ends: tuple[float | None, float | None] = (None, None)) -> np.ndarray:
    """Edges of bars by numpy's automatic rule; limits are edges, so that no bar is partly inside."""
    if float(np.ptp(y)) <= 1e-12 * float(np.abs(y).max()):  # all equal: round-off has no distribution
        center, half = float(y.mean()), max(float(np.abs(y).max()) * 1e-3, 1e-12)
        return np.linspace(center - 5.0 * half, center + 5.0 * half, 12)
    count = bins if bins is not None else int(np.clip(len(np.histogram_bin_edges(y, "auto")) - 1, *BINS))
    low, high, width = float(y.min()), float(y.max()), float(np.ptp(y)) / count
    inner = [x for x in ends if x is not None and low < x < high]
    if not inner:
        return np.linspace(low, high, count + 1)
    if len(inner) == 2:
        width = (inner[1] - inner[0]) / max(1, round((inner[1] - inner[0]) / width))
        width = max(width, float(np.ptp(y)) / MOST_BINS)
    before, after = (int(np.ceil(x / width - 1e-9)) for x in (inner[0] - low, high - inner[0]))
    return inner[0] + width * np.arange(-before, after + 1)


def share(part: int, whole: int) -> str:
    """`2.4 %`; never 0 or 100 where that is not so."""
    percent = 100.0 * part / whole
    if part and percent < 0.1:
        return "less than 0.1 %"
    if part < whole and percent > 99.9:
        return "more than 99.9 %"
    return f"{percent:.1f} %" if 0 < part < whole else f"{percent:.0f} %"


def _said(c: StudyColumn, y: np.ndarray, low: Any, high: Any, below: np.ndarray, above: np.ndarray) -> list[str]:
    n, deviation = len(y), float(y.std(ddof=1)) if len(y) > 1 else 0.0
    out = []
    if low is not None or high is not None:
        out.append(f"{share(int(below.sum() + above.sum()), n)} outside the limits")
        if low is not None:
            out.append(f"{share(int(below.sum()), n)} below {c.text(low)}")
        if high is not None:
            out.append(f"{share(int(above.sum()), n)} above {c.text(high)}")
    out += [f"mean {c.text(float(y.mean()))}", f"standard deviation {c.text(deviation)}"]
    return out


def _counts(c: StudyColumn, unknown: int) -> str:
    """How many designs there are, and how many of them have no value or unknown checks."""
    lost = int((~c.known).sum())
    return outcome(len(c.values), lost, unknown) + (" (not counted)" if lost else "")


PLOTS: dict[str, Entry] = {
    "histogram": Entry(histogram, "distribution of measures, with limits and the share outside", "study"),
    "tornado": Entry(tornado, "change of a measure by each variable, the strongest first", "study"),
    "scatter": Entry(scatter, "variables and measures against each other, with rank correlations", "study"),
    "map": Entry(contours, "a measure over two variables as contours, with failed designs marked", "study"),
    "curves": Entry(curves, "measures over one variable", "study"),
}
