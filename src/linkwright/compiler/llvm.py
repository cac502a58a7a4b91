"""LLVM code of a flat program: one state at a time, or many states in lanes; text of the intermediate language, then object bytes.

    one(x, y, w)       packed inputs, packed outputs, work; returns a status word
    many(...)          rows of states, eight at a time (see `batches`)

Status: bit 0 says that some output is not finite, bit 1 that the output named `margin` is not positive. Products are
fused into sums explicitly (`sums`) and no fast-math flag is used, so one state and many give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwright.compiler import sincos
from linkwright.compiler.program import Op, Program
from linkwright.compiler.schedule import Piece, Schedule, schedule
from linkwright.compiler.sincos import Lanes
from linkwright.compiler.sums import FMA, FMS, FNMA, Operation
from linkwright.compiler.target import Compiled, Target, emit, host, level

_BINARY: dict[int, str] = {Op.ADD: "fadd", Op.SUB: "fsub", Op.MUL: "fmul", Op.DIV: "fdiv"}
_LIBRARY: dict[int, str] = {Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh", Op.ATAN2: "atan2", Op.POW: "pow"}
_INTRINSIC: dict[int, str] = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.ROUND: "rint"}
_CONDITIONS = (int(Op.LT), int(Op.LE))


def compile_one(program: Program, target: Target | None = None, plan: Schedule | None = None) -> Compiled:
    """Code that evaluates the program on one state."""
    target = target or host()
    plan = plan or schedule(program, fuse=target.fused)
    text = one_text(plan, target)
    return Compiled(meta_of(program, plan, target) | {"work": plan.slots}, emit(text, target, level(program.operations)))


def meta_of(program: Program, plan: Schedule, target: Target) -> dict[str, Any]:
    return {
        "inputs": [[b.name, list(b.shape), b.start] for b in program.inputs],
        "outputs": [[b.name, list(b.shape), b.start] for b in program.outputs],
        "operations": program.operations,
        "pieces": len(plan.pieces),
        "cpu": target.cpu,
    }


# ---------------------------------------------------------------- text


@dataclass
class Body:
    """Instructions of one function on lanes: values by the program's numbers."""

    ops: Sequence[Operation]
    lanes: Lanes
    target: Target
    row: int  # doubles from one entry of x or y to the next
    out: list[str] = field(default_factory=list)
    values: dict[int, str] = field(default_factory=dict)
    numbers: dict[int, str] = field(default_factory=dict)  # conditions as 1.0 or 0.0
    label: str = "entry"
    made: int = 0

    def put(self, text: str) -> str:
        self.made += 1
        self.out.append(f"  %t{self.made} = {text}")
        return f"%t{self.made}"

    def load(self, base: str, place: int, row: int) -> str:
        at = self.put(f"getelementptr double, ptr {base}, i64 {place * row}")
        return self.put(f"load {self.lanes.double}, ptr {at}, align {self.alignment(row)}")

    def store(self, value: str, base: str, place: int, row: int) -> None:
        at = self.put(f"getelementptr double, ptr {base}, i64 {place * row}")
        self.out.append(f"  store {self.lanes.double} {value}, ptr {at}, align {self.alignment(row)}")

    def alignment(self, row: int) -> int:
        return 8 * min(row, self.lanes.count)

    def value(self, k: int) -> str:
        """The name of an operation's value; constants and inputs appear when asked for."""
        found = self.values.get(k)
        if found is None:
            kind, a, _, _ = self.ops[k]
            found = self.lanes.splat(a) if kind == Op.CONST else self.load("%x", a, self.row)
            self.values[k] = found
        return found

    def is_condition(self, k: int) -> bool:
        return self.ops[k][0] in _CONDITIONS

    def number(self, k: int) -> str:
        """The value as a number; a condition is 1 or 0."""
        if not self.is_condition(k):
            return self.value(k)
        if k not in self.numbers:
            d = self.lanes.double
            self.numbers[k] = self.put(f"select {self.lanes.i1} {self.values[k]}, {d} {self.lanes.splat(1.0)}, {d} {self.lanes.splat(0.0)}")
        return self.numbers[k]

    def condition(self, k: int) -> str:
        if self.is_condition(k):
            return self.values[k]
        return self.put(f"fcmp une {self.lanes.double} {self.value(k)}, {self.lanes.splat(0.0)}")

    def intrinsic(self, name: str, *arguments: str) -> str:
        d = self.lanes.double
        return self.put(f"call {d} @llvm.{name}.{self.lanes.suffix}({', '.join(f'{d} {a}' for a in arguments)})")

    # ---------------------------------------------------------------- steps

    def piece(self, piece: Piece) -> None:
        """All steps of a piece, its loads and stores."""
        for k, slot in piece.loads.items():
            found = self.load("%w", slot, self.lanes.count)
            if self.is_condition(k):
                found = self.put(f"fcmp une {self.lanes.double} {found}, {self.lanes.splat(0.0)}")
            self.values[k] = found
        for step in piece.steps:
            self.step(step)
            for k in step:
                if k in piece.stores:
                    self.store(self.number(k), "%w", piece.stores[k], self.lanes.count)
        for k, places in piece.results.items():
            for j in places:
                self.store(self.number(k), "%y", j, self.row)

    def step(self, step: tuple[int, ...]) -> None:
        if self.ops[step[0]][0] in (Op.SIN, Op.COS):
            self.angles(step)
        else:
            k = step[0]
            self.values[k] = self.operation(self.ops[k])

    def operation(self, op: Operation) -> str:
        kind, a, b, c = op
        d, num = self.lanes.double, self.number
        if kind in _BINARY:
            return self.put(f"{_BINARY[kind]} {d} {num(a)}, {num(b)}")
        if kind in (FMA, FMS, FNMA):
            left = self.put(f"fneg {d} {num(a)}") if kind == FNMA else num(a)
            right = self.put(f"fneg {d} {num(c)}") if kind == FMS else num(c)
            return self.intrinsic("fma", left, num(b), right)
        if kind == Op.NEG:
            return self.put(f"fneg {d} {num(a)}")
        if kind in _INTRINSIC:
            return self.intrinsic(_INTRINSIC[kind], num(a))
        if kind in _LIBRARY:
            self.made += 1
            arguments = [num(x) for x in (a, b) if x >= 0]
            return sincos.each_lane(self.out, f"l{self.made}", self.lanes, f"lw_{_LIBRARY[kind]}", *arguments)
        if kind in _CONDITIONS:
            return self.put(f"fcmp {'olt' if kind == Op.LT else 'ole'} {d} {num(a)}, {num(b)}")
        if kind == Op.SELECT:
            return self.put(f"select {self.lanes.i1} {self.condition(a)}, {d} {num(b)}, {d} {num(c)}")
        return self.extreme(kind, num(a), num(b))

    def extreme(self, kind: int, a: str, b: str) -> str:
        """The smaller or larger of two numbers; NaN if either is."""
        d, mask = self.lanes.double, self.lanes.i1
        chosen = self.put(f"fcmp {'olt' if kind == Op.MIN else 'ogt'} {d} {a}, {b}")
        either = self.put(f"select {mask} {chosen}, {d} {a}, {d} {b}")
        broken = self.put(f"fcmp uno {d} {a}, {a}")
        return self.put(f"select {mask} {broken}, {d} {a}, {d} {either}")

    # ---------------------------------------------------------------- sines and cosines

    def angles(self, step: tuple[int, ...]) -> None:
        """All sines and cosines of a step; those of one state are packed into lanes."""
        arguments = list(dict.fromkeys(self.ops[k][1] for k in step))
        found: dict[int, tuple[str, str]] = {}
        if not self.target.fused:
            for a in arguments:
                self.made += 1
                found[a] = sincos.library(self.out, f"a{self.made}", self.lanes, self.number(a))
        elif self.lanes.count == 1 and len(arguments) > 1:
            self.packed(arguments, found)
        else:
            for a in arguments:
                found[a] = self.group(self.lanes, [self.number(a)])[0]
        for k in step:
            kind, a, _, _ = self.ops[k]
            self.values[k] = found[a][0 if kind == Op.SIN else 1]

    def group(self, lanes: Lanes, vectors: list[str]) -> list[tuple[str, str]]:
        self.made += 1
        pairs, self.label = sincos.group(self.out, f"a{self.made}", lanes, vectors, self.label)
        return pairs

    def packed(self, arguments: list[int], found: dict[int, tuple[str, str]]) -> None:
        """Several angles of one state side by side in vectors."""
        width = self.target.lanes if len(arguments) > 4 else 4
        lanes = Lanes(width)
        for start in range(0, len(arguments), 4 * width):  # four vectors share a branch
            share = arguments[start : start + 4 * width]
            rows = [share[i : i + width] for i in range(0, len(share), width)]
            pairs = self.group(lanes, [self._vector(lanes, row) for row in rows])
            for row, pair in zip(rows, pairs, strict=True):
                for i, a in enumerate(row):
                    s, c = (self.put(f"extractelement {lanes.double} {v}, i32 {i}") for v in pair)
                    found[a] = (s, c)

    def _vector(self, lanes: Lanes, row: list[int]) -> str:
        vector = "zeroinitializer"
        for i, a in enumerate(row):
            vector = self.put(f"insertelement {lanes.double} {vector}, double {self.number(a)}, i32 {i}")
        return vector

    # ---------------------------------------------------------------- status

    def status(self, outputs: Sequence[str], margin: str | None) -> tuple[str, str | None]:
        """Masks: some output is not finite; the margin is not positive. 0 x is NaN exactly when x is not finite."""
        d, zero = self.lanes.double, self.lanes.splat(0.0)
        sums = [zero] * min(4, max(1, len(outputs)))
        for i, y in enumerate(outputs):
            j = i % len(sums)
            if self.target.fused:
                sums[j] = self.intrinsic("fma", y, zero, sums[j])
            else:
                product = self.put(f"fmul {d} {y}, {zero}")
                sums[j] = self.put(f"fadd {d} {product}, {sums[j]}")
        while len(sums) > 1:
            sums = [self.put(f"fadd {d} {a}, {b}") for a, b in zip(sums[::2], sums[1::2], strict=False)] + sums[len(sums) & ~1 :]
        broken = self.put(f"fcmp uno {d} {sums[0]}, {zero}")
        return broken, None if margin is None else self.put(f"fcmp ule {d} {margin}, {zero}")


def declarations(widths: Sequence[int]) -> list[str]:
    """What the bodies call, and the weights that keep far angles out of the way."""
    lines: dict[str, None] = {}
    for width in sorted(set(widths)):
        lanes = Lanes(width)
        d, s = lanes.double, lanes.suffix
        lines |= dict.fromkeys(sincos.declarations(lanes))
        lines |= dict.fromkeys(f"declare {d} @llvm.{name}.{s}({d})" for name in ("sqrt", "rint"))
    for name in _LIBRARY.values():
        arguments = "double, double" if name in ("atan2", "pow") else "double"
        lines[f"declare double @lw_{name}({arguments}) nounwind memory(none)"] = None
    return [*lines, '!0 = !{!"branch_weights", i32 1, i32 100000}']


def one_text(plan: Schedule, target: Target) -> str:
    """The module with `one`."""
    lanes = Lanes(1)
    lines = [f'target triple = "{target.triple}"', *declarations([1, 4, target.lanes])]
    for width in sorted({1, 4, target.lanes}):
        lines += sincos.far_function(Lanes(width))
    arguments = "ptr noalias readonly %x, ptr noalias %y, ptr noalias %w"
    main = Body(plan.ops, lanes, target, 1)
    if len(plan.pieces) == 1:
        piece = plan.pieces[0]
        main.piece(piece)
        where = {j: k for k, places in piece.results.items() for j in places}
        outputs = [main.number(where[j]) for j in range(plan.n_out)]
    else:
        for i, piece in enumerate(plan.pieces):
            body = Body(plan.ops, lanes, target, 1)
            body.piece(piece)
            lines += [f"define internal void @piece{i}({arguments}) noinline nounwind {{", "entry:", *body.out, "  ret void", "}"]
            main.out.append(f"  call void @piece{i}(ptr %x, ptr %y, ptr %w)")
        outputs = [main.load("%y", j, 1) for j in range(plan.n_out)]
    broken, poor = main.status(list(dict.fromkeys(outputs)), outputs[plan.margin] if plan.margin >= 0 else None)
    word = main.put(f"zext i1 {broken} to i64")
    if poor is not None:
        word = main.put(f"or i64 {word}, {main.put(f'select i1 {poor}, i64 2, i64 0')}")
    lines += [f"define i64 @one({arguments}) nounwind {{", "entry:", *main.out, f"  ret i64 {word}", "}"]
    return "\n".join(lines) + "\n"
