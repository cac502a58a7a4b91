"""Operations of a program that depend on one input block only, computed once and handed on: parameters that change rarely.

    before, after = hoisted(program, "parameters", "constants")

`before` computes from `parameters` every value that the rest needs, and `after` reads these as its input `constants` instead. The
rest is then hardly longer than with the parameters as numbers. No arithmetic is changed.

`simplified` removes constants that are 0, 1 or -1, or equal to another one up to their sign, whatever the parameters are: products of
rotations that cancel, directions of axes. They are found on a few random sets of parameters, where a difference is compared with the
round-off that it may have, estimated operation by operation: a small number is not taken for none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.derivatives import replay
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Block, Op, Program, operation, pruned

NOISE = 64.0 * float(np.finfo(float).eps)  # of its estimated round-off: a difference below it is none


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


def simplified(split: Hoisted, samples: np.ndarray) -> Hoisted:
    """The same with fewer constants; `samples` are sets of parameters, one a row, of which those are left out that give no numbers."""
    if not split.before.n_out:
        return split
    values, errors = _measured(split.before, samples)
    block = next(b for b in split.after.inputs if b.name == split.before.outputs[0].name)
    found = _identities(values[:, list(split.before.results)], errors[:, list(split.before.results)])
    retained = [k for k, (source, _) in enumerate(found) if source == k]
    if len(retained) == block.size or not len(values):
        return split
    graph = TraceGraph()
    place = {k: i for i, k in enumerate(retained)}
    given: list[Any] = []
    for b in split.after.inputs:
        array = graph.input(b.name, len(retained) if b.name == block.name else b.shape)
        if b.name != block.name:
            given += list(array.ravel())
            continue
        for source, factor in found:
            given.append(factor if source < 0 else array[place[source]] if factor > 0 else -array[place[source]])
    results = replay(split.after, given)
    after = graph.program([(b.name, np.array(results[b.span], dtype=object).reshape(b.shape)) for b in split.after.outputs])
    chosen = [split.before.results[k] for k in retained]
    before = pruned(list(split.before.ops), chosen, split.before.inputs, (Block(block.name, (len(retained),), 0),))
    return Hoisted(before, after)


def _identities(values: np.ndarray, errors: np.ndarray) -> list[tuple[int, float]]:
    """Of every constant (source, factor): itself (k, 1), an earlier one up to its sign, or a number (-1, factor)."""
    out: list[tuple[int, float]] = []
    alike: dict[str, list[int]] = {}
    for k in range(values.shape[1]):
        v, e = values[:, k], errors[:, k]
        number = next((x for x in (0.0, 1.0, -1.0) if (np.abs(v - x) <= NOISE * e).all()), None)
        if number is not None:
            out.append((-1, number))
            continue
        key = f"{abs(v[0]):.6e}"  # equal ones share it, but for a rare few, which stay
        near = [(j, sign) for j in alike.get(key, ()) for sign in (1.0, -1.0)]
        same = [(j, sign) for j, sign in near if (np.abs(v - sign * values[:, j]) <= NOISE * (e + errors[:, j])).all()]
        if same:
            out.append(same[0])
        else:
            alike.setdefault(key, []).append(k)
            out.append((k, 1.0))
    return out


def _measured(program: Program, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values of all operations and their round-off in units of the last place of 1, (samples, operations); rows that are not finite
    are left out. Running error analysis: every operation hands on the errors of its operands and adds its own rounding."""
    values: list[Any] = []
    errors: list[Any] = []
    with np.errstate(all="ignore"):
        for op, a, b, c in program.ops:
            if op <= Op.INPUT:
                values.append(np.full(len(samples), float(a)) if op == Op.CONST else samples[:, a])
                errors.append(np.abs(values[-1]))
                continue
            if op == Op.SELECT:
                values.append(np.where(values[a] != 0.0, values[b], values[c]))
                errors.append(np.where(values[a] != 0.0, errors[b], errors[c]))
                continue
            u, w = values[a], values[b] if b >= 0 else None
            values.append(operation(op, u, w))
            handed = _slopes(op, u, w, values[-1])
            errors.append(sum(np.abs(slope) * errors[i] for slope, i in zip(handed, (a, b), strict=False)) + np.abs(values[-1]))
    every, off = np.array(values).T, np.array(errors).T
    good = np.isfinite(every).all(axis=1) & np.isfinite(off).all(axis=1)
    return every[good], off[good]


def _slopes(op: int, u: Any, w: Any, r: Any) -> tuple[Any, ...]:
    """Derivatives of an operation by its operands, or a bound of them."""
    match op:
        case Op.ADD | Op.SUB | Op.MIN | Op.MAX:
            return 1.0, 1.0
        case Op.MUL:
            return w, u
        case Op.DIV:
            return 1.0 / w, r / w
        case Op.SQRT:
            return (0.5 / r,)
        case Op.SIN:
            return (np.cos(u),)
        case Op.COS:
            return (np.sin(u),)
        case Op.EXP:
            return (r,)
        case Op.LOG:
            return (1.0 / u,)
        case Op.ATAN2:
            return w / (u * u + w * w), u / (u * u + w * w)
        case Op.POW:
            return w * r / u, r * np.log(np.abs(u))
        case Op.ROUND | Op.LT | Op.LE:
            return 0.0, 0.0
        case _:  # NEG, ABS, TANH
            return (1.0,)


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
