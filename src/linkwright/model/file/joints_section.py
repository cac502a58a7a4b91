"""The `joints:` section and the hinges that shared pins make.

A joint joins frame F on its first body with frame M on its second. Axes follow the joint types:
z is the axis of everything that turns, x of F the line along which a slider or slot runs, and a
universal joint turns about x of F and y of M.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkwright import elements
from linkwright.elements import Clearance
from linkwright.errors import UnfinishedModel, counted, listing, nearest
from linkwright.joints import JOINTS
from linkwright.model.description import EYE3, ZERO3, Body, Joint, Mat3, Placement, Vec3
from linkwright.model.file.body_frames import Shape
from linkwright.model.file.chains import is_chain, link_body, read_chain
from linkwright.model.file.geometry import frame_along, product, transpose, vector
from linkwright.model.file.key_hints import instead, types
from linkwright.model.file.reading_context import POSE_KEYS, Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.numerics.connected_groups import Groups
from linkwright.text.units import INERTIA, KINDS, LENGTH, MASS, NONE

JOINT_KEYS = ("type", "pin", "between", "at", "connect", "axis", "axes", "frames", "armature", "stroke")  # and those of single types
IN_JOINT = ("clearance", *(key for key in elements.keys(Clearance) if key not in ("joint", "clearance")))  # keys of a joint's entry
LOOSE = "planar"  # type of a joint with clearance: in a plane it holds nothing
MAY = {"revolute": "radius", "prismatic": "length", LOOSE: ""}  # types that can have clearance, and the number each needs


@dataclass(frozen=True)
class Joints:
    """The joints of a model, and the links inside its chains of joints: their bodies, and their poses in symbols."""

    joints: tuple[Joint, ...]
    links: tuple[Body, ...] = ()
    poses: tuple[tuple[str, Placement], ...] = ()
    loose: tuple[tuple[str, FileNode], ...] = ()  # clearances that entries of joints give


def read_joints(context: Context, shapes: dict[str, Shape], node: FileNode | None, clearances: FileNode | None = None) -> Joints:
    """The hinges of pins that no joint names, then explicit joints in file order."""
    explicit: list[Joint] = []
    links: dict[str, tuple[Shape, str]] = {}
    sections = node.mapping("joints") if node else {}
    entries: dict[str, FileNode] = {}  # of every joint
    for name, entry in sections.items():
        context.check_name(name, entry, "joint", channels=True)
        if not is_chain(entry):
            _add(entries, name, entry)
            explicit.append(_explicit(context, shapes, name, entry))
            continue
        made, between = read_chain(context, shapes, name, entry, _explicit)
        explicit += made
        links |= {link.name: (link, name) for link in between}
        for joint, piece in entry.mapping(name)["chain"].mapping(name).items():
            _add(entries, context.check_name(joint, piece, "joint", channels=True), piece)
    pins = _shared_pins(context, shapes)
    covered: dict[str, list[Joint]] = {pin: [] for pin in pins}
    for joint in explicit:
        if joint.pin in covered:
            covered[joint.pin].append(joint)
    automatic: list[Joint] = []
    for pin, bodies in pins.items():
        if covered[pin]:
            _check_split(pin, bodies, covered[pin], entries)
        else:
            automatic.extend(_hinges(context, shapes, pin, bodies))
    taken = {j.name for j in explicit}
    for joint in automatic:
        if joint.name in taken:
            raise entries[joint.name].error(
                f"the name '{joint.name}' is taken twice: by this joint and by the hinge at pin '{joint.pin}'. Rename the joint, "
                f"or make it the joint of that pin with `pin: {joint.pin}`.",
                name=joint.name,
            )
    bodies = tuple(link_body(link, chain) for link, chain in links.values())
    loose = _clearances(node, clearances)
    joints = _loosened(context, automatic + explicit, loose)
    own = tuple((name, entry) for name, (entry, in_joint) in loose.items() if in_joint)
    return Joints(joints, bodies, tuple((name, link.pose) for name, (link, _) in links.items()), own)


def _add(entries: dict[str, FileNode], name: str, node: FileNode) -> None:
    """Note the place of a joint; joints inside chains and outside share one list of names."""
    if name in entries:
        raise node.error(f"the name '{name}' is taken twice, by this joint and by another at {entries[name].where}. Rename one.", name=name)
    entries[name] = node


def _shared_pins(context: Context, shapes: dict[str, Shape]) -> dict[str, list[str]]:
    """Pins with their bodies, in order of appearance; a pin of one body is an error."""
    named: dict[str, list[str]] = {}
    for shape in shapes.values():
        for pin in shape.pins:
            named.setdefault(pin, []).append(shape.name)
    stations: dict[str, list[str]] = {}
    for shape in shapes.values():
        for name in shape.stations:
            if name not in shape.pins and name in context.drawing:
                stations.setdefault(name, []).append(shape.name)
    order = {name: i for i, name in enumerate(shapes)}
    pins: dict[str, list[str]] = {}
    for pin in [*named, *(s for s in stations if s not in named)]:
        bodies = sorted(named.get(pin, []) + stations.get(pin, []), key=order.__getitem__)
        if len(bodies) > 1:
            pins[pin] = bodies
        elif pin in named:
            _lonely_pin(context, shapes, pin, bodies[0], named)
    drawn = {name: i for i, name in enumerate(context.drawing)}
    return dict(sorted(pins.items(), key=lambda item: drawn.get(item[0], len(drawn))))


def _lonely_pin(context: Context, shapes: dict[str, Shape], pin: str, body: str, named: dict[str, list[str]]) -> None:
    """A pin that one body names is valid when a joint sits there, otherwise a slip."""
    if pin in context.joint_places:
        return
    owners = [s.name for s in shapes.values() if s.name != body and pin in s.points]
    others = [p for p, bodies in named.items() if bodies != [body]]
    hint = f"Body '{owners[0]}' has a point of that name: add `pins: [{pin}]` to it." if owners else nearest(pin, others, "Other pins")
    raise UnfinishedModel(
        f"only body '{body}' names the pin '{pin}', so nothing is hinged there. {hint} A point that is not a hinge belongs under `points`.",
        shapes[body].node.where,
        name=body,
    )


def _hinges(context: Context, shapes: dict[str, Shape], pin: str, bodies: list[str]) -> list[Joint]:
    """One hinge from the first body (ground if it is there) to every other one."""
    if not context.planar_drawing:
        raise shapes[bodies[1]].node.error(
            f"the bodies {listing(bodies)} share the pin '{pin}', but in space a hinge needs an axis. Write under `joints:` "
            f"`{pin}: {{pin: {pin}, between: [{bodies[0]}, {bodies[1]}], axis: [0, 0, 1]}}`, or `plane: xy` for a planar model.",
            name=pin,
        )
    hub, others = bodies[0], bodies[1:]
    joints = []
    for body in others:
        name = context.check_name(pin if len(bodies) == 2 else f"{pin}:{body}", shapes[body].node, "hinge", channels=True)
        first, second = (Placement(shapes[b].points[pin]) for b in (hub, body))
        joints.append(Joint(name, "revolute", hub, body, first, second, pin=pin, where=shapes[body].node.where))
    return joints


def _check_split(pin: str, bodies: list[str], joints: list[Joint], entries: dict[str, FileNode]) -> None:
    """Explicit joints at a pin must connect its bodies, each exactly once."""
    groups = Groups(bodies)
    for joint in joints:
        node = entries[joint.name]
        for body in (joint.first, joint.second):
            if body not in groups:
                raise node.error(
                    f"joint '{joint.name}': body '{body}' does not name the pin '{pin}'. Bodies at this pin: {listing(bodies)}.",
                    name=joint.name,
                )
        if not groups.join(joint.first, joint.second):
            raise node.error(
                f"joint '{joint.name}' connects {joint.first} and {joint.second} at pin '{pin}' a second time. Remove it.", name=joint.name
            )
    loose = [b for b in bodies if groups.root(b) != groups.root(joints[0].first)]
    if loose:
        node = entries[joints[-1].name]
        raise node.error(
            f"the joints at pin '{pin}' leave out {listing(loose)}. A pin of {len(bodies)} bodies needs "
            f"{counted(len(bodies) - 1, 'joint')} that "
            "connect "
            f"all of them. Add `{{pin: {pin}, between: [{joints[0].first}, {loose[0]}]}}`.",
            name=pin,
        )


# ---------------------------------------------------------------- joints that are written out


def _explicit(context: Context, shapes: dict[str, Shape], name: str, node: FileNode) -> Joint:
    what = f"joint '{name}'"
    keys = node.keys(what, (*JOINT_KEYS, *owners(), *IN_JOINT))
    kind = _type(context, keys, node, what)
    first, second, point = _ends(context, shapes, keys, node, what)
    options, armature = _options(context, kind, keys, node, what), _armature(context, kind, keys, what)
    if "frames" in keys:
        F, M = (_frame(context, n, f"{what}: frames") for n in keys["frames"].sequence(f"{what}: frames", 2))
        pin = keys["pin"].string(what) if "pin" in keys else ""
        return Joint(name, kind, first, second, F, M, options, pin, node.where, armature)
    positions = [_position_in(context, shapes[b], p, keys, node, what) for b, p in ((first, point[0]), (second, point[1]))]
    rotations = _axes(context, shapes, kind, (first, second), point, keys, what)
    F, M = (Placement(p, r) for p, r in zip(positions, rotations, strict=True))
    shared = point[0] if point[0] == point[1] and all(_is_pin(context, shapes[b], point[0]) for b in (first, second)) else ""
    if shared and kind == "revolute" and "at" in keys:
        context.warnings.append(
            f"{node.where}: {what} is not a further joint: it is the hinge that {first} and {second} share at pin '{shared}', under this "
            f"name. Write `pin: {shared}` to say so, or take it out."
        )
    return Joint(name, kind, first, second, F, M, options, shared, node.where, armature)


def _is_pin(context: Context, shape: Shape, point: str) -> bool:
    return point in shape.pins or (point in shape.stations and point in context.drawing)


def _type(context: Context, keys: dict[str, FileNode], node: FileNode, what: str) -> str:
    if "type" not in keys:
        if "pin" in keys:
            return "revolute"
        raise node.error(f"{what} needs a `type:`. Types: {listing(JOINTS)}.", name=what, allowed=JOINTS)
    kind = keys["type"].string(f"{what}: type").replace("-", "_")
    if kind not in JOINTS:
        raise keys["type"].error(
            f"{what}: there is no joint type '{kind}'. {instead(kind)}{nearest(kind, JOINTS, 'Types', types())}", name=kind, allowed=JOINTS
        )
    if context.planar and not JOINTS[kind].in_plane:
        flat = [k for k, v in JOINTS.items() if v.in_plane]
        raise keys["type"].error(
            f"{what}: a {kind} joint does not fit into a plane. In a plane: {listing(flat)}. Or take out `plane:`.", name=what, allowed=flat
        )
    return kind


def _ends(
    context: Context, shapes: dict[str, Shape], keys: dict[str, FileNode], node: FileNode, what: str
) -> tuple[str, str, tuple[str, str]]:
    """The two bodies and the names of the points where they meet ('' if only drawn)."""
    ways = [k for k in ("connect", "between") if k in keys]
    if len(ways) != 1:
        raise node.error(
            f"{what} must name the bodies it joins, by `between: [ground, slider]` with `at: C`, or by `connect: [crank.B, coupler.B]`.",
            name=what,
        )
    if ways == ["connect"]:
        names = {b: tuple(s.points) for b, s in shapes.items()}
        a, b = (context.point_ref(n, names, what) for n in keys["connect"].sequence(f"{what}: connect", 2))
        if "at" in keys or "pin" in keys:
            raise node.error(f"{what}: `connect` names the points already, take out `at` and `pin`.", name=what)
        first, second, points = a[0], b[0], (a[1], b[1])
    else:
        first, second = (n.string(f"{what}: between") for n in keys["between"].sequence(f"{what}: between", 2))
        for body, entry in zip((first, second), keys["between"].items or (), strict=True):
            if body not in shapes:
                raise entry.error(f"{what}: there is no body '{body}'.", nearest(body, shapes, "Bodies"))
        place = keys.get("pin") or keys.get("at")
        if "pin" in keys and "at" in keys:
            raise node.error(f"{what} has `pin` and `at`. Keep one.", name=what)
        if place is None and "frames" not in keys:
            raise node.error(f"{what} needs a place: `at: C` (a drawn point) or `pin: C`.", name=what)
        label = place.text.strip() if place is not None and place.text is not None else ""
        points = (label, label)
        if "pin" in keys and "frames" not in keys:
            for body in (first, second):
                if not _is_pin(context, shapes[body], label):
                    raise keys["pin"].error(
                        f"{what}: body '{body}' has no pin '{label}'.",
                        nearest(label, shapes[body].pins or shapes[body].stations, "Its pins"),
                    )
    if first == second:
        raise node.error(f"{what} joins '{first}' with itself. Name two different bodies.", name=first)
    return first, second, points


def _position_in(context: Context, shape: Shape, point: str, keys: dict[str, FileNode], node: FileNode, what: str) -> Vec3:
    if point:
        if point in shape.points:
            return shape.points[point]
        if point not in context.drawing:
            raise (keys.get("at") or node).error(
                f"{what}: '{point}' is neither drawn nor a point of '{shape.name}'.",
                nearest(point, [*context.drawing, *shape.points], "Points"),
            )
        return shape.to_local(context.drawing[point])
    return shape.to_local(context.vector(keys["at"], LENGTH, f"{what}: at"))


def owners() -> dict[str, list[str]]:
    """The types that take each key which not all of them take."""
    out: dict[str, list[str]] = {}
    for kind, jt in JOINTS.items():
        for key in (*jt.axis_keys, *jt.options):
            out.setdefault(key, []).append(kind)
    return out


def _options(context: Context, kind: str, keys: dict[str, FileNode], node: FileNode, what: str) -> tuple[tuple[str, Any], ...]:
    jt = JOINTS[kind]
    for key, kinds in owners().items():
        if key in keys and kind not in kinds:
            use = "Use `axis:`." if any(key in JOINTS[k].axis_keys for k in kinds) else "Take it out."
            raise keys[key].error(f"{what}: only a {' or '.join(kinds)} has a {key}, not a {kind} joint. {use}", name=what)
    out = []
    for name, option in jt.options.items():
        if name not in keys:
            raise node.error(f"{what}: a {kind} needs its `{name}:`, {option.meaning}.", name=what)
        out.append((name, context.number(keys[name], KINDS[option.dimension], f"{what}: {name}")))
    return tuple(out)


def _armature(context: Context, kind: str, keys: dict[str, FileNode], what: str) -> Any:
    """Inertia on every velocity of the joint: kg m^2, kg where it slides; a bare number where it does both."""
    if "armature" not in keys:
        return 0.0
    if not JOINTS[kind].coordinate_kinds:
        raise keys["armature"].error(f"{what}: a {kind} joint does not move and has no armature. Take it out.", name=what)
    kinds = {k == "length" for k in JOINTS[kind].coordinate_kinds}
    dimension = NONE if len(kinds) == 2 else MASS if True in kinds else INERTIA
    value = context.number(keys["armature"], dimension, f"{what}: armature")
    if context.numeric(value) < 0.0:
        raise keys["armature"].error(f"{what}: armature is {context.shown(value, dimension)}, it must be 0 or more.", name=what)
    return value


def _axes(
    context: Context,
    shapes: dict[str, Shape],
    kind: str,
    bodies: tuple[str, str],
    points: tuple[str, str],
    keys: dict[str, FileNode],
    what: str,
) -> tuple[Mat3, Mat3]:
    """Rotations of F and M in their bodies."""
    jt = JOINTS[kind]
    main, other = jt.axes
    pin = jt.guide is not None and "angle" in jt.coordinate_kinds  # on a guide: its angle is counted from the body's axes
    given = [k for k in ("axis", "axes", *jt.axis_keys) if k in keys]
    if len(given) > 1:
        raise keys[given[1]].error(f"{what} has `{given[0]}` and `{given[1]}`. Keep one.", name=what)
    first, second = shapes[bodies[0]], shapes[bodies[1]]
    drawn = "connect" not in keys
    if "axes" in keys:
        a, b = (context.direction(n, f"{what}: axes") for n in keys["axes"].sequence(f"{what}: axes", 2))
        if drawn:
            a, b = first.direction_to_local(a), second.direction_to_local(b)
        return _complete(context, main, a), _complete(context, other, b)
    own = first.point_axes(points[0]), second.point_axes(points[1])
    if not given and not drawn:
        return own
    default = vector((1.0, 0.0, 0.0) if main == "x" else (0.0, 0.0, 1.0))
    axis = context.direction(keys[given[0]], f"{what}: {given[0]}") if given else default
    flat = context.planar_drawing and context.numerics(axis)[2] != 0.0 and not any(context.numerics(axis)[:2])
    if main == "z" and context.planar_drawing and (flat or not given or context.planar):
        if given and not flat:
            raise keys[given[0]].error(
                f"{what}: in a plane a {kind} joint turns about the plane's normal. Take out `{given[0]}`.", name=what
            )
        return (EYE3, EYE3) if jt.nv else (EYE3, _carried(EYE3, first, second))
    if not drawn:
        F = _complete(context, main, axis)
        return F, EYE3 if pin and context.planar_drawing else _carried(F, first, second)
    world = _complete(context, main, axis)
    F, M = product(transpose(first.rotation), world), product(transpose(second.rotation), world)
    if pin and context.planar_drawing:
        return F, EYE3
    return F, M


def _complete(context: Context, main: str, axis: Vec3) -> Mat3:
    return frame_along(main, axis, context.numerics(axis))


def _carried(F: Mat3, first: Shape, second: Shape) -> Mat3:
    """F's axes seen from the second body at the start."""
    first.turned = second.turned = True
    return product(transpose(second.pose.rotation), product(first.pose.rotation, F))


def _frame(context: Context, node: FileNode, what: str) -> Placement:
    keys = node.keys(what, POSE_KEYS)
    at = context.vector(keys["at"], LENGTH, what) if "at" in keys else ZERO3
    return Placement(at, context.rotation(keys, what) or EYE3)


def joint_places(node: FileNode | None) -> set[str]:
    """Names of points where written-out joints sit, so that a pin there need not be shared."""
    places: set[str] = set()
    for entry in (node.entries or {}).values() if node else ():
        for key in ("at", "pin"):
            found = (entry.entries or {}).get(key)
            if found is not None and found.text:
                places.add(found.text.strip())
        connect = (entry.entries or {}).get("connect")
        for item in (connect.items or ()) if connect else ():
            places.add((item.text or "").strip().partition(".")[2])
        places |= joint_places((entry.entries or {}).get("chain"))
    return places


# ---------------------------------------------------------------- clearance


def _loosened(context: Context, joints: Sequence[Joint], found: Mapping[str, tuple[FileNode, bool]]) -> tuple[Joint, ...]:
    """The joints of a model; those with clearance hold nothing."""
    known = {j.name: j for j in joints}
    for name, (entry, _) in found.items():
        what = f"clearance '{name}'"
        if not context.planar:
            raise entry.error(f"{what} is in a plane, and this model is in space. Write `plane: xy`, or take it out.", name=name)
        target = (entry.entries or {}).get("joint")
        joint = name if target is None else target.string(f"{what}: joint")
        if joint not in known:
            raise (target or entry).error(f"{what}: there is no joint '{joint}'.", nearest(joint, known, "Joints"), name=joint)
        kind = known[joint].type
        if kind not in MAY:
            raise entry.error(f"{what}: a {kind} joint has no clearance. A pin (revolute) or a slider (prismatic) has.", name=joint)
        if MAY[kind] and MAY[kind] not in (entry.entries or {}):
            of = "of the pin" if MAY[kind] == "radius" else "of the block along its guide"
            raise entry.error(f"{what} needs `{MAY[kind]}:`, the {MAY[kind]} {of}.", name=joint)
        if kind == "revolute" and "length" in (entry.entries or {}):
            raise entry.error(f"{what}: a pin has no `length`. Take it out.", name=joint)
        if known[joint].type != LOOSE and known[joint].armature != 0.0:
            raise entry.error(f"{what}: joint '{joint}' has an armature, which needs an ideal joint. Take it out.", name=joint)
    named = {loose_joint(name, entry) for name, (entry, _) in found.items()}
    return tuple(replace(j, type=LOOSE, options=(), armature=0.0) if j.name in named else j for j in joints)


def loose_joint(name: str, entry: FileNode) -> str:
    target = (entry.entries or {}).get("joint")
    return name if target is None or target.text is None else target.text.strip()


def _own_options(entries: Mapping[str, FileNode]) -> Collection[str]:
    """Options that the type of a joint's entry has, which may be named as a key of its clearance is."""
    written = entries.get("type")
    kind = JOINTS.get((written.text or "").strip()) if written is not None else None
    return () if kind is None else kind.options


def _clearances(joints: FileNode | None, node: FileNode | None) -> dict[str, tuple[FileNode, bool]]:
    """Entries of clearances by name, and whether they are keys of a joint."""
    listed = node.mapping(Clearance.section) if node else {}
    found: dict[str, tuple[FileNode, bool]] = {name: (entry, False) for name, entry in listed.items()}
    twice: dict[str, Any] = {}
    for name, (entry, _) in found.items():
        joint = loose_joint(name, entry)
        if joint in twice:
            raise entry.error(f"clearance '{name}': joint '{joint}' has the clearance '{twice[joint]}' as well. Keep one.", name=joint)
        twice[joint] = name
    for name, joint_node in (joints.mapping("joints") if joints else {}).items():
        entries = joint_node.entries or {}
        own = _own_options(entries)
        given = {key: x for key, x in entries.items() if key in IN_JOINT and key not in own}
        if not given:
            continue
        if "clearance" not in given:
            first = next(iter(given))
            hint = " Friction of an ideal joint is an entry of `friction:`." if first == "mu" else ""
            raise given[first].error(f"joint '{name}' has `{first}` without `clearance`. Add one, or take `{first}` out.{hint}", name=name)
        if name in twice or name in found:
            raise joint_node.error(f"joint '{name}' has `clearance` and an entry in `clearances:`. Keep one.", name=name)
        found[name] = (replace(joint_node, entries=given), True)
    return found
