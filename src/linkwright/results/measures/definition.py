"""A measure: one number of a motion; of one motion (`read_from`), of many in arrays (`over`), and its derivatives (`slopes`)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.results.measures.channel_interpolation import rate_names
from linkwright.results.measures.distances import TargetPoints, distance_pull, distances
from linkwright.results.measures.dwells import dwell_pull, longest_dwells
from linkwright.results.measures.measured_number import MeasuredNumber
from linkwright.results.measures.motions import Pulls, SampledCurve, course_of, curve_of, scalar_of, window_mask
from linkwright.results.measures.reductions import EXTREMES, extremes_at, first_time, first_time_pull, reduced, reduction_pull
from linkwright.results.measures.straightness import straightness, straightness_pull
from linkwright.results.measures.strokes import stroke_pull, strokes, time_ratio_pull, time_ratios
from linkwright.results.trajectories import Trajectories
from linkwright.text.measures import BEGINNINGS, REDUCTIONS
from linkwright.text.unit_meaning import reading
from linkwright.text.units import KINDS, NONE, TIME, describe, matches
from linkwright.text.windows import Window

BETWEEN = ("stroke", "time ratio", "dwell", "distance")  # reductions that look between samples: they read rates as well
OF_PATHS = ("straightness", "distance")  # of a point, not of a number
ONE_NUMBER = ("time ratio", "dwell", "when")  # of a number, not of a point


@dataclass(frozen=True)
class Measure:
    """A reduction of a channel over a window. `text` is how it was written."""

    text: str
    reduction: str
    channel: str
    window: Window | None = None
    above: bool = True  # of "time when": whether the channel is to be above or below
    limit: float = 0.0  # of "time when"; of a dwell the height of its band
    unit: Any = None  # dimension of the limit's unit; None without one
    label: str = ""  # a name of its own
    by: Any = None  # dimension of what a dwell is measured in: a time, or the leading drive's position; None: the drive's, if there is one
    target: TargetPoints | None = None  # of a distance
    worst: bool = False  # of a distance: the largest instead of the root mean square

    def __post_init__(self) -> None:
        if self.reduction not in (*REDUCTIONS, *BETWEEN, "straightness", "when"):
            raise UsageError(f"'{self.reduction}' is not a measure.", nearest(self.reduction, BEGINNINGS, "They begin with"))

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Read "max A.torque", "range guide while 100..180 deg" and all other measures."""
        from linkwright.results.measures.grammar import measure  # which builds on this module

        return measure(text)

    def __str__(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        return self.label or self.text

    @property
    def described(self) -> str:
        """The text, with a hash of the numbers that were read from a file."""
        return self.text if self.target is None else f"{self.text} ({self.target.described()})"

    def channels(self, drive: str, known: Container[str] = ()) -> list[str]:
        """Channels that are read, with the leading drive's name for windows of its positions.

        With the names that are `known` also rates of the channel, by which it is followed between samples.
        """
        out = [self.channel]
        if self.window is not None:
            out.append(self._window_channel(drive))
        axis = self.axis(drive)
        if self.reduction in BETWEEN:
            out += [n for name in (self.channel, *(() if axis == "t" else (axis,))) for n in (name, *rate_names(name, known)) if n]
        return [n for n in dict.fromkeys(out) if n != "t"] if self.reduction in BETWEEN else list(dict.fromkeys(out))

    def _window_channel(self, drive: str) -> str:
        assert self.window is not None
        found = self.window.axis(drive)
        if not found:
            raise UsageError(
                f"'{self.text}': this motion has no leading drive. Name a channel, while A {self.window}, or times.", name=self.text
            )
        return found

    def axis(self, drive: str) -> str:
        """The abscissa over which a channel is followed between samples: `t`, or the leading drive."""
        if self.reduction == "distance" and self.target is not None and self.target.at is not None:
            return self.target.by
        if self.reduction != "dwell" or (self.by is not None and self.by == TIME):
            return "t"
        if self.by is not None and not drive:
            raise UsageError(f"'{self.text}': this motion has no leading drive. Measure the dwell in s.", name=self.text)
        return drive or "t"

    # ---------------------------------------------------------------- values

    def read_from(self, c: Any) -> MeasuredNumber:
        """The measure of a Trajectory, with how far samples decide it."""
        r = self.motions(c)
        if self.reduction not in EXTREMES:
            return MeasuredNumber(float(self._of(r)[0]))
        curve = self.sampled(r)
        value, (error, places) = reduced(self.reduction, curve.x, r.t, curve.counted)[0], self._errors(curve)
        grows = bool(np.isinf(error[0]))
        return MeasuredNumber(float(value), float(error[0]), shown_place(c, float(places[0])) if grows else "")

    def value_of(self, curve: SampledCurve, t: np.ndarray) -> float:
        """An extreme of one motion from its curve (`sampled`), without how far samples decide it."""
        return float(reduced(self.reduction, curve.x, t, curve.counted)[0])

    def over(self, r: Trajectories) -> np.ndarray:
        """The measure of many motions, whose channels are stored (`Trajectories.rows`)."""
        return self._of(r)

    def numbers_over(self, r: Trajectories) -> tuple[np.ndarray, np.ndarray]:
        """The measure of many motions, and how far beyond it their curves may go between samples: 0 if it is located, infinite if it grows
        without bound."""
        if self.reduction not in EXTREMES:
            return self._of(r), np.zeros(len(r.t))
        curve = self.sampled(r)
        return reduced(self.reduction, curve.x, r.t, curve.counted), self._errors(curve)[0]

    def _errors(self, curve: SampledCurve) -> tuple[np.ndarray, np.ndarray]:
        """Sampling error of an extreme of every motion, and its time."""
        assert curve.error is not None and curve.place is not None
        at = extremes_at(self.reduction, curve.x, curve.counted)
        each = np.take_along_axis(curve.error, at, axis=1)
        worst = np.take_along_axis(at, np.argmax(each, axis=1)[:, None], axis=1)
        return each.sum(axis=1), np.take_along_axis(curve.place, worst, axis=1)[:, 0]

    def motions(self, c: Any) -> Trajectories:
        """A Trajectory as an array of one motion."""
        return Trajectories.of_one(c, self.channels(c.drive, c.channels))

    def _of(self, r: Trajectories) -> np.ndarray:
        mask = window_mask(r, self.window)
        match self.reduction:
            case "when":
                return first_time(scalar_of(r, self.channel), r.t, self.limit, self.above)
            case "stroke":
                return strokes(r, self.channel, mask)
            case "time ratio":
                return time_ratios(r, self.channel)
            case "dwell":
                return longest_dwells(course_of(r, self.channel, self.axis(r.drive)), self.limit, mask).length
            case "distance":
                assert self.target is not None
                return distances(r, self.channel, self.target, mask, self.worst)
            case "straightness":
                points = r.values[self.channel]
                return np.array([straightness(p if mask is None else p[mask[i]]) for i, p in enumerate(points)])
        curve = self.sampled(r)
        return reduced(self.reduction, curve.x, r.t, curve.counted)

    def sampled(self, r: Trajectories) -> SampledCurve:
        """Return the channel at the samples. For an extreme, add local extremes between them and the ends of the window."""
        return curve_of(r, self.channel, self.window, extreme=self.reduction in EXTREMES)

    # ---------------------------------------------------------------- derivatives

    def weights(self, c: Any) -> Pulls:
        """Derivatives of the measure of a Trajectory by the samples of the channels it reads, (samples, ...) by name.

        A largest value is differentiated at its place, between samples or at an end of the window, a window holds the samples it has.
        """
        r = self.motions(c)
        mask = window_mask(r, self.window)
        one = None if mask is None else mask[0]
        match self.reduction:
            case "stroke":
                return stroke_pull(r, self.channel, mask)
            case "time ratio":
                return time_ratio_pull(r, self.channel)
            case "dwell":
                return dwell_pull(r, self.channel, self.axis(r.drive), self.limit, mask)
            case "distance":
                assert self.target is not None
                return distance_pull(r, self.channel, self.target, mask, self.worst)
            case "straightness":
                points = r.values[self.channel][0]
                out = np.zeros(points.shape)
                which = np.arange(len(points)) if one is None else np.flatnonzero(one)
                out[which] = straightness_pull(points[which])
                return {self.channel: out}
        x = scalar_of(r, self.channel)
        if self.reduction == "when":
            by_x, by_t = first_time_pull(x[0], r.t[0], self.limit, self.above)
            return {self.channel: self._of_vector(r, by_x), "t": by_t}
        curve = self.sampled(r)
        counted = curve.counted
        pull = reduction_pull(self.reduction, curve.x[0], r.t[0], None if counted is None else counted[0])
        return {self.channel: self._of_vector(r, curve.folded(pull))}

    def _of_vector(self, r: Trajectories, weights: np.ndarray) -> np.ndarray:
        """Weights of the length of a vector as those of its components."""
        x = r.values[self.channel][0]
        if x.ndim == 1:
            return weights
        flat = x.reshape(len(x), -1)
        size = np.linalg.norm(flat, axis=1)
        return (weights[:, None] * flat / np.where(size > 0.0, size, 1.0)[:, None]).reshape(x.shape)

    def slopes(self, c: Any, d: Any) -> np.ndarray:
        """Exact derivatives of the measure of a motion by the numbers of its derivatives d (`c.derivatives(...)`), (numbers,)."""
        weights, stretched = self.weights(c), _stretched(c, d)
        by_t = weights.pop("t", np.zeros(len(c)))
        found = d.read(list(weights))
        out = float(by_t @ c.t) * stretched
        for name, w in weights.items():
            used = np.flatnonzero(np.any(np.reshape(w != 0.0, (len(w), -1)), axis=1))  # samples that do not count may have none
            out = out + np.tensordot(w[used], found[name][used], axes=w.ndim)
        if stretched.any() and self.reduction in BETWEEN and self.axis(c.drive) == "t":
            out = out + self._by_stretch(c, weights) * stretched
        return out

    def _by_stretch(self, c: Any, weights: Pulls) -> float:
        """Derivative by a factor of all times at fixed rates. With rates that fall with it, nothing changes but a dwell, which grows."""
        first, second = rate_names(self.channel, c.channels)
        found = c.read([n for n in (first, second) if n in weights])
        rest = sum(order * float(np.sum(weights[n] * found[n])) for order, n in ((1.0, first), (2.0, second)) if n in found)
        return rest + (self.read_from(c) if self.reduction == "dwell" else 0.0)


def shown_place(c: Any, t: float) -> str:
    """`A = 66.92 deg`: where a motion is at a time; the time itself where it has no leading drive."""
    if not c.drive or np.ndim(c[c.drive]) != 1:
        return f"t = {t:.6g} s"
    symbol, size = c.unit(c.drive) if hasattr(c, "unit") else ("", 1.0)
    order = np.argsort(c["t"], kind="stable")
    x = float(np.interp(t, c["t"][order], c[c.drive][order]))
    x = float(c.place(x)) if hasattr(c, "place") else x
    return f"{c.drive} = {x / size:.5g} {symbol}".rstrip()


def _stretched(c: Any, d: Any) -> np.ndarray:
    """Relative change of all times by each number: the cycle takes as much longer as its leading drive is slower."""
    if not c.drive or f"{c.drive}.v" not in c.channels or c.static:
        return np.zeros(len(d.names))
    speed = c[f"{c.drive}.v"]
    return -d[f"{c.drive}.v"][0] / speed[0] if speed[0] else np.zeros(len(d.names))


# -------------------------------------------------------------------- checks and units


def check(measures: Sequence[Measure], c: Any) -> None:
    """Raise ChannelError or UsageError for measures that a motion like this one does not have."""
    for m in measures:
        for name in m.channels(c.drive):
            c._channel(name)
        size = np.shape(c._channel(m.channel).read(c.instant(0))) if m.reduction in (*OF_PATHS, *ONE_NUMBER) and len(c) else ()
        if m.reduction in OF_PATHS and (len(size) != 1 or c.dimension(m.channel) != "length"):
            raise UsageError(f"'{m.text}': {m.channel} is not a path of a point. Name a point, coupler.P.", name=m.text)
        if m.reduction in ONE_NUMBER and size:
            raise UsageError(f"'{m.text}': {m.channel} is a vector. Name one component, {m.channel}.x.", name=m.text)
        if m.window is not None:
            _need_unit(m, m._window_channel(c.drive), m.window.dimension, c, "while")
            _need_cycle(m, c)
        if m.reduction == "when":
            _need_unit(m, m.channel, m.unit, c, "when")
        if m.reduction == "dwell":
            _need_unit(m, m.channel, m.unit, c, "within")
        if m.target is not None:
            _check_target(m, m.target, c)
        if m.reduction == "time ratio" and not np.isfinite(m.read_from(c)):
            raise UsageError(f"'{m.text}': {m.channel} does not return to where it began. A time ratio needs a cycle.", name=m.text)
        axis = m.axis(c.drive)
        if m.reduction == "dwell" and axis != "t" and m.by is not None and not _is_kind(c.dimension(axis), m.by):
            raise UsageError(f"'{m.text}': the drive '{axis}' is in {c.unit(axis)[0]}. Measure the dwell in that, or in s.", name=m.text)
        if m.reduction == "dwell" and axis != "t" and np.isnan(m.read_from(c)):
            raise UsageError(f"'{m.text}': the drive '{axis}' rests or reverses on the way. Measure the dwell in s.", name=m.text)


def _is_kind(kind: str, unit: Any) -> bool:
    """True for a unit of exactly that kind: an angle is not a number here."""
    return kind in KINDS and KINDS[kind] == unit


def _check_target(m: Measure, target: TargetPoints, c: Any) -> None:
    axes = len(c._channel(m.channel).read(c.instant(0)))
    if target.points.shape[1] != axes:
        raise UsageError(
            f"'{m.text}': {m.channel} has {axes} coordinates, the points of {target.source} have {target.points.shape[1]}.", name=m.text
        )
    if target.at is None:
        return
    if target.by not in ("t", c.drive):
        drive = f"the leading drive '{c.drive}' or " if c.drive else ""
        raise UsageError(f"'{m.text}': points are placed by {drive}t, not by '{target.by}'.", name=m.text)
    if not np.isfinite(m.read_from(c)):
        raise UsageError(
            f"'{m.text}': this motion does not come to all positions of {target.by} in {target.source}, or its drive reverses.", name=m.text
        )


def _need_cycle(m: Measure, c: Any) -> None:
    """Raise UsageError where a window that goes through the end of a cycle is not one of the leading drive's angle or of times."""
    w = m.window
    if w is not None and w.wraps and not (w.axis(c.drive) == "t" or (not w.channel and c.drive and c.dimension(c.drive) == "angle")):
        raise UsageError(f"'{m.text}': the range is empty: its first number must be the smaller one.", name=m.text)


def _need_unit(m: Measure, name: str, unit: Any, c: Any, word: str) -> None:
    """Raise UsageError unless numbers after `while`, `when` and `within` have a unit of their channel."""
    kind = c.dimension(name)
    if kind not in KINDS or KINDS[kind] == NONE:
        return
    if unit is None:
        symbol = c.unit(name)[0]
        raise UsageError(f"'{m.text}': {name} is in {symbol} here. Write the unit of the number after {word}.", name=m.text)
    if not matches(KINDS[kind], unit):
        raise UsageError(f"'{m.text}': {name} is {describe(KINDS[kind])}. The number after {word} has another unit.", name=m.text)
    reading(unit, KINDS[kind], f"the number after {word}", f"'{m.text}': {name}")


def dimension_of_measure(m: Measure, c: Any) -> str:
    """Dimension of a measure of a motion like this one: a key of the unit system."""
    if m.reduction == "when":
        return "time"
    if m.reduction == "time ratio":
        return "pure number"
    if m.reduction == "dwell":
        axis = m.axis(c.drive)
        return "time" if axis == "t" else c.dimension(axis)
    return c.dimension(m.channel)


def unit_of_measure(m: Measure, c: Any, units: tuple[str, ...] = ()) -> tuple[str, float]:
    """(symbol, size in SI) of a measure of a motion like this one, for people who wrote a file in these units; SI without them."""
    from linkwright.results.tables import unit_of

    return unit_of(units, dimension_of_measure(m, c))


__all__ = ["Measure", "check", "dimension_of_measure", "unit_of_measure"]
