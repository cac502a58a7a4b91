"""Plain Python loops as LLVM text: a small, strict subset, so that an algorithm is written once and also runs natively.

A function of the subset works on whole numbers, floats and arrays of either (one or two axes, in one piece, not overlapping),
and on named tuples of these as arguments. It may assign, index, loop over `range` or while, branch, return a number, and call
functions of the subset, math.sqrt, abs, min, max, len, int, float and `python_loops.evaluate`. A variable keeps its kind.
Indices are not checked and not negative. Sums and products round as Python's do: nothing is fused or reordered, so
native and Python results are equal to the last bit. Anything else is refused with its place.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable
from functools import cache
from typing import Any

from linkwright.compiler.python_loop_expressions import Expressions, passed
from linkwright.compiler.python_loop_kinds import FLOAT, INT, Array, Fields, Kind, Value, slots

HEAD = """declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare i64 @llvm.abs.i64(i64, i1)
declare double @lw_pow(double, double)
!0 = !{}
"""


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
            raise self.refuse(node, "taking apart something that is no tuple")
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
