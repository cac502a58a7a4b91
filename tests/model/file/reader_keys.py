"""Keys that the reader of the model file checks, found in its sources."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import linkwright.model.file as reader
from linkwright import elements
from linkwright.elements import ELEMENTS

Keys = tuple[frozenset[str], frozenset[str]]  # all of them, and those that are required


def checks() -> Iterator[tuple[str, Keys]]:
    """(place, keys) of every call `node.keys(what, allowed, required)` in the sources of the reader."""
    for path in sorted(Path(str(reader.__file__)).parent.glob("*.py")):
        module = vars(importlib.import_module(f"{reader.__name__}.{path.stem}")) if path.stem != "__init__" else {}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys" and len(node.args) > 1:
                if {"kind", "among"} & {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}:
                    continue  # elements by their contract: below
                given = [list(value(x.value, module)) if isinstance(x, ast.Starred) else [value(x, module)] for x in node.args[1:3]]
                allowed, required = (*(x for one in given for x in one), ())[:2]
                listed = [k for group in allowed.values() for k in group] if isinstance(allowed, Mapping) else allowed
                yield f"{path.name}:{node.lineno}", (frozenset(listed), frozenset(required))
    for kind in ELEMENTS:
        own = {"type"} if kind.type else set()
        if not kind.ways:
            yield f"element {kind.__name__}", (frozenset(elements.keys(kind)) | own, frozenset(elements.required(kind)))


def value(expression: ast.expr, module: dict[str, Any]) -> Any:
    return eval(compile(ast.fix_missing_locations(ast.Expression(expression)), "reader", "eval"), module)
