"""`repeat`: legs, stages and other regular parts written once.

    repeat: {i: 1..N, drawing: {"A{i}": [i*0.1, 0]}, bodies: {"link{i}": {pins: ["A{i}", "A{i+1}"]}}}

The block is written out for every value of its index before anything else is read: `{i}`, `{i+1}`
in names become whole numbers, and `i` by itself is a number in expressions.
"""

from __future__ import annotations

import itertools
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from linkwright import elements
from linkwright.errors import ModelError
from linkwright.model.file.reading_context import IDENTIFIER, RESERVED, Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.quantities import QuantityAlgebra, numeric, read_quantity

SECTIONS = (
    "drawing", "bodies", "joints", *elements.SECTIONS, "masses", "drive", "start", "guess", "cuts",
)  # fmt: skip
MOST_COPIES = 5_000
MOST_NODES = 500_000
MOST_WRITTEN = 8  # models whose copies are at hand
Block = tuple[FileNode, tuple[str, ...], list[range]]  # with its indices and their ranges
# by the repeat's node: the sections before, the ranges, the sections written out, and the node, so that no id is used twice
_written: OrderedDict[int, tuple[dict[str, FileNode], list[list[range]], dict[str, FileNode], FileNode]] = OrderedDict()
BRACES = re.compile(r"\{([^{}]*)\}")


def expand(context: Context, keys: dict[str, FileNode]) -> dict[str, FileNode]:
    """The model's sections with every repeat block written out."""
    node = keys.get("repeat")
    if node is None or node.text == "":
        return keys
    blocks = []
    for block in node.items if node.items is not None else (node,):
        entries = block.mapping("repeat")
        indices = {k: v for k, v in entries.items() if k not in SECTIONS}
        if not indices:
            raise block.error("repeat needs an index and its range, e.g. `i: 1..N`.", name="i")
        blocks.append((block, tuple(indices), [_range(context, name, entry) for name, entry in indices.items()]))
    return dict(_written_out(node, {k: v for k, v in keys.items() if k != "repeat"}, blocks))


def _written_out(node: FileNode, keys: dict[str, FileNode], blocks: list[Block]) -> dict[str, FileNode]:
    """The sections with all copies; the same nodes again where a model is read again with the same ranges."""
    ranges = [x for _, _, x in blocks]
    before = _written.pop(id(node), None)
    if before is None or before[1] != ranges or [*map(id, before[0].values())] != [*map(id, keys.values())]:
        before = (keys, ranges, _copied(keys, blocks), node)
    _written[id(node)] = before
    if len(_written) > MOST_WRITTEN:
        _written.popitem(last=False)
    return before[2]


def _copied(keys: dict[str, FileNode], blocks: list[Block]) -> dict[str, FileNode]:
    result = dict(keys)
    budget = [MOST_NODES]
    own: set[int] = set()  # mappings made here, which may grow
    for block, indices, ranges in blocks:
        entries = block.mapping("repeat")
        copies = 1
        for numbers in ranges:
            copies *= len(numbers)
        if copies > MOST_COPIES:
            raise block.error(f"repeat makes {copies} copies. At most {MOST_COPIES} are made. Make the range smaller.")
        for values in itertools.product(*ranges):
            scope = dict(zip(indices, values, strict=True))
            for section in (k for k in entries if k in SECTIONS):
                copy = _substitute(entries[section], scope, budget)
                result[section] = _merge(result[section], copy, section, own) if section in result else copy
    return result


def _range(context: Context, name: str, node: FileNode) -> range:
    if not IDENTIFIER.match(name) or name in RESERVED or name in context.parameters:
        raise node.error(
            f"repeat: '{name}' is neither a section nor usable as an index. Sections: {', '.join(SECTIONS)}. An index is a short new "
            "name such as i.",
            name=name,
            allowed=SECTIONS,
        )
    first, dots, last = node.string(f"repeat: {name}").partition("..")
    if not dots:
        raise node.error(f"repeat: the range of {name} is written first..last, e.g. `{name}: 1..N`, not '{node.text}'.", value=node.text)
    return range(_whole(context, first, node), _whole(context, last, node) + 1)


def _whole(context: Context, text: str, node: FileNode) -> int:
    quantity = read_quantity(replace(node, text=text), QuantityAlgebra(context.units, context.algebra.names))
    value = numeric(quantity.value, context.env, node)
    if value != round(value) or abs(value) > 1e9:
        raise node.error(f"repeat: the bound '{text.strip()}' is {value:g}. It must be a whole number.", value=value)
    return int(value)


def _substitute(node: FileNode, scope: Mapping[str, int], budget: list[int]) -> FileNode:
    budget[0] -= 1
    if budget[0] < 0:
        raise node.error(f"repeat writes out more than {MOST_NODES} values. Make the range smaller.")
    if node.text is not None:
        return replace(node, text=_fill(node.text, scope, node), scope=scope)
    if node.items is not None:
        return replace(node, items=tuple(_substitute(n, scope, budget) for n in node.items), scope=scope)
    entries: dict[str, FileNode] = {}
    for key, entry in (node.entries or {}).items():
        name = _fill(key, scope, entry)
        if name in entries:
            raise entry.error(f"repeat: '{key}' becomes '{name}' twice. Use the index in the name.", name=key)
        entries[name] = _substitute(entry, scope, budget)
    return replace(node, entries=entries, scope=scope)


def _fill(text: str, scope: Mapping[str, int], node: FileNode) -> str:
    """Replace {i}, {i+1}, {2*i} by whole numbers."""

    def number(match: re.Match[str]) -> str:
        key = (match.group(1), *scope.items())
        if key not in _known:
            if len(_known) > MOST_NODES:
                _known.clear()
            quantity = read_quantity(replace(node, text=match.group(1), scope=scope), QuantityAlgebra())
            if not isinstance(quantity.value, float) or quantity.value != round(quantity.value):
                raise node.error(
                    f"repeat: '{{{match.group(1)}}}' in '{text}' is not a whole number. Use the index as in {{i}} or {{i+1}}.", name=text
                )
            _known[key] = str(int(quantity.value))
        return _known[key]

    return BRACES.sub(number, text) if "{" in text else text


_known: dict[tuple[Any, ...], str] = {}  # numbers by expression and values of the indices


def _merge(a: FileNode, b: FileNode, path: str, own: set[int]) -> FileNode:
    """Both parts together: mappings by key, lists one after the other. Mappings in `own` grow in place."""
    if a.text == "":
        return b
    if a.entries is not None and b.entries is not None:
        grown = id(a.entries) in own
        entries = a.entries if grown else dict(a.entries)
        for key, node in b.entries.items():
            entries[key] = _merge(entries[key], node, f"{path}.{key}", own) if key in entries else node
        own.add(id(entries))
        return a if grown else replace(a, entries=entries)
    if a.items is not None and b.items is not None and not path.startswith("drawing"):
        return replace(a, items=a.items + b.items)
    raise ModelError(
        f"repeat: '{path}' is there already. Use the index in its name, e.g. {path.rpartition('.')[2]}{{i}}.", b.where, name=path
    )
