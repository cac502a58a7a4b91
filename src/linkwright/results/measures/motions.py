"""Channels of many motions as measures read them: arrays, windows, and courses between the samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwright.numerics.tolerances import SAME_PLACE
from linkwright.properties import cached_property
from linkwright.results.measures.channel_interpolation import Course, CoursePull, rate_names
from linkwright.results.measures.extremes import SharpenedCurves
from linkwright.results.measures.window_ends import WHOLE, WindowEnds
from linkwright.text.windows import Window

if TYPE_CHECKING:
    from linkwright.results.trajectories import Trajectories

Pulls = dict[str, np.ndarray]  # weights of the samples of channels, (samples, ...)


@dataclass(frozen=True, eq=False)
class SampledCurve:
    """A channel at its samples, (motions, samples); of an extreme also at ends of the window, which follow the samples.

    `place` is the time of each value.
    """

    x: np.ndarray
    mask: np.ndarray | None
    place: np.ndarray | None = None
    sharp: SharpenedCurves | None = None
    ends: WindowEnds | None = None
    near: np.ndarray | None = None  # samples near a singular position, from which the channel grows without bound

    @cached_property
    def error(self) -> np.ndarray | None:
        """How far the curve may go beyond each value (`extremes`)."""
        if self.sharp is None:
            return None
        own = self.sharp.error if self.near is None else np.where(self.near, np.inf, self.sharp.error)
        return own if self.ends is None else np.concatenate([own, np.zeros(self.ends.share.shape)], axis=1)

    @property
    def counted(self) -> np.ndarray | None:
        """Values that count: those of the window that are numbers; None: all."""
        lost = np.isnan(self.x)
        if not lost.any():
            return self.mask
        return ~lost if self.mask is None else self.mask & ~lost

    def folded(self, weights: np.ndarray) -> np.ndarray:
        """Return weights of the values of the first motion as those of its samples."""
        if self.sharp is None:
            return weights
        n = self.sharp.x.shape[1]
        own = self.sharp.folded(weights[:n])
        return own if self.ends is None else own + self.ends.folded(np.concatenate([np.zeros_like(own), weights[n:]]))

    def slopes(self, dx: np.ndarray) -> np.ndarray:
        """Return derivatives (samples, numbers) of the channel of the first motion as those of its values."""
        if self.sharp is None:
            return dx
        own = self.sharp.values(dx)
        return own if self.ends is None else np.concatenate([own, self.ends.values(dx.T).T])


def turns(r: Trajectories) -> bool:
    """True if the leading drive is an angle."""
    return bool(r.drive) and r.dimension(r.drive) == "angle"


def scalar_of(r: Trajectories, name: str) -> np.ndarray:
    """A channel, (motions, samples); of a vector its length."""
    x = r.values[name]
    return np.linalg.norm(x.reshape(*x.shape[:2], -1), axis=2) if x.ndim > 2 else x


def window_mask(r: Trajectories, window: Window | None) -> np.ndarray | None:
    """Samples that count, (motions, samples); None: all."""
    if window is None:
        return None
    name, (low, high) = window.axis(r.drive), window.ends
    x = np.broadcast_to(r.values[name] if name != "t" else r.t, r.t.shape)
    if _by_turns(r, window):
        span = high - low + (WHOLE if window.wraps else 0.0)
        return np.mod(x - low + SAME_PLACE, WHOLE) <= span + 2.0 * SAME_PLACE
    inside = (x >= low, x <= high)
    return inside[0] | inside[1] if window.wraps else inside[0] & inside[1]


def _by_turns(r: Trajectories, window: Window) -> bool:
    """True for a window of the leading drive's angle, from which whole turns are taken off."""
    return window.axis(r.drive) == r.drive and not window.channel and turns(r)


def window_ends(r: Trajectories, window: Window | None) -> WindowEnds | None:
    """Ends of a window of times or of the leading drive's positions; None: of any other channel, or there are no steps."""
    if window is None or window.channel or r.t.shape[1] < 2:
        return None
    name = window.axis(r.drive)
    axis = np.broadcast_to(r.values[name] if name != "t" else r.t, r.t.shape)
    return WindowEnds.of(axis, window.ends, _by_turns(r, window))


def curve_of(r: Trajectories, name: str, window: Window | None, *, extreme: bool) -> SampledCurve:
    """Return a channel (of a vector its length) at the samples; for an extreme with local extremes between samples and the ends of
    the window."""
    x, mask = scalar_of(r, name), window_mask(r, window)
    if not extreme:
        return SampledCurve(x, mask)
    ends = None if mask is None else window_ends(r, window)
    sharp = SharpenedCurves.of(r.t, x, mask, None if ends is None else ends.cut(x.shape[1]))
    near = None if r.dimension(name) in ("length", "angle") else r.near_singular
    if ends is None or mask is None:
        return SampledCurve(sharp.x, mask, sharp.place, sharp, near=near)
    parts = ((sharp.x, ends.values(x)), (mask, ends.there), (sharp.place, ends.values(r.t)))
    both = [np.concatenate(pair, axis=1) for pair in parts]
    return SampledCurve(*both, sharp, ends, near)


def whole_curves(r: Trajectories, names: Sequence[str]) -> list[SampledCurve]:
    """Return curves of extremes (`curve`) of several channels of one motion, all at once: it takes little longer than one of them."""
    sharp = SharpenedCurves.of(r.t[0], np.concatenate([scalar_of(r, name)[:1] for name in names])).each()
    near = [None if r.dimension(name) in ("length", "angle") else r.near_singular for name in names]
    return [SampledCurve(x.x, None, x.place, x, near=n) for x, n in zip(sharp, near, strict=True)]


# -------------------------------------------------------------------- courses


def _rates(r: Trajectories, name: str) -> tuple[str, str]:
    """Channels of the rates of a channel; none in a static analysis, whose rates are not those of its positions."""
    first, second = rate_names(name, r.values)
    still = first in r.values and not r.values[first].any() and bool(np.ptp(r.values[name], axis=1).any())
    return ("", "") if still else (first, second)


def abscissa(r: Trajectories, name: str) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """An abscissa and its rates by time: times, or a channel that grows or falls throughout (else NaN)."""
    if name == "t":
        return r.t, None, None
    first, second = _rates(r, name)
    s, v = np.broadcast_to(r.values[name], r.t.shape), r.values.get(first)
    a = r.values.get(second) if second else None
    steps = np.diff(s, axis=1)
    moves = steps if v is None else np.concatenate([steps, v], axis=1)
    one_way = np.minimum.reduce(np.sign(moves), axis=1, keepdims=True) * np.maximum.reduce(np.sign(moves), axis=1, keepdims=True) > 0.0
    s = np.where(one_way, np.where(steps[:, :1] < 0.0, -s, s), np.nan)
    return s, None if v is None else np.abs(v), None if a is None or v is None else np.where(v < 0.0, -a, a)


def course_of(r: Trajectories, name: str, axis: str = "t", along: np.ndarray | None = None) -> Course:
    """A channel over an abscissa; of a vector its component `along` a direction, (motions, components)."""
    s, ds, dds = abscissa(r, axis)
    first, second = _rates(r, name)
    x, v, a = (_component(r, n, along) for n in (name, first, second))
    assert x is not None
    if axis != "t" and v is not None:
        if ds is None:
            return Course(s, x)
        v = v / ds
        a = None if a is None or dds is None else (a - v * dds) / (ds * ds)
    return Course(s, x, v, a)


def _component(r: Trajectories, name: str, along: np.ndarray | None) -> np.ndarray | None:
    if not name or name not in r.values:
        return None
    x = r.values[name]
    return x if along is None else np.einsum("msc,mc->ms", x, along)


def spread_weights(r: Trajectories, out: Pulls, pull: CoursePull, name: str, axis: str = "t", along: np.ndarray | None = None) -> Pulls:
    """Add the weights of a course's samples (of one motion) to those of the channels it is made of."""
    first, second = _rates(r, name)
    gx, gv, ga = pull.x, pull.v, pull.a
    if axis != "t":
        gv, ga = _by_time(r, out, pull, axis)
    for channel, weights in ((name, gx), (first, gv), (second, ga)):
        if channel and channel in r.values and weights.any():
            _add(out, channel, weights if along is None else weights[:, None] * along[0])
    return out


def _by_time(r: Trajectories, out: Pulls, pull: CoursePull, axis: str) -> tuple[np.ndarray, np.ndarray]:
    """Weights of rates by time from those by the abscissa, x' = v/ds and x'' = (a - x' dds)/ds^2; those of its own rates are added."""
    _, ds, dds = abscissa(r, axis)
    x, gv, ga = pull.course, pull.v, pull.a
    if ds is None or x.v is None:
        return gv, ga
    rate, bend, v = ds[0], np.zeros_like(gv) if dds is None else dds[0], x.v[0]
    first, second = _rates(r, axis)
    sign = np.sign(r.values[first][0])
    a = np.zeros_like(v) if x.a is None else x.a[0]
    _add(out, first, -sign * (gv * v / rate + ga * (2.0 * a / rate - bend * v / rate**3)))
    if second:
        _add(out, second, -sign * ga * v / rate**2)
    return gv / rate - ga * bend / rate**3, ga / rate**2


def _add(out: Pulls, channel: str, weights: np.ndarray) -> None:
    out[channel] = out[channel] + weights if channel in out else weights
