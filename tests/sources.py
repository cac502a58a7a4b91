"""Source files as the tests of texts and sizes read them: each is parsed once, and what is asked of it is gathered in one pass."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests import ROOT

PACKAGE = ROOT / "src" / "linkwright"
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENTED = ast.Module | ast.ClassDef | FUNCTION
IDENTIFIERS = ("id", "attr", "arg", "name", "asname", "rest")  # fields of nodes that hold one; a keyword without a name has None


@dataclass(frozen=True)
class Source:
    """What a Python file says; every entry with its line."""

    described: bool  # has a docstring of its own, or is empty
    docstrings: list[tuple[int, str]] = field(default_factory=list)
    sentences: list[tuple[int, str]] = field(default_factory=list)  # strings with a space that are no docstrings
    comments: list[tuple[int, str]] = field(default_factory=list)  # whatever follows a '#', also inside of a string
    identifiers: set[tuple[int, str]] = field(default_factory=set)
    functions: list[tuple[int, str, int]] = field(default_factory=list)  # line, name, how many lines
    classes: list[tuple[int, str]] = field(default_factory=list)  # of the module itself
    repeated: list[str] = field(default_factory=list)  # names that the module defines more than once


@cache
def python_files(*folders: str) -> list[Path]:
    """Return the Python files of these folders of the repository, in order of their paths."""
    return sorted(p for folder in folders for p in (ROOT / folder).rglob("*.py"))


@cache
def source(path: Path) -> Source:
    """Read a file. The tree is not retained: with many of them Python's collector takes longer than the parser."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    found = Source(described=not tree.body or ast.get_docstring(tree) is not None)
    found.comments.extend((n, m.group(0)) for n, line in enumerate(text.splitlines(), 1) if (m := re.search("#.*", line)))
    found.repeated.extend(repeated(tree))
    found.classes.extend((node.lineno, node.name) for node in tree.body if isinstance(node, ast.ClassDef))
    documented = set()
    for node in ast.walk(tree):
        _gather(node, found, documented)
    return found


def repeated(tree: ast.Module) -> list[str]:
    """Names that a module assigns or defines more than once."""
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [x.id for target in targets for x in ast.walk(target) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not any("overload" in ast.unparse(d) for d in node.decorator_list):
            names.append(node.name)
    return sorted(name for name, count in Counter(names).items() if count > 1 and name != "_")


def _gather(node: ast.AST, found: Source, documented: set[int]) -> None:
    if isinstance(node, DOCUMENTED) and node.body and isinstance(node.body[0], ast.Expr):
        first = node.body[0].value
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            documented.add(id(first))  # met after the node it documents
            found.docstrings.append((first.lineno, first.value))
    if isinstance(node, FUNCTION):
        found.functions.append((node.lineno, node.name, (node.end_lineno or node.lineno) - node.lineno + 1))
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and " " in node.value and id(node) not in documented:
            found.sentences.append((node.lineno, node.value))
        return
    for name in IDENTIFIERS:
        value = getattr(node, name, None)
        if isinstance(value, str):
            found.identifiers.add((getattr(node, "lineno", 1), value))
