"""The entry of a loop in LLVM text: `loop(slots)` runs its main function for items of groups, one or eight items at a time.

The slots are the first item and how many there are, the first group and how many, a place for the results and their number in a group,
then the arguments. A record takes two slots (its table, its floats), an outside array its address, a stride for each axis, one from item to
item and one from group to group.
"""

from __future__ import annotations

from typing import Any

from linkwright.compiler.loop_tree import NUMBERS, Function
from linkwright.compiler.records import is_array

KINDS: dict[Any, str] = {int: "i64", float: "double", bool: "i1"}


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
