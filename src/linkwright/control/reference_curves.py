"""What references become when they are bound to coordinates: functions of t with exact first and second derivatives.

A part answers for some components at once: part(t) gives their values, rates and accelerations as three lists, for t a number,
an array of times or a traced value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from linkwright.compiler.graph import Sym
from linkwright.compiler.program import interpret
from linkwright.drives.rates import Differences, Traced, differentiated
from linkwright.drives.signals import MOST_TRACED, Function, Law
from linkwright.errors import LinkwrightError, UsageError
from linkwright.model.curves import Piecewise, Repeated, lines
from linkwright.model.laws import RISES
from linkwright.model.laws import Law as Rise  # from 0 to 1 in some time

Jet = tuple[list[Any], list[Any], list[Any]]


class Part(Protocol):
    """Some components of a reference."""

    @property
    def traceable(self) -> bool: ...
    def __call__(self, t: Any) -> Jet: ...


@dataclass(frozen=True)
class Held:
    values: tuple[float, ...]
    traceable = True

    def __call__(self, t: Any) -> Jet:
        zero = [0.0] * len(self.values)
        return list(self.values), zero, list(zero)


@dataclass(frozen=True, eq=False)
class Move:
    """All components go straight from one place to another: one rise for all of them."""

    start: Sequence[float]
    to: Sequence[float]
    rise: Rise
    traceable = True

    def __call__(self, t: Any) -> Jet:
        s, ds, dds = self.rise(t)
        strokes = [b - a for a, b in zip(self.start, self.to, strict=True)]
        return [a + d * s for a, d in zip(self.start, strokes, strict=True)], [d * ds for d in strokes], [d * dds for d in strokes]


@dataclass(frozen=True)
class MinimumJerkRise:
    """The polynomial of degree five between two rests; before and after, where all its derivatives used here vanish, it is constant."""

    at: float
    duration: float

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        x = (t - self.at) / self.duration
        done = x.maximum(0.0).minimum(1.0) if type(x) is Sym else np.clip(x, 0.0, 1.0)
        s, ds, dds = RISES["345"](done)
        return s, ds / self.duration, dds / self.duration**2


def trapezoidal_rise(at: float, ramp: float, hold: float) -> Rise:
    """The speed rises, holds and falls in straight lines; it is a triangle where it holds for no time."""
    times = at + np.array([0.0, ramp, ramp + hold, 2.0 * ramp + hold])
    kept = [0, 1, 2, 3] if times[2] > times[1] else [0, 1, 3]
    return lines(times[kept], np.array([0.0, 1.0, 1.0, 0.0])[kept] / (ramp + hold)).integral().jet


@dataclass(frozen=True, eq=False)
class Curves:
    """One curve through points for each component."""

    curves: Sequence[Piecewise | Repeated]

    @property
    def traceable(self) -> bool:
        return all(len(c.breaks) <= MOST_TRACED for c in self.curves)

    def __call__(self, t: Any) -> Jet:
        f, df, ddf = zip(*(c.jet(t) for c in self.curves), strict=True)
        return list(f), list(df), list(ddf)


@dataclass(frozen=True)
class Waves:
    """centre + amplitude sin(w t + phase), each component with its own numbers."""

    terms: tuple[tuple[float, float, float, float], ...]  # centre, amplitude, w, phase
    traceable = True

    def __call__(self, t: Any) -> Jet:
        f, df, ddf = [], [], []
        for centre, amplitude, w, phase in self.terms:
            x = w * t + phase
            f.append(centre + amplitude * np.sin(x))
            df.append(amplitude * w * np.cos(x))
            ddf.append(-amplitude * w * w * np.sin(x))
        return f, df, ddf


@dataclass(frozen=True, eq=False)
class Formulas:
    """Functions of t, traced: one program per component gives value and derivatives."""

    laws: Sequence[Traced]
    what: str
    traceable = True

    def __call__(self, t: Any) -> Jet:
        f, df, ddf = zip(*(self._jet(law, t) for law in self.laws), strict=True)
        return list(f), list(df), list(ddf)

    def _jet(self, law: Traced, t: Any) -> Sequence[Any]:
        if type(t) is Sym:
            return law(t)
        return _finite(interpret(law.program, np.asarray(t, dtype=float)[..., None]), t, self.what)


@dataclass(frozen=True, eq=False)
class Sampled:
    """A function that cannot be traced: called five times, its derivatives are differences."""

    law: Differences
    what: str
    traceable = False

    @property
    def note(self) -> str:
        return f"{self.what}: its function cannot be traced and is differentiated numerically, by fourth-order differences over 4 ms"

    def __call__(self, t: Any) -> Jet:
        if isinstance(t, np.ndarray):
            found = np.array([self._at(float(x)) for x in t.ravel()]).reshape(*t.shape, 3, -1)
        else:
            found = self._at(float(t))
        f, df, ddf = np.moveaxis(found, (-2, -1), (0, 1))
        return list(f), list(df), list(ddf)

    def _at(self, t: float) -> np.ndarray:
        return np.array(_finite(np.stack(self.law(t), axis=-1), t, self.what))


def _finite(found: np.ndarray, t: Any, what: str) -> list[np.ndarray]:
    """f, f', f'' apart, once they are known to be numbers; the last axis is theirs."""
    for k, name in enumerate(("value", "rate", "acceleration")):
        bad = ~np.isfinite(found[..., k])
        if np.any(bad):
            when = np.broadcast_to(t, bad.shape)[bad].flat[0]
            value = found[..., k][bad].flat[0]
            raise UsageError(f"{what}: the {name} is {value} at t = {float(when):.6g} s; it must be finite. Change the function there.")
    return list(np.moveaxis(found, -1, 0))


def followed(signal: Function | Law, size: int, t0: float, what: str) -> Formulas | Sampled:
    """A function that gives `size` numbers (Function), or one formula of t: with exact derivatives if it can be traced."""
    entries = entries_of(signal, t0, what)
    part = traced(entries, size, t0, what) or Sampled(Differences(lambda t: np.array(entries(t), dtype=float), 2, t0), what)
    part(t0)  # finite derivatives, at least where it begins
    return part


def entries_of(signal: Function | Law, t0: float, what: str) -> Callable[[Any], list[Any]]:
    """Its values as a list, once it is known to work at t0."""

    def entries(t: Any) -> list[Any]:
        value = signal.over_time(t)
        return value if isinstance(value, list) else [value]

    try:
        entries(t0)  # says what is wrong with it, where tracing would just give up
    except LinkwrightError as error:
        raise UsageError(str(error) if what in str(error) else f"{what}: {error}") from error
    except Exception as error:  # code of the caller's, which may fail in any way it likes
        raise UsageError(f"the {what}: its function fails at t = {t0:.6g} s: {type(error).__name__}: {error}.") from error
    return entries


def traced(entries: Callable[[Any], list[Any]], size: int, t0: float, what: str) -> Formulas | None:
    """With exact derivatives; None where it cannot be traced."""

    def entry(i: int) -> Any:
        return lambda t: entries(t)[i]

    laws: list[Traced] = []
    for i in range(size):
        law = differentiated(entry(i), 2, t0)
        if not isinstance(law, Traced):
            return None
        laws.append(law)
    return Formulas(laws, what)


def synchronised(strokes: Sequence[float], speeds: Sequence[float], accelerations: Sequence[float]) -> tuple[float, float]:
    """Ramp and hold of the quickest trapezoid (or triangle) in which no component exceeds its top speed and acceleration."""
    moving = [(abs(s), v, a) for s, v, a in zip(strokes, speeds, accelerations, strict=True) if s != 0.0]
    speed, acceleration = min(v / s for s, v, _ in moving), min(a / s for s, _, a in moving)
    ramp = speed / acceleration
    if speed * ramp >= 1.0:  # never at top speed: half the way up, half down
        return math.sqrt(1.0 / acceleration), 0.0
    return ramp, 1.0 / speed - ramp
