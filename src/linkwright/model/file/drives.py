"""Drives and start of the mechanism: `drive:`, `start:` and `cuts:`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkwright.elements.base import either, needs
from linkwright.errors import counted, listing, nearest
from linkwright.joints import JOINTS, attitudes, speed_names
from linkwright.model.description import Drive, Joint
from linkwright.model.file.channel_laws import ChannelDimensions, varying
from linkwright.model.file.gearboxes import motor_joint
from linkwright.model.file.key_hints import spaced
from linkwright.model.file.moves import read_moves
from linkwright.model.file.reading_context import Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.quantities import QuantityAlgebra, read_quantity
from linkwright.text.units import (
    ANGLE,
    ANGULAR_SPEED,
    CURRENT,
    FORCE,
    INDUCTANCE,
    INERTIA,
    LENGTH,
    NONE,
    RESISTANCE,
    TIME,
    TORQUE,
    TORQUE_CONSTANT,
    TORSIONAL_DAMPING,
    VOLTAGE,
    Dimension,
    describe,
    matches,
    multiply,
)

DRIVE_KEYS = ("speed", "position", "moves", "torque", "force", "dc_motor", "undriven")
ACTUATOR_KEYS = ("gear_ratio", "limits")  # beside a torque, a force or `undriven`
GEARBOX_KEYS = ("play", "restitution")  # beside any drive: see `gearboxes`
DRIVE_TOGETHER = (
    either((*DRIVE_KEYS, *ACTUATOR_KEYS)),
    either(*DRIVE_KEYS, needed=False),
    either(ACTUATOR_KEYS, ("speed", "position", "moves", "dc_motor"), needed=False),
    needs("restitution", "play"),
)
MOTOR: dict[str, Dimension] = {
    "Kt": TORQUE_CONSTANT, "Ke": TORQUE_CONSTANT, "R": RESISTANCE, "L": INDUCTANCE, "J": INERTIA, "gear_ratio": NONE,
    "supply_voltage": VOLTAGE, "efficiency": NONE, "friction": TORQUE, "friction_speed": ANGULAR_SPEED, "viscous": TORSIONAL_DAMPING,
    "max_current": CURRENT, "max_speed": ANGULAR_SPEED, "max_torque": TORQUE, "time_constant": TIME,
}  # fmt: skip
MOTOR_NEEDS = ("Kt", "R")
RATE = (0, 0, -1, 0, 0)
ANGULAR = ("wx", "wy", "wz")  # of ball and free joints, in the axes of the moving frame


def read_drives(context: Context, node: FileNode | None, channels: ChannelDimensions) -> tuple[Drive, ...]:
    """Every driven joint or cylinder."""
    if node is None or node.text == "":
        return ()
    if node.items is not None or node.text is not None:  # names only
        items = node.items if node.items is not None else (node,)
        drives = [Drive(_target(item.string("drive"), item, channels), "undriven", where=item.where) for item in items]
    else:
        drives = [_drive(context, _target(name, entry, channels), entry, channels) for name, entry in node.mapping("drive").items()]
    names = [d.joint for d in drives]
    for name in names:
        if names.count(name) > 1:
            raise node.error(f"drive: '{name}' is driven twice. Remove one.", name=name)
    return tuple(drives)


def _target(name: str, node: FileNode, channels: ChannelDimensions) -> str:
    if name in channels.lengths:
        return name
    if name not in channels.joints:
        raise node.error(
            f"drive: there is no joint or cylinder '{name}'. {spaced(name, [*channels.joints, *channels.lengths])}"
            f"{nearest(name, [*channels.joints, *channels.lengths], 'Joints and cylinders')}",
            name=name,
            allowed=[*channels.joints, *channels.lengths],
        )
    kinds = JOINTS[channels.joints[name].type].coordinate_kinds
    if len(kinds) != 1:
        raise node.error(
            f"drive: joint '{name}' is {channels.joints[name].type} with {counted(len(kinds), 'coordinate')}. Drive a hinge, a "
            "slider or a cylinder.",
            name=name,
        )
    return name


def _drive(context: Context, name: str, node: FileNode, channels: ChannelDimensions) -> Drive:
    what = f"drive of '{name}'"
    slides = name in channels.lengths or channels.dimension(name) == LENGTH
    if node.text is not None:
        if node.text.strip() in ("undriven", ""):
            return Drive(name, "undriven", where=node.where)
        if node.text.strip() == "free":
            raise node.error(f"{what}: 'free' has a new name: write 'undriven'.", name=what)
        return _by_dimension(context, name, node, slides, channels)
    keys = node.keys(what, (*DRIVE_KEYS, *ACTUATOR_KEYS, *GEARBOX_KEYS))
    gearbox = {k: keys.pop(k) for k in GEARBOX_KEYS if k in keys}
    acting = {k: keys.pop(k) for k in ACTUATOR_KEYS if k in keys}
    if len(keys) != 1 and not (acting and not keys):
        raise node.error(
            f"{what} must have exactly one of {listing(DRIVE_KEYS)}. It has {listing(keys) or 'none'}.", name=what, allowed=DRIVE_KEYS
        )
    kind, entry = next(iter(keys.items())) if keys else ("undriven", node)
    if acting and kind not in ("torque", "force", "undriven"):
        other = " A motor has a `gear_ratio`, `supply_voltage` and `max_current`." if kind == "dc_motor" else ""
        raise next(iter(acting.values())).error(
            f"{what}: `gear_ratio` and `limits` belong to a torque or force, not to `{kind}:`.{other}", name=what
        )
    gear_ratio, limits = _actuator(context, acting, FORCE if slides else TORQUE, what)
    name = _behind_gearbox(name, gearbox, channels, what)
    position = LENGTH if slides else ANGLE
    if kind == "moves":
        return Drive(name, "moves", moves=read_moves(context, entry, (TIME, position), what), where=node.where)
    if kind == "dc_motor":
        motor, voltage = _motor(context, entry, slides, channels, f"{what}: dc_motor")
        own = tuple((k, x) for k, x in motor if not gearbox or k != "J")  # with play the inertia is one of the motor's joint
        return Drive(name, "dc_motor", voltage, motor=own, where=node.where)
    if kind == "undriven":
        return Drive(name, "undriven", where=node.where, gear_ratio=gear_ratio, limits=limits)
    if kind == "force" and not slides:
        raise entry.error(f"{what}: '{name}' turns, so it takes a torque, not a force. Write `torque:`.", name=name)
    dimension = {"speed": multiply(position, RATE), "position": position}.get(kind, FORCE if slides else TORQUE)
    value = varying(context, entry, dimension, channels, f"{what}: {kind}", motion=kind == "position")
    return Drive(name, "torque" if kind == "force" else kind, value, where=node.where, gear_ratio=gear_ratio, limits=limits)


def with_play(node: FileNode | None) -> dict[str, dict[str, FileNode]]:
    """Keys of the drives whose gearboxes have play, by joint."""
    entries = (node.entries or {}).items() if node else ()
    return {name: dict(entry.entries) for name, entry in entries if entry.entries and "play" in entry.entries}


def _behind_gearbox(name: str, keys: Mapping[str, FileNode], channels: ChannelDimensions, what: str) -> str:
    """The joint that a drive acts on: the motor's where the gearbox has play."""
    if "restitution" in keys and "play" not in keys:
        raise keys["restitution"].error(f"{what}: `restitution` belongs to impacts at the ends of a `play`. Give one.", name=what)
    if "play" in keys and name in channels.lengths:
        raise keys["play"].error(f"{what}: a cylinder has no gearbox, so it has no `play`. Take it out.", name=name)
    return motor_joint(name) if "play" in keys else name


def _actuator(context: Context, keys: Mapping[str, FileNode], effort: Dimension, what: str) -> tuple[Any, tuple[Any, Any]]:
    """(gear_ratio, limits of the effort at the joint): `limits: 20 N m` in both directions, `[-5 N m, 20 N m]`, `none` for an open end."""
    gear_ratio: Any = 1.0
    if "gear_ratio" in keys:
        gear_ratio = context.number(keys["gear_ratio"], NONE, f"{what}: gear_ratio")
        if context.numeric(gear_ratio) == 0.0:
            raise keys["gear_ratio"].error(f"{what}: gear_ratio is 0, so that nothing would act. Give another number.", name=what)
    if "limits" not in keys:
        return gear_ratio, (None, None)
    node = keys["limits"]
    if node.items is None:
        most = context.number(node, effort, f"{what}: limits")
        if context.numeric(most) <= 0.0:
            raise node.error(f"{what}: limits is {context.shown(most, effort)}, it must be greater than zero.", name=what)
        return gear_ratio, (-most, most)
    ends = [None if (n.text or "").strip() == "none" else context.number(n, effort, f"{what}: limits") for n in node.sequence(what, 2)]
    if None not in ends and context.numeric(ends[0]) >= context.numeric(ends[1]):
        shown = [context.shown(x, effort) for x in ends]
        raise node.error(f"{what}: limits: {shown[0]} is not below {shown[1]}. Exchange or correct them.", name=what)
    return gear_ratio, (ends[0], ends[1])


def _by_dimension(context: Context, name: str, node: FileNode, slides: bool, channels: ChannelDimensions) -> Drive:
    """`A: 45 rpm` is a speed, `A: 90 deg` a position, `A: 2 N m` a torque; a bare number is a speed."""
    what = f"drive of '{name}'"
    position = LENGTH if slides else ANGLE
    choices = {"speed": multiply(position, RATE), "torque": FORCE if slides else TORQUE}
    quantity = read_quantity(node, QuantityAlgebra(context.units, context.algebra.names))
    if quantity.dimension == NONE:
        value = context.number(node, choices["speed"], f"{what} (a bare number is a speed)")
        return Drive(name, "speed", value, where=node.where)
    if quantity.dimension == position:
        return Drive(name, "position", varying(context, node, position, channels, what), where=node.where)
    for kind, dimension in choices.items():
        if matches(quantity.dimension, dimension):
            return Drive(name, kind, varying(context, node, dimension, channels, what), where=node.where)
    examples = "20 mm/s, 50 mm or 100 N" if slides else "45 rpm, 90 deg or 2 N m"
    raise node.error(
        f"{what}: '{node.text}' is {describe(quantity.dimension)}. A {'slider' if slides else 'hinge'} takes a speed, position or "
        f"effort such as {examples}.",
        name=node.text,
    )


def _motor(
    context: Context, node: FileNode, slides: bool, channels: ChannelDimensions, what: str
) -> tuple[tuple[tuple[str, Any], ...], Any]:
    """(data of the motor's name plate, its voltage)."""
    keys = node.keys(what, (*MOTOR, "voltage"), MOTOR_NEEDS)
    dimensions = {**MOTOR, "gear_ratio": multiply(ANGLE, LENGTH, -1)} if slides else MOTOR
    fed = keys.pop("voltage", None)
    values = {k: context.number(n, dimensions[k], f"{what}: {k}") for k, n in keys.items()}
    for key, value in values.items():
        if key in ("L", "J", "friction", "viscous", "Ke"):
            if context.numeric(value) < 0.0:
                raise keys[key].error(f"{what}: {key} must not be negative.", name=what)
        elif context.numeric(value) <= 0.0:
            raise keys[key].error(f"{what}: {key} must be greater than zero.", name=what)
    if "time_constant" in values and context.numeric(values.get("L", 0.0)) > 0.0:
        raise keys["time_constant"].error(f"{what}: with an inductance L the time constant is L/R. Leave one of the two out.", name=what)
    if context.numeric(values.get("efficiency", 1.0)) > 1.0:
        raise keys["efficiency"].error(f"{what}: efficiency must be at most 1.", name=what)
    voltage = 0.0 if fed is None else varying(context, fed, VOLTAGE, channels, f"{what}: voltage")
    return tuple(values.items()), voltage


def read_start(context: Context, node: FileNode | None, channels: ChannelDimensions) -> tuple[tuple[str, Any], ...]:
    """Positions and speeds of joints (and cylinders) at the start: `A: 60 deg`, `A.v: 45 rpm`, one of several `C.slide: 20 mm`."""
    start: dict[str, Any] = {}
    for channel, entry in (node.mapping("start") if node else {}).items():
        what = f"start of '{channel}'"
        head, dot, tail = channel.partition(".")
        kind = JOINTS[channels.joints[head].type] if head in channels.joints else None
        if kind is not None and tail.removesuffix(".v") in speed_names(kind):  # with or without `.v`
            tail = f"{kind.v_names[speed_names(kind)[tail.removesuffix('.v')]]}.v"
            channel = f"{head}.{tail}"
        if kind is not None and tail in attitudes(kind):
            start[channel] = _attitude(context, entry, tail, attitudes(kind)[tail], what)
            continue
        one = _one_of_several(channels.joints, head, tail)
        if one is not None:
            value = context.number(entry, one, what)
            whole, name = f"{head}.v" if tail.endswith(".v") else head, tail.removesuffix(".v")
            if entry.si and whole in start:  # a component in the call, the list in the file
                joint = JOINTS[channels.joints[head].type]
                names = joint.v_names if whole != head else joint.q_names
                start[whole] = tuple(value if n == name else x for n, x in zip(names, start[whole], strict=True))
            else:
                start[channel] = value
            continue
        known = head in channels.joints or head in channels.lengths
        if not known or (dot and tail != "v"):
            each = [(j, n) for j, x in channels.joints.items() for n in JOINTS[x.type].v_names]
            parts = [f"{j}.{n}" for j, n in each if _one_of_several(channels.joints, j, f"{n}.v")]
            places = [*channels.joints, *(p for p in parts if p.split(".")[1] not in ANGULAR), *channels.lengths]
            short = [f"{j}.{n}" for j, x in channels.joints.items() for n in (*attitudes(JOINTS[x.type]), *speed_names(JOINTS[x.type]))]
            allowed = [*places, *short, *(f"{j}.v" for j in dict.fromkeys((*places, *parts)))]
            raise entry.error(
                f"{what}: there is no such joint or speed. {nearest(channel, allowed, 'Joints')} A speed is written `A.v: 45 rpm`.",
                name=channel,
                allowed=allowed,
            )
        dimension = channels.dimension(channel)
        if dimension is not None:
            start[channel] = context.number(entry, dimension, what)
            continue
        if entry.si:  # the list in the call, components in the file
            parts = {f"{head}.{n}{'.v' if dot else ''}" for n in JOINTS[channels.joints[head].type].v_names}
            start = {k: x for k, x in start.items() if k not in parts}
        start[channel] = _several(context, channels.joints, head, bool(dot), entry, what)
    return tuple(start.items())


def _attitude(context: Context, node: FileNode, name: str, count: int, what: str) -> tuple[Any, ...]:
    """A rotation as a quaternion wxyz, or as roll, pitch and yaw about fixed axes."""
    found = tuple(context.number(n, NONE if name == "quat" else ANGLE, what) for n in node.sequence(what, count))
    if name == "quat" and not any(context.numeric(x, node) for x in found):
        raise node.error(f"{what} is zero, which is not a rotation. Without one write [1, 0, 0, 0].", name=what)
    return found


def _one_of_several(joints: Mapping[str, Joint], head: str, tail: str) -> Dimension | None:
    """Dimension of `slide` or `slide.v` of a joint of several coordinates; None if it is no such coordinate.

    Of a quaternion only the angular velocity has components: `wx.v`.
    """
    name, _, rate = tail.partition(".")
    joint = JOINTS[joints[head].type] if head in joints else None
    if joint is None or not name or name not in joint.v_names or rate not in ("", "v") or (name not in joint.q_names and not rate):
        return None
    dimension = LENGTH if name in joint.q_names and joint.coordinate_kinds[joint.q_names.index(name)] == "length" else ANGLE
    return multiply(dimension, RATE) if rate else dimension


def _several(context: Context, joints: Mapping[str, Joint], name: str, rate: bool, node: FileNode, what: str) -> tuple[Any, ...]:
    """The coordinates of a joint with several: one value for each, in the joint's order."""
    joint = JOINTS[joints[name].type]
    kinds = joint.coordinate_kinds
    if rate and "quaternion" in kinds:  # angular velocity, then what translates
        kinds = ("angle",) * 3 + tuple(k for k in kinds if k != "quaternion")
    if not kinds:
        raise node.error(f"{what}: joint '{name}' is fixed and has no coordinate. Take it out.", name=name)
    dimension = {"angle": ANGLE, "length": LENGTH, "quaternion": NONE}
    names = joint.v_names if rate else joint.q_names
    items = node.sequence(f"{what} ({joints[name].type}: {', '.join(names)})", len(kinds))
    rates = [multiply(dimension[k], RATE) if rate else dimension[k] for k in kinds]
    return tuple(context.number(n, d, what) for n, d in zip(items, rates, strict=True))


def read_cuts(node: FileNode | None, joints: Mapping[str, Joint]) -> tuple[str, ...] | None:
    """Joints to cut, or None: the program chooses."""
    if node is None or node.text in ("", "auto"):
        return None
    names = []
    for item in node.sequence("cuts"):
        name = item.string("cuts")
        if name not in joints:
            raise item.error(f"cuts: there is no joint '{name}'.", nearest(name, joints, "Joints"))
        if name in names:
            raise item.error(f"cuts: '{name}' is listed twice. Remove one.", name=name)
        names.append(name)
    return tuple(names)
