"""A model as it was written: values in the file by their path, and the units of its parameters.

A parameter without a unit is a bare number: it means what a bare number means in the place where it is used.
"""

from __future__ import annotations

from linkwright.errors import LinkwrightError
from linkwright.model.description import Description
from linkwright.model.file.nodes import FileNode
from linkwright.model.file.quantities import QuantityAlgebra, read_quantity
from linkwright.model.file.units import NONE, Dimension, UnitSystem


def root(described: Description) -> FileNode | None:
    """The file's tree; None of a description that was not read."""
    return getattr(described.document, "root", None)


def inside(node: FileNode | None, *path: str) -> FileNode | None:
    """The value at a path of keys; None where nothing is."""
    for key in path:
        node = None if node is None or node.entries is None else node.entries.get(key)
    return node


def parameter_path(described: Description, name: str) -> list[str]:
    """Keys that lead to the value of a parameter: one with bounds has it under `value`."""
    path = ["parameters", name]
    return [*path, "value"] if inside(root(described), *path, "value") is not None else path


def parameter_dimension(described: Description, name: str) -> Dimension:
    """Dimension of a parameter of the file, by the unit it is written with."""
    node = inside(root(described), *parameter_path(described, name))
    try:
        return NONE if node is None else read_quantity(node, QuantityAlgebra(_units(described), {})).dimension
    except LinkwrightError:
        return NONE


def bare_size(described: Description, dimension: Dimension) -> float:
    """Size in SI of a bare number in the file, in a place of this dimension."""
    return _units(described).by_dimension.get(dimension, ("", 1.0))[1]


def _units(described: Description) -> UnitSystem:
    listed = inside(root(described), "units")
    return UnitSystem([n.text or "" for n in listed.items or ()] if listed is not None else [])
