"""Tornado of a study: which variables change a measure most.

one at a time    the measure at the low and the high end of each variable, from its value with all in the middle
saltelli         Sobol indices: share of the variance by each variable alone and with all it acts together with
other plans      rank correlation (Spearman) of the measure with each variable
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Unpack

import numpy as np

from linkwright.api import UsageError, whole_number
from linkwright.rings.design.studies.plans import OneAtATime, Saltelli
from linkwright.rings.design.studies.statistics import statistics
from linkwright.rings.studio.plots.frame import SMALL, Frame, Paper, Place, color_of, drawn, in_lines
from linkwright.rings.studio.study_columns import StudyColumn, StudyTable, outcome, plain_ticks, signed
from linkwright.rings.studio.style import DRIVEN, mixed

MOST_BARS = 16


def tornado(data: StudyTable, path: Place = None, *, measures: Any = None, most: int = 12, **paper: Unpack[Paper]) -> Any:
    """Bars of variables, the strongest first, for each measure; `most` of them."""
    most_measures = 4
    chosen = data.chosen(measures, "measures", data.measures, most_measures)
    whole_number(most, "most", 1, MOST_BARS)
    draw: Callable[[Frame, Any, StudyTable, StudyColumn, int], None] = {OneAtATime.kind: _ends, Saltelli.kind: _indices}.get(
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


def _ends(frame: Frame, axes: Any, data: StudyTable, c: StudyColumn, most: int) -> None:
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
