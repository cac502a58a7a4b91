"""Curves over time with two derivatives, whatever they were given as: traced, differenced near each time, or splined.

A curve is called with times (n,) and gives f, f' and f'' as arrays (n, entries). How well f'' is known does not depend on how
many times are asked for, except where samples are all there is; `doubt` is an estimate of its error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np

from linkwright.control.reference_curves import Formulas, Part
from linkwright.errors import LinkwrightError, UsageError

NODES = 9  # of a local polynomial; the seven nearest of them tell its error
RUNGS = 7  # spacings that are tried, each a quarter of the one before: the last one is 3e-5 of the duration
SURE = 1e-6  # relative error of f'' that needs no look to either side
ENOUGH = 1e-9  # and one that needs no smaller spacing


class Jets(NamedTuple):
    """Values, rates and second rates at some times: (n, entries) each."""

    f: np.ndarray
    df: np.ndarray
    ddf: np.ndarray


class Curve(Protocol):
    """A path of some entries."""

    @property
    def smooth(self) -> bool: ...  # by what it is: nothing to look for between the samples
    def __call__(self, t: np.ndarray) -> Jets: ...
    def doubt(self, t: np.ndarray) -> np.ndarray: ...  # of f'', (n, entries)


@dataclass(frozen=True, eq=False)
class Exact:
    """References and traced functions: parts of entries, with exact derivatives."""

    parts: tuple[Part, ...]
    smooth = False

    def __call__(self, t: np.ndarray) -> Jets:
        found = [part(t) for part in self.parts]
        return Jets(*(np.stack([x + np.zeros(t.shape) for jet in found for x in jet[k]], axis=1) for k in range(3)))

    def doubt(self, t: np.ndarray) -> np.ndarray:
        return np.zeros((len(t), len(self(t[:1]).f[0])))


@dataclass(frozen=True, eq=False)
class Beside:
    """One curve for each entry."""

    curves: tuple[Curve, ...]
    smooth = False

    def __call__(self, t: np.ndarray) -> Jets:
        found = [curve(t) for curve in self.curves]
        return Jets(*(np.concatenate([x[k] for x in found], axis=1) for k in range(3)))

    def doubt(self, t: np.ndarray) -> np.ndarray:
        return np.concatenate([curve.doubt(t) for curve in self.curves], axis=1)


@dataclass(frozen=True, eq=False)
class Told:
    """A function that gives (f, f', f'') itself."""

    call: Callable[[float], np.ndarray]
    smooth = False

    def __call__(self, t: np.ndarray) -> Jets:
        rows = np.array([self.call(float(x)) for x in t]).reshape(len(t), 3, 1)
        return Jets(rows[:, 0], rows[:, 1], rows[:, 2])

    def doubt(self, t: np.ndarray) -> np.ndarray:
        return np.zeros((len(t), 1))


@dataclass(frozen=True, eq=False)
class Splined:
    """Samples: the spline of fifth degree through them."""

    t: np.ndarray
    values: np.ndarray
    smooth = True

    def __call__(self, t: np.ndarray) -> Jets:
        return _spline(self.t, self.values, t)

    def doubt(self, t: np.ndarray) -> np.ndarray:
        """From the spline through every second sample, whose error is 16 times as large where samples are dense; 8 to be careful."""
        coarse = _spline(self.t[::2], self.values[::2], t).ddf
        return np.abs(self(t).ddf - coarse) / 8.0


def _spline(at: np.ndarray, values: np.ndarray, t: np.ndarray) -> Jets:
    spline = import_module("scipy.interpolate").make_interp_spline(at, values, k=min(5, len(at) - 1))
    return Jets(spline(t), spline.derivative(1)(t), spline.derivative(2)(t))


class _Local(NamedTuple):
    """f, f', f'' and the error of f'' at one time."""

    f: np.ndarray
    df: np.ndarray
    ddf: np.ndarray
    error: np.ndarray


@dataclass(frozen=True, eq=False)
class Differenced:
    """A function that cannot be traced: at each time the polynomial through nine points near it, never outside the motion.

    Their spacing is the one at which seven and nine of them agree best. Where they do not, the points lie on one side only: next
    to a jump or corner the derivatives are those of the side that the value belongs to.
    """

    call: Callable[[float], np.ndarray]
    low: float
    high: float
    known: dict[float, _Local] = field(default_factory=dict)
    smooth = False

    def __call__(self, t: np.ndarray) -> Jets:
        rows = [self._at(float(x)) for x in t]
        return Jets(*(np.array([row[k] for row in rows]) for k in range(3)))

    def doubt(self, t: np.ndarray) -> np.ndarray:
        return np.array([self._at(float(x)).error for x in t])

    def _at(self, t: float) -> _Local:
        if t not in self.known:
            here = self.call(t)
            found = self._best(t, here, NODES // 2)
            for before in (0, NODES - 1):
                if self._open(found, SURE):
                    found = _better(found, self._best(t, here, before))
            self.known[t] = found
        return self.known[t]

    def _best(self, t: float, here: np.ndarray, before: int) -> _Local:
        """Over the spacings; `before` of the points lie before t if there is room."""
        best = _Local(here, np.zeros(here.shape), np.zeros(here.shape), np.full(here.shape, np.inf))
        for k in range(RUNGS):
            h = (self.high - self.low) / NODES / 4.0**k  # nine spaces: eight of them fit beside any t
            back, on = (int((room + 1e-9 * h) / h) for room in (t - self.low, self.high - t))
            n = min(max(before, NODES - 1 - on), back)
            points = np.array([here if i == n else self.call(min(max(t + (i - n) * h, self.low), self.high)) for i in range(NODES)])
            all_, few = _weights(n)
            (df, ddf), (df7, ddf7) = (w @ points / np.array([[h], [h * h]]) for w in (all_, few))
            error = np.abs(ddf - ddf7) + np.abs(df - df7) / h
            best = _better(best, _Local(here, df, ddf, error))
            if not self._open(best, ENOUGH):
                break
        return best

    def _open(self, x: _Local, share: float) -> bool:
        """Whether errors are larger than a share of what they are errors of."""
        return bool((x.error > share * (np.abs(x.ddf) + np.abs(x.df) / (self.high - self.low))).any())


def _better(a: _Local, b: _Local) -> _Local:
    take = b.error < a.error
    return _Local(a.f, np.where(take, b.df, a.df), np.where(take, b.ddf, a.ddf), np.where(take, b.error, a.error))


@lru_cache(maxsize=NODES)
def _weights(before: int) -> tuple[np.ndarray, np.ndarray]:
    """(2, 9) twice: first and second derivative at point `before` of nine in unit distance, by all and by the seven nearest."""
    x = np.arange(NODES) - float(before)
    out = []
    for count in (NODES, NODES - 2):
        near = np.sort(np.argsort(np.abs(x), kind="stable")[:count])
        rows = np.zeros((2, NODES))
        rows[:, near] = np.linalg.inv(np.vander(x[near], increasing=True))[1:3] * np.array([[1.0], [2.0]])
        out.append(rows)
    return out[0], out[1]


def of_function(entries: Callable[[Any], list[Any]], traced: Formulas | None, low: float, high: float, what: str) -> Curve:
    """Exact where it was traced, else by differences."""
    if traced is not None:
        return Exact((traced,))

    def call(t: float) -> np.ndarray:
        return np.array(guarded(lambda: entries(t), t, what), dtype=float)

    return Differenced(call, low, high)


def guarded(call: Callable[[], Any], t: float, what: str) -> Any:
    """The answer of a caller's function; an error in it is reported with the time."""
    try:
        return call()
    except LinkwrightError:
        raise
    except Exception as error:  # code of the caller's, which may fail in any way it likes
        raise UsageError(f"the {what}: its function fails at t = {t:.6g} s: {type(error).__name__}: {error}.") from error


# ---------------------------------------------------------------- what should be told about a curve

DOUBTFUL = 1e-3  # share of the largest acceleration above which its error is told
JUMP, CORNER = 1e-4, 1e-3  # share of the range of values, and of the largest speed, that does not go away when looked at closely
HALVINGS = 16
MOST = 24  # places that are looked at closely
FEW = 4  # of them told


class Sizes(NamedTuple):
    """Typical sizes along a curve, for each of its entries: range, largest speed, largest acceleration of its kind."""

    f: np.ndarray
    df: np.ndarray
    ddf: np.ndarray


def sizes(x: Jets, kinds: tuple[str, ...], span: float) -> Sizes:
    same = np.array([[a == b for b in kinds] for a in kinds])

    def largest(values: np.ndarray) -> np.ndarray:
        return np.where(same, values.max(axis=0), 0.0).max(axis=1)

    f = np.maximum(largest(x.f - x.f.min(axis=0)), 1e-6 * largest(np.abs(x.f)) + 1e-300)
    df = np.maximum(largest(np.abs(x.df)), f / span)
    return Sizes(f, df, np.maximum(largest(np.abs(x.ddf)), df / span))


def doubts(curve: Curve, t: np.ndarray, size: Sizes, what: str) -> list[str]:
    """A note where accelerations are not well known."""
    share = (curve.doubt(t) / size.ddf).max(axis=1)
    worst = int(np.argmax(share))
    if not share[worst] > DOUBTFUL:
        return []
    about = f"{100.0 * share[worst]:.2g} %" if share[worst] < 1.0 else "all of their size"
    if curve.smooth:
        why = "they are taken from a spline through the samples. Give more samples, or a function of t"
    else:
        why = (
            "its function cannot be traced and is not smooth enough for differences. Write it with numpy's functions (np.sin), without `if`"
        )
    return [f"accelerations of the {what} are known to about {about} at t = {t[worst]:.6g} s: {why}"]


def breaks(curve: Curve, t: np.ndarray, x: Jets, size: Sizes, kinds: tuple[str, ...], what: str) -> list[str]:
    """Notes on jumps and corners between or at the samples.

    What f' says about the way from one time to the next, and f'' about the change of f', is held against f and f'. The rest
    vanishes with the distance where a curve is smooth; where it stays while an interval is halved again and again, there is a break.
    """
    if curve.smooth:
        return []
    a, b = (t[:-1], Jets(*(y[:-1] for y in x))), (t[1:], Jets(*(y[1:] for y in x)))
    bad, jump, corner = _unexplained(a, b, size)
    for _ in range(HALVINGS):
        keep = np.flatnonzero(bad)[:MOST]
        if not len(keep):
            return []
        a, b = _take(a, keep), _take(b, keep)
        middle = 0.5 * (a[0] + b[0])
        m = (middle, curve(middle))
        a, b = _joined(a, m), _joined(m, b)
        bad, jump, corner = _unexplained(a, b, size)
    return _break_notes(0.5 * (a[0] + b[0])[bad], jump[bad], corner[bad], size, kinds, what, (t[-1] - t[0]) / len(t))


Ends = tuple[np.ndarray, Jets]


def _unexplained(a: Ends, b: Ends, size: Sizes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether an interval hides something; what of f, and of f', its ends do not explain (Hermite's quadrature, the trapezoid)."""
    (ta, x), (tb, y) = a, b
    h = (tb - ta)[:, None]
    jump = y.f - x.f - 0.5 * h * (x.df + y.df) - h * h / 12.0 * (x.ddf - y.ddf)
    corner = y.df - x.df - 0.5 * h * (x.ddf + y.ddf)
    found = np.concatenate([np.abs(jump) > JUMP * size.f, np.abs(corner) > CORNER * size.df], axis=1)
    return np.any(found, axis=1), jump, corner


def _take(a: Ends, rows: np.ndarray) -> Ends:
    return a[0][rows], Jets(*(y[rows] for y in a[1]))


def _joined(a: Ends, b: Ends) -> Ends:
    return np.concatenate([a[0], b[0]]), Jets(*(np.concatenate([x, y]) for x, y in zip(a[1], b[1], strict=True)))


def _break_notes(
    t: np.ndarray, jump: np.ndarray, corner: np.ndarray, size: Sizes, kinds: tuple[str, ...], what: str, step: float
) -> list[str]:
    order = np.argsort(t)
    apart = [i for k, i in enumerate(order) if k == 0 or t[i] - t[order[k - 1]] > 1e-3 * step]
    told = []
    for i in apart[:FEW]:
        which = int(np.argmax(np.abs(jump[i]) / size.f))
        unit = "rad" if kinds[which] == "angle" else "m" if kinds[which] == "length" else ""
        if abs(jump[i][which]) > JUMP * size.f[which]:
            told.append(f"the {what} jumps at t = {t[i]:.5g} s by {abs(jump[i][which]):.3g} {unit}".rstrip())
        else:
            which = int(np.argmax(np.abs(corner[i]) / size.df))
            told.append(f"the {what} has a corner at t = {t[i]:.5g} s: its speed jumps by {abs(corner[i][which]):.3g} {unit}/s".rstrip())
    if not told:
        return []
    more = f" (and {len(apart) - FEW} more)" if len(apart) > FEW else ""
    return [f"{'; '.join(told)}{more}. No finite effort does that: accelerations and efforts are those on either side of it"]
