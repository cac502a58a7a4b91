"""Tables of Runge-Kutta and Rosenbrock methods in the layout the loops read, and the shape every integrator has.

A method is data: coefficients by row and column. Row `stages` of the table holds the weights of the solution, so the
derivative at the new state is one more row of K; rows after it are evaluated only where output inside a step is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

Row = Mapping[int, float]


@dataclass(frozen=True)
class Tableau:
    """Coefficients and step control of a method; without error estimates its steps are fixed."""

    a: np.ndarray  # (rows, rows)
    c: np.ndarray
    error: np.ndarray  # (0, 1 or 2, rows); two are combined as in DOP853
    dense: np.ndarray  # (terms beyond the cubic, rows)
    stages: int
    exponent: float  # of the error in the step control
    shrink: float  # most a step may shrink and grow at once
    grow: float
    safety: float
    gamma: float = 0.0  # of a Rosenbrock method: the matrix is I / gamma - h df/dy
    coupling: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # of its stages, and their shares of df/dt
    slope: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class Method:
    """An integrator: its name for users, its table, and what can be promised of it."""

    name: str
    text: str
    table: Tableau = field(repr=False)
    order: int
    dense_order: int

    @property
    def adaptive(self) -> bool:
        return len(self.table.error) > 0


def table(
    a: Sequence[Row],
    c: Sequence[float],
    b: Row,
    *,
    error: Sequence[Row] = (),
    extra: Sequence[Row] = (),
    c_extra: Sequence[float] = (),
    dense: Sequence[Row] = (),
    exponent: float = 0.0,
    shrink: float = 1.0,
    grow: float = 1.0,
    safety: float = 0.9,
    gamma: float = 0.0,
    coupling: Sequence[Row] = (),
    slope: Sequence[float] = (),
) -> Tableau:
    """Dense arrays of sparse rows: `a` without the empty first row, `b` the weights, `extra` rows after the new state's."""
    stages = len(a) + 1
    rows = stages + 1 + len(extra)
    return Tableau(
        _filled([{}, *a, b, *extra], rows),
        np.array([*c, 1.0, *c_extra]),
        _filled(error, rows),
        _filled(dense, rows),
        stages,
        exponent,
        shrink,
        grow,
        safety,
        gamma,
        _filled(coupling, rows),
        np.array(slope),
    )


def _filled(rows: Sequence[Row], width: int) -> np.ndarray:
    out = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for j, value in row.items():
            out[i, j] = value
    return out
