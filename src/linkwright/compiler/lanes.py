"""Lanes of one state: what like parts of a mechanism do side by side becomes one operation on lanes.

A sum over the parts is a wide sum, of what each part contributes, and a total. Signs differ between parts that mirror each other:
they are moved into constants. What comes out is a list of operations, some of them wide:

    NUMBERS (a: a tuple of numbers), INPUTS (a: a tuple of places)        wide leaves
    LANE (a, c: which)      TOTAL (a)      LEAST (a)                      from wide to narrow

An operation with a wide operand is wide, and its narrow operands are in every lane. `spread` writes each lane out again: the same
arithmetic for codes that handle many states at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from linkwright.compiler.program import Op, Program
from linkwright.compiler.sums import INPUTS, LANE, LEAST, NUMBERS, TOTAL, Operation, operands

FEWEST, MOST = 60, 30_000  # operations of programs that are looked at: smaller ones gain nothing, larger ones would take long
_PRODUCTS = (int(Op.MUL), int(Op.DIV))
_CONSTANT, _INPUT, _SUB, _NEG = (int(op) for op in (Op.CONST, Op.INPUT, Op.SUB, Op.NEG))  # comparing whole numbers is quicker

MOST_LIKE_PARTS = 16  # parts side by side
EXPLAINED = 0.05  # share of the operations that must distinguish the parts
CHAINS, SYMMETRIC = (int(Op.ADD), int(Op.MIN)), (int(Op.ADD), int(Op.MUL), int(Op.MIN), int(Op.MAX))
NUMBER = 1 << 60  # key of any constant; packs count from 0, the narrow operation k is ~k

Signed = tuple[int, int]  # sign and operation


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


# Like parts of a mechanism (the legs of a parallel robot), found in the flat program of its equations alone.
#
# Operations alike but for constants, inputs and signs, whose inputs are disjoint, say which inputs belong to which part. From there on
# every operation belongs to the part its operands (or else all its readers) belong to. Operations of all parts that do the same to the same
# operands form a pack: they can be done side by side.


class CanonicalView:
    """Operations as they are compared: negations are signs of operands, sums and minima have all their terms as operands."""

    def __init__(self, program: Program):
        self.ops, self.results = program.ops, program.results
        self.kind = [int(Op.ADD) if op[0] == _SUB else int(op[0]) for op in self.ops]
        self.base = [(1, k) for k in range(len(self.ops))]  # sign and operation without negations
        readers: list[list[int]] = [[] for _ in self.ops]
        for k, op in enumerate(self.ops):
            if op[0] == _NEG:
                sign, a = self.base[op[1]]
                self.base[k] = (-sign, a)
            elif op[0] > _INPUT:
                for a in operands(op):
                    readers[self.base[a][1]].append(k)
        self.delivered = {self.base[r][1] for r in self.results}
        # a sum that only one sum reads is part of it
        self.inner = [
            kind in CHAINS and len(readers[k]) == 1 and self.kind[readers[k][0]] == kind and k not in self.delivered
            for k, kind in enumerate(self.kind)
        ]
        self.terms = self._terms()
        self.counted = [k for k, kind in enumerate(self.kind) if kind > _INPUT and kind != _NEG and not self.inner[k]]

    def _terms(self) -> list[list[Signed]]:
        found: list[list[Signed]] = []
        base, inner = self.base, self.inner
        for op in self.ops:
            mine = [base[a] for a in operands(op)] if op[0] > _INPUT else []
            if op[0] == _SUB:
                mine[1] = (-mine[1][0], mine[1][1])
            for _, a in mine:
                if inner[a]:
                    mine = [(s * t, b) for s, a in mine for t, b in (found[a] if inner[a] else [(1, a)])]
                    break
            found.append(mine)
        return found

    def levels(self) -> list[list[int]]:
        """Operations by depth: like ones are equally deep."""
        depth, terms = [0] * len(self.ops), self.terms
        levels: list[list[int]] = []
        for k in self.counted:
            depth[k] = 1 + max([depth[a] for _, a in terms[k]])
            if depth[k] > len(levels):
                levels.append([])
            levels[depth[k] - 1].append(k)
        return levels


# ---------------------------------------------------------------- which inputs belong to which part
def parts(view: CanonicalView) -> list[int]:
    """The inputs of each part, as bits; empty where the program has no like parts."""
    best: list[int] = []
    most = EXPLAINED * len(view.counted)
    reads, classes = _alike(view)
    for size in sorted({len(c) for c in classes}):
        if 2 <= size <= MOST_LIKE_PARTS:
            found, explained = _consistent([c for c in classes if len(c) == size], reads)
            if explained > most:
                best, most = found, explained
    return best


def _alike(view: CanonicalView) -> tuple[list[int], list[list[int]]]:
    """The inputs every operation depends on, as bits, and classes of operations that differ in constants, inputs and signs only."""
    reads = [0] * len(view.ops)
    shape = [-2] * len(view.ops)
    shapes: dict[tuple[int, ...], int] = {}
    classes: list[list[int]] = []
    for k, op in enumerate(view.ops):
        if op[0] == Op.INPUT:
            reads[k], shape[k] = 1 << op[1], -1
    for k in view.counted:
        terms = view.terms[k]
        reads[k] = union([reads[a] for _, a in terms])
        below = [shape[a] for _, a in terms]
        if view.kind[k] in SYMMETRIC:
            below.sort()
        shape[k] = shapes.setdefault((view.kind[k], *below), len(shapes))
        if shape[k] == len(classes):
            classes.append([])
        classes[shape[k]].append(k)
    return reads, classes


def _consistent(classes: Sequence[Sequence[int]], reads: Sequence[int]) -> tuple[list[int], int]:
    """Parts that as many of these classes as possible agree on, and how many operations those have."""
    votes: list[list[int]] = []
    for members in classes:
        common = reads[members[0]]
        for k in members:
            common &= reads[k]
        own = [reads[k] & ~common for k in members]
        if all(own) and sum(own) == union(own):  # disjoint
            votes.append(own)
    votes.sort(key=lambda own: -union(own).bit_count())
    found = votes[0][:] if votes else []
    explained = len(found)
    for own in votes[1:]:
        where = [[i for i, part in enumerate(found) if part & o] for o in own]
        if all(len(w) == 1 for w in where) and len({w[0] for w in where}) == len(found):
            for w, o in zip(where, own, strict=True):
                found[w[0]] |= o
            explained += len(found)
    return sorted(found, key=lambda part: part & -part), explained


def union(bits: Sequence[int]) -> int:
    total = 0
    for b in bits:
        total |= b
    return total


def single(bits: int) -> bool:
    """At most one bit?"""
    return bits & (bits - 1) == 0


def numbers_of(bits: int) -> list[int]:
    if bits & (bits - 1) == 0:
        return [bits.bit_length() - 1] if bits else []
    return [i for i in range(bits.bit_length()) if bits >> i & 1]


# ---------------------------------------------------------------- packs
class Packs:
    """Operations side by side, one of every part."""

    def __init__(self, view: CanonicalView, found: Sequence[int]):
        self.view, self.n = view, len(found)
        self.own = [0] * len(view.ops)  # parts in which an operation is a member of a pack, as bits; several: a copy in each
        self.key: dict[tuple[int, int], int] = {}  # (operation, part) -> pack
        self.members: list[list[int]] = []  # operation of each part
        self.terms: dict[tuple[int, int], list[Signed]] = {}  # (operation, part) -> operands in an order all parts share
        self._over: dict[int, list[int]] = {}
        home = {b: i for i, part in enumerate(found) for b in numbers_of(part)}
        self._take_inputs(home)
        likely = self._likely(home)
        for level in view.levels():
            self._take(level, likely)

    def _take_inputs(self, home: dict[int, int]) -> None:
        """Inputs of the parts are paired in order."""
        met: Counter[int] = Counter()
        groups: dict[int, dict[int, int]] = {}
        for k, op in enumerate(self.view.ops):
            if op[0] == Op.INPUT and op[1] in home:
                i = home[op[1]]
                groups.setdefault(met[i], {})[i] = k
                met[i] += 1
        for group in groups.values():
            self._accept(group)

    def _accept(self, group: dict[int, int]) -> None:
        if len(group) == self.n:
            for i, k in group.items():
                self.own[k] |= 1 << i
                self.key[k, i] = len(self.members)
            self.members.append([group[i] for i in range(self.n)])

    def _likely(self, home: dict[int, int]) -> list[int]:
        """The part of every operation, by operands; else the parts of its readers, if those are not all of them."""
        view = self.view
        own, mixed = [0] * len(view.ops), bytearray(len(view.ops))
        readers: list[list[int]] = [[] for _ in view.ops]
        for k, op in enumerate(view.ops):
            if op[0] == Op.INPUT and op[1] in home:
                own[k] = 1 << home[op[1]]
        for k in view.counted:
            below = union([own[a] for _, a in view.terms[k]])
            mixed[k] = not single(below)
            own[k] = 0 if mixed[k] else below
            for _, a in view.terms[k]:
                readers[a].append(k)
        every = (1 << self.n) - 1
        for k in reversed(view.counted):
            if not own[k] and not mixed[k] and k not in view.delivered:
                above = [own[r] for r in readers[k] if not mixed[r]]
                if above and all(above) and union(above) != every:
                    own[k] = union(above)
        return own

    def _take(self, level: Sequence[int], likely: Sequence[int]) -> None:
        """Packs among operations of equal depth."""
        groups: dict[tuple[int, ...], dict[int, int]] = {}
        met: defaultdict[tuple[int, ...], int] = defaultdict(int)  # those that differ in constants only are paired in order
        own, terms = self.own, self.view.terms
        for k in level:
            below = 0
            for _, a in terms[k]:
                if own[a] & (own[a] - 1) == 0:  # copies may be anywhere
                    below |= own[a]
            if below & (below - 1):
                continue
            for i in (below.bit_length() - 1,) if below else numbers_of(likely[k]):
                key = (i, *self._key(k, i))
                groups.setdefault((met[key], *key[1:]), {})[i] = k
                met[key] += 1
        for group in groups.values():
            self._accept(group)

    def _key(self, k: int, lane: int) -> tuple[int, ...]:
        """Key of an operation: what it does to which operands, in an order all parts share."""
        kinds, own, known = self.view.kind, self.own, self.key
        terms, kind = self.view.terms[k], kinds[k]
        # as `key_of`, written out: this is done for every operand of a program
        keys = [NUMBER if kinds[a] == _CONSTANT else known[a, lane] if own[a] >> lane & 1 else ~a for _, a in terms]
        if kind in SYMMETRIC and len(keys) > 1:
            order = sorted(range(len(keys)), key=keys.__getitem__)
            terms, keys = [terms[j] for j in order], [keys[j] for j in order]
        self.terms[k, lane] = terms
        return (kind, *keys)

    def key_of(self, k: int, lane: int) -> int:
        """Key of an operand: a pack, a narrow operation or a constant."""
        if self.view.kind[k] == _CONSTANT:
            return NUMBER
        return self.key[k, lane] if self.own[k] >> lane & 1 else ~k

    def over_parts(self, k: int) -> list[int]:
        """Packs of which a sum or minimum reads every lane once, as a term."""
        if k not in self._over:
            self._over[k] = self._over_parts(k)
        return self._over[k]

    def _over_parts(self, k: int) -> list[int]:
        if self.view.kind[k] not in CHAINS or self.own[k] or len(self.view.terms[k]) < self.n:
            return []
        met: dict[int, list[int]] = {}
        for _, a in self.view.terms[k]:
            if self.own[a] and single(self.own[a]):
                met.setdefault(self.key[a, self.own[a].bit_length() - 1], []).append(a)
        return [p for p, found in met.items() if len(found) == self.n and sorted(found) == sorted(self.members[p])]
