"""Sparse nonlinear programs: a primal-dual interior-point method with a filter line search [Waechter2006].

    minimize f(x)    with  c(x) = 0,  lower <= x <= upper

The matrix of a step is factored by sparse LU, which gives no inertia. So the curvature is judged along the step [Chiang2016]: if it is not
positive there, the Hessian is shifted and the step computed again. A step that the filter refuses is corrected once for the curvature of
the constraints. If no share of it is accepted, the violation is reduced alone before the search continues.

A general solver (IPOPT in casadi or cyipopt) would do the same: on a five-bar with 60 intervals both need some 25 steps, and most of the
time goes into the factorization, which has a few hundred nonzeros per interval. Its libraries are optional, so this one is here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

Array = np.ndarray
MOST_SHIFT = 1e12
SHORTEST = 1e-9  # share of a step
FEWER_DIGITS = 1e3  # times the tolerance: a search that stops there has found the solution, to fewer digits


class Program(Protocol):
    """What a nonlinear program gives; a point where it has no value is None."""

    lower: Array
    upper: Array

    def value(self, x: Array) -> tuple[float, Array] | None: ...
    def slopes(self, x: Array) -> tuple[Array, Any]: ...  # gradient, sparse Jacobian; at the x of the last value
    def curvature(self, x: Array, y: Array) -> Any: ...  # sparse Hessian of f + y c


class Residuals(NamedTuple):
    """How well the conditions of optimality hold, scaled: gradient of the Lagrangian, constraints, complementarity."""

    stationarity: float
    feasibility: float
    complementarity: float

    @property
    def worst(self) -> float:
        return max(self)


@dataclass
class Solution:
    """The end of a search."""

    x: Array
    y: Array  # multipliers of c
    residuals: Residuals
    iterations: int
    reason: str  # "" if converged

    @property
    def converged(self) -> bool:
        return not self.reason


@dataclass
class _Point:
    x: Array
    y: Array
    zl: Array
    zu: Array
    f: float = 0.0
    c: Array = field(default_factory=lambda: np.zeros(0))
    g: Array = field(default_factory=lambda: np.zeros(0))
    J: Any = None


class InteriorPoint:
    """One search; see the text above."""

    def __init__(self, program: Program, *, tolerance: float, most: int, progress: Callable[[int, Residuals], None] | None = None):
        self.p, self.tolerance, self.most, self.progress = program, tolerance, most, progress
        self.low, self.high = np.isfinite(program.lower), np.isfinite(program.upper)
        self.shift = 0.0
        self.filter: list[tuple[float, float]] = []

    # ---------------------------------------------------------------- the search

    def solve(self, x: Array, mu: float = 0.1) -> Solution:
        at = self._begin(x, mu)
        if at is None:
            return Solution(x, np.zeros(0), Residuals(np.inf, np.inf, np.inf), 0, "the start has no value")
        least, refused = self.tolerance / 10.0, 0
        best = at, self._residuals(at, 0.0)
        for k in range(self.most):
            found = self._residuals(at, 0.0)
            if self.progress is not None:
                self.progress(k, found)
            if found.worst < best[1].worst:
                best = at, found
            if found.worst <= self.tolerance:
                return Solution(at.x, at.y, found, k, "")
            while mu > least and self._residuals(at, mu).worst <= 10.0 * mu:
                mu = max(least, min(0.2 * mu, mu**1.5))
                self.filter = []
            step = self._step(at, mu)
            moved = None if step is None else self._searched(at, step, mu)
            if moved is None:
                refused += 1
                moved = self._restored(at, mu) if refused < 6 else None
                self.filter = []
                if moved is None:
                    return self._ended(best, k + 1, "no step improves it")
            else:
                refused = max(0, refused - 1) if refused else 0
            at = moved
        return self._ended(best, self.most, "the steps are used up")

    def _ended(self, best: tuple[_Point, Residuals], steps: int, reason: str) -> Solution:
        """The best point of a search without the last digits, which counts as converged if only these are missing."""
        at, found = best
        return Solution(at.x, at.y, found, steps, "" if found.worst <= FEWER_DIGITS * self.tolerance else reason)

    def _begin(self, x: Array, mu: float) -> _Point | None:
        lower, upper = self.p.lower, self.p.upper
        inside, low, high = min(1e-2, mu), np.where(self.low, lower, 0.0), np.where(self.high, upper, 0.0)
        width = np.where(self.low & self.high, high - low, np.inf)
        low = np.where(self.low, low + inside * np.minimum(np.maximum(1.0, np.abs(low)), width), -np.inf)
        high = np.where(self.high, high - inside * np.minimum(np.maximum(1.0, np.abs(high)), width), np.inf)
        x = np.minimum(np.maximum(x, low), high)
        at = self._there(x, None)
        if at is None:
            return None
        at.zl = np.where(self.low, mu / np.where(self.low, x - lower, 1.0), 0.0)
        at.zu = np.where(self.high, mu / np.where(self.high, upper - x, 1.0), 0.0)
        d = self._solved(at, at.g - at.zl + at.zu, np.zeros(len(at.c)), np.ones(len(x)), 0.0)
        if d is not None and np.abs(d[1]).max(initial=0.0) < 1e3:
            at.y = d[1]
        return at

    def _there(self, x: Array, like: _Point | None) -> _Point | None:
        found = self.p.value(x)
        if found is None or not (np.isfinite(found[0]) and np.isfinite(found[1]).all()):
            return None
        g, J = self.p.slopes(x)
        if not (np.isfinite(g).all() and np.isfinite(J.data).all()):
            return None
        m, n = J.shape
        y, zl, zu = (np.zeros(m), np.zeros(n), np.zeros(n)) if like is None else (like.y, like.zl, like.zu)
        return _Point(x, y, zl, zu, found[0], found[1], g, J)

    def _residuals(self, at: _Point, mu: float) -> Residuals:
        lower, upper = self.p.lower, self.p.upper
        n, m = len(at.x), len(at.y)
        size = (np.abs(at.y).sum() + at.zl.sum() + at.zu.sum()) / max(1, m + n)
        bounds = (at.zl.sum() + at.zu.sum()) / max(1, n)
        sd, sc = max(100.0, size) / 100.0, max(100.0, bounds) / 100.0
        stationary = np.abs(at.g + at.J.T @ at.y - at.zl + at.zu).max(initial=0.0) / sd
        slack = np.concatenate([(at.x - lower)[self.low] * at.zl[self.low], (upper - at.x)[self.high] * at.zu[self.high]])
        return Residuals(float(stationary), float(np.abs(at.c).max(initial=0.0)), float(np.abs(slack - mu).max(initial=0.0) / sc))

    # ---------------------------------------------------------------- a step

    def _sigma(self, at: _Point) -> Array:
        lower, upper = self.p.lower, self.p.upper
        out = np.zeros(len(at.x))
        out[self.low] += at.zl[self.low] / (at.x - lower)[self.low]
        out[self.high] += at.zu[self.high] / (upper - at.x)[self.high]
        return out

    def _barrier_gradient(self, at: _Point, mu: float) -> Array:
        out = at.g.copy()
        out[self.low] -= mu / (at.x - self.p.lower)[self.low]
        out[self.high] += mu / (self.p.upper - at.x)[self.high]
        return out

    def _factored(self, W: Any, J: Any, shift: float, drop: float) -> Any:
        from scipy.sparse import block_array, eye_array
        from scipy.sparse.linalg import splu

        n, m = W.shape[0], J.shape[0]
        K = block_array([[W + shift * eye_array(n), J.T], [J, -drop * eye_array(m)]], format="csc")
        try:
            return splu(K, diag_pivot_thresh=0.1, options={"SymmetricMode": False})
        except RuntimeError:
            return None

    def _solved(self, at: _Point, first: Array, second: Array, diagonal: Array, drop: float) -> tuple[Array, Array] | None:
        from scipy.sparse import diags_array

        lu = self._factored(diags_array(diagonal), at.J, 0.0, max(drop, 1e-10))
        if lu is None:
            return None
        d = lu.solve(-np.concatenate([first, second]))
        return (d[: len(first)], d[len(first) :]) if np.isfinite(d).all() else None

    def _step(self, at: _Point, mu: float) -> tuple[Array, Array, Any] | None:
        """(dx, y after it, factors) with enough curvature along dx."""
        from scipy.sparse import diags_array

        H = self.p.curvature(at.x, at.y) + diags_array(self._sigma(at))
        r = -np.concatenate([self._barrier_gradient(at, mu) + at.J.T @ at.y, at.c])
        n, shift, drop = len(at.x), 0.0, 1e-11
        while shift <= MOST_SHIFT:
            lu = self._factored(H, at.J, shift, drop)
            if lu is not None:
                d = lu.solve(r)
                dx = d[:n]
                if np.isfinite(d).all() and float(dx @ (H @ dx) + shift * (dx @ dx)) >= 1e-10 * float(dx @ dx):
                    self.shift = shift
                    return dx, at.y + d[n:], lu
            else:
                drop = 1e-8
            shift = max(1e-4, self.shift / 3.0) if shift == 0.0 else 8.0 * shift
        return None

    def _longest(self, x: Array, d: Array, tau: float) -> float:
        """The largest share of a step that stays inside the bounds."""
        with np.errstate(divide="ignore", invalid="ignore"):
            down = np.where(self.low & (d < 0.0), -tau * (x - self.p.lower) / d, np.inf)
            up = np.where(self.high & (d > 0.0), tau * (self.p.upper - x) / d, np.inf)
        return float(min(1.0, np.min(down, initial=1.0), np.min(up, initial=1.0)))

    def _merit(self, x: Array, f: float, mu: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return f - mu * float(np.log((x - self.p.lower)[self.low]).sum() + np.log((self.p.upper - x)[self.high]).sum())

    def _searched(self, at: _Point, step: tuple[Array, Array, Any], mu: float) -> _Point | None:
        """The point after the largest share of a step that the filter accepts, with its multipliers; None if there is none."""
        dx, y, lu = step
        tau = max(0.99, 1.0 - mu)
        dzl = np.where(self.low, mu / np.where(self.low, at.x - self.p.lower, 1.0) - at.zl, 0.0)
        dzu = np.where(self.high, mu / np.where(self.high, self.p.upper - at.x, 1.0) - at.zu, 0.0)
        dzl -= np.where(self.low, at.zl * dx / np.where(self.low, at.x - self.p.lower, 1.0), 0.0)
        dzu += np.where(self.high, at.zu * dx / np.where(self.high, self.p.upper - at.x, 1.0), 0.0)
        longest, gap, merit = self._longest(at.x, dx, tau), float(np.abs(at.c).sum()), self._merit(at.x, at.f, mu)
        slope = float(self._barrier_gradient(at, mu) @ dx)
        share, first = longest, True
        while share > SHORTEST:
            x = at.x + share * dx
            there = self._tried(x, gap, merit, slope, share, mu)
            if there is None and first:
                there, x = self._corrected(at, x, lu, share, dx, (gap, merit, slope), mu)
            first = False
            if there is not None:
                return self._arrived(at, x, share, y, (dzl, dzu), mu, tau)
            share *= 0.5
        return None

    def _tried(self, x: Array, gap: float, merit: float, slope: float, share: float, mu: float) -> tuple[float, Array] | None:
        """Value and constraints at x if the filter accepts them."""
        found = self.p.value(x)
        if found is None or not (np.isfinite(found[0]) and np.isfinite(found[1]).all()):
            return None
        new_gap, new_merit = float(np.abs(found[1]).sum()), self._merit(x, found[0], mu)
        if not np.isfinite(new_merit):
            return None
        noise = 1e-13 * (1.0 + abs(merit))
        if any(new_gap >= (1.0 - 1e-5) * t and new_merit >= p - 1e-5 * t + noise for t, p in self.filter):
            return None
        flat = slope < 0.0 and share * (-slope) ** 2.3 > gap**1.1
        if flat and gap < 1e-4:
            return found if new_merit <= merit + 1e-4 * share * slope + noise else None
        if new_gap <= (1.0 - 1e-5) * gap or new_merit <= merit - 1e-5 * gap + noise:
            self.filter.append(((1.0 - 1e-5) * gap, merit - 1e-5 * gap))
            return found
        return None

    def _corrected(
        self, at: _Point, x: Array, lu: Any, share: float, dx: Array, before: tuple[float, float, float], mu: float
    ) -> tuple[tuple[float, Array] | None, Array]:
        """A second-order correction: the same matrix, with the constraints as they are after the step."""
        found = self.p.value(x)
        if found is None or not np.isfinite(found[1]).all():
            return None, x
        r = -np.concatenate([self._barrier_gradient(at, mu) + at.J.T @ at.y, share * at.c + found[1]])
        d = lu.solve(r)[: len(dx)]
        if not np.isfinite(d).all():
            return None, x
        there = at.x + self._longest(at.x, d, max(0.99, 1.0 - mu)) * d
        return self._tried(there, *before, share, mu), there

    def _arrived(self, at: _Point, x: Array, share: float, y: Array, dz: tuple[Array, Array], mu: float, tau: float) -> _Point | None:
        zl, zu = (self._multipliers(z, d, tau) for z, d in zip((at.zl, at.zu), dz, strict=True))
        wide = 1e10  # multipliers stay within this factor of mu over the distance
        lo, hi = np.where(self.low, x - self.p.lower, 1.0), np.where(self.high, self.p.upper - x, 1.0)
        zl = np.where(self.low, np.clip(zl, mu / wide / lo, wide * mu / lo), 0.0)
        zu = np.where(self.high, np.clip(zu, mu / wide / hi, wide * mu / hi), 0.0)
        self.p.value(x)  # slopes are those of the last value
        return self._there(x, _Point(x, at.y + share * (y - at.y), zl, zu))

    def _multipliers(self, z: Array, d: Array, tau: float) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = min(1.0, float(np.min(np.where(d < 0.0, -tau * z / d, np.inf), initial=1.0)))
        return z + share * d

    # ---------------------------------------------------------------- feasibility alone

    def _restored(self, at: _Point, mu: float) -> _Point | None:
        """A point with a smaller violation, by damped least-squares steps that weigh variables by their distance from the bounds."""
        lower, upper = self.p.lower, self.p.upper
        x, c, J, damping = at.x, at.c, at.J, 1e-6
        begin = float(np.abs(c).sum())
        if begin < self.tolerance:
            return None
        for _ in range(20):
            room = np.minimum(np.where(self.low, x - lower, np.inf), np.where(self.high, upper - x, np.inf))
            weight = damping + 1e-3 / np.minimum(room, 1.0) ** 2 * np.where(np.isfinite(room), 1.0, 0.0) * damping
            here = _Point(x, np.zeros(len(c)), at.zl, at.zu, 0.0, c, np.zeros(len(x)), J)
            d = self._solved(here, np.zeros(len(x)), c, weight, 1e-10)
            if d is None:
                return None
            share, done = self._longest(x, d[0], 0.99), False
            while share > 1e-6 and not done:
                found = self.p.value(x + share * d[0])
                done = found is not None and float(found[1] @ found[1]) < float(c @ c) * (1.0 - 1e-3 * share)  # False of NaN
                share = share if done else 0.5 * share
            if not done:
                break
            x = x + share * d[0]
            there = self._there(x, at)
            if there is None:
                return None
            c, J = there.c, there.J
            if float(np.abs(c).sum()) < 0.1 * begin:
                break
        if x is at.x:
            return None
        there = self._there(x, at)
        if there is not None:
            there.y = np.zeros(len(c))
            there.zl = np.where(self.low, np.minimum(at.zl, 1e3 * mu / np.where(self.low, x - lower, 1.0)), 0.0)
            there.zu = np.where(self.high, np.minimum(at.zu, 1e3 * mu / np.where(self.high, upper - x, 1.0)), 0.0)
        return there
