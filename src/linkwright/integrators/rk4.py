"""The classical Runge-Kutta method of order 4 with fixed steps  [Hairer1993, II.1]; output inside a step by cubic Hermite."""

from __future__ import annotations

from linkwright.integrators.problem import Method, table

RK4 = Method(
    "rk4",
    "classical Runge-Kutta of order 4, fixed step",
    table(({0: 1 / 2}, {1: 1 / 2}, {2: 1.0}), (0.0, 1 / 2, 1 / 2, 1.0), {0: 1 / 6, 1: 1 / 3, 2: 1 / 3, 3: 1 / 6}),
    order=4,
    dense_order=3,
)
