"""The entry of a loop in LLVM text: `loop(slots)` runs its main function for items of groups, one or eight items at a time.

The slots are the first item and how many there are, the first group and how many, a place for the results and their number in a group,
then the arguments. A record takes two slots (its table, its floats), an outside array its address, a stride for each axis, one from item to
item and one from group to group.
"""

from __future__ import annotations

from typing import Any

from linkwright.compiler.loop_tree import NUMBERS, Function
from linkwright.compiler.records import ALL_LANES, is_array

KINDS: dict[Any, str] = {int: "i64", float: "double", bool: "i1"}
# a kernel of one state for the lanes that are on, one after the other; their statuses
LANE_BY_LANE = f"""define internal fastcc <{ALL_LANES} x i64> @lane.by.lane(
  i64 %code, i64 %n, i64 %m, ptr %x, ptr %y, ptr %a, ptr %b, ptr %w, i64 %on
) noinline {{
entry:
  %f = inttoptr i64 %code to ptr
  %out = alloca <{ALL_LANES} x i64>
  store <{ALL_LANES} x i64> zeroinitializer, ptr %out
  br label %lanes
lanes:
  %l = phi i64 [ 0, %entry ], [ %l.next, %next ]
  %l.on = icmp slt i64 %l, {ALL_LANES}
  br i1 %l.on, label %lane, label %done
lane:
  %shifted = lshr i64 %on, %l
  %bit = and i64 %shifted, 1
  %is.on = icmp ne i64 %bit, 0
  br i1 %is.on, label %in, label %next
in:
  %i = phi i64 [ 0, %lane ], [ %i.next, %in.body ]
  %i.on = icmp slt i64 %i, %n
  br i1 %i.on, label %in.body, label %call
in.body:
  %i.row = mul i64 %i, {ALL_LANES}
  %i.at = add i64 %i.row, %l
  %i.from = getelementptr double, ptr %x, i64 %i.at
  %i.value = load double, ptr %i.from
  %i.to = getelementptr double, ptr %a, i64 %i
  store double %i.value, ptr %i.to
  %i.next = add i64 %i, 1
  br label %in
call:
  %status = call i64 %f(ptr %a, ptr %b, ptr %w)
  %place = getelementptr i64, ptr %out, i64 %l
  store i64 %status, ptr %place
  br label %back
back:
  %k = phi i64 [ 0, %call ], [ %k.next, %back.body ]
  %k.on = icmp slt i64 %k, %m
  br i1 %k.on, label %back.body, label %next
back.body:
  %k.from = getelementptr double, ptr %b, i64 %k
  %k.value = load double, ptr %k.from
  %k.row = mul i64 %k, {ALL_LANES}
  %k.at = add i64 %k.row, %l
  %k.to = getelementptr double, ptr %y, i64 %k.at
  store double %k.value, ptr %k.to
  %k.next = add i64 %k, 1
  br label %back
next:
  %l.next = add i64 %l, 1
  br label %lanes
done:
  %result = load <{ALL_LANES} x i64>, ptr %out
  ret <{ALL_LANES} x i64> %result
}}
"""


def declarations(lanes: int) -> list[str]:
    """Return the declarations of all that a loop calls."""
    out = ["declare double @lw_pow(double, double)", "!0 = !{}"]
    for kind, short in (("double", "f64"), ("i64", "i64")):
        types = [(kind, short)] + ([(f"<{lanes} x {kind}>", f"v{lanes}{short}")] if lanes > 1 else [])
        for t, name in types:
            if kind == "double":
                out += [f"declare {t} @llvm.{f}.{name}({t})" for f in ("fabs", "log", "sqrt")]
                whole = t.replace("double", "i64")
                out += [f"declare {whole} @llvm.fptosi.sat.{name.replace('f64', 'i64')}.{name}({t})"]
            else:
                out += [f"declare {t} @llvm.abs.{name}({t}, i1)"]
        if lanes > 1:
            v, p, b, n = f"<{lanes} x {kind}>", f"<{lanes} x ptr>", f"<{lanes} x i1>", f"v{lanes}{short}.v{lanes}p0"
            out.append(f"declare {v} @llvm.masked.gather.{n}({p}, i32, {b}, {v})")
            out.append(f"declare void @llvm.masked.store.v{lanes}{short}.p0({v}, ptr, i32, {b})")
            out.append(f"declare void @llvm.masked.scatter.{n}({v}, {p}, i32, {b})")
    return out


def argument_slots(kind: Any) -> int:
    """Return the number of slots of an argument of the main function."""
    if kind in NUMBERS:
        return 1
    return 3 + kind.axes if is_array(kind) else 2


HEAD_SLOTS = 6
ANYWHERE, TOGETHER, SAME = 0, 1, 2  # where the entries of eight lanes lie: at any places, one after the other, or all at one place


class Entry:
    """`loop(slots)`: the main function for one item after the other, or eight at a time; lanes beyond the last item repeat it."""

    def __init__(self, f: Function, name: str, returned: str, lanes: int):
        self.lines = ["define void @loop(ptr %slots) nounwind {", "entry:"]
        self.count, self.lanes, self.vector = 0, lanes, f"<{lanes} x i64>"
        first, count, group, groups, out, row = (self.load(self.slot(k), "ptr" if k == 4 else "i64") for k in range(HEAD_SLOTS))
        given, at = [], HEAD_SLOTS
        for _, kind in f.arguments:
            types = self.types(kind)
            given.append((kind, [self.load(self.slot(at + k), t) for k, t in enumerate(types)]))
            at += len(types)
        end, last_group = self.put(f"add i64 {first}, {count}"), self.put(f"add i64 {group}, {groups}")
        last = self.put(f"sub i64 {end}, 1")
        self.lines += ["  br label %groups", "groups:", f"  %group = phi i64 [ {group}, %entry ], [ %other, %again ]"]
        self.lines += [f"  %any = icmp slt i64 %group, {last_group}", "  br i1 %any, label %test, label %done"]
        self.lines += ["test:", f"  %block = phi i64 [ {first}, %groups ], [ %next, %body ]"]
        self.lines += [f"  %more = icmp slt i64 %block, {end}", "  br i1 %more, label %body, label %again", "body:"]
        items, full = "%block", ""
        if lanes > 1:
            here = self.put(f"add {self.vector} {self.wide('%block')}, <{', '.join(f'i64 {k}' for k in range(lanes))}>")
            final = self.wide(last)
            beyond = self.put(f"icmp sgt {self.vector} {here}, {final}")
            items = self.put(f"select <{lanes} x i1> {beyond}, {self.vector} {final}, {self.vector} {here}")
            full = self.put(f"icmp sle i64 {self.put(f'add i64 %block, {lanes}')}, {end}")
        args = [x for kind, values in given for x in self.arguments(kind, values, items, full)]
        call = f"call fastcc {returned} @{name}({', '.join(args)})"
        if f.returns is None:
            self.lines.append(f"  {call}")
        else:
            place = self.put(f"getelementptr i64, ptr {out}, i64 {self.put(f'mul i64 %group, {row}')}")
            self.result(f, returned, call, place, items)
        self.lines += [f"  %next = add i64 %block, {lanes}", "  br label %test", "again:", "  %other = add i64 %group, 1"]
        self.lines += ["  br label %groups", "done:", "  ret void", "}"]

    def types(self, kind: Any) -> list[str]:
        if kind in NUMBERS:
            return ["i64" if kind is bool else KINDS[kind]]
        return ["ptr", *["i64"] * (argument_slots(kind) - 1)] if is_array(kind) else ["ptr", "ptr"]

    def arguments(self, kind: Any, values: list[str], items: str, full: str) -> list[str]:
        """An argument of the main function for a block of items."""
        if kind in NUMBERS:
            return [f"i1 {self.put(f'icmp ne i64 {values[0]}, 0')}" if kind is bool else f"{KINDS[kind]} {values[0]}"]
        if not is_array(kind):
            return [f"ptr {x}" for x in values]
        address, *strides, step, group = values
        address = self.put(f"getelementptr double, ptr {address}, i64 {self.put(f'mul i64 %group, {group}')}")
        if self.lanes == 1:
            address = self.put(f"getelementptr double, ptr {address}, i64 {self.put(f'mul i64 %block, {step}')}")
            return [f"ptr {address}", *(f"i64 {s}" for s in strides)]
        at = self.put(f"getelementptr double, ptr {address}, i64 {self.put(f'mul i64 %block, {step}')}")
        off = self.put(f"sub {self.vector} {items}, {self.wide('%block')}")
        offsets = self.put(f"mul {self.vector} {off}, {self.wide(step)}")
        together = self.put(f"and i1 {full}, {self.put(f'icmp eq i64 {step}, 1')}")
        how = self.put(f"select i1 {together}, i64 {TOGETHER}, i64 {ANYWHERE}")
        how = self.put(f"select i1 {self.put(f'icmp eq i64 {step}, 0')}, i64 {SAME}, i64 {how}")
        return [f"ptr {at}", *(f"i64 {s}" for s in strides), f"i64 {how}", f"{self.vector} {offsets}"]

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %e{self.count} = {text}")
        return f"%e{self.count}"

    def slot(self, at: int) -> str:
        return self.put(f"getelementptr i64, ptr %slots, i64 {at}")

    def load(self, where: str, kind: str) -> str:
        return self.put(f"load {kind}, ptr {where}")

    def wide(self, value: str) -> str:
        one = self.put(f"insertelement {self.vector} poison, i64 {value}, i32 0")
        return self.put(f"shufflevector {self.vector} {one}, {self.vector} poison, <{self.lanes} x i32> zeroinitializer")

    def result(self, f: Function, t: str, call: str, out: str, items: str) -> None:
        """Results are written as slots: whole numbers, or the bits of floats."""
        result, n = self.put(call), self.lanes
        element = KINDS[f.returns]
        wide = t.startswith("<")
        if f.returns is bool:
            whole = t.replace("i1", "i64")
            result, t, element = self.put(f"zext {t} {result} to {whole}"), whole, "i64"
        if n == 1:
            self.lines.append(f"  store {t} {result}, ptr {self.put(f'getelementptr i64, ptr {out}, i64 %block')}")
            return
        if not wide:
            one = self.put(f"insertelement <{n} x {t}> poison, {t} {result}, i32 0")
            result = self.put(f"shufflevector <{n} x {t}> {one}, <{n} x {t}> poison, <{n} x i32> zeroinitializer")
        places = self.put(f"getelementptr i64, ptr {out}, <{n} x i64> {items}")
        short = "f64" if element == "double" else "i64"
        on = ", ".join(["i1 true"] * n)
        given = f"<{n} x {element}> {result}, <{n} x ptr> {places}, i32 8, <{n} x i1> <{on}>"
        self.lines.append(f"  call void @llvm.masked.scatter.v{n}{short}.v{n}p0({given})")
