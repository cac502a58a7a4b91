"""A flat program evaluated on other values, and differentiated: forward mode along directions, reverse mode for sums of results.

`replay` runs a program on numbers, complex numbers, arrays of either or Syms of another graph. `jacobian` does the same and carries with
every value its derivatives along the chosen directions, as a dict without zeros; on Syms the derivatives are traced as well, share
their subexpressions with everything else in that graph, and a second program comes out. `gradient` goes backwards: the derivatives of one
weighted sum of the results by all inputs, for a few times the operations of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.compiler.graph import Sym
from linkwright.compiler.program import Op, Program, operation
from linkwright.errors import UsageError, counted
from linkwright.numerics.scalars import arctan2, common_type, real, where

Tangent = dict[int, Any]  # direction -> derivative; what is missing is zero

_METHODS = {
    Op.SQRT: "sqrt", Op.SIN: "sin", Op.COS: "cos", Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh", Op.ROUND: "rint",
    Op.ABS: "__abs__", Op.MIN: "minimum", Op.MAX: "maximum",
}  # fmt: skip
_NUMPY = {
    Op.ADD: np.add, Op.SUB: np.subtract, Op.MUL: np.multiply, Op.DIV: np.divide, Op.NEG: np.negative, Op.POW: np.power,
    Op.SQRT: np.sqrt, Op.SIN: np.sin, Op.COS: np.cos, Op.EXP: np.exp, Op.LOG: np.log, Op.TANH: np.tanh,
}  # fmt: skip


@dataclass(frozen=True)
class Jacobian:
    """Results of a program and, direction by direction, the nonzero derivatives of its results."""

    results: list[Any]
    columns: list[dict[int, Any]]  # per direction: result -> derivative

    @property
    def nonzeros(self) -> int:
        return sum(len(c) for c in self.columns)

    def dense(self) -> np.ndarray:
        """(..., results, directions), leading axes those of arrays; what is structurally zero is 0.0."""
        entries = [x for column in self.columns for x in column.values()]
        lead = np.broadcast_shapes(*(x.shape for x in entries if isinstance(x, np.ndarray)))
        out = np.zeros((*lead, len(self.results), len(self.columns)), dtype=common_type(*([x] for x in entries)))
        for j, column in enumerate(self.columns):
            for i, x in column.items():
                out[..., i, j] = x
        return out


def places(program: Program, *names: str) -> list[int]:
    """Places of named inputs in the packed vector, one after the other."""
    blocks = {b.name: b for b in program.inputs}
    unknown = [n for n in names if n not in blocks]
    if unknown:
        raise UsageError(f"the program has no input {unknown[0]!r}. It has {', '.join(blocks) or 'none'}.", name=unknown[0])
    return [k for n in names for k in range(blocks[n].start, blocks[n].start + blocks[n].size)]


def replay(program: Program, x: Sequence[Any] | np.ndarray) -> list[Any]:
    """The results of a program on packed inputs that are numbers, complex numbers, arrays of them, or Syms, in any mixture of numbers."""
    values: list[Any] = []
    x = _packed(program, x)
    with np.errstate(all="ignore"):
        for op, a, b, c in program.ops:
            values.append(_value(op, a, b, c, x, values))
    return [values[r] for r in program.results]


def jacobian(program: Program, x: Sequence[Any] | np.ndarray, seeds: Sequence[int | Mapping[int, Any]]) -> Jacobian:
    """Results on the packed inputs x, and their derivatives along the seeds.

    A seed is the place of an input (its unit direction; see `places`) or a direction {place: component}, whose components
    may be Syms too: with the columns of qdot(q, e_k) a quaternion is differentiated in its tangent space.
    """
    x = _packed(program, x)
    start: dict[int, Tangent] = {}
    for n, seed in enumerate(seeds):
        for place, component in seed.items() if isinstance(seed, Mapping) else ((seed, 1.0),):
            if not 0 <= place < len(x):
                raise UsageError(f"seed {n} names input {place}, but the program has {counted(len(x), 'input')}.", name="seeds")
            if not _zero(component):
                start.setdefault(int(place), {})[n] = component
    values: list[Any] = []
    tangents: list[Tangent] = []
    with np.errstate(all="ignore"):
        for op, a, b, c in program.ops:
            values.append(_value(op, a, b, c, x, values))
            tangents.append(start.get(a, {}) if op == Op.INPUT else _tangent(op, a, b, c, values, tangents))
    columns: list[dict[int, Any]] = [{} for _ in seeds]
    for i, r in enumerate(program.results):
        for n, d in tangents[r].items():
            columns[n][i] = d
    return Jacobian([values[r] for r in program.results], columns)


def traced_rates(values: np.ndarray, moving: Sequence[tuple[Any, Any]]) -> np.ndarray:
    """Derivatives of traced values while inputs of their graph move: (input, its rate) pairs, rates of any scalar of that graph.

    Entries that are no inputs (numbers of the model) rest.
    """
    flat = np.asarray(values, dtype=object)
    graph = next((x.g for x in flat.ravel() if type(x) is Sym), None)
    if graph is None:
        return np.zeros(flat.shape)
    program = graph.program([("values", flat)])
    direction = {graph.a[x.i]: rate for x, rate in moving if type(x) is Sym and graph.op[x.i] == Op.INPUT}
    found = jacobian(program, [graph.node(Op.INPUT, i) for i in range(program.n_in)], [direction])
    return found.dense()[:, 0].reshape(flat.shape)


def gradient(program: Program, x: Sequence[Any] | np.ndarray, weights: Mapping[int, Any]) -> tuple[list[Any], list[Any]]:
    """Results on the packed inputs x, and the derivatives of sum(weights[i] * result i) by every input: 0.0 where there is none."""
    x = _packed(program, x)
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for op, a, b, c in program.ops:
            values.append(_value(op, a, b, c, x, values))
        pulls: list[Any] = [0.0] * len(values)
        for i, weight in weights.items():
            pulls[program.results[i]] = pulls[program.results[i]] + weight
        out: list[Any] = [0.0] * len(x)
        for k in range(len(values) - 1, -1, -1):
            op, a, b, c = program.ops[k]
            if _zero(pulls[k]) or op == Op.CONST:
                continue
            if op == Op.INPUT:
                out[a] = out[a] + pulls[k]
                continue
            for place, pull in _pulled(op, (a, b, c), values, values[k], pulls[k]):
                pulls[place] = pulls[place] + pull
    return [values[r] for r in program.results], out


def _pulled(op: int, at: tuple[int, int, int], values: list[Any], r: Any, pull: Any) -> list[tuple[int, Any]]:
    """Shares of an operation's operands in what pulls at its result r."""
    a, b, c = at
    u, w = values[a], values[max(b, 0)]
    match op:
        case Op.ADD:
            return [(a, pull), (b, pull)]
        case Op.SUB:
            return [(a, pull), (b, -pull)]
        case Op.NEG:
            return [(a, -pull)]
        case Op.MUL:
            return [(a, pull * w), (b, pull * u)]
        case Op.DIV:
            share = pull * _ratio(1.0, w)
            return [(a, share), (b, -(share * r))]
        case Op.ATAN2:
            share = pull * _ratio(1.0, u * u + w * w)
            return [(a, share * w), (b, -(share * u))]
        case Op.POW:
            rise = [] if _zero(u) or not isinstance(w, (Sym, np.ndarray)) else [(b, pull * r * _apply(Op.LOG, u))]
            return [(a, pull * w * _apply(Op.POW, u, w - 1.0)), *rise]
        case Op.MIN | Op.MAX:
            first = _value(Op.LT, *((0, 1) if op == Op.MIN else (1, 0)), -1, [], [u, w])
            return [(a, _chosen(first, pull, 0.0)), (b, _chosen(first, 0.0, pull))]
        case Op.SELECT:
            return [(b, _chosen(u, pull, 0.0)), (c, _chosen(u, 0.0, pull))]
        case Op.ROUND | Op.LT | Op.LE:
            return []
        case _:
            return [(a, pull * _slope(op, u, r))]


def _packed(program: Program, x: Sequence[Any] | np.ndarray) -> list[Any]:
    entries = [e.item() if isinstance(e, np.generic) else e for e in x]
    if len(entries) != program.n_in:
        raise UsageError(f"the program takes {program.n_in} inputs, not {len(entries)}.", name="program")
    return entries


# ---------------------------------------------------------------- values


def _value(op: int, a: Any, b: int, c: int, x: list[Any], values: list[Any]) -> Any:
    if op == Op.CONST:
        return a
    if op == Op.INPUT:
        return x[a]
    u = values[a]
    if op == Op.SELECT:
        return _chosen(u, values[b], values[c])
    w = values[b] if b >= 0 else None
    if type(u) is Sym or type(w) is Sym:
        return _traced(op, u, w)
    return _number(op, u, w)


def _traced(op: int, u: Any, w: Any) -> Any:
    match op:
        case Op.ADD:
            return u + w
        case Op.SUB:
            return u - w
        case Op.MUL:
            return u * w
        case Op.DIV:
            return u / w
        case Op.NEG:
            return -u
        case Op.POW:
            return u**w
        case Op.LT:
            return u < w
        case Op.LE:
            return u <= w
        case Op.ATAN2:
            g = u.g if type(u) is Sym else w.g
            return g.node(Op.ATAN2, g.index(u), g.index(w))
        case Op.MIN | Op.MAX:
            first, second = (u, w) if type(u) is Sym else (w, u)
            return getattr(first, _METHODS[Op(op)])(second)
        case _:
            return getattr(u, _METHODS[Op(op)])()


def _number(op: int, u: Any, w: Any) -> Any:
    """Comparisons, and what has a kink, look at the real part, so that complex-step derivatives pass."""
    if isinstance(u, np.ndarray) or isinstance(w, np.ndarray):
        return operation(op, u, w)
    match op:
        case Op.LT:
            return float(real(u) < real(w))
        case Op.LE:
            return float(real(u) <= real(w))
        case Op.MIN:
            return u if real(u) < real(w) or u != u else w
        case Op.MAX:
            return u if real(u) > real(w) or u != u else w
        case Op.ABS:
            return -u if real(u) < 0 else u
        case Op.ROUND:
            return np.rint(real(u)).item()
        case Op.ATAN2:
            return arctan2(u, w).item()
        case _:
            function: Any = _NUMPY[Op(op)]  # of one argument or of two
            return (function(u) if w is None else function(u, w)).item()


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    return where(condition if isinstance(condition, (Sym, np.ndarray)) else bool(condition), a, b)


# ---------------------------------------------------------------- derivatives


def _tangent(op: int, a: int, b: int, c: int, values: list[Any], tangents: list[Tangent]) -> Tangent:
    if op in (Op.CONST, Op.ROUND, Op.LT, Op.LE):
        return {}
    if op == Op.SELECT:
        return _selected(values[a], tangents[b], tangents[c])
    du, dw = tangents[a], tangents[b] if b >= 0 else {}
    if not du and not dw:
        return {}
    u, w, r = values[a], values[max(b, 0)], values[-1]
    match op:
        case Op.ADD:
            return _sum(du, dw)
        case Op.SUB:
            return _sum(du, _scaled(-1.0, dw))
        case Op.NEG:
            return _scaled(-1.0, du)
        case Op.MUL:
            return _sum(_scaled(w, du), _scaled(u, dw))
        case Op.DIV:
            return _quotient(r, w, du, dw)
        case Op.ATAN2:
            inverse = _ratio(1.0, u * u + w * w)
            return _sum(_scaled(w * inverse, du), _scaled(-(u * inverse), dw))
        case Op.POW:
            return _power(u, w, r, du, dw)
        case Op.MIN | Op.MAX:
            first = _value(Op.LT, *((0, 1) if op == Op.MIN else (1, 0)), -1, [], [u, w])
            return _selected(first, du, dw)
        case _:
            return _scaled(_slope(op, u, r), du)


def _slope(op: int, u: Any, r: Any) -> Any:
    """Derivative of a function of one argument; r is its value."""
    match op:
        case Op.SIN:
            return _apply(Op.COS, u)
        case Op.COS:
            return -_apply(Op.SIN, u)
        case Op.SQRT:
            return _ratio(0.5, r)
        case Op.EXP:
            return r
        case Op.LOG:
            return _ratio(1.0, u)
        case Op.TANH:
            return 1.0 - r * r
        case _:  # ABS
            return _chosen(_value(Op.LT, 0, 1, -1, [], [u, 0.0]), -1.0, 1.0)


def _apply(op: int, *arguments: Any) -> Any:
    return _value(op, 0, 1 if len(arguments) > 1 else -1, -1, [], list(arguments))


def _ratio(a: Any, b: Any) -> Any:
    return _apply(Op.DIV, a, b)


def _quotient(r: Any, w: Any, du: Tangent, dw: Tangent) -> Tangent:
    """d(u / w) = (du - r dw) / w"""
    inverse = _ratio(1.0, w)
    out: Tangent = {}
    slope = -(r * inverse) if dw.keys() - du.keys() else None
    for n in {**du, **dw}:
        if n not in dw:
            d = du[n] * inverse
        elif n not in du:
            d = slope * dw[n]
        else:
            d = (du[n] - r * dw[n]) * inverse
        if not _zero(d):
            out[n] = d
    return out


def _power(u: Any, w: Any, r: Any, du: Tangent, dw: Tangent) -> Tangent:
    """d(u^w) = w u^(w - 1) du + r log(u) dw"""
    out = _scaled(w * _apply(Op.POW, u, w - 1.0), du) if du else {}
    if dw and not _zero(u):  # of 0^w it is zero
        rise = _apply(Op.LOG, u)
        out = _sum(out, _scaled(r * (np.where(u == 0, 0.0, rise) if isinstance(u, np.ndarray) else rise), dw))
    return out


def _sum(a: Tangent, b: Tangent) -> Tangent:
    if not a or not b:
        return a or b
    out = dict(a)
    for n, d in b.items():
        total = out[n] + d if n in out else d
        if _zero(total):
            out.pop(n, None)
        else:
            out[n] = total
    return out


def _scaled(factor: Any, a: Tangent) -> Tangent:
    if not a or _zero(factor):
        return {}
    if not isinstance(factor, (Sym, np.ndarray)) and factor == 1:
        return a
    return {n: d for n, x in a.items() if not _zero(d := factor * x)}


def _selected(condition: Any, a: Tangent, b: Tangent) -> Tangent:
    if not isinstance(condition, (Sym, np.ndarray)):
        return a if condition else b
    return {n: d for n in {**a, **b} if not _zero(d := _chosen(condition, a.get(n, 0.0), b.get(n, 0.0)))}


def _zero(x: Any) -> bool:
    return not isinstance(x, (Sym, np.ndarray)) and x == 0
