"""Break points of a program: where a branch, a minimum, a maximum or an absolute value changes over to its other side.

A program with such operations is smooth only piece by piece, and a step across a break point loses its order. Every condition
lo < hi gets an input s of its own, a side:

    lo - s < hi        s = 0: as it is;   s = SIDE: taken for true;   s = -SIDE: taken for false

and a switching function hi - lo, whose zeros are the break points. With sides held, the program is one smooth piece, also beyond
its end; a time stepper holds them over a step, locates the zero in the step and changes the side there.

A rounded number z, by which laws are folded into a period, is written as a condition too: even where cos(pi z) > 0, odd elsewhere,

    round(z) = 2 round(z / 2)   or   2 round((z - 1) / 2) + 1

which continues each period smoothly beyond its seam. Only the turns that keep an angle continuous, round((near - atan2(y, x)) / 2 pi),
are left as they are, and so are conditions that nothing but the margin reads or that no state or time enters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from linkwright.compiler.program import Block, Op, Program, pruned

SIDE = 1e300
CONDITIONS = (Op.LT, Op.LE)
PIECEWISE = (*CONDITIONS, Op.MIN, Op.MAX, Op.ABS)
FIXED = ("parameters", "gains", "held", "near")  # inputs that stay the same over a step
UNREAD = ("margin",)  # outputs that are only looked at
Operation = tuple[int, Any, int, int]


@dataclass(frozen=True)
class Switched:
    """A program with sides as further inputs, and its switching functions of the inputs it had."""

    program: Program
    functions: Program

    @property
    def count(self) -> int:
        return self.functions.n_out


def switched(program: Program, block: str = "sides") -> Switched:
    """Give every break point of a program a side, in an input block of this name, and a switching function."""
    program = _unfolded(program)
    places = dict(_places(program))
    order = {pair: k for k, pair in enumerate(dict.fromkeys(places.values()))}
    ops = list(program.ops)
    zero = len(ops)
    ops.append((Op.CONST, 0.0, -1, -1))

    def operand(i: int) -> int:
        return zero if i < 0 else i

    first = len(ops)
    ops += [(Op.SUB, operand(hi), operand(lo), -1) for lo, hi in order]
    functions = pruned(ops, range(first, len(ops)), program.inputs, (Block("g", (len(order),), 0),))
    return Switched(_with_sides(program, places, order, block), functions)


def _with_sides(program: Program, places: dict[int, tuple[int, int]], order: dict[tuple[int, int], int], block: str) -> Program:
    out: list[Operation] = [(Op.CONST, 0.0, -1, -1)]
    moved: list[int] = []

    def put(*op: Any) -> int:
        out.append((op[0], op[1], op[2] if len(op) > 2 else -1, op[3] if len(op) > 3 else -1))
        return len(out) - 1

    for k, (op, a, b, c) in enumerate(program.ops):
        if op <= Op.INPUT:
            moved.append(put(op, a))
            continue
        x, y, z = moved[a], moved[b] if b >= 0 else -1, moved[c] if c >= 0 else -1
        if k not in places:
            moved.append(put(op, x, y, z))
            continue
        lo, hi = (0 if i < 0 else moved[i] for i in places[k])
        side = put(Op.INPUT, program.n_in + order[places[k]])
        below = put(op if op in CONDITIONS else Op.LT, put(Op.SUB, lo, side), hi)
        if op in CONDITIONS:
            moved.append(below)
        elif op == Op.ABS:
            moved.append(put(Op.SELECT, below, put(Op.NEG, x), x))
        else:
            moved.append(put(Op.SELECT, below, x, y))
    inputs = (*program.inputs, Block(block, (len(order),), program.n_in))
    return pruned(out, [moved[r] for r in program.results], inputs, program.outputs)


def _places(program: Program) -> Iterator[tuple[int, tuple[int, int]]]:
    """Operations with a break point, and (lo, hi) of it; -1 stands for zero."""
    read = _read(program)
    varies = _varying(program)
    for k, (op, a, b, _) in enumerate(program.ops):
        if k not in read or op not in PIECEWISE:
            continue
        pair = (a, -1) if op == Op.ABS else (b, a) if op == Op.MAX else (a, b)
        if any(varies[i] for i in pair if i >= 0):
            yield k, pair


def _read(program: Program) -> set[int]:
    """Operations that results other than the margin depend on."""
    wanted = {i for b in program.outputs if b.name not in UNREAD for i in program.results[b.span]}
    for k in range(len(program.ops) - 1, -1, -1):
        if k in wanted:
            wanted.update(_operands(program.ops[k]))
    return wanted


def _varying(program: Program) -> list[bool]:
    """Of every operation, whether it changes within a step."""
    fixed = {i for b in program.inputs if b.name in FIXED for i in range(b.start, b.start + b.size)}
    varies: list[bool] = []
    for op in program.ops:
        varies.append(op[1] not in fixed if op[0] == Op.INPUT else any(varies[i] for i in _operands(op)))
    return varies


def _unfolded(program: Program) -> Program:
    """The program with rounded numbers as conditions, see above."""
    varies = _varying(program)
    found = [k for k, op in enumerate(program.ops) if op[0] == Op.ROUND and varies[k] and not _counts_turns(program, op[1])]
    if not found:
        return program
    ops: list[Operation] = []
    moved: list[int] = []

    def put(op: int, a: Any, b: int = -1, c: int = -1) -> int:
        ops.append((op, a, b, c))
        return len(ops) - 1

    zero, half, one, two, pi = (put(Op.CONST, x) for x in (0.0, 0.5, 1.0, 2.0, math.pi))
    for k, (op, a, b, c) in enumerate(program.ops):
        if op <= Op.INPUT:
            moved.append(put(op, a))
        elif k not in found:
            moved.append(put(op, moved[a], moved[b] if b >= 0 else -1, moved[c] if c >= 0 else -1))
        else:
            z = moved[a]
            even = put(Op.MUL, put(Op.ROUND, put(Op.MUL, z, half)), two)
            odd = put(Op.ADD, put(Op.MUL, put(Op.ROUND, put(Op.MUL, put(Op.SUB, z, one), half)), two), one)
            moved.append(put(Op.SELECT, put(Op.LT, zero, put(Op.COS, put(Op.MUL, z, pi))), even, odd))
    return pruned(ops, [moved[r] for r in program.results], program.inputs, program.outputs)


def _counts_turns(program: Program, k: int) -> bool:
    """True if an operation is (near - atan2(y, x)) / 2 pi, up to its sign."""
    op, a, b, _ = program.ops[k]
    while op in (Op.NEG, Op.MUL) and (op == Op.NEG or program.ops[b][0] == Op.CONST):
        op, a, b, _ = program.ops[a]
    return op in (Op.SUB, Op.ADD) and any(_is_angle(program, i) for i in (a, b))


def _is_angle(program: Program, k: int) -> bool:
    op, a, _, _ = program.ops[k]
    return op == Op.ATAN2 or (op == Op.NEG and _is_angle(program, a))


def _operands(op: Operation) -> Sequence[int]:
    return () if op[0] <= Op.INPUT else [i for i in op[1:] if i >= 0]
