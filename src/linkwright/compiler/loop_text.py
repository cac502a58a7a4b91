"""Loops as readable text: what C99 and JavaScript have in common. One function each, variables where they are first needed.

The arithmetic is that of the Python text, operation by operation. Products are not fused into sums, which machine code of kernels does, so
results of the two agree to round-off and not to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linkwright.compiler.loop_tree import Expression, Function, Path, Statement, Unit, blocks_of, contains, expressions_of, walked
from linkwright.compiler.records import LoopError, fields_of, is_array, is_record

PRECEDENCE = {"or": 1, "and": 2, "==": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6}
TIGHT = 9  # binds more than any operator of two
ONE_LINE = 110  # columns of an `if` or `for` with its only statement
TWICE = 40  # letters of two operands that are written twice rather than handed to a function


class Text:
    """Functions as text of one language; subclasses say how it is written."""

    equal, different, counter, indent = "==", "!=", "int", "  "
    reserved: frozenset[str] = frozenset()

    def __init__(self, functions: Sequence[Callable[..., Any]], prefix: str):
        self.prefix = prefix
        self.unit = Unit(functions[0])
        self.main = [self.unit.get(f) for f in functions]
        self.constants: dict[str, Any] = {}
        self.helpers: set[str] = set()
        self.done: dict[str, str] = {}

    # ------------------------------------------------------------ functions

    def functions(self) -> str:
        """All functions, each after those it calls."""
        for f in self.main:
            self.function(f)
        return "\n\n".join(self.done.values()) + "\n"

    def function(self, f: Function) -> None:
        if f.name in self.done:
            return
        for e in _expressions(f.body):
            if e.op == "call":
                self.function(self.unit.get(e.parts[0]))
        self.f, self.declared, self.late = f, {name for name, _ in f.arguments}, _declarations(f)
        lines = [*self.beginning([v for v, at in self.late.items() if at is None]), *self.block(f.body)]
        self.done[f.name] = self.whole(self.head(f), [self.indent + x for x in [*self.unused(f, lines), *lines]])

    def name(self, text: str) -> str:
        """A variable or field under a name that the language allows."""
        return f"{text}_" if text in self.reserved else text

    # ------------------------------------------------------------ statements

    def block(self, body: list[Statement]) -> list[str]:
        for s in body:
            self.judge(s)
        return [line for s in body for line in getattr(self, f"_s_{s.op}")(s)]

    def inner(self, body: list[Statement]) -> list[str]:
        return [self.indent + x for x in self.block(body)]

    def _s_alias(self, s: Statement) -> list[str]:
        return [self.alias(*s.parts)]

    def _s_assign(self, s: Statement) -> list[str]:
        name, e = s.parts
        if self.late.get(name) is s:
            return [f"{self.declaration(name)} = {self.text(e)};"]
        return [f"{self.changed(self.name(name), e, lambda a: a.op == 'var' and a.parts[0] == name)};"]

    def _s_store(self, s: Statement) -> list[str]:
        path, at, e = s.parts
        place = self.element(path, at)
        return [f"{self.changed(place, e, lambda a: a.op == 'element' and self.text(a) == place)};"]

    def _s_put(self, s: Statement) -> list[str]:
        path, e = s.parts
        place = self.field(path)
        return [f"{self.changed(place, e, lambda a: a.op == 'number' and self.field(a.parts[0]) == place)};"]

    def changed(self, place: str, e: Expression, itself: Callable[[Expression], bool]) -> str:
        """An assignment; `x += y` where x is its own first operand."""
        if e.op in ("+", "-", "*", "/") and itself(e.parts[0]):
            return f"{place} {e.op}= {self.text(e.parts[1])}"
        return f"{place} = {self.text(e)}"

    def _s_do(self, s: Statement) -> list[str]:
        if s.parts[0].op == "copy":
            to, source = s.parts[0].parts
            at = Expression("var", ["k"], int)
            head = f"for ({self.counter} k = 0; k < {self.length(to, 0)}; k++)"
            return [f"{head} {self.indexed(to, 'k', at)} = {self.indexed(source, 'k', at)};"]
        return [f"{self.text(s.parts[0])};"]

    def _s_if(self, s: Statement) -> list[str]:
        test, yes, no = s.parts
        head, body = f"if ({self.text(test)}) {{", self.inner(yes)
        if not no and len(body) == 1 and len(head) + len(body[0]) < ONE_LINE:
            return [f"{head[:-2]} {body[0].strip()}"]
        while len(no) == 1 and no[0].op == "if":
            test, yes, no = no[0].parts
            body += [f"}} else if ({self.text(test)}) {{", *self.inner(yes)]
        return [head, *body, *(["} else {", *self.inner(no)] if no else []), "}"]

    def _s_while(self, s: Statement) -> list[str]:
        return [f"while ({self.text(s.parts[0])}) {{", *self.inner(s.parts[1]), "}"]

    def _s_for(self, s: Statement) -> list[str]:
        name, first, last, body, step = s.parts
        name = self.name(name)
        change = f"{name}++" if step == 1 else f"{name}--" if step == -1 else f"{name} += {step}"
        head = f"for ({self.counter} {name} = {self.text(first)}; {name} {'<' if step > 0 else '>'} {self.text(last, 4)}; {change})"
        lines = self.inner(body)
        if len(lines) == 1 and len(head) + len(lines[0]) < ONE_LINE:
            return [f"{head} {lines[0].strip()}"]
        return [f"{head} {{", *lines, "}"]

    def _s_break(self, s: Statement) -> list[str]:
        return ["break;"]

    def _s_continue(self, s: Statement) -> list[str]:
        return ["continue;"]

    def _s_return(self, s: Statement) -> list[str]:
        return [f"return {self.text(s.parts[0])};" if s.parts[0] is not None else "return;"]

    # ------------------------------------------------------------ records and arrays

    def definition(self, path: Path) -> Path:
        """The path that an array or record has as field of a record, or the argument it is."""
        first = self.f.aliases[path.root]
        return path if path.names or first.root == path.root else self.definition(first)

    def is_argument(self, path: Path) -> bool:
        return not path.names and self.f.aliases[path.root].root == path.root

    def element(self, path: Path, at: list[Expression]) -> str:
        if len(at) == 1:
            return self.indexed(path, self.text(at[0]), at[0])
        columns = f"{self.name(path.root)}_width" if path.kind.outside else self.length(path, 1)
        return self.indexed(path, f"{self.text(at[0], 6)} * {columns} + {self.text(at[1], 6)}", at[1])

    def indexed(self, path: Path, at: str, last: Expression) -> str:
        return f"{self.path(path)}[{at}]"

    # ------------------------------------------------------------ expressions

    def text(self, e: Expression, around: int = 0) -> str:
        if e.op in PRECEDENCE:
            return self.operator(e, around)
        handler = getattr(self, f"_e_{e.op}", None)
        if handler is not None:
            return handler(e)
        return self.builtin(e.op, [self.text(p) for p in e.parts], e)

    def operator(self, e: Expression, around: int) -> str:
        binds = PRECEDENCE[e.op]
        sign = {"and": "&&", "or": "||", "==": self.equal, "!=": self.different}.get(e.op, e.op)
        parts = [self.text(x, binds + (k > 0 and e.op not in ("and", "or"))) for k, x in enumerate(e.parts)]
        if e.op == "or":  # compilers ask for these
            parts = [f"({t})" if x.op == "and" else t for x, t in zip(e.parts, parts, strict=True)]
        out = f" {sign} ".join(parts)
        return f"({out})" if binds < around else out

    def _e_const(self, e: Expression) -> str:
        if len(e.parts) > 1:
            known = self.constants.setdefault(e.parts[1], e.parts[0])
            if known != e.parts[0]:
                raise LoopError(f"{e.parts[1]} is {known!r} in one module and {e.parts[0]!r} in another. Give them different names.")
            return self.constant(e.parts[1])
        return self.number(e.parts[0], e.kind)

    def _e_var(self, e: Expression) -> str:
        return self.name(e.parts[0])

    def _e_element(self, e: Expression) -> str:
        return self.element(*e.parts)

    def _e_length(self, e: Expression) -> str:
        return self.length(*e.parts)

    def _e_number(self, e: Expression) -> str:
        return self.field(e.parts[0])

    def _e_not(self, e: Expression) -> str:
        return f"!{self.text(e.parts[0], TIGHT)}"

    def _e_neg(self, e: Expression) -> str:
        inner = self.text(e.parts[0], TIGHT)
        return f"-({inner})" if inner.startswith("-") else f"-{inner}"

    def _e_choose(self, e: Expression) -> str:
        test, a, b = (self.text(p, 1) for p in e.parts)
        return f"({test} ? {a} : {b})"

    def _e_call(self, e: Expression) -> str:
        target, *args = e.parts
        callee = self.unit.get(target)
        pairs = zip(args, callee.arguments, strict=True)
        given = [self.text(a) if isinstance(a, Expression) else self.argument(a, kind) for a, (_, kind) in pairs]
        return f"{self.prefix}{callee.name}({', '.join(given)})"

    def _e_truth(self, e: Expression) -> str:
        kind = e.parts[0].kind
        return f"({self.text(e.parts[0], 3)} {self.different} {self.number(kind(), kind)})"

    def _bits(self, e: Expression) -> str:
        return f"({self.text(e.parts[0], TIGHT)} {e.op} {self.text(e.parts[1], TIGHT)})"

    def _extreme(self, e: Expression) -> str:
        out, sign = self.text(e.parts[0], TIGHT), "<" if e.op == "min" else ">"
        for other in e.parts[1:]:
            b = self.text(other, TIGHT)
            if not contains(e, "call", "run") and len(b) + len(out) < TWICE:
                out = f"({b} {sign} {out} ? {b} : {out})"
            else:
                out = f"{self.helper(f'{e.op}_of', e.kind)}({out}, {b})"
        return out

    def helper(self, name: str, kind: Any) -> str:
        """A small function that goes before the others."""
        full = f"{name}_whole" if kind is int and name.startswith("m") else name
        self.helpers.add(full)
        return self.prefix + full

    def builtin(self, op: str, v: list[str], e: Expression) -> str:
        if op in ("&", "|"):
            return self._bits(e)
        if op in ("min", "max"):
            return self._extreme(e)
        if op == "%":
            return f"{self.helper('remainder', int)}({', '.join(v)})"
        return self.function_of(op, v, e)

    # ------------------------------------------------------------ what languages differ in

    def whole(self, head: str, lines: list[str]) -> str:
        raise NotImplementedError

    def head(self, f: Function) -> str:
        raise NotImplementedError

    def judge(self, s: Statement) -> None:
        """Refuse what the language would do in another order."""

    def unused(self, f: Function, lines: list[str]) -> list[str]:
        """Statements that keep compilers from complaining about arguments that are not used."""
        return []

    def beginning(self, names: list[str]) -> list[str]:
        raise NotImplementedError

    def declaration(self, name: str) -> str:
        raise NotImplementedError

    def alias(self, name: str, path: Path) -> str:
        raise NotImplementedError

    def path(self, path: Path) -> str:
        raise NotImplementedError

    def field(self, path: Path) -> str:
        raise NotImplementedError

    def length(self, path: Path, axis: int) -> str:
        raise NotImplementedError

    def argument(self, path: Path, kind: Any) -> str:
        raise NotImplementedError

    def constant(self, name: str) -> str:
        raise NotImplementedError

    def number(self, value: Any, kind: Any) -> str:
        raise NotImplementedError

    def function_of(self, op: str, v: list[str], e: Expression) -> str:
        raise NotImplementedError


def _expressions(body: list[Statement]) -> Any:
    for s in body:
        for e in expressions_of(s):
            yield from walked(e)
        for b in blocks_of(s):
            yield from _expressions(b)


def _mentions(s: Statement, name: str) -> bool:
    """True if a variable occurs in a statement or in a block inside it."""
    if s.op == "assign" and s.parts[0] == name:
        return True
    if any(x.op == "var" and x.parts[0] == name for e in expressions_of(s) for x in walked(e)):
        return True
    return any(_mentions(t, name) for b in blocks_of(s) for t in b)


def _declarations(f: Function) -> dict[str, Statement | None]:
    """The assignment at which each variable is declared; None: at the beginning, as a value may come from an earlier turn of a loop."""
    counters = {s.parts[0] for s in _statements(f.body) if s.op == "for"}
    given = {name for name, _ in f.arguments}
    return {name: _first(f.body, name) for name in f.variables if name not in counters and name not in given}


def _statements(body: list[Statement]) -> Any:
    for s in body:
        yield s
        for b in blocks_of(s):
            yield from _statements(b)


def _first(body: list[Statement], name: str) -> Statement | None:
    at = [s for s in body if _mentions(s, name)]
    if not at:
        return None
    first = at[0]
    if first.op == "assign" and first.parts[0] == name and not any(x.op == "var" and x.parts[0] == name for x in walked(first.parts[1])):
        return first
    inside = [b for b in blocks_of(first) if any(_mentions(s, name) for s in b)]
    own = any(x.op == "var" and x.parts[0] == name for e in expressions_of(first) for x in walked(e))
    return _first(inside[0], name) if len(at) == 1 and len(inside) == 1 and not own else None


def changes(unit: Unit, f: Function) -> bool:
    """Return True if a function writes anything but its own variables, itself or by a call."""
    if any(s.op in ("store", "put") for s in _statements(f.body)):
        return True
    return any(e.op in ("run", "copy") or (e.op == "call" and changes(unit, unit.get(e.parts[0]))) for e in _expressions(f.body))


def stored(unit: Unit, f: Function, name: str) -> bool:
    """Return True if a function writes to an array that is its argument."""
    for s in _statements(f.body):
        if s.op == "store" and f.resolved(s.parts[0]) == (name,):
            return True
    for e in _expressions(f.body):
        if e.op == "copy" and f.resolved(e.parts[0]) == (name,):
            return True
        if e.op != "call":
            continue
        callee = unit.get(e.parts[0])
        for a, (parameter, kind) in zip(e.parts[1:], callee.arguments, strict=True):
            if isinstance(a, Path) and is_array(kind) and f.resolved(a) == (name,) and stored(unit, callee, parameter):
                return True
    return False


def records_of(record: Any, found: list[Any] | None = None) -> list[Any]:
    """Return the records in a record and itself, each after those it consists of."""
    found = [] if found is None else found
    if record not in found:
        for kind in fields_of(record).values():
            if is_record(kind):
                records_of(kind, found)
        found.append(record)
    return found


