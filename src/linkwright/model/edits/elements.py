"""Everything attached to bodies and joints: sliders and slots, cylinders, rods, gears, springs, dampers, loads and drives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from linkwright import joints
from linkwright.elements import COORDINATES, EndsRole, JointRole, article, key_of, kinds, numbers, roles
from linkwright.errors import UsageError, nearest
from linkwright.model.description import GROUND
from linkwright.model.edits.drawing_draft import DraftJoint
from linkwright.model.edits.edit_in_progress import Job
from linkwright.model.edits.points import make_pin, mark, new_point, unpin, where
from linkwright.model.file.text_edits import SPECIAL, key_text, number, quantity
from linkwright.text.units import ANGLE, ANGULAR_SPEED, FORCE, LENGTH, NONE, SPEED, TORQUE, Dimension, dimension_of

DIRECTION_DIGITS = 12
ALONG = 0.03  # sine of the angle of a guide with the link that carries it, distance of its pin over the length of the link: drawn by hand
SLIDER, SLOT = "prismatic", "pin_slot"  # types of joints that the file calls so


def add_slider(job: Job, op: Mapping[str, Any]) -> None:
    """A block with a pin on a straight guide, or a body that exists on one."""
    _guided(job, op, SLIDER, "axis")


def add_slot(job: Job, op: Mapping[str, Any]) -> None:
    """A pin of a body in a straight slot of another."""
    _guided(job, op, SLOT, "slot")


def _guided(job: Job, op: Mapping[str, Any], kind: str, key: str) -> None:
    at = where(job, op.get("at"))
    on = str(op.get("on") or _carrier(job, at, _axis(job, op)))
    if on == GROUND and on not in job.draft.bodies:
        job.sheet.add(("bodies", GROUND), "{}")
    elif on != GROUND:
        job.body(on)
    slides = kind is SLIDER
    if op.get("body"):
        body = job.body(op["body"]).name
    elif slides:
        body = job.new_name(op.get("name"), "bodies", "slider")
        job.sheet.add(("bodies", body), f"{{pins: [{key_text(at, True)}]}}")
        for other in job.draft.bodies_at(at):
            if other not in (body, on):
                make_pin(job, other, at)
    else:
        found = [b for b in job.draft.bodies_at(at) if b != on]
        if len(found) != 1:
            raise UsageError(f"{len(found) or 'no'} bodies have a pin at {at}. Choose the body that runs in the slot, or draw a "
                "link to it first.")
        body = found[0]
    if body == on:
        raise UsageError(f"'{body}' cannot be guided alone. Choose another body.", name=body)
    name = job.free_name("guide" if slides else "slot")
    ends = f"[{key_text(on, True)}, {key_text(body, True)}]"
    job.sheet.add(("joints", name), f"{{type: {kind}, between: {ends}, at: {key_text(at, True)}, {key}: {_direction(job, op)}}}")
    job.done(f"Add {'slider' if slides else 'slot'} {body}", f"joint:{name}", f"body:{body}")


def _carrier(job: Job, at: str, axis: tuple[float, float]) -> str:
    """Return the link that runs along a guide and passes below its pin, without a pin there: a lever with a slot; or the ground."""
    place, there = job.draft.points[at].at, job.draft.bodies_at(at)
    for body in job.draft.bodies.values():
        if body.ground or body.name in there or body.fixed:
            continue
        for one, other in pairwise([job.draft.points[name].at for name in body.pins if name in job.draft.points]):
            link = (other[0] - one[0], other[1] - one[1])
            far = (place[0] - one[0], place[1] - one[1])
            length, size = math.hypot(*link), math.hypot(*axis)
            if length == 0.0 or abs(link[0] * axis[1] - link[1] * axis[0]) > ALONG * length * size:
                continue
            share = (far[0] * link[0] + far[1] * link[1]) / length**2
            if 0.0 < share < 1.0 and abs(far[0] * link[1] - far[1] * link[0]) <= ALONG * length**2:
                return body.name
    return GROUND


def _axis(job: Job, op: Mapping[str, Any]) -> tuple[float, float]:
    """Return the direction of a guide, as it was given."""
    angle = op.get("angle")
    if angle not in (None, ""):
        value = job.si(angle, ANGLE, "the angle of the guide")
        return math.cos(value), math.sin(value)
    axis = op.get("axis", (1.0, 0.0))
    if not isinstance(axis, Sequence) or isinstance(axis, str) or len(axis) != 2:
        raise UsageError("the axis of a guide is a direction [x, y], or give its angle.", name="axis")
    x, y = (job.si(v, NONE, "the axis of the guide") for v in axis)
    if math.hypot(x, y) == 0.0:
        raise UsageError("the axis of the guide is zero, which is not a direction. Give one such as [1, 0].", name="axis")
    return x, y


def _direction(job: Job, op: Mapping[str, Any]) -> str:
    """An axis as it is written: an angle that was typed stays one."""
    angle = op.get("angle")
    if isinstance(angle, str) and angle.strip():
        text = angle.strip() if not angle.strip().replace(".", "").replace("-", "").isdigit() else ""
        if text and not SPECIAL.search(text):
            job.si(angle, ANGLE, "the angle of the guide")
            return f"[cos({text}), sin({text})]"
    x, y = _axis(job, op)
    size = math.hypot(x, y)
    larger = max(abs(x), abs(y))
    plain = (abs(x) == larger and abs(y) == 0.0) or (abs(y) == larger and abs(x) == 0.0)
    x, y = (x / larger, y / larger) if plain else (x / size, y / size)
    return f"[{number(round(x, DIRECTION_DIGITS))}, {number(round(y, DIRECTION_DIGITS))}]"


# -------------------------------------------------------------------- between two points


def end(job: Job, given: Any) -> str:
    """`body.point` of an end: by that name, by a point whose body is found, or a new point {at, body}. A pin at which nothing is hinged
    becomes a marked point: an eye of a spring or cylinder is no hinge."""
    found = _end(job, given)
    body, _, point = found.partition(".")
    draft = job.draft
    alone = draft.bodies_at(point) == [body] and point in draft.bodies[body].pins and point not in draft.bodies[body].stations
    if alone and not any(j.point == point for j in draft.joints.values()) and not draft.bodies[body].fixed:
        unpin(job, body, point)
    return found


def _end(job: Job, given: Any) -> str:
    if isinstance(given, Mapping):
        body = str(given.get("body") or GROUND)
        if body == GROUND and body not in job.draft.bodies:
            job.sheet.add(("bodies", GROUND), "{}")
        job.body(body)
        if isinstance(given.get("point"), str):
            mark(job, body, job.point(given["point"]).name)
            return f"{body}.{given['point']}"
        name = new_point(job, given.get("at"), given.get("name"))
        mark(job, body, name)
        return f"{body}.{name}"
    if not isinstance(given, str):
        raise UsageError("an end is body.point, the name of a point, or {'at': [x, y], 'body': 'ground'}.")
    body, dot, point = given.partition(".")
    if dot:
        found = job.draft.bodies.get(body)
        if found is None:
            raise UsageError(f"there is no body '{body}'.", nearest(body, job.draft.bodies, "Bodies"))
        if point not in found.points:
            raise UsageError(f"body '{body}' has no point '{point}'.", nearest(point, found.points, "Its points"))
        return given
    point = job.point(given).name
    owners = job.draft.bodies_at(point)
    if not owners:
        raise UsageError(f"no body has the point {point}. Draw a link through it first, or fix it to the ground.")
    return f"{owners[0]}.{point}"


def _between(job: Job, op: Mapping[str, Any]) -> str:
    given = op.get("between")
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
        raise UsageError("it runs between two ends: ['crank.B', 'ground.E'].")
    a, b = (end(job, x) for x in given)
    if a.partition(".")[0] == b.partition(".")[0]:  # points that several bodies have leave a choice
        ways = [
            [one] if not _is_open(x) else [f"{body}.{x}" for body in job.draft.bodies_at(x)] for one, x in zip((a, b), given, strict=True)
        ]
        pairs = [(x, y) for x in ways[0] for y in ways[1] if x.partition(".")[0] != y.partition(".")[0]]
        if not pairs:
            raise UsageError(
                f"both ends are on '{a.partition('.')[0]}', so nothing would move it. Choose a point of another body.",
                name=a.partition('.')[0],
            )
        a, b = pairs[0]
    return f"[{key_text(a, True)}, {key_text(b, True)}]"


def _is_open(given: Any) -> bool:
    """True if an end is given by a point alone."""
    return isinstance(given, str) and "." not in given


def addable(kind: Any) -> str:
    """Place of an element that can be drawn without typing a number, "ends" or "joint": what it needs is preset, or follows from the
    drawing; "" for others."""
    typed = any(not r.optional and not r.drawn and r.preset is None for r in numbers(kind).values())
    if typed or (kind.form and not kind.coordinate and not kind.meets):
        return ""
    places = [type(r) for r in roles(kind).values()]
    if EndsRole in places:
        return "ends"
    return "joint" if JointRole in places and any(r.preset for r in numbers(kind).values()) else ""


def add_element(section: str, job: Job, op: Mapping[str, Any]) -> None:
    """An element of `linkwright.elements` between two points, or in a joint, with preset numbers where none are given."""
    role = JointRole if op.get("joint") else EndsRole
    fitting = [x for x in kinds(section) if any(isinstance(r, role) for r in roles(x).values())]
    if not fitting:
        raise UsageError(f"{article(kinds(section)[0].word)} does not act {'in a joint' if role is JointRole else 'between two points'}.")
    kind = next((x for x in fitting if x.type == op.get("type")), fitting[0])
    if role is JointRole:
        joint = _joint(job, op["joint"])
        slides, place = _slides(joint), f"joint: {key_text(joint.name, True)}"
    else:
        slides, place = True, f"between: {_between(job, op)}"
    parts = [place]
    for field, size in numbers(kind).items():
        key, dimension = key_of(field, size), dimension_of(size.dimension, slides)
        if op.get(key) not in (None, ""):
            parts.append(f"{key}: {job.written(op[key], dimension, f'the {key}', positive=size.above is not None)}")
        elif size.preset is not None and size.preset[0 if slides else 1]:
            parts.append(f"{key}: {quantity(size.preset[0 if slides else 1], dimension, job.sheet.units)}")
    _add(job, section, kind.word, op, f"{{{', '.join(parts)}}}")


def add_load(kind: Any, job: Job, op: Mapping[str, Any]) -> None:
    """A force at a point of a body, or a moment on a body."""
    given = op.get("on")
    on = job.body(given).name if isinstance(given, str) and given in job.draft.bodies else end(job, given)
    parts = []
    if op.get("force") is not None:
        parts.append(f"force: {job.pair(op['force'], FORCE, 'the force')}")
    if op.get("moment") not in (None, ""):
        parts.append(f"moment: {job.written(op['moment'], TORQUE, 'the moment')}")
    push = 100.0  # N: of a load that is drawn before its force is known
    if not parts:
        parts = [f"force: [0, {quantity(-push, FORCE, job.sheet.units)}]"]
    _add(job, kind.section, kind.word, op, f"{{on: {key_text(on, True)}, {', '.join(parts)}}}")


def _add(job: Job, section: str, stem: str, op: Mapping[str, Any], value: str) -> None:
    name = job.new_name(op.get("name"), section, stem)
    job.sheet.add((section, name), value)
    job.done(f"Add {stem} {name}", f"{stem}:{name}")


# -------------------------------------------------------------------- joints


def _joint(job: Job, name: Any) -> DraftJoint:
    found = job.draft.joints.get(str(name))
    if found is None:
        pins = [j for j in job.draft.joints.values() if j.point == name]
        if len(pins) == 1:
            return pins[0]
        raise UsageError(f"there is no joint '{name}'.", nearest(str(name), job.draft.joints, "Joints"))
    return found


def _slides(joint: DraftJoint) -> bool:
    return joints.is_slider(joints.JOINTS[joint.type])


def add_gears(kind: Any, job: Job, op: Mapping[str, Any]) -> None:
    """Two wheels on hinges, or a pinion on a hinge and a rack on a slider."""
    if op.get("pinion"):
        pinion, rack = _joint(job, op["pinion"]), _joint(job, op.get("rack"))
        if _slides(pinion) or not _slides(rack):
            raise UsageError("the pinion is on a hinge and the rack on a slider. Choose them so.")
        radius = job.written(op.get("radius"), LENGTH, "the radius", positive=True)
        value = f"{{pinion: {key_text(pinion.name, True)}, rack: {key_text(rack.name, True)}, radius: {radius}}}"
        _add(job, kind.section, kind.word, op, value)
        return
    given = op.get("joints")
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
        raise UsageError("a gear pair is on two hinges, ['A', 'B'].")
    a, b = (_joint(job, x) for x in given)
    wheels = f"[{key_text(a.name, True)}, {key_text(b.name, True)}]"
    if a.name == b.name or not all(joints.is_hinge(joints.JOINTS[j.type]) for j in (a, b)):
        raise UsageError("a gear pair is on two different hinges. Choose two.")
    internal = bool(op.get("internal"))
    ring = ", internal: true" if internal else ""
    _add(job, kind.section, kind.word, op, f"{{joints: {wheels}, {_wheels(job, op, a, b, internal)}{ring}}}")


def _wheels(job: Job, op: Mapping[str, Any], a: DraftJoint, b: DraftJoint, internal: bool) -> str:
    """Radii or teeth; by default wheels of one size that touch, a ring of three times its pinion."""
    if op.get("teeth") is not None:
        teeth = op["teeth"]
        if not isinstance(teeth, Sequence) or len(teeth) != 2 or op.get("module") in (None, ""):
            raise UsageError("wheels by teeth need two numbers of teeth and the module.")
        counts = ", ".join(job.written(x, NONE, "the number of teeth", positive=True) for x in teeth)
        return f"teeth: [{counts}], module: {job.written(op['module'], LENGTH, 'the module', positive=True)}"
    radii = op.get("radii")
    if radii is None:
        if a.at is None or b.at is None or math.dist(a.at, b.at) == 0.0:
            raise UsageError("the hinges of the gears are at one place, so the radii must be given.")
        size = math.dist(a.at, b.at)
        radii = (0.5 * size, 1.5 * size) if internal else (0.5 * size, 0.5 * size)
    if not isinstance(radii, Sequence) or len(radii) != 2:
        raise UsageError("a gear pair has two radii.")
    return f"radii: [{', '.join(job.written(x, LENGTH, 'the radius', positive=True) for x in radii)}]"


def set_drive(job: Job, op: Mapping[str, Any]) -> None:
    """The drive of a joint or cylinder; null removes it."""
    given, value = op.get("joint"), op.get("value")
    line = any((section, str(given)) in job.draft.parts for section in COORDINATES)
    name = str(given) if line or ("drive", str(given)) in job.draft.parts else _joint(job, given).name
    _as_mapping(job)
    if value in (None, ""):
        job.sheet.remove(("drive", name))
        job.done(f"Remove the drive of {name}")
        return
    slides = line or (name in job.draft.joints and _slides(job.draft.joints[name]))
    if isinstance(value, Mapping):
        inner = ", ".join(f"{k}: {_plain(job, x, SPEED if slides else ANGULAR_SPEED)}" for k, x in value.items())
        text = f"{{{inner}}}"
    else:
        text = _plain(job, value, SPEED if slides else ANGULAR_SPEED)
    job.sheet.put(("drive", name), text)
    job.done(f"Drive {name}", f"drive:{name}")


def _plain(job: Job, value: Any, dimension: Dimension) -> str:
    """A drive's value: a number is a speed in SI, a text stays as it is typed."""
    if not isinstance(value, str):
        return job.written(value, dimension, "the speed")
    text = value.strip()
    return f'"{text}"' if SPECIAL.search(text) else text


def _as_mapping(job: Job) -> None:
    """`drive: [A, B]` and `drive: A` as a mapping, so that one of them can have a value."""
    node = job.sheet.node("drive")
    if node is None or node.entries is not None or node.text == "":
        return
    names = [(n.text or "").strip() for n in (node.items if node.items is not None else (node,))]
    job.sheet.replace(("drive",), f"{{{', '.join(f'{key_text(n, True)}: undriven' for n in names)}}}")


FORMS = {"gear": add_gears}  # form of an element in the file -> what adds one
