"""Order for machine code: angles gathered, operations depth first from the results, long programs cut into pieces.

Depth first keeps few values alive. Sines and cosines of several angles are computed when the first of them is needed, so that
they fit into one vector. Cutting keeps compile time proportional to length, because register allocation is not: pieces hand values to later
pieces through an array whose slots are used again. One state and many follow the same schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwright.compiler.program import Op, Program
from linkwright.compiler.sums import Operation, arranged, operands

CUT_ABOVE = 3000  # operations; shorter programs are one piece, which is faster
PIECE = 120  # steps; some 190 operations, for products are part of sums
ANGLES = 16  # sines and cosines of at most so many angles are one step
_LEAF, _ANGULAR = int(Op.INPUT), (int(Op.SIN), int(Op.COS))

Step = tuple[int, ...]  # operations done at once: one, or all sines and cosines of some angles


@dataclass(frozen=True)
class Piece:
    """Steps of one function, what it hands on and what it delivers."""

    steps: tuple[Step, ...]
    loads: dict[int, int]  # operation -> slot it is read from
    stores: dict[int, int]  # operation -> slot it is written to
    results: dict[int, tuple[int, ...]]  # operation -> places in the packed outputs


@dataclass(frozen=True)
class Schedule:
    """A program in the order of its machine code; operations keep the program's numbers."""

    ops: tuple[Operation, ...]
    pieces: tuple[Piece, ...]
    slots: int
    n_in: int
    n_out: int
    margin: int  # place of the output `margin`, -1 if there is none

    @property
    def steps(self) -> int:
        return sum(len(piece.steps) for piece in self.pieces)


def schedule(program: Program, *, fuse: bool = True, piece: int = PIECE, cut_above: int = CUT_ABOVE) -> Schedule:
    """The order of a program for machine code."""
    ops, results = arranged(program, fuse=fuse)
    order = steps(ops, results)
    pieces, slots = cut(ops, order, results, piece if program.operations > cut_above else len(order) + 1)
    margin = [b.start for b in program.outputs if b.name == "margin" and b.size == 1]
    return Schedule(tuple(ops), pieces, slots, program.n_in, program.n_out, margin[0] if margin else -1)


def steps(ops: Sequence[Operation], results: Sequence[int]) -> list[Step]:
    """Depth first from the results, the operand that needs more registers first; angles of a group all at once."""
    need = _registers(ops)
    groups = {k: (angles, group) for angles, group in _angle_groups(ops, results) for k in group}
    done = bytearray(len(ops))
    order: list[Step] = []
    stack = list(reversed(results))
    while stack:
        k = stack[-1]
        if done[k]:
            stack.pop()
            continue
        inputs, step = groups[k] if k in groups else (operands(ops[k]), (k,))
        waiting = [a for a in inputs if not done[a]]
        if waiting:
            if len(waiting) > 1:
                waiting.sort(key=need.__getitem__)
            stack += waiting
            continue
        stack.pop()
        for made in step:
            done[made] = 1
        if ops[k][0] > _LEAF:
            order.append(step)
    return order


def _registers(ops: Sequence[Operation]) -> list[int]:
    """How many values are alive while each operation's tree is computed (Sethi and Ullman's numbers)."""
    need = [0] * len(ops)
    for k, (kind, a, b, c) in enumerate(ops):
        if kind <= _LEAF:
            need[k] = 1 if kind == _LEAF else 0
        elif b < 0:
            need[k] = need[a] or 1
        elif c < 0:
            left, right = need[a], need[b]
            need[k] = left + 1 if left == right else max(left, right)
        else:
            need[k] = max(1, *(n + i for i, n in enumerate(sorted((need[a], need[b], need[c]), reverse=True))))
    return need


def _angle_groups(ops: Sequence[Operation], results: Sequence[int]) -> list[tuple[list[int], Step]]:
    """Angles whose sine or cosine is wanted, with those operations; angles of a group depend on no sine of their own group."""
    if not any(op[0] in _ANGULAR for op in ops):
        return []
    live = _live(ops, results)
    level = [0] * len(ops)
    angles: dict[int, dict[int, list[int]]] = {}
    for k, op in enumerate(ops):
        below = max([level[a] for a in operands(op)], default=0)
        level[k] = below
        if op[0] in _ANGULAR and live[k]:
            level[k] = below + 1
            angles.setdefault(below, {}).setdefault(op[1], []).append(k)
    groups = []
    for _, found in sorted(angles.items()):
        together = list(found.items())
        for i in range(0, len(together), ANGLES):
            some = together[i : i + ANGLES]
            groups.append(([a for a, _ in some], tuple(k for _, ks in some for k in ks)))
    return groups


def _live(ops: Sequence[Operation], results: Sequence[int]) -> bytearray:
    live = bytearray(len(ops))
    for r in results:
        live[r] = 1
    for k in range(len(ops) - 1, -1, -1):
        if live[k]:
            for a in operands(ops[k]):
                live[a] = 1
    return live


def cut(ops: Sequence[Operation], order: Sequence[Step], results: Sequence[int], piece: int) -> tuple[tuple[Piece, ...], int]:
    """Pieces of at most `piece` steps, and how many slots the values between them need."""
    parts = [order[i : i + piece] for i in range(0, len(order), piece)] or [[]]
    home = {k: p for p, part in enumerate(parts) for step in part for k in step}
    last: dict[int, int] = {}  # last piece that reads a value of another piece
    for p, part in enumerate(parts):
        for step in part:
            for k in step:
                for a in operands(ops[k]):
                    if home.get(a, p) != p:
                        last[a] = p
    places: dict[int, list[int]] = {}
    for j, r in enumerate(results):
        places.setdefault(r, []).append(j)
    return _with_slots(ops, parts, last, places)


def _with_slots(
    ops: Sequence[Operation], parts: Sequence[Sequence[Step]], last: dict[int, int], places: dict[int, list[int]]
) -> tuple[tuple[Piece, ...], int]:
    slot: dict[int, int] = {}
    free: list[int] = []
    expiring: list[list[int]] = [[] for _ in parts]
    slots = 0
    pieces: list[Piece] = []
    for p, part in enumerate(parts):
        made = [k for step in part for k in step]
        inside = set(made)
        loads = {a: slot[a] for k in made for a in operands(ops[k]) if a in slot and a not in inside}
        stores: dict[int, int] = {}
        for k in made:
            if k in last:
                if not free:
                    free.append(slots)
                    slots += 1
                slot[k] = stores[k] = free.pop()
                expiring[last[k]].append(slot[k])
        free += expiring[p]  # only now: a piece may write before it reads
        wanted = [*made, *([r for r in places if ops[r][0] <= Op.INPUT] if p == 0 else [])]
        pieces.append(Piece(tuple(part), loads, stores, {k: tuple(places[k]) for k in wanted if k in places}))
    return tuple(pieces), slots
