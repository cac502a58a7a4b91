"""A model as it was written: values in the file by their path, and the units of its parameters.

A parameter without a unit is a bare number: it means what a bare number means in the place where it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from linkwright.errors import LinkwrightError
from linkwright.model.description import Description
from linkwright.model.file.reading_context import names_in
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.quantities import Quantity, QuantityAlgebra, parameter, read_quantity
from linkwright.text.units import NONE, Dimension, UnitSystem


def root(described: Description) -> FileNode | None:
    """The file's tree; None of a description that was not read."""
    return getattr(described.document, "root", None)


def inside(node: FileNode | None, *path: str) -> FileNode | None:
    """The value at a path of keys; None where nothing is."""
    for key in path:
        node = None if node is None or node.entries is None else node.entries.get(key)
    return node


def node_at(node: FileNode | None, path: Sequence[Any]) -> FileNode | None:
    """The value at a path of keys and indices; None where nothing is."""
    for key in path:
        if node is None:
            return None
        if isinstance(key, int):
            node = node.items[key] if node.items is not None and key < len(node.items) else None
        else:
            node = None if node.entries is None else node.entries.get(key)
    return node


def parameter_path(described: Description, name: str) -> list[str]:
    """Keys that lead to the value of a parameter: one with bounds has it under `value`."""
    path = ["parameters", name]
    return [*path, "value"] if inside(root(described), *path, "value") is not None else path


def parameter_dimension(described: Description, name: str) -> Dimension:
    """Dimension of a parameter of the file, by the unit it is written with."""
    units, known = _units(described), dict[str, Quantity]()
    left = {n: inside(root(described), *parameter_path(described, n)) for n, _ in described.parameters}
    while left and name not in known:  # parameters may refer to each other
        found = {n: x for n, node in left.items() if (x := _read(node, QuantityAlgebra(units, known), left)) is not None}
        if not found:
            return NONE
        known |= {n: parameter(n, x.dimension, x.count) for n, x in found.items()}
        left = {n: node for n, node in left.items() if n not in found}
    return known[name].dimension if name in known else NONE


def _read(node: FileNode | None, algebra: QuantityAlgebra, later: Iterable[str]) -> Quantity | None:
    """A quantity; None where it needs names that are not known yet, also those that are units too (l, m)."""
    try:
        return None if node is None or names_in(node, later) else read_quantity(node, algebra)
    except LinkwrightError:
        return None


def bare_size(described: Description, dimension: Dimension) -> float:
    """Size in SI of a bare number in the file, in a place of this dimension."""
    return _units(described).bare_factor(dimension) or 1.0


def _units(described: Description) -> UnitSystem:
    listed = inside(root(described), "units")
    return UnitSystem([n.text or "" for n in listed.items or ()] if listed is not None else [])
