"""LLVM code of a flat program: one state at a time, or many states in lanes; text of the intermediate language, then object bytes.

    one(x, y, w)       packed inputs, packed outputs, work; returns a status word
    many(...)          rows of states, eight at a time (see `state_lanes`)

Status: bit 0 says that some output is not finite, bit 1 that the output named `margin` is not positive. Products are
fused into sums explicitly (`sums`) and no fast-math flag is used, so one state and many give the same bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from linkwright.compiler import arctangent, sincos
from linkwright.compiler.cache import ObjectCode, Processor, emit, host, level
from linkwright.compiler.program import Op, Program
from linkwright.compiler.repeats import Series, SeriesOperand
from linkwright.compiler.schedule import REGISTER, ProgramPiece, Schedule, schedule, width
from linkwright.compiler.sincos import Lanes
from linkwright.compiler.sums import FMA, FMS, FNMA, INPUTS, LANE, LEAST, NUMBERS, TOTAL, Operation, operands

_BINARY: dict[int, str] = {Op.ADD: "fadd", Op.SUB: "fsub", Op.MUL: "fmul", Op.DIV: "fdiv"}
_LIBRARY: dict[int, str] = {Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh", Op.ATAN2: "atan2", Op.POW: "pow"}
_INTRINSIC: dict[int, str] = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.ROUND: "rint"}
_CONDITIONS = (int(Op.LT), int(Op.LE))
MANY_OUTPUTS = 200  # beyond these a loop looks for those that are not finite


def filled(values: Sequence[Any], count: int) -> list[Any]:
    """Lanes beyond the last repeat those of the last register: harmless numbers."""
    start = (len(values) - 1) // REGISTER * REGISTER
    tail = list(values[start:])
    return [*values[:start], *(tail[i % len(tail)] for i in range(count - start))]


def each(values: Sequence[float]) -> str:
    """Numbers as a vector constant."""
    return "<" + ", ".join(f"double {sincos.number(x)}" for x in values) + ">"


def compile_one(program: Program, target: Processor | None = None, plan: Schedule | None = None) -> ObjectCode:
    """Code that evaluates the program on one state."""
    target = target or host()
    plan = plan or schedule(program, fuse=target.fused, one=True)
    text = one_text(plan, target)
    return ObjectCode(meta_of(program, plan, target) | {"work": plan.slots}, emit(text, target, level(program.operations, plan.steps)))


def meta_of(program: Program, plan: Schedule, target: Processor) -> dict[str, Any]:
    return {**program.outline, "pieces": len(plan.pieces), "lanes": plan.lanes, "cpu": target.cpu}


# ---------------------------------------------------------------- text
@dataclass
class FunctionBody:
    """Instructions of one function on lanes: values by the program's numbers."""

    ops: Sequence[Operation]
    lanes: Lanes
    target: Processor
    row: int  # doubles from one entry of x or y to the next
    wide: bytes = b""  # which operations are on lanes of one state
    parts: int = 1  # how many such lanes there are
    out: list[str] = field(default_factory=list)
    values: dict[int, str] = field(default_factory=dict)
    numbers: dict[int, str] = field(default_factory=dict)  # conditions as 1.0 or 0.0
    everywhere: dict[int, str] = field(default_factory=dict)  # narrow values in all lanes of one state
    label: str = "entry"
    made: int = 0

    def __post_init__(self) -> None:
        self.broad = Lanes(width(self.parts)) if self.wide else self.lanes

    def lanes_of(self, k: int) -> Lanes:
        return self.broad if self.wide and self.wide[k] else self.lanes

    def put(self, text: str) -> str:
        self.made += 1
        self.out.append(f"  %t{self.made} = {text}")
        return f"%t{self.made}"

    def load(self, base: str, place: int, row: int, lanes: Lanes | None = None) -> str:
        lanes = lanes or self.lanes
        at = self.put(f"getelementptr double, ptr {base}, i64 {place * row}")
        return self.put(f"load {lanes.double}, ptr {at}, align {8 * min(row, lanes.count)}")

    def store(self, value: str, base: str, place: int, row: int, lanes: Lanes | None = None) -> None:
        self.store_at(value, self.put(f"getelementptr double, ptr {base}, i64 {place * row}"), row, lanes)

    def store_at(self, value: str, at: str, row: int, lanes: Lanes | None = None) -> None:
        lanes = lanes or self.lanes
        self.out.append(f"  store {lanes.double} {value}, ptr {at}, align {8 * min(row, lanes.count)}")

    def value(self, k: int) -> str:
        """The name of an operation's value; constants and inputs appear when asked for."""
        found = self.values.get(k)
        if found is None:
            kind, a, _, _ = self.ops[k]
            if kind in (NUMBERS, INPUTS):
                padded = filled(a, self.broad.count)
                found = each(padded) if kind == NUMBERS else self.vector(self.broad, [self.load("%x", i, 1) for i in padded])
            else:
                found = self.lanes.splat(a) if kind == Op.CONST else self.load("%x", a, self.row)
            self.values[k] = found
        return found

    def is_condition(self, k: int) -> bool:
        return self.ops[k][0] in _CONDITIONS

    def number(self, k: int, lanes: Lanes | None = None) -> str:
        """The value as a number, in all lanes that are asked for; a condition is 1 or 0."""
        own = self.lanes_of(k)
        if lanes is not None and lanes != own:
            return self.in_all_lanes(k)
        if not self.is_condition(k):
            return self.value(k)
        if k not in self.numbers:
            self.numbers[k] = self.put(f"select {own.i1} {self.values[k]}, {own.double} {own.splat(1.0)}, {own.double} {own.splat(0.0)}")
        return self.numbers[k]

    def in_all_lanes(self, k: int) -> str:
        """A narrow number in every lane of one state."""
        if self.ops[k][0] == Op.CONST:
            return self.broad.splat(self.ops[k][1])
        if k not in self.everywhere:
            d, n = self.broad.double, self.broad.count
            first = self.put(f"insertelement {d} undef, double {self.number(k)}, i32 0")
            self.everywhere[k] = self.put(f"shufflevector {d} {first}, {d} undef, <{n} x i32> zeroinitializer")
        return self.everywhere[k]

    def condition(self, k: int, lanes: Lanes) -> str:
        if self.is_condition(k) and self.lanes_of(k) == lanes:
            return self.values[k]
        return self.put(f"fcmp une {lanes.double} {self.number(k, lanes)}, {lanes.splat(0.0)}")

    def intrinsic(self, name: str, lanes: Lanes, *arguments: str) -> str:
        d = lanes.double
        return self.put(f"call {d} @llvm.{name}.{lanes.suffix}({', '.join(f'{d} {a}' for a in arguments)})")

    # ---------------------------------------------------------------- steps

    def piece(self, piece: ProgramPiece) -> None:
        """All steps of a piece, its loads and stores."""
        row = self.lanes.count  # of slots
        for k, slot in piece.loads.items():
            lanes = self.lanes_of(k)
            found = self.load("%w", slot, row, lanes)
            if self.is_condition(k):
                found = self.put(f"fcmp une {lanes.double} {found}, {lanes.splat(0.0)}")
            self.values[k] = found
        for step in piece.steps:
            self.step(step)
            for k in step:
                if k in piece.stores:
                    self.store(self.number(k), "%w", piece.stores[k], row, self.lanes_of(k))
        for k, places in piece.results.items():
            for j in places:
                self.store(self.number(k), "%y", j, self.row)

    def series(self, series: Series, name: str) -> list[str]:
        """A loop over the repeats of a series; returns the tables it reads, as globals."""
        place = SeriesPlaces(self, series.count)
        self.out += ["  br label %repeat", "repeat:"]
        self.label, head = "repeat", len(self.out)
        for step in series.steps:
            for k in dict.fromkeys(a for j in step for a in operands(self.ops[j]) if a in series.leaves):
                if k not in self.values:
                    self.values[k] = place.read(series.leaves[k])
            self.step(step)
            for k in step:
                if k in series.stores:
                    self.store_at(self.number(k), place.pointer("%w", series.stores[k], self.lanes.count), self.lanes.count)
                for places in series.results.get(k, ()):
                    self.store_at(self.number(k), place.pointer("%y", places, self.row), self.row)
        tables, pointers = place.rows(name)
        self.out[head:head] = [f"  %j = phi i64 [ 0, %entry ], [ %j.next, %{self.label} ]", *pointers]
        self.out += [
            "  %j.next = add i64 %j, 1",
            f"  %j.more = icmp ult i64 %j.next, {series.count}",
            "  br i1 %j.more, label %repeat, label %end",
            "end:",
        ]
        return tables

    def step(self, step: tuple[int, ...]) -> None:
        k = step[0]
        kind, a, _, c = self.ops[k]
        if kind in (Op.SIN, Op.COS):
            self.angles(step)
        elif kind == LANE:
            self.values[k] = self.lane(self.broad, self.number(a), c)
        elif kind in (TOTAL, LEAST):
            self.values[k] = self.across(kind, self.number(a))
        else:
            self.values[k] = self.operation(self.ops[k], self.lanes_of(k))

    def operation(self, op: Operation, lanes: Lanes) -> str:
        kind, a, b, c = op
        d = lanes.double

        def num(k: int) -> str:
            return self.number(k, lanes)

        if kind in _BINARY:
            return self.put(f"{_BINARY[kind]} {d} {num(a)}, {num(b)}")
        if kind in (FMA, FMS, FNMA):
            left = self.put(f"fneg {d} {num(a)}") if kind == FNMA else num(a)
            right = self.put(f"fneg {d} {num(c)}") if kind == FMS else num(c)
            return self.intrinsic("fma", lanes, left, num(b), right)
        if kind == Op.NEG:
            return self.put(f"fneg {d} {num(a)}")
        if kind in _INTRINSIC:
            return self.intrinsic(_INTRINSIC[kind], lanes, num(a))
        if kind in _LIBRARY:
            self.made += 1
            arguments = [num(x) for x in (a, b) if x >= 0]
            if kind == Op.ATAN2 and self.target.fused:
                return arctangent.arctan2(self.out, f"l{self.made}", lanes, *arguments)
            return sincos.each_lane(self.out, f"l{self.made}", lanes, f"lw_{_LIBRARY[kind]}", *arguments)
        if kind in _CONDITIONS:
            return self.put(f"fcmp {'olt' if kind == Op.LT else 'ole'} {d} {num(a)}, {num(b)}")
        if kind == Op.SELECT:
            return self.put(f"select {lanes.i1} {self.condition(a, lanes)}, {d} {num(b)}, {d} {num(c)}")
        return self.extreme(kind, lanes, num(a), num(b))

    def extreme(self, kind: int, lanes: Lanes, a: str, b: str) -> str:
        """The smaller or larger of two numbers; NaN if either is."""
        d, mask = lanes.double, lanes.i1
        chosen = self.put(f"fcmp {'olt' if kind == Op.MIN else 'ogt'} {d} {a}, {b}")
        either = self.put(f"select {mask} {chosen}, {d} {a}, {d} {b}")
        broken = self.put(f"fcmp uno {d} {a}, {a}")
        return self.put(f"select {mask} {broken}, {d} {a}, {d} {either}")

    # ---------------------------------------------------------------- between lanes of one state

    def lane(self, lanes: Lanes, vector: str, i: int) -> str:
        return self.put(f"extractelement {lanes.double} {vector}, i32 {i}")

    def vector(self, lanes: Lanes, entries: Sequence[str]) -> str:
        made = "undef" if len(entries) == lanes.count else "zeroinitializer"
        for i, entry in enumerate(entries):
            made = self.put(f"insertelement {lanes.double} {made}, double {entry}, i32 {i}")
        return made

    def across(self, kind: int, vector: str) -> str:
        """The sum or the least of all lanes: pairs of lanes first, as `lanes.across` says."""
        d, n, even = self.broad.double, self.parts, self.parts - self.parts % 2
        pairs = [self.put(f"shufflevector {d} {vector}, {d} undef, <2 x i32> <i32 {i}, i32 {i + 1}>") for i in range(0, even, 2)]
        total = pairs[0]
        for pair in pairs[1:]:
            total = self.joined(kind, Lanes(2), total, pair)
        total = self.joined(kind, self.lanes, *(self.lane(Lanes(2), total, i) for i in (0, 1)))
        return total if n == even else self.joined(kind, self.lanes, total, self.lane(self.broad, vector, n - 1))

    def joined(self, kind: int, lanes: Lanes, a: str, b: str) -> str:
        return self.put(f"fadd {lanes.double} {a}, {b}") if kind == TOTAL else self.extreme(Op.MIN, lanes, a, b)

    # ---------------------------------------------------------------- sines and cosines

    def angles(self, step: tuple[int, ...]) -> None:
        """All sines and cosines of a step; those of one state are packed into lanes."""
        arguments = list(dict.fromkeys(self.ops[k][1] for k in step))
        lanes = self.lanes_of(step[0])
        found: dict[int, tuple[str, str]] = {}
        if not self.target.fused:
            for a in arguments:
                self.made += 1
                found[a] = sincos.library(self.out, f"a{self.made}", lanes, self.number(a))
        elif lanes != self.lanes:
            self.packed_parts(arguments, found)
        elif lanes.count == 1 and len(arguments) > 1:
            found |= zip(arguments, self.packed([self.number(a) for a in arguments]), strict=True)
        else:
            for a in arguments:
                found[a] = self.group(lanes, [self.number(a)])[0]
        for k in step:
            kind, a, _, _ = self.ops[k]
            self.values[k] = found[a][0 if kind == Op.SIN else 1]

    def group(self, lanes: Lanes, vectors: list[str]) -> list[tuple[str, str]]:
        self.made += 1
        pairs, self.label = sincos.group(self.out, f"a{self.made}", lanes, vectors, self.label)
        return pairs

    def packed(self, angles: Sequence[str]) -> list[tuple[str, str]]:
        """Sine and cosine of several angles of one state, side by side in vectors."""
        lanes = Lanes(self.target.lanes if len(angles) > 4 else 4)
        found: list[tuple[str, str]] = []
        for start in range(0, len(angles), 4 * lanes.count):  # four vectors share a branch
            share = angles[start : start + 4 * lanes.count]
            rows = [share[i : i + lanes.count] for i in range(0, len(share), lanes.count)]
            pairs = self.group(lanes, [self.vector(lanes, row) for row in rows])
            for row, (s, c) in zip(rows, pairs, strict=True):
                found += [(self.lane(lanes, s, i), self.lane(lanes, c, i)) for i in range(len(row))]
        return found

    def packed_parts(self, arguments: Sequence[int], found: dict[int, tuple[str, str]]) -> None:
        """The same for wide angles: whole registers first, then what is left of each, so that few lanes stay empty."""
        size, n = self.target.lanes, self.parts
        whole = n - n % size
        places = [(a, i) for a in arguments for i in range(whole)] + [(a, i) for a in arguments for i in range(whole, n)]
        pairs = self.packed([self.lane(self.broad, self.number(a), i) for a, i in places])
        where = dict(zip(places, pairs, strict=True))
        for a in arguments:
            rows = filled([where[a, i] for i in range(n)], self.broad.count)
            found[a] = (self.vector(self.broad, [s for s, _ in rows]), self.vector(self.broad, [c for _, c in rows]))

    # ---------------------------------------------------------------- status

    def status(self, outputs: Sequence[str], margin: str | None) -> tuple[str, str | None]:
        """Masks: some output is not finite; the margin is not positive. 0 x is NaN exactly when x is not finite."""
        d, zero = self.lanes.double, self.lanes.splat(0.0)
        sums = [zero] * min(4, max(1, len(outputs)))
        for i, y in enumerate(outputs):
            sums[i % len(sums)] = self.vanishing(self.lanes, y, sums[i % len(sums)])
        broken = self.put(f"fcmp uno {d} {self.sum(self.lanes, sums)}, {zero}")
        return broken, None if margin is None else self.put(f"fcmp ule {d} {margin}, {zero}")

    def status_in_memory(self, plan: Schedule) -> tuple[str, str | None]:
        """The same of all outputs of a plan, which are in memory."""
        if plan.n_out > MANY_OUTPUTS:
            return self.status_of_many(plan.n_out, plan.margin)
        outputs = [self.load("%y", j, self.row) for j in range(plan.n_out)]
        return self.status(outputs, outputs[plan.margin] if plan.margin >= 0 else None)

    def status_of_many(self, count: int, margin: int) -> tuple[str, str | None]:
        """The same of outputs in memory, `margin` being a place or -1, by a loop: four vectors at a time."""
        lanes, each = (Lanes(4), 4) if self.lanes.count == 1 else (self.lanes, 1)  # of one state neighbors are a vector
        d, zero, rounds = lanes.double, lanes.splat(0.0), count // (4 * each)
        before, head = self.label, len(self.out) + 2
        self.out += ["  br label %outputs", "outputs:"]
        at = self.put(f"getelementptr double, ptr %y, i64 {self.put(f'mul i64 %o, {4 * each * self.row}')}")
        place = [self.put(f"getelementptr double, ptr {at}, i64 {i * each * self.row}") for i in range(4)]
        align = 8 * min(self.row, lanes.count)
        sums = [self.vanishing(lanes, self.put(f"load {d}, ptr {p}, align {align}"), f"%o.{i}") for i, p in enumerate(place)]
        heads = [f"  %o.{i} = phi {d} [ {zero}, %{before} ], [ {x}, %outputs ]" for i, x in enumerate(sums)]
        self.out[head:head] = [f"  %o = phi i64 [ 0, %{before} ], [ %o.next, %outputs ]", *heads]
        self.out += [
            "  %o.next = add i64 %o, 1",
            f"  %o.more = icmp ult i64 %o.next, {rounds}",
            "  br i1 %o.more, label %outputs, label %checked",
            "checked:",
        ]
        self.label = "checked"
        total = self.sum(lanes, sums)
        rest = [self.lane(lanes, total, i) for i in range(4)] if each == 4 else [total]
        rest += [self.load("%y", j, self.row) for j in range(4 * each * rounds, count)]
        return self.status(rest, self.load("%y", margin, self.row) if margin >= 0 else None)

    def vanishing(self, lanes: Lanes, y: str, total: str) -> str:
        """A sum of zeros plus 0 y."""
        if self.target.fused:
            return self.intrinsic("fma", lanes, y, lanes.splat(0.0), total)
        return self.put(f"fadd {lanes.double} {self.put(f'fmul {lanes.double} {y}, {lanes.splat(0.0)}')}, {total}")

    def sum(self, lanes: Lanes, terms: Sequence[str]) -> str:
        found = list(terms)
        while len(found) > 1:
            pairs = zip(found[::2], found[1::2], strict=False)
            found = [self.put(f"fadd {lanes.double} {a}, {b}") for a, b in pairs] + found[len(found) & ~1 :]
        return found[0]


def function_of(piece: ProgramPiece | Series, body: FunctionBody, name: str, arguments: str, traits: str) -> list[str]:
    """A function for a piece or series, with the tables it reads."""
    tables: list[str] = []
    if isinstance(piece, Series):
        body = replace(body, ops=piece.ops)
        tables = body.series(piece, name)
    else:
        body.piece(piece)
    return [*tables, f"define internal void @{name}({arguments}) noinline {traits} {{", "entry:", *body.out, "  ret void", "}"]


def declarations(widths: Sequence[int]) -> list[str]:
    """Declarations of called functions, and the weights that keep far angles out of the way."""
    lines: dict[str, None] = {}
    for count in sorted(set(widths)):
        lanes = Lanes(count)
        d, s = lanes.double, lanes.suffix
        lines |= dict.fromkeys(sincos.declarations(lanes))
        lines |= dict.fromkeys(f"declare {d} @llvm.{name}.{s}({d})" for name in ("sqrt", "rint"))
    for name in _LIBRARY.values():
        arguments = "double, double" if name in ("atan2", "pow") else "double"
        lines[f"declare double @lw_{name}({arguments}) nounwind memory(none)"] = None
    return [*lines, '!0 = !{!"branch_weights", i32 1, i32 100000}']


def one_text(plan: Schedule, target: Processor) -> str:
    """The module with `one`."""
    lanes = Lanes(1)
    lines = [f'target triple = "{target.triple}"', *declarations([1, 2, 4, target.lanes, width(plan.lanes)])]
    for count in sorted({1, 4, target.lanes}):
        lines += sincos.far_function(Lanes(count))
    arguments = "ptr noalias readonly %x, ptr noalias %y, ptr noalias %w"
    traits = "alignstack(64) nounwind" if plan.wide else "nounwind"  # wide values on the stack within lines of the cache
    main = FunctionBody(plan.ops, lanes, target, 1, plan.wide, plan.lanes)
    piece = plan.pieces[0]
    if len(plan.pieces) == 1 and isinstance(piece, ProgramPiece):
        main.piece(piece)
        where = {j: k for k, places in piece.results.items() for j in places}
        outputs = [main.number(where[j]) for j in range(plan.n_out)]
        broken, poor = main.status(list(dict.fromkeys(outputs)), outputs[plan.margin] if plan.margin >= 0 else None)
    else:
        for i, piece in enumerate(plan.pieces):
            lines += function_of(piece, FunctionBody(plan.ops, lanes, target, 1, plan.wide, plan.lanes), f"piece{i}", arguments, traits)
            main.out.append(f"  call void @piece{i}(ptr %x, ptr %y, ptr %w)")
        broken, poor = main.status_in_memory(plan)
    word = main.put(f"zext i1 {broken} to i64")
    if poor is not None:
        word = main.put(f"or i64 {word}, {main.put(f'select i1 {poor}, i64 2, i64 0')}")
    lines += [f"define i64 @one({arguments}) {traits} {{", "entry:", *main.out, f"  ret i64 {word}", "}"]
    return "\n".join(lines) + "\n"


# Places of the operands and results of a series in its machine code: constants, strides and tables (see `repeats`).


class SeriesPlaces:
    """Places of the operands and results of a series in each repeat: fixed, along a stride, or by the repeat's row of a table."""

    def __init__(self, body: FunctionBody, count: int):
        self.body, self.count = body, count
        self.tables: dict[str, list[Sequence[Any]]] = {"double": [], "i64": []}  # columns
        self.offsets: dict[tuple[int, ...], str] = {}
        self.moved: dict[tuple[str, int], str] = {}  # pointers that advance with the repeats

    def read(self, leaf: SeriesOperand) -> str:
        """The value of a leaf in this repeat."""
        body, lanes = self.body, self.body.lanes
        if leaf.kind == "number":
            numbers = [sincos.number(x) for x in leaf.at]
            return lanes.splat(leaf.at[0]) if len(set(numbers)) == 1 else self._everywhere(self._entry("double", numbers))
        base, row = ("%x", body.row) if leaf.kind == "input" else ("%w", lanes.count)
        found = body.put(f"load {lanes.double}, ptr {self.pointer(base, leaf.at, row)}, align {8 * min(row, lanes.count)}")
        return body.put(f"fcmp une {lanes.double} {found}, {lanes.splat(0.0)}") if leaf.condition else found

    def _everywhere(self, single: str) -> str:
        lanes = self.body.lanes
        if lanes.count == 1:
            return single
        first = self.body.put(f"insertelement {lanes.double} undef, double {single}, i32 0")
        return self.body.put(f"shufflevector {lanes.double} {first}, {lanes.double} undef, <{lanes.count} x i32> zeroinitializer")

    def pointer(self, base: str, at: Sequence[Any], row: int) -> str:
        """The address of an entry that is `row` doubles long."""
        strides = {b - a for a, b in itertools.pairwise(at)}
        if len(strides) > 1:
            offsets = tuple(x * row for x in at)
            if offsets not in self.offsets:
                self.offsets[offsets] = self._entry("i64", offsets)
            return self.body.put(f"getelementptr double, ptr {base}, i64 {self.offsets[offsets]}")
        stride = strides.pop() * row
        if stride and (base, stride) not in self.moved:
            by = self.body.put(f"mul i64 %j, {stride}")
            self.moved[base, stride] = self.body.put(f"getelementptr double, ptr {base}, i64 {by}")
        return self.body.put(f"getelementptr double, ptr {self.moved.get((base, stride), base)}, i64 {at[0] * row}")

    def _entry(self, kind: str, column: Sequence[Any]) -> str:
        """An entry of the table's row of this repeat."""
        table = self.tables[kind]
        table.append(column)
        at = self.body.put(f"getelementptr {kind}, ptr %{kind}.row, i64 {len(table) - 1}")
        return self.body.put(f"load {kind}, ptr {at}, align 8")

    def rows(self, name: str) -> tuple[list[str], list[str]]:
        """The tables as globals, and the pointers to a repeat's rows."""
        lines, pointers = [], []
        for kind, columns in self.tables.items():
            if columns:
                entries = [f"{kind} {x}" for row in zip(*columns, strict=True) for x in row]
                lines.append(f"@{name}.{kind} = private constant [{len(entries)} x {kind}] [{', '.join(entries)}], align 64")
                pointers.append(f"  %{kind}.at = mul i64 %j, {len(columns)}")
                pointers.append(f"  %{kind}.row = getelementptr {kind}, ptr @{name}.{kind}, i64 %{kind}.at")
        return lines, pointers
