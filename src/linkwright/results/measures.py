"""Measures: one number of a motion, as text.

    max A.torque                    also min, mean, rms, peak (largest size), range (max - min), std, start, end
    range guide while 100..180 deg  samples where the leading drive is in a range, turns taken off; `while 0.2..0.5 s` for times,
                                    `while A.v > 2 rad/s` for any channel
    end tool.T.x                    of a vector: its length; `tool.T.x` one component
    time when tool.T.x > 0.2 m      the first time, between samples by the straight line; nan where it never happens

Means are over time, by trapezoids. The same text serves one motion (`read_from`) and many of them in arrays (`over`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.model.file.units import KINDS, NONE, TIME, describe, matches, parse_unit

REDUCTIONS = ("max", "min", "mean", "rms", "peak", "range", "std", "start", "end")
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_MEASURE = re.compile(r"^\s*(\w+)\s+(?!when\b)(\S+)(?:\s+in\s+(\S.*?))?(?:\s+while\s+(.+?))?\s*$")
_WHEN = re.compile(r"^\s*time\s+when\s+(.+?)\s*$")
_RANGE = re.compile(rf"^(?:(\S+)\s+)?({NUMBER})\s*\.\.\s*({NUMBER})\s*(.*)$")
_CONDITION = re.compile(rf"^(\S+)\s*(>=|<=|>|<)\s*({NUMBER})\s*(.*)$")
EXAMPLES = '"max A.torque", "range guide while 100..180 deg", "end tool.T.x", "time when tool.T.x > 0.2 m"'


@dataclass(frozen=True)
class MeasureWindow:
    """Samples that count: those whose channel is in a range. An empty channel: time, or the leading drive, as the unit says."""

    channel: str
    low: float
    high: float
    dimension: Any = None  # of the unit that was written


@dataclass(frozen=True)
class Measure:
    """A reduction of a channel over a window; `text` is how it was written."""

    text: str
    reduction: str
    channel: str
    window: MeasureWindow | None = None
    above: bool = True  # of "time when": whether the channel is to be above or below
    limit: float = 0.0
    unit: Any = None  # dimension of the limit's unit; None without one
    label: str = ""  # a name of its own

    @property
    def name(self) -> str:
        return self.label or self.text

    def channels(self, drive: str) -> list[str]:
        """Channels that are read, with the leading drive's name for windows of its positions."""
        out = [self.channel]
        if self.window is not None:
            out.append(self._window_channel(drive))
        return list(dict.fromkeys(out))

    def _window_channel(self, drive: str) -> str:
        w = self.window
        assert w is not None
        if w.channel:
            return w.channel
        if w.dimension is not None and w.dimension == TIME:
            return "t"
        if not drive:
            raise UsageError(f"'{self.text}': this motion has no leading drive; name a channel, while A {w.low:g}..{w.high:g}, or times.")
        return drive

    def read_from(self, c: Any) -> float:
        """The measure of a Trajectory."""
        found = c.read([*self.channels(c.drive), "t"])
        return float(self.over({name: x[None] for name, x in found.items()}, found["t"][None], c.drive, c.dimension)[0])

    def over(self, values: Mapping[str, np.ndarray], t: np.ndarray, drive: str, dimension: Callable[[str], str]) -> np.ndarray:
        """The measure of many motions: channels (motions, samples, ...), times (motions, samples) or (samples,)."""
        x = values[self.channel]
        x = np.linalg.norm(x.reshape(*x.shape[:2], -1), axis=2) if x.ndim > 2 else x
        t = np.broadcast_to(t, x.shape)
        if self.reduction == "when":
            return _first_time(x, t, self.limit, self.above)
        mask = self._mask(values, drive, dimension, x.shape)
        return _reduced(self.reduction, x, t, mask, self.text)

    def slopes(self, c: Any, d: Any) -> np.ndarray:
        """Exact derivatives of the measure of a motion by the numbers of its derivatives d (`c.derivatives(...)`), (numbers,). A largest
        value is differentiated at its sample, a window holds the samples it has."""
        found = {name: x[None] for name, x in c.read([*self.channels(c.drive), "t"]).items()}
        x, dx = found[self.channel][0], d.read([self.channel])[self.channel]
        if x.ndim > 1:
            size = np.linalg.norm(x.reshape(len(x), -1), axis=1)
            flat, dflat = x.reshape(len(x), -1), dx.reshape(len(x), -1, dx.shape[-1])
            x, dx = size, np.einsum("si,sip->sp", flat, dflat) / np.where(size > 0.0, size, 1.0)[:, None]
        t = found["t"][0]
        if self.reduction == "when":
            return _time_slopes(x, dx, t, self.limit, self.above)
        mask = self._mask(found, c.drive, c.dimension, (1, len(x)))
        counted = np.ones(len(x), dtype=bool) if mask is None else mask[0]
        return _slopes(self.reduction, x, dx, t, counted)

    def _mask(self, values: Mapping[str, np.ndarray], drive: str, dimension: Callable[[str], str], shape: Any) -> np.ndarray | None:
        if self.window is None:
            return None
        w, name = self.window, self._window_channel(drive)
        x = np.broadcast_to(values[name], shape)
        if name == drive and not w.channel and dimension(name) == "angle":
            whole = 2.0 * np.pi
            slack = 1e-9
            return np.mod(x - w.low + slack, whole) <= w.high - w.low + 2.0 * slack
        return (x >= w.low) & (x <= w.high)


def _reduced(how: str, x: np.ndarray, t: np.ndarray, mask: np.ndarray | None, text: str) -> np.ndarray:
    """Reduce along the samples; nan where no sample counts."""
    if mask is None:
        mask = np.ones(x.shape, dtype=bool)
    some = mask.any(axis=1)
    if how in ("start", "end"):
        at = np.argmax(mask, axis=1) if how == "start" else x.shape[1] - 1 - np.argmax(mask[:, ::-1], axis=1)
        return np.where(some, x[np.arange(len(x)), at], np.nan)
    if how in ("max", "min", "peak", "range"):
        size = np.abs(x) if how == "peak" else x
        high = np.where(mask, size, -np.inf).max(axis=1)
        low = np.where(mask, size, np.inf).min(axis=1)
        spread = np.where(some, high, 0.0) - np.where(some, low, 0.0)
        found = {"max": high, "peak": high, "min": low, "range": spread}
        return np.where(some, found[how], np.nan)
    weight = _weights(t, mask)
    total = weight.sum(axis=1)
    total = np.where(total > 0.0, total, np.nan)
    clean = np.where(mask, x, 0.0)
    mean = (weight * clean).sum(axis=1) / total
    if how == "mean":
        return mean
    square = (weight * clean**2).sum(axis=1) / total
    return np.sqrt(square if how == "rms" else np.maximum(square - mean**2, 0.0))


def _slopes(how: str, x: np.ndarray, dx: np.ndarray, t: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Derivatives of a reduction of x (samples,) whose derivatives are dx (samples, numbers)."""
    if not mask.any():
        return np.full(dx.shape[1], np.nan)
    at = np.flatnonzero(mask)
    if how in ("start", "end"):
        return dx[at[0 if how == "start" else -1]]
    low, high, far = (at[pick(x[at])] for pick in (np.argmin, np.argmax, lambda y: int(np.argmax(np.abs(y)))))
    ends = {"max": dx[high], "min": dx[low], "range": dx[high] - dx[low], "peak": np.sign(x[far]) * dx[far]}
    if how in ends:
        return ends[how]
    weight = _weights(t[None], mask[None])[0]
    weight = weight / weight.sum()
    mean, rising = weight @ x, weight @ dx
    if how == "mean":
        return rising
    square, crossed = weight @ x**2, (weight * x) @ dx
    size = np.sqrt(square if how == "rms" else max(square - mean**2, 0.0))
    return (crossed if how == "rms" else crossed - mean * rising) / (size if size > 0.0 else np.nan)


def _time_slopes(x: np.ndarray, dx: np.ndarray, t: np.ndarray, limit: float, above: bool) -> np.ndarray:
    """Derivatives of the first time beyond a limit: -dx over the rate of x there."""
    over = x - limit if above else limit - x
    hit = np.flatnonzero(over >= 0.0)
    if not len(hit) or hit[0] == 0:
        return np.full(dx.shape[1], np.nan if not len(hit) else 0.0)
    b, a = hit[0], hit[0] - 1
    rate = (x[b] - x[a]) / (t[b] - t[a])
    share = (limit - x[a]) / (x[b] - x[a])
    return -((1.0 - share) * dx[a] + share * dx[b]) / rate


def _weights(t: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Trapezoids between neighbours that both count; a sample alone counts by itself."""
    if t.shape[1] == 1:
        return mask.astype(float)
    steps = np.abs(np.diff(t, axis=1)) * (mask[:, 1:] & mask[:, :-1])
    weight = np.zeros(t.shape)
    weight[:, 1:] += 0.5 * steps
    weight[:, :-1] += 0.5 * steps
    alone = weight.sum(axis=1) == 0.0
    return np.where(alone[:, None], mask.astype(float), weight)


def _first_time(x: np.ndarray, t: np.ndarray, limit: float, above: bool) -> np.ndarray:
    """The first time at which x is beyond the limit; nan where it never is."""
    over = x - limit if above else limit - x
    hit = over >= 0.0
    at = np.argmax(hit, axis=1)
    rows = np.arange(len(x))
    before = np.maximum(at - 1, 0)
    a, b = over[rows, before], over[rows, at]
    share = np.where((at > 0) & (b > a), -a / np.where(b > a, b - a, 1.0), 1.0)
    when = t[rows, before] + share * (t[rows, at] - t[rows, before])
    return np.where(hit.any(axis=1), when, np.nan)


def measure(text: str) -> Measure:
    """Read a measure."""
    if not isinstance(text, str):
        raise UsageError(f"a measure is a text such as {EXAMPLES}, or a function of the result, not {text!r:.40}.")
    name = " ".join(text.split())
    found = _WHEN.match(name)
    if found is not None:
        w = _CONDITION.match(found[1])
        if w is None:
            raise UsageError(f"'{name}' is no condition: write time when CHANNEL > VALUE UNIT.")
        return Measure(name, "when", w[1], above=w[2].startswith(">"), limit=_si(w[3], w[4], name), unit=_dimension(w[4]))
    found = _MEASURE.match(name)
    if found is None or found[1] not in REDUCTIONS:
        word = name.split(" ")[0] if name else ""
        raise UsageError(f"'{name}' is no measure. {nearest(word, [*REDUCTIONS, 'time when'], 'They begin with')} Examples: {EXAMPLES}.")
    window = None if found[4] is None else _window(found[4], name)
    return Measure(name, found[1], found[2], window)


def _window(text: str, name: str) -> MeasureWindow:
    found = _RANGE.match(text)
    if found is not None:
        low, high = _si(found[2], found[4], name), _si(found[3], found[4], name)
        if not low < high:
            raise UsageError(f"'{name}': the range {text} is empty: its first number must be the smaller one.")
        return MeasureWindow(found[1] or "", low, high, _dimension(found[4]))
    found = _CONDITION.match(text)
    if found is None:
        raise UsageError(f"'{name}': after while comes a range, 100..180 deg, or a condition, A.v > 2 rad/s, not '{text}'.")
    limit = _si(found[3], found[4], name)
    ends = (limit, np.inf) if found[2].startswith(">") else (-np.inf, limit)
    return MeasureWindow(found[1], *ends, _dimension(found[4]))


def _dimension(unit: str) -> Any:
    return parse_unit(unit)[1] if unit.strip() else None


def _si(number: str, unit: str, name: str) -> float:
    try:
        return float(number) * (parse_unit(unit)[0] if unit.strip() else 1.0)
    except UsageError as problem:
        raise UsageError(f"'{name}': {problem}") from None


def check(measures: Sequence[Measure], c: Any) -> None:
    """Raise ChannelError or UsageError for measures that a motion like this one does not have."""
    for m in measures:
        for name in m.channels(c.drive):
            c.channel(name)
        if m.window is not None:
            _need_unit(m, m._window_channel(c.drive), m.window.dimension, c, "while")
        if m.reduction == "when":
            _need_unit(m, m.channel, m.unit, c, "when")


def _need_unit(m: Measure, name: str, unit: Any, c: Any, word: str) -> None:
    """Raise UsageError unless numbers after `while` and `when` have a unit of their channel."""
    kind = c.dimension(name)
    if kind not in KINDS or KINDS[kind] == NONE:
        return
    if unit is None:
        symbol = c.unit(name)[0]
        raise UsageError(f"'{m.text}': {name} is in {symbol} here; write the unit of the number after {word}.")
    if not matches(KINDS[kind], unit):
        raise UsageError(f"'{m.text}': {name} is {describe(KINDS[kind])}; the number after {word} has another unit.")


def unit_of_measure(m: Measure, c: Any, units: tuple[str, ...] = ()) -> tuple[str, float]:
    """(symbol, size in SI) of a measure of a motion like this one, for people who wrote a file in these units; SI without them."""
    from linkwright.results.tables import unit_of

    return ("s", 1.0) if m.reduction == "when" else unit_of(units, c.dimension(m.channel))
