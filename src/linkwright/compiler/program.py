"""The flat program of a trace: a list of operations in order, inputs and outputs by name. Every back end reads this.

    ops[k] = (op, a, b, c)      operands are indices of earlier operations (-1: none)
    CONST: a is the number;  INPUT: a is the place in the packed input vector

`interpret` runs it on whole arrays of states, real or complex: where no native code can be made, and for complex numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from linkwright.numerics.scalars import arctan2, is_complex, real
from linkwright.properties import cached_property


class Op(IntEnum):
    CONST = 0
    INPUT = 1
    ADD = 2
    SUB = 3
    MUL = 4
    DIV = 5
    NEG = 6
    SQRT = 7
    ABS = 8
    SIN = 9
    COS = 10
    EXP = 11
    LOG = 12
    TANH = 13
    ATAN2 = 14
    POW = 15
    ROUND = 16
    MIN = 17
    MAX = 18
    LT = 19
    LE = 20
    SELECT = 21  # a ? b : c


class Block(NamedTuple):
    """A named array inside the packed inputs or outputs."""

    name: str
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def span(self) -> slice:
        return slice(self.start, self.start + self.size)


@dataclass(frozen=True)
class Program:
    """Operations in order, and where the results are."""

    ops: tuple[tuple[int, Any, int, int], ...]
    results: tuple[int, ...]
    inputs: tuple[Block, ...]
    outputs: tuple[Block, ...]

    @property
    def n_in(self) -> int:
        return sum(b.size for b in self.inputs)

    @property
    def n_out(self) -> int:
        return len(self.results)

    @cached_property
    def digest(self) -> str:
        """Hash of operations, inputs and outputs: programs of one digest have the same machine code."""
        numbers = np.fromiter(chain.from_iterable(self.ops), dtype="<f8", count=4 * len(self.ops))  # whole numbers are exact in floats
        found = hashlib.sha256(numbers.tobytes())
        found.update(repr((self.results, self.inputs, self.outputs)).encode())
        return found.hexdigest()

    @cached_property
    def operations(self) -> int:
        """How many operations one evaluation does (constants and inputs are none; sine and cosine count one each)."""
        return sum(1 for op in self.ops if op[0] > Op.INPUT)

    @property
    def zeros(self) -> list[int]:
        """Outputs that are zero whatever the inputs are."""
        return [i for i, r in enumerate(self.results) if self.ops[r][0] == Op.CONST and self.ops[r][1] == 0.0]

    @property
    def outline(self) -> dict[str, Any]:
        """Inputs, outputs, operations and zeros as JSON: all that a caller of its machine code reads."""
        return {
            "inputs": [[b.name, list(b.shape), b.start] for b in self.inputs],
            "outputs": [[b.name, list(b.shape), b.start] for b in self.outputs],
            "operations": self.operations,
            "zeros": self.zeros,
        }

    @cached_property
    def last_uses(self) -> list[int]:
        """The last operation that reads each one; those of results are read at the end."""
        last = [-1] * len(self.ops)
        for k, (op, a, b, c) in enumerate(self.ops):
            if op > Op.INPUT:
                for i in (a, b, c):
                    if i >= 0:
                        last[i] = k
        for r in self.results:
            last[r] = len(self.ops)
        return last

    @cached_property
    def freed(self) -> list[tuple[int, ...]]:
        """The operations that each one reads as the last."""
        last, ops = self.last_uses, self.ops
        read = [() if op <= Op.INPUT else (a, b, c) for op, a, b, c in ops]
        return [tuple(i for i in dict.fromkeys(some) if i >= 0 and last[i] == k) for k, some in enumerate(read)]

    def counts(self) -> dict[str, int]:
        """Operations by kind."""
        return dict(Counter(Op(op[0]).name.lower() for op in self.ops if op[0] > Op.INPUT))

    def pack(self, values: dict[str, Any]) -> np.ndarray:
        """Inputs by name as one vector."""
        return np.concatenate([np.asarray(values[b.name], dtype=float).ravel() for b in self.inputs]) if self.inputs else np.zeros(0)

    def unpack(self, y: np.ndarray) -> dict[str, np.ndarray]:
        """Outputs by name; y may carry leading batch axes."""
        lead = y.shape[:-1]
        return {name: y[..., at] if shape is None else y[..., at].reshape(lead + shape) for name, at, shape in self._places}

    @cached_property
    def _places(self) -> list[tuple[str, int | slice, tuple[int, ...] | None]]:
        """Of every output its name, where it is, and its shape if that takes more than an index or a slice."""
        return [
            (b.name, b.span if b.shape else b.start, tuple(b.shape) if len(b.shape) > 1 else None)
            for b in self.outputs
        ]


def pruned(ops: list[tuple[int, Any, int, int]], results: Sequence[int], inputs: tuple[Block, ...], outputs: tuple[Block, ...]) -> Program:
    """A program with only what the results depend on."""
    leaf = int(Op.INPUT)
    live = bytearray(len(ops))
    needed = list(dict.fromkeys(results))
    for k in needed:
        live[k] = 1
    for k in needed:  # grows meanwhile: a graph may hold far more than the results need, so it is not scanned
        op, a, b, c = ops[k]
        if op > leaf:
            if not live[a]:
                live[a] = 1
                needed.append(a)
            if b >= 0 and not live[b]:
                live[b] = 1
                needed.append(b)
            if c >= 0 and not live[c]:
                live[c] = 1
                needed.append(c)
    needed.sort()
    place = {-1: -1}  # no operand
    retained: list[tuple[int, Any, int, int]] = []
    for k in needed:
        op, a, b, c = ops[k]
        place[k] = len(retained)
        retained.append((op, a, -1, -1) if op <= leaf else (op, place[a], place[b], place[c]))
    return Program(tuple(retained), tuple(place[r] for r in results), inputs, outputs)


def for_row(program: Program, row: Any) -> Program:
    """The same program, reading its inputs from their places in a row."""
    place: dict[int, int] = {}
    for block in program.inputs:
        if block.size:
            start = int(row.spans[block.name].start)
            place.update({block.start + i: start + i for i in range(block.size)})
    ops = tuple((op[0], place[op[1]], -1, -1) if op[0] == Op.INPUT else op for op in program.ops)
    return replace(program, ops=ops, inputs=tuple(Block(k, (n,), int(row.spans[k].start)) for k, n in row.sizes.items()))


def joined(programs: Sequence[Program]) -> Program:
    """Programs of the same inputs one after the other, as one."""
    ops: list[tuple[int, Any, int, int]] = []
    results: list[int] = []
    outputs: list[Block] = []
    for p in programs:
        at = len(ops)
        outputs += [b._replace(start=b.start + len(results)) for b in p.outputs]
        results += [at + r for r in p.results]
        for op, a, b, c in p.ops:
            ops.append((op, a, b, c) if op <= Op.INPUT else (op, a + at, b + at if b >= 0 else -1, c + at if c >= 0 else -1))
    return Program(tuple(ops), tuple(results), programs[0].inputs, tuple(outputs))


_BINARY: dict[int, Any] = {
    Op.ADD: np.add, Op.SUB: np.subtract, Op.MUL: np.multiply, Op.DIV: np.divide, Op.ATAN2: np.arctan2, Op.POW: np.power,
    Op.MIN: np.minimum, Op.MAX: np.maximum, Op.LT: np.less, Op.LE: np.less_equal,
}  # fmt: skip
_UNARY: dict[int, Any] = {
    Op.NEG: np.negative, Op.SQRT: np.sqrt, Op.ABS: np.abs, Op.SIN: np.sin, Op.COS: np.cos, Op.EXP: np.exp, Op.LOG: np.log,
    Op.TANH: np.tanh, Op.ROUND: np.rint,
}  # fmt: skip


_ANALYTIC: dict[int, Any] = {  # on complex numbers: comparisons, and what has a kink, look at the real part
    Op.ATAN2: arctan2,
    Op.MIN: lambda u, w: np.where((real(u) < real(w)) | (u != u), u, w),
    Op.MAX: lambda u, w: np.where((real(u) > real(w)) | (u != u), u, w),
    Op.LT: lambda u, w: np.less(real(u), real(w)),
    Op.LE: lambda u, w: np.less_equal(real(u), real(w)),
    Op.ABS: lambda u: np.where(real(u) < 0.0, -u, u),
    Op.ROUND: lambda u: np.rint(real(u)),
}


def operation(op: int, u: Any, w: Any = None) -> Any:
    """One operation on arrays or numpy's numbers; comparisons give 1 or 0, as in every back end."""
    table: Any = _UNARY if w is None else _BINARY
    function = _ANALYTIC[op] if op in _ANALYTIC and (is_complex(u) or is_complex(w)) else table[op]
    found = function(u) if w is None else function(u, w)
    return found.astype(float) if op in (Op.LT, Op.LE) else found


_FLOATS: dict[int, Any] = {
    **_BINARY, **_UNARY,
    Op.LT: lambda u, w: np.less(u, w).astype(float), Op.LE: lambda u, w: np.less_equal(u, w).astype(float),
}  # fmt: skip


def interpret(program: Program, x: np.ndarray) -> np.ndarray:
    """Evaluate on packed inputs of shape (..., n_in), real or complex; returns (..., n_out)."""
    x = np.asarray(x)
    x = x if x.dtype.kind == "c" else x.astype(float, copy=False)
    return evaluated(program, [x[..., i] for i in range(x.shape[-1])], x.shape[:-1], x.dtype)


def evaluated(program: Program, x: Sequence[Any], shape: tuple[int, ...], kind: Any = float) -> np.ndarray:
    """The same with an entry of x for each input: an array of this shape, or a number of numpy."""
    plain, freed = np.dtype(kind).kind == "f", program.freed
    values: list[Any] = []
    put = values.append
    with np.errstate(all="ignore"):
        for k, (op, a, b, c) in enumerate(program.ops):
            if op == Op.CONST:
                put(np.float64(a))
            elif op == Op.INPUT:
                put(x[a])
            elif c >= 0:
                put(np.where(values[a], values[b], values[c]))
            elif not plain:
                put(operation(op, values[a], values[b] if b >= 0 else None))
            elif b >= 0:
                put(_FLOATS[op](values[a], values[b]))
            else:
                put(_FLOATS[op](values[a]))
            for i in freed[k]:
                values[i] = None  # as many arrays as are needed at a time
    out = np.empty((*shape, len(program.results)), dtype=kind)
    for k, r in enumerate(program.results):
        out[..., k] = values[r]
    return out


def without_unused(program: Program, names: Sequence[str]) -> Program:
    """The same program without those of the named inputs that nothing reads."""
    read = {op[1] for op in program.ops if op[0] == Op.INPUT}
    retained: list[Block] = []
    moved: dict[int, int] = {}
    at = 0
    for block in program.inputs:
        if block.size == 0 or (block.name in names and not any(i in read for i in range(block.start, block.start + block.size))):
            continue
        moved.update({block.start + i: at + i for i in range(block.size)})
        retained.append(Block(block.name, block.shape, at))
        at += block.size
    ops = tuple((op[0], moved[op[1]], -1, -1) if op[0] == Op.INPUT else op for op in program.ops)
    return replace(program, ops=ops, inputs=tuple(retained))
