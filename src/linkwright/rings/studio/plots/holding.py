"""The torques or forces of a drive within which a mechanism rests, over its positions.

holding_range(found, "holding.png")         what `m.holding_range()` found
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, angle_ticks, drawn, legend, width_of, with_unit, y_axis
from linkwright.rings.studio.style import DRIVEN, PALETTE

if TYPE_CHECKING:
    from linkwright.rings.design.holding_range import HoldingRange


def holding_range(found: HoldingRange, path: Place = None, **paper: Unpack[Paper]) -> Any:
    """The band between least and largest torque or force, the effort without friction in it, and the stretches that stay put with none."""
    (where, turn), (what, size) = found.unit
    word = "torque" if found.rotary else "force"
    x, ends = found.position / turn, np.array([found.least, found.without, found.largest]) / size
    low, high = _limits(ends)

    def make(frame: Frame) -> Any:
        figure = frame.figure(7.2, 3.6)
        axes = figure.subplots()
        for k, (a, b) in enumerate(_spans(found, turn)):
            label = None if k else f"stays put with no {word}"
            axes.axvspan(a, b, color=PALETTE[2], alpha=0.22, lw=0.0, label=label)
        shown = np.clip(ends, 2.0 * low - high, 2.0 * high - low)  # without an end it leaves the picture
        axes.fill_between(x, shown[0], shown[2], color=DRIVEN, alpha=0.22, lw=0.0, label="rests")
        for y, style in ((shown[0], "-"), (shown[2], "-")):
            axes.plot(x, y, color=DRIVEN, lw=1.5, ls=style)
        axes.plot(x, shown[1], color=frame.look.ink, lw=1.0, ls=(0, (5, 3)), label="without friction")
        axes.axhline(0.0, color=frame.look.faint, lw=0.9)
        axes.margins(x=0.0)
        axes.set_ylim(low, high)
        axes.set_xlabel(with_unit(found.drive, where), parse_math=False)
        if found.rotary:
            angle_ticks(axes.xaxis, where, float(np.ptp(x)), most=max(3, round(1.7 * width_of(axes))))
        y_axis(axes, word, what)
        legend(axes)
        return figure

    return drawn(make, path, **paper)


def _limits(ends: np.ndarray) -> tuple[float, float]:
    """Ends of the axis: zero and all values; near self-locking those of most positions."""
    finite = ends[np.isfinite(ends)]
    if len(finite) < ends.size:
        most = 4.0 * float(np.quantile(np.abs(finite), 0.75))
        finite = finite[np.abs(finite) <= most]
    room = 0.08 * (float(np.ptp(np.append(finite, 0.0))) or 1.0)
    return min(float(finite.min()), 0.0) - room, max(float(finite.max()), 0.0) + room


def _spans(found: HoldingRange, turn: float) -> list[tuple[float, float]]:
    """Stretches that stay put, within the picture: the part beyond the end of a full turn is at its beginning."""
    first, last = float(found.position[0]) / turn, float(found.position[-1]) / turn
    out = []
    for s in found.stays:
        a, b = s.start / turn, s.stop / turn
        out += [(a, b)] if b <= last else [(a, last), (first, first + b - last)]
    return out
