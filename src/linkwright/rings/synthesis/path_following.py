"""Long paths without timing: crank angles eliminated, so that a candidate has ten variables however many points there are.

For each point the crank angle of the nearest place of the coupler curve is found inside, from the angle it had last and in the order of
the points. By the envelope theorem the derivative of a distance is that at a fixed angle; in least squares the part of the derivatives
along the curve is taken out (Kaufman's variable projection).
"""

from __future__ import annotations

import numpy as np

from linkwright.api import least_squares_fits
from linkwright.rings.synthesis.coupler_chains import Array
from linkwright.rings.synthesis.path_problem import SMALLEST_INCREMENT, TURN, WEIGHT, PathChoices, PathProblem

INNER = 4  # steps of the angles


class AngleFollower:
    """Candidates of a path without timing whose crank angles follow from the other variables; remembers them as the next start."""

    def __init__(self, problem: PathProblem, v: Array, choices: PathChoices) -> None:
        assert problem.timing is None
        self.problem, self.choices = problem, choices
        self.core = problem.shapes + 6
        self.increments = v[:, self.core :].copy()
        self.first = v[:, self.core - 1].copy()
        self.starts_free = bool(problem.free[self.core - 1])

    def whole(self, x: Array, rows: Array) -> Array:
        """Return all variables of the candidates, with the angles of the last evaluation."""
        v = np.concatenate([x, self.increments[rows]], axis=1)
        v[:, self.core - 1] = self.first[rows]
        return v

    def evaluated(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Return deviations (k, n) at the nearest angles and derivatives by the core variables at fixed angles (k, n, core), complex."""
        choices = self.choices[rows]
        direction = choices.direction[:, None]
        longest_step = 0.2  # rad
        for _ in range(INNER):
            v = self.whole(x, rows)
            at, by_v = self.problem.path(v, choices, core=True)
            missed, tangent = at - self.problem.points, by_v[..., self.core - 1]
            square = np.abs(tangent) ** 2
            step = -np.real(np.conj(tangent) * missed) / np.maximum(square, 1e-9 * square.mean(axis=1, keepdims=True))
            step = np.clip(step, -longest_step, longest_step)
            step[:, 0] *= self.starts_free
            run = direction * (self.problem.angles(v, choices) - v[:, self.core - 1, None] + step)
            run = self._ordered(run)
            if self.starts_free:
                self.first[rows] = v[:, self.core - 1] + step[:, 0]
            self.increments[rows] = np.diff(run, axis=1)
        at, derivative = self.problem.path(self.whole(x, rows), choices, core=True)
        self.tangent = derivative[..., self.core - 1].copy()
        derivative[..., self.core - 1] = 0.0  # the first angle is one of those eliminated
        return at - self.problem.points, derivative

    def _ordered(self, angle: Array) -> Array:
        """Angles in the order of the points, within one turn."""
        slope = SMALLEST_INCREMENT * np.arange(angle.shape[1])
        up = np.maximum.accumulate(angle - slope, axis=1) + slope
        return np.minimum(up, up[:, :1] + TURN)

    def across(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Return deviations and the part of their derivatives across the curve."""
        missed, derivative = self.evaluated(x, rows)
        unit = (self.tangent / np.maximum(np.abs(self.tangent), 1e-300))[..., None]
        return missed, 1j * unit * np.imag(np.conj(unit) * derivative)

    def least_squares(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Return residuals and derivatives as `PathProblem.least_squares` does, of the core variables."""
        missed, derivative = self.across(x, rows)
        g, by_g = self.problem.inequalities(self.whole(x, rows), self.choices[rows])
        violated = g > 0.0
        residual = np.concatenate([missed.real, missed.imag, WEIGHT * np.where(violated, g, 0.0)], axis=1)
        penalty = WEIGHT * np.where(violated[..., None], by_g[..., : self.core], 0.0)
        return residual, np.concatenate([derivative.real, derivative.imag, penalty], axis=1)


def followed(
    problem: PathProblem, v: Array, choices: PathChoices, iterations: int, *, target: float, tolerance: float
) -> least_squares_fits.LeastSquaresFits:
    """Return candidates after this many iterations of Levenberg-Marquardt over the core variables at most."""
    follower = AngleFollower(problem, v, choices)
    core = follower.core
    lower, upper = problem.bounds(choices.kind)
    free = problem.free[:core].copy()
    free[core - 1] = False
    fits = least_squares_fits.levenberg_marquardt(
        follower.least_squares,
        v[:, :core],
        lower[:, :core],
        upper[:, :core],
        free=free,
        iterations=iterations,
        target=target,
        tolerance=tolerance,
        scaling=2 * len(problem.points),
    )
    rows = np.arange(len(v))
    cost = (follower.least_squares(fits.x, rows)[0] ** 2).sum(axis=1)
    return least_squares_fits.LeastSquaresFits(follower.whole(fits.x, rows), cost, fits.iterations, fits.evaluations * (INNER + 1))
