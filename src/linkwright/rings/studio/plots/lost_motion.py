"""How far an output moves within all plays, over the positions of a drive.

lost_motion(found, "lost.png")         what `m.lost_motion("D")` found
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, angle_ticks, drawn, legend, width_of, with_unit, y_axis
from linkwright.rings.studio.style import PALETTE

if TYPE_CHECKING:
    from linkwright.rings.design.lost_motion import LostMotion


def lost_motion(found: LostMotion, path: Place = None, **paper: Unpack[Paper]) -> Any:
    """The contributions of all plays on top of each other: their sum is the lost motion to one side."""
    (where, turn), (what, size) = found.unit
    x, each = found.position / turn, np.where(np.isfinite(found.contributions), found.contributions, np.nan) / size

    def make(frame: Frame) -> Any:
        figure = frame.figure(7.2, 3.6)
        axes = figure.subplots()
        tops = np.cumsum(each, axis=1)
        for i, name in enumerate(found.plays):
            below = tops[:, i - 1] if i else np.zeros(len(x))
            axes.fill_between(x, below, tops[:, i], color=PALETTE[i % len(PALETTE)], alpha=0.45, lw=0.0, label=name)
        axes.plot(x, tops[:, -1], color=frame.look.ink, lw=1.2, label="sum")
        axes.margins(x=0.0)
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel(with_unit(found.drive, where), parse_math=False)
        if where in ("deg", "rad"):
            angle_ticks(axes.xaxis, where, float(np.ptp(x)), most=max(3, round(1.7 * width_of(axes))))
        y_axis(axes, f"lost motion of {found.output}, +-", what)
        legend(axes)
        return figure

    return drawn(make, path, **paper)
