"""Places in Python sources at which a small fault can be made, found in the syntax tree."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.sources import PACKAGE


@dataclass(frozen=True)
class Fault:
    """One change of one file: the text between two offsets becomes another."""

    path: str  # below src/linkwright
    line: int
    kind: str
    start: int  # offsets into the text of the file
    end: int
    old: str
    new: str
    inside: str = ""  # name of the function, "Class.method", or empty

    def applied(self, text: str) -> str:
        """Return the text with the fault; it must be the text that the fault was found in."""
        assert text[self.start : self.end] == self.old, f"{self.path} has changed since its faults were found"
        return text[: self.start] + self.new + text[self.end :]

    def __str__(self) -> str:
        return f"{self.kind}: {_short(self.old)} -> {_short(self.new)}"


def _short(text: str, most: int = 48) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 3] + "..."


COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", ">"), ast.Gt: (">", "<"), ast.LtE: ("<=", ">="), ast.GtE: (">=", "<="), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
}  # fmt: skip
EDGES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.Gt: (">", ">="), ast.LtE: ("<=", "<"), ast.GtE: (">=", ">"),
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.Pow: ("**", "*"), ast.FloorDiv: ("//", "/"),
}  # fmt: skip
PARTNERS = {
    "min": "max", "max": "min", "sin": "cos", "cos": "sin", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor",
    "argmin": "argmax", "argmax": "argmin", "minimum": "maximum", "maximum": "minimum", "hstack": "vstack", "vstack": "hstack",
    "append": "count", "sorted": "list", "rstrip": "lstrip", "startswith": "endswith", "endswith": "startswith", "sinh": "cosh",
}  # fmt: skip
SMALL = 1e-3  # below it a constant is a tolerance, whose fault is a factor of thousand
NUMERIC = {"float", "int", "complex", "np.ndarray", "Scalar", "Array", "NDArray", "np.float64"}


def python_faults(path: Path, root: Path = PACKAGE) -> list[Fault]:
    """Return all faults of a Python file, in the order of their places."""
    text = path.read_text(encoding="utf-8")
    finder = _Finder(text, path.relative_to(root).as_posix())
    finder.visit(ast.parse(text))
    return sorted(finder.found, key=lambda f: (f.start, f.end, f.kind, f.new))


class _Finder(ast.NodeVisitor):
    def __init__(self, text: str, name: str) -> None:
        self.text, self.name, self.found = text, name, list[Fault]()
        self.lines = [0]
        for line in text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.plain = text.isascii()
        self.scope: list[str] = []
        self.returns: list[ast.expr | None] = []

    # positions

    def at(self, line: int, column: int) -> int:
        """Offset of a position of the tree; columns there are bytes."""
        start = self.lines[line - 1]
        if self.plain:
            return start + column
        return start + len(self.text[start : self.lines[line]].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt | ast.arg) -> tuple[int, int]:
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno or 0, node.end_col_offset or 0)

    def add(self, kind: str, start: int, end: int, new: str) -> None:
        line = bisect_right(self.lines, start)
        self.found.append(Fault(self.name, line, kind, start, end, self.text[start:end], new, ".".join(self.scope)))

    def replace(self, kind: str, node: ast.expr | ast.stmt, new: Callable[[str], str]) -> None:
        start, end = self.span(node)
        self.add(kind, start, end, new(self.text[start:end]))

    def between(self, kind: str, left: ast.expr, right: ast.expr, old: str, new: str) -> None:
        """Replace an operator between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        at = self.text.find(old, start, end)
        if at >= 0 and "#" not in self.text[start:end]:
            self.add(kind, at, at + len(old), new)

    # what is left out

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts alone: positions inside of them are not exact before Python 3.12, and messages are no behavior."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.dump(node.test):
            return
        if not node.orelse and len(node.body) == 1 and isinstance(node.body[0], ast.Raise | ast.Return | ast.Continue | ast.Break):
            self.replace("guard removed", node.test, lambda old: "False")
        elif not _constant(node.test):
            self.replace("condition negated", node.test, lambda old: f"not ({old})")
        self.generic_visit(node)

    # scopes

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.append(node.name)
        for inner in node.body:
            self.visit(inner)
        self.scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.function(node)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.scope.append(node.name)
        self.returns.append(node.returns)
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self.constant("default changed", default)
        for inner in node.body:
            self.visit(inner)
        self.returns.pop()
        self.scope.pop()

    # faults

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
            self.between("comparison turned", left, right, *COMPARISONS[type(op)])
            if type(op) in EDGES and (_whole(left) or _whole(right)):
                self.between("off by one", left, right, *EDGES[type(op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between("and/or", left, right, old, new)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC and not _text(node.left) and not _text(node.right):
            self.between("operator", node.left, node.right, *ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in ARITHMETIC:
            self.between("operator", node.target, node.value, *ARITHMETIC[type(node.op)])
        self.dropped(node)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            self.replace("sign", node, lambda old: "+" + old[1:])
        elif isinstance(node.op, ast.Not):
            self.replace("not removed", node, lambda old: f"bool({old[3:].strip()})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        self.constant("constant", node)

    def constant(self, kind: str, node: ast.expr) -> None:
        if not isinstance(node, ast.Constant):
            return
        value = node.value
        if isinstance(value, bool):
            self.replace(kind, node, lambda old: str(not value))
        elif isinstance(value, int):
            self.replace(kind, node, lambda old: str(value + 1))
        elif isinstance(value, float):
            self.replace(kind, node, lambda old: other_number(value))

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func
        if isinstance(name, ast.Name) and name.id in PARTNERS:
            self.replace("partner", name, lambda old: PARTNERS[old])
        elif isinstance(name, ast.Attribute) and name.attr in PARTNERS:
            end = self.span(name)[1]
            self.add("partner", end - len(name.attr), end, PARTNERS[name.attr])
        if isinstance(name, ast.Name) and name.id == "range" and node.args and not node.keywords:
            self.replace("off by one", node.args[min(1, len(node.args) - 1)], lambda old: f"({old}) - 1")
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper):
            if bound is not None:
                self.replace("off by one", bound, lambda old: f"({old}) + 1")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.replace("condition negated", node.test, lambda old: f"not ({old})")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.dropped(node)
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if all(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets):
            self.dropped(node)
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.dropped(node)
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self.dropped(node)

    def visit_Break(self, node: ast.Break) -> None:
        self.dropped(node)

    def dropped(self, node: ast.stmt) -> None:
        if self.scope:
            self.replace("statement dropped", node, lambda old: "pass")

    def visit_Return(self, node: ast.Return) -> None:
        kind = ast.unparse(annotation) if self.returns and (annotation := self.returns[-1]) is not None else ""
        if node.value is not None and not _constant(node.value):
            if kind == "bool":
                self.replace("result negated", node.value, lambda old: f"not ({old})")
            elif kind in NUMERIC:
                self.replace("result negated", node.value, lambda old: f"-({old})")
        self.generic_visit(node)


def other_number(value: float) -> str:
    """Return the number that a constant becomes: twice as large, or a thousand times if it is a tolerance."""
    return repr(float(f"{value * (1000.0 if 0 < abs(value) < SMALL else 2.0):.15g}") if value else 1.0)


def _constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _whole(node: ast.expr) -> bool:
    """True for a whole number or a length, whose neighbor matters."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and not isinstance(node.value, bool)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
