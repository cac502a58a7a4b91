"""Polish of one path candidate at its limits: Gauss-Newton with exact derivatives and exact limits, SLSQP where that does not converge.

Levenberg-Marquardt with penalties stays a little outside of a limit and creeps along several of them; here they are constraints. Variables
are scaled by their size. The crank angles of a long path without timing are eliminated (path_following.py).
"""

from __future__ import annotations

import numpy as np

from linkwright.numerics.blas import optimizing
from linkwright.numerics.constrained_least_squares import Evaluated, constrained_least_squares
from linkwright.rings.synthesis.coupler_chains import Array
from linkwright.rings.synthesis.path_following import AngleFollower
from linkwright.rings.synthesis.path_problem import PathChoices, PathProblem

ITERATIONS = 200
CONVERGED = 1e-11  # relative decrease of the sum of squares that a step of Gauss-Newton predicts
TOLERANCE = 1e-13  # relative decrease of the objective
SMALLEST_SCALE = 1e-2  # of a variable, points of size 1
SMALLEST_ERROR = 1e-20
ALLOWED = 1e-12  # violation that is rounding
ONE = np.zeros(1, dtype=int)


def polished(problem: PathProblem, v: Array, choices: PathChoices, *, eliminated: bool = False) -> tuple[Array, int]:
    """Return the candidate at its constrained optimum and the number of evaluations; as it was if that is neither better nor allowed."""
    follower = AngleFollower(problem, v[None], choices) if eliminated else None
    movable = problem.free
    if follower is not None:
        movable[follower.core - 1 :] = False
    free = np.flatnonzero(movable)
    scale = np.maximum(np.abs(v), SMALLEST_SCALE)[free]
    lower, upper = (x[0, free] / scale for x in problem.bounds(choices.kind))

    def whole(x: Array) -> Array:
        w = v.copy()
        w[free] = x * scale
        return w[None] if follower is None else follower.whole(w[None, : follower.core], ONE)

    def evaluated(x: Array) -> tuple[Array, Array, Array, Array]:
        """Deviations, inequalities, and their derivatives."""
        w = whole(x)
        if follower is None:
            at, by_v = problem.path(w, choices)
            missed = at - problem.points
        else:
            missed, by_v = follower.across(w[:, : follower.core], ONE)
        g, by_g = problem.inequalities(whole(x), choices)
        both = np.concatenate([by_v[0].real, by_v[0].imag])[:, free] * scale
        return np.concatenate([missed[0].real, missed[0].imag]), both, g[0], by_g[0][:, free] * scale

    fit = constrained_least_squares(evaluated, v[free] / scale, lower, upper, tolerance=CONVERGED)
    x, calls = fit.x, fit.evaluations
    if not (fit.converged or fit.creeping or eliminated):
        x, more = _by_quadratic_programs(evaluated, x, lower, upper)
        calls += more
    evaluated(x)
    w = whole(x)
    over, before = (problem.inequalities(y, choices)[0].max(initial=-np.inf) for y in (w, v[None]))
    allowed = over <= ALLOWED or over < before
    better = before > ALLOWED or float(problem.errors(w, choices)[0]) < float(problem.errors(v[None], choices)[0])
    return (w[0] if np.isfinite(w).all() and allowed and better else v), calls


def _by_quadratic_programs(evaluated: Evaluated, x: Array, lower: Array, upper: Array) -> tuple[Array, int]:
    """Return the optimum by SLSQP, which needs no small residuals, and the number of evaluations."""
    from scipy.optimize import minimize

    seen: list[tuple[Array, tuple[Array, Array, Array, Array]]] = []

    def at(x: Array) -> tuple[Array, Array, Array, Array]:
        """Objective and limits are asked for one after the other."""
        if not seen or not np.array_equal(seen[0][0], x):
            seen[:] = [(x.copy(), evaluated(x))]
        return seen[0][1]

    unit = max(float(at(x)[0] @ at(x)[0]), SMALLEST_ERROR)

    def objective(x: Array) -> tuple[float, Array]:
        r, J, _, _ = at(x)
        return float(r @ r) / unit, 2.0 * (r @ J) / unit

    limits = {"type": "ineq", "fun": lambda x: -at(x)[2], "jac": lambda x: -at(x)[3]}
    box = np.column_stack([lower, upper])
    options = {"maxiter": ITERATIONS, "ftol": TOLERANCE}
    with optimizing():
        done = minimize(objective, x, jac=True, bounds=box, constraints=[limits], method="SLSQP", options=options)
    return np.clip(done.x, lower, upper), int(done.nfev)
