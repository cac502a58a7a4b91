"""A flat program as statements: what the writers of C and JavaScript share.

A value that is used once is written inside the expression that uses it, any other gets a name. A long program is cut into
parts that become functions of their own, because compilers take more than linear time for one long function (or, in browsers,
give up optimizing it); values that cross from part to part live in a work array whose places are used again when free.
No arithmetic is reordered: the text computes exactly what the program says, up to the sign of a zero.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from linkwright.compiler.program import Op, Program


class FunctionPart(NamedTuple):
    """One function of the text. Values are indices of the program's operations."""

    loads: tuple[int, ...]  # from the work array, used several times here
    direct: frozenset[int]  # from the work array, used once here
    named: tuple[int, ...]  # computed here, in order
    stores: tuple[int, ...]  # to the work array
    results: tuple[tuple[int, int], ...]  # (place in y, value)


@dataclass(frozen=True)
class StatementPlan:
    """Layout of the text: values with names, cuts of the program, places of values that cross a cut."""

    parts: tuple[FunctionPart, ...]
    place: dict[int, int]  # of crossing values in the work array
    work: int  # its length
    inside: frozenset[int]  # values written inside the one expression that uses them


def operands(op: tuple[int, int, int, int]) -> tuple[int, ...]:
    """The values an operation reads."""
    return () if op[0] <= Op.INPUT else tuple(k for k in op[1:] if k >= 0)


def plan(program: Program, longest_part: int, longest_expression: int) -> StatementPlan:
    """Cut a program; both limits count operations."""
    ops = program.ops
    part_of = _parts(program, longest_part)
    uses = [0] * len(ops)
    for op in ops:
        for k in operands(op):
            uses[k] += 1
    for r in program.results:
        uses[r] += 1
    inside = _written_inside(program, uses, part_of, longest_expression)
    count = part_of[-1] + 1 if ops else 1
    loads: list[Counter[int]] = [Counter() for _ in range(count)]
    last = dict.fromkeys(range(len(ops)), -1)
    for k, op in enumerate(ops):
        for o in operands(op):
            if ops[o][0] > Op.INPUT and part_of[o] < part_of[k]:
                loads[part_of[k]][o] += 1
                last[o] = part_of[k]
    results: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for place, r in enumerate(program.results):
        results[part_of[r]].append((place, r))
    named: list[list[int]] = [[] for _ in range(count)]
    for k, op in enumerate(ops):
        if op[0] > Op.INPUT and k not in inside:
            named[part_of[k]].append(k)
    stores = [[k for k in named[p] if last[k] > p] for p in range(count)]
    place, work = _places(stores, last)
    parts = []
    for p in range(count):
        several = tuple(sorted(k for k, n in loads[p].items() if n > 1))
        direct = frozenset(k for k, n in loads[p].items() if n == 1)
        parts.append(FunctionPart(several, direct, tuple(named[p]), tuple(stores[p]), tuple(results[p])))
    return StatementPlan(tuple(parts), place, work, frozenset(inside))


def _parts(program: Program, longest: int) -> list[int]:
    """The part of every value: about equally many operations in each."""
    count = max(1, math.ceil(program.operations / longest))
    share = max(1, math.ceil(program.operations / count))
    done, out = 0, []
    for op in program.ops:
        done += op[0] > Op.INPUT
        out.append(max(0, done - 1) // share)
    return out


def _written_inside(program: Program, uses: list[int], part_of: list[int], longest: int) -> set[int]:
    ops = program.ops
    size = [0] * len(ops)  # operations in the expression of a value
    inside: set[int] = set()
    for k, op in enumerate(ops):
        if op[0] <= Op.INPUT:
            continue
        fit = [o for o in operands(op) if ops[o][0] > Op.INPUT and uses[o] == 1 and part_of[o] == part_of[k]]
        fit = [o for o in fit if ops[o][0] not in (Op.LT, Op.LE) or (op[0] == Op.SELECT and o == op[1])]  # elsewhere it is a number
        fit.sort(key=size.__getitem__)
        while fit and 1 + sum(size[o] for o in fit) > longest:
            fit.pop()
        size[k] = 1 + sum(size[o] for o in fit)
        inside.update(fit)
    inside.update(r for r in program.results if uses[r] == 1 and ops[r][0] > Op.INPUT)
    return inside


def _places(stores: list[list[int]], last: dict[int, int]) -> tuple[dict[int, int], int]:
    """Places in the work array; one is used again in a part after the last that reads it."""
    place: dict[int, int] = {}
    free: list[int] = []
    waiting: list[tuple[int, int]] = []  # (last part that reads it, place)
    work = 0
    for p, values in enumerate(stores):
        free += sorted((at for until, at in waiting if until < p), reverse=True)
        waiting = [entry for entry in waiting if entry[0] >= p]
        for k in values:
            if not free:
                free.append(work)
                work += 1
            place[k] = free.pop()
            waiting.append((last[k], place[k]))
    return place, work


_CONDITION, _CHOICE, _SUM, _PRODUCT, _ATOM = 1, 0, 2, 3, 4  # how tightly a text binds
_SIGNS = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*", Op.DIV: "/", Op.LT: "<", Op.LE: "<="}


@dataclass(frozen=True)
class Writer:
    """Writes expressions in the grammar that C and JavaScript have in common."""

    program: Program
    inside: frozenset[int]
    number: Callable[[float], str]
    name: Callable[[int], str]  # of a value that has one, and of inputs
    functions: dict[int, str]
    truth: str  # how a named condition is asked, e.g. "{} != 0.0"
    gap: str = " "

    def expression(self, k: int) -> str:
        """The right side of a value's own statement."""
        return self._operation(k)[0]

    def operand(self, k: int) -> str:
        return self._text(k)[0]

    def _text(self, k: int) -> tuple[str, int]:
        op, a, _, _ = self.program.ops[k]
        if op == Op.CONST:
            text = self.number(a)
            return text, _PRODUCT if text.startswith("-") else _ATOM
        return self._operation(k) if k in self.inside else (self.name(k), _ATOM)

    def _at_least(self, k: int, level: int) -> str:
        text, binds = self._text(k)
        return text if binds >= level else f"({text})"

    def _operation(self, k: int) -> tuple[str, int]:
        op, a, b, c = self.program.ops[k]
        if op in self.functions:
            return f"{self.functions[op]}({f',{self.gap}'.join(self.operand(o) for o in (a, b) if o >= 0)})", _ATOM
        if op == Op.SELECT:
            return self._choice(a, b, c)
        if op == Op.NEG:
            text = self._at_least(a, _PRODUCT)
            return (text[1:] if text.startswith("-") else f"-{text}"), _PRODUCT
        if op in (Op.ADD, Op.SUB):
            return self._sum(op, a, b)
        if op in (Op.MUL, Op.DIV):
            return self._product(op, a, b)
        return f"{self._at_least(a, _SUM)}{self.gap}{_SIGNS[Op(op)]}{self.gap}{self._at_least(b, _SUM)}", _CONDITION

    def _choice(self, a: int, b: int, c: int) -> tuple[str, int]:
        condition = self.operand(a) if a in self.inside else self.truth.format(self.name(a))
        gap = self.gap
        return f"{condition}{gap}?{gap}{self._at_least(b, _SUM)}{gap}:{gap}{self._at_least(c, _SUM)}", _CHOICE

    def _sum(self, op: int, a: int, b: int) -> tuple[str, int]:
        left, right = self._text(a), self._text(b)
        if op == Op.ADD and right[1] == _SUM and left[1] > _SUM:  # (b + c) + a needs no bracket
            left, right = right, left
        if op == Op.ADD and left[0].startswith("-") and left[1] > _SUM and not right[0].startswith("-") and right[1] > _SUM:
            left, right = right, left
        first = left[0] if left[1] >= _SUM else f"({left[0]})"
        second = right[0] if right[1] > _SUM else f"({right[0]})"
        sign = _SIGNS[Op(op)]
        if second.startswith("-"):  # a - (-b c) is a + b c
            sign, second = ("-" if op == Op.ADD else "+"), second[1:]
        return f"{first}{self.gap}{sign}{self.gap}{second}", _SUM

    def _product(self, op: int, a: int, b: int) -> tuple[str, int]:
        left, right = self._text(a), self._text(b)
        constant = self.program.ops[b][0] == Op.CONST  # written first; then a sum can take its sign
        if op == Op.MUL and (left[1] != right[1] == _PRODUCT or (constant and (left[1] == _ATOM or right[0].startswith("-")))):
            left, right = right, left
        first = left[0] if left[1] >= _PRODUCT else f"({left[0]})"
        second = right[0] if right[1] == _ATOM else f"({right[0]})"
        return f"{first}{_SIGNS[Op(op)]}{second}", _PRODUCT
