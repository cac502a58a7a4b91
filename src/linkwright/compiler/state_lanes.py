"""LLVM code for many states: rows of eight states are turned into lanes, computed at once and turned back.

    many(inputs, strides, outputs, ostrides, status, w, first, count)
        inputs, outputs: a pointer per block; strides: doubles from one state's row to the next (0: one row for all)
        status: a byte per state; w: work, aligned to 64 bytes; returns the union of all status bits
    aosoa(X, Y, w, blocks)
        the same on data that already lies in blocks of eight states, entry by entry

A last block of fewer than eight states repeats its last state, whose results are written again with the same values.
"""

from __future__ import annotations

from collections.abc import Sequence

from linkwright.compiler import sincos
from linkwright.compiler.cache import ObjectCode, Processor, emit, host, level
from linkwright.compiler.llvm import FunctionBody, declarations, function_of, meta_of
from linkwright.compiler.program import Block, Program
from linkwright.compiler.schedule import ProgramPiece, Schedule, schedule
from linkwright.compiler.sincos import Lanes

STATES = 8  # in a block
_V4, _V8 = "<4 x double>", "<8 x double>"


def compile_many(program: Program, target: Processor | None = None, plan: Schedule | None = None) -> ObjectCode:
    """Code that evaluates the program on many states."""
    target = target or host()
    plan = plan or schedule(program, fuse=target.fused)
    meta = meta_of(program, plan, target) | {"work": _Work(plan).size}
    return ObjectCode(meta, emit(many_text(program, plan, target), target, level(program.operations, plan.steps)))


def many_text(program: Program, plan: Schedule, target: Processor) -> str:
    """The module with `many` and `aosoa`."""
    return "\n".join([*_kernel(plan, target), *_loops(program, _Work(plan))]) + "\n"


class _Work:
    """Offsets in the work array, in doubles."""

    def __init__(self, plan: Schedule):
        self.which = 0  # the eight states of a block
        self.status = STATES
        self.slots = 2 * STATES
        self.x = self.slots + plan.slots * STATES
        self.y = self.x + plan.n_in * STATES
        self.size = self.y + plan.n_out * STATES


# ---------------------------------------------------------------- the program on one block


def _kernel(plan: Schedule, target: Processor) -> list[str]:
    """`block`: eight states, in one pass of eight lanes or two of four."""
    lanes = Lanes(target.lanes)
    passes = STATES // lanes.count
    lines = [f'target triple = "{target.triple}"', *declarations([lanes.count]), *sincos.far_function(lanes)]
    arguments = "ptr noalias readonly %x, ptr noalias %y, ptr noalias %w"
    piece = plan.pieces[0]
    single = len(plan.pieces) == 1 and isinstance(piece, ProgramPiece)
    if single and isinstance(piece, ProgramPiece):
        body = FunctionBody(plan.ops, lanes, target, STATES)
        body.piece(piece)
        where = {j: k for k, places in piece.results.items() for j in places}
        outputs = [body.number(where[j]) for j in range(plan.n_out)]
        _status(body, *body.status(list(dict.fromkeys(outputs)), outputs[plan.margin] if plan.margin >= 0 else None))
        lines += [f"define internal void @piece0({arguments}, ptr noalias %s) noinline nounwind {{", "entry:", *body.out, "  ret void", "}"]
    else:
        for i, piece in enumerate(plan.pieces):
            lines += function_of(piece, FunctionBody(plan.ops, lanes, target, STATES), f"piece{i}", arguments, "nounwind")
        body = FunctionBody(plan.ops, lanes, target, STATES)
        _status(body, *body.status_in_memory(plan))
        lines += [
            "define internal void @finish(ptr noalias %y, ptr noalias %s) noinline nounwind {",
            "entry:",
            *body.out,
            "  ret void",
            "}",
        ]
    lines += ["define internal i64 @block(ptr noalias readonly %x, ptr noalias %y, ptr noalias %w, ptr noalias %s) nounwind {"]
    for p in range(passes):
        lines += [f"  %{v}{p} = getelementptr double, ptr %{v}, i64 {p * lanes.count}" for v in "xy"]
        lines += [f"  %w{p} = getelementptr double, ptr %w, i64 {p * lanes.count * plan.slots}"]
        lines += [f"  %s{p} = getelementptr i8, ptr %s, i64 {p * lanes.count}"]
    for i in range(len(plan.pieces)):  # pass after pass within a piece: its code is still at hand
        for p in range(passes):
            lines += [f"  call void @piece{i}(ptr %x{p}, ptr %y{p}, ptr %w{p}{f', ptr %s{p}' if single else ''})"]
    if not single:
        lines += [f"  call void @finish(ptr %y{p}, ptr %s{p})" for p in range(passes)]
    return [*lines, "  %word = load i64, ptr %s, align 8", "  ret i64 %word", "}"]


def _status(body: FunctionBody, broken: str, poor: str | None) -> None:
    """A byte for every lane."""
    n = body.lanes.count
    byte = body.put(f"zext <{n} x i1> {broken} to <{n} x i8>")
    if poor is not None:
        two = "<" + ", ".join(["i8 2"] * n) + ">"
        byte = body.put(f"or <{n} x i8> {byte}, {body.put(f'select <{n} x i1> {poor}, <{n} x i8> {two}, <{n} x i8> zeroinitializer')}")
    body.out.append(f"  store <{n} x i8> {byte}, ptr %s, align {n}")


# ---------------------------------------------------------------- rows to lanes and back


def _row_pointers() -> list[str]:
    lines = []
    for l in range(STATES):
        lines += [
            f"  %i{l}.at = getelementptr i64, ptr %which, i64 {l}",
            f"  %i{l} = load i64, ptr %i{l}.at, align 8",
            f"  %o{l} = mul i64 %i{l}, %stride",
            f"  %r{l} = getelementptr double, ptr %base, i64 %o{l}",
        ]
    return lines


def _transposed(lines: list[str], prefix: str, rows: Sequence[str]) -> list[str]:
    """Four vectors of four, rows exchanged with columns."""
    names = [f"%{prefix}{i}" for i in range(8)]
    masks = {"even": "0, 4, 2, 6", "odd": "1, 5, 3, 7", "low": "0, 1, 4, 5", "high": "2, 3, 6, 7"}

    def shuffle(name: str, a: str, b: str, mask: str) -> None:
        order = ", ".join(f"i32 {m}" for m in masks[mask].split(", "))
        lines.append(f"  {name} = shufflevector {_V4} {a}, {_V4} {b}, <4 x i32> <{order}>")

    for pair in (0, 1):
        shuffle(names[2 * pair], rows[2 * pair], rows[2 * pair + 1], "even")
        shuffle(names[2 * pair + 1], rows[2 * pair], rows[2 * pair + 1], "odd")
    for i, (half, mask) in enumerate([(0, "low"), (1, "low"), (0, "high"), (1, "high")]):
        shuffle(names[4 + i], names[half], names[2 + half], mask)
    return names[4:]


def _columns(signature: str, tile: Sequence[str], column: Sequence[str]) -> list[str]:
    """A function over n columns: four at a time (the last four may overlap others), or singly when there are fewer than four."""
    return [
        f"define internal void {signature} noinline nounwind {{",
        "entry:",
        *_row_pointers(),
        "  %few = icmp ult i64 %n, 4",
        "  %last = sub i64 %n, 4",
        "  br i1 %few, label %column, label %tile",
        "tile:",
        "  %t = phi i64 [ 0, %entry ], [ %t.next, %tile ]",
        "  %t.over = icmp ugt i64 %t, %last",
        "  %c = select i1 %t.over, i64 %last, i64 %t",
        *tile,
        "  %t.next = add i64 %t, 4",
        "  %t.more = icmp ult i64 %t.next, %n",
        "  br i1 %t.more, label %tile, label %end",
        "column:",
        "  %k = phi i64 [ 0, %entry ], [ %k.next, %column ]",
        *column,
        "  %k.next = add i64 %k, 1",
        "  %k.more = icmp ult i64 %k.next, %n",
        "  br i1 %k.more, label %column, label %end",
        "end:",
        "  ret void",
        "}",
    ]


def _gather() -> list[str]:
    """Eight rows of n numbers become n vectors of eight lanes."""
    tile: list[str] = []
    for l in range(STATES):
        tile += [f"  %p{l} = getelementptr double, ptr %r{l}, i64 %c", f"  %v{l} = load {_V4}, ptr %p{l}, align 8"]
    left = _transposed(tile, "a", [f"%v{l}" for l in range(4)])
    right = _transposed(tile, "b", [f"%v{l}" for l in range(4, 8)])
    every = ", ".join(f"i32 {l}" for l in range(8))
    tile.append("  %c8 = shl i64 %c, 3")
    tile.append("  %to = getelementptr double, ptr %lanes, i64 %c8")
    for j, (a, b) in enumerate(zip(left, right, strict=True)):
        tile += [
            f"  %w{j} = shufflevector {_V4} {a}, {_V4} {b}, <8 x i32> <{every}>",
            f"  %to{j} = getelementptr double, ptr %to, i64 {8 * j}",
            f"  store {_V8} %w{j}, ptr %to{j}, align 64",
        ]
    column: list[str] = []
    vector = "undef"
    for l in range(STATES):
        column += [
            f"  %q{l} = getelementptr double, ptr %r{l}, i64 %k",
            f"  %s{l} = load double, ptr %q{l}, align 8",
            f"  %z{l} = insertelement {_V8} {vector}, double %s{l}, i32 {l}",
        ]
        vector = f"%z{l}"
    column += ["  %k8 = shl i64 %k, 3", "  %kto = getelementptr double, ptr %lanes, i64 %k8", f"  store {_V8} {vector}, ptr %kto, align 64"]
    return _columns("@gather(ptr readonly %base, i64 %stride, ptr readonly %which, i64 %n, ptr noalias %lanes)", tile, column)


def _scatter() -> list[str]:
    """n vectors of eight lanes become eight rows of n numbers."""
    tile = ["  %c8 = shl i64 %c, 3", "  %from = getelementptr double, ptr %lanes, i64 %c8"]
    for j in range(4):
        tile += [f"  %from{j} = getelementptr double, ptr %from, i64 {8 * j}", f"  %w{j} = load {_V8}, ptr %from{j}, align 64"]
        for half in (0, 1):
            order = ", ".join(f"i32 {4 * half + i}" for i in range(4))
            tile.append(f"  %h{half}{j} = shufflevector {_V8} %w{j}, {_V8} undef, <4 x i32> <{order}>")
    rows = [_transposed(tile, f"{'ab'[half]}", [f"%h{half}{j}" for j in range(4)]) for half in (0, 1)]
    for l in range(STATES):
        tile += [f"  %p{l} = getelementptr double, ptr %r{l}, i64 %c", f"  store {_V4} {rows[l // 4][l % 4]}, ptr %p{l}, align 8"]
    column = ["  %k8 = shl i64 %k, 3", "  %kfrom = getelementptr double, ptr %lanes, i64 %k8", f"  %z = load {_V8}, ptr %kfrom, align 64"]
    for l in range(STATES):
        column += [
            f"  %s{l} = extractelement {_V8} %z, i32 {l}",
            f"  %q{l} = getelementptr double, ptr %r{l}, i64 %k",
            f"  store double %s{l}, ptr %q{l}, align 8",
        ]
    return _columns("@scatter(ptr %base, i64 %stride, ptr readonly %which, i64 %n, ptr noalias readonly %lanes)", tile, column)


# ---------------------------------------------------------------- loops over blocks


def _loops(program: Program, work: _Work) -> list[str]:
    return [*_gather(), *_scatter(), *_many(program, work), *_aosoa(program, work)]


def _move(function: str, blocks: Sequence[Block], pointers: str, strides: str, lanes: int) -> list[str]:
    """A call of gather or scatter for every block."""
    lines = []
    for b, block in enumerate(blocks):
        if block.size:
            name = f"%{function}{b}"
            lines += [
                f"  {name}.pp = getelementptr ptr, ptr {pointers}, i64 {b}",
                f"  {name}.p = load ptr, ptr {name}.pp, align 8",
                f"  {name}.sp = getelementptr i64, ptr {strides}, i64 {b}",
                f"  {name}.s = load i64, ptr {name}.sp, align 8",
                f"  {name}.l = getelementptr double, ptr %w, i64 {lanes + STATES * block.start}",
                f"  call void @{function}(ptr {name}.p, i64 {name}.s, ptr %which, i64 {block.size}, ptr {name}.l)",
            ]
    return lines


def _many(program: Program, work: _Work) -> list[str]:
    which = []
    for l in range(STATES):
        which += [
            f"  %n{l} = add i64 %i, {l}",
            f"  %n{l}.over = icmp ugt i64 %n{l}, %last",
            f"  %n{l}.in = select i1 %n{l}.over, i64 %last, i64 %n{l}",
            f"  %n{l}.at = getelementptr i64, ptr %which, i64 {l}",
            f"  store i64 %n{l}.in, ptr %n{l}.at, align 8",
        ]
    places = {"which": work.which, "s": work.status, "slots": work.slots, "x": work.x, "y": work.y}
    return [
        "define i64 @many(ptr %inputs, ptr %strides, ptr %outputs, ptr %ostrides, ptr %status, ptr %w, i64 %first, i64 %count) nounwind {",
        "entry:",
        *(f"  %{name} = getelementptr double, ptr %w, i64 {place}" for name, place in places.items()),
        "  %end = add i64 %first, %count",
        "  %last = sub i64 %end, 1",
        "  %some = icmp sgt i64 %count, 0",
        "  br i1 %some, label %loop, label %done",
        "loop:",
        "  %i = phi i64 [ %first, %entry ], [ %i.next, %next ]",
        "  %union = phi i64 [ 0, %entry ], [ %union.next, %next ]",
        *which,
        *_move("gather", program.inputs, "%inputs", "%strides", work.x),
        "  %word = call i64 @block(ptr %x, ptr %y, ptr %slots, ptr %s)",
        *_move("scatter", program.outputs, "%outputs", "%ostrides", work.y),
        "  %union.next = or i64 %union, %word",
        "  %i.next = add i64 %i, 8",
        "  %full = icmp sle i64 %i.next, %end",
        "  %status.i = getelementptr i8, ptr %status, i64 %i",
        "  br i1 %full, label %whole, label %rest",
        "whole:",
        "  store i64 %word, ptr %status.i, align 1",
        "  br label %next",
        "rest:",
        "  %k = phi i64 [ %i, %loop ], [ %k.next, %rest ]",
        "  %bits = phi i64 [ %word, %loop ], [ %bits.next, %rest ]",
        "  %byte = trunc i64 %bits to i8",
        "  %status.k = getelementptr i8, ptr %status, i64 %k",
        "  store i8 %byte, ptr %status.k, align 1",
        "  %bits.next = lshr i64 %bits, 8",
        "  %k.next = add i64 %k, 1",
        "  %k.more = icmp slt i64 %k.next, %end",
        "  br i1 %k.more, label %rest, label %next",
        "next:",
        "  %more = icmp slt i64 %i.next, %end",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  %all = phi i64 [ 0, %entry ], [ %union.next, %next ]",
        *_union("%all"),
        "}",
    ]


def _union(bytes_: str) -> list[str]:
    """Return the bits that occur in any of eight bytes."""
    lines, value = [], bytes_
    for shift in (32, 16, 8):
        lines += [f"  %u{shift} = lshr i64 {value}, {shift}", f"  %v{shift} = or i64 {value}, %u{shift}"]
        value = f"%v{shift}"
    return [*lines, f"  %bits.any = and i64 {value}, 255", "  ret i64 %bits.any"]


def _aosoa(program: Program, work: _Work) -> list[str]:
    return [
        "define i64 @aosoa(ptr %X, ptr %Y, ptr %w, i64 %blocks) nounwind {",
        "entry:",
        f"  %s = getelementptr double, ptr %w, i64 {work.status}",
        f"  %slots = getelementptr double, ptr %w, i64 {work.slots}",
        "  %some = icmp sgt i64 %blocks, 0",
        "  br i1 %some, label %loop, label %done",
        "loop:",
        "  %b = phi i64 [ 0, %entry ], [ %b.next, %loop ]",
        "  %union = phi i64 [ 0, %entry ], [ %union.next, %loop ]",
        f"  %xo = mul i64 %b, {STATES * program.n_in}",
        f"  %yo = mul i64 %b, {STATES * program.n_out}",
        "  %x = getelementptr double, ptr %X, i64 %xo",
        "  %y = getelementptr double, ptr %Y, i64 %yo",
        "  %word = call i64 @block(ptr %x, ptr %y, ptr %slots, ptr %s)",
        "  %union.next = or i64 %union, %word",
        "  %b.next = add i64 %b, 1",
        "  %more = icmp slt i64 %b.next, %blocks",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  %all = phi i64 [ 0, %entry ], [ %union.next, %loop ]",
        *_union("%all"),
        "}",
    ]
