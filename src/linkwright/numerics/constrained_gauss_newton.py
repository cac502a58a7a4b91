"""Least squares of one candidate with inequalities that hold exactly: damped Gauss-Newton steps, each a small quadratic program.

A step minimizes |J d + r|^2 + damping |S d|^2 under the linearized inequalities g + G d <= 0 and the bounds. With R'R = J'J + damping S'S
it is a least-distance problem in R d, which non-negative least squares solves (Lawson and Hanson 1974, ch. 23); its positive multipliers
are the active set. Near an optimum the convergence is that of Gauss-Newton on the active limits, some ten steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwright.numerics.memory_and_threads import optimizing

Array = np.ndarray
Evaluated = Callable[[Array], tuple[Array, Array, Array, Array]]

LESS, MORE = 0.2, 4.0
RECENT, CREEP = 10, 1e-4
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e8
PENALTY = 10.0  # of a violation at first, against the sum of squares relative to its first value


@dataclass(frozen=True, eq=False)
class ConstrainedFit:
    """The end of a fit: variables, multipliers of the inequalities (those of bounds after them: lower, upper), converged or not.

    creeping: the last RECENT steps lowered the sum of squares by less than CREEP of it, as in a flat valley.
    """

    x: Array
    multipliers: Array
    converged: bool
    creeping: bool
    evaluations: int


def constrained_least_squares(
    evaluated: Evaluated, x: Array, lower: Array, upper: Array, *, iterations: int = 60, tolerance: float = 1e-13
) -> ConstrainedFit:
    """Minimize |r(x)|^2 under g(x) <= 0 and the bounds. evaluated(x): r, its Jacobian, g, its Jacobian.

    Converged: the step, or the decrease that it predicts, is below the tolerance, relative to the variables and the sum of squares.
    """
    x = np.clip(x, lower, upper)
    r, J, g, G = evaluated(x)
    unit = max(float(r @ r), np.finfo(float).tiny)
    first_damping = 1e-3
    damping, penalty, calls, converged = first_damping, PENALTY, 1, False
    multipliers = np.zeros(len(g) + 2 * len(x))
    history = [float(r @ r)]
    with optimizing():
        for _ in range(iterations):
            found = step_with_inequalities(J, r, G, -g, lower - x, upper - x, damping)
            if found is None:  # the linearized limits exclude each other
                break
            d, multipliers = found
            trial = np.clip(x + d, lower, upper)
            gained = float(r @ r) - float(np.square(r + J @ d).sum())
            if np.abs(d).max(initial=0.0) <= tolerance * (1.0 + np.abs(x).max(initial=0.0)) or (
                abs(gained) <= tolerance * float(r @ r) and g.max(initial=0.0) <= tolerance
            ):
                converged = True
                break
            history.append(float(r @ r))
            if len(history) > 2 * RECENT and history[-RECENT] - history[-1] < 0.1 * CREEP * history[-1]:
                break
            tried = evaluated(trial)
            calls += 1
            penalty = max(penalty, 2.0 * float(multipliers[: len(g)].max(initial=0.0)) / unit)
            before = _merit((r, J, g, G), unit, penalty)
            if _merit(tried, unit, penalty) >= before and tried[2].max(initial=0.0) > 0.0:
                # a curved limit was passed along its tangent: once more with the limits as they are there
                again = step_with_inequalities(J, r, G, G @ d - tried[2], lower - x, upper - x, damping)
                if again is not None:
                    trial = np.clip(x + again[0], lower, upper)
                    tried = evaluated(trial)
                    calls += 1
            if _merit(tried, unit, penalty) < before:
                x, (r, J, g, G) = trial, tried
                damping = max(damping * LESS, LEAST_DAMPING)
            elif damping >= MOST_DAMPING:
                break
            else:
                damping *= MORE
    recent = history[-RECENT] if len(history) > RECENT else np.inf
    return ConstrainedFit(x, multipliers, converged, recent - history[-1] <= CREEP * history[-1], calls)


def _merit(at: tuple[Array, Array, Array, Array], unit: float, penalty: float) -> float:
    """Sum of squares relative to its first value, and the violation; inf where something is not finite."""
    value = float(at[0] @ at[0]) / unit + penalty * float(np.maximum(at[2], 0.0).sum())
    return value if np.isfinite(value) else np.inf


def step_with_inequalities(
    J: Array, r: Array, rows: Array, limits: Array, least: Array, most: Array, damping: float
) -> tuple[Array, Array] | None:
    """Return the d that minimizes |J d + r|^2 + damping |S d|^2 (S: lengths of J's columns) with rows d <= limits, least <= d <= most, and
    the multipliers of all three; None if these exclude each other."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    columns = np.linalg.norm(J, axis=0)
    columns = np.maximum(columns, 1e-9 * max(float(columns.max(initial=0.0)), np.finfo(float).tiny))
    n = len(columns)
    # d = y / columns; min |Q y + r|^2 by QR of the damped matrix, z = R y + q
    stacked = np.vstack([J / columns, np.sqrt(damping) * np.eye(n)])
    q, R = np.linalg.qr(stacked)
    shift = q[: len(r)].T @ r
    eye = np.eye(n)
    low, high = np.isfinite(least), np.isfinite(most)
    every = np.vstack([rows, -eye[low], eye[high]]) / columns
    bound = np.concatenate([limits, -least[low], most[high]])
    inverse = solve_triangular(R, every.T, trans="T", check_finite=False).T  # rows R^-1
    multipliers = np.zeros(len(limits) + 2 * n)
    h = bound + inverse @ shift
    if (h >= 0.0).all():
        z = np.zeros(n)
    else:
        scale = np.maximum(np.linalg.norm(inverse, axis=1), 1e-300)
        E = np.vstack([-(inverse / scale[:, None]).T, -(h / scale)])
        try:
            u, norm = nnls(E, np.append(np.zeros(n), 1.0), maxiter=20 * len(h))
        except RuntimeError:  # too many exchanges: rounding
            return None
        residual = E @ u - np.append(np.zeros(n), 1.0)
        if norm < 1e-12 or residual[n] == 0.0:
            return None
        z = -residual[:n] / residual[n]
        weight = np.zeros(len(limits) + 2 * n)
        places = np.concatenate([np.arange(len(limits)), len(limits) + np.flatnonzero(low), len(limits) + n + np.flatnonzero(high)])
        weight[places] = 2.0 * u / scale / -residual[n]
        multipliers = weight
    return solve_triangular(R, z - shift, check_finite=False) / columns, multipliers
