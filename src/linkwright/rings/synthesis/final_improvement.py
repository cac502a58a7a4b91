"""Last improvement of one candidate by SLSQP with exact derivatives: least squares or least maximum, under inequalities.

A problem is a function (x, slopes) -> (r, r_x, g, g_x): residuals, inequalities g >= 0, and their derivatives, which are empty without
`slopes`: a line search needs values only. The least maximum is found by its epigraph, min t with -t <= r <= t; residuals far below
the maximum enter only when they grow (working set).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
SmoothProblem = Callable[[Array, bool], tuple[Array, Array, Array, Array]]

VIOLATED = 1e-7  # inequality that still counts as met
RESTORING = 12  # iterations


@dataclass(frozen=True, eq=False)
class PolishedPoint:
    """The best feasible point met: sum of squares or largest residual, and how far inequalities are violated (0 or less: met)."""

    x: Array
    value: float
    violation: float
    evaluations: int


class _Cached:
    """A problem in scaled variables that stores its last evaluation, and whether that has derivatives."""

    def __init__(self, problem: SmoothProblem, scale: Array):
        none = np.zeros(0)
        self.problem, self.scale = problem, scale
        self.key: tuple[bytes, bool] = (b"", False)
        self.last: tuple[Array, Array, Array, Array] = (none, none, none, none)
        self.count = 0

    def __call__(self, y: Array, *, slopes: bool = True) -> tuple[Array, Array, Array, Array]:
        here, complete = self.key
        if y.tobytes() != here or slopes > complete:
            self.key, self.count = (y.tobytes(), slopes), self.count + 1
            r, jacobian, g, gradients = self.problem(y * self.scale, slopes)
            self.last = (r, jacobian * self.scale, g, gradients * self.scale) if slopes else (r, jacobian, g, gradients)
        return self.last


def polished(
    problem: SmoothProblem, x: Array, lower: Array, upper: Array, *, maximum: bool = False, iterations: int = 200, floor: float = 0.02
) -> PolishedPoint:
    """Minimize the sum of squares, or with `maximum` the largest |r|, from x under g >= 0 and bounds.

    floor: least scale of a variable; others are scaled by their size. The start is returned where nothing better is found.
    """
    scale = np.maximum(np.abs(x), floor)
    cached = _Cached(problem, scale)
    best = _judged(cached, x / scale, maximum)
    run = _least_maximum if maximum else _least_squares
    for y in run(cached, x / scale, lower / scale, upper / scale, iterations):
        y = np.clip(y, lower / scale, upper / scale)
        found = _judged(cached, y, maximum)
        if found.violation > VIOLATED:
            found = _judged(cached, _restored(cached, y, lower / scale, upper / scale), maximum)
        if found.violation <= max(VIOLATED, best.violation if best.violation > VIOLATED else 0.0) and (
            found.value < best.value or best.violation > VIOLATED
        ):
            best = found
    return PolishedPoint(best.x, best.value, best.violation, cached.count)


def _restored(cached: _Cached, y: Array, lower: Array, upper: Array) -> Array:
    """Move a point that SLSQP left a little outside onto its limits: least-norm Newton steps on what is violated."""
    for _ in range(RESTORING):
        _, _, g, slopes = cached(y)
        rows = g < 0.1 * VIOLATED
        if g.min(initial=np.inf) > -VIOLATED:
            break
        matrix = slopes[rows]
        with np.errstate(all="ignore"):
            step = np.linalg.lstsq(matrix, 0.5 * VIOLATED - g[rows], rcond=1e-9)[0]
        if not np.isfinite(step).all():
            break
        y = np.clip(y + step, lower, upper)
    return y


def _judged(cached: _Cached, y: Array, maximum: bool) -> PolishedPoint:
    r, _, g, _ = cached(y, slopes=False)
    value = float(np.abs(r).max(initial=0.0)) if maximum else float(r @ r)
    return PolishedPoint(y * cached.scale, value, float(-g.min(initial=np.inf)) if g.size else 0.0, cached.count)


def _slsqp(
    function: Callable[[Array], float], gradient: Callable[[Array], Array], y: Array, lower: Array, upper: Array, constraints: list[dict],
    iterations: int, tolerance: float,
) -> Array:  # fmt: skip
    import warnings

    from scipy.optimize import minimize

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of values outside bounds by round-off, which SLSQP clips
        result = minimize(
            function, np.clip(y, lower, upper), jac=gradient, bounds=np.stack([lower, upper], 1), constraints=constraints, method="SLSQP",
            options={"maxiter": iterations, "ftol": tolerance},
        )  # fmt: skip
    return result.x if np.isfinite(result.x).all() else y


def _least_squares(cached: _Cached, y: Array, lower: Array, upper: Array, iterations: int) -> list[Array]:
    r, _, g, _ = cached(y)
    unit = float(r @ r) or 1.0

    def function(z: Array) -> float:
        r = cached(z, slopes=False)[0]
        return float(r @ r) / unit

    def gradient(z: Array) -> Array:
        r, jacobian, _, _ = cached(z)
        return 2.0 * (r @ jacobian) / unit

    constraints = [{"type": "ineq", "fun": lambda z: cached(z, slopes=False)[2], "jac": lambda z: cached(z)[3]}] if g.size else []
    return [_slsqp(function, gradient, y, lower, upper, constraints, iterations, 1e-15)]


def _least_maximum(cached: _Cached, y: Array, lower: Array, upper: Array, iterations: int) -> list[Array]:
    """Solve min t over a working set of residuals: the peaks, and whatever exceeds t after a round."""
    out = []
    n = len(y)
    low, high = np.append(lower, 0.0), np.append(upper, np.inf)
    chosen: Array = np.zeros(0, dtype=int)
    for _ in range(4):
        r, _, _, _ = cached(y, slopes=False)
        size = np.abs(r)
        unit = float(size.max()) or 1.0
        fresh = np.flatnonzero(size > 0.3 * unit)
        chosen = np.union1d(chosen, fresh).astype(int)
        rows = chosen

        def function(z: Array) -> float:
            return float(z[n])

        def gradient(z: Array) -> Array:
            return np.append(np.zeros(n), 1.0)

        def bands(z: Array, rows: Array = rows, unit: float = unit) -> Array:
            r, _, g, _ = cached(z[:n], slopes=False)
            return np.concatenate([z[n] - r[rows] / unit, z[n] + r[rows] / unit, g])

        def slopes(z: Array, rows: Array = rows, unit: float = unit) -> Array:
            _, jacobian, _, gradients = cached(z[:n])
            one = np.ones((len(rows), 1))
            part = jacobian[rows] / unit
            return np.vstack([np.hstack([-part, one]), np.hstack([part, one]), np.hstack([gradients, np.zeros((len(gradients), 1))])])

        found = _slsqp(function, gradient, np.append(y, 1.0), low, high, [{"type": "ineq", "fun": bands, "jac": slopes}], iterations, 1e-9)
        y = found[:n]
        out.append(y)
        after = np.abs(cached(np.clip(y, lower, upper), slopes=False)[0])
        if after.max(initial=0.0) <= float(after[rows].max(initial=0.0)) * (1.0 + 1e-3):
            break
    return out


def distinct(x: Array, cost: Array, most: int) -> list[int]:
    """Return the best candidates that differ by more than 1 % in a column, at most so many."""
    chosen: list[int] = []
    for k in np.argsort(cost, kind="stable"):
        if np.isfinite(cost[k]) and all((np.abs(x[k] - x[c]) > 0.01 * (0.1 + np.abs(x[c]))).any() for c in chosen):
            chosen.append(int(k))
        if len(chosen) == most:
            break
    return chosen
