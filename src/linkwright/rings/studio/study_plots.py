"""Plots of a study: `study.plot(what)`.

    study.plot("histogram", "torque.png", measures="max A.torque", limits=("3.9 N m", "4.2 N m"))     with the share outside of the limits
    study.plot("tornado", "strongest.svg")                                                      variables, the strongest first
    study.plot("scatter")                                                                       variables and measures against each other
    study.plot("map", measures="max A.torque", over=("L1", "L2"), at={"L3": "750 mm"})                contours over two variables
    study.plot("curves", over="L1")                                                             measures over one variable

Every plot takes `dark`, `size` (inches), `title`; without a path it returns the Figure. Units are those in which ranges were written and
those of the model's file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from linkwright.api import UsageError, nearest, unit_kinds, whole_number
from linkwright.rings.design.studies.plans import DRAWN, Saltelli
from linkwright.rings.design.studies.study import Study
from linkwright.rings.studio.plots import Entry, checked_options
from linkwright.rings.studio.plots.frame import Frame, Paper, Place, color_of, drawn, in_lines, width_of, y_axis
from linkwright.rings.studio.study_columns import StudyColumn, StudyTable, dimension_of, outcome, table, x_axis_of
from linkwright.rings.studio.study_maps import contours, curves, scatter
from linkwright.rings.studio.study_tornado import tornado

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
                f'limits of several measures are a dict by name: limits={{"{chosen[0].name}": ("low", "high")}}; or name one by measures=.',
                name="limits",
            )
        given = {chosen[0].name: given}
    return {c.name: _ends(c, given[c.name]) for c in data.chosen(list(given), "limits", chosen, len(chosen))}


def _ends(c: StudyColumn, given: Any) -> tuple[float | None, float | None]:
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2 or all(x is None for x in given):
        raise UsageError(
            f'limits of {c.name} are a pair, ("3.9 N m", "4.2 N m"); None for a side without one, not {given!r:.60}.', value=given
        )
    low, high = (None if x is None else _value(c, x) for x in given)
    if low is not None and high is not None and not low < high:
        raise UsageError(f"limits of {c.name}: the first must be the smaller one, not {given!r:.60}.", value=given)
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
    "map": Entry(contours, "a measure over two variables as contours; failed designs marked", "study"),
    "curves": Entry(curves, "measures over one variable", "study"),
}
