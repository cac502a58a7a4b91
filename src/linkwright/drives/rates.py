"""A function of time with its derivatives: exact by tracing it and differentiating the trace, else by differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.compiler.derivatives import jacobian, replay
from linkwright.compiler.graph import Graph
from linkwright.compiler.program import Program

SPACING = 1e-3  # s: between truncation h^4 and round-off eps/h^2 of second differences
LOOKS = (0.0, 0.083, 0.71, 3.3)  # s after the start, where a trace is compared with the function itself


@dataclass(frozen=True, eq=False)
class Traced:
    """f, f', f'', ... as one program of t."""

    program: Program
    exact = True

    def __call__(self, t: Any) -> tuple[Any, ...]:
        return tuple(replay(self.program, [t]))


@dataclass(frozen=True, eq=False)
class Differences:
    """f by itself, f' and f'' by five points, none of them before `begin`, where the function may not be defined."""

    f: Callable[[Any], Any]
    order: int
    begin: float = -np.inf
    exact = False

    def __call__(self, t: Any) -> tuple[Any, ...]:
        h = SPACING
        middle = max(t, self.begin + 2.0 * h)
        values = [self.f(middle + k * h) for k in (-2, -1, 0, 1, 2)]
        here = values[2] if middle == t else self.f(t)
        first, second = (sum(w * x for w, x in zip(weights, values, strict=True)) for weights in _weights((t - middle) / h))
        return (here, first / h, second / (h * h))[: self.order + 1]


def _weights(s: float) -> tuple[np.ndarray, np.ndarray]:
    """Of the values at -2 .. 2: first and second derivative at s of the parabola of fourth degree through them."""
    if s == 0.0:
        return np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0, np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0
    powers = np.linalg.inv(np.vander(np.arange(-2.0, 3.0), increasing=True))  # rows: coefficients of 1, x, x^2 ...
    k = np.arange(1.0, 5.0)
    return (k * s ** (k - 1)) @ powers[1:], (k[1:] * k[:-1] * s ** (k[1:] - 2.0)) @ powers[2:]


def differentiated(f: Callable[[Any], Any], order: int, t0: float) -> Traced | Differences:
    """f and its first derivatives along t."""
    try:
        g = Graph()
        program = g.program([("f", np.array([f(g.input("t", 1)[0])], dtype=object))])
        for _ in range(order):
            program = _with_derivative(program)
    except Exception:  # code of the user's meets a traced value, and may fail in any way it likes
        return Differences(f, order, t0)
    traced = Traced(program)
    return traced if all(_agree(f, traced, t0 + look) for look in LOOKS) else Differences(f, order, t0)


def _with_derivative(program: Program) -> Program:
    """The program with the derivative of its last result added."""
    g = Graph()
    found = jacobian(program, list(g.input("t", 1)), [0])
    last = len(found.results) - 1
    return g.program([("f", np.array([*found.results, found.columns[0].get(last, 0.0)], dtype=object))])


def _agree(f: Callable[[Any], Any], traced: Traced, t: float) -> bool:
    try:
        direct = float(f(t))
    except Exception:  # it ends earlier: what it does there is its own business, and shows when a run comes there
        return True
    return abs(direct - float(traced(t)[0])) <= 1e-9 * (1.0 + abs(direct))
