"""Lanes of one state: operations that a mechanism's like parts (the legs of a parallel robot) do side by side become one vector operation.

The parts are found in the flat program alone. Operations alike but for constants, inputs and signs, whose inputs are disjoint, say
which inputs belong to which part. An operation belongs to the part its operands (or all its readers) belong to; those of all
parts with the same key form a pack. A sum over the parts is a pack too, of partial sums, and a total. Signs differ between
parts that mirror each other: they are moved into constants. What comes out is a list of operations, some of them wide:

    NUMBERS (a: a tuple of numbers), INPUTS (a: a tuple of places)        wide leaves
    LANE (a, c: which)      TOTAL (a)      LEAST (a)                      from wide to narrow

An operation with a wide operand is wide, and its narrow operands stand in every lane. `spread` writes each lane out again: the same
arithmetic for codes that handle many states at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from linkwright.compiler.program import Op, Program
from linkwright.compiler.sums import INPUTS, LANE, LEAST, NUMBERS, TOTAL, Operation, operands

MOST = 16  # parts side by side
FEWEST = 60  # operations of a program
_SUMS, _CHAINS = (int(Op.ADD), int(Op.SUB)), (int(Op.ADD), int(Op.MIN))
_PRODUCTS, _SYMMETRIC = (int(Op.MUL), int(Op.DIV)), (int(Op.ADD), int(Op.MUL), int(Op.MIN), int(Op.MAX))
_NUMBER = 1 << 60  # key of any constant; packs count from 0, the narrow operation k is ~k

Signed = tuple[int, int]  # sign and operation


class Packed(NamedTuple):
    """Operations, some of them wide, and where the results are."""

    ops: list[Operation]
    results: list[int]
    lanes: int


def packed(program: Program) -> Packed | None:
    """The program with like parts in lanes; None where there are no parts worth it."""
    if program.operations < FEWEST:
        return None
    view = _View(program)
    parts = _parts(view)
    if len(parts) < 2:
        return None
    return _Writer(view, _Packs(view, parts)).written()


# ---------------------------------------------------------------- the program without signs


class _View:
    """Operations as they are compared: negations are signs of operands, sums and minima have all their terms as operands."""

    def __init__(self, program: Program):
        self.ops, self.results = program.ops, program.results
        n = len(self.ops)
        self.base = [(1, k) for k in range(n)]  # sign and operation without negations
        for k, op in enumerate(self.ops):
            if op[0] == Op.NEG:
                sign, a = self.base[op[1]]
                self.base[k] = (-sign, a)
        self.kind = [int(Op.ADD) if op[0] == Op.SUB else int(op[0]) for op in self.ops]
        readers: list[list[int]] = [[] for _ in range(n)]
        for k, op in enumerate(self.ops):
            if op[0] != Op.NEG:
                for a in operands(op):
                    readers[self.base[a][1]].append(k)
        self.delivered = {self.base[r][1] for r in self.results}
        # a sum that only one sum reads is part of it
        self.inner = [
            kind in _CHAINS and len(readers[k]) == 1 and self.kind[readers[k][0]] == kind and k not in self.delivered
            for k, kind in enumerate(self.kind)
        ]
        self.terms = self._terms()
        self.counted = [k for k in range(n) if self.kind[k] > Op.INPUT and self.kind[k] != Op.NEG and not self.inner[k]]
        self.readers: list[list[int]] = [[] for _ in range(n)]
        for k in self.counted:
            for _, a in self.terms[k]:
                self.readers[a].append(k)

    def _terms(self) -> list[list[Signed]]:
        found: list[list[Signed]] = []
        for op in self.ops:
            mine: list[Signed] = []
            for place, a in enumerate(operands(op)):
                sign, a = self.base[a]
                if op[0] == Op.SUB and place == 1:
                    sign = -sign
                if self.inner[a] and self.kind[a] == (Op.ADD if op[0] == Op.SUB else op[0]):
                    mine += [(sign * s, t) for s, t in found[a]]
                else:
                    mine.append((sign, a))
            found.append(mine)
        return found


# ---------------------------------------------------------------- which inputs belong to which part


def _parts(view: _View) -> list[int]:
    """The inputs of each part, as bits; empty where the program has no like parts."""
    best: list[int] = []
    most = len(view.counted) // 10
    reads, classes = _alike(view)
    for size in sorted({len(c) for c in classes}):
        if 2 <= size <= MOST:
            parts, explained = _consistent([c for c in classes if len(c) == size], reads)
            if explained > most:
                best, most = parts, explained
    return best


def _alike(view: _View) -> tuple[list[int], list[list[int]]]:
    """The inputs every operation depends on, as bits, and classes of operations that differ in constants, inputs and signs only."""
    reads = [0] * len(view.ops)
    shape = [0] * len(view.ops)
    shapes: dict[tuple[int, ...], int] = {}
    classes: dict[int, list[int]] = {}
    for k, op in enumerate(view.ops):
        if op[0] <= Op.INPUT:
            reads[k], shape[k] = (1 << op[1], -1) if op[0] == Op.INPUT else (0, -2)
            continue
        for a in operands(op):
            reads[k] |= reads[a]
        if op[0] != Op.NEG and not view.inner[k]:
            below = [shape[a] for _, a in view.terms[k]]
            if view.kind[k] in _SYMMETRIC:
                below.sort()
            shape[k] = shapes.setdefault((view.kind[k], *below), len(shapes))
            classes.setdefault(shape[k], []).append(k)
    return reads, list(classes.values())


def _consistent(classes: Sequence[Sequence[int]], reads: Sequence[int]) -> tuple[list[int], int]:
    """Parts that as many of these classes as possible agree on, and how many operations those have."""
    votes: list[list[int]] = []
    for members in classes:
        common = reads[members[0]]
        for k in members:
            common &= reads[k]
        own = [reads[k] & ~common for k in members]
        if all(own) and sum(own) == _union(own):  # disjoint
            votes.append(own)
    votes.sort(key=lambda own: -_union(own).bit_count())
    parts: list[int] = votes[0][:] if votes else []
    explained = len(parts)
    for own in votes[1:]:
        where = [[i for i, p in enumerate(parts) if p & o] for o in own]
        if all(len(w) == 1 for w in where) and len({w[0] for w in where}) == len(parts):
            for w, o in zip(where, own, strict=True):
                parts[w[0]] |= o
            explained += len(parts)
    return sorted(parts, key=lambda p: p & -p), explained


def _union(bits: Sequence[int]) -> int:
    total = 0
    for b in bits:
        total |= b
    return total


# ---------------------------------------------------------------- packs


class _Packs:
    """Which operations stand side by side; signs chosen so that they are alike."""

    def __init__(self, view: _View, parts: Sequence[int]):
        self.view, self.n = view, len(parts)
        self.place: dict[int, tuple[int, int]] = {}  # input -> part, number within it
        for i, part in enumerate(parts):
            for j, bit in enumerate(b for b in range(part.bit_length()) if part >> b & 1):
                self.place[bit] = (i, j)
        self.mixed = bytearray(len(view.ops))  # reads several parts
        self.own = self._owners()
        self.key: dict[tuple[int, int], int] = {}  # (operation, part) -> pack
        self.members: list[list[int]] = []  # operation of each part, -1 where there is none
        self.terms: dict[tuple[int, int], list[Signed]] = {}  # (operation, part) -> operands in an order all parts share
        self._number()
        self.whole = [min(m) >= 0 for m in self.members]
        self.signs = _Signs(self)

    def _owners(self) -> list[int]:
        """The parts every operation belongs to, as bits: 0 is none, several are a copy for each."""
        view = self.view
        own = [0] * len(view.ops)
        for k, op in enumerate(view.ops):
            if op[0] == Op.INPUT and op[1] in self.place:
                own[k] = 1 << self.place[op[1]][0]
        for k in view.counted:
            below = _union([own[a] for _, a in view.terms[k]])
            self.mixed[k] = below & (below - 1) != 0
            own[k] = 0 if self.mixed[k] else below
        every = (1 << self.n) - 1
        for k in reversed(view.counted):
            if not own[k] and not self.mixed[k] and k not in view.delivered:
                above = [own[r] for r in view.readers[k] if not self.mixed[r]]
                if above and all(above) and _union(above) != every:
                    own[k] = _union(above)
        return own

    def key_of(self, k: int, lane: int) -> int:
        """What a part sees as an operand: a pack, a narrow operation or a constant."""
        if self.view.kind[k] == Op.CONST:
            return _NUMBER
        return self.key[k, lane] if self.own[k] >> lane & 1 else ~k

    def lanes_of(self, k: int) -> list[int]:
        return [i for i in range(self.n) if self.own[k] >> i & 1]

    def _number(self) -> None:
        """The same number for operations of all parts that do the same to the same packs."""
        known: dict[tuple[int, ...], int] = {}
        met: Counter[tuple[int, ...]] = Counter()  # those that differ in constants only are paired in order
        for k, op in enumerate(self.view.ops):
            if op[0] == Op.INPUT and op[1] in self.place:
                keys = [(self.place[op[1]][0], (-1, self.place[op[1]][1]))]
            elif self.view.inner[k] or op[0] <= Op.INPUT or op[0] == Op.NEG:
                continue
            else:
                keys = [(i, self._key(k, i)) for i in self.lanes_of(k)]
            for i, key in keys:
                turn = met[i, *key]
                met[i, *key] += 1
                pack = known.setdefault((turn, *key), len(known))
                if pack == len(self.members):
                    self.members.append([-1] * self.n)
                self.members[pack][i] = k
                self.key[k, i] = pack

    def _key(self, k: int, lane: int) -> tuple[int, ...]:
        """What an operation does to which operands, those put into an order all parts share."""
        terms, kind = self.view.terms[k], self.view.kind[k]
        keys = [self.key_of(a, lane) for _, a in terms]
        if kind in _SYMMETRIC and len(keys) > 1:
            order = sorted(range(len(keys)), key=keys.__getitem__)
            terms, keys = [terms[j] for j in order], [keys[j] for j in order]
        self.terms[k, lane] = terms
        return (kind, *keys)

    def over_parts(self, k: int) -> list[int]:
        """Packs of which an operation reads every lane once, as a term."""
        if not self.mixed[k] or self.view.kind[k] not in _CHAINS:
            return []
        met: dict[int, list[int]] = {}
        for _, a in self.view.terms[k]:
            if self.own[a].bit_count() == 1:
                met.setdefault(self.key[a, self.own[a].bit_length() - 1], []).append(a)
        return [p for p, found in met.items() if self.whole[p] and sorted(found) == sorted(self.members[p])]


class _Signs:
    """The sign every lane of a pack is computed with, chosen so that all lanes do the same.

    The first lane is computed as it stands. In the others a product with a constant may have either sign: each brings an unknown
    bit. All other signs are sums (modulo 2) of such bits, and where the terms of a sum must agree there is an equation. Bit 0
    of an expression is the number 1. An equation that contradicts earlier ones is dropped: there a sign is applied by itself.
    """

    def __init__(self, packs: _Packs):
        self.packs, n = packs, packs.n
        self.expressions = [[0] * n for _ in packs.members]
        self.unknowns = [0] * n
        self.equations: list[dict[int, int]] = [{} for _ in range(n)]  # by their highest bit
        for p, members in enumerate(packs.members):
            if packs.whole[p] and packs.view.kind[members[0]] != Op.INPUT:
                for i in range(1, n):
                    self.expressions[p][i] = self._expression(members, i)
        for k in packs.view.counted:
            for p in packs.over_parts(k):
                signs = {a: s for s, a in packs.view.terms[k]}
                members = packs.members[p]
                for i in range(1, n):
                    self._demand(i, self.expressions[p][i] ^ (signs[members[i]] != signs[members[0]]))
        values = [self._solution(i) for i in range(n)]
        self.of = [[-1 if (e & v).bit_count() & 1 else 1 for e, v in zip(row, values, strict=True)] for row in self.expressions]

    def _expression(self, members: Sequence[int], i: int) -> int:
        """The sign of one lane, from those of its operands."""
        packs, kind = self.packs, self.packs.view.kind[members[0]]
        terms = packs.terms[members[i], i]
        keys = [packs.key_of(a, i) for _, a in terms]
        below = [
            (self.expressions[key][i] if key >= 0 else 0) ^ (s != t)
            for key, (s, _), (t, _) in zip(keys, terms, packs.terms[members[0], 0], strict=True)
            if key != _NUMBER
        ]
        if kind == Op.ADD:
            for e in below[1:]:
                self._demand(i, e ^ below[0])
            return below[0]
        if kind in _PRODUCTS:
            if len(below) == 2:
                return below[0] ^ below[1]
            self.unknowns[i] += 1
            return 1 << self.unknowns[i]
        for e in below if kind != Op.ABS else []:
            self._demand(i, e)
        return 0

    def _demand(self, lane: int, expression: int) -> None:
        """Let an expression be zero."""
        known = self.equations[lane]
        while expression > 1:
            high = expression.bit_length()
            if high not in known:
                known[high] = expression
                return
            expression ^= known[high]

    def _solution(self, lane: int) -> int:
        value = 1
        for high, equation in sorted(self.equations[lane].items()):
            if (equation & value).bit_count() & 1:  # all below are known, those without an equation are 0
                value |= 1 << (high - 1)
        return value


# ---------------------------------------------------------------- the wide program


class _Writer:
    """Writes packs and what is left."""

    def __init__(self, view: _View, packs: _Packs):
        self.view, self.packs, self.n = view, packs, packs.n
        self.out: list[Operation] = []
        self.known: dict[Operation, int] = {}
        self.wide: dict[int, int] = {}  # pack -> operation
        self.narrow: dict[int, Signed] = {}

    def written(self) -> Packed:
        view, packs = self.view, self.packs
        for k in view.counted:
            whole = [p for p in (packs.key[k, i] for i in packs.lanes_of(k)) if packs.whole[p]]
            for p in whole:
                self.pack(p)
            if not whole:
                self.narrow[k] = self.single(k)
        results = []
        for r in view.results:
            sign, k = view.base[r]
            s, found = self.read(k)
            results.append(self.signed(found, sign * s))
        return Packed(self.out, results, self.n)

    def put(self, kind: int, a: Any, b: int = -1, c: int = -1) -> int:
        op = (int(kind), a, b, c)
        key = op if kind != Op.CONST else (kind, repr(a), b, c)  # -0 is not 0
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = len(self.out)
            self.out.append(op)
        return found

    def numbers(self, values: Sequence[float]) -> int:
        return self.put(NUMBERS, tuple(values))

    def signed(self, k: int, sign: int) -> int:
        return k if sign > 0 else self.put(Op.NEG, k)

    def flipped(self, k: int, signs: Sequence[int]) -> int:
        """A wide value with a sign in every lane."""
        if len(set(signs)) == 1:
            return self.signed(k, signs[0])
        return self.put(Op.MUL, k, self.numbers([float(s) for s in signs]))

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
        i = next(i for i in self.packs.lanes_of(k) if self.packs.whole[self.packs.key[k, i]])
        pack = self.packs.key[k, i]
        return self.packs.signs.of[pack][i], self.put(LANE, self.wide[pack], -1, i)

    def single(self, k: int) -> Signed:
        kind, packs, terms = self.view.kind[k], self.packs, self.view.terms[k]
        if kind in _CHAINS:
            over = packs.over_parts(k)
            inside = {a for p in over for a in packs.members[p]}
            rest = [(s * t, a) for s, (t, a) in ((s, self.read(a)) for s, a in terms if a not in inside)]
            return self.chain(kind, ([self.over(kind, over, dict((a, s) for s, a in terms))] if over else []) + rest)
        found = [(s * t, a) for s, (t, a) in ((s, self.read(a)) for s, a in terms)]
        if kind in _PRODUCTS:
            (s, a), (t, b) = found
            return s * t, self.put(kind, a, b)
        return 1, self.put(kind, *(self.signed(a, s) for s, a in found))

    def over(self, kind: int, over: Sequence[int], signs: dict[int, int]) -> Signed:
        """The terms of all parts: added up lane by lane, then across."""
        terms: list[Signed] = []
        for p in over:
            members = self.packs.members[p]
            first = signs[members[0]] if kind == Op.ADD else 1
            terms.append((first, self.flipped(self.pack(p), [first * signs[a] * own for a, own in zip(members, self.packs.signs.of[p], strict=True)])))
        sign, total = self.chain(kind, terms)
        return sign, self.put(TOTAL if kind == Op.ADD else LEAST, total)

    # ---------------------------------------------------------------- wide

    def pack(self, p: int) -> int:
        if p in self.wide:
            return self.wide[p]
        members = self.packs.members[p]
        kind = self.view.kind[members[0]]
        if kind == Op.INPUT:
            made = self.put(INPUTS, tuple(self.view.ops[k][1] for k in members))
        else:
            columns = list(zip(*(self.packs.terms[k, i] for i, k in enumerate(members)), strict=True))
            made = self.written_pack(kind, self.packs.signs.of[p], columns)
        self.wide[p] = made
        return made

    def written_pack(self, kind: int, mine: Sequence[int], columns: Sequence[tuple[Signed, ...]]) -> int:
        signs = [self.column_signs(column) for column in columns]
        if kind == Op.ADD:
            terms = []
            for column, found in zip(columns, signs, strict=True):
                first = column[0][0]
                terms.append((first, self.operand(column, [first * m * s for m, s in zip(mine, found, strict=True)])))
            sign, total = self.chain(kind, terms)
            return self.signed(total, sign)
        if kind in _PRODUCTS:
            product = [m * s * t for m, s, t in zip(mine, *signs, strict=True)]
            bears = 1 if self.is_number(columns[1]) else 0
            none = [1] * self.n
            return self.put(kind, *(self.operand(column, product if j == bears else none) for j, column in enumerate(columns)))
        made = self.put(kind, *(self.operand(c, [1] * self.n if kind == Op.ABS else s) for c, s in zip(columns, signs, strict=True)))
        return self.flipped(made, mine)

    def is_number(self, column: Sequence[Signed]) -> bool:
        return self.view.kind[column[0][1]] == Op.CONST

    def column_signs(self, column: Sequence[Signed]) -> list[int]:
        """The sign with which an operand is read, with that of its pack."""
        key = self.packs.key_of(column[0][1], 0)
        own = self.packs.signs.of[key] if 0 <= key < _NUMBER else [1] * self.n
        return [s * o for (s, _), o in zip(column, own, strict=True)]

    def operand(self, column: Sequence[Signed], signs: Sequence[int]) -> int:
        """Constants, a narrow value for all lanes, or a pack; with signs."""
        if self.is_number(column):
            return self.numbers([s * self.view.ops[a][1] for s, (_, a) in zip(signs, column, strict=True)])
        key = self.packs.key_of(column[0][1], 0)
        if key < 0:
            s, a = self.read(~key)
            return self.flipped(a, [s * t for t in signs])
        return self.flipped(self.pack(key), signs)


# ---------------------------------------------------------------- every lane by itself


def across(n: int) -> list[tuple[int, int]]:
    """How n lanes are joined: steps (i, j) that put lane i joined with lane j into lane i; in pairs, as registers hold them."""
    even = n - n % 2
    return [*((j % 2, j) for j in range(2, even)), (0, 1), *([(0, n - 1)] if n % 2 else [])]


def spread(ops: Sequence[Operation], results: Sequence[int], n: int) -> tuple[list[Operation], list[int]]:
    """The same arithmetic without wide operations."""
    out: list[Operation] = []
    lanes: list[list[int]] = []  # one number, or one for every lane

    def put(op: Operation) -> int:
        out.append(op)
        return len(out) - 1

    for kind, a, b, c in ops:
        if kind <= Op.INPUT:
            single = Op.CONST if kind in (Op.CONST, NUMBERS) else Op.INPUT
            values = a if kind in (NUMBERS, INPUTS) else (a,)
            lanes.append([put((single, x, -1, -1)) for x in values])
        elif kind == LANE:
            lanes.append([lanes[a][c]])
        elif kind in (TOTAL, LEAST):
            found = list(lanes[a])
            for i, j in across(n):
                found[i] = put((Op.ADD if kind == TOTAL else Op.MIN, found[i], found[j], -1))
            lanes.append(found[:1])
        else:
            read = [lanes[k] for k in operands((kind, a, b, c))]
            made = []
            for i in range(max(map(len, read))):
                args = [r[i] if len(r) > 1 else r[0] for r in read]
                made.append(put((kind, *args, *[-1] * (3 - len(args)))))
            lanes.append(made)
    return out, [lanes[r][0] for r in results]
