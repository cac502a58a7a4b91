"""Places of the operands and results of a series in its machine code: constants, strides and tables (see `repeats`)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwright.compiler import sincos
from linkwright.compiler.repeats import SeriesOperand

if TYPE_CHECKING:
    from linkwright.compiler.llvm import FunctionBody


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
