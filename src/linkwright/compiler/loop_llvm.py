"""LLVM text of a loop, for one lane or eight.

With lanes a varying number is a vector, and lanes that take different ways are masked: a masked block is skipped where no lane takes it, an
assignment in it changes its lanes only, `return`, `break` and `continue` take lanes out until the place where all meet again. A lane does
the operations that it would do alone, in their order, so its bits are the same; what it does while it is masked is never used.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from linkwright.compiler.cache import host
from linkwright.compiler.loop_entry import ANYWHERE, KINDS, LANE_BY_LANE, SAME, TOGETHER, Entry, declarations
from linkwright.compiler.loop_tree import (
    NUMBERS,
    Expression,
    Function,
    Path,
    Statement,
    Unit,
    blocks_of,
    contains,
    expressions_of,
    leaves,
    nested,
    walked,
)
from linkwright.compiler.records import ALL_LANES, fields_of, is_array, place

COMPARE = {"<": ("slt", "olt"), "<=": ("sle", "ole"), ">": ("sgt", "ogt"), ">=": ("sge", "oge"), "==": ("eq", "oeq"), "!=": ("ne", "une")}
MATH = {"+": ("add nsw", "fadd"), "-": ("sub nsw", "fsub"), "*": ("mul nsw", "fmul"), "/": ("", "fdiv"), "&": ("and", ""), "|": ("or", "")}
ZERO = {"double": "0.0", "i64": "0", "i1": "false"}
EXITS = ("break", "continue", "return")
TOGETHER_COPIED = 4  # entries that one lane copies at a time


def module(unit: Unit) -> str:
    """Return the module with `loop(slots)`."""
    lanes = ALL_LANES if unit.lanes else 1
    m = _Module(unit, lanes)
    main = m.function(unit.main, masked=False)
    entry = Entry(unit.main, main.name, main.returned, lanes)
    return "\n".join([*declarations(lanes), *([LANE_BY_LANE] if lanes > 1 else []), *m.texts.values(), *entry.lines, ""])


class _Module:
    """The text of all functions, each once, and once more with a mask where it is called for some lanes only."""

    def __init__(self, unit: Unit, lanes: int):
        self.unit, self.lanes = unit, lanes
        self.masked_stores = any(host().has(f) for f in ("avx2", "avx512f"))  # elsewhere they would be a branch for every lane
        self.texts: dict[Any, str] = {}
        self.made: dict[Any, Writer] = {}

    def function(self, f: Function, *, masked: bool) -> Writer:
        key = (id(f), masked)
        if key not in self.made:
            w = self.made[key] = Writer(self, f, masked)
            w.write()
            self.texts[key] = w.text()
        return self.made[key]


class Writer:
    """The text of one function; `masked`: it is called for some lanes only, whose mask is its last argument."""

    def __init__(self, owner: _Module, f: Function, masked: bool):
        self.owner, self.f, self.lanes, self.masked = owner, f, owner.lanes, masked
        self.name = f"{f.name}.some" if masked else f.name
        self.lines: list[str] = []
        self.slots: list[str] = []
        self.head: list[str] = []
        self.variables: dict[str, str] = {}
        self.roots: dict[str, tuple[str, ...]] = {}
        self.count = self.depth = 0  # names so far; divergent blocks around
        self.mask_type = f"<{self.lanes} x i1>"
        self.all_on = "<" + ", ".join(["i1 true"] * self.lanes) + ">"
        self.partial = masked  # some lanes may be off here
        self.exits: list[dict[str, str]] = []  # masks of lanes that have left the loops around
        self.ends: list[tuple[str, str]] = []  # where continue and break go
        self.returned = self.type(f.returns, f.returns_varying) if f.returns is not None else "void"
        self.mask_slot = self.gone = self.result = ""

    # ------------------------------------------------------------ text

    def type(self, kind: Any, varying: bool) -> str:
        return f"<{self.lanes} x {KINDS[kind]}>" if varying and self.lanes > 1 else KINDS[kind]

    def new(self, stem: str = "v") -> str:
        self.count += 1
        return f"%{stem}.{self.count}"

    def put(self, text: str) -> str:
        out = self.new()
        self.lines.append(f"  {out} = {text}")
        return out

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name[1:]}:")

    def slot(self, kind: str) -> str:
        """A place for a variable; lanes that never assign to it find zero, which no branch may not look at."""
        out = self.new("s")
        self.slots += [f"  {out} = alloca {kind}", f"  store {kind} {'zeroinitializer' if kind[0] == '<' else ZERO[kind]}, ptr {out}"]
        return out

    def text(self) -> str:
        head = f"define internal fastcc {self.returned} @{self.name}({', '.join(self.head)}) nounwind {{"
        return "\n".join([head, "entry:", *self.slots, *self.lines, "}", ""])

    # ------------------------------------------------------------ masks

    @property
    def mask(self) -> str:
        return self.put(f"load {self.mask_type}, ptr {self.mask_slot}") if self.partial else self.all_on

    def set_mask(self, text: str) -> None:
        self.do(f"store {self.mask_type} {text}, ptr {self.mask_slot}")

    def both(self, a: str, b: str) -> str:
        return self.put(f"and {self.mask_type} {a}, {b}")

    def without(self, a: str, b: str) -> str:
        return self.both(a, self.put(f"xor {self.mask_type} {b}, {self.all_on}"))

    def any(self, mask: str) -> str:
        bits = self.put(f"bitcast {self.mask_type} {mask} to i{self.lanes}")
        return self.put(f"icmp ne i{self.lanes} {bits}, 0")

    def left(self, mask: str) -> str:
        """The mask without lanes that have returned, or left the loop around."""
        mask = self.without(mask, self.put(f"load {self.mask_type}, ptr {self.gone}"))
        for slot in self.exits[-1].values() if self.exits else ():
            mask = self.without(mask, self.put(f"load {self.mask_type}, ptr {slot}"))
        return mask

    def narrowed(self, mask: str, write: Callable[[], None]) -> None:
        """Write what happens for some of the lanes that are on; it is skipped where there are none."""
        some, skip, before = self.new("some"), self.new("skip"), self.partial
        self.set_mask(mask)
        self.do(f"br i1 {self.any(mask)}, label {some}, label {skip}")
        self.label(some)
        self.partial = True
        self.depth += 1
        write()
        self.depth -= 1
        self.partial = before
        self.do(f"br label {skip}")
        self.label(skip)

    # ------------------------------------------------------------ a function

    def write(self) -> None:
        given: list[tuple[str, str]] = []
        for name, kind in self.f.arguments:
            if kind in NUMBERS:
                given.append((name, self.type(kind, self.f.varying[name])))
                self.head.append(f"{given[-1][1]} %{name}")
                continue
            if not is_array(kind):
                parts = [("ptr noalias readonly", name), ("ptr", f"{name}.g")]
            elif kind.outside:
                parts = [("ptr", name), *(("i64", f"{name}.{k}") for k in range(kind.axes)), *self.places(name)]
            else:
                parts = [("ptr", name), *(("i64", f"{name}.{k}") for k in range(kind.axes))]
            self.head += [f"{t} %{n}" for t, n in parts]
            self.roots[name] = tuple(f"%{n}" for _, n in parts)
        if self.lanes > 1:
            self.mask_slot, self.gone = self.slot(self.mask_type), self.slot(self.mask_type)
            if self.masked:
                self.head.append(f"{self.mask_type} %mask")
            self.set_mask("%mask" if self.masked else self.all_on)
        for name, t in given:
            self.variables[name] = self.slot(t)
            self.do(f"store {t} %{name}, ptr {self.variables[name]}")
        self.result = self.slot(self.returned) if self.f.returns is not None else ""
        self.block(self.f.body)
        self.do("br label %leave")
        self.label("%leave")
        self.do(f"ret {self.returned} {self.put(f'load {self.returned}, ptr {self.result}')}" if self.result else "ret void")

    def places(self, name: str) -> list[tuple[str, str]]:
        """Further arguments of an outside array with lanes: how their entries lie, and how far from the first."""
        return [("i64", f"{name}.how"), (f"<{self.lanes} x i64>", f"{name}.lanes")] if self.lanes > 1 else []

    def block(self, body: list[Statement]) -> None:
        for s in body:
            getattr(self, f"_s_{s.op}")(s)

    def variable(self, name: str) -> str:
        if name not in self.variables:
            self.variables[name] = self.slot(self.type(self.f.variables[name], self.f.varying[name]))
        return self.variables[name]

    # ------------------------------------------------------------ statements

    def _s_alias(self, s: Statement) -> None:
        self.roots[s.parts[0]] = self.located(s.parts[1])

    def _s_assign(self, s: Statement) -> None:
        name, e = s.parts
        varying = self.f.varying[name] and self.lanes > 1
        t = self.type(self.f.variables[name], varying)
        value = self.wide(e) if varying else self.value(e)
        at = self.variable(name)
        if varying and self.depth:
            value = self.put(f"select {self.mask_type} {self.mask}, {t} {value}, {t} {self.put(f'load {t}, ptr {at}')}")
        self.do(f"store {t} {value}, ptr {at}")

    def _s_store(self, s: Statement) -> None:
        path, at, e = s.parts
        wide = self.lanes > 1 and path.kind.own
        value = self.wide(e) if wide else self.value(e)
        t = self.type(path.kind.element, wide)
        if wide and path.kind.outside:
            return self.written_outside(path, at, t, value)
        where, vector = self.address(path, at)
        if vector:
            self.scattered(path.kind.element, t, value, where)
        else:
            self.stored(t, value, where, wide)

    def scattered(self, element: Any, t: str, value: str, where: str) -> None:
        n, short = self.lanes, "f64" if element is float else "i64"
        given = f"{t} {value}, <{n} x ptr> {where}, i32 8, {self.mask_type} {self.mask}"
        self.do(f"call void @llvm.masked.scatter.v{n}{short}.v{n}p0({given})")

    def written_outside(self, path: Path, at: list[Expression], t: str, value: str) -> None:
        """In one piece where lanes lie one after the other and all are on, else lane by lane."""
        base, how, offsets = self.outside(path, at)
        if self.partial or any(i.varying for i in at):
            places = self.put(f"getelementptr double, ptr {base}, <{self.lanes} x i64> {offsets}")
            return self.scattered(path.kind.element, t, value, places)
        together, apart, end = self.new("together"), self.new("apart"), self.new("end")
        self.do(f"br i1 {self.put(f'icmp eq i64 {how}, {TOGETHER}')}, label {together}, label {apart}")
        self.label(together)
        self.do(f"store {t} {value}, ptr {base}, align 8")
        self.do(f"br label {end}")
        self.label(apart)
        places = self.put(f"getelementptr double, ptr {base}, <{self.lanes} x i64> {offsets}")
        self.scattered(path.kind.element, t, value, places)
        self.do(f"br label {end}")
        self.label(end)

    def _s_put(self, s: Statement) -> None:
        path, e = s.parts
        t = self.type(e.kind, True)
        self.stored(t, self.wide(e), self.number(path), self.lanes > 1)

    def stored(self, t: str, value: str, where: str, wide: bool) -> None:
        if wide and self.partial and self.owner.masked_stores:
            given = f"{t} {value}, ptr {where}, i32 64, {self.mask_type} {self.mask}"
            self.do(f"call void @llvm.masked.store.v{self.lanes}{'f64' if 'double' in t else 'i64'}.p0({given})")
            return
        if wide and self.partial:
            value = self.put(f"select {self.mask_type} {self.mask}, {t} {value}, {t} {self.put(f'load {t}, ptr {where}, align 64')}")
        self.do(f"store {t} {value}, ptr {where}, align {64 if wide else 8}")

    def _s_do(self, s: Statement) -> None:
        e = s.parts[0]
        if e.op == "run" and not e.parts[0].kind.alone:
            self.called_kernel(e.parts[0])
        else:
            self.value(e)

    def _s_if(self, s: Statement) -> None:
        test, yes, no = s.parts
        if s.divergent and self.lanes > 1:
            if test.op == "and" and not test.parts[0].varying and not no:
                return self._s_if(nested(s))
            return self.parted(s)
        here, other, end = self.new("yes"), self.new("no"), self.new("end")
        self.do(f"br i1 {self.value(test)}, label {here}, label {other if no else end}")
        before = self.partial
        self.label(here)
        self.block(yes)
        self.do(f"br label {end}")
        after, self.partial = self.partial, before
        if no:
            self.label(other)
            self.block(no)
            self.do(f"br label {end}")
        self.partial |= after
        self.label(end)

    def parted(self, s: Statement) -> None:
        """A branch whose sides take different lanes, one after the other."""
        test, yes, no = s.parts
        c, saved = self.value(test), self.mask
        for body, other in ((yes, False), (no, True)):
            if body:
                self.narrowed(self.without(saved, c) if other else self.both(saved, c), lambda body=body: self.block(body))
        exits = leaves([s], EXITS)
        self.set_mask(self.left(saved) if exits else saved)
        self.partial |= exits

    def _s_while(self, s: Statement) -> None:
        test, body = s.parts
        self.loop(s, body, lambda: self.value(test))

    def _s_for(self, s: Statement) -> None:
        name, first, last, body, step = s.parts
        counter = self.slot("i64")
        self.do(f"store i64 {self.value(first)}, ptr {counter}")
        limit, variable = self.value(last), self.variable(name)

        def inside() -> str:
            now = self.put(f"load i64, ptr {counter}")
            self.do(f"store i64 {now}, ptr {variable}")
            return self.put(f"icmp {'slt' if step > 0 else 'sgt'} i64 {now}, {limit}")

        def count() -> None:
            now = self.put(f"load i64, ptr {counter}")
            self.do(f"store i64 {self.put(f'add nsw i64 {now}, {step}')}, ptr {counter}")

        self.loop(s, body, inside, count)

    def loop(self, s: Statement, body: list[Statement], inside: Callable[[], str], count: Callable[[], None] | None = None) -> None:
        """A loop; lanes that are done wait for the others."""
        test, inner, again, end = (self.new(x) for x in ("test", "body", "again", "end"))
        divergent = s.divergent and self.lanes > 1
        saved, before = self.mask if divergent else "", self.partial
        frame: dict[str, str] = {}
        if divergent:
            frame = {k: self.slot(self.mask_type) for k in ("break", "continue")}
            for slot in frame.values():
                self.do(f"store {self.mask_type} zeroinitializer, ptr {slot}")
            self.partial = True
        self.exits.append(frame)
        self.ends.append((again, end))
        self.do(f"br label {test}")
        self.label(test)
        go = inside()
        if divergent and s.op == "while" and s.parts[0].varying:
            mask = self.both(self.mask, go)
            self.set_mask(mask)
            go = self.any(mask)
        elif divergent:
            go = self.put(f"and i1 {go}, {self.any(self.mask)}")
        self.do(f"br i1 {go}, label {inner}, label {end}")
        self.label(inner)
        self.depth += divergent
        self.block(body)
        self.depth -= divergent
        self.do(f"br label {again}")
        self.label(again)
        if divergent:  # lanes that continued are on again
            waiting = self.put(f"load {self.mask_type}, ptr {frame['continue']}")
            self.partial = True
            self.set_mask(self.put(f"or {self.mask_type} {self.mask}, {waiting}"))
            self.do(f"store {self.mask_type} zeroinitializer, ptr {frame['continue']}")
        if count is not None:
            count()
        self.do(f"br label {test}")
        self.label(end)
        self.exits.pop()
        self.ends.pop()
        if divergent:
            returns = leaves(body, ("return",))
            self.partial = before or returns
            self.set_mask(self.left(saved) if returns else saved)

    def _s_break(self, s: Statement) -> None:
        self.leave("break", 1)

    def _s_continue(self, s: Statement) -> None:
        self.leave("continue", 0)

    def leave(self, what: str, k: int) -> None:
        if self.depth and self.exits[-1]:
            self.taken_out(self.exits[-1][what])
            return
        self.do(f"br label {self.ends[-1][k]}")
        self.label(self.new("after"))

    def taken_out(self, slot: str) -> None:
        """The lanes that are on leave."""
        known = self.put(f"load {self.mask_type}, ptr {slot}")
        self.do(f"store {self.mask_type} {self.put(f'or {self.mask_type} {known}, {self.mask}')}, ptr {slot}")
        self.partial = True
        self.set_mask("zeroinitializer")

    def _s_return(self, s: Statement) -> None:
        (e,) = s.parts
        if e is not None:
            varying, t = self.f.returns_varying and self.lanes > 1, self.returned
            value = self.wide(e) if varying else self.value(e)
            if varying and self.partial:
                value = self.put(f"select {self.mask_type} {self.mask}, {t} {value}, {t} {self.put(f'load {t}, ptr {self.result}')}")
            self.do(f"store {t} {value}, ptr {self.result}")
        if self.depth:
            self.taken_out(self.gone)
        else:
            self.do("br label %leave")
            self.label(self.new("after"))

    # ------------------------------------------------------------ records and arrays

    def located(self, path: Path) -> tuple[str, ...]:
        """Values that stand for a record (slots, floats), an array of one (address, lengths), or an outside array."""
        here, kind = self.roots[path.root], self.f.aliases[path.root].kind
        for name in path.names:
            table, g = here
            at, kind = place(kind, name), fields_of(kind)[name]
            if is_array(kind) and kind.outside:
                start = self.put(f"inttoptr i64 {self.word(table, at)} to ptr")
                common = [str(SAME), "zeroinitializer"] if self.lanes > 1 else []
                return start, *(self.word(table, at + 1 + k) for k in range(kind.axes)), *common
            if is_array(kind):
                start = self.put(f"getelementptr double, ptr {g}, i64 {self.word(table, at)}")
                return start, *(self.word(table, at + 1 + k) for k in range(kind.axes))
            here = (self.put(f"getelementptr i64, ptr {table}, i64 {at}"), g)
        return here

    def word(self, table: str, at: int) -> str:
        return self.put(f"load i64, ptr {self.put(f'getelementptr i64, ptr {table}, i64 {at}')}, !invariant.load !0")

    def field(self, path: Path) -> tuple[str, str]:
        """The word of a number of a record, and the record's floats."""
        table, g = self.located(Path(path.root, path.names[:-1], path.owner))
        return self.word(table, place(path.owner, path.names[-1])), g

    def number(self, path: Path) -> str:
        at, g = self.field(path)
        return self.put(f"getelementptr double, ptr {g}, i64 {at}")

    def address(self, path: Path, at: list[Expression]) -> tuple[str, bool]:
        """The address of an entry; True with addresses of all lanes, one each."""
        if path.kind.outside:
            return self.outside(path, at)[0], False
        base, *sizes = self.located(path)
        varying = self.lanes > 1 and any(i.varying for i in at)
        t = self.type(int, varying)
        value = self.wide if varying else self.value
        i = value(at[0])
        if len(at) == 2:
            row = self.put(f"mul {t} {i}, {self.spread(sizes[1], int) if varying else sizes[1]}")
            i = self.put(f"add {t} {row}, {value(at[1])}")
        if self.lanes > 1 and path.kind.own:
            i = self.put(f"mul {t} {i}, {self.spread(str(self.lanes), int) if varying else self.lanes}")
            if varying:
                i = self.put(f"add {t} {i}, <{', '.join(f'i64 {k}' for k in range(self.lanes))}>")
        return self.put(f"getelementptr double, ptr {base}, {t} {i}"), varying

    def outside(self, path: Path, at: list[Expression]) -> tuple[str, str, str]:
        """The address of an entry of the first lane, how those of the others lie, and how far from it they are."""
        base, *rest = self.located(path)
        how, offsets = rest[-2:] if self.lanes > 1 else ("", "")
        for e, stride in zip(at, rest, strict=False):
            if e.varying and self.lanes > 1:
                t = self.type(int, True)
                step = self.put(f"mul {t} {self.value(e)}, {self.spread(stride, int)}")
                how, offsets = str(ANYWHERE), self.put(f"add {t} {offsets}, {step}")
            else:
                base = self.put(f"getelementptr double, ptr {base}, i64 {self.put(f'mul nsw i64 {self.value(e)}, {stride}')}")
        return base, how, offsets

    def read_outside(self, path: Path, at: list[Expression], t: str) -> str:
        """At once where lanes lie one after the other or at one place, else lane by lane."""
        base, how, offsets = self.outside(path, at)
        if how == str(ANYWHERE):
            return self.gathered(path.kind.element, t, self.put(f"getelementptr double, ptr {base}, <{self.lanes} x i64> {offsets}"))
        out = self.slot(t)
        ways = {k: self.new(name) for k, name in ((ANYWHERE, "anywhere"), (TOGETHER, "together"), (SAME, "same"))}
        end = self.new("end")
        cases = " ".join(f"i64 {k}, label {ways[k]}" for k in (TOGETHER, SAME))
        self.do(f"switch i64 {how}, label {ways[ANYWHERE]} [ {cases} ]")
        for k, label in ways.items():
            self.label(label)
            if k == ANYWHERE:
                places = self.put(f"getelementptr double, ptr {base}, <{self.lanes} x i64> {offsets}")
                value = self.gathered(path.kind.element, t, places)
            elif k == TOGETHER:
                value = self.put(f"load {t}, ptr {base}, align 8")
            else:
                value = self.spread(self.put(f"load {KINDS[path.kind.element]}, ptr {base}, align 8"), path.kind.element)
            self.do(f"store {t} {value}, ptr {out}")
            self.do(f"br label {end}")
        self.label(end)
        return self.put(f"load {t}, ptr {out}")

    def gathered(self, element: Any, t: str, where: str) -> str:
        n, short = self.lanes, "f64" if element is float else "i64"
        mask = f"i32 8, {self.mask_type} {self.mask}"
        return self.put(f"call {t} @llvm.masked.gather.v{n}{short}.v{n}p0(<{n} x ptr> {where}, {mask}, {t} zeroinitializer)")

    # ------------------------------------------------------------ expressions

    def spread(self, value: str, kind: Any) -> str:
        """A value in all lanes."""
        t, n = KINDS[kind], self.lanes
        one = self.put(f"insertelement <{n} x {t}> poison, {t} {value}, i32 0")
        return self.put(f"shufflevector <{n} x {t}> {one}, <{n} x {t}> poison, <{n} x i32> zeroinitializer")

    def wide(self, e: Expression) -> str:
        """A value of all lanes."""
        value = self.value(e)
        return value if self.lanes == 1 or e.varying else self.spread(value, e.kind)

    def value(self, e: Expression) -> str:
        handler = getattr(self, f"_e_{e.op}", None)
        if handler is not None:
            return handler(e)
        v = [self.wide(p) if e.varying else self.value(p) for p in e.parts]
        t, inner, whole = self.type(e.kind, e.varying), self.type(e.parts[0].kind, e.varying), e.parts[0].kind is int
        if e.op in COMPARE:
            return self.put(f"{'icmp' if whole else 'fcmp'} {COMPARE[e.op][not whole]} {inner} {v[0]}, {v[1]}")
        if e.op in MATH:
            op = MATH[e.op][not whole]
            # whole numbers of lanes that are off may be too large; that must not be undefined
            return self.put(f"{op.removesuffix(' nsw') if e.varying and self.lanes > 1 else op} {t} {v[0]}, {v[1]}")
        return self.builtin(e, v, t, inner, whole)

    def builtin(self, e: Expression, v: list[str], t: str, inner: str, whole: bool) -> str:
        wide = e.varying and self.lanes > 1
        short, long = ((f"v{self.lanes}f64", f"v{self.lanes}i64") if wide else ("f64", "i64"))
        zero = "zeroinitializer" if wide else ZERO[KINDS[e.parts[0].kind]]
        simple = {
            "float": f"sitofp {inner} {v[0]} to {t}",
            "truth": f"{'icmp ne' if whole else 'fcmp une'} {inner} {v[0]}, {zero}",
            "not": f"xor {t} {v[0]}, {self.all_on if wide else 'true'}",
            "neg": f"sub {t} {zero}, {v[0]}" if whole else f"fneg {t} {v[0]}",
            "sqrt": f"call {t} @llvm.sqrt.{short}({t} {v[0]})",
            "log": f"call {t} @llvm.log.{short}({t} {v[0]})",
            "abs": f"call {t} @llvm.abs.{long}({t} {v[0]}, i1 false)" if whole else f"call {t} @llvm.fabs.{short}({t} {v[0]})",
            # of a number that is not finite, as lanes that are off may have, plain conversion would be undefined
            "int": f"call {t} @llvm.fptosi.sat.{long}.{short}({inner} {v[0]})",
        }
        if e.op == "int" and e.parts[0].kind is bool:
            return self.put(f"zext {inner} {v[0]} to {t}")
        if e.op in simple:
            return self.put(simple[e.op])
        if e.op in ("min", "max"):
            return self.extreme(e, v, t, whole)
        return self.remainder(v, t, wide) if e.op == "%" else self.power(v, t, wide)

    def extreme(self, e: Expression, v: list[str], t: str, whole: bool) -> str:
        """The first of equals, as Python has it."""
        best, order = v[0], "gt" if e.op == "max" else "lt"
        for other in v[1:]:
            better = self.put(f"{'icmp s' if whole else 'fcmp o'}{order} {t} {other}, {best}")
            best = self.put(f"select {self.type(bool, e.varying)} {better}, {t} {other}, {t} {best}")
        return best

    def remainder(self, v: list[str], t: str, wide: bool) -> str:
        """With the sign of the divisor, as Python has it. Lanes that are off may divide by 0, or the least number by -1: traps."""
        a, b = v
        bools, zero = (self.mask_type, "zeroinitializer") if wide else ("i1", "0")
        if wide:
            minus = f"<{', '.join(['i64 -1'] * self.lanes)}>"
            trap = self.put(f"or {bools} {self.put(f'icmp eq {t} {b}, {zero}')}, {self.put(f'icmp eq {t} {b}, {minus}')}")
            b = self.put(f"select {bools} {trap}, {t} {self.spread('1', int)}, {t} {b}")
        r = self.put(f"srem {t} {a}, {b}")
        other = self.put(f"icmp slt {t} {self.put(f'xor {t} {r}, {b}')}, {zero}")
        wrong = self.put(f"and {bools} {other}, {self.put(f'icmp ne {t} {r}, {zero}')}")
        return self.put(f"select {bools} {wrong}, {t} {self.put(f'add {t} {r}, {b}')}, {t} {r}")

    def power(self, v: list[str], t: str, wide: bool) -> str:
        """The C library's, lane by lane."""
        if not wide:
            return self.put(f"call double @lw_pow(double {v[0]}, double {v[1]})")
        out = "zeroinitializer"
        for k in range(self.lanes):
            a, b = (self.put(f"extractelement {t} {x}, i32 {k}") for x in v)
            one = self.put(f"call double @lw_pow(double {a}, double {b})")
            out = self.put(f"insertelement {t} {out}, double {one}, i32 {k}")
        return out

    def _e_const(self, e: Expression) -> str:
        x = e.parts[0]
        if e.kind is float:
            return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
        return ("true" if x else "false") if e.kind is bool else str(x)

    def _e_var(self, e: Expression) -> str:
        return self.put(f"load {self.type(e.kind, e.varying)}, ptr {self.variable(e.parts[0])}")

    def _e_word(self, e: Expression) -> str:
        return self.field(e.parts[0])[0]

    def _e_number(self, e: Expression) -> str:
        return self.put(f"load {self.type(e.kind, True)}, ptr {self.number(e.parts[0])}, align {64 if self.lanes > 1 else 8}")

    def _e_length(self, e: Expression) -> str:
        path, axis = e.parts
        return self.located(path)[1 + axis]

    def _e_element(self, e: Expression) -> str:
        path, at = e.parts
        t = self.type(e.kind, e.varying)
        if path.kind.outside and self.lanes > 1:
            return self.read_outside(path, at, t)
        where, vector = self.address(path, at)
        if vector:
            return self.gathered(e.kind, t, where)
        return self.put(f"load {t}, ptr {where}, align {64 if self.lanes > 1 and path.kind.own else 8}")

    def called_kernel(self, path: Path) -> tuple[str, str, str]:
        """The status of a kernel, one for all lanes, its table and its floats."""
        table, g = self.located(path)
        address, x, y, w = (self.slot_of(table, path.kind, n) for n in ("address", "first", "last", "work"))
        places = ", ".join(f"ptr {self.put(f'getelementptr double, ptr {g}, i64 {p}')}" for p in (x, y, w))
        f = self.put(f"inttoptr i64 {address} to ptr")
        return self.put(f"call i64 {f}({places}{', i64 1' if self.lanes > 1 else ''})"), table, g

    def slot_of(self, table: str, kind: Any, name: str) -> str:
        return self.word(table, place(kind, name))

    def _e_run(self, e: Expression) -> str:
        path = e.parts[0]
        if self.lanes == 1:
            return self.called_kernel(path)[0]
        if path.kind.alone:
            return self.lane_by_lane(path.kind, *self.located(path))
        status, table, g = self.called_kernel(path)
        t, trouble, end = self.type(int, True), self.new("trouble"), self.new("end")
        out = self.slot(t)
        self.do(f"store {t} zeroinitializer, ptr {out}")
        self.do(f"br i1 {self.put(f'icmp ne i64 {status}, 0')}, label {trouble}, label {end}")
        self.label(trouble)
        self.do(f"store {t} {self.lane_by_lane(path.kind, table, g)}, ptr {out}")
        self.do(f"br label {end}")
        self.label(end)
        return self.put(f"load {t}, ptr {out}")

    def lane_by_lane(self, kind: Any, table: str, g: str) -> str:
        """The statuses of a kernel that is called for one lane after the other."""
        names = ("first", "last", "alone_first", "alone_last", "alone_work")
        places = [f"ptr {self.put(f'getelementptr double, ptr {g}, i64 {self.slot_of(table, kind, n)}')}" for n in names]
        sizes = [f"i64 {self.slot_of(table, kind, n)}" for n in ("alone", "n_in", "n_out")]
        bits = self.put(f"bitcast {self.mask_type} {self.mask} to i{self.lanes}")
        on = self.put(f"zext i{self.lanes} {bits} to i64")
        return self.put(f"call fastcc {self.type(int, True)} @lane.by.lane({', '.join([*sizes, *places, f'i64 {on}'])})")

    def _e_copy(self, e: Expression) -> str:
        """Entry by entry; in one lane some at a time, and nothing where both lie at the same place."""
        (to, n), (source, _) = (self.located(p) for p in e.parts)
        t, at, end = self.type(e.parts[0].kind.element, True), self.slot("i64"), self.new("end")
        self.do(f"store i64 0, ptr {at}")
        if self.lanes == 1:
            differ = self.new("differ")
            self.do(f"br i1 {self.put(f'icmp eq ptr {to}, {source}')}, label {end}, label {differ}")
            self.label(differ)
            most = self.put(f"sub nsw i64 {n}, {TOGETHER_COPIED - 1}")
            self.copied(to, source, at, most, f"<{TOGETHER_COPIED} x {t}>", t, TOGETHER_COPIED)
        self.copied(to, source, at, n, t, t, 1)
        self.do(f"br label {end}")
        self.label(end)
        return ""

    def copied(self, to: str, source: str, at: str, n: str, moved: str, t: str, step: int) -> None:
        """The rest of an array up to n, so many entries at a time."""
        test, body, done = self.new("test"), self.new("body"), self.new("done")
        self.do(f"br label {test}")
        self.label(test)
        now = self.put(f"load i64, ptr {at}")
        self.do(f"br i1 {self.put(f'icmp slt i64 {now}, {n}')}, label {body}, label {done}")
        self.label(body)
        here, there = (self.put(f"getelementptr {t}, ptr {p}, i64 {now}") for p in (source, to))
        wide = self.lanes > 1
        self.stored(moved, self.put(f"load {moved}, ptr {here}, align {64 if wide else 8}"), there, wide)
        self.do(f"store i64 {self.put(f'add nsw i64 {now}, {step}')}, ptr {at}")
        self.do(f"br label {test}")
        self.label(done)

    def _e_choose(self, e: Expression) -> str:
        test, a, b = e.parts
        t = self.type(e.kind, e.varying)
        value = self.wide if e.varying else self.value
        if _harmless(a) and _harmless(b):
            c = self.wide(test) if e.varying else self.value(test)
            return self.put(f"select {self.type(bool, e.varying)} {c}, {t} {value(a)}, {t} {value(b)}")
        out = self.slot(t)
        if test.varying and self.lanes > 1:
            c, saved = self.value(test), self.mask
            for part, mask in ((a, self.both(saved, c)), (b, self.without(saved, c))):
                self.narrowed(mask, lambda part=part: self.masked_store(out, t, self.wide(part)))
            self.set_mask(saved)
        else:
            yes, no, end = self.new("yes"), self.new("no"), self.new("end")
            self.do(f"br i1 {self.value(test)}, label {yes}, label {no}")
            for label, part in ((yes, a), (no, b)):
                self.label(label)
                self.do(f"store {t} {value(part)}, ptr {out}")
                self.do(f"br label {end}")
            self.label(end)
        return self.put(f"load {t}, ptr {out}")

    def masked_store(self, out: str, t: str, value: str) -> None:
        old = self.put(f"load {t}, ptr {out}")
        self.do(f"store {t} {self.put(f'select {self.mask_type} {self.mask}, {t} {value}, {t} {old}')}, ptr {out}")

    def _e_and(self, e: Expression) -> str:
        return self.logic(e)

    def _e_or(self, e: Expression) -> str:
        return self.logic(e)

    def logic(self, e: Expression) -> str:
        """Look at a later part only where the parts before have not decided: lanes that are decided do not run what it calls."""
        so_far, varying = self.value(e.parts[0]), e.parts[0].varying and self.lanes > 1
        for p in e.parts[1:]:
            if not varying and not (p.varying and self.lanes > 1):
                so_far = self.decided(e.op, so_far, "i1", lambda p=p: self.value(p))
                continue
            if not varying and not _harmless(p):
                wide = self.spread(so_far, bool)
                so_far = self.decided(e.op, so_far, self.mask_type, lambda p=p: self.wide(p), wide)
            elif _harmless(p):
                so_far = self.put(f"{e.op} {self.mask_type} {so_far if varying else self.spread(so_far, bool)}, {self.wide(p)}")
            else:
                saved, out, v = self.mask, self.slot(self.mask_type), so_far
                self.do(f"store {self.mask_type} {v}, ptr {out}")

                def more(p: Expression = p, v: str = v, out: str = out) -> None:
                    self.do(f"store {self.mask_type} {self.put(f'{e.op} {self.mask_type} {v}, {self.wide(p)}')}, ptr {out}")

                self.narrowed(self.both(saved, v) if e.op == "and" else self.without(saved, v), more)
                self.set_mask(saved)
                so_far = self.put(f"load {self.mask_type}, ptr {out}")
            varying = True
        return so_far

    def decided(self, op: str, so_far: str, t: str, later: Callable[[], str], wide: str = "") -> str:
        """A value that is the same in all lanes decides whether a later one is looked at."""
        out, more, end = self.slot(t), self.new("more"), self.new("end")
        self.do(f"store {t} {wide or so_far}, ptr {out}")
        self.do(f"br i1 {so_far}, label {more if op == 'and' else end}, label {end if op == 'and' else more}")
        self.label(more)
        self.do(f"store {t} {later()}, ptr {out}")
        self.do(f"br label {end}")
        self.label(end)
        return self.put(f"load {t}, ptr {out}")

    def _e_call(self, e: Expression) -> str:
        target, *args = e.parts
        differing = tuple(isinstance(a, Expression) and a.varying for a in args) if self.lanes > 1 else ()
        f = self.owner.unit.get(target, differing)
        callee = self.owner.function(f, masked=self.partial and self.lanes > 1)
        texts = []
        for a, (name, kind) in zip(args, callee.f.arguments, strict=True):
            if isinstance(a, Expression):
                varying = callee.f.varying[name]  # also where it assigns to its argument for some lanes
                texts.append(f"{self.type(kind, varying)} {self.wide(a) if varying else self.value(a)}")
                continue
            here = self.located(a)
            rest = ["ptr"] if not is_array(kind) else ["i64"] * kind.axes
            if is_array(kind) and kind.outside:
                rest += [t for t, _ in self.places(name)]
            texts += [f"ptr {here[0]}", *(f"{t} {x}" for t, x in zip(rest, here[1:], strict=True))]
        if callee.masked and callee.returned == "void" and _leaf(f):
            return self.with_all_on(f, callee, texts)
        return self.called(callee, texts)

    def called(self, callee: Writer, texts: list[str]) -> str:
        given = [*texts, f"{self.mask_type} {self.mask}"] if callee.masked else texts
        text = f"call fastcc {callee.returned} @{callee.name}({', '.join(given)})"
        if callee.returned == "void":
            self.do(text)
            return ""
        return self.put(text)

    def with_all_on(self, f: Function, callee: Writer, texts: list[str]) -> str:
        """A function that writes arrays; without a mask where all lanes are on, which they mostly are."""
        whole, some, end = self.new("whole"), self.new("some"), self.new("end")
        bits = self.put(f"bitcast {self.mask_type} {self.mask} to i{self.lanes}")
        self.do(f"br i1 {self.put(f'icmp eq i{self.lanes} {bits}, -1')}, label {whole}, label {some}")
        for label, made in ((whole, self.owner.function(f, masked=False)), (some, callee)):
            self.label(label)
            self.called(made, texts)
            self.do(f"br label {end}")
        self.label(end)
        return ""


def _leaf(f: Function) -> bool:
    """True if a function calls nothing and takes all lanes the same way."""
    pending = list(f.body)
    while pending:
        s = pending.pop()
        if s.divergent or any(contains(e, "call", "run") for e in expressions_of(s)):
            return False
        pending += [x for b in blocks_of(s) for x in b]
    return True


def _harmless(e: Expression) -> bool:
    """True if an expression may be computed for lanes that do not ask for it: it calls nothing and reads no place that depends on them."""
    if contains(e, "call", "run", "pow"):
        return False
    return all(not x.parts[0].kind.outside and all(i.op == "const" for i in x.parts[1]) for x in walked(e) if x.op == "element")


