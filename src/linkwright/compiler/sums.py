"""Sums arranged for the processor: terms are added in the order in which they are ready, products are fused into them.

A sum of many terms is written as a chain; most of it would wait for its slowest term. Here the terms of a sum (and of the
sums that only it uses) are collected with their signs and added earliest first. A product that only sums use is never
computed by itself: multiply and add are one instruction and one rounding. The result is a list of operations all native
code is made from, so one state and many round alike; it differs from the program as written by rounding only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

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


def wide_ones(ops: Sequence[Operation]) -> bytearray:
    """Return the operations on lanes: wide leaves and what reads them, up to where one number is taken."""
    wide = bytearray(len(ops))
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
    for k, op in enumerate(program.ops):
        if not work.inner[k]:
            work.place[k] = work.sum(k) if op[0] in _SUMS else work.copy(op)
    return work.out, [work.place[r] for r in program.results]


class _Arrangement:
    """The rearranged program in the making."""

    def __init__(self, program: Listed, fuse: bool):
        self.ops = program.ops
        self.out: list[Operation] = []
        self.ready: list[int] = []
        self.place: dict[int, int] = {}  # operation of the program -> of the arrangement
        readers: list[list[int]] = [[] for _ in self.ops]
        for k, op in enumerate(self.ops):
            for a in operands(op):
                readers[a].append(k)
        results = set(program.results)
        wide = wide_ones(self.ops)

        def only_sums_read(k: int) -> bool:
            return k not in results and all(self.ops[r][0] in _SUMS and wide[r] == wide[k] for r in readers[k])

        self.inner = [op[0] in _SUMS and len(readers[k]) == 1 and only_sums_read(k) for k, op in enumerate(self.ops)]
        self.fusible = [fuse and op[0] == Op.MUL and only_sums_read(k) for k, op in enumerate(self.ops)]

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
            latest = max(latest, ready[b])
            if c >= 0:
                c = place[c]
                latest = max(latest, ready[c])
        return self.add((kind, a, b, c), latest + latency(kind))

    def terms(self, k: int) -> list[Term]:
        """All terms of a sum."""
        found: list[Term] = []
        waiting = [(k, 1)]
        while waiting:
            i, sign = waiting.pop()
            kind, a, b, _ = self.ops[i]
            if i == k or self.inner[i]:
                waiting += [(a, -sign)] if kind == _NEG else [(b, sign if kind == _ADD else -sign), (a, sign)]
                continue
            m = self.place[i]
            factors = (self.out[m][1], self.out[m][2]) if self.fusible[i] else None
            ready = max(self.ready[f] for f in factors) if factors else self.ready[m]
            found.append(Term(ready, len(found), sign, m, factors))
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
