"""Grammar of the model file (docs/reference/model-grammar.md) against the reader.

Every check of keys there has a rule, every rule a check.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from linkwright import elements, model
from linkwright.elements import ELEMENTS
from linkwright.joints import JOINTS
from linkwright.model.curves.laws import LAWS
from linkwright.model.curves.tables import INTERPOLATIONS
from linkwright.model.file.inertia import DENSITIES
from tests import ROOT

Keys = tuple[frozenset[str], frozenset[str]]  # all of them, and those that are required
TEXT = (ROOT / "docs" / "reference" / "model-grammar.md").read_text(encoding="utf-8")
RULE = re.compile(r"^(\w+) += (.*(?:\n +.*)*)", re.MULTILINE)
KEY = re.compile(r"(?<![\w-])(\w+)(\??): ")


def rules() -> dict[str, str]:
    block = "\n".join(re.findall(r"^```text\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
    found = RULE.findall(block)
    assert len({name for name, _ in found}) == len(found)
    return {name: " ".join(text.split()) for name, text in found}


def keys(text: str) -> Keys:
    """The keys of a rule in braces; `{A-B: length}` inside one is an example of a value."""
    found = KEY.findall(re.sub(r"\{A-B: [^}]*\}", "", text))
    assert len({key for key, _ in found}) == len(found), text
    return frozenset(k for k, _ in found), frozenset(k for k, optional in found if not optional)


def written() -> set[Keys]:
    """Keys of all rules; a rule with alternatives has those of all of them, and requires none."""
    given = rules()
    records = {name: keys(text) for name, text in given.items() if text.startswith("{")}
    unions = [text.split(" | ") for text in given.values() if not text.startswith("{")]
    none: frozenset[str] = frozenset()
    together = {(none.union(*(records[p][0] for p in parts)), none) for parts in unions if all(p in records for p in parts)}
    return {*records.values(), *together}


def checks() -> Iterator[tuple[str, Keys]]:
    """(place, keys) of every call `node.keys(what, allowed, required)` in the sources of the model."""
    package = Path(str(model.__file__)).parent
    for path in sorted([*package.glob("*.py"), *package.glob("file/*.py")]):
        name = ".".join((model.__name__, *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")
        module = vars(importlib.import_module(name))
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


def test_every_key_of_the_reader_has_its_rule() -> None:
    found = dict(checks())
    assert len(found) > 30
    missing = {where: sorted(k) for where, k in found.items() if k not in written()}
    assert not missing, "docs/reference/model-grammar.md has no rule with just these keys (with ? where they are optional)"


def test_every_rule_is_read() -> None:
    found = {k for _, k in checks()}
    stale = [name for name, text in rules().items() if text.startswith("{") and keys(text) not in found]
    assert not stale, "the reader has no such keys"


def test_lists_of_names() -> None:
    given = rules()
    types = given["type"].split(" | ")
    assert set(types) == set(JOINTS)
    assert [JOINTS[k].in_plane for k in types] == [True] * 5 + [False] * 6  # as the page says of those from `cylindrical` on
    assert given["law"].split(" | ") == list(LAWS)
    assert set(given["interpolation"].split(" | ")) == set(INTERPOLATIONS)
    (materials,) = re.findall(r"Materials: (.*)\.", TEXT)
    assert set(materials.split(", ")) == set(DENSITIES) - {"aluminium"}


def test_generated_lines_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("make_grammar", ROOT / "docs" / "make" / "make_grammar.py")
    assert spec is not None and spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "docs" / "make"))
    try:
        spec.loader.exec_module(make)
    finally:
        sys.path.remove(str(ROOT / "docs" / "make"))
    assert make.renewed(TEXT, make.TABLES) == TEXT, "run python docs/make/make_grammar.py"


def test_one_page() -> None:
    by_hand = re.sub(r"<!-- table: .*?<!-- end -->", "", TEXT, flags=re.DOTALL)  # rules of elements grow with the elements
    assert len(by_hand.splitlines()) < 110
