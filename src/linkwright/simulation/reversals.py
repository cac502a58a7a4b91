"""Motions that turn round, or come to rest, next to a singular position: the branch on which they continue is not known.

Branches meet in a singular position, and the velocity decides on which one a motion continues. If it arrives with vanishing velocity, the
motion bifurcates [Aghili2005 VIII-A]: it may stay on its branch, change over or turn round. A run whose velocity reverses a distance
d before or behind such a position has an answer only if d is larger than what the run knows of positions.

d is a way: radians, or multiples of the mechanism's size, as in docs/singularities.md. The smallest singular value s of J that counts
vanishes in proportion to it, so that d = s way / (s' - s) with s' at another position of the same step, a `way` off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from linkwright.numerics.linalg import factor
from linkwright.numerics.sparse import LARGE, SparseStack
from linkwright.simulation.passages import Quintic, Watch

NEAR = 1e-6  # way: a thousand times the default tolerance of a step, which is what the errors of some hundred steps amount to
STEPS_ERRORS = 1e3  # the same in tolerances, for runs with looser ones
SLOW = 1e-3  # of the largest speed of the run: a millionth of its kinetic energy, which vanishes in proportion to the way
WEAK = 0.05  # singular value from which on no singular position is within reach of a step's interpolation, as for accelerations
APART = 0.02  # way over which the change of the singular value is measured


class Reversal(NamedTuple):
    """A motion that turned round, or came to rest, next to a singular position."""

    time: float
    distance: float  # way, in rad or of the mechanism's size
    ended: bool  # it came to rest at the end of the run

    def __str__(self) -> str:
        what = "the motion comes to rest" if self.ended else "the motion turns round"
        return (
            f"t = {self.time:.6g} s: {what} {self.distance:.1e} (rad, or of the size) from a singular position, where branches meet; "
            "nearer than a run knows its positions, so the branch on which it continues is not known"
        )


class Suspect(NamedTuple):
    """Two neighboring steps between which a motion reverses, or the last two of a run that came to rest."""

    before: np.ndarray  # t, y
    after: np.ndarray
    ended: bool


def within(tolerance: float | None) -> float:
    """Way below which a run does not know its branch; without a tolerance (fixed steps) the least one."""
    return max(NEAR, STEPS_ERRORS * tolerance) if tolerance is not None else NEAR


def reversing(w: np.ndarray) -> np.ndarray:
    """Places i where a dimensionless velocity w reverses between rows i and i + 1."""
    return np.flatnonzero(np.einsum("ij,ij->i", w[1:], w[:-1]) < 0.0)


def suspects(
    rows: np.ndarray, w: np.ndarray, rates: Callable[[np.ndarray], np.ndarray], smallest: Callable[[np.ndarray], np.ndarray]
) -> list[Suspect]:
    """Reversals at positions where J is weak, by cubic interpolation. `rates`: dq/dt of rows by their places, `smallest`: the smallest
    singular value that counts, at positions."""
    i = reversing(w)
    if not len(i):
        return []
    h, v0, v1 = (rows[i + 1, 0] - rows[i, 0])[:, None], rates(i), rates(i + 1)
    n = v0.shape[1]
    here, there = np.einsum("ij,ij->i", w[i], w[i]), np.einsum("ij,ij->i", w[i], w[i + 1])
    x = (here / (here - there))[:, None]  # where the velocity along its first direction vanishes
    q0, q1, v0, v1 = rows[i, 1 : 1 + n], rows[i + 1, 1 : 1 + n], h * v0, h * v1
    q = q0 + x * (v0 + x * (3.0 * (q1 - q0) - 2.0 * v0 - v1 + x * (v0 + v1 - 2.0 * (q1 - q0))))
    return [Suspect(rows[k], rows[k + 1], False) for k, s in zip(i, smallest(q), strict=True) if s < WEAK]


def smallest_values(J: SparseStack, rank: int) -> np.ndarray:
    """The smallest singular value that counts, at every position."""
    if not rank or not len(J):
        return np.ones(len(J))
    if min(J.shape) < LARGE:
        return np.linalg.svd(J.dense, compute_uv=False)[:, rank - 1]
    found = [factor(J[i]) for i in range(len(J))]
    return np.array([f.smallest if f.by_pivots and f.rank >= rank else f.s[rank - 1] for f in found])


def judged(
    watch: Watch, rank: int, found: Suspect, way: Callable[[np.ndarray, np.ndarray], float], speed: float, near: float
) -> Reversal | None:
    """The reversal, if it is that near to a singular position and that slow; `way` between two positions, `speed` the run's largest."""
    curve = Quintic.of(watch, found.before, found.after)
    t = float(found.after[0]) if found.ended else _slowest(curve)
    e = 1e-4 * curve.h
    if way(curve.at(t - e), curve.at(t + e)) > 2.0 * e * SLOW * speed and not found.ended:
        return None  # it passes: only its direction changes much
    here = found.after[1 : 1 + watch.nq] if found.ended else watch.reach(found.before, t)
    here = curve.at(t) if here is None else here
    other = max((curve.at(x) for x in _apart(curve, t)), key=lambda q: way(q, here) if way(q, here) <= APART else -1.0)
    s = smallest_values(watch.jacobians(np.array([here, other])), rank)
    change = abs(float(s[1] - s[0]))
    distance = float(s[0]) * way(other, here) / change if change > 0.0 else np.inf
    return Reversal(t, distance, found.ended) if distance < near else None


def _slowest(curve: Quintic) -> float:
    """Time at which the coordinates of the step change slowest."""
    rate = curve.c[1:] * np.arange(1.0, 6.0)[:, None]

    def size(x: float) -> float:
        return float(np.sum((x ** np.arange(5.0) @ rate) ** 2))

    low, high, best = 0.0, 1.0, 0.5
    for _ in range(12):  # ever finer: each takes a tenth of the interval
        grid = np.linspace(low, high, 21)
        best = float(grid[int(np.argmin([size(x) for x in grid]))])
        reach = 0.05 * (high - low)
        low, high = max(0.0, best - reach), min(1.0, best + reach)
    return curve.t + best * curve.h


def _apart(curve: Quintic, t: float) -> Sequence[float]:
    """Times of the step on both sides of t, ever nearer to it."""
    ends = curve.t, curve.t + curve.h
    return [t + (end - t) * 0.5**k for k in range(12) for end in ends if end != t]
