"""Entries that a model file lacks for a number of its own: the mass, center or inertia of a body that its shape gives, the length of a
rod as drawn, fields of springs and the like that are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkwright import elements
from linkwright.model.description import Description
from linkwright.model.file.nodes import FileNode
from linkwright.model.file.overrides import field_dimension
from linkwright.model.file.text_edits import Edit, put, quantity
from linkwright.model.file.value_fitting import Label
from linkwright.model.file.written_values import inside
from linkwright.text.units import ACCELERATION, INERTIA, LENGTH, MASS, UnitSystem

MASS_KEYS = ("mass", "com", "inertia")
SHAPE_KEYS = ("pins", "points", "along", "sides", "bar", "bars", "plate", "mesh")
PAIRS = ("xx", "xy", "xz", "yy", "yz", "zz")

New = tuple[tuple[Any, ...], Edit | None]  # path of an entry, and its text; None: it is there already


def derived(
    text: str, root: FileNode, missed: Sequence[Label], wanted: Mapping[Label, Any], units: UnitSystem, final: Description
) -> list[New]:
    """Entries for numbers that the text does not state, with values to begin with; those of a body that it states may change, too."""
    plane = final.plane
    out: dict[tuple[Any, ...], New] = {}
    for label in missed:
        new = None
        if label[0] == "bodies" and len(label) > 2 and label[2] in MASS_KEYS:
            new = _of_body(text, root, str(label[1]), str(label[2]), wanted, units, plane)
        elif label[0] == "gravity":
            new = _gravity(text, root, wanted, units, plane)
        elif len(label) > 2:
            new = _of_field(text, root, label, wanted, units, final)
        if new is not None:
            out.setdefault(new[0], new)
    return list(out.values())


def _of_body(
    text: str, root: FileNode, body: str, key: str, wanted: Mapping[Label, Any], units: UnitSystem, plane: str | None
) -> New | None:
    entry = inside(root, "bodies", body)
    there = inside(entry, key)
    if entry is None or entry.span is None:
        return None
    path = ("bodies", body, key)
    values = {k[3:]: float(x) for k, x in wanted.items() if k[:3] == path and not hasattr(x, "op")}
    before = (*SHAPE_KEYS, *MASS_KEYS[: MASS_KEYS.index(key)])
    if key == "mass":
        return path, None if there is not None else put(text, entry, key, quantity(values[()], MASS, units), before)
    if key == "com":
        if there is not None and there.items is not None:
            return path, None
        axes = range(2 if plane else 3)
        listed = ", ".join(quantity(values[(i,)], LENGTH, units) for i in axes)
        return path, put(text, entry, key, f"[{listed}]", before)
    return _inertia(text, entry, there, path, values, units, before)


def _inertia(
    text: str,
    entry: FileNode,
    there: FileNode | None,
    path: tuple[Any, ...],
    values: Mapping[Any, float],
    units: UnitSystem,
    before: Sequence[str],
) -> New:
    """A single number in a plane, else the six of a tensor; one that is there is exchanged if its form has too few."""
    if () in values:
        return path, None if there is not None else put(text, entry, "inertia", quantity(values[()], INERTIA, units), before)
    matrix = there is not None and there.items is not None and any(i.items for i in there.items)
    if matrix or (there is not None and len(there.entries or ()) == len(PAIRS)):
        return path, None
    index = {"x": 0, "y": 1, "z": 2}
    six = {pair: values[(index[pair[0]], index[pair[1]])] for pair in PAIRS}
    listed = ", ".join(f"{pair}: {quantity(x, INERTIA, units)}" for pair, x in six.items())
    return path, put(text, entry, "inertia", f"{{{listed}}}", before)


def _gravity(text: str, root: FileNode, wanted: Mapping[Label, Any], units: UnitSystem, plane: str | None) -> New | None:
    there = inside(root, "gravity")
    if there is not None and there.items is not None:
        return None
    axes = range(2 if plane else 3)
    listed = ", ".join(quantity(float(wanted["gravity", i]), ACCELERATION, units) for i in axes)
    return ("gravity",), put(text, root, "gravity", f"[{listed}]", ("name", "about", "plane", "units"))


def _of_field(text: str, root: FileNode, label: Label, wanted: Mapping[Label, Any], units: UnitSystem, final: Description) -> New | None:
    """A field of a spring, rod, stop and so on that the file leaves out."""
    held, name, field = str(label[0]), str(label[1]), str(label[2])
    if held not in elements.HELD or len(label) != 3 or label not in wanted or hasattr(wanted[label], "op"):
        return None
    thing = next(x for x in getattr(final, held) if x.name == name)
    section, key = thing.section, elements.file_keys(held).get(field, field)
    entry = inside(root, section, name)
    if entry is None or entry.span is None or inside(entry, key) is not None:
        return None
    value = quantity(float(wanted[label]), field_dimension(final, thing, field), units)
    return (section, name, key), put(text, entry, key, value)
