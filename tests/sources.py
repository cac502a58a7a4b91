"""Source files as the tests of sizes and names read them: each is parsed once."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests import ROOT

PACKAGE = ROOT / "src" / "linkwright"


@dataclass(frozen=True)
class Source:
    """Facts of a Python file."""

    described: bool  # has a docstring, or is empty
    functions: list[tuple[int, str, int]]  # line, name, number of lines
    docstrings: list[str]
    repeated: list[str]  # names that the module defines more than once


@cache
def python_files(*folders: str) -> list[Path]:
    """Return the Python files of these folders of the repository, in order of their paths."""
    return sorted(p for folder in folders for p in (ROOT / folder).rglob("*.py"))


@cache
def source(path: Path) -> Source:
    """Read a file. The tree is not cached, because with many trees Python's collector takes longer than the parser."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return Source(
        described=not tree.body or ast.get_docstring(tree) is not None,
        functions=[(node.lineno, node.name, (node.end_lineno or node.lineno) - node.lineno + 1) for node in defined],
        docstrings=[x for node in (tree, *defined, *classes) if (x := ast.get_docstring(node))],
        repeated=repeated(tree),
    )


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
