"""Sums arranged for the processor: terms are added in the order in which they are ready, products are fused into them.

A sum of many terms is written as a chain; most of it would wait for its slowest term. Here the terms of a sum (and of the
sums that only it uses) are collected with their signs and added earliest first. A product that only sums use is never
computed by itself: multiply and add are one instruction and one rounding. The result is a list of operations all native
code is made from, so one state and many round alike; it differs from the program as written by rounding only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from linkwright.compiler.program import Op

# fused operations (op, a, b, c), beyond those of a Program
FMA = 32  # a b + c
FMS = 33  # a b - c
FNMA = 34  # c - a b

# operations on lanes (see `lanes`): wide leaves, and ways back to one number
NUMBERS, INPUTS = -2, -1  # a: numbers, or places of inputs, one for each lane
LANE, TOTAL, LEAST = 40, 41, 42  # lane c of a; the sum of all lanes; the least of them
_FROM_LANES = (LANE, TOTAL, LEAST)

Operation = tuple[int, Any, int, int]

# cycles until a result can be used, about
_LATENCY: dict[int, int] = {
    Op.DIV: 13, Op.SQRT: 18, Op.SIN: 70, Op.COS: 70, Op.EXP: 70, Op.LOG: 70, Op.TANH: 90, Op.ATAN2: 90, Op.POW: 120, TOTAL: 14, LEAST: 14,
}  # fmt: skip
_DEFAULT_LATENCY = 4
_LEAF, _ADD, _NEG, _SUMS = int(Op.INPUT), int(Op.ADD), int(Op.NEG), (int(Op.ADD), int(Op.SUB), int(Op.NEG))  # of one term or two


def latency(kind: int) -> int:
    return _LATENCY.get(kind, _DEFAULT_LATENCY)


class Term(NamedTuple):
    """A term of a sum, ordered by when it is ready."""

    ready: int
    turn: int  # order among equals
    sign: int
    value: int
    factors: tuple[int, int] | None  # of a product that may be fused


def operands(op: Operation) -> tuple[int, ...]:
    """The operations an operation reads."""
    kind, a, b, c = op
    if kind <= _LEAF:
        return ()
    return (a,) if b < 0 else (a, b) if c < 0 else (a, b, c)


def operand_table(ops: Sequence[Operation]) -> tuple[np.ndarray, np.ndarray]:
    """Kinds of operations, and their operands, (operations, 3), with -1 where there is none."""
    kinds = np.fromiter((op[0] for op in ops), dtype=np.int64, count=len(ops))
    leaf = (-1, -1, -1)
    read = [leaf if op[0] <= _LEAF else op[1:] for op in ops]
    return kinds, np.array(read, dtype=np.int64).reshape(-1, 3)


def wide_ones(ops: Sequence[Operation]) -> bytearray:
    """Return the operations on lanes: wide leaves and what reads them, up to where one number is taken."""
    wide = bytearray(len(ops))
    if all(op[0] >= 0 for op in ops):
        return wide
    for k, op in enumerate(ops):
        kind, a, b, c = op
        if kind > _LEAF:
            wide[k] = kind not in _FROM_LANES and (wide[a] or (b >= 0 and (wide[b] or (c >= 0 and wide[c]))))
        else:
            wide[k] = kind < 0
    return wide


class Listed(Protocol):
    """Operations and results: a program, or one with wide operations."""

    @property
    def ops(self) -> Sequence[Operation]: ...
    @property
    def results(self) -> Sequence[int]: ...


def arranged(program: Listed, *, fuse: bool = True) -> tuple[list[Operation], list[int]]:
    """Operations with their sums rearranged, and where the results are."""
    work = _Arrangement(program, fuse)
    place, inner, total, copy = work.place, work.inner, work.sum, work.copy
    for k, op in enumerate(program.ops):
        if not inner[k]:
            place[k] = total(k) if op[0] in _SUMS else copy(op)
    return work.out, [place[r] for r in program.results]


class _Arrangement:
    """The rearranged program in the making."""

    def __init__(self, program: Listed, fuse: bool):
        self.ops = program.ops
        self.out: list[Operation] = []
        self.ready: list[int] = []
        self.place = [-1] * len(self.ops)  # operation of the program -> of the arrangement
        kinds, read = operand_table(self.ops)
        n, wide, sums = len(kinds), np.frombuffer(wide_ones(self.ops), dtype=np.uint8), np.isin(kinds, _SUMS)
        reader, entry = np.nonzero(read >= 0)
        value = read[reader, entry]
        readers = np.bincount(value, minlength=n)
        only_sums = np.bincount(value[sums[reader] & (wide[reader] == wide[value])], minlength=n) == readers
        only_sums[list(program.results)] = False
        self.inner: list[bool] = (sums & (readers == 1) & only_sums).tolist()
        self.fusible: list[bool] = ((kinds == int(Op.MUL)) & only_sums & fuse).tolist()

    def add(self, op: Operation, ready: int) -> int:
        self.out.append(op)
        self.ready.append(ready)
        return len(self.out) - 1

    def copy(self, op: Operation) -> int:
        kind, a, b, c = op
        if kind <= _LEAF:
            return self.add(op, 0)
        place, ready = self.place, self.ready
        a = place[a]
        latest = ready[a]
        if b >= 0:
            b = place[b]
            latest = ready[b] if ready[b] > latest else latest
            if c >= 0:
                c = place[c]
                latest = ready[c] if ready[c] > latest else latest
        self.out.append((kind, a, b, c))
        ready.append(latest + _LATENCY.get(kind, _DEFAULT_LATENCY))
        return len(ready) - 1

    def terms(self, k: int) -> list[Term]:
        """All terms of a sum."""
        found: list[Term] = []
        waiting = [(k, 1)]
        ops, inner, fusible, place, out, times = self.ops, self.inner, self.fusible, self.place, self.out, self.ready
        while waiting:
            i, sign = waiting.pop()
            if i == k or inner[i]:
                kind, a, b, _ = ops[i]
                if kind != _NEG:
                    waiting.append((b, sign if kind == _ADD else -sign))
                    waiting.append((a, sign))
                else:
                    waiting.append((a, -sign))
                continue
            m = place[i]
            if fusible[i]:
                _, a, b, _ = out[m]
                found.append(Term(max(times[a], times[b]), len(found), sign, m, (a, b)))
            else:
                found.append(Term(times[m], len(found), sign, m, None))
        return found

    def sum(self, k: int) -> int:
        terms = sorted(self.terms(k))
        # begin with a plain number if one is ready as soon as the first product would be: then every product is fused
        plain = (i for i, t in enumerate(terms) if not t.factors and t.ready <= terms[0].ready + _DEFAULT_LATENCY)
        total = terms.pop(next(plain, 0))
        for term in terms:
            total = self.joined(total, term)
        return total.value if total.sign > 0 else self.add((Op.NEG, total.value, -1, -1), total.ready + 1)

    def joined(self, first: Term, second: Term) -> Term:
        """The sum of two terms; of two products the later one is fused."""
        product, other = (second, first) if second.factors else (first, second)
        ready = max(product.ready, other.ready + (_DEFAULT_LATENCY if other.factors else 0)) + _DEFAULT_LATENCY
        if product.factors:
            a, b = product.factors
            kind = FMA if product.sign == other.sign else FMS if product.sign > 0 else FNMA
            value = self.add((kind, a, b, other.value), ready)
        elif first.sign == second.sign:
            value = self.add((Op.ADD, first.value, second.value, -1), ready)
        else:
            plus, minus = (first, second) if first.sign > 0 else (second, first)
            value = self.add((Op.SUB, plus.value, minus.value, -1), ready)
        sign = -1 if first.sign < 0 and second.sign < 0 else 1
        return Term(ready, first.turn, sign, value, None)
