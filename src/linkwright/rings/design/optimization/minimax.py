"""Extremes to the end: sequential linear programming with a trust region.

An optimum of an extreme mostly lies where several samples are equally high (as many as numbers vary, and one more), and there linear
programs of the samples converge quadratically. Each takes the samples nearest to their bounds, linearized by their exact derivatives,

    min c.(d, t)    s.t.  g + g' (d, t) >= 0,   |d| <= radius,   0 <= u + d <= 1,

violated limits with a slack that costs more than any gain. A step is taken if the merit of the new design is better; otherwise, and where
the new design is impossible, the radius shrinks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.rings.design.optimization.nonlinear_program import GoalProgram, RowBlock
from linkwright.rings.design.optimization.problem import DesignPoint

MOST_STEPS = 30
FIRST_RADIUS = 0.02
SMALLEST = 1e-5
WIDE = 1e-4  # radius in which a linear program without a gain means an optimum
COST = 1e3  # of a slack, in the scale of the goal
GOOD, FAIR = 0.5, 0.05  # shares of the predicted gain: the radius grows, the step is taken


class LinearStep(NamedTuple):
    """A step of the numbers and auxiliary variables, and the gain that the linear program predicts."""

    d: np.ndarray
    gain: float


def linear_step(program: GoalProgram, p: DesignPoint, radius: float) -> LinearStep | None:
    """Solve the linear program at a design; None where it has no solution."""
    from scipy.optimize import linprog

    z = program.start(p)
    _, slope = program.objective(p, z)
    rows = _nearest(program.rows(p, z))
    n, size = program.n, len(z)
    limited = np.array([bool(o) for o in rows.owners], dtype=bool)
    # one slack for all rows of limits, which may be violated
    c = np.concatenate([slope, [COST]])
    unequal = ~rows.equality
    A = np.concatenate([-rows.slopes[unequal], -limited[unequal, None].astype(float)], axis=1)
    equal = rows.slopes[rows.equality]
    E = np.concatenate([equal, np.zeros((len(equal), 1))], axis=1) if len(equal) else None
    low = np.concatenate([np.maximum(-radius, -p.u), np.full(size - n, -np.inf), [0.0]])
    high = np.concatenate([np.minimum(radius, 1.0 - p.u), np.full(size - n + 1, np.inf)])
    found = linprog(
        c, A_ub=A, b_ub=rows.values[unequal], A_eq=E, b_eq=-rows.values[rows.equality] if len(equal) else None,
        bounds=np.stack([low, high], axis=1), method="highs",
    )  # fmt: skip
    if found.x is None or not found.success:
        return None
    now = COST * max(0.0, float(-rows.values[limited & unequal].min(initial=0.0)))
    return LinearStep(found.x[:size], now - float(c @ found.x))


def _nearest(rows: RowBlock) -> RowBlock:
    """Rows nearest to their bounds, and all equalities."""
    most_rows = 120  # of a linear program: those nearest to their bounds
    if len(rows.values) <= most_rows:
        return rows
    far = np.where(rows.equality, -np.inf, rows.values)
    mask = np.zeros(len(far), dtype=bool)
    mask[np.argsort(far, kind="stable")[:most_rows]] = True
    return rows.some(mask)
