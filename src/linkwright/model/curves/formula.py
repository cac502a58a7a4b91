"""Formulas: traced as one program of f, f' and f'', exactly differentiated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.compiler.derivatives import jacobian, replay
from linkwright.compiler.graph import Sym, TraceGraph
from linkwright.compiler.program import Program, interpret
from linkwright.errors import UsageError
from linkwright.model.curves import Curve, Jet
from linkwright.model.curves.combined import Finite
from linkwright.properties import cached_property
from linkwright.text.expressions import Expr, evaluate

SMOOTH = ("add", "sub", "mul", "div", "neg", "sqrt", "sin", "cos", "tan", "exp", "log", "asin", "acos", "atan", "atan2")


@dataclass(frozen=True, eq=False)
class Traced(Curve):
    """A program of x that gives f, f' and f''."""

    program: Program

    @classmethod
    def of(cls, f: Callable[[Any], Any]) -> Traced:
        """A function that takes a traced value."""
        g = TraceGraph()
        program = g.program([("f", np.array([f(g.input("t", 1)[0])], dtype=object))])
        return cls(_with_derivative(_with_derivative(program)))

    def __call__(self, x: Any, /) -> Jet:
        if type(x) is Sym or np.iscomplexobj(x):
            f, df, ddf = replay(self.program, [x])
            return f, df, ddf
        f, df, ddf = np.moveaxis(interpret(self.program, np.asarray(x, dtype=float)[..., None]), -1, 0)
        return f, df, ddf


def _with_derivative(program: Program) -> Program:
    """The program with the derivative of its last result added."""
    g = TraceGraph()
    found = jacobian(program, list(g.input("t", 1)), [0])
    last = len(found.results) - 1
    return g.program([("f", np.array([*found.results, found.columns[0].get(last, 0.0)], dtype=object))])


@dataclass(frozen=True)
class Formula(Curve):
    """An expression of one variable, finite with its derivatives; `what` names it in messages."""

    expression: Expr
    what: str
    variable: str = "t"

    @cached_property
    def _traced(self) -> Curve:
        return Finite(Traced.of(self.value), self.what)

    def __call__(self, x: Any, /) -> Jet:
        if isinstance(x, (int, float)):
            self.value(x)  # an error there names the function that has no value
        return self._traced(x)

    def value(self, x: Any, /) -> Any:
        if isinstance(x, np.ndarray):
            return self._traced.value(x)
        found = evaluate(self.expression, {self.variable: x})
        if isinstance(found, (int, float)) and not np.isfinite(found):
            raise UsageError(
                f"{self.what}: '{self.expression}' is {found} at t = {float(x):.6g} s. It must be finite.", name=self.expression
            )
        return found


def need_smooth(f: Any) -> None:
    """Refuse an expression whose derivatives jump, or that is no closed form of calculus."""
    if not isinstance(f, Expr) or f.op == "var":
        return
    if f.op not in SMOOTH and len(f.args) == 1:
        raise UsageError(f"'{f.op}' in '{f}' has a corner and cannot drive a motion. Use sin, cos, sqrt, exp or powers.", name=f.op)
    if f.op not in SMOOTH and (f.op != "pow" or isinstance(f.args[1], Expr)):
        raise UsageError(f"'{f}' cannot be differentiated. Use sums, products, constant powers, sin, cos, sqrt and exp.", name=f)
    for part in f.args:
        need_smooth(part)
