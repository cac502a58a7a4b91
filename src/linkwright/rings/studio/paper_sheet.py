"""A sheet of paper for a planar drawing: equal scales, sizes in points, labels that keep out of each other's way.

The axes fill the figure, so one data unit is a known number of points: widths of bars, pins and arrows are chosen in
points and turned into data units by `pt`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from linkwright.rings.studio.style import Theme

BAND = 34.0  # points at the foot for scale and names
PAD = 36.0  # points around the drawing
DIRECTIONS = (45, 135, 315, 225, 90, 0, 180, 270, 67, 112, 293, 248)  # in which a label may be placed, best first, degrees


class _Drawn(NamedTuple):
    """Straight pieces of a drawing by 41 points each, the boxes and lengths of these, and half widths in points."""

    points: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lengths: np.ndarray
    width: np.ndarray


@dataclass
class Sheet:
    """Axes with a fixed window (`low`, `high` in data units) and what has been drawn so far, for placing labels."""

    axes: Any
    look: Theme
    low: np.ndarray
    high: np.ndarray
    pt: float  # data units per point
    segments: list[tuple[np.ndarray, float]] = field(default_factory=list)  # straight pieces already drawn, half width in points
    taken: list[np.ndarray] = field(default_factory=list)  # (2, 2) boxes of labels
    _drawn: _Drawn | None = None  # the segments, as long as there are no more

    def line(self, points: Any, **options: Any) -> None:
        from matplotlib.lines import Line2D

        p = np.asarray(points)[:, :2]
        self.add(Line2D(p[:, 0], p[:, 1], **options))

    def add(self, artist: Any) -> None:
        """Draw a line or a patch. The window is fixed, so that no limits are updated, which is most of the work of `plot`."""
        self.axes.add_artist(artist)

    def remember(self, points: Any, width: float = 2.0, closed: bool = False) -> None:
        """Note what has been drawn, so that labels keep clear of it."""
        p = np.asarray(points)[:, :2]
        p = np.vstack([p, p[:1]]) if closed else p
        self.segments += [(p[i : i + 2], 0.5 * width) for i in range(len(p) - 1)]

    def label(self, at: Any, text: str, *, color: Any = None, size: float = 8.5, clear: float = 8.0) -> None:
        """Write a name beside a place, in the direction with the least in its way."""
        at = np.asarray(at)[:2]
        half = np.array([0.32 * size * len(text) + 1.0, 0.55 * size]) * self.pt
        best, best_cost = at, np.inf
        for k, (ring, angle) in enumerate((r, a) for r in (0.0, 7.0, 15.0) for a in np.radians(DIRECTIONS)):
            d = np.array([np.cos(angle), np.sin(angle)])
            reach = (clear + ring) * self.pt + abs(d[0]) * half[0] + abs(d[1]) * half[1]
            center = at + d * reach
            if 0.02 * k + 0.06 * ring >= best_cost:
                break  # the places after it cannot be better
            cost = self.crowd(center, half) + 0.02 * k + 0.06 * ring
            if cost < best_cost:
                best, best_cost = center, cost
        self.taken.append(np.array([best - half, best + half]))
        self.write(best, text, color or self.look.ink, size)

    def write(self, center: np.ndarray, text: str, color: Any, size: float) -> None:
        from matplotlib.patheffects import withStroke

        halo = [withStroke(linewidth=2.4, foreground=self.look.paper)]
        x, y = center
        self.axes.text(
            x, y, text, ha="center", va="center_baseline", fontsize=size, color=color, zorder=90, path_effects=halo, parse_math=False
        )

    def crowd(self, center: np.ndarray, half: np.ndarray) -> float:
        """How much is in the way of a label: lengths of drawn pieces inside its box, other labels, the sheet's edge."""
        low, high = center - half, center + half
        cost = 0.0
        if np.any(low < self.low) or np.any(high > self.high):
            cost += 50.0
        for box in self.taken:
            overlap = np.minimum(high, box[1]) - np.maximum(low, box[0])
            if np.all(overlap > 0):
                cost += 20.0 * float(np.prod(overlap / (2 * half)))
        if self.segments:
            drawn = self._pieces()
            near = ((drawn.width + 0.5) * self.pt)[:, None]
            close = np.all((drawn.high > low - near) & (drawn.low < high + near), axis=1)
            points, near = drawn.points[close], near[close, None]
            inside = np.zeros(len(close))
            inside[close] = np.all((points > low - near) & (points < high + near), axis=2).mean(axis=1)
            cost += 4.0 * float(inside @ drawn.lengths) / float(half[0] + half[1])
        return cost

    def _pieces(self) -> _Drawn:
        if self._drawn is None or len(self._drawn.width) != len(self.segments):
            a, b, width = (np.array(x) for x in zip(*((s[0], s[1], w) for s, w in self.segments), strict=True))
            points = a[:, None] + np.linspace(0.0, 1.0, 41)[None, :, None] * (b - a)[:, None]
            self._drawn = _Drawn(points, points.min(axis=1), points.max(axis=1), np.linalg.norm(b - a, axis=1), width)
        return self._drawn


def nice_length(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above `length`."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(m * power for m in (1.0, 2.0, 5.0) if m * power <= length * 1.0000001))


def window(points: np.ndarray, size: tuple[float, float] | None, band: float) -> tuple[tuple[float, float], np.ndarray, np.ndarray, float]:
    """(figure size in inches, low, high, data units per point) so that all points fit with equal scales."""
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    span = np.maximum(high - low, 1e-3 * max(float((high - low).max()), 1e-9))
    if size is None:
        width = 7.0 * 72
        room = np.array([width - 2 * PAD, 5.4 * 72])
        pt = float(np.max(span / room))
        height = max(span[1] / pt, 110.0) + 2 * PAD + band
        width = max(span[0] / pt + 2 * PAD, 4.4 * 72)
    else:
        width, height = size[0] * 72, size[1] * 72
        pt = float(np.max(span / np.maximum(np.array([width - 2 * PAD, height - 2 * PAD - band]), 20.0)))
    center = 0.5 * (low + high)
    paper = np.array([width, height]) * pt
    corner = center - 0.5 * paper - np.array([0.0, 0.5 * band * pt])
    return (width / 72, height / 72), corner, corner + paper, pt
