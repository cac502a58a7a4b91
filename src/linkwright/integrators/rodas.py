"""RODAS of Hairer and Wanner: a Rosenbrock method of order 4 (error by order 3) for stiff systems  [Hairer1996, IV.7].

Six stages, L-stable and stiffly accurate. Every stage solves one linear system with the same matrix I/gamma - h df/dy, so there
is no iteration that could fail. The coefficients are those of stages without products with the matrix; row 0 of the table is
the derivative at the start of the step. Output inside a step comes from a shorter step of its own: the method's polynomial
of order 3 misses components that follow others without delay (7e-3 where the ends of steps are good to 1e-8).
"""

from __future__ import annotations

from linkwright.integrators.problem import Method, table

# fmt: off
_LAST = {1: 1.221224509226641, 2: 6.019134481288629, 3: 12.53708332932087, 4: -0.6878860361058950}
_A = (
    {},
    {1: 1.544},
    {1: 0.9466785280815826, 2: 0.2557011698983284},
    {1: 3.314825187068521, 2: 2.896124015972201, 3: 0.9986419139977817},
    _LAST,
    _LAST | {5: 1.0},
)
_C = (0.0, 0.0, 0.386, 0.21, 0.63, 1.0, 1.0)
_COUPLING = (
    {},
    {},
    {1: -5.6688},
    {1: -2.430093356833875, 2: -0.2063599157091915},
    {1: -0.1073529058151375, 2: -9.594562251023355, 3: -20.47028614809616},
    {1: 7.496443313967647, 2: -10.24680431464352, 3: -33.99990352819905, 4: 11.70890893206160},
    {1: 8.083246795921522, 2: -7.981132988064893, 3: -31.52159432874371, 4: 16.31930543123136, 5: -6.058818238834054},
    {},
)
_SLOPE = (0.0, 0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0, 0.0)
# fmt: on

RODAS = Method(
    "rodas",
    "Rosenbrock method RODAS 4(3) for stiff systems, adaptive",
    table(
        _A, _C, _LAST | {5: 1.0, 6: 1.0}, error=({6: 1.0},), exponent=1 / 4, shrink=0.2, grow=6.0,
        gamma=0.25, coupling=_COUPLING, slope=_SLOPE,
    ),
    order=4,
    dense_order=4,
)  # fmt: skip
