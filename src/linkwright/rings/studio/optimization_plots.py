"""Plots of optimizations: a Pareto front, and curves before and after."""

from __future__ import annotations

from typing import Any, Unpack

from linkwright.api import UsageError
from linkwright.rings.design.optimization.pareto_front import ParetoFront
from linkwright.rings.design.optimization.result import OptimizationResult
from linkwright.rings.studio.plots import curves
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, color_of, drawn, with_unit


def front_plot(front: ParetoFront, path: Place = None, **paper: Unpack[Paper]) -> Any:
    """Draw the goals of a front against the first of them; the knee is marked."""
    goals = front.problem.goals
    sizes = [g.shown[1] for g in goals]
    values = front.values / sizes
    knee = front.designs.index(front.knee)

    def make(frame: Frame) -> Any:
        figure = frame.figure(6.4, 3.8 * (len(goals) - 1))
        panels = figure.subplots(len(goals) - 1, 1, sharex=True, squeeze=False)[:, 0]
        for k, axes in enumerate(panels):
            axes.plot(values[:, 0], values[:, k + 1], "o-", color=color_of(k), markersize=4, linewidth=1.2)
            axes.plot(values[knee, 0], values[knee, k + 1], "o", color=frame.look.accent, markersize=8, fillstyle="none")
            axes.annotate(
                f"knee: design {knee}", (values[knee, 0], values[knee, k + 1]), xytext=(8, 8), textcoords="offset points", fontsize=8
            )
            axes.set_ylabel(with_unit(goals[k + 1].text, goals[k + 1].shown[0]))
        panels[-1].set_xlabel(with_unit(goals[0].text, goals[0].shown[0]))
        return figure

    return drawn(make, path, **paper)


def before_and_after(found: OptimizationResult, path: Place = None, **paper: Unpack[Paper]) -> Any:
    """Draw the channels of goals and limits of the best design, with those of the original file dashed."""
    names = found.channels
    if not names:
        raise UsageError("neither a goal nor a constraint reads a channel, so there is no curve to plot.")
    after = found.point.trajectory
    before = found.problem.point(found.problem.nominal)
    other = {"original file": before.trajectory} if before.ok else None
    return curves.plot(after, names[: curves.MOST_CURVES], path, other=other, difference=False, **paper)
