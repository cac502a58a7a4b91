"""Lanes of one state: what like parts of a mechanism do side by side (see `like_parts`) becomes one operation on lanes.

A sum over the parts is a wide sum, of what each part contributes, and a total. Signs differ between parts that mirror each other:
they are moved into constants. What comes out is a list of operations, some of them wide:

    NUMBERS (a: a tuple of numbers), INPUTS (a: a tuple of places)        wide leaves
    LANE (a, c: which)      TOTAL (a)      LEAST (a)                      from wide to narrow

An operation with a wide operand is wide, and its narrow operands are in every lane. `spread` writes each lane out again: the same
arithmetic for codes that handle many states at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from linkwright.compiler.like_parts import CHAINS, NUMBER, CanonicalView, Packs, Signed, numbers_of, parts
from linkwright.compiler.program import Op, Program
from linkwright.compiler.sums import INPUTS, LANE, LEAST, NUMBERS, TOTAL, Operation, operands

FEWEST, MOST = 60, 30_000  # operations of programs that are looked at: smaller ones gain nothing, larger ones would take long
_PRODUCTS = (int(Op.MUL), int(Op.DIV))


class Packed(NamedTuple):
    """Operations, some of them wide, and where the results are."""

    ops: list[Operation]
    results: list[int]
    lanes: int


@lru_cache(maxsize=4)  # one state and many ask for the same
def packed(program: Program) -> Packed | None:
    """The program with like parts in lanes; None where there are none."""
    if not FEWEST <= program.operations <= MOST:
        return None
    view = CanonicalView(program)
    found = parts(view)
    return _Writer(Packs(view, found)).written() if found else None


# ---------------------------------------------------------------- signs


class _Signs:
    """The sign every member of a pack is computed with, chosen so that all of them do the same.

    A product with a constant may have either sign: each brings an unknown bit. All other signs are sums (modulo 2) of such bits, and
    where the terms of a sum must agree with those of the first member's there is an equation. Bit 0 of an expression is the number 1. An
    equation that contradicts earlier ones is dropped: there a sign is applied by itself.
    """

    def __init__(self, packs: Packs):
        self.packs, self.view = packs, packs.view
        self.unknowns = 0
        self.equations: dict[int, int] = {}  # expressions that are zero, by their highest bit
        self.expressions: list[list[int]] = []
        for members in packs.members:
            self.expressions.append([0] * packs.n if self.view.kind[members[0]] == Op.INPUT else self._expressed(members))
        for k in self.view.counted:
            for p in packs.over_parts(k):
                signs = {a: s for s, a in self.view.terms[k]}
                read = [e ^ (signs[a] < 0) for a, e in zip(packs.members[p], self.expressions[p], strict=True)]
                for e in read[1:]:
                    self._demand(e ^ read[0])
        value = self._solution()
        self.of = [[-1 if (e & value).bit_count() & 1 else 1 for e in row] for row in self.expressions]

    def _expressed(self, members: Sequence[int]) -> list[int]:
        """The signs of a pack from those of its operands."""
        kind = self.view.kind[members[0]]
        rows = [self._read(k, i) for i, k in enumerate(members)]
        if kind == Op.ADD and rows[0]:
            mine = [row[0] ^ rows[0][0] for row in rows]
            for m, row in zip(mine, rows, strict=True):
                for e, first in zip(row[1:], rows[0][1:], strict=True):
                    self._demand(e ^ first ^ m)
            return mine
        if kind in _PRODUCTS:
            return [row[0] ^ row[1] for row in rows] if len(rows[0]) == 2 else [0, *(self._unknown() for _ in rows[1:])]
        if kind not in (Op.ADD, Op.ABS):
            for row in rows[1:]:
                for e, first in zip(row, rows[0], strict=True):
                    self._demand(e ^ first)
        return [0] * len(members)

    def _read(self, k: int, lane: int) -> list[int]:
        """Signs with which operands are read, but constants."""
        found = []
        for s, a in self.packs.terms[k, lane]:
            key = self.packs.key_of(a, lane)
            if key != NUMBER:
                found.append((self.expressions[key][lane] if key >= 0 else 0) ^ (s < 0))
        return found

    def _unknown(self) -> int:
        self.unknowns += 1
        return 1 << self.unknowns

    def _demand(self, expression: int) -> None:
        """Let an expression be zero."""
        while expression > 1:
            high = expression.bit_length()
            if high not in self.equations:
                self.equations[high] = expression
                return
            expression ^= self.equations[high]

    def _solution(self) -> int:
        value = 1
        for high, equation in sorted(self.equations.items()):
            if (equation & value).bit_count() & 1:  # all below are known, those without an equation are 0
                value |= 1 << (high - 1)
        return value


# ---------------------------------------------------------------- the wide program


class _Column(NamedTuple):
    """One operand of all members: constants, or a value; and the sign with which each of them reads it."""

    signs: list[int]
    value: int | None
    numbers: list[float]


class _Writer:
    """Writes packs and what is left."""

    def __init__(self, packs: Packs):
        self.view, self.packs, self.signs, self.n = packs.view, packs, _Signs(packs).of, packs.n
        self.out: list[Operation] = []
        self.known: dict[Any, int] = {}
        self.wide: dict[int, int] = {}  # pack -> operation
        self.narrow: dict[int, Signed] = {}

    def written(self) -> Packed:
        for k in self.view.counted:
            for i in numbers_of(self.packs.own[k]):
                self.pack(self.packs.key[k, i])
            if not self.packs.own[k]:
                self.narrow[k] = self.single(k)
        results = []
        for r in self.view.results:
            sign, k = self.view.base[r]
            own, found = self.read(k)
            results.append(self.signed(found, sign * own))
        return Packed(self.out, results, self.n)

    def put(self, kind: int, a: Any, b: int = -1, c: int = -1) -> int:
        key = (kind, repr(a), b, c) if kind in (Op.CONST, NUMBERS) else (kind, a, b, c)  # -0 is not 0
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = len(self.out)
            self.out.append((kind, a, b, c))
        return found

    def signed(self, k: int, sign: int) -> int:
        return k if sign > 0 else self.put(Op.NEG, k)

    def flipped(self, k: int, signs: Sequence[int]) -> int:
        """A value with a sign in every lane."""
        if len(set(signs)) == 1:
            return self.signed(k, signs[0])
        return self.put(Op.MUL, k, self.put(NUMBERS, tuple(float(s) for s in signs)))

    def chain(self, kind: int, terms: Sequence[Signed]) -> Signed:
        """All terms added up, or the least of them."""
        if kind == Op.MIN:
            total = self.signed(terms[0][1], terms[0][0])
            for s, a in terms[1:]:
                total = self.put(Op.MIN, total, self.signed(a, s))
            return 1, total
        first = next((j for j, (s, _) in enumerate(terms) if s > 0), 0)
        sign, total = terms[first]
        for s, a in [*terms[:first], *terms[first + 1 :]]:
            total = self.put(Op.ADD if s == sign else Op.SUB, total, a)
        return sign, total

    # ---------------------------------------------------------------- narrow

    def read(self, k: int) -> Signed:
        """One number: of its own, or a lane of a pack."""
        op = self.view.ops[k]
        if op[0] <= Op.INPUT:
            return 1, self.put(op[0], op[1])
        if k in self.narrow:
            return self.narrow[k]
        i = self.packs.own[k].bit_length() - 1
        p = self.packs.key[k, i]
        return self.signs[p][i], self.put(LANE, self.wide[p], -1, i)

    def single(self, k: int) -> Signed:
        """An operation on single numbers, a sum of lanes among its terms."""
        kind, terms = self.view.kind[k], self.view.terms[k]
        over = self.packs.over_parts(k)
        inside = {a for p in over for a in self.packs.members[p]}
        found = [self.over(kind, over, {a: s for s, a in terms})] if over else []
        for s, a in terms:
            if a not in inside:
                own, place = self.read(a)
                found.append((s * own, place))
        if kind in CHAINS:
            return self.chain(kind, found)
        if kind in _PRODUCTS:
            (s, a), (t, b) = found
            return s * t, self.put(kind, a, b)
        return 1, self.put(kind, *(self.signed(a, s) for s, a in found))

    def over(self, kind: int, over: Sequence[int], signs: dict[int, int]) -> Signed:
        """The terms of all parts: joined lane by lane, then across."""
        terms: list[Signed] = []
        for p in over:
            read = [signs[a] * own for a, own in zip(self.packs.members[p], self.signs[p], strict=True)]
            first = read[0] if kind == Op.ADD else 1
            terms.append((first, self.flipped(self.pack(p), [first * s for s in read])))
        sign, total = self.chain(kind, terms)
        return sign, self.put(TOTAL if kind == Op.ADD else LEAST, total)

    # ---------------------------------------------------------------- wide

    def pack(self, p: int) -> int:
        if p not in self.wide:
            members = self.packs.members[p]
            kind = self.view.kind[members[0]]
            if kind == Op.INPUT:
                self.wide[p] = self.put(INPUTS, tuple(self.view.ops[k][1] for k in members))
            else:
                columns = zip(*(self.packs.terms[k, i] for i, k in enumerate(members)), strict=True)
                self.wide[p] = self.operation(kind, self.signs[p], [self.column(c) for c in columns])
        return self.wide[p]

    def column(self, column: Sequence[Signed]) -> _Column:
        """Return what the members read as one of their operands."""
        key = self.packs.key_of(column[0][1], 0)
        signs = [s for s, _ in column]
        if key == NUMBER:
            return _Column(signs, None, [self.view.ops[a][1] for _, a in column])
        if key < 0:
            own, found = self.read(~key)
            return _Column([s * own for s in signs], found, [])
        return _Column([s * own for s, own in zip(signs, self.signs[key], strict=True)], self.pack(key), [])

    def operation(self, kind: int, mine: Sequence[int], columns: Sequence[_Column]) -> int:
        """A wide operation; each lane of it with a sign."""
        if kind == Op.ADD:
            terms: list[Signed] = []
            for c in columns:
                first = mine[0] * c.signs[0]
                terms.append((first, self.with_signs(c, [first * m * s for m, s in zip(mine, c.signs, strict=True)])))
            sign, total = self.chain(kind, terms)
            return self.signed(total, sign)
        none = [1] * self.n
        if kind in _PRODUCTS:
            product = [m * s * t for m, s, t in zip(mine, columns[0].signs, columns[1].signs, strict=True)]
            bears = 1 if columns[1].value is None else 0
            return self.put(kind, *(self.with_signs(c, product if j == bears else none) for j, c in enumerate(columns)))
        return self.put(kind, *(self.with_signs(c, none if kind == Op.ABS else c.signs) for c in columns))

    def with_signs(self, column: _Column, signs: Sequence[int]) -> int:
        if column.value is None:
            return self.put(NUMBERS, tuple(s * x for s, x in zip(signs, column.numbers, strict=True)))
        return self.flipped(column.value, signs)


# ---------------------------------------------------------------- every lane by itself


def across(n: int) -> list[tuple[int, int]]:
    """How n lanes are joined: steps (i, j) that put lane i joined with lane j into lane i; in pairs, as registers hold them."""
    even = n - n % 2
    return [*((j % 2, j) for j in range(2, even)), (0, 1), *([(0, n - 1)] if n % 2 else [])]


class Spread(NamedTuple):
    """Operations without wide ones, where the results are, and what each of the given operations became."""

    ops: list[Operation]
    results: list[int]
    made: list[range]


def spread(ops: Sequence[Operation], results: Sequence[int], n: int) -> Spread:
    """The same arithmetic without wide operations."""
    out: list[Operation] = []
    lanes: list[list[int]] = []  # one number, or one for every lane
    made: list[range] = []

    def put(kind: int, a: Any, b: int = -1, c: int = -1) -> int:
        out.append((kind, a, b, c))
        return len(out) - 1

    for kind, a, b, c in ops:
        first = len(out)
        if kind <= Op.INPUT:
            single = Op.CONST if kind in (Op.CONST, NUMBERS) else Op.INPUT
            lanes.append([put(single, x) for x in (a if kind < 0 else (a,))])
        elif kind == LANE:
            lanes.append([lanes[a][c]])
        elif kind in (TOTAL, LEAST):
            found = list(lanes[a])
            for i, j in across(n):
                found[i] = put(Op.ADD if kind == TOTAL else Op.MIN, found[i], found[j])
            lanes.append(found[:1])
        else:
            read = [lanes[k] for k in operands((kind, a, b, c))]
            width = max(map(len, read))
            lanes.append([put(kind, *(r[i % len(r)] for r in read)) for i in range(width)])
        made.append(range(first, len(out)))
    return Spread(out, [lanes[r][0] for r in results], made)
