"""A flat program as one Python function of plain numbers: straight-line code, ready in milliseconds.

Between native code, which takes tenths of a second to make, and the algorithms on numpy arrays, which spend a hundred times
longer on a state than its arithmetic takes. The same text serves floats, complex numbers (complex-step derivatives), columns of
many states, and traced symbols (a trace written out again for other inputs): what differs are the functions it calls.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.compiler.program import Op, Program
from linkwright.numerics import scalars
from linkwright.properties import cached_property

DEEPEST = 20  # nesting saves names, and Python's parser allows only so many brackets
_FORMS: dict[int, str] = {
    Op.ADD: "({}+{})", Op.SUB: "({}-{})", Op.MUL: "({}*{})", Op.DIV: "({}/{})", Op.NEG: "(-{})", Op.SQRT: "sqrt({})", Op.ABS: "size({})",
    Op.SIN: "sin({})", Op.COS: "cos({})", Op.EXP: "exp({})", Op.LOG: "log({})", Op.TANH: "tanh({})", Op.ATAN2: "atan2({},{})",
    Op.POW: "pow({},{})", Op.ROUND: "rint({})", Op.MIN: "least({},{})", Op.MAX: "most({},{})", Op.LT: "below({},{})",
    Op.LE: "at_most({},{})", Op.SELECT: "choose({},{},{})",
}  # fmt: skip


def _choose(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


def _real(x: Any) -> float:
    return x.real


_FLOAT: dict[str, Callable[..., Any]] = {
    "sqrt": math.sqrt, "size": abs, "sin": math.sin, "cos": math.cos, "exp": math.exp, "log": math.log, "tanh": math.tanh,
    "atan2": math.atan2, "pow": math.pow, "least": min, "most": max, "rint": lambda x: float(round(x)),
    "below": lambda a, b: a < b, "at_most": lambda a, b: a <= b, "choose": _choose,
}  # fmt: skip
# analytic along the complex step: conditions and whole turns look at real parts only
_COMPLEX: dict[str, Callable[..., Any]] = {
    "sqrt": cmath.sqrt, "size": lambda x: x if _real(x) >= 0.0 else -x, "sin": cmath.sin, "cos": cmath.cos, "exp": cmath.exp,
    "log": cmath.log, "tanh": cmath.tanh, "atan2": lambda y, x: scalars.arctan2(complex(y), complex(x)), "pow": pow,
    "least": lambda a, b: a if _real(a) <= _real(b) else b, "most": lambda a, b: b if _real(a) <= _real(b) else a,
    "rint": lambda x: float(round(_real(x))), "below": lambda a, b: _real(a) < _real(b),
    "at_most": lambda a, b: _real(a) <= _real(b), "choose": _choose,
}  # fmt: skip

_COLUMNS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "size": np.abs, "sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log, "tanh": np.tanh, "atan2": np.arctan2,
    "pow": np.power, "least": np.minimum, "most": np.maximum, "rint": np.rint, "below": np.less, "at_most": np.less_equal,
    "choose": np.where,
}  # fmt: skip
_SYMBOLS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "size": abs, "sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log, "tanh": np.tanh, "atan2": np.arctan2,
    "pow": pow, "least": scalars.minimum, "most": scalars.maximum, "rint": np.rint, "below": lambda a, b: a < b,
    "at_most": lambda a, b: a <= b, "choose": scalars.where,
}  # fmt: skip


def _statements(program: Program, wanted: Sequence[int]) -> tuple[list[str], list[str]]:
    """(assignments, texts of the wanted values): a value used once is written inside the expression that uses it."""
    ops = program.ops
    uses = [0] * len(ops)
    for op, *operands in ops:
        if op > Op.INPUT:
            for k in operands:
                if k >= 0:
                    uses[k] += 1
    for k in wanted:
        uses[k] += 1
    lines: list[str] = []
    text, depth = [""] * len(ops), [0] * len(ops)
    for k, (op, a, b, c) in enumerate(ops):
        if op == Op.CONST:
            text[k] = f"({a!r})" if a < 0.0 else repr(a)
        elif op == Op.INPUT:
            text[k] = f"x{a}"
        else:
            expression = _FORMS[op].format(text[a], text[b], text[c])
            deep = 1 + max(depth[a], depth[b] if b >= 0 else 0, depth[c] if c >= 0 else 0)
            if uses[k] == 1 and deep < DEEPEST:
                text[k], depth[k] = expression, deep
            else:
                lines.append(f" a{k}={expression}")
                text[k] = f"a{k}"
    return lines, [text[k] for k in wanted]


@dataclass(frozen=True)
class Straight:
    """The function of a program: packed inputs as a list, packed outputs as an array."""

    program: Program

    @cached_property
    def _code(self) -> Any:
        inputs = "".join(f"x{i}," for i in range(self.program.n_in))
        lines, results = _statements(self.program, [self.program.results[i] for i in self._moving])
        head = ["def run(x):", f" {inputs}=x"] if inputs else ["def run(x):"]
        return compile("\n".join([*head, *lines, f" return ({''.join(f'{r},' for r in results)})"]), "<straight-line code>", "exec")

    @cached_property
    def _moving(self) -> list[int]:
        """Results that are not constants."""
        return [i for i, r in enumerate(self.program.results) if self.program.ops[r][0] != Op.CONST]

    @cached_property
    def _fixed(self) -> np.ndarray:
        ops = [self.program.ops[r] for r in self.program.results]
        return np.array([op[1] if op[0] == Op.CONST else 0.0 for op in ops], dtype=float)

    @cached_property
    def _places(self) -> np.ndarray:
        return np.array(self._moving, dtype=int)

    def _bound(self, functions: dict[str, Callable[..., Any]]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        scope: dict[str, Any] = {**functions, "inf": math.inf, "nan": math.nan}
        exec(self._code, scope)
        return scope["run"]

    @cached_property
    def _on_floats(self) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        return self._bound(_FLOAT)

    @cached_property
    def _on_complex(self) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        return self._bound(_COMPLEX)

    def __call__(self, x: Sequence[float]) -> np.ndarray:
        """Outputs of plain floats. Raises ArithmeticError or ValueError where numpy would give inf or nan."""
        y = self._fixed.copy()
        y[self._places] = self._on_floats(x)
        return y

    def on_complex(self, x: Sequence[complex]) -> np.ndarray:
        y = self._fixed.astype(complex)
        y[self._places] = self._on_complex(x)
        return y

    @cached_property
    def on_columns(self) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        """The function on columns of states; it returns the results that are not constants."""
        return self._bound(_COLUMNS)

    @cached_property
    def on_symbols(self) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        """The same on traced symbols and numbers."""
        return self._bound(_SYMBOLS)
