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
    """f by itself, f' and f'' by five points."""

    f: Callable[[Any], Any]
    order: int
    exact = False

    def __call__(self, t: Any) -> tuple[Any, ...]:
        h = SPACING
        back2, back, here, on, on2 = (self.f(t + k * h) for k in (-2, -1, 0, 1, 2))
        first = (8.0 * (on - back) - (on2 - back2)) / (12.0 * h)
        second = (16.0 * (on + back) - (on2 + back2) - 30.0 * here) / (12.0 * h * h)
        return (here, first, second)[: self.order + 1]


def differentiated(f: Callable[[Any], Any], order: int, t0: float) -> Traced | Differences:
    """f and its first derivatives along t."""
    try:
        g = Graph()
        program = g.program([("f", np.array([f(g.input("t", 1)[0])], dtype=object))])
        for _ in range(order):
            program = _with_derivative(program)
    except Exception:  # code of the user's meets a traced value, and may fail in any way it likes
        return Differences(f, order)
    traced = Traced(program)
    return traced if all(_agree(f, traced, t0 + look) for look in LOOKS) else Differences(f, order)


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
