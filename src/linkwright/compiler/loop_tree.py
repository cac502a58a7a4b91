"""Functions of the subset as typed trees, which all back ends of loops read: machine code for one lane and eight, C99, JavaScript.

A loop is a plain Python function with annotated arguments: whole numbers, floats, truth values, records and their arrays
(`records`), and outside arrays. It may assign, index, loop over `range` or while, branch, return a number, call functions of the
subset, `run` of a kernel, math.sqrt, math.log, abs, min, max, len, int and float. A variable keeps its kind. Indices are not checked
and not negative. Anything else is refused with its place and advice. The Python function itself stays the reference.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType
from typing import Any, get_type_hints

from linkwright.compiler import records
from linkwright.compiler.records import CHANGING, Array, LoopError, fields_of, is_array, is_kernel, is_number, is_record, name_of

NUMBERS = (int, float, bool)
FUNCTIONS = ("sqrt", "log")  # of math
BUILTINS = ("abs", "min", "max", "int", "float", "len")


# ---------------------------------------------------------------- the tree


@dataclass
class Path:
    """A record, an array, a number of a record or a kernel: a variable and the names of fields after it."""

    root: str
    names: tuple[str, ...]
    kind: Any
    owner: Any = None  # the record that has the last field


@dataclass
class Expression:
    """An operation, its parts, and the kind of its value.

    const, var, element, length, word, number, run, copy, call, choose, and, or, not, neg, float, int, abs, min, max, sqrt, log, pow, truth
    (a number that is not zero), or an operator of two.
    """

    op: str
    parts: list[Any]
    kind: Any
    varying: bool = False


@dataclass
class Statement:
    """assign, store, put, alias, do, if, while, for, break, continue or return, and its parts."""

    op: str
    parts: list[Any]
    line: int = 0
    divergent: bool = False  # of if and while: lanes take different ways; of for: lanes may leave it before others


@dataclass
class Function:
    """A function for arguments of given kinds, which may vary between lanes."""

    name: str
    where: str
    arguments: list[tuple[str, Any]]
    returns: type | None = None
    variables: dict[str, type] = field(default_factory=dict)
    varying: dict[str, bool] = field(default_factory=dict)
    aliases: dict[str, Path] = field(default_factory=dict)
    body: list[Statement] = field(default_factory=list)
    returns_varying: bool = False
    runs: set[tuple[str, ...]] = field(default_factory=set)  # kernels it runs, by paths from its arguments: see `loop_lanes`
    stale: set[tuple[str, ...]] = field(default_factory=set)  # those of them that run while some lanes have left
    reads: set[tuple[str, ...]] = field(default_factory=set)  # those whose outputs it reads before it runs them

    def resolved(self, path: Path) -> tuple[str, ...]:
        """Return the path from an argument on: other names for records are looked through."""
        first = self.aliases[path.root]
        if first.root == path.root:
            return path.root, *path.names
        return *self.resolved(first), *path.names

    def refuse(self, line: int, why: str) -> LoopError:
        return LoopError(f"{self.where}:{line}: loops cannot do this: {why}.")


class Unit:
    """A function and all functions it calls, each once for every combination of varying arguments."""

    def __init__(self, function: Any, lanes: bool = False):
        self.lanes = lanes
        self.functions: dict[Any, Function] = {}
        self._reading: list[Any] = []
        self._named: Counter[str] = Counter()
        self.main = self.get(function)

    def get(self, function: Any, varying: tuple[bool, ...] = ()) -> Function:
        """Return the tree of a function for these arguments."""
        key = (function, varying if self.lanes and any(varying) else ())
        if key not in self.functions:
            if function in self._reading:
                raise LoopError(f"{function.__name__}: loops cannot call themselves.")
            self._reading.append(function)
            base = function.__name__.strip("_")
            number = self._named[base]
            self._named[base] += 1
            name = base + (f"_{number}" if number else "")
            f = Reader(self, function, name, varying).read()
            if self.lanes:
                from linkwright.compiler.loop_lanes import mark

                mark(f, self)
            self._reading.pop()
            self.functions[key] = f
        return self.functions[key]


_OPERATORS: dict[Any, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|", ast.Pow: "pow"
}  # fmt: skip
_COMPARISONS: dict[Any, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
WHOLE_ONLY = ("%", "&", "|")


@cache
def _functions(source: str) -> dict[int, ast.FunctionDef]:
    """Functions of a module by their first lines, decorators included."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return {min([node.lineno, *(d.lineno for d in node.decorator_list)]): node for node in found}


def node_of(function: Any) -> tuple[ast.FunctionDef, str]:
    """Return the definition of a function and its file."""
    where = inspect.getsourcefile(function) or "?"
    return _functions("".join(linecache.getlines(where, function.__globals__)))[function.__code__.co_firstlineno], where


@cache
def signature_of(function: Any) -> tuple[list[tuple[str, Any]], type | None]:
    """Return the arguments and the kind returned; refuse a function without annotations."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    hints = get_type_hints(function)
    for name in names:
        kind = hints.get(name)
        if kind not in NUMBERS and not is_array(kind) and not is_record(kind):
            raise LoopError(
                f"{function.__name__}: annotate the argument '{name}' with int, float, bool, a record or an array "
                "of linkwright.compiler.records."
            )
    returns = hints.get("return", "?")
    if returns not in (int, float, bool, type(None)):
        raise LoopError(f"{function.__name__}: declare its result: -> int, float, bool or None.")
    return [(n, hints[n]) for n in names], None if returns is type(None) else returns


# ---------------------------------------------------------------- reading


class Reader:
    """Reads one function."""

    def __init__(self, unit: Unit, function: Any, name: str, varying: tuple[bool, ...]):
        self.unit, self.globals = unit, function.__globals__
        self.node, where = node_of(function)
        arguments, returns = signature_of(function)
        self.f = Function(name, where, arguments, returns)
        self.counters: dict[str, bool] = {}  # variables of `for`, and whether their loop is around
        self.depth = self.loops = 0
        for (a, kind), v in zip(arguments, varying or (False,) * len(arguments), strict=True):
            if kind in NUMBERS:
                self.f.variables[a], self.f.varying[a] = kind, v and unit.lanes
            else:
                self.f.aliases[a] = Path(a, (), kind)

    def read(self) -> Function:
        node = self.node
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.defaults:
            raise self.refuse(node, "arguments with defaults, or any number of them: give every argument")
        self.f.body = self.block(node.body)
        if self.f.returns is not None and not ends(self.f.body):
            raise self.refuse(node, f"'{node.name}' may end without the number it returns: let every way end with a return")
        return self.f

    def refuse(self, node: ast.AST, why: str) -> LoopError:
        return self.f.refuse(getattr(node, "lineno", self.node.lineno), why)

    # ------------------------------------------------------------ statements

    def block(self, nodes: list[ast.stmt]) -> list[Statement]:
        out: list[Statement] = []
        self.depth += 1
        for n in nodes:
            handler = getattr(self, f"_s_{type(n).__name__}", None)
            if handler is None:
                raise self.refuse(n, f"the statement '{ast.unparse(n)[:60]}'")
            for s in handler(n):
                s.line = n.lineno
                out.append(s)
        self.depth -= 1
        return out

    def _s_Expr(self, node: ast.Expr) -> Iterator[Statement]:
        if isinstance(node.value, ast.Constant):  # a docstring says nothing here
            return
        if not isinstance(node.value, ast.Call):
            raise self.refuse(node, f"'{ast.unparse(node)}' alone does nothing")
        yield Statement("do", [self.call(node.value, void=True)])

    def _s_Pass(self, node: ast.Pass) -> Iterator[Statement]:
        yield from ()

    def _s_Assign(self, node: ast.Assign) -> Iterator[Statement]:
        target = node.targets[0]
        if len(node.targets) != 1:
            raise self.refuse(node, "several targets: write one assignment for each")
        if not isinstance(target, ast.Tuple):
            yield from self.assigned(target, node.value)
            return
        if not isinstance(node.value, ast.Tuple) or len(node.value.elts) != len(target.elts):
            raise self.refuse(node, "taking apart something that is not a tuple of as many values")
        if not all(isinstance(t, ast.Name) for t in target.elts):
            raise self.refuse(node, "a tuple of targets other than names: write one assignment for each")
        read = [{n.id for n in ast.walk(v) if isinstance(n, ast.Name)} for v in node.value.elts]
        for k, t in enumerate(target.elts):
            if any(getattr(t, "id", "") in later for later in read[k + 1 :]):
                raise self.refuse(node, f"'{ast.unparse(t)}' is assigned and read in one tuple: write one assignment for each")
        for t, value in zip(target.elts, node.value.elts, strict=True):
            yield from self.assigned(t, value)

    def assigned(self, target: ast.expr, value: ast.expr) -> Iterator[Statement]:
        if isinstance(target, ast.Subscript):
            path, at = self.element(target)
            yield Statement("store", [path, at, self.as_kind(target, self.value(value), path.kind.element)])
        elif isinstance(target, ast.Attribute):
            path = self.path(target)
            if path.kind not in CHANGING:
                why = "only numbers (float, Count) of a record change. Index an array"
                raise self.refuse(target, f"assigning to '{ast.unparse(target)}': {why}")
            yield Statement("put", [path, self.as_kind(target, self.value(value), CHANGING[path.kind])])
        elif isinstance(target, ast.Name):
            yield from self.named(target, value)
        else:
            raise self.refuse(target, f"assigning to '{ast.unparse(target)}'")

    def named(self, target: ast.Name, value: ast.expr) -> Iterator[Statement]:
        name = target.id
        path = self.path_or_none(value)
        if path is not None and not is_number(path.kind):
            if self.depth > 1 or name in self.f.aliases or name in self.f.variables:
                why = f"'{name}' names a record or an array inside a branch or a loop, or twice: name it once, at the top"
                raise self.refuse(target, why)
            self.f.aliases[name] = path
            yield Statement("alias", [name, path])
            return
        if name in self.f.aliases:
            raise self.refuse(target, f"'{name}' is a record or an array already")
        if self.counters.get(name):
            raise self.refuse(target, f"'{name}' counts the loop around: assign another variable")
        e = self.value(value)
        if e.kind is None:
            raise self.refuse(target, f"'{ast.unparse(value)}' returns nothing")
        known = self.f.variables.setdefault(name, e.kind)
        self.f.varying.setdefault(name, False)
        self.counters.pop(name, None)
        yield Statement("assign", [name, self.as_kind(target, e, known)])

    def _s_AnnAssign(self, node: ast.AnnAssign) -> Iterator[Statement]:
        raise self.refuse(node, "an annotated variable: its kind follows from its first value")

    def _s_AugAssign(self, node: ast.AugAssign) -> Iterator[Statement]:
        for part in ast.walk(node.target):
            if isinstance(part, ast.Call):
                raise self.refuse(node, "a call in the place that is changed")
        yield from self.assigned(node.target, ast.copy_location(ast.BinOp(node.target, node.op, node.value), node))

    def _s_If(self, node: ast.If) -> Iterator[Statement]:
        yield Statement("if", [self.truth(node.test), self.block(node.body), self.block(node.orelse)])

    def _s_While(self, node: ast.While) -> Iterator[Statement]:
        if node.orelse:
            raise self.refuse(node, "else after a loop")
        test = self.truth(node.test)
        self.loops += 1
        yield Statement("while", [test, self.block(node.body)])
        self.loops -= 1

    def _s_For(self, node: ast.For) -> Iterator[Statement]:
        call = node.iter
        plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range" and not call.keywords
        if not plain or not isinstance(call, ast.Call) or not isinstance(node.target, ast.Name) or node.orelse:
            raise self.refuse(node, "a loop over something else than range(...), or with else")
        limits = [self.value(a) for a in call.args[:2]]
        if any(v.kind is not int for v in limits):
            raise self.refuse(node, "a range of other than whole numbers")
        step = 1
        if len(call.args) == 3:
            try:
                step = int(ast.literal_eval(call.args[2]))
            except ValueError:
                raise self.refuse(node, "a range whose step is not a constant") from None
        first = Expression("const", [0], int) if len(limits) == 1 else limits[0]
        name = node.target.id
        if name in self.f.aliases or (name in self.f.variables and self.counters.get(name) is not False):
            raise self.refuse(node, f"'{name}' is a variable already: count with another one")
        self.f.variables[name], self.f.varying[name] = int, False
        self.counters[name] = True
        self.loops += 1
        body = self.block(node.body)
        self.loops -= 1
        self.counters[name] = False
        yield Statement("for", [name, first, limits[-1], body, step])

    def _s_Break(self, node: ast.Break) -> Iterator[Statement]:
        yield Statement("break", [])

    def _s_Continue(self, node: ast.Continue) -> Iterator[Statement]:
        yield Statement("continue", [])

    def _s_Return(self, node: ast.Return) -> Iterator[Statement]:
        if (node.value is None) != (self.f.returns is None):
            raise self.refuse(node, f"a return that does not fit the annotation of '{self.node.name}'")
        e = None if node.value is None else self.as_kind(node, self.value(node.value), self.f.returns)
        yield Statement("return", [e])

    # ------------------------------------------------------------ records and arrays

    def path_or_none(self, node: ast.expr) -> Path | None:
        at = node
        while isinstance(at, ast.Attribute):
            at = at.value
        if not isinstance(at, ast.Name) or at.id not in self.f.aliases or (isinstance(node, ast.Attribute) and node.attr == "shape"):
            return None
        return self.path(node)

    def path(self, node: ast.expr) -> Path:
        names: list[str] = []
        at = node
        while isinstance(at, ast.Attribute):
            names.insert(0, at.attr)
            at = at.value
        if not isinstance(at, ast.Name) or at.id not in self.f.aliases:
            raise self.refuse(node, f"'{ast.unparse(node)}' is neither a record nor an array")
        kind, owner = self.f.aliases[at.id].kind, None
        for name in names:
            if not is_record(kind) or name not in fields_of(kind):
                raise self.refuse(node, f"'{getattr(kind, '__name__', kind)}' has no field '{name}'")
            owner, kind = kind, fields_of(kind)[name]
        return Path(at.id, tuple(names), kind, owner)

    def array(self, node: ast.expr) -> Path:
        path = self.path(node)
        if not is_array(path.kind):
            raise self.refuse(node, f"'{ast.unparse(node)}' is no array")
        return path

    def element(self, node: ast.Subscript) -> tuple[Path, list[Expression]]:
        path = self.array(node.value)
        at = [self.value(i) for i in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])]
        if len(at) != path.kind.axes or any(i.kind is not int for i in at):
            raise self.refuse(node, f"'{ast.unparse(node)}': a {path.kind.__name__} takes {path.kind.axes} whole numbers as index")
        return path, at

    # ------------------------------------------------------------ kinds

    def as_kind(self, node: ast.AST, e: Expression, kind: Any) -> Expression:
        if kind is float:
            e = floating(e)
        if e.kind is not kind:
            why = f"a {name_of(e.kind)} where a {name_of(kind)} is needed: write {name_of(kind)}(...), or 0.0 for a float that begins at 0"
            raise self.refuse(node, why)
        return e

    def truth(self, node: ast.expr) -> Expression:
        e = self.value(node)
        return e if e.kind is bool else Expression("truth", [e], bool)

    def numeric(self, node: ast.AST, *values: Expression) -> list[Expression]:
        """The values as floats if one of them is."""
        if any(v.kind not in (int, float) for v in values):
            raise self.refuse(node, f"'{ast.unparse(node)}' calculates with something that is not a number")
        return [floating(v) for v in values] if any(v.kind is float for v in values) else list(values)

    # ------------------------------------------------------------ expressions

    def value(self, node: ast.expr) -> Expression:
        handler = getattr(self, f"_e_{type(node).__name__}", None)
        if handler is None:
            raise self.refuse(node, f"the expression '{ast.unparse(node)}'")
        return handler(node)

    def _e_Constant(self, node: ast.Constant) -> Expression:
        if not isinstance(node.value, (bool, int, float)):
            raise self.refuse(node, f"the constant {node.value!r}")
        return Expression("const", [node.value], type(node.value))

    def _e_Name(self, node: ast.Name) -> Expression:
        name = node.id
        if name in self.f.variables:
            if self.counters.get(name) is False:
                raise self.refuse(node, f"'{name}' is read after the loop that counts it: keep what it needs in a variable of its own")
            return Expression("var", [name], self.f.variables[name])
        constant = self.globals.get(name)
        if isinstance(constant, (bool, int, float)):
            return Expression("const", [constant, name], type(constant))
        raise self.refuse(node, f"the name '{name}', which is not a number, a variable so far or a constant of the module")

    def _e_Attribute(self, node: ast.Attribute) -> Expression:
        if isinstance(node.value, ast.Name) and self.globals.get(node.value.id) is math and node.attr in ("inf", "pi", "e", "nan"):
            return Expression("const", [getattr(math, node.attr)], float)
        path = self.path(node)
        if not is_number(path.kind):
            raise self.refuse(node, f"'{ast.unparse(node)}' as a number")
        return Expression("word", [path], int) if path.kind is int else Expression("number", [path], CHANGING[path.kind])

    def _e_Subscript(self, node: ast.Subscript) -> Expression:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and isinstance(node.slice, ast.Constant):
            path, axis = self.array(node.value.value), int(str(node.slice.value))
            if path.kind.outside or axis >= path.kind.axes:
                raise self.refuse(node, f"'{ast.unparse(node)}': an array outside of records has no length here. Pass it as an argument")
            return Expression("length", [path, axis], int)
        path, at = self.element(node)
        return Expression("element", [path, at], path.kind.element)

    def _e_BinOp(self, node: ast.BinOp) -> Expression:
        op = _OPERATORS.get(type(node.op))
        if op is None:
            raise self.refuse(node, f"the operator in '{ast.unparse(node)}'")
        a, b = self.numeric(node, self.value(node.left), self.value(node.right))
        if op in ("/", "pow"):
            a, b = floating(a), floating(b)
        if op in WHOLE_ONLY and a.kind is float:
            raise self.refuse(node, f"'{op}' of floats")
        return Expression(op, [a, b], a.kind)

    def _e_UnaryOp(self, node: ast.UnaryOp) -> Expression:
        if isinstance(node.op, ast.Not):
            return Expression("not", [self.truth(node.operand)], bool)
        (a,) = self.numeric(node, self.value(node.operand))
        if not isinstance(node.op, ast.USub):
            raise self.refuse(node, f"the operator in '{ast.unparse(node)}'")
        if a.op == "const" and len(a.parts) == 1:
            return Expression("const", [-a.parts[0]], a.kind)
        return Expression("neg", [a], a.kind)

    def _e_Compare(self, node: ast.Compare) -> Expression:
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In) and isinstance(node.comparators[0], ast.Tuple):
            left = self.value(node.left)
            hits = [Expression("==", self.numeric(node, left, self.value(x)), bool) for x in node.comparators[0].elts]
            return hits[0] if len(hits) == 1 else Expression("or", hits, bool)
        values = [self.value(n) for n in (node.left, *node.comparators)]
        parts = []
        for op, a, b in zip(node.ops, values, values[1:], strict=False):
            if type(op) not in _COMPARISONS:
                raise self.refuse(node, f"the comparison '{ast.unparse(node)}'")
            parts.append(Expression(_COMPARISONS[type(op)], self.numeric(node, a, b), bool))
        if len(parts) > 1 and any(contains(v, "call", "run") for v in values[1:-1]):
            raise self.refuse(node, "a chain of comparisons with a call in the middle")
        return parts[0] if len(parts) == 1 else Expression("and", parts, bool)

    def _e_BoolOp(self, node: ast.BoolOp) -> Expression:
        return Expression("and" if isinstance(node.op, ast.And) else "or", [self.truth(v) for v in node.values], bool)

    def _e_IfExp(self, node: ast.IfExp) -> Expression:
        test, a, b = self.truth(node.test), self.value(node.body), self.value(node.orelse)
        if float in (a.kind, b.kind):
            a, b = self.numeric(node, a, b)
        if a.kind is not b.kind or a.kind is None:
            raise self.refuse(node, "a choice between different kinds")
        return Expression("choose", [test, a, b], a.kind)

    # ------------------------------------------------------------ calls

    def _e_Call(self, node: ast.Call) -> Expression:
        return self.call(node)

    def call(self, node: ast.Call, void: bool = False) -> Expression:
        if node.keywords:
            raise self.refuse(node, "arguments by name")
        if isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name) and self.globals.get(node.func.value.id) is math and node.func.attr in FUNCTIONS:
                return Expression(node.func.attr, [floating(self.value(node.args[0]))], float)
        elif isinstance(node.func, ast.Name):
            target = self.globals.get(node.func.id)
            if target is None and node.func.id in BUILTINS:
                return self.builtin(node, node.func.id)
            if target is records.run:
                path = self.path(node.args[0])
                if not is_kernel(path.kind):
                    raise self.refuse(node, f"'{ast.unparse(node.args[0])}' is no kernel")
                return Expression("run", [path], int)
            if target is records.copy and void:
                return self.copied(node)
            if isinstance(target, FunctionType):
                return self.called(node, target, void)
        allowed = f"loops call functions of the subset and {', '.join(BUILTINS)}, {', '.join(f'math.{x}' for x in FUNCTIONS)}"
        raise self.refuse(node, f"a call of '{ast.unparse(node.func)}': {allowed}")

    def builtin(self, node: ast.Call, name: str) -> Expression:
        if name == "len":
            path = self.array(node.args[0])
            if path.kind.outside:
                raise self.refuse(node, f"'{ast.unparse(node)}': an array outside of records has no length here. Pass it as an argument")
            return Expression("length", [path, 0], int)
        values = [self.value(a) for a in node.args]
        if name == "float":
            return self.as_kind(node, values[0], float)
        if name == "int":
            return values[0] if values[0].kind is int else Expression("int", values, int)
        values = self.numeric(node, *values)
        return Expression(name, values, values[0].kind)

    def copied(self, node: ast.Call) -> Expression:
        to, source = (self.array(a) for a in node.args)
        if not _alike(to.kind, source.kind) or to.kind.outside or to.kind.axes > 1 or not to.kind.own:
            raise self.refuse(node, f"'{ast.unparse(node)}': copy takes two arrays of one axis that each lane has of its own")
        return Expression("copy", [to, source], None)

    def called(self, node: ast.Call, target: FunctionType, void: bool) -> Expression:
        arguments, returns = signature_of(target)
        if len(arguments) != len(node.args):
            raise self.refuse(node, f"'{target.__name__}' takes {len(arguments)} arguments")
        if returns is None and not void:
            raise self.refuse(node, f"'{target.__name__}' returns nothing")
        args: list[Any] = []
        for (name, kind), a in zip(arguments, node.args, strict=True):
            if kind in NUMBERS:
                args.append(self.as_kind(a, self.value(a), kind))
                continue
            path = self.path(a)
            if path.kind is not kind and not (is_array(kind) and is_array(path.kind) and _alike(path.kind, kind)):
                raise self.refuse(a, f"'{ast.unparse(a)}' is a {name_of(path.kind)}, and '{name}' of '{target.__name__}' a {name_of(kind)}")
            args.append(path)
        self.unit.get(target)  # refuse what is wrong in it here
        return Expression("call", [target, *args], returns)


def _alike(given: type[Array[Any]], wanted: type[Array[Any]]) -> bool:
    return (given.element, given.axes, given.own, given.outside) == (wanted.element, wanted.axes, wanted.own, wanted.outside)


def floating(e: Expression) -> Expression:
    """Return a whole number as a float."""
    if e.kind is not int:
        return e
    if e.op == "const" and len(e.parts) == 1:
        return Expression("const", [float(e.parts[0])], float)
    return Expression("float", [e], float)


# ---------------------------------------------------------------- questions about trees


def blocks_of(s: Statement) -> list[list[Statement]]:
    """Return the blocks inside a statement."""
    return [p for p in s.parts if isinstance(p, list) and s.op in ("if", "while", "for")]


def expressions_of(s: Statement) -> Iterator[Expression]:
    """Yield the expressions of a statement itself, not those of blocks inside it."""
    for p in s.parts:
        if isinstance(p, Expression):
            yield p
        elif isinstance(p, list) and s.op == "store":
            yield from p


def walked(e: Any) -> Iterator[Expression]:
    """Yield an expression and all its parts."""
    if isinstance(e, Expression):
        yield e
        for p in e.parts:
            yield from walked(p)
    elif isinstance(e, list):
        for p in e:
            yield from walked(p)


def contains(e: Any, *ops: str) -> bool:
    """True if one of these operations is in an expression."""
    return any(x.op in ops for x in walked(e))


def leaves(body: list[Statement], what: tuple[str, ...]) -> bool:
    """True if a block may leave the loops around it (break, continue) or the function (return)."""
    for s in body:
        if s.op in what:
            return True
        inner = what if s.op == "if" else tuple(w for w in what if w == "return")
        if any(leaves(b, inner) for b in blocks_of(s)):
            return True
    return False


def nested(s: Statement) -> Statement:
    """A branch on `a and b`, where a is the same in all lanes, as a branch on b in one on a."""
    test, yes, _ = s.parts
    first, *rest = test.parts
    inner = rest[0] if len(rest) == 1 else Expression("and", rest, bool, varying=True)
    return Statement("if", [first, [Statement("if", [inner, yes, []], s.line, divergent=inner.varying)], []], s.line)


def ends(body: list[Statement]) -> bool:
    """True if a block always returns."""
    if not body:
        return False
    last = body[-1]
    if last.op == "if":
        return ends(last.parts[1]) and ends(last.parts[2])
    always = last.op == "while" and last.parts[0].op == "const" and last.parts[0].parts[0] is True
    return last.op == "return" or (always and not leaves(last.parts[1], ("break",)))
