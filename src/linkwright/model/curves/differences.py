"""Functions that can only be called, differentiated numerically."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from linkwright.model.curves import Curve, Jet

SPACING = 1e-3  # s: between truncation h^4 and round-off eps/h^2 of second differences
NODES = 9  # of a local polynomial; the seven nearest of them give its error
RUNGS = 7  # spacings that are tried, each a quarter of the one before: the last one is 3e-5 of the duration
LARGEST_TRUSTED_ERROR = 1e-6  # relative error of f'' that needs no look to either side
FINEST_ERROR = 1e-9  # and one that needs no smaller spacing


def derivative_weights(nodes: np.ndarray, at: float) -> np.ndarray:
    """(2, nodes): first and second derivative at a place of the polynomial through values at the nodes."""
    powers = np.linalg.inv(np.vander(nodes, increasing=True))  # rows: coefficients of 1, x, x^2 ...
    k = np.arange(1.0, len(nodes))
    return np.array([(k * at ** (k - 1)) @ powers[1:], (k[1:] * k[:-1] * at ** (k[1:] - 2.0)) @ powers[2:]])


@dataclass(frozen=True, eq=False)
class Differences(Curve):
    """f by itself, f' and f'' by five points, none of them before `begin`, where the function may not be defined.

    Five calls of the function at any time: cheap enough for the stages of a run.
    """

    f: Callable[[float], Any]
    what: str
    begin: float = -np.inf
    size: int = 0
    traceable = False

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"{self.what}: its function cannot be traced and is differentiated numerically, by fourth-order differences over 4 ms",)

    def __call__(self, x: Any, /) -> Jet:
        found = np.array([self._at(float(t)) for t in np.ravel(x)])
        f, df, ddf = np.moveaxis(found.reshape(*np.shape(x), 3, *found.shape[2:]), np.ndim(x), 0)
        if not self.size:
            return f, df, ddf
        return list(np.moveaxis(f, -1, 0)), list(np.moveaxis(df, -1, 0)), list(np.moveaxis(ddf, -1, 0))

    def _at(self, t: float) -> np.ndarray:
        """(3,) or (3, size)"""
        h = SPACING
        middle = max(t, self.begin + 2.0 * h)
        values = np.array([self.f(middle + k * h) for k in (-2, -1, 0, 1, 2)], dtype=float)
        here = values[2] if middle == t else np.array(self.f(t), dtype=float)
        first, second = _five_point_weights((t - middle) / h) @ values
        return np.stack([here, first / h, second / (h * h)])


def _five_point_weights(at: float) -> np.ndarray:
    if at == 0.0:
        return np.array([[1.0, -8.0, 0.0, 8.0, -1.0], [-1.0, 16.0, -30.0, 16.0, -1.0]]) / 12.0
    return derivative_weights(np.arange(-2.0, 3.0), at)


class _Local(NamedTuple):
    """f, f', f'' and the error of f'' at one time."""

    f: np.ndarray
    df: np.ndarray
    ddf: np.ndarray
    error: np.ndarray


@dataclass(frozen=True, eq=False)
class AdaptiveDifferences(Curve):
    """At each time the polynomial through nine points near it, never outside an interval: as exact as a function allows.

    Their spacing is the one at which seven and nine of them agree best. Where they do not, the points lie on one side only: next
    to a jump or corner the derivatives are those of the side that the value belongs to.
    """

    f: Callable[[float], np.ndarray]
    low: float
    high: float
    size: int = 1
    known: dict[float, _Local] = field(default_factory=dict)
    traceable = False

    def __call__(self, x: Any, /) -> Jet:
        rows = [self._at(float(t)) for t in np.ravel(x)]
        f, df, ddf = (list(np.array([row[k] for row in rows]).T.reshape(-1, *np.shape(x))) for k in range(3))
        return f, df, ddf

    def doubt(self, x: np.ndarray, /) -> Any:
        return list(np.array([self._at(float(t)).error for t in x]).T)

    def _at(self, t: float) -> _Local:
        if t not in self.known:
            here = self.f(t)
            found = self._best(t, here, NODES // 2)
            for before in (0, NODES - 1):
                if self._open(found, LARGEST_TRUSTED_ERROR):
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
            points = np.array([here if i == n else self.f(min(max(t + (i - n) * h, self.low), self.high)) for i in range(NODES)])
            all_, few = _nine_point_weights(n)
            (df, ddf), (df7, ddf7) = (w @ points / np.array([[h], [h * h]]) for w in (all_, few))
            error = np.abs(ddf - ddf7) + np.abs(df - df7) / h
            best = _better(best, _Local(here, df, ddf, error))
            if not self._open(best, FINEST_ERROR):
                break
        return best

    def _open(self, x: _Local, share: float) -> bool:
        """True if errors are larger than a share of what they are errors of."""
        return bool((x.error > share * (np.abs(x.ddf) + np.abs(x.df) / (self.high - self.low))).any())


def _better(a: _Local, b: _Local) -> _Local:
    take = b.error < a.error
    return _Local(a.f, np.where(take, b.df, a.df), np.where(take, b.ddf, a.ddf), np.where(take, b.error, a.error))


@lru_cache(maxsize=NODES)
def _nine_point_weights(before: int) -> tuple[np.ndarray, np.ndarray]:
    """(2, 9) twice: the derivatives at point `before` of nine in unit distance, by all and by the seven nearest."""
    x = np.arange(NODES) - float(before)
    out = []
    for count in (NODES, NODES - 2):
        near = np.sort(np.argsort(np.abs(x), kind="stable")[:count])
        rows = np.zeros((2, NODES))
        rows[:, near] = derivative_weights(x[near], 0.0)
        out.append(rows)
    return out[0], out[1]
