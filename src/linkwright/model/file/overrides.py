"""Overrides of a call: sections, parameters, and every other parameter of a model by its name.

`m.with_(L1=0.4, gravity=0)` exchanges a parameter and a section; `m.with_(**{"C.x": 0.91, "crank.mass": "0.4 kg", "start.A": 1.0})`
single numbers (`model.parameters`), a start, a drive. Bare numbers are SI and radians.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from linkwright import elements
from linkwright.errors import UsageError, nearest
from linkwright.model.coordinates import slides
from linkwright.model.description import Description, Drive
from linkwright.model.file.text_nodes import FileNode, from_python
from linkwright.model.file.written_values import bare_size, parameter_dimension
from linkwright.model.parameters import Parameter, need_possible_masses, single_parameters
from linkwright.text.quantities import si_value
from linkwright.text.ranges_and_tolerances import Place
from linkwright.text.units import (
    ACCELERATION,
    ANGLE,
    FORCE,
    KINDS,
    LENGTH,
    NONE,
    OF_PAIR,
    TORQUE,
    VOLTAGE,
    Dimension,
    dimension_of,
    multiply,
    of_pair,
)

OVERRIDES = ("gravity", "cuts", "start", "space", "name")
START, DRIVE = "start.", "drive."
RATE = (0, 0, -1, 0, 0)


def is_single(name: str) -> bool:
    """True for the name of a single number: `crank.mass`, `C.x`; names of parameters and sections have no dot."""
    return "." in name


def apply_overrides(keys: dict[str, FileNode], overrides: Mapping[str, Any]) -> tuple[dict[str, FileNode], dict[str, FileNode]]:
    """Put the overridden sections in; what is left are values of parameters, and of single numbers."""
    parameters = keys["parameters"].entries or {} if "parameters" in keys else {}
    values: dict[str, FileNode] = {}
    single: dict[str, FileNode] = {}
    for name, value in overrides.items():
        node = _as_call(from_python(value, f"{name} in the call"))
        if name in parameters:
            values[name] = node
        elif name == "start" or name.startswith(START):
            given = {name.removeprefix(START): node} if name.startswith(START) else node.mapping("start")
            before = keys["start"].mapping("start") if "start" in keys else {}
            keys["start"] = replace(keys.get("start", node), text=None, entries={**before, **given})
        elif name in OVERRIDES:
            keys[name] = node
        elif is_single(name):
            single[name] = node
        else:
            raise UsageError(
                f"'{name}' is neither a parameter of this model nor one of {', '.join(OVERRIDES)}.",
                nearest(name, [*parameters, *OVERRIDES], "Known"),
            )
    return values, single


def _as_call(node: FileNode) -> FileNode:
    """Mark a tree as given in a call: its bare numbers are SI."""
    items = None if node.items is None else tuple(_as_call(n) for n in node.items)
    entries = None if node.entries is None else {k: _as_call(n) for k, n in node.entries.items()}
    return replace(node, items=items, entries=entries, si=True)


def overridden(found: Description, given: Mapping[str, FileNode]) -> Description:
    """The description with these single numbers; raise UsageError for a name that it has not, ModelError for impossible masses."""
    known = single_parameters(found)
    out = found
    for name, node in given.items():
        if name.startswith(DRIVE):
            out = _with_drive(out, name.removeprefix(DRIVE), node)
        elif name in known:
            p = known[name]
            assert p.placed is not None
            out = p.placed(out, _number(node, dimension(found, name, p), name) - p.value)
        else:
            raise UsageError(unknown(found, name))
    need_possible_masses(out.numbers())
    return out


def unknown(d: Description, name: str) -> str:
    """Why there is no number of this name."""
    known = {**single_parameters(d), **d.drawn_numbers}
    pin, _, axis = name.rpartition(".")
    if pin in dict(d.drawing) and axis in (d.plane or "xyz"):
        return nearest(name, known, "Known").after(f"'{name}' cannot vary: in the drawing it is an expression of parameters. Change these.")
    every = dict.fromkeys([*(n for n, _ in d.parameters), *known])
    return nearest(name, list(every), "Known").after(f"there is no number '{name}' in this model.")


def changed_singly(d: Description, given: Mapping[str, Any]) -> Description | None:
    """The description with other single numbers without reading it again; None where the drawing, or a start, depends on them."""
    known = single_parameters(d)
    if not all(name in known for name in given):
        return None
    return overridden(d, {name: _as_call(from_python(x, f"{name} in the call")) for name, x in given.items()})


def _number(node: FileNode, of: Dimension, name: str) -> float:
    return si_value(node, of, f"'{name}'")


def _with_drive(d: Description, joint: str, node: FileNode) -> Description:
    drives = {x.joint: x for x in d.drives}
    if joint not in drives:
        raise UsageError(f"the model drives no '{joint}'.", nearest(joint, drives, "Drives"))
    old = drives[joint]
    position = _coordinate(d, joint)
    kinds = {"speed": multiply(position, RATE), "position": position, "torque": _effort(d, joint), "dc_motor": VOLTAGE}
    if old.kind not in kinds:
        raise UsageError(f"the drive of '{joint}' is not a single number ({old.kind}). Change a parameter it is written with.", name=joint)
    new: Drive = replace(old, value=_number(node, kinds[old.kind], f"{DRIVE}{joint}"))
    return replace(d, drives=tuple(new if x.joint == joint else x for x in d.drives))


# -------------------------------------------------------------------- dimensions


def _coordinate(d: Description, joint: str) -> Dimension:
    return LENGTH if slides(d, joint) else ANGLE


def _effort(d: Description, joint: str) -> Dimension:
    return FORCE if slides(d, joint) else TORQUE


def dimension(d: Description, name: str, p: Parameter) -> Dimension:
    """Dimension of a single number."""
    if p.kind in KINDS:
        return KINDS[p.kind]
    head, key, *_ = name.split(".")
    if head == "gravity":
        return ACCELERATION
    if key == "armature":  # of a joint that turns and slides
        return NONE
    return field_dimension(d, next(x for x in elements.every(d) if x.name == head and key in elements.numbers(type(x))), key)


def field_dimension(d: Description, thing: Any, key: str) -> Dimension:
    """Dimension of a number of an element."""
    kind = elements.numbers(type(thing))[key].dimension
    if kind in OF_PAIR:
        return of_pair(kind, _coordinate(d, thing.first), _coordinate(d, thing.second))
    joint = elements.joint_of(thing)
    return dimension_of(kind, not joint or slides(d, joint))


def place_of(described: Description, p: Parameter, what: str = "") -> Place:
    """How values of a parameter of the model are read: its dimension, the file's unit of bare numbers, its present value."""
    own = p.name in dict(described.parameters)
    if own:
        found = parameter_dimension(described, p.name)
        of: Dimension | None = None if found == NONE else found
    else:
        of = KINDS.get(p.kind) if p.placed is None or p.kind in KINDS else dimension(described, p.name, p)
    return Place(what or p.name, of, partial(bare_size, described) if own or of is not None else None, p.value)
