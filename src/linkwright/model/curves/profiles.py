"""Moves from rest to rest by the laws of cam design, and programmes of moves and dwells."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.model.curves import Curve, Jet
from linkwright.model.curves.piecewise import Piecewise
from linkwright.model.curves.tables import polyline
from linkwright.model.description import Move
from linkwright.numerics.scalars import real, where


def _cycloidal(x: Any) -> Jet:
    w = 2.0 * np.pi
    return x - np.sin(w * x) / w, 1.0 - np.cos(w * x), w * np.sin(w * x)


def _polynomial_345(x: Any) -> Jet:
    return x**3 * (10 - 15 * x + 6 * x * x), 30 * x * x * (1 - x) ** 2, 60 * x * (1 - 3 * x + 2 * x * x)


def _polynomial_4567(x: Any) -> Jet:
    return x**4 * (35 - 84 * x + 70 * x * x - 20 * x**3), 140 * x**3 * (1 - x) ** 3, 420 * x * x * (1 - x) ** 2 * (1 - 2 * x)


def _trapezoidal(x: Any) -> Jet:
    """Speed rises, holds and falls in thirds of the time; the top speed is 1.5."""
    up = (2.25 * x * x, 4.5 * x, 4.5 + 0.0 * x)
    hold = (1.5 * x - 0.25, 1.5 + 0.0 * x, 0.0 * x)
    down = (1.0 - 2.25 * (1 - x) ** 2, 4.5 * (1 - x), -4.5 + 0.0 * x)
    parts = [where(real(x) < 1 / 3, a, where(real(x) < 2 / 3, b, c)) for a, b, c in zip(up, hold, down, strict=True)]
    return parts[0], parts[1], parts[2]


def _modified_sine(x: Any) -> Jet:
    """Quarter sines at the ends, a three times longer one between: low peak speed and smooth jerk."""
    c, p = 1.0 / (4.0 + np.pi), np.pi

    def end(shift: float) -> Jet:
        return c * (shift + p * x - 0.25 * np.sin(4 * p * x)), c * p * (1 - np.cos(4 * p * x)), 4 * c * p * p * np.sin(4 * p * x)

    y = (4 * p * x + p) / 3
    middle = (c * (2 + p * x - 2.25 * np.sin(y)), c * p * (1 - 3 * np.cos(y)), 4 * c * p * p * np.sin(y))
    parts = [where(real(x) < 0.125, a, where(real(x) < 0.875, b, d)) for a, b, d in zip(end(0.0), middle, end(4.0), strict=True)]
    return parts[0], parts[1], parts[2]


# rise from 0 to 1 while x runs from 0 to 1, with zero speed at both ends
RISES: dict[str, Callable[[Any], Jet]] = {
    "cycloidal": _cycloidal,
    "modified_sine": _modified_sine,
    "345": _polynomial_345,
    "4567": _polynomial_4567,
    "trapezoidal": _trapezoidal,
}


def _move(t: Any, duration: float, here: float, stroke: float, law: str) -> Jet:
    """One move from here at t = 0."""
    s, ds, dds = RISES[law](t / duration)
    return here + stroke * s, stroke * ds / duration, stroke * dds / duration**2


@dataclass(frozen=True)
class Programme(Curve):
    """Moves and dwells one after the other, starting at `begin`; constant before and after."""

    begin: float
    pieces: tuple[tuple[float, float, str], ...]  # (duration, end position, law)

    @classmethod
    def of(cls, begin: float, moves: Sequence[Move]) -> Programme:
        """The moves of a drive of the model file; one without an end is a dwell."""
        pieces, here = [], begin
        for move in moves:
            here = here if move.to is None else float(move.to)
            pieces.append((float(move.time), here, move.law))
        return cls(begin, tuple(pieces))

    @property
    def duration(self) -> float:
        return sum(p[0] for p in self.pieces)

    def corners(self, first: float, last: float, /) -> np.ndarray:
        """Jumps of the acceleration: at the ends of trapezoidal moves, and where their speed begins and ceases to be constant."""
        since, found = 0.0, []
        for duration, _, law in self.pieces:
            found += [since + share * duration for share in (0.0, 1 / 3, 2 / 3, 1.0)] if law == "trapezoidal" else []
            since += duration
        return np.unique([t for t in found if first < t < last])

    def _at_samples(self, t: np.ndarray) -> Jet:
        """Every piece at its own samples only."""
        value, speed, acceleration = np.full(t.shape, self.begin), np.zeros(t.shape), np.zeros(t.shape)
        since, here = 0.0, self.begin
        for duration, there, law in self.pieces:
            mine = (t >= since) & (t < since + duration)
            value[mine], speed[mine], acceleration[mine] = _move(t[mine] - since, duration, here, there - here, law)
            since, here = since + duration, there
        value[t >= since] = here
        return value, speed, acceleration

    def __call__(self, t: Any, /) -> Jet:
        if isinstance(t, np.ndarray) and t.dtype.kind == "f":
            return self._at_samples(t)
        value = (self.begin + 0.0 * t, 0.0 * t, 0.0 * t)
        since, here = 0.0, self.begin
        for duration, there, law in self.pieces:
            move = _move(t - since, duration, here, there - here, law)
            value = tuple(where(real(t) >= since, a, b) for a, b in zip(move, value, strict=True))
            since, here = since + duration, there
        rest = (here + 0.0 * t, 0.0 * t, 0.0 * t)
        value = tuple(where(real(t) >= since, a, b) for a, b in zip(rest, value, strict=True))
        return value[0], value[1], value[2]


# ---------------------------------------------------------------- one rise from 0 to 1, constant before and after


@dataclass(frozen=True)
class MinimumJerkRise(Curve):
    """The polynomial of degree five between two rests; before and after, where all its derivatives used here vanish, it is constant."""

    at: float
    duration: float

    def __call__(self, x: Any, /) -> Jet:
        u = (x - self.at) / self.duration
        done = u.maximum(0.0).minimum(1.0) if hasattr(u, "maximum") else np.clip(u, 0.0, 1.0)
        s, ds, dds = RISES["345"](done)
        return s, ds / self.duration, dds / self.duration**2


def trapezoidal_rise(at: float, ramp: float, hold: float) -> Piecewise:
    """The speed rises, holds and falls in straight lines; it is a triangle where it holds for no time."""
    times = at + np.array([0.0, ramp, ramp + hold, 2.0 * ramp + hold])
    used = [0, 1, 2, 3] if times[2] > times[1] else [0, 1, 3]
    return polyline(times[used], np.array([0.0, 1.0, 1.0, 0.0])[used] / (ramp + hold)).integral()


def synchronised(strokes: Sequence[float], speeds: Sequence[float], accelerations: Sequence[float]) -> tuple[float, float]:
    """Ramp and hold of the quickest trapezoid (or triangle) in which no component exceeds its top speed and acceleration."""
    moving = [(abs(s), v, a) for s, v, a in zip(strokes, speeds, accelerations, strict=True) if s != 0.0]
    speed, acceleration = min(v / s for s, v, _ in moving), min(a / s for s, _, a in moving)
    ramp = speed / acceleration
    if speed * ramp >= 1.0:  # never at top speed: half the way up, half down
        return math.sqrt(1.0 / acceleration), 0.0
    return ramp, 1.0 / speed - ramp
