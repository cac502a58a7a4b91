"""Limits of joints as conditions on the coordinates of a start: how far each is beyond, and the sentence about those that stay so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.system.system import System

MARGIN = 0.02  # of a range: a start that is moved into it ends this far from the limit
BEYOND = 1e-9  # rad and m: less is round-off


@dataclass(frozen=True)
class CoordinateLimits:
    """Limits of joints with one coordinate: names, places in q and v, lowest and highest values (infinite without one)."""

    names: tuple[str, ...]
    q: np.ndarray
    v: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def _inner(self) -> tuple[np.ndarray, np.ndarray]:
        width = self.high - self.low
        margin = np.where(np.isfinite(width), MARGIN * width, MARGIN)
        return self.low + margin, self.high - margin

    def excess(self, q: np.ndarray) -> np.ndarray:
        """Return how far every coordinate is outside of its limits less a margin, rad and m; zero inside."""
        low, high = self._inner
        x = q[self.q]
        return np.maximum(x - high, 0.0) - np.maximum(low - x, 0.0)

    def slopes(self, q: np.ndarray, nv: int) -> np.ndarray:
        """Return the derivatives of `excess` by the speeds."""
        out = np.zeros((len(self.names), nv))
        out[np.arange(len(self.names)), self.v] = self.excess(q) != 0.0
        return out

    def beyond(self, q: np.ndarray) -> list[int]:
        """Return the numbers of the limits that a coordinate is beyond."""
        x = q[self.q]
        return [int(k) for k in np.flatnonzero((x > self.high + BEYOND) | (x < self.low - BEYOND))]

    def sentences(self, q: np.ndarray, *, searched: bool) -> tuple[str, ...]:
        """Return one sentence about all joints that are beyond their limits, empty without them; `searched`: for a position within."""
        wrong = []
        for k in self.beyond(q):
            x = float(q[self.q[k]])
            wrong.append(f"'{self.names[k]}' at {x:.4g} (limit {self.high[k] if x > self.high[k] else self.low[k]:.4g})")
        text = "with the loops closed the start is beyond limits of joints"
        text += ", and no closed position near it is within all of them" if searched else ""
        return (f"{text}: {', '.join(wrong)}",) if wrong else ()


def limits_of(system: System) -> CoordinateLimits:
    """Return the rigid stops of joints of the tree."""
    q, v = system.names.q, system.names.v
    stops = [s for s in system.description.stops if s.stiffness is None and s.joint in q and s.joint in v]
    return CoordinateLimits(
        tuple(s.joint for s in stops),
        np.array([q.index(s.joint) for s in stops], dtype=int),
        np.array([v.index(s.joint) for s in stops], dtype=int),
        np.array([-np.inf if s.lower is None else float(s.lower) for s in stops]),
        np.array([np.inf if s.upper is None else float(s.upper) for s in stops]),
    )
