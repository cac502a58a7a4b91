"""How near a run came to singular positions: singular values and determinants over time, passages marked and named.

singular(run, "singular.png")
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from linkwright.api import Trajectory, UsageError, counted
from linkwright.rings.studio.plots.common_parts import PASSAGES, Flag, Frame, Paper, Place, color_of, draw_flags, drawn, x_axis

VALUES = {"singular.J": "J", "singular.dependent": "dependent part", "singular.independent": "independent part"}
DETERMINANTS = {"det.dependent": "dependent part", "det.independent": "independent part"}


def singular(c: Trajectory, path: Place = None, *, over: str | None = None, **paper: Unpack[Paper]) -> Any:
    """Smallest singular values of the dimensionless J and its parts (logarithmic) and determinants of the parts, with passages.

    Dots on the dashed lines are the singular values found at the located passages, between samples.
    """
    if "singular.J" not in c.channels:
        why = "a cycle does not record them. Simulate" if c.skel.tree.nc else "the mechanism has no loops"
        raise UsageError(
            f"there are no singular values to plot: {why}, for example m.simulate(2).plot('singular').", name="singular values"
        )
    passages = [p for p in c.passages if min(c.t[0], c.t[-1]) <= p.time <= max(c.t[0], c.t[-1])]
    read = c.read([n for n in (*VALUES, *DETERMINANTS) if n in c.channels])

    most_listed = 8  # passages written out below the panels

    def make(frame: Frame) -> Any:
        listed = passages[:most_listed]
        figure = frame.figure(7.2, 5.2 + 0.16 * len(listed))
        grid = figure.subplots(2, 1, sharex=True, height_ratios=[1.4, 1.0])
        axis = over or "t"
        x = x_axis(c, axis, grid[-1])
        _values(frame, grid[0], {VALUES[n]: read[n] for n in VALUES if n in read}, x)
        _determinants(frame, grid[1], {DETERMINANTS[n]: read[n] for n in DETERMINANTS if n in read}, x)
        order = np.argsort(c.t, kind="stable")
        numbered = [Flag(p.time, str(k + 1), True) for k, p in enumerate(passages)]
        draw_flags(frame, grid, numbered, c, x)
        rank = [p for p in passages if p.kind == "rank" and p.singular_values]
        if rank:
            at = np.interp([p.time for p in rank], c.t[order], x[order])
            found = np.maximum([p.singular_values[0] for p in rank], grid[0].get_ylim()[0])
            mark = {"ms": 4.5, "color": frame.look.accent, "mec": frame.look.paper, "mew": 0.7}
            grid[0].plot(at, found, "o", ls="none", zorder=6, clip_on=False, **mark)
        if listed:
            lines = [f"{k + 1}   t = {p.time:.6g} s   {_line(p)}" for k, p in enumerate(listed)]
            lines += [f"and {len(passages) - len(listed)} more"] if len(passages) > len(listed) else []
            grid[-1].annotate(
                "\n".join(lines), (0.0, 0.0), (0.0, -34.0), xycoords="axes fraction", textcoords="offset points", va="top", fontsize=7.5,
                color=frame.look.accent, linespacing=1.45, annotation_clip=False, parse_math=False,
            )  # fmt: skip
        figure.align_ylabels(list(grid))
        return figure

    return drawn(make, path, **paper)


def _values(frame: Frame, axes: Any, curves: dict[str, np.ndarray], x: np.ndarray) -> None:
    least = 1e-16
    for k, (text, values) in enumerate(curves.items()):
        axes.plot(x, np.maximum(values, least), lw=1.5, color=color_of(k))
        frame.name(axes, np.maximum(values, least), text, color_of(k))
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.01 * high), high)
    axes.set_ylabel("smallest singular value")


def _determinants(frame: Frame, axes: Any, curves: dict[str, np.ndarray], x: np.ndarray) -> None:
    axes.axhline(0.0, color=frame.look.faint, lw=0.9)
    for k, (text, values) in enumerate(curves.items(), start=1):
        axes.plot(x, values, lw=1.5, color=color_of(k))
        frame.name(axes, values, text, color_of(k))
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 5), useMathText=True)
    axes.set_ylabel("determinant (SI)")


def _line(p: Any) -> str:
    rows = f"J loses {counted(p.lost, 'row')}, " if p.lost else ""
    without = f"; no meaning there: {', '.join(p.meaningless)}" if p.meaningless else ""
    return f"{rows}{PASSAGES[p.kind]}{without}"
