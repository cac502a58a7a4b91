"""Time-optimal speed along a path by reachability analysis [Pham2018]: linear rows in u = s'' and x = s'^2 at grid points.

Backward: the interval of x at each grid point from which the end can be reached. Forward: the largest u that stays inside. Both passes
solve a linear program in two variables, by Newton's method on a concave function of x that is piecewise linear, which ends after finitely
many steps. The trapezoidal rule joins the grid points: u has a value behind a grid point and one before the next, and rows hold for each
where it counts. x in the middle of the interval is that of either half: m = x_i + ds u_i = x_i+1 - ds w_i. The rule is of second order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

FLAT = 1e-12  # of a row's size: a coefficient of u that small is zero
ROUND = 1e-9  # of 1 + x: intervals that are empty by less are points
SAME = 4.0 * np.finfo(float).eps
SIGNS = np.array([1.0, -1.0])
MOST = 200  # Newton steps; each one leaves a piece of the function


class LimitRows(NamedTuple):
    """Rows A u + B x <= C at all grid points, (n, m) each; `label` (m,) is the number of the limit that a row belongs to."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    label: np.ndarray

    def joined(self, other: LimitRows) -> LimitRows:
        """Both sets of rows."""
        both = [np.concatenate([x, y], axis=-1) for x, y in zip(self, other, strict=True)]
        return LimitRows(*both)

    def scaled(self) -> LimitRows:
        """The same rows, each with its largest coefficient or right side along the path as unit."""
        size = np.maximum(np.maximum(np.abs(self.A).max(axis=0), np.abs(self.B).max(axis=0)), np.abs(self.C).max(axis=0))
        size = np.where(size > 0.0, size, 1.0)
        return LimitRows(self.A / size, self.B / size, self.C / size, self.label)


class NoSpeed(Exception):
    """No speed satisfies the rows at a grid point; the row that is violated most at rest."""

    def __init__(self, i: int, label: int):
        super().__init__(i, label)
        self.i, self.label = i, label


@dataclass(frozen=True)
class SpeedProfile:
    """x = s'^2 at n + 1 grid points s, and s'' in both halves of the n intervals: u behind the first end, `late` before the last."""

    s: np.ndarray
    x: np.ndarray
    u: np.ndarray
    late: np.ndarray

    @classmethod
    def of_halves(cls, s: np.ndarray, y: np.ndarray) -> SpeedProfile:
        """The profile with x = y at grid points and in the middle of the intervals between them, in turn."""
        ds, step = np.diff(s), np.diff(y)
        return cls(s, y[::2], step[::2] / ds, step[1::2] / ds)

    @property
    def halves(self) -> np.ndarray:
        """x at grid points and in the middle of the intervals, in turn."""
        y = np.empty(2 * len(self.x) - 1)
        y[::2], y[1::2] = self.x, np.maximum(self.x[:-1] + np.diff(self.s) * self.u, 0.0)
        return y

    @property
    def half_steps(self) -> np.ndarray:
        """Duration of each half of an interval."""
        root = np.sqrt(self.halves)
        return np.repeat(np.diff(self.s), 2) / (root[:-1] + root[1:])

    @property
    def steps(self) -> np.ndarray:
        """Duration of each interval."""
        return self.half_steps.reshape(-1, 2).sum(axis=1)

    @property
    def time(self) -> float:
        return float(self.half_steps.sum())

    def slower(self, factor: float) -> SpeedProfile:
        """The same motion, slower by a factor."""
        return replace(self, x=self.x / factor**2, u=self.u / factor**2, late=self.late / factor**2)


def fastest_profile(rows: LimitRows, s: np.ndarray, most: float) -> SpeedProfile:
    """The time-optimal profile from rest to rest; `most` bounds x where no row does. Raise NoSpeed where a point has no speed at all."""
    r, n, ds = rows.scaled(), len(s) - 1, np.diff(s)
    low, high, middle = np.zeros(n + 1), np.zeros(n + 1), np.zeros((n, 2))
    for i in range(n - 1, -1, -1):
        h = np.array([ds[i], -ds[i]])
        # m from which the next point is reached: x = m + ds w there
        A = np.concatenate([r.A[i + 1] + ds[i] * r.B[i + 1], h])
        B = np.concatenate([r.B[i + 1], SIGNS])
        found = interval(A, B, np.concatenate([r.C[i + 1], [high[i + 1], -low[i + 1]]]), most, 2.0 * high[i + 1])
        if found is not None:
            middle[i] = found
            A, B = np.concatenate([r.A[i], h]), np.concatenate([r.B[i], SIGNS])
            found = interval(A, B, np.concatenate([r.C[i], [found[1], -found[0]]]), most, 2.0 * found[1])
        if found is None:
            raise NoSpeed(i, int(r.label[np.argmin(r.C[i])]))
        low[i], high[i] = found
    if low[0] > ROUND * (1.0 + high[0]):
        raise NoSpeed(0, int(r.label[np.argmin(r.C[0])]))
    return _forward(r, s, (low, high, middle), most)


def _forward(r: LimitRows, s: np.ndarray, reachable: tuple[np.ndarray, np.ndarray, np.ndarray], most: float) -> SpeedProfile:
    """The largest x at each grid point, one after the other, by the trapezoidal rule; s'' as even as it may be in each interval."""
    low, high, middle = reachable
    n, ds = len(s) - 1, np.diff(s)
    x, u, late = np.zeros(n + 1), np.zeros(n), np.zeros(n)
    for i in range(n):
        first = _range(r.A[i], r.C[i] - r.B[i] * x[i], ((middle[i] - x[i]) / ds[i]))
        m = x[i] + ds[i] * first
        A = np.concatenate([r.A[i + 1], [-ds[i], ds[i]]])
        B, C = np.concatenate([r.B[i + 1], SIGNS]), np.concatenate([r.C[i + 1], [m[1], -m[0]]])
        found = interval(A, B, C, high[i + 1], high[i + 1])
        x[i + 1] = min(max(found[1] if found is not None else high[i + 1], low[i + 1]), high[i + 1])
        last = _range(r.A[i + 1], r.C[i + 1] - r.B[i + 1] * x[i + 1], np.array([-np.inf, np.inf]))
        total = (x[i + 1] - x[i]) / ds[i]
        least, largest = max(first[0], total - last[1]), min(first[1], total - last[0])
        u[i] = min(max(0.5 * total, least), largest)
        late[i] = total - u[i]
    return SpeedProfile(s, x, u, late)


def _range(A: np.ndarray, rest: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Least and largest u with A u <= rest in a given range."""
    up, down = A > FLAT, A < -FLAT
    return np.array([max(given[0], *(rest[down] / A[down])), min(given[1], *(rest[up] / A[up]))])


def interval(A: np.ndarray, B: np.ndarray, C: np.ndarray, most: float, guess: float) -> tuple[float, float] | None:
    """The interval of x in 0 .. most for which some u satisfies A u + B x <= C; None if it is empty. `guess` is above its end, probably."""
    flat = np.abs(A) <= FLAT
    down, cap = 0.0, most
    if flat.any():
        b, c = B[flat], C[flat]
        if (c[b == 0.0] < -ROUND).any():
            return None
        cap = min([cap, *(c[b > 0.0] / b[b > 0.0])])
        down = max([down, *(c[b < 0.0] / b[b < 0.0])])
    up, lo = A > FLAT, A < -FLAT
    top = (C[up] / A[up], -B[up] / A[up])  # u below c0 + c1 x
    bottom = (C[lo] / A[lo], -B[lo] / A[lo])  # u above it
    if not up.any() or not lo.any():
        return (down, cap) if down <= cap else None
    near = 0.0 < guess < cap and _gap(top, bottom, guess) < 0.0
    high = _root(top, bottom, guess if near else cap, -1.0)
    low = _root(top, bottom, down, 1.0)
    if high is None and near:
        high = _root(top, bottom, cap, -1.0)
    if high is None or low is None or low > high + ROUND * (1.0 + high):
        return None
    return min(low, high), high


def _gap(top: tuple[np.ndarray, np.ndarray], bottom: tuple[np.ndarray, np.ndarray], x: float) -> float:
    return float((top[0] + top[1] * x).min() - (bottom[0] + bottom[1] * x).max())


def _root(top: tuple[np.ndarray, np.ndarray], bottom: tuple[np.ndarray, np.ndarray], x: float, sign: float) -> float | None:
    """The first x from here in the direction of `sign` at which min(top) - max(bottom), concave in x, is not negative."""
    last: tuple[int, int] | None = None
    for _ in range(MOST):
        over, under = top[0] + top[1] * x, bottom[0] + bottom[1] * x
        i, j = int(over.argmin()), int(under.argmax())
        gap, slope = float(over[i] - under[j]), float(top[1][i] - bottom[1][j])
        if gap >= -ROUND * ROUND * (abs(float(over[i])) + abs(float(under[j]))):
            return max(x, 0.0)
        if slope * sign <= 0.0:
            return None
        before, x = x, float(top[0][i] - bottom[0][j]) / -slope
        if x < -ROUND:
            return None
        if (i, j) == last or abs(x - before) <= SAME * abs(x):  # the same piece again: what is left of the gap is round-off
            break
        last = (i, j)
    return max(x, 0.0)
