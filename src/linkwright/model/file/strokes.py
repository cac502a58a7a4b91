"""Ends of travel: the `stops:` section, and `stroke: [min, max]` of a slider or cylinder, which is a rigid stop of its own name."""

from __future__ import annotations

from collections.abc import Iterator

from linkwright.errors import listing
from linkwright.joints import JOINTS
from linkwright.model.description import Stop
from linkwright.model.file.chains import is_chain
from linkwright.model.file.elements import Elements
from linkwright.model.file.loads import ChannelDimensions
from linkwright.model.file.nodes import FileNode
from linkwright.model.file.units import LENGTH


def read_stops(elements: Elements, keys: dict[str, FileNode], channels: ChannelDimensions) -> tuple[Stop, ...]:
    """Return the stops of a model and those that strokes make; raise ModelError where one coordinate has both."""
    strokes = [_slider(elements, name, entry) for name, entry in _joints(keys.get("joints")) if "stroke" in (entry.entries or {})]
    cylinders = keys["cylinders"].mapping("cylinders") if "cylinders" in keys else {}
    strokes += [_cylinder(elements, name, entry) for name, entry in cylinders.items() if "stroke" in (entry.entries or {})]
    stops = elements.stops(keys.get("stops"), channels)
    for s in stops:
        same = next((x for x in strokes if s.joint == x.joint or s.name == x.name), None)
        if same is not None:
            node = keys["stops"].mapping("stops")[s.name]
            raise node.error(f"stop '{s.name}': '{same.name}' has a `stroke` ({same.where}), which is a rigid stop already. Keep one.")
    return (*strokes, *stops)


def _joints(node: FileNode | None) -> Iterator[tuple[str, FileNode]]:
    """Joints by name, those of chains among them."""
    for name, entry in (node.mapping("joints") if node else {}).items():
        if is_chain(entry):
            yield from entry.mapping(name)["chain"].mapping(name).items()
        else:
            yield name, entry


def _slider(elements: Elements, name: str, entry: FileNode) -> Stop:
    """The stroke of the one travel of a joint."""
    what, node = f"joint '{name}'", entry.mapping(name)["stroke"]
    jt = JOINTS[elements.joints[name].type]
    travels = [x for x, kind in zip(jt.q_names, jt.coordinate_kinds, strict=True) if kind == "length" and not jt.floats]
    if len(travels) != 1:
        sliding = [kind for kind, x in JOINTS.items() if x.coordinate_kinds.count("length") == 1 and not x.floats]
        raise node.error(
            f"{what}: a {elements.joints[name].type} joint has no stroke, {listing(sliding)} joints have. "
            f"The ends of another coordinate are `stops: {{{name}: {{between: [-30 deg, 60 deg]}}}}`."
        )
    return _stop(elements, name, f"{name}.{travels[0]}" if travels[0] else name, node, what)


def _cylinder(elements: Elements, name: str, entry: FileNode) -> Stop:
    what, node = f"cylinder '{name}'", entry.mapping(name)["stroke"]
    found = _stop(elements, name, name, node, what)
    if elements.context.numeric(found.lower) <= 0.0:
        raise node.error(f"{what}: its stroke is from its shortest to its longest length between the eyes; the shortest must be positive.")
    return found


def _stop(elements: Elements, name: str, coordinate: str, node: FileNode, what: str) -> Stop:
    lower, upper = (elements.context.number(n, LENGTH, f"{what}: stroke") for n in node.sequence(f"{what}: stroke", 2))
    if elements.context.numeric(lower) >= elements.context.numeric(upper):
        low, high = (elements.context.shown(x, LENGTH) for x in (lower, upper))
        raise node.error(f"{what}: stroke begins at {low}, which is not below its end {high}. Write [shortest, longest].")
    return Stop(name, coordinate, None, lower, upper, where=node.where)
