"""Like parts of a mechanism (the legs of a parallel robot), found in the flat program of its equations alone.

Operations alike but for constants, inputs and signs, whose inputs are disjoint, say which inputs belong to which part. From there on
every operation belongs to the part its operands (or else all its readers) belong to. Operations of all parts that do the same to the same
operands form a pack: they can be done side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from linkwright.compiler.program import Op, Program
from linkwright.compiler.sums import operands

MOST = 16  # parts side by side
EXPLAINED = 0.05  # share of the operations that must distinguish the parts
CHAINS, SYMMETRIC = (int(Op.ADD), int(Op.MIN)), (int(Op.ADD), int(Op.MUL), int(Op.MIN), int(Op.MAX))
NUMBER = 1 << 60  # key of any constant; packs count from 0, the narrow operation k is ~k

Signed = tuple[int, int]  # sign and operation


class CanonicalView:
    """Operations as they are compared: negations are signs of operands, sums and minima have all their terms as operands."""

    def __init__(self, program: Program):
        self.ops, self.results = program.ops, program.results
        self.kind = [int(Op.ADD) if op[0] == Op.SUB else int(op[0]) for op in self.ops]
        self.base = [(1, k) for k in range(len(self.ops))]  # sign and operation without negations
        readers: list[list[int]] = [[] for _ in self.ops]
        for k, op in enumerate(self.ops):
            if op[0] == Op.NEG:
                sign, a = self.base[op[1]]
                self.base[k] = (-sign, a)
            else:
                for a in operands(op):
                    readers[self.base[a][1]].append(k)
        self.delivered = {self.base[r][1] for r in self.results}
        # a sum that only one sum reads is part of it
        self.inner = [
            kind in CHAINS and len(readers[k]) == 1 and self.kind[readers[k][0]] == kind and k not in self.delivered
            for k, kind in enumerate(self.kind)
        ]
        self.terms = self._terms()
        self.counted = [k for k, kind in enumerate(self.kind) if kind > Op.INPUT and kind != Op.NEG and not self.inner[k]]

    def _terms(self) -> list[list[Signed]]:
        found: list[list[Signed]] = []
        for op in self.ops:
            mine = [self.base[a] for a in operands(op)]
            if op[0] == Op.SUB:
                mine[1] = (-mine[1][0], mine[1][1])
            if any(self.inner[a] for _, a in mine):
                mine = [(s * t, b) for s, a in mine for t, b in (found[a] if self.inner[a] else [(1, a)])]
            found.append(mine)
        return found

    def levels(self) -> list[list[int]]:
        """Operations by depth: like ones are equally deep."""
        depth = [0] * len(self.ops)
        levels: list[list[int]] = []
        for k in self.counted:
            depth[k] = 1 + max([depth[a] for _, a in self.terms[k]])
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
        if 2 <= size <= MOST:
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
        met: Counter[tuple[int, ...]] = Counter()  # those that differ in constants only are paired in order
        for k in level:
            below = union([own for own in [self.own[a] for _, a in self.view.terms[k]] if single(own)])  # copies may be anywhere
            for i in numbers_of(below or likely[k]) if single(below) else []:
                key = self._key(k, i)
                groups.setdefault((met[i, *key], *key), {})[i] = k
                met[i, *key] += 1
        for group in groups.values():
            self._accept(group)

    def _key(self, k: int, lane: int) -> tuple[int, ...]:
        """Key of an operation: what it does to which operands, in an order all parts share."""
        terms, kind = self.view.terms[k], self.view.kind[k]
        keys = [self.key_of(a, lane) for _, a in terms]
        if kind in SYMMETRIC:
            order = sorted(range(len(keys)), key=keys.__getitem__)
            terms, keys = [terms[j] for j in order], [keys[j] for j in order]
        self.terms[k, lane] = terms
        return (kind, *keys)

    def key_of(self, k: int, lane: int) -> int:
        """Key of an operand: a pack, a narrow operation or a constant."""
        if self.view.kind[k] == Op.CONST:
            return NUMBER
        return self.key[k, lane] if self.own[k] >> lane & 1 else ~k

    def over_parts(self, k: int) -> list[int]:
        """Packs of which a sum or minimum reads every lane once, as a term."""
        if self.view.kind[k] not in CHAINS or self.own[k] or len(self.view.terms[k]) < self.n:
            return []
        met: dict[int, list[int]] = {}
        for _, a in self.view.terms[k]:
            if self.own[a] and single(self.own[a]):
                met.setdefault(self.key[a, self.own[a].bit_length() - 1], []).append(a)
        return [p for p, found in met.items() if len(found) == self.n and sorted(found) == sorted(self.members[p])]
