"""Ends of travel: the `stops:` section, and `stroke: [min, max]` of a slider or cylinder, which is a rigid stop of its own name."""

from __future__ import annotations

from collections.abc import Iterator

from linkwright import elements
from linkwright.elements import Stop
from linkwright.errors import listing
from linkwright.joints import JOINTS
from linkwright.model.coordinates import joint_name
from linkwright.model.file.chains import is_chain
from linkwright.model.file.elements import Elements
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.units import ANGLE, LENGTH, STIFFNESS, TIME, TORSIONAL_STIFFNESS, multiply


def strokes(reader: Elements, keys: dict[str, FileNode]) -> tuple[Stop, ...]:
    """Return the stops that strokes of sliders and cylinders make; raise ModelError where a coordinate has one of `stops:` as well."""
    found = [_slider(reader, name, entry) for name, entry in _joints(keys.get("joints")) if "stroke" in (entry.entries or {})]
    lines = [(section, *x) for section in elements.COORDINATES if section in keys for x in keys[section].mapping(section).items()]
    found += [_line(reader, section, name, entry) for section, name, entry in lines if "stroke" in (entry.entries or {})]
    for s in reader.found.get(Stop.section, ()):
        same = next((x for x in found if s.joint == x.joint or s.name == x.name), None)
        if same is not None:
            node = keys[Stop.section].mapping(Stop.section)[s.name]
            raise node.error(
                f"stop '{s.name}': '{same.name}' has a `stroke` ({same.where}), which is a rigid stop already. Keep one.", name=s.name
            )
    return tuple(found)


def read_stop(reader: Elements, name: str, entry: FileNode) -> Stop:
    """Read a stop: both ends by `range`, or each by its key; rigid, or with a stiffness."""
    what = f"stop '{name}'"
    keys = entry.keys(what, elements.keys(Stop))
    target = keys.get("joint", FileNode(entry.where, text=name))
    joint = target.string(what) if target.text in reader.lines else reader.part(target, what, one=True)
    slides = joint in reader.lines or reader.slides(joint)
    travel = LENGTH if slides else ANGLE
    if "range" in keys:
        if "min" in keys or "max" in keys:
            raise entry.error(f"{what} has `range` and `min` or `max`. Keep one way of giving the ends.", name=what)
        low, high = keys["range"].sequence(f"{what}: range", 2)
        keys = {**keys, "min": low, "max": high}
    elif "min" not in keys and "max" not in keys:
        example = "[0, 120 mm]" if slides else "[-30 deg, 60 deg]"
        raise entry.error(f"{what} has no ends: write `range: {example}`, or `min:` or `max:` alone.", name=what)
    lower, upper = (reader.value(keys, k, travel, f"{what}: an end" if "range" in keys else what) for k in ("min", "max"))
    if lower is not None and upper is not None and reader.context.numeric(lower) >= reader.context.numeric(upper):
        raise entry.error(
            f"{what}: the lower end {reader.context.shown(lower, travel)} is not below the upper {reader.context.shown(upper, travel)}. "
            "Exchange or correct them.",
            name=what,
        )
    rigid = "stiffness" not in keys
    wrong = "damping" if rigid else "restitution"
    if wrong in keys:
        advice = "Give `stiffness:` as well, or `restitution:` in its place." if rigid else "Write `damping:` in its place."
        raise keys[wrong].error(f"{what}: a {'rigid' if rigid else 'springy'} stop has no {wrong}. {advice}", name=what)
    stiffness = None if rigid else reader.positive(keys, "stiffness", STIFFNESS if slides else TORSIONAL_STIFFNESS, what)
    damping = reader.value(keys, "damping", multiply(TIME, travel, -1), what, 0.0, least=0.0)
    restitution = reader.restitution(keys, what)
    own = None if joint in reader.lines else JOINTS[reader.joints[joint_name(joint)].type]
    if rigid and own is not None and own.q_names != own.v_names:
        raise entry.error(f"{what}: a coordinate of a joint with a quaternion needs a stop with `stiffness:`.", name=what)
    return Stop(name, joint, stiffness, lower, upper, damping, entry.where, restitution)


def _joints(node: FileNode | None) -> Iterator[tuple[str, FileNode]]:
    """Joints by name, those of chains among them."""
    for name, entry in (node.mapping("joints") if node else {}).items():
        if is_chain(entry):
            yield from entry.mapping(name)["chain"].mapping(name).items()
        else:
            yield name, entry


def _slider(reader: Elements, name: str, entry: FileNode) -> Stop:
    """The stroke of the one travel of a joint."""
    what, node = f"joint '{name}'", entry.mapping(name)["stroke"]
    jt = JOINTS[reader.joints[name].type]
    travels = [x for x, kind in zip(jt.q_names, jt.coordinate_kinds, strict=True) if kind == "length" and not jt.floats]
    if len(travels) != 1:
        sliding = [kind for kind, x in JOINTS.items() if x.coordinate_kinds.count("length") == 1 and not x.floats]
        raise node.error(
            f"{what}: a {reader.joints[name].type} joint has no stroke, {listing(sliding)} joints have. "
            f"The ends of another coordinate are `stops: {{{name}: {{range: [-30 deg, 60 deg]}}}}`.",
            name=what,
        )
    return _stop(reader, name, f"{name}.{travels[0]}" if travels[0] else name, node, what)


def _line(reader: Elements, section: str, name: str, entry: FileNode) -> Stop:
    what, node = f"{elements.kinds(section)[0].word} '{name}'", entry.mapping(name)["stroke"]
    found = _stop(reader, name, name, node, what)
    if reader.context.numeric(found.lower) <= 0.0:
        raise node.error(
            f"{what}: its stroke is from its shortest to its longest length between the eyes. The shortest must be positive.", name=what
        )
    return found


def _stop(reader: Elements, name: str, coordinate: str, node: FileNode, what: str) -> Stop:
    lower, upper = (reader.context.number(n, LENGTH, f"{what}: stroke") for n in node.sequence(f"{what}: stroke", 2))
    if reader.context.numeric(lower) >= reader.context.numeric(upper):
        low, high = (reader.context.shown(x, LENGTH) for x in (lower, upper))
        raise node.error(f"{what}: stroke begins at {low}, which is not below its end {high}. Write [shortest, longest].", name=what)
    return Stop(name, coordinate, None, lower, upper, where=node.where)
