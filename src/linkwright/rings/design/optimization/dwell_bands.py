"""A dwell that is demanded, as a quantity without jumps: the least height of a band in which a channel stays over the wanted length.

`dwell guide within 0.5 mm > 100 deg` and `the least range of guide over any 100 deg of the drive <= 0.5 mm` are the same demand. The
length of a dwell jumps where a bump of the channel leaves the band (from 100 to 75 deg, say), and no derivative sees the bump before it
does. The height has one row for every sample of its window, so the bump is among them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwright.api import Measure, measures
from linkwright.rings.design.optimization.quantities import MeasuredValue, SampleCurve

if TYPE_CHECKING:
    from linkwright.rings.design.optimization.problem import DesignPoint

ON_SAMPLE = 1e-9  # share of an interval: an end of the window so near to a sample is that sample


class RestWindow(NamedTuple):
    """Samples of a window, and the share of the interval behind the last of them in which it ends."""

    samples: tuple[int, ...]
    share: float


@dataclass(frozen=True)
class OfRest(MeasuredValue):
    """Range of a channel over a window of the drive, `length` long: the window of least range, or one that is held (`at`)."""

    measure: Measure | None = None  # the dwell
    length: float = 0.0
    window: RestWindow | None = None

    @property
    def extreme(self) -> str:
        return "range"

    @property
    def key(self) -> str:
        return self.name if self.window is None else f"{self.name} from {self.window.samples[0]}"

    def at(self, p: DesignPoint) -> OfRest:
        """Return the range over the window that is best for this design."""
        return replace(self, window=p.known(("window", self.name), lambda: self._least(p)[1]))

    def _value(self, p: DesignPoint) -> float:
        if self.window is None:
            return self._least(p)[0]
        return float(np.ptp(self.curve(p).x))

    def _gradient(self, p: DesignPoint) -> np.ndarray:
        c = (self if self.window is not None else self.at(p)).curve(p)
        return c.dx[int(np.argmax(c.x))] - c.dx[int(np.argmin(c.x))]

    def _curve(self, p: DesignPoint) -> SampleCurve:
        held = self.window or self.at(p).window
        assert held is not None and self.measure is not None
        channel = self.measure.channel
        x, at, last = p.motion[channel], np.array(held.samples), held.samples[-1]
        after = (last + 1) % len(x) if last + 1 < len(x) else 1  # the last sample of a cycle is its first one
        ended = held.share > 0.0

        def over(y: np.ndarray) -> np.ndarray:
            end = y[last : last + 1] + held.share * (y[after : after + 1] - y[last : last + 1])
            return np.concatenate([y[at], end]) if ended else y[at]

        numbered = np.append(at, len(x)) if ended else at
        return SampleCurve(numbered, over(x), lambda: over(p.slopes.read([channel])[channel]))

    def _least(self, p: DesignPoint) -> tuple[float, RestWindow]:
        """The least range over all windows that begin at a sample, and the window."""
        assert self.measure is not None
        r = self.measure.motions(p.motion)
        course = measures.course_of(r, self.measure.channel, self.measure.axis(r.drive))
        s, x = course.s[0], course.x[0]
        s = s if s[-1] >= s[0] else -s
        n, cycle = len(s) - 1, bool(course.closed[0])
        laid, values = (np.append(s, s[1:] + (s[-1] - s[0])), np.append(x, x[1:])) if cycle else (s, x)
        first = np.arange(n) if cycle else np.flatnonzero(s + self.length <= s[-1] + ON_SAMPLE * (s[-1] - s[0]) / n)
        if not len(first) or self.length >= s[-1] - s[0]:  # longer than the motion: all of it
            return float(np.ptp(x)), RestWindow(tuple(range(n + 1)), 0.0)
        ends = laid[first] + self.length
        last = np.clip(np.searchsorted(laid, ends + ON_SAMPLE * (laid[1] - laid[0]), side="right") - 1, 0, len(laid) - 2)
        share = np.clip((ends - laid[last]) / (laid[last + 1] - laid[last]), 0.0, 1.0)
        share = np.where(share < ON_SAMPLE, 0.0, share)
        end = values[last] + share * (values[last + 1] - values[last])
        high, low = _extremes(values, first, last)
        height = np.maximum(high, end) - np.minimum(low, end)
        k = int(np.argmin(height))
        samples = np.arange(first[k], last[k] + 1)
        return float(height[k]), RestWindow(tuple((np.where(samples > n, samples - n, samples)).tolist()), float(share[k]))


def _extremes(x: np.ndarray, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Largest and least sample of every window from first to last."""
    width = last - first
    if (width == width[0]).all():
        every = np.lib.stride_tricks.sliding_window_view(x, int(width[0]) + 1)[first]
        return every.max(axis=1), every.min(axis=1)
    pairs = [(float(x[a : b + 1].max()), float(x[a : b + 1].min())) for a, b in zip(first, last, strict=True)]
    return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
