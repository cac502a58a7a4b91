"""Methods of nonlinear programming behind one signature: smooth functions with exact gradients, bounds, equalities and inequalities.

Functions and constraints are as scipy takes them: f(x) gives value and gradient, a constraint is {"type": "eq" or "ineq", "fun", "jac"}.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from linkwright.api import package

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]
Bounds = Sequence[tuple[float, float]]
Constraints = Sequence[dict[str, Any]]


def slsqp(f: Function, start: np.ndarray, bounds: Bounds, constraints: Constraints, most: int, tolerance: float = 1e-12) -> Any:
    """Sequential quadratic programming of scipy."""
    minimize: Any = import_module("scipy.optimize").minimize  # has no types, and guessing them takes a type checker seconds
    options = {"maxiter": most, "ftol": tolerance}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # "x outside bounds, clipped": it is clipped
        return minimize(f, start, jac=True, method="SLSQP", bounds=bounds, constraints=constraints, options=options)


def trust_constr(f: Function, start: np.ndarray, bounds: Bounds, constraints: Constraints, most: int) -> Any:
    """Interior point method with trust region of scipy."""
    optimize: Any = import_module("scipy.optimize")
    rows = [
        optimize.NonlinearConstraint(c["fun"], 0.0, 0.0 if c["type"] == "eq" else np.inf, jac=c["jac"], hess=optimize.BFGS())
        for c in constraints
    ]
    options = {"maxiter": 3 * most, "gtol": 1e-10, "xtol": 1e-10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "delta_grad == 0.0": a linear function has no curvature to learn
        return optimize.minimize(
            f, start, jac=True, hess=optimize.BFGS(), method="trust-constr", bounds=bounds, constraints=rows, options=options
        )


def ipopt(f: Function, start: np.ndarray, bounds: Bounds, constraints: Constraints, most: int) -> Any:
    """Interior point method of Ipopt (package cyipopt)."""
    options = {"max_iter": 3 * most, "tol": 1e-10, "print_level": 0}
    return package("cyipopt").minimize_ipopt(f, start, jac=True, bounds=bounds, constraints=constraints, options=options)


SOLVERS = {"slsqp": slsqp, "trust-constr": trust_constr, "ipopt": ipopt}
