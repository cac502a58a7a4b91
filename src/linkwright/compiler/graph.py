"""The traced scalar: run an algorithm once on `Sym`s and the graph holds every operation it did.

A `Sym` takes the place of a float in numpy arrays of `dtype=object`. Nodes are hash-consed, so a subexpression that
occurs twice is one node; plain numbers stay plain numbers and are folded (0 x, 1 x, x + 0, signs pulled outwards). A
Python branch on a traced value cannot be recorded and is refused with advice. `TraceGraph.program` turns results into a flat
program, which every back end reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwright.compiler.program import Block, Op, Program, pruned
from linkwright.errors import UsageError


class TracingError(UsageError):
    """An algorithm did something with a traced value that only a number can answer."""


class TraceGraph:
    """All operations of one trace; `inputs` declares variables, `program` collects results."""

    __slots__ = ("a", "inputs_", "known", "op", "ops", "values")

    def __init__(self) -> None:
        self.ops: list[tuple[int, Any, int, int]] = []
        self.op: list[int] = []  # the first two of each again: tracing asks for them all the time
        self.a: list[Any] = []
        self.known: dict[Any, Sym] = {}
        self.values: dict[int, float] = {}  # of constants
        self.inputs_: list[Block] = []

    def input(self, name: str, shape: tuple[int, ...] | int) -> np.ndarray:
        """An array of fresh variables."""
        dims = (shape,) if isinstance(shape, int) else shape
        start = sum(block.size for block in self.inputs_)
        block = Block(name, dims, start)
        self.inputs_.append(block)
        out = np.empty(block.size, dtype=object)
        for i in range(block.size):
            out[i] = self.node(Op.INPUT, start + i)
        return out.reshape(dims)

    def node(self, op: int, a: Any, b: int = -1, c: int = -1) -> Sym:
        key = (op, a, b, c)
        found = self.known.get(key)
        if found is None:
            found = Sym(self, len(self.op))
            self.known[key] = found
            self.ops.append(key)
            self.op.append(op)
            self.a.append(a)
        return found

    def constant(self, x: float) -> int:
        """Index of a constant's node; -0.0 is not 0.0."""
        key = (Op.CONST, x, math.copysign(1.0, x))
        found = self.known.get(key)
        if found is None:
            found = Sym(self, len(self.op))
            self.known[key] = found
            self.values[found.i] = x
            self.ops.append((Op.CONST, x, -1, -1))
            self.op.append(Op.CONST)
            self.a.append(x)
        return found.i

    def index(self, x: Any) -> int:
        return x.i if type(x) is Sym else self.constant(float(x))

    def value(self, i: int) -> Any:
        """The number of a constant's node, else its Sym."""
        return self.values[i] if self.op[i] == Op.CONST else Sym(self, i)

    def inverse_of_reciprocal(self, i: int) -> Any:
        """x of a node 1/x, so that a division by it is a product; None of other nodes."""
        _, first, second, _ = self.ops[i]
        return Sym(self, second) if self.op[i] == Op.DIV and self.values.get(first) == 1.0 else None

    def program(self, outputs: Sequence[tuple[str, Any]]) -> Program:
        """The flat program that computes named arrays; operations nothing depends on are gone."""
        blocks: list[Block] = []
        results: list[int] = []
        for name, array in outputs:
            entries = np.asarray(array, dtype=object)
            blocks.append(Block(name, entries.shape, len(results)))
            results += [self.index(x) for x in entries.ravel()]
        return pruned(self.ops, results, tuple(self.inputs_), tuple(blocks))


_NUMBERS = (float, int, np.floating, np.integer)


class Sym:
    """One node of a graph, with the arithmetic of a float."""

    __slots__ = ("g", "i")

    def __init__(self, g: TraceGraph, i: int):
        self.g = g
        self.i = i

    def __repr__(self) -> str:
        return f"Sym({Op(self.g.op[self.i]).name.lower()} #{self.i})"

    # ---------------------------------------------------------------- sums

    def __add__(self, other: Any) -> Any:
        g, i = self.g, self.i
        if type(other) is not Sym:
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            if other == 0:
                return self
            return other - Sym(g, g.a[i]) if g.op[i] == Op.NEG else g.node(Op.ADD, i, g.constant(float(other)))
        j = other.i
        if g.op[j] == Op.NEG:
            return _difference(g, i, g.a[j])
        if g.op[i] == Op.NEG:
            return _difference(g, j, g.a[i])
        return g.node(Op.ADD, i, j) if i <= j else g.node(Op.ADD, j, i)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is not Sym:
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            return self + -other
        g, j = self.g, other.i
        if g.op[j] == Op.NEG:
            return self + Sym(g, g.a[j])
        return _difference(g, self.i, j)

    def __rsub__(self, other: Any) -> Any:
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        if other == 0:
            return -self
        g = self.g
        if g.op[self.i] == Op.NEG:
            return Sym(g, g.a[self.i]) + other
        return g.node(Op.SUB, g.constant(float(other)), self.i)

    def __neg__(self) -> Any:
        g, i = self.g, self.i
        if g.op[i] == Op.NEG:
            return Sym(g, g.a[i])
        if g.op[i] == Op.SUB and g.op[g.a[i]] == Op.CONST:
            return g.value(g.ops[i][2]) - g.value(g.a[i])
        return g.node(Op.NEG, i)

    def __pos__(self) -> Sym:
        return self

    # ---------------------------------------------------------------- products

    def __mul__(self, other: Any) -> Any:
        g, i = self.g, self.i
        if type(other) is not Sym:
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            return _scaled(g, i, other)
        j, op = other.i, g.op
        if op[i] == Op.NEG:
            return Sym(g, g.a[i]) * Sym(g, g.a[j]) if op[j] == Op.NEG else -(Sym(g, g.a[i]) * other)
        if op[j] == Op.NEG:
            return -(self * Sym(g, g.a[j]))
        return g.node(Op.MUL, i, j) if i <= j else g.node(Op.MUL, j, i)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        g = self.g
        if type(other) is not Sym:
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            if other == 0:
                raise TracingError("a traced value is divided by zero: a length or mass of the model is zero where it must not be.")
            return _scaled(g, self.i, 1.0 / other)  # a product; one rounding more than the quotient
        if g.op[other.i] == Op.NEG:
            return -(self / Sym(g, g.a[other.i]))
        inverse = g.inverse_of_reciprocal(other.i)
        if inverse is not None:
            return self * inverse
        return 1.0 if self.i == other.i else g.node(Op.DIV, self.i, other.i)

    def __rtruediv__(self, other: Any) -> Any:
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        if other == 0:
            return 0.0
        g = self.g
        if g.op[self.i] == Op.NEG:
            return g.node(Op.DIV, g.constant(-float(other)), g.a[self.i])
        inverse = g.inverse_of_reciprocal(self.i)
        if inverse is not None:
            return inverse * float(other)
        return g.node(Op.DIV, g.constant(float(other)), self.i)

    def __pow__(self, exponent: Any) -> Any:
        if type(exponent) is Sym:
            return self.g.node(Op.POW, self.i, exponent.i)
        if not isinstance(exponent, _NUMBERS):
            return NotImplemented
        if exponent == 0.5:
            return self.sqrt()
        if float(exponent).is_integer() and 0 < abs(exponent) <= 16:
            power = _whole_power(self, int(abs(exponent)))
            return power if exponent > 0 else 1.0 / power
        return 1.0 if exponent == 0 else self.g.node(Op.POW, self.i, self.g.constant(float(exponent)))

    def __rpow__(self, base: Any) -> Any:
        if not isinstance(base, _NUMBERS):
            return NotImplemented
        return self.g.node(Op.POW, self.g.constant(float(base)), self.i)

    # ---------------------------------------------------------------- functions, by numpy's names

    def lifted(self, x: float) -> Sym:
        """A number as a node of the same graph."""
        return Sym(self.g, self.g.constant(float(x)))

    def sqrt(self) -> Sym:
        return self.g.node(Op.SQRT, self.i)

    def sin(self) -> Any:
        g = self.g
        return -g.node(Op.SIN, g.a[self.i]) if g.op[self.i] == Op.NEG else g.node(Op.SIN, self.i)

    def cos(self) -> Sym:
        g = self.g
        return g.node(Op.COS, g.a[self.i] if g.op[self.i] == Op.NEG else self.i)

    def tan(self) -> Sym:
        return self.sin() / self.cos()

    def arcsin(self) -> Sym:
        return self.arctan2((1.0 - self * self).sqrt())

    def arccos(self) -> Sym:
        return self.g.node(Op.ATAN2, (1.0 - self * self).sqrt().i, self.i)

    def arctan(self) -> Sym:
        return self.arctan2(1.0)

    def arctan2(self, x: Any) -> Sym:
        return self.g.node(Op.ATAN2, self.i, self.g.index(x))

    def exp(self) -> Sym:
        return self.g.node(Op.EXP, self.i)

    def log(self) -> Sym:
        return self.g.node(Op.LOG, self.i)

    def tanh(self) -> Sym:
        return self.g.node(Op.TANH, self.i)

    def rint(self) -> Sym:
        return self.g.node(Op.ROUND, self.i)

    def minimum(self, other: Any) -> Sym:
        return self.g.node(Op.MIN, self.i, self.g.index(other))

    def maximum(self, other: Any) -> Sym:
        return self.g.node(Op.MAX, self.i, self.g.index(other))

    def __abs__(self) -> Sym:
        return self.g.node(Op.ABS, self.i)

    fabs = absolute = __abs__
    __round__ = rint

    def conjugate(self) -> Sym:
        return self

    @property
    def real(self) -> Sym:
        return self

    # ---------------------------------------------------------------- conditions: data for `where`, never for `if`

    def __lt__(self, other: Any) -> Any:
        return self.g.node(Op.LT, self.i, self.g.index(other)) if isinstance(other, _SCALARS) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return self.g.node(Op.LE, self.i, self.g.index(other)) if isinstance(other, _SCALARS) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return self.g.node(Op.LT, self.g.index(other), self.i) if isinstance(other, _SCALARS) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return self.g.node(Op.LE, self.g.index(other), self.i) if isinstance(other, _SCALARS) else NotImplemented

    def where(self, a: Any, b: Any) -> Any:
        """a where this condition holds, else b; both are evaluated, so neither may divide by zero."""
        if self.g.op[self.i] not in (Op.LT, Op.LE):
            raise TracingError("where() needs a condition such as x < 1 as its first argument, not a number.", name="where")
        yes, no = self.g.index(a), self.g.index(b)
        return a if yes == no else self.g.node(Op.SELECT, self.i, yes, no)

    def __eq__(self, other: object) -> bool:
        if type(other) is Sym and self.g is other.g and self.i == other.i:
            return True
        raise _refusal("==")

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((id(self.g), self.i))

    def __bool__(self) -> bool:
        raise _refusal("if, and, or, not, min() or max()")

    def __float__(self) -> float:
        raise _refusal("float()")

    def __int__(self) -> int:
        raise _refusal("int()")


_SCALARS = (Sym, *_NUMBERS)


def _refusal(what: str) -> TracingError:
    return TracingError(
        f"{what} was applied to a traced value. Its number is not known while the equations are compiled: "
        "use linkwright.numerics.scalars.where(condition, a, b) and numpy's functions, or run this part on floats."
    )


def _difference(g: TraceGraph, i: int, j: int) -> Any:
    """One node for both signs: the earlier value comes first; a sign that is left goes to whatever uses it."""
    if i == j:
        return 0.0
    if g.op[i] == Op.NEG:
        return -(Sym(g, g.a[i]) + Sym(g, j))
    return g.node(Op.SUB, i, j) if i < j else g.node(Op.NEG, g.node(Op.SUB, j, i).i)


def _scaled(g: TraceGraph, i: int, factor: Any) -> Any:
    if factor == 0:
        return 0.0
    if factor == 1:
        return Sym(g, i)
    if factor < 0:
        return -_scaled(g, i, -factor)
    if g.op[i] == Op.NEG:
        return -_scaled(g, g.a[i], factor)
    if g.op[i] == Op.MUL and g.op[g.ops[i][2]] == Op.CONST:  # (x c) d = x (c d)
        return _scaled(g, g.a[i], g.values[g.ops[i][2]] * factor)
    return g.node(Op.MUL, i, g.constant(float(factor)))


def _whole_power(x: Sym, n: int) -> Any:
    if n == 1:
        return x
    half = _whole_power(x, n // 2)
    return half * half * x if n % 2 else half * half


def trace(function: Callable[..., Any], **shapes: Any) -> Program:
    """The program of `function(**arrays)`, which returns named arrays; keyword arguments are the inputs' shapes in order."""
    g = TraceGraph()
    arrays = {name: g.input(name, shape) for name, shape in shapes.items()}
    return g.program(list(function(**arrays).items()))
