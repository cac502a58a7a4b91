"""A flat program on the numbers of another library, operation by operation: every order of derivatives is then the library's own."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linkwright.api import Program, programs

_PLAIN: dict[int, Callable[..., Any]] = {
    programs.Op.ADD: operator.add,
    programs.Op.SUB: operator.sub,
    programs.Op.MUL: operator.mul,
    programs.Op.DIV: operator.truediv,
    programs.Op.NEG: operator.neg,
}
NAMES = {
    programs.Op.SQRT: "sqrt",
    programs.Op.ABS: "abs",
    programs.Op.SIN: "sin",
    programs.Op.COS: "cos",
    programs.Op.EXP: "exp",
    programs.Op.LOG: "log",
    programs.Op.TANH: "tanh",
    programs.Op.ATAN2: "atan2",
    programs.Op.POW: "pow",
    programs.Op.ROUND: "round",
    programs.Op.MIN: "min",
    programs.Op.MAX: "max",
    programs.Op.LT: "lt",
    programs.Op.LE: "le",
    programs.Op.SELECT: "select",
}


def evaluate(program: Program, x: Sequence[Any], functions: Mapping[str, Callable[..., Any]], number: Callable[[float], Any]) -> list[Any]:
    """Return the results on numbers x of the packed inputs. `functions` by the names in `NAMES`; comparisons give
    1.0 or 0.0, `select` takes its second argument where the first is not 0; `number` makes a constant."""
    table = {**_PLAIN, **{op: functions[name] for op, name in NAMES.items()}}
    values: list[Any] = []
    for op, a, b, c in program.ops:
        if op == programs.Op.CONST:
            values.append(number(float(a)))
        elif op == programs.Op.INPUT:
            values.append(x[a])
        elif op == programs.Op.SELECT:
            values.append(table[op](values[a], values[b], values[c]))
        else:
            values.append(table[op](values[a]) if b < 0 else table[op](values[a], values[b]))
    return [values[r] for r in program.results]
