"""Operations of a program that depend on one input block only, computed once and handed on: parameters that change rarely.

    before, after = hoisted(program, "free", "constants")

`before` computes from `free` every value that the rest needs, `after` reads these as its input `constants` in the place of `free`. The
rest is then hardly longer than with the parameters as numbers. No arithmetic is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from linkwright.compiler.program import Block, Op, Program, pruned


class Hoisted(NamedTuple):
    """A program in two parts: values of the parameters alone, and the rest."""

    before: Program
    after: Program


def hoisted(program: Program, block: str, name: str) -> Hoisted:
    """Split off what depends on an input block alone; it becomes the input block `name` of the rest, at the same place."""
    source = next(b for b in program.inputs if b.name == block)
    alone = _alone(program, source)
    needed = _needed(program, alone)
    place = {k: source.start + i for i, k in enumerate(needed)}
    moved = len(needed) - source.size
    ops: list[tuple[int, Any, int, int]] = []
    for k, (op, a, b, c) in enumerate(program.ops):
        if k in place:
            ops.append((Op.INPUT, place[k], -1, -1))
        elif op == Op.INPUT and a >= source.start + source.size:
            ops.append((Op.INPUT, a + moved, -1, -1))
        else:
            ops.append((op, a, b, c))
    inputs = []
    for x in program.inputs:
        if x.name == block:
            inputs.append(Block(name, (len(needed),), x.start))
        else:
            inputs.append(x if x.start <= source.start else x._replace(start=x.start + moved))
    after = pruned(ops, program.results, tuple(inputs), program.outputs)
    first = [(op, a - source.start, b, c) if op == Op.INPUT else (op, a, b, c) for op, a, b, c in program.ops]
    before = pruned(first, needed, (Block(block, source.shape, 0),), (Block(name, (len(needed),), 0),))
    return Hoisted(before, after)


def part(program: Program, outputs: Sequence[str], inputs: int | None = None) -> Program:
    """The program of some of the outputs; `inputs` counts the leading input blocks it still has."""
    chosen = [next(b for b in program.outputs if b.name == n) for n in outputs]
    results: list[int] = []
    blocks: list[Block] = []
    for b in chosen:
        blocks.append(b._replace(start=len(results)))
        results += program.results[b.span]
    return pruned(list(program.ops), results, program.inputs[:inputs], tuple(blocks))


def _alone(program: Program, source: Block) -> list[bool]:
    """True for operations that inputs of the block enter, and no others."""
    known: list[bool] = []  # of the block or constant
    enters: list[bool] = []  # the block
    span = range(source.start, source.start + source.size)
    for op, a, b, c in program.ops:
        if op == Op.CONST:
            known.append(True)
            enters.append(False)
        elif op == Op.INPUT:
            known.append(a in span)
            enters.append(a in span)
        else:
            operands = [i for i in (a, b, c) if i >= 0]
            known.append(all(known[i] for i in operands))
            enters.append(any(enters[i] for i in operands))
    return [x and y for x, y in zip(known, enters, strict=True)]


def _needed(program: Program, alone: list[bool]) -> list[int]:
    """Values of the parameters that the rest reads. A condition counts where it is used: it is chosen by, not computed with."""
    found: set[int] = {r for r in program.results if alone[r]}
    for k, (op, a, b, c) in enumerate(program.ops):
        if op > Op.INPUT and not alone[k]:
            found.update(i for i in (a, b, c) if i >= 0 and alone[i])
    return sorted(found)
