"""Order for machine code: angles gathered, operations depth first from the results, long programs cut into pieces.

Depth first keeps few values alive. Sines and cosines of several angles are computed when the first of them is needed, so that
they fit into one vector. Cutting keeps compile time proportional to length, because register allocation is not: pieces hand values to later
pieces through an array whose slots are used again. One state and many do the same arithmetic; code of one state keeps like parts of a
mechanism in lanes (`lanes`) where that saves instructions, and orders the steps of short programs by urgency. Code of many states runs
through like parts one after the other; long programs that repeat themselves are loops (`repeats`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linkwright.compiler.lanes import packed, spread
from linkwright.compiler.program import Op, Program
from linkwright.compiler.repeats import Part, Series, SlotLayout, Step, parts, repetitive, runs
from linkwright.compiler.sums import INPUTS, LANE, LEAST, NUMBERS, TOTAL, Operation, arranged, latency, operands, wide_ones

CUT_ABOVE = 3000  # operations; shorter programs are one piece, which is faster
LEGS_ABOVE = 1500  # operations; the code of larger programs for many states is written once for all like parts (0.7 to 0.85 of the time)
PIECE = 120  # steps; some 190 operations, for products are part of sums
ANGLES = 16  # sines and cosines of at most so many angles are one step
REGISTER = 4  # doubles in a register
STORES = 250  # outputs of a piece that only delivers
URGENT_BELOW = 2000  # operations; steps of short programs of one state are ordered by urgency
LANE_SHARE = 0.97  # lanes must leave at most this share of the instructions (measured: 0.96 is 1.1 times as fast, 1.13 slower)
_LEAF, _ANGULAR = int(Op.INPUT), (int(Op.SIN), int(Op.COS))


@dataclass(frozen=True)
class ProgramPiece:
    """Steps of one function, what it hands on and what it delivers."""

    steps: tuple[Step, ...]
    loads: dict[int, int]  # operation -> slot it is read from
    stores: dict[int, int]  # operation -> slot it is written to
    results: dict[int, tuple[int, ...]]  # operation -> places in the packed outputs


@dataclass(frozen=True)
class Schedule:
    """A program in the order of its machine code; operations keep the program's numbers, but within a series."""

    ops: tuple[Operation, ...]
    pieces: tuple[ProgramPiece | Series, ...]
    slots: int
    n_in: int
    n_out: int
    margin: int  # place of the output `margin`, -1 if there is none
    lanes: int = 1  # of wide operations
    wide: bytes = b""  # which operations are wide; empty: none

    @property
    def steps(self) -> int:
        return sum(len(piece.steps) for piece in self.pieces)


def schedule(program: Program, *, fuse: bool = True, piece: int = PIECE, cut_above: int = CUT_ABOVE, one: bool = False) -> Schedule:
    """The order of a program for machine code; for code of one state like parts stay in lanes, otherwise each lane is written out."""
    ops, results = arranged(program, fuse=fuse)
    n, size, wide = 1, float(program.operations), b""
    margin = next((b.start for b in program.outputs if b.name == "margin" and b.size == 1), -1)
    repeated: tuple[tuple[ProgramPiece | Series, ...], int] | None = None
    found = packed(program) if fuse else None
    if found is not None:
        others, ends = arranged(found, fuse=fuse)
        share = cost(others, ends, found.lanes) / cost(ops, results)
        if share < LANE_SHARE and one:
            ops, results, n, size, wide = others, ends, found.lanes, share * size, bytes(wide_ones(others))
        elif share < LANE_SHARE:
            written = spread(others, ends, found.lanes)
            ops, results = written.ops, written.results
            if size > min(cut_above, LEGS_ABOVE):
                repeated = laid_out(ops, results, sections(others, ends, found.lanes, written.made, piece))
    if n == 1 and size > cut_above and repeated is None:
        repeated = rolled(ops, results, REGISTER if one else 1, piece)
    if repeated is not None:
        return Schedule(tuple(ops), *repeated, program.n_in, program.n_out, margin)
    order = steps(ops, results, n)
    if one and size <= min(URGENT_BELOW, cut_above):
        order = urgent_first(ops, order)
    pieces, slots = cut(ops, order, results, piece if size > cut_above else len(order) + 1, wide, width(n))
    return Schedule(tuple(ops), pieces, slots, program.n_in, program.n_out, margin, n, wide)


def rolled(
    ops: Sequence[Operation], results: Sequence[int], angles: int, piece: int
) -> tuple[tuple[ProgramPiece | Series, ...], int] | None:
    """Pieces and series of a program that repeats itself, with the number of their slots; None if it does not. Sines of at most
    `angles` angles are one step: many would tie cells together."""
    if not repetitive(ops):
        return None
    order = steps(ops, results, 1, angles)
    found = runs(ops, order)
    return laid_out(ops, results, parts(order, found, piece)) if found else None


def laid_out(ops: Sequence[Operation], results: Sequence[int], parts: Sequence[Part]) -> tuple[tuple[ProgramPiece | Series, ...], int]:
    """Parts as pieces and series, with the number of their slots."""
    layout = SlotLayout(ops, parts, results)
    pieces: list[ProgramPiece | Series] = [layout.series(part) if len(part) > 1 else _piece(ops, part[0], layout) for part in parts]
    late = layout.late + [r for r in layout.places if ops[r][0] <= Op.INPUT]
    return (*pieces, *_late(late, layout.places, layout.slot)), layout.slots


def _late(late: Sequence[int], places: Mapping[int, Sequence[int]], slot: Mapping[int, int]) -> list[ProgramPiece]:
    """Pieces that only deliver: constants, inputs and values from slots. LLVM's time grows with the square of the stores of a piece."""
    every = [(k, j) for k in late for j in places[k]]
    out = []
    for first in range(0, len(every), STORES):
        some: dict[int, list[int]] = {}
        for k, j in every[first : first + STORES]:
            some.setdefault(k, []).append(j)
        out.append(ProgramPiece((), {k: slot[k] for k in some if k in slot}, {}, {k: tuple(x) for k, x in some.items()}))
    return out


def sections(ops: Sequence[Operation], results: Sequence[int], n: int, made: Sequence[range], piece: int) -> list[Part]:
    """Wide operations between narrow ones as repeats, one for each of n like parts; narrow ones as pieces. `made` says what each
    operation is in the program written out."""
    wide, live = wide_ones(ops), _live(ops, results)
    level = [-1] * len(ops)  # even: wide
    for k, op in enumerate(ops):
        if live[k] and op[0] > _LEAF:
            before = max(0, *(level[a] for a in operands(op)))
            level[k] = before + (before % 2 != (0 if wide[k] else 1))
    mine: list[list[Step]] = [[] for _ in range(max(level, default=-1) + 1)]
    for step in steps(ops, results, n, 1):
        mine[level[step[0]]].append(step)
    out: list[Part] = []
    for number, some in enumerate(mine):
        if number % 2:
            single: list[Step] = []
            for step in some:
                single += [(i,) for i in made[step[0]]] if len(step) == 1 else [tuple(made[k][0] for k in step)]
            out += [[single[i : i + piece]] for i in range(0, len(single), piece)]
        elif some:
            out.append([[tuple(made[k][i] for k in step) for step in some] for i in range(n)])
    return out


def _piece(ops: Sequence[Operation], part: Sequence[Step], layout: SlotLayout) -> ProgramPiece:
    """A piece whose values have the slots of a layout."""
    made = [k for step in part for k in step]
    inside = set(made)
    loads = {a: layout.slot[a] for k in made for a in operands(ops[k]) if a in layout.slot and a not in inside}
    stores = {k: layout.slot[k] for k in made if k in layout.slot}
    return ProgramPiece(tuple(part), loads, stores, {k: tuple(layout.places[k]) for k in made if k in layout.places})


def urgent_first(ops: Sequence[Operation], order: Sequence[Step]) -> list[Step]:
    """The same steps by the cycles from their beginning to the last result that needs them; depth first among equals."""
    left: dict[int, int] = {}  # cycles from where a value must be there
    begin: dict[Step, int] = {}
    for step in reversed(order):
        begin[step] = max(left.get(k, 0) + latency(ops[k][0]) for k in step)
        for k in step:
            for a in operands(ops[k]):
                left[a] = max(left.get(a, 0), begin[step])
    return sorted(order, key=begin.__getitem__, reverse=True)


def width(n: int) -> int:
    """Lanes of a vector that holds n numbers: whole registers are filled."""
    return n if n < 3 else REGISTER * -(-n // REGISTER)


def cost(ops: Sequence[Operation], results: Sequence[int], n: int = 1) -> float:
    """Instructions, about; those between lanes and single numbers included."""
    wide, live = wide_ones(ops), _live(ops, results)
    across = {LANE: 1, TOTAL: n - 1, LEAST: 3 * (n - 1), INPUTS: n + 1, NUMBERS: 0, int(Op.CONST): 0, int(Op.INPUT): 0}
    total = 0.0
    everywhere: set[int] = set()  # narrow values that are in all lanes
    for k, op in enumerate(ops):
        if live[k]:
            total += across[op[0]] if op[0] in across else -(-n // REGISTER) if wide[k] else 1
            if wide[k]:
                everywhere.update(a for a in operands(op) if not wide[a] and ops[a][0] != Op.CONST)
    return total + len(everywhere)


def steps(ops: Sequence[Operation], results: Sequence[int], n: int = 1, most: int = ANGLES) -> list[Step]:
    """Depth first from the results, the operand that needs more registers first; angles of a group, at most `most`, all at once."""
    need = _registers(ops)
    groups = {k: (angles, group) for angles, group in _angle_groups(ops, results, n, most) for k in group}
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
            need[k] = 1 if kind in (_LEAF, INPUTS) else 0
        elif b < 0:
            need[k] = need[a] or 1
        elif c < 0:
            left, right = need[a], need[b]
            need[k] = left + 1 if left == right else max(left, right)
        else:
            need[k] = max(1, *(n + i for i, n in enumerate(sorted((need[a], need[b], need[c]), reverse=True))))
    return need


def _angle_groups(ops: Sequence[Operation], results: Sequence[int], n: int, most: int) -> list[tuple[list[int], Step]]:
    """Angles whose sine or cosine is wanted, with those operations; angles of a group depend on no sine of their own group."""
    if not any(op[0] in _ANGULAR for op in ops):
        return []
    live, wide = _live(ops, results), wide_ones(ops)
    level = [0] * len(ops)
    angles: dict[tuple[int, int], dict[int, list[int]]] = {}
    for k, (kind, a, b, c) in enumerate(ops):
        if kind <= _LEAF:
            continue
        below = level[a]
        if b >= 0:
            below = level[b] if level[b] > below else below
            if c >= 0:
                below = level[c] if level[c] > below else below
        level[k] = below
        if kind in _ANGULAR and live[k]:
            level[k] = below + 1
            angles.setdefault((below, wide[k]), {}).setdefault(a, []).append(k)
    groups = []
    for (_, lanes), found in sorted(angles.items()):
        together = list(found.items())
        size = max(1, most // n) if lanes else most
        for i in range(0, len(together), size):
            some = together[i : i + size]
            groups.append(([a for a, _ in some], tuple(k for _, ks in some for k in ks)))
    return groups


def _live(ops: Sequence[Operation], results: Sequence[int]) -> bytearray:
    live = bytearray(len(ops))
    for r in results:
        live[r] = 1
    for k in range(len(ops) - 1, -1, -1):
        if live[k]:
            kind, a, b, c = ops[k]
            if kind > _LEAF:
                live[a] = 1
                if b >= 0:
                    live[b] = 1
                    if c >= 0:
                        live[c] = 1
    return live


def cut(
    ops: Sequence[Operation], order: Sequence[Step], results: Sequence[int], piece: int, wide: bytes = b"", room: int = 1
) -> tuple[tuple[ProgramPiece, ...], int]:
    """Pieces of at most `piece` steps, and how many slots the values between them need; a wide value needs `room`."""
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
    return _with_slots(ops, parts, last, places, {k: room for k in last if wide and wide[k]})


def _with_slots(
    ops: Sequence[Operation], parts: Sequence[Sequence[Step]], last: dict[int, int], places: dict[int, list[int]], rooms: dict[int, int]
) -> tuple[tuple[ProgramPiece, ...], int]:
    leaves = [r for r in places if ops[r][0] <= Op.INPUT]
    apart = sum(len(places[r]) for r in leaves) > STORES
    slot: dict[int, int] = {}
    free: dict[int, list[int]] = {room: [] for room in (1, *rooms.values())}
    expiring: list[list[int]] = [[] for _ in parts]
    slots = 0
    pieces: list[ProgramPiece] = []
    for p, part in enumerate(parts):
        made = [k for step in part for k in step]
        inside = set(made)
        loads = {a: slot[a] for k in made for a in operands(ops[k]) if a in slot and a not in inside}
        stores: dict[int, int] = {}
        for k in made:
            if k in last:
                room = rooms.get(k, 1)
                if not free[room]:
                    free[room].append(slots)
                    slots += room
                slot[k] = stores[k] = free[room].pop()
                expiring[last[k]].append(k)
        for k in expiring[p]:  # only now: a piece may write before it reads
            free[rooms.get(k, 1)].append(slot[k])
        wanted = [*made, *(leaves if p == 0 and not apart else [])]
        pieces.append(ProgramPiece(tuple(part), loads, stores, {k: tuple(places[k]) for k in wanted if k in places}))
    return (*pieces, *(_late(leaves, places, {}) if apart else ())), slots
