"""Plain Python loops as LLVM text: a small, strict subset, so that an algorithm is written once and also runs natively.

A function of the subset works on whole numbers, floats and arrays of either (one or two axes, in one piece, not overlapping),
and on named tuples of these as arguments. It may assign, index, loop over `range` or while, branch, return a number, and call
functions of the subset, math.sqrt, abs, min, max, len, int, float and `native_loops.evaluate`. A variable keeps its kind.
Indices are not checked and not negative. Sums and products round as Python's do: nothing is fused or reordered, so
native and Python results are equal to the last bit. Anything else is refused with its place.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import math
import struct
from collections.abc import Callable
from functools import cache
from typing import Any

from linkwright.compiler.native_loops import BOOL, FLOAT, INT, Array, Fields, Kind, LoopError, Value, slots

HEAD = """declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare i64 @llvm.abs.i64(i64, i1)
declare double @lw_pow(double, double)
!0 = !{}
"""

_ARITHMETIC = {
    ast.Add: ("add", "fadd"), ast.Sub: ("sub", "fsub"), ast.Mult: ("mul", "fmul"), ast.Div: ("", "fdiv"), ast.BitAnd: ("and", ""),
    ast.BitOr: ("or", ""),
}  # fmt: skip
_COMPARISONS: dict[type, tuple[str, str]] = {
    ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole"), ast.Gt: ("sgt", "ogt"), ast.GtE: ("sge", "oge"), ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
}  # fmt: skip


# Expressions of the native subset of Python as LLVM text.


class Expressions:
    """Writes the text of one function; statements are added in `native_loop_text`."""

    def __init__(self, function: Any, where: str, call: Callable[[Any, list[Value]], tuple[str, Any]]):
        self.globals = function.__globals__
        self.where = where
        self.call_function = call  # compiles a function for arguments: its name and the kind it returns
        self.lines: list[str] = []
        self.slots: list[str] = []  # variables, all at the function's beginning
        self.variables: dict[str, Value] = {}
        self.count = 0

    # ---------------------------------------------------------------- text

    def refuse(self, node: ast.AST, why: str) -> LoopError:
        line = getattr(node, "lineno", 1)
        return LoopError(f"{self.where}:{line}: native loops cannot do this: {why}.")

    def name(self, stem: str = "v") -> str:
        self.count += 1
        return f"%{stem}.{self.count}"

    def put(self, text: str) -> str:
        out = self.name()
        self.lines.append(f"  {out} = {text}")
        return out

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name[1:]}:")

    def slot(self, kind: str) -> str:
        out = self.name("s")
        self.slots.append(f"  {out} = alloca {kind}")
        return out

    def number(self, value: Any) -> Value:
        if isinstance(value, bool):
            return Value(BOOL, "true" if value else "false")
        if isinstance(value, int):
            return Value(INT, str(value))
        return Value(FLOAT, f"0x{_bits(value):016X}")

    # ---------------------------------------------------------------- kinds

    def as_float(self, v: Value) -> Value:
        return Value(FLOAT, self.put(f"sitofp i64 {v.text} to double")) if v.kind == INT else v

    def as_int(self, v: Value) -> Value:
        if v.kind == FLOAT:
            return Value(INT, self.put(f"fptosi double {v.text} to i64"))
        return Value(INT, self.put(f"zext i1 {v.text} to i64")) if v.kind == BOOL else v

    def as_bool(self, v: Value) -> str:
        if v.kind == BOOL:
            return v.text
        return self.put(f"icmp ne i64 {v.text}, 0" if v.kind == INT else f"fcmp une double {v.text}, 0.0")

    def alike(self, a: Value, b: Value) -> tuple[Value, Value]:
        """Both as floats if one of them is."""
        return (self.as_float(a), self.as_float(b)) if FLOAT in (a.kind, b.kind) else (a, b)

    # ---------------------------------------------------------------- expressions

    def value(self, node: ast.expr) -> Value:
        handler = getattr(self, f"_{type(node).__name__}", None)
        if handler is None:
            raise self.refuse(node, f"the expression '{ast.unparse(node)}'")
        return handler(node)

    def _Constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, (bool, int, float)):
            raise self.refuse(node, f"the constant {node.value!r}")
        return self.number(node.value)

    def _Name(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            known = self.variables[node.id]
            return Value(known.kind, self.put(f"load {known.kind}, ptr {known.text}")) if isinstance(known.kind, str) else known
        constant = self.globals.get(node.id)
        if isinstance(constant, (bool, int, float)):
            return self.number(constant)
        raise self.refuse(node, f"the name '{node.id}', which is neither a variable so far nor a constant")

    def _Attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and self.globals.get(node.value.id) is math and node.attr in ("inf", "pi", "e"):
            return self.number(getattr(math, node.attr))
        owner = self.value(node.value)
        if not isinstance(owner.kind, Fields) or node.attr not in owner.kind.names:
            raise self.refuse(node, f"the attribute '{node.attr}'")
        kind = owner.kind.kinds[owner.kind.names.index(node.attr)]
        first = owner.kind.place(node.attr)
        if isinstance(kind, Array):
            address = Value("ptr", self.put(f"inttoptr i64 {self.word(owner, first, INT)} to ptr"))
            return Value(kind, address.text, tuple(self.word(owner, first + 1 + k, INT) for k in range(kind.axes)))
        if isinstance(kind, Fields):
            return Value(kind, self.put(f"getelementptr i64, ptr {owner.text}, i64 {first}"))
        return Value(kind, self.word(owner, first, kind))

    def word(self, owner: Value, place: int, kind: str) -> str:
        """A word of a tuple; tuples never change, so LLVM may keep it across calls."""
        at = self.put(f"getelementptr i64, ptr {owner.text}, i64 {place}")
        return self.put(f"load {kind}, ptr {at}, !invariant.load !0")

    def _Subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and isinstance(node.slice, ast.Constant):
            return Value(INT, self.value(node.value.value).axes[int(str(node.slice.value))])
        at, element = self.element(node)
        return Value(element, self.put(f"load {element}, ptr {at}"))

    def element(self, node: ast.Subscript) -> tuple[str, str]:
        """Address and kind of an array's element."""
        array = self.value(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not isinstance(array.kind, Array) or len(indices) != array.kind.axes:
            raise self.refuse(node, "an index on something else than an array with that many axes")
        places = [self.value(i) for i in indices]
        if any(p.kind != INT for p in places):
            raise self.refuse(node, "an index that is not a whole number")
        place = places[0].text
        if len(places) == 2:
            place = self.put(f"add nsw i64 {self.put(f'mul nsw i64 {place}, {array.axes[1]}')}, {places[1].text}")
        return self.put(f"getelementptr {array.kind.element}, ptr {array.text}, i64 {place}"), array.kind.element

    def _BinOp(self, node: ast.BinOp) -> Value:
        return self.arithmetic(node, type(node.op), self.value(node.left), self.value(node.right))

    def arithmetic(self, node: ast.AST, op: type, a: Value, b: Value) -> Value:
        if op is ast.Pow:
            return Value(FLOAT, self.put(f"call double @lw_pow(double {self.as_float(a).text}, double {self.as_float(b).text})"))
        if op is ast.Mod and a.kind == b.kind == INT:
            return self._remainder(a, b)
        if op is ast.Div:
            a, b = self.as_float(a), self.as_float(b)
        a, b = self.alike(a, b)
        whole, real = _ARITHMETIC.get(op, ("", ""))
        if not {a.kind, b.kind} <= {INT, FLOAT} or not (whole if a.kind == INT else real):
            raise self.refuse(node, f"'{op.__name__}' of these kinds")
        nsw = " nsw" if whole in ("add", "sub", "mul") and a.kind == INT else ""
        return Value(a.kind, self.put(f"{whole if a.kind == INT else real}{nsw} {a.kind} {a.text}, {b.text}"))

    def _remainder(self, a: Value, b: Value) -> Value:
        """With the sign of the divisor, as Python has it."""
        r = self.put(f"srem i64 {a.text}, {b.text}")
        other = self.put(f"icmp slt i64 {self.put(f'xor i64 {r}, {b.text}')}, 0")
        wrong = self.put(f"and i1 {other}, {self.put(f'icmp ne i64 {r}, 0')}")
        return Value(INT, self.put(f"select i1 {wrong}, i64 {self.put(f'add i64 {r}, {b.text}')}, i64 {r}"))

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        v = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return Value(BOOL, self.put(f"xor i1 {self.as_bool(v)}, true"))
        if isinstance(node.op, ast.USub) and v.kind in (INT, FLOAT):
            return Value(v.kind, self.put(f"sub i64 0, {v.text}" if v.kind == INT else f"fneg double {v.text}"))
        raise self.refuse(node, f"the operator in '{ast.unparse(node)}'")

    def _Compare(self, node: ast.Compare) -> Value:
        left, out = self.value(node.left), ""
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In) and isinstance(right_node, ast.Tuple):
                hits = [self.comparison(node, ast.Eq, left, self.value(e)) for e in right_node.elts]
                part = hits[0]
                for hit in hits[1:]:
                    part = self.put(f"or i1 {part}, {hit}")
                return Value(BOOL, part)
            right = self.value(right_node)
            part = self.comparison(node, type(op), left, right)
            out = self.put(f"and i1 {out}, {part}") if out else part
            left = right
        return Value(BOOL, out)

    def comparison(self, node: ast.AST, op: type, a: Value, b: Value) -> str:
        a, b = self.alike(a, b)
        if op not in _COMPARISONS or a.kind != b.kind or a.kind not in (INT, FLOAT):
            raise self.refuse(node, "a comparison of these kinds")
        whole, real = _COMPARISONS[op]
        return self.put(f"icmp {whole} i64 {a.text}, {b.text}" if a.kind == INT else f"fcmp {real} double {a.text}, {b.text}")

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        """The right side is looked at only where the left one has not decided."""
        out, end = self.slot(BOOL), self.name("end")
        for k, part in enumerate(node.values):
            hit = self.as_bool(self.value(part))
            self.do(f"store i1 {hit}, ptr {out}")
            if k + 1 < len(node.values):
                more = self.name("more")
                yes, no = (more, end) if isinstance(node.op, ast.And) else (end, more)
                self.do(f"br i1 {hit}, label {yes}, label {no}")
                self.label(more)
        self.do(f"br label {end}")
        self.label(end)
        return Value(BOOL, self.put(f"load i1, ptr {out}"))

    def _IfExp(self, node: ast.IfExp) -> Value:
        yes, no, end = self.name("yes"), self.name("no"), self.name("end")
        self.do(f"br i1 {self.as_bool(self.value(node.test))}, label {yes}, label {no}")
        self.label(yes)
        a = self.value(node.body)
        if not isinstance(a.kind, str):
            raise self.refuse(node, "a choice between arrays")
        out = self.slot(a.kind)
        self.do(f"store {a.kind} {a.text}, ptr {out}")
        self.do(f"br label {end}")
        self.label(no)
        b = self.value(node.orelse)
        b = self.as_float(b) if a.kind == FLOAT else b
        if b.kind != a.kind:
            raise self.refuse(node, "a choice between different kinds")
        self.do(f"store {b.kind} {b.text}, ptr {out}")
        self.do(f"br label {end}")
        self.label(end)
        return Value(a.kind, self.put(f"load {a.kind}, ptr {out}"))

    # ---------------------------------------------------------------- calls

    def _Call(self, node: ast.Call) -> Value:
        if node.keywords:
            raise self.refuse(node, "arguments by name")
        v = [self.value(a) for a in node.args]
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and self.globals.get(node.func.value.id) is math:
            if node.func.attr == "sqrt":
                return Value(FLOAT, self.put(f"call double @llvm.sqrt.f64(double {self.as_float(v[0]).text})"))
        elif isinstance(node.func, ast.Name):
            target = self.globals.get(node.func.id)
            if target is None and node.func.id in ("abs", "min", "max", "len", "int", "float"):
                return self.builtin(node, node.func.id, v)
            if target is not None and callable(target):
                return self.called(target, v)
        raise self.refuse(node, f"a call of '{ast.unparse(node.func)}'")

    def builtin(self, node: ast.Call, name: str, v: list[Value]) -> Value:
        if name == "len":
            return Value(INT, v[0].axes[0])
        if name == "int":
            return self.as_int(v[0])
        if name == "float":
            return self.as_float(v[0])
        if name == "abs":
            if v[0].kind == FLOAT:
                return Value(FLOAT, self.put(f"call double @llvm.fabs.f64(double {v[0].text})"))
            return Value(INT, self.put(f"call i64 @llvm.abs.i64(i64 {v[0].text}, i1 false)"))
        best = v[0]
        for other in v[1:]:  # the first of equals, as Python has it
            best, other = self.alike(best, other)
            better = self.comparison(node, ast.Gt if name == "max" else ast.Lt, other, best)
            best = Value(best.kind, self.put(f"select i1 {better}, {best.kind} {other.text}, {best.kind} {best.text}"))
        return best

    def called(self, target: Any, v: list[Value]) -> Value:
        name, kind = self.call_function(target, v)
        if name == "evaluate":
            places = [self.put(f"getelementptr double, ptr {v[1].text}, i64 {p.text}") for p in v[2:5]]
            more = "".join(f", i64 {number.text}" for number in v[5:])
            kernel = self.put(f"inttoptr i64 {v[0].text} to ptr")
            return Value(INT, self.put(f"call i64 {kernel}(ptr {places[0]}, ptr {places[1]}, ptr {places[2]}{more})"))
        text = f"call fastcc {kind or 'void'} @{name}({', '.join(passed(a) for a in v)})"
        if kind is None:
            self.do(text)
            return Value("void", "")
        return Value(kind, self.put(text))


def passed(v: Value) -> str:
    """A value as argument of a call."""
    if isinstance(v.kind, Array):
        return ", ".join([f"ptr {v.text}", *(f"i64 {n}" for n in v.axes)])
    return f"ptr {v.text}" if isinstance(v.kind, Fields) else f"{v.kind} {v.text}"


def _bits(x: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", x))[0]


@cache
def _functions(source: str) -> dict[int, ast.FunctionDef]:
    """Functions of a module by their first lines, decorators included."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return {min([node.lineno, *(d.lineno for d in node.decorator_list)]): node for node in found}


class Text(Expressions):
    """One function: its statements."""

    def __init__(self, function: Any, kinds: list[Kind], call: Callable[[Any, list[Value]], tuple[str, Any]]):
        where = inspect.getsourcefile(function) or "?"
        node = _functions("".join(linecache.getlines(where, function.__globals__)))[function.__code__.co_firstlineno]
        super().__init__(function, where, call)
        self.returns: str | None = None
        self.loops: list[tuple[str, str]] = []  # where continue and break go
        self.arguments: list[str] = []
        self.depth = 0
        for argument, kind in zip(node.args.args, kinds, strict=True):
            self.argument(argument.arg, kind)
        self.block(node.body)

    def argument(self, name: str, kind: Kind) -> None:
        if isinstance(kind, Array):
            self.arguments += [f"ptr noalias %{name}", *(f"i64 %{name}.n{k}" for k in range(kind.axes))]
            self.variables[name] = Value(kind, f"%{name}", tuple(f"%{name}.n{k}" for k in range(kind.axes)))
        elif isinstance(kind, Fields):
            self.arguments.append(f"ptr noalias readonly %{name}")
            self.variables[name] = Value(kind, f"%{name}")
        else:
            self.arguments.append(f"{kind} %{name}")
            self.assign_name(name, Value(kind, f"%{name}"), None)

    def text(self, name: str) -> str:
        end = "  ret void" if self.returns is None else "  unreachable"
        head = f"define internal fastcc {self.returns or 'void'} @{name}({', '.join(self.arguments)}) nounwind {{\nentry:"
        return "\n".join([head, *self.slots, *self.lines, end, "}", ""])

    def block(self, statements: list[ast.stmt]) -> None:
        self.depth += 1
        for node in statements:
            handler = getattr(self, f"_{type(node).__name__}", None)
            if handler is None:
                raise self.refuse(node, f"the statement '{ast.unparse(node)[:60]}'")
            handler(node)
        self.depth -= 1

    def go(self, label: str) -> None:
        """Leave the block; what follows cannot be reached, but text needs a place."""
        self.do(f"br label {label}")
        self.label(self.name("after"))

    # ---------------------------------------------------------------- statements

    def _Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring says nothing here
            self.value(node.value)

    def _Pass(self, node: ast.Pass) -> None:
        pass

    def _Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if len(node.targets) != 1:
            raise self.refuse(node, "several targets")
        if not isinstance(target, ast.Tuple):
            return self.assign(target, self.value(node.value))
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            values = [Value(INT, n) for n in self.value(node.value.value).axes]
        elif isinstance(node.value, ast.Tuple):
            values = [self.value(v) for v in node.value.elts]
        else:
            raise self.refuse(node, "taking apart something that is not a tuple")
        for place, value in zip(target.elts, values, strict=True):
            self.assign(place, value)

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value, target)
        elif isinstance(target, ast.Subscript):
            at, element = self.element(target)
            value = self.as_float(value) if element == FLOAT else value
            if value.kind != element:
                raise self.refuse(target, f"a {value.kind} in an array of {element}")
            self.do(f"store {element} {value.text}, ptr {at}")
        else:
            raise self.refuse(target, f"assigning to '{ast.unparse(target)}'")

    def assign_name(self, name: str, value: Value, node: ast.AST | None) -> None:
        known = self.variables.get(name)
        if known is None and isinstance(value.kind, Array) and self.depth == 1:  # a shorter name for an array
            self.variables[name] = value
            return
        if not isinstance(value.kind, str) or value.kind == "void":
            raise self.refuse(node or ast.Pass(), f"'{name}' would be an array inside a branch or a loop, or nothing")
        if known is None:
            known = self.variables[name] = Value(value.kind, self.slot(value.kind))
        value = self.as_float(value) if known.kind == FLOAT else value
        if value.kind != known.kind:
            raise self.refuse(node or ast.Pass(), f"'{name}' changes from {known.kind} to {value.kind}")
        self.do(f"store {value.kind} {value.text}, ptr {known.text}")

    def _AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            old = self._Name(node.target)
            return self.assign_name(node.target.id, self.arithmetic(node, type(node.op), old, self.value(node.value)), node)
        if not isinstance(node.target, ast.Subscript):
            raise self.refuse(node, f"changing '{ast.unparse(node.target)}'")
        right = self.value(node.value)
        at, element = self.element(node.target)
        new = self.arithmetic(node, type(node.op), Value(element, self.put(f"load {element}, ptr {at}")), right)
        if new.kind != element:
            raise self.refuse(node, f"a {new.kind} in an array of {element}")
        self.do(f"store {element} {new.text}, ptr {at}")

    def _If(self, node: ast.If) -> None:
        yes, no, end = self.name("yes"), self.name("no"), self.name("end")
        self.do(f"br i1 {self.as_bool(self.value(node.test))}, label {yes}, label {no if node.orelse else end}")
        self.label(yes)
        self.block(node.body)
        self.do(f"br label {end}")
        if node.orelse:
            self.label(no)
            self.block(node.orelse)
            self.do(f"br label {end}")
        self.label(end)

    def _While(self, node: ast.While) -> None:
        test, body, end = self.name("while"), self.name("body"), self.name("end")
        self.do(f"br label {test}")
        self.label(test)
        self.do(f"br i1 {self.as_bool(self.value(node.test))}, label {body}, label {end}")
        self.label(body)
        self.looped(node, node.body, test, end)
        self.do(f"br label {test}")
        self.label(end)

    def looped(self, node: ast.While | ast.For, body: list[ast.stmt], again: str, end: str) -> None:
        if node.orelse:
            raise self.refuse(node, "else after a loop")
        self.loops.append((again, end))
        self.block(body)
        self.loops.pop()

    def _For(self, node: ast.For) -> None:
        call = node.iter
        if not (
            isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range" and isinstance(node.target, ast.Name)
        ):
            raise self.refuse(node, "a loop over something else than range(...)")
        limits = [self.value(a) for a in call.args]
        if any(v.kind != INT for v in limits):
            raise self.refuse(node, "a range of other than whole numbers")
        first, last = ("0", limits[0].text) if len(limits) == 1 else (limits[0].text, limits[1].text)
        step = ast.literal_eval(call.args[2]) if len(limits) == 3 else 1
        counter = self.slot(INT)  # apart from the variable, which the body may change without harm
        self.do(f"store i64 {first}, ptr {counter}")
        test, body, again, end = self.name("for"), self.name("body"), self.name("again"), self.name("end")
        self.do(f"br label {test}")
        self.label(test)
        now = self.put(f"load i64, ptr {counter}")
        inside = self.put(f"icmp {'slt' if step > 0 else 'sgt'} i64 {now}, {last}")
        self.do(f"br i1 {inside}, label {body}, label {end}")
        self.label(body)
        self.assign_name(node.target.id, Value(INT, now), node)
        self.looped(node, node.body, again, end)
        self.do(f"br label {again}")
        self.label(again)
        following = self.put(f"add nsw i64 {self.put(f'load i64, ptr {counter}')}, {step}")
        self.do(f"store i64 {following}, ptr {counter}")
        self.do(f"br label {test}")
        self.label(end)

    def _Break(self, node: ast.Break) -> None:
        self.go(self.loops[-1][1])

    def _Continue(self, node: ast.Continue) -> None:
        self.go(self.loops[-1][0])

    def _Return(self, node: ast.Return) -> None:
        if node.value is None:
            self.do("ret void")
        else:
            v = self.value(node.value)
            if not isinstance(v.kind, str) or self.returns not in (None, v.kind):
                raise self.refuse(node, "returning an array, or different kinds")
            self.returns = v.kind
            self.do(f"ret {v.kind} {v.text}")
        self.label(self.name("after"))


class Module:
    """All functions a loop needs, each once for every combination of argument kinds."""

    def __init__(self, evaluate: Any):
        self.evaluate = evaluate
        self.known: dict[Any, tuple[str, str | None]] = {}
        self.texts: list[str] = []

    def function(self, function: Any, arguments: list[Value]) -> tuple[str, str | None]:
        if function is self.evaluate:
            return "evaluate", INT
        kinds = [a.kind for a in arguments]
        key = (function, *kinds)
        if key not in self.known:
            text = Text(function, kinds, self.function)
            name = f"{function.__name__.strip('_')}.{len(self.known)}"
            self.known[key] = name, text.returns
            self.texts.append(text.text(name))
        return self.known[key]


def module_text(function: Any, kinds: list[Kind], evaluate: Any) -> str:
    """A module with `loop(slots)`: arguments are read from an array of 8-byte fields, the result is written after them."""
    module = Module(evaluate)
    arguments: list[Value] = []
    lines = ["define void @loop(ptr %words) nounwind {", "entry:"]

    def put(text: str) -> str:
        lines.append(f"  %v{len(lines)} = {text}")
        return f"%v{len(lines) - 1}"

    place = 0
    for kind in kinds:
        at = put(f"getelementptr i64, ptr %words, i64 {place}")
        if isinstance(kind, Array):
            address = put(f"inttoptr i64 {put(f'load i64, ptr {at}')} to ptr")
            axes = [put(f"load i64, ptr {put(f'getelementptr i64, ptr %words, i64 {place + 1 + k}')}") for k in range(kind.axes)]
            arguments.append(Value(kind, address, tuple(axes)))
        else:
            arguments.append(Value(kind, at if isinstance(kind, Fields) else put(f"load {kind}, ptr {at}")))
        place += slots(kind)
    name, returns = module.function(function, arguments)
    call = f"call fastcc {returns or 'void'} @{name}({', '.join(passed(a) for a in arguments)})"
    if returns is None:
        lines.append(f"  {call}")
    else:
        result = put(call)
        lines.append(f"  store {returns} {result}, ptr {put(f'getelementptr i64, ptr %words, i64 {place}')}")
    return "\n".join([HEAD, *module.texts, *lines, "  ret void", "}", ""])
