"""Expressions of named variables, stored as frozen trees that compare, hash and print.

An `Expr` takes part in arithmetic like a number, so plain geometry code runs on floats and on
expressions alike; constants fold on the way, and an expression without variables is a float.
`evaluate` puts values in: floats, complex numbers, or any object with operators and methods
`sqrt sin cos ...` (a traced symbol). `str(expr)` is text that the model file's parser reads back
to the identical tree.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from linkwright.errors import ModelError, nearest

Number = Any  # float | Expr, or any scalar that evaluate() was given

UNARY = ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "log10", "abs")
BINARY_FUNCTIONS = ("atan2", "min", "max")
FUNCTIONS = UNARY + BINARY_FUNCTIONS
_METHOD = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "min": "minimum", "max": "maximum"}
SYMBOL = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "^"}

LEVEL = {"add": 1, "sub": 1, "mul": 2, "div": 2, "neg": 3, "pow": 4}
LONGEST = 1000  # operations, names and numbers of a text that is printed whole
DEPTH = 6  # operations inside each other that are shown of a longer one


class Expr:
    """One node: `op` with `args`, which are nodes, floats or, for `var`, the variable's name."""

    __slots__ = ("__weakref__", "_hash", "args", "op")
    op: str
    args: tuple[Any, ...]
    _hash: int

    def __new__(cls, op: str, args: tuple[Any, ...]) -> Expr:
        """Equal expressions are one object: comparing is cheap and shared parts stay shared."""
        known = _EXPRESSIONS.get((op, args))
        if known is not None:
            return known
        self = object.__new__(cls)
        object.__setattr__(self, "op", op)
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "_hash", hash((op, args)))
        _EXPRESSIONS[(op, args)] = self
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an Expr is frozen: '{name}' cannot be set")

    def __reduce__(self) -> Any:
        return (Expr, (self.op, self.args))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Expr) and self._hash == other._hash and self.op == other.op and self.args == other.args

    def __repr__(self) -> str:
        return f"Expr({brief(self)!r})"

    def __str__(self) -> str:
        return text(self, 0)

    def __float__(self) -> float:
        printed, needs = brief(self), ", ".join(sorted(free_variables(self)))
        raise ModelError(f"'{printed}' has no value until {needs} is given. Call evaluate() with values for it.", name=printed)

    def __add__(self, other: Number) -> Number:
        return _combine("add", self, other)

    def __radd__(self, other: Number) -> Number:
        return _combine("add", other, self)

    def __sub__(self, other: Number) -> Number:
        return _combine("sub", self, other)

    def __rsub__(self, other: Number) -> Number:
        return _combine("sub", other, self)

    def __mul__(self, other: Number) -> Number:
        return _combine("mul", self, other)

    def __rmul__(self, other: Number) -> Number:
        return _combine("mul", other, self)

    def __truediv__(self, other: Number) -> Number:
        return _combine("div", self, other)

    def __rtruediv__(self, other: Number) -> Number:
        return _combine("div", other, self)

    def __pow__(self, other: Number) -> Number:
        return _combine("pow", self, other)

    def __rpow__(self, other: Number) -> Number:
        return _combine("pow", other, self)

    def __neg__(self) -> Number:
        return self.args[0] if self.op == "neg" else Expr("neg", (self,))

    def __pos__(self) -> Number:
        return self

    def __abs__(self) -> Number:
        return Expr("abs", (self,))

    # the names numpy looks for on the entries of an object array
    def sqrt(self) -> Number:
        return Expr("sqrt", (self,))

    def sin(self) -> Number:
        return Expr("sin", (self,))

    def cos(self) -> Number:
        return Expr("cos", (self,))

    def tan(self) -> Number:
        return Expr("tan", (self,))

    def arcsin(self) -> Number:
        return Expr("asin", (self,))

    def arccos(self) -> Number:
        return Expr("acos", (self,))

    def arctan(self) -> Number:
        return Expr("atan", (self,))

    def exp(self) -> Number:
        return Expr("exp", (self,))

    def log(self) -> Number:
        return Expr("log", (self,))

    def arctan2(self, other: Number) -> Number:
        return Expr("atan2", (self, _leaf(other)))

    def minimum(self, other: Number) -> Number:
        return Expr("min", (self, _leaf(other)))

    def maximum(self, other: Number) -> Number:
        return Expr("max", (self, _leaf(other)))


_EXPRESSIONS: WeakValueDictionary[tuple[str, tuple[Any, ...]], Expr] = WeakValueDictionary()


def variable(name: str) -> Expr:
    """The expression that stands for `name`."""
    return Expr("var", (name,))


def _is_real(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def _leaf(x: Any) -> Any:
    return float(x) if _is_real(x) else x


def _combine(op: str, a: Any, b: Any) -> Any:
    """a op b where at least one is an Expr, with the folds x*0, x*1, x+0, x^1 ..."""
    if hasattr(a, "__array__") and hasattr(a, "dtype") and getattr(a, "ndim", 0):
        return NotImplemented  # numpy goes entry by entry
    if hasattr(b, "__array__") and hasattr(b, "dtype") and getattr(b, "ndim", 0):
        return NotImplemented
    a, b = _leaf(a), _leaf(b)
    a_is, b_is = (a if _is_real(a) else None), (b if _is_real(b) else None)
    if op == "add":
        if a_is == 0.0:
            return b
        if b_is == 0.0:
            return a
    elif op == "sub":
        if b_is == 0.0:
            return a
        if a_is == 0.0:
            return -b
        if a is b:
            return 0.0
    elif op == "mul":
        if a_is == 0.0 or b_is == 0.0:
            return 0.0
        if a_is == 1.0:
            return b
        if b_is == 1.0:
            return a
        if a is b and isinstance(a, Expr) and a.op == "sqrt":
            return a.args[0]
    elif op == "div":
        if b_is == 0.0:
            raise ModelError(f"'{a}' is divided by zero. Check the divisor.", name=a)
        if a_is == 0.0:
            return 0.0
        if b_is == 1.0:
            return a
    elif op == "pow":
        if b_is == 1.0:
            return a
        if b_is == 0.0:
            return 1.0
    return Expr(op, (a, b))


# ---------------------------------------------------------------- functions on any scalar
def _analytic_atan2(y: Any, x: Any) -> Any:
    """atan2 whose imaginary part is its first derivative, for complex steps."""
    y, x = complex(y), complex(x)
    square = x.real**2 + y.real**2
    if square == 0.0:
        raise ModelError("atan2(0, 0) has no value. Give it a direction.")
    return complex(math.atan2(y.real, x.real), (x.real * y.imag - y.real * x.imag) / square)


def _real(x: Any) -> float:
    return x.real if isinstance(x, complex) else x


_FLOAT: dict[str, Callable[..., Any]] = {
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos,
    "atan": math.atan, "exp": math.exp, "log": math.log, "log10": math.log10, "abs": abs, "atan2": math.atan2, "min": min, "max": max,
}  # fmt: skip
_COMPLEX: dict[str, Callable[..., Any]] = {
    "sqrt": cmath.sqrt, "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "asin": cmath.asin, "acos": cmath.acos,
    "atan": cmath.atan, "exp": cmath.exp, "log": cmath.log, "log10": cmath.log10, "abs": lambda x: -x if x.real < 0 else x,
    "atan2": _analytic_atan2,
    "min": lambda a, b: a if _real(a) <= _real(b) else b, "max": lambda a, b: a if _real(a) >= _real(b) else b,
}  # fmt: skip


def apply(function: str, *args: Any) -> Any:
    """A function of `FUNCTIONS` on floats, complex numbers, expressions or traced symbols."""
    if all(_is_real(a) for a in args):
        try:
            return float(_FLOAT[function](*args))
        except (ValueError, OverflowError) as error:
            inside = ", ".join(f"{a:g}" for a in args)
            raise ModelError(f"{function}({inside}) has no real value. Check the numbers that go into it.", name=function) from error
    if all(_is_real(a) or isinstance(a, complex) for a in args):
        return _COMPLEX[function](*(complex(a) for a in args))
    if function == "abs":
        return abs(args[0])
    if function == "log10":
        return apply("log", args[0]) * (1.0 / math.log(10.0))
    first, *rest = args
    if hasattr(first, _METHOD.get(function, function)):
        return getattr(first, _METHOD.get(function, function))(*rest)
    if isinstance(args[-1], Expr) or isinstance(first, Expr):
        return Expr(function, tuple(_leaf(a) for a in args))
    if function in ("min", "max"):
        return apply(function, args[1], args[0])
    if hasattr(args[-1], "lifted"):  # a traced symbol beside a number
        return apply(function, args[-1].lifted(first), *rest)
    raise ModelError(f"{function}() does not work on a {type(first).__name__}. Use numbers, or sqrt, sin, cos, exp (for all scalars).")


def sqrt(x: Number) -> Number:
    return apply("sqrt", x)


def sin(x: Number) -> Number:
    return apply("sin", x)


def cos(x: Number) -> Number:
    return apply("cos", x)


def tan(x: Number) -> Number:
    return apply("tan", x)


def atan2(y: Number, x: Number) -> Number:
    return apply("atan2", y, x)


def combine(op: str, a: Any, b: Any) -> Any:
    """a op b (`add sub mul div pow`) on any scalars, with an error of ours instead of Python's."""
    try:
        if op == "add":
            return a + b
        if op == "sub":
            return a - b
        if op == "mul":
            return a * b
        if op == "div":
            return a / b
        return _power(a, b)
    except ZeroDivisionError as error:
        raise ModelError(f"'{a} {SYMBOL[op]} {b}' divides by zero. Check the divisor.", name=f"{a} {SYMBOL[op]} {b}") from error
    except OverflowError as error:
        raise ModelError(f"'{a} {SYMBOL[op]} {b}' is too large for a number.") from error


def _power(a: Any, b: Any) -> Any:
    if not _is_real(b) or isinstance(a, Expr):
        return a**b
    if b == 0.5:
        return apply("sqrt", a)
    if float(b).is_integer() and abs(b) < 1000:
        whole = int(b)  # symbols and complex numbers multiply; whole powers stay exact
        return float(a) ** whole if _is_real(a) else a**whole
    if _is_real(a) and a < 0:
        raise ModelError(f"'{a} ^ {b}' has no real value. A negative number takes whole powers only.")
    return a**b


# ---------------------------------------------------------------- values for variables
def evaluate(expr: Number, env: Mapping[str, Any]) -> Any:
    """`expr` with the variables of `env` replaced; variables it does not name stay variables."""
    return _evaluate(expr, env, {}) if isinstance(expr, Expr) else expr


class Evaluation:
    """Values for variables, for many expressions with common parts: each part is computed once."""

    def __init__(self, env: Mapping[str, Any]):
        self.env = env
        self.done: dict[int, Any] = {}
        self.retained: list[Any] = []  # so that no id is used twice

    def __call__(self, expr: Expr) -> Any:
        self.retained.append(expr)
        return _evaluate(expr, self.env, self.done)


def _evaluate(expr: Any, env: Mapping[str, Any], done: dict[int, Any]) -> Any:
    if expr.__class__ is not Expr:
        return expr
    key, op = id(expr), expr.op
    if key in done:  # shared parts are computed once
        return done[key]
    if op == "var":
        value = env.get(expr.args[0], expr)
    elif op in SYMBOL:
        a, b = expr.args
        if a.__class__ is Expr:
            a = done[id(a)] if id(a) in done else _evaluate(a, env, done)
        if b.__class__ is Expr:
            b = done[id(b)] if id(b) in done else _evaluate(b, env, done)
        value = a * b if op == "mul" else a + b if op == "add" else combine(op, a, b)
    else:
        args = [_evaluate(a, env, done) for a in expr.args]
        value = -args[0] if op == "neg" else apply(op, *args)
    done[key] = value
    return value


def free_variables(expr: Number) -> frozenset[str]:
    """The names an expression depends on."""
    found: set[str] = set()
    todo, seen = [expr], set()
    while todo:
        node = todo.pop()
        if not isinstance(node, Expr) or id(node) in seen:
            continue
        seen.add(id(node))
        if node.op == "var":
            found.add(node.args[0])
        else:
            todo.extend(node.args)
    return frozenset(found)


def evaluate_parameters(parameters: Mapping[str, Number], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The value of every parameter; they may refer to each other, and `overrides` win."""
    unknown = [name for name in overrides if name not in parameters]
    if unknown:
        raise ModelError(f"there is no parameter '{unknown[0]}'.", None, nearest(unknown[0], parameters, "Parameters"))
    values: dict[str, Any] = {name: _leaf(value) for name, value in overrides.items()}
    for name in dependency_order({n: free_variables(e) if n not in values else () for n, e in parameters.items()}):
        if name not in values:
            values[name] = evaluate(_leaf(parameters[name]), values)
    return {name: values[name] for name in parameters}


def dependency_order(needs: Mapping[str, Iterable[str]]) -> list[str]:
    """Names ordered so that each comes after what it needs; a cycle is an error that shows it."""
    order: list[str] = []
    state: dict[str, int] = {}  # 1: being visited, 2: done
    for root in needs:
        path: list[tuple[str, list[str]]] = []
        if root not in state:
            state[root] = 1
            path.append((root, [n for n in sorted(needs[root]) if n in needs]))
        while path:
            name, pending = path[-1]
            if not pending:
                state[name] = 2
                order.append(name)
                path.pop()
                continue
            following = pending.pop(0)
            if state.get(following) == 1:
                names = [n for n, _ in path]
                cycle = " -> ".join([*names[names.index(following) :], following])
                raise ModelError(f"the parameters depend on each other in a circle: {cycle}. Give one of them a number.", name="parameters")
            if following not in state:
                state[following] = 1
                path.append((following, [n for n in sorted(needs[following]) if n in needs]))
    return order


# Expressions as text: whole, which the parser of model files reads back, or brief, for people.


def brief(x: Any) -> str:
    """The printed form for messages and for people: what is deep inside a long one is left out.

    Expressions share their parts (`let`), and written out each part is repeated: thirty lines that use the one before twice would print
    a billion terms.
    """
    return text(x, 0) if _printed_size(x) <= LONGEST else _outline(x, DEPTH)


def _printed_size(x: Any) -> int:
    """How many operations, names and numbers the printed form has: parts count as often as they are used."""
    sizes: dict[int, int] = {}
    todo = [x]
    while todo:
        node = todo[-1]
        parts = [a for a in node.args if isinstance(a, Expr)] if isinstance(node, Expr) and node.op != "var" else []
        missing = [a for a in parts if id(a) not in sizes]
        if missing:
            todo += missing
            continue
        todo.pop()
        sizes[id(node)] = 1 + sum(sizes[id(a)] for a in parts) + (len(node.args) - len(parts) if parts else 0)
    return sizes[id(x)]


def _outline(x: Any, depth: int) -> str:
    """The outermost operations of an expression, with dots for what is inside."""
    if not isinstance(x, Expr) or x.op == "var":
        return text(x, 0)
    if depth == 0:
        return "..."
    parts = [_outline(a, depth - 1) for a in x.args]
    if x.op in SYMBOL:
        return f"({parts[0]} {SYMBOL[x.op]} {parts[1]})"
    return f"-{parts[0]}" if x.op == "neg" else f"{x.op}({', '.join(parts)})"


def text(x: Any, level: int) -> str:
    """The printed form, in parentheses when it binds less tightly than `level`."""
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        printed = repr(float(x))
        return f"({printed})" if printed.startswith("-") and level > 1 else printed
    if not isinstance(x, Expr):
        return repr(x)
    if x.op == "var":
        return x.args[0]
    if x.op == "neg":
        printed, own = "-" + text(x.args[0], 4), 3
    elif x.op in SYMBOL:
        printed, own = _chain(x), LEVEL[x.op]
    else:
        return f"{x.op}({', '.join(text(a, 0) for a in x.args)})"
    return f"({printed})" if own < level else printed


def _chain(x: Expr) -> str:
    """`a + b - c`: a row of operations from its last operand to its first, so that long sums neither nest nor repeat."""
    pieces: list[str] = []
    at: Any = x
    while True:
        own = LEVEL[at.op]
        # left to right: an equal level needs parentheses on the right; powers only take atoms
        left, right = (5, 5) if at.op == "pow" else (own, own + 1)
        pieces += [text(at.args[1], right), f" {SYMBOL[at.op]} " if own == 1 else SYMBOL[at.op]]
        at = at.args[0]
        if not isinstance(at, Expr) or at.op not in SYMBOL or LEVEL[at.op] < left:
            return "".join([text(at, left), *reversed(pieces)])
