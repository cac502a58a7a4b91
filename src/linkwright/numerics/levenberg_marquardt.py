"""Levenberg-Marquardt with bounds, for many candidates of one least-squares problem at once.

Every candidate has its own damping, its own set of variables at a bound and its own end; the arithmetic of an iteration is done for all
that are still moving. One call of `jacobians` an iteration: an accepted trial point brings its own derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwright.numerics.memory_and_threads import one_thread

Array = np.ndarray
Jacobians = Callable[[Array, Array], tuple[Array, Array]]

LESS, MORE = 0.25, 4.0  # factors of the damping after a step that was accepted, refused
LEAST_DAMPING, MOST_DAMPING = 1e-14, 1e12
SMALLEST_PIVOT = 1e-12  # of the largest diagonal entry: variables without influence stay solvable


@dataclass(frozen=True, eq=False)
class LeastSquaresFits:
    """Candidates after the fit: variables (N, n), sums of squares (N,), iterations made (N,) and evaluations in all."""

    x: Array
    cost: Array
    iterations: Array
    evaluations: int

    def best(self, count: int) -> Array:
        """Return the places of the `count` least sums of squares, best first; those that are not finite last."""
        return np.argsort(np.where(np.isfinite(self.cost), self.cost, np.inf), kind="stable")[:count]


def levenberg_marquardt(
    jacobians: Jacobians,
    x: Array,
    lower: Array,
    upper: Array,
    *,
    iterations: int = 100,
    free: Array | None = None,
    tolerance: float = 1e-9,
    patience: int = 14,
    target: float = 0.0,
    longest: float | Array = np.inf,
    scaling: int | None = None,
) -> LeastSquaresFits:
    """Minimize the sum of squares of each candidate x (N, n) between the bounds, which broadcast against x.

    jacobians(x, rows): residuals (k, m) and their derivatives (k, m, n) of the candidates numbered `rows`, now at x (k, n).
    free: False for variables that are held. tolerance: a relative decrease below it counts as none; after `patience` such iterations
    a candidate is done, or when its sum of squares is `target` or less. longest: largest change of a variable in one step.
    scaling: number of residuals, from the first on, whose derivatives scale the damping; penalties that come after them would otherwise
    damp motion along a constraint that is met.
    Candidates whose residuals are not finite at the start stay there with cost inf.
    """
    x = np.array(x, dtype=float)
    count, n = x.shape
    lower, upper = np.broadcast_to(lower, x.shape), np.broadcast_to(upper, x.shape)
    movable = np.ones(n, dtype=bool) if free is None else np.asarray(free, dtype=bool)
    x = np.where(movable, np.clip(x, lower, upper), x)
    rows = np.arange(count)
    residual, jacobian = jacobians(x, rows)
    cost = _sums(residual)
    gradient, normal = _normal_equations(residual, jacobian)
    scale = _scales(jacobian[:, :scaling])
    first_damping = 1e-2
    damping = np.full(count, first_damping)
    idle = np.zeros(count, dtype=int)
    made = np.zeros(count, dtype=int)
    evaluations = count
    alive = np.isfinite(cost) & (cost > target)
    for _ in range(iterations):
        rows = np.flatnonzero(alive)
        if rows.size == 0:
            break
        step, still = _steps(x[rows], gradient[rows], normal[rows], damping[rows, None] * scale[rows], lower[rows], upper[rows], movable)
        trial = np.clip(x[rows] + np.clip(step, -longest, longest), lower[rows], upper[rows])
        trial = np.where(movable, trial, x[rows])
        residual, jacobian = jacobians(trial, rows)
        evaluations += rows.size
        made[rows] += 1
        tried = _sums(residual)
        better = tried < cost[rows]
        decrease = np.where(better, 1.0 - np.divide(tried, cost[rows], where=better, out=np.ones_like(tried)), 0.0)
        idle[rows] = np.where(decrease > tolerance, 0, idle[rows] + 1)
        damping[rows] = np.clip(damping[rows] * np.where(better, LESS, MORE), LEAST_DAMPING, MOST_DAMPING)
        taken = rows[better]
        x[taken], cost[taken] = trial[better], tried[better]
        gradient[taken], normal[taken] = _normal_equations(residual[better], jacobian[better])
        scale[taken] = _scales(jacobian[better, :scaling])
        alive[rows] = (idle[rows] < patience) & (cost[rows] > target) & ~still
    return LeastSquaresFits(x, cost, made, evaluations)


def _sums(residual: Array) -> Array:
    """Return the sums of squares; inf where a residual is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.einsum("nm,nm->n", residual, residual)
    return np.where(np.isfinite(sums), sums, np.inf)


def _normal_equations(residual: Array, jacobian: Array) -> tuple[Array, Array]:
    """Return J' r and J' J."""
    with np.errstate(over="ignore", invalid="ignore"):
        transposed = jacobian.transpose(0, 2, 1)
        return (transposed @ residual[..., None])[..., 0], transposed @ jacobian


def _scales(jacobian: Array) -> Array:
    """Return the squares of the columns' lengths, bounded from below."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("nmi,nmi->ni", jacobian, jacobian)
    return np.maximum(squares, SMALLEST_PIVOT * squares.max(axis=1, keepdims=True) + np.finfo(float).tiny)


def _steps(x: Array, gradient: Array, normal: Array, damping: Array, lower: Array, upper: Array, movable: Array) -> tuple[Array, Array]:
    """Return the damped steps, and True for candidates that cannot move: no free variable, or no gradient."""
    # a variable at a bound whose gradient points outwards is held in this step
    moves = movable & ~((x <= lower) & (gradient > 0.0)) & ~((x >= upper) & (gradient < 0.0))
    diagonal = np.einsum("nii->ni", normal)
    held = np.where(moves, gradient, 0.0)
    matrix = normal * (moves[:, :, None] & moves[:, None, :])
    places = np.arange(x.shape[1])
    matrix[:, places, places] = np.where(moves, diagonal + damping, 1.0)
    # unit diagonal: what remains is the correlation of the columns, whatever the units of the variables
    root = np.sqrt(matrix[:, places, places])
    matrix /= root[:, :, None] * root[:, None, :]
    with one_thread(x.shape[1]):
        try:
            step = -np.linalg.solve(matrix, (held / root)[..., None])[..., 0] / root
        except np.linalg.LinAlgError:  # one singular matrix stops all of them: least squares by pseudo-inverse
            step = -(np.linalg.pinv(matrix, hermitian=True) @ (held / root)[..., None])[..., 0] / root
    return step, ~(held != 0.0).any(axis=1)
