"""A flat program on the numbers of another library, operation by operation: every order of derivatives is then the library's own."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linkwright.compiler.program import Op, Program

_PLAIN: dict[int, Callable[..., Any]] = {
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.MUL: operator.mul,
    Op.DIV: operator.truediv,
    Op.NEG: operator.neg,
}
NAMES = {
    Op.SQRT: "sqrt",
    Op.ABS: "abs",
    Op.SIN: "sin",
    Op.COS: "cos",
    Op.EXP: "exp",
    Op.LOG: "log",
    Op.TANH: "tanh",
    Op.ATAN2: "atan2",
    Op.POW: "pow",
    Op.ROUND: "round",
    Op.MIN: "min",
    Op.MAX: "max",
    Op.LT: "lt",
    Op.LE: "le",
    Op.SELECT: "select",
}


def evaluate(program: Program, x: Sequence[Any], functions: Mapping[str, Callable[..., Any]], number: Callable[[float], Any]) -> list[Any]:
    """Return the results on numbers x of the packed inputs. `functions` by the names in `NAMES`; comparisons give
    1.0 or 0.0, `select` takes its second argument where the first is not 0; `number` makes a constant."""
    table = {**_PLAIN, **{op: functions[name] for op, name in NAMES.items()}}
    values: list[Any] = []
    for op, a, b, c in program.ops:
        if op == Op.CONST:
            values.append(number(float(a)))
        elif op == Op.INPUT:
            values.append(x[a])
        elif op == Op.SELECT:
            values.append(table[op](values[a], values[b], values[c]))
        else:
            values.append(table[op](values[a]) if b < 0 else table[op](values[a], values[b]))
    return [values[r] for r in program.results]
