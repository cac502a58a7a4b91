"""Picture of synthesized linkages: each as drawn, with the path of its point over a cycle and the points that were wanted."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from linkwright.api import LinkwrightError, UsageError, parse_unit
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, color_of, drawn
from linkwright.rings.studio.style import DRIVEN
from linkwright.rings.synthesis.results import SynthesisResult, SynthesizedLinkage

MOST_PANELS = 6
COLUMNS = 3
PANEL = 3.2  # inches


def plot(found: SynthesisResult, path: Place = None, *, count: int = MOST_PANELS, **paper: Unpack[Paper]) -> Any:
    """Draw the first `count` linkages of a synthesis, best first. Return the Figure, or with `path` the file written."""
    if not len(found):
        raise UsageError(f"{found.task}: there is no linkage to draw.", name=found.task)
    shown = list(found)[: max(1, min(int(count), MOST_PANELS))]

    def make(frame: Frame) -> Any:
        columns = min(COLUMNS, len(shown))
        rows = -(-len(shown) // columns)
        figure = frame.figure(PANEL * columns, PANEL * rows + 0.2)
        axes = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
        for k, place in enumerate(axes):
            if k < len(shown):
                _panel(place, shown[k], k, frame)
            else:
                place.set_axis_off()
        return figure

    paper.setdefault("title", found.task)
    return drawn(make, path, **paper)


def _panel(axes: Any, x: SynthesizedLinkage, k: int, frame: Frame) -> None:
    """One linkage, in the user's unit."""
    size = parse_unit(x.unit)[0]
    at = {name: np.array([z.real, z.imag]) / size for name, z in x.linkage.pins.items()}
    ground = next(iter(x.linkage.bodies))
    for i, (body, pins) in enumerate(x.linkage.bodies.items()):
        corners = np.array([at[p] for p in (*pins, *x.linkage.points.get(body, ()))])
        if body == ground:
            axes.plot(*corners.T, marker="^", ls="", color=frame.look.faint, ms=9, zorder=2)
            continue
        closed = corners[[*range(len(corners)), 0]] if len(corners) > 2 else corners
        if len(corners) > 2:
            axes.fill(*corners.T, color=color_of(i), alpha=0.18, lw=0, zorder=1)
        axes.plot(*closed.T, color=color_of(i), lw=2.2, solid_capstyle="round", zorder=3)
    pins = np.array([at[p] for p in dict.fromkeys(p for body in x.linkage.bodies.values() for p in body)])
    axes.plot(*pins.T, "o", ms=4.5, mfc=frame.look.paper, mec=frame.look.ink, mew=1.0, zorder=5)
    for guide in x.linkage.guides.values():
        reach = 0.25 * np.ptp(pins, axis=0).max() * np.array([guide.direction.real, guide.direction.imag])
        axes.plot(*np.array([at[guide.at] - reach, at[guide.at] + reach]).T, color=frame.look.faint, lw=1.2, ls=(0, (4, 2)), zorder=1)
    curve = _path(x)
    if curve is not None:
        axes.plot(*(curve / size).T, color=DRIVEN, lw=1.3, zorder=4)
    if x.wanted:
        wanted = np.array(x.wanted) / size
        axes.plot(wanted.real, wanted.imag, "+", color=frame.look.ink, ms=7, mew=1.1, zorder=6)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(f"{k}: {x.linkage.kind}{_said(x)}", fontsize=8.5, loc="left", parse_math=False)
    axes.set_xlabel(f"x [{x.unit}]", fontsize=8)
    axes.tick_params(labelsize=7)


def _said(x: SynthesizedLinkage) -> str:
    """Largest deviation and defects, for the heading."""
    deviation = f", {x.shown('largest deviation')}" if "largest deviation" in x.measures else ""
    return deviation + (f", {', '.join(x.defects)}" if x.defects else "")


def _path(x: SynthesizedLinkage) -> np.ndarray | None:
    """Path of the point over a cycle, computed by the mechanism itself; None where the output is no point, or it has no cycle."""
    if not any(x.linkage.output == f"{body}.{p}" for body, points in x.linkage.points.items() for p in points):
        return None
    cycle = 360
    try:
        return np.asarray(x.mechanism.cycle(steps=cycle)[x.linkage.output])[:, :2]
    except LinkwrightError:
        return None
