"""Sections and kinds of elements by name: outside of their own files, of importers and of writers, only what is special asks for them.

A place asks by name where it reads a field of a description (`d.springs`, `getattr(d, "springs")`, `replace(d, springs=...)`,
`sections["springs"]`) or compares a kind (`x.kind == "rod"`, `x.section == "rods"`). Whatever else wants to know something of an element
asks for a fact or a role.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import linkwright
from linkwright import elements

ROOT = Path(linkwright.__file__).parent
OWN = ("elements", "exchange")  # rooms: the elements' own files; importers make elements, writers know what they are elsewhere
# modules that may ask, for what and why
SPECIAL: dict[str, tuple[frozenset[str], str]] = {
    "description": (frozenset(elements.HELD), "one typed line a section, and what is special by name: cams, rigid stops, friction by load"),
    "holding_range": (frozenset({"frictions"}), "statics of dry friction"),
    "friction_rows": (frozenset({"frictions"}), "dry friction, whose bound follows from the load of its joint"),
    "run_derivatives": (frozenset({"frictions"}), "names friction that sticks in a refusal"),
    "cams": (frozenset({"cams", "springs", "frictions"}), "profile and contact of cams, and the preload that keeps it"),
    "scene_cams": (frozenset({"cams"}), "profile and contact of cams"),
    "page_motion": (frozenset({"cams"}), "contact of cams on the page"),
    "motion_channels": (frozenset({"cams", "cylinders", "belts"}), "contact of cams, hydraulics and belts on the page"),
    "kinematic": (frozenset({"cams"}), "lift and pressure angle of cams"),
    "loads": (frozenset({"cams", "belts"}), "contact force of cams, tension of belts"),
    "bearing_loads": (frozenset({"cams"}), "contact force of cams"),
    "coupling": (frozenset({"cams"}), "rows of cams"),
    "belts": (frozenset({"belts"}), "spans of belts"),
    "scene_belts": (frozenset({"belts"}), "spans of belts"),
    "cylinders": (frozenset({"cylinders"}), "hydraulics"),
    "pairs": (frozenset({"surfaces", "contacts", "clearances"}), "who may touch whom"),
    "linkage": (frozenset({"couplings"}), "a synthesized linkage is written as a model file"),
}
FIELDS = {*elements.HELD, *(x.section for x in elements.ELEMENTS)}
WORDS = {name for x in elements.ELEMENTS for name in (x.word, x.constraint, x.form) if name}
KINDS = {*FIELDS, *WORDS} - {"load", "loads"}  # which mean forces in bearings as well
ASKED = ("kind", "word", "section", "form", "constraint", "held_in")  # attributes of elements that say what they are
WAYS = ("getattr", "replace")
MAY_ASK = re.compile(rf"[.\"']({'|'.join(sorted(FIELDS | WORDS))})\b|replace\(.*\b({'|'.join(sorted(FIELDS))})=")
DESCRIBED = ("d", "desc", "description", "described", "numbers", "theirs", "ours", "in_symbols")  # how descriptions are called


def named(node: ast.AST) -> str:
    """The last name of an expression: `description` of `c.skel.tree.description`, `numbers` of `d.numbers()`."""
    if isinstance(node, ast.Call):
        return named(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def texts(node: ast.AST) -> set[str]:
    return {x.value for x in ast.walk(node) if isinstance(x, ast.Constant) and isinstance(x.value, str)}


def typed(nodes: Iterable[ast.AST]) -> set[str]:
    """Names of parameters and variables that are descriptions by their annotation or by what they are assigned."""
    found = set(DESCRIBED)
    for node in nodes:
        if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None and named(node.annotation) == "Description":
            found.add(node.arg if isinstance(node, ast.arg) else named(node.target))
        if isinstance(node, ast.Assign) and named(node.value) in DESCRIBED:
            found |= {named(x) for x in node.targets}
    return found - {""}


def asking(source: str) -> Iterator[tuple[int, str]]:
    """(line, name) of every place that asks by name."""
    if not MAY_ASK.search(source):  # most modules: no need to parse them
        return
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    descriptions = typed(nodes)
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in FIELDS and named(node.value) in descriptions:
            yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and node.args and named(node.args[0]) in descriptions and named(node.func) in WAYS:
            given = {x for argument in node.args[1:] for x in texts(argument)} | {x.arg for x in node.keywords if x.arg}
            yield from ((node.lineno, x) for x in sorted(given & FIELDS))
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value in KINDS & FIELDS:
            yield node.lineno, node.slice.value
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr in ASKED:
            yield from ((node.lineno, x) for c in node.comparators for x in sorted(texts(c) & KINDS))


def test_nothing_else_asks_for_elements_by_name():
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).parts
        allowed, _ = SPECIAL.get(path.stem, (frozenset(), ""))
        if not set(parts) & set(OWN):
            places = asking(path.read_text(encoding="utf-8"))
            found += [f"{'/'.join(parts)}:{line}: {name}" for line, name in places if name not in allowed]
    assert found == []


def test_no_exception_is_out_of_date():
    """Every module of the list still asks for everything that it may ask for."""
    asked: dict[str, set[str]] = {}
    for path in ROOT.rglob("*.py"):
        if path.stem in SPECIAL and not set(path.relative_to(ROOT).parts) & set(OWN):
            asked.setdefault(path.stem, set()).update(name for _, name in asking(path.read_text(encoding="utf-8")))
    assert [(m, name) for m, (names, _) in SPECIAL.items() for name in names - asked.get(m, set()) if m != "description"] == []


@pytest.mark.parametrize(
    "line",
    ["d.springs", "self.system.description.numbers().loads", 'getattr(d, "stops")', "replace(d, rods=())", 'acting["gears"]',
     'x.kind == "rod"', 'x.section in ("gears", "belts")', "def f(it: Description): return it.bushings"],
)  # fmt: skip
def test_asking_is_seen(line):
    assert list(asking(line))
