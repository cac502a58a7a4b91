"""JSON Schema (draft 2020-12) of the model file: completion, hover texts and red lines in any editor.

Elements come from their contract, joints from `JOINTS`; keys of the other sections are the lists of their readers. A schema knows keys,
shapes of values and texts; names that must exist, dimensions and loops stay with `read`. A number may carry a unit or be an expression,
so it is a JSON number or a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from linkwright import elements
from linkwright.elements import (
    AxesRole,
    Clearance,
    Either,
    EndsRole,
    JointRole,
    Key,
    Needs,
    NumberRole,
    PointRole,
    TiedRole,
    Together,
    TurnsRole,
)
from linkwright.elements.base import table_keys, table_together
from linkwright.errors import call_explained
from linkwright.joints import JOINTS
from linkwright.model.curves.laws import LAWS
from linkwright.model.curves.tables import INTERPOLATIONS
from linkwright.model.file.backdrop import BACKDROP_KEYS, FILES
from linkwright.model.file.bodies import BAR_KEYS, BODY_KEYS, MASS_KEYS, MESH_KEYS, PLATE_KEYS, SECTION_KEYS, TENSOR_KEYS
from linkwright.model.file.drives import ACTUATOR_KEYS, DRIVE_KEYS, DRIVE_TOGETHER, GEARBOX_KEYS, MOTOR, MOTOR_NEEDS
from linkwright.model.file.inertia import DENSITIES
from linkwright.model.file.reading_context import PARAMETER_KEYS, POSE_KEYS
from linkwright.model.file.visuals import ROUND_KEYS, VISUAL_KEYS
from linkwright.model.report_block import REPORT_KEYS
from linkwright.text.units import KINDS, NONE, OF_PLACE, Dimension, display_unit

# a name has no spaces and no dots; inside a `repeat` block {i + 1} stands for a number
_LETTERS = r"([^\s.{]|\{[^{}]*\})+"
NAME = f"^{_LETTERS}$"
PLACE = rf"^{_LETTERS}\.{_LETTERS}$"


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def any_of(*forms: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": list(forms)}


def record(forms: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    """An object with these keys and no other."""
    needed = list(required)
    return {"type": "object", "properties": dict(forms), "additionalProperties": False} | ({"required": needed} if needed else {})


def conditions(rules: Iterable[Together]) -> dict[str, Any]:
    """Keys that go together or exclude each other."""
    found = list(rules)
    forms = [_either(rule) for rule in found if isinstance(rule, Either)]
    out: dict[str, Any] = forms[0] if len(forms) == 1 else {"allOf": forms} if forms else {}
    own = [rule for rule in found if isinstance(rule, Needs)]
    single = {rule.key: list(rule.others) for rule in own if len(rule.others) == 1}
    several = {rule.key: _some(rule.others) for rule in own if len(rule.others) > 1}
    return out | ({"dependentRequired": single} if single else {}) | ({"dependentSchemas": several} if several else {})


def _either(rule: Either) -> dict[str, Any]:
    sides = [_some(side) for side in rule.sides]
    if not rule.needed:
        sides.append({"not": _some([key for side in rule.sides for key in side])})
    return {"oneOf": sides} if len(sides) > 1 else sides[0]


def _some(keys: Sequence[str]) -> dict[str, Any]:
    """One of these keys is there, or several."""
    return {"required": list(keys)} if len(keys) == 1 else any_of(*({"required": [key]} for key in keys))


def mapping(one: dict[str, Any], description: str = "", pattern: str = NAME) -> dict[str, Any]:
    """Entries of one form by name; a section without entries is empty."""
    out = {"type": ["object", "null"], "patternProperties": {pattern: one}, "additionalProperties": False}
    return out | ({"description": description} if description else {})


def one_of(choices: Iterable[str], description: str) -> dict[str, Any]:
    """One of some texts; YAML reads a text of digits as a number."""
    found = list(choices)
    return {"enum": [*found, *(int(x) for x in found if x.isdigit())], "description": description}


DRAFT = "https://json-schema.org/draft/2020-12/schema"

ANY = r"^\S+$"
_NAMED = {dimension: name for name, dimension in reversed(KINDS.items())}


@call_explained
def schema() -> dict[str, Any]:
    """Return the JSON Schema of a model file as a dict, for editors and validators.

    Examples
    --------
    >>> schema = lw.schema()
    >>> "springs" in schema["properties"], schema["additionalProperties"]
    (True, False)
    """
    from linkwright.model.file.reader import MODEL_KEYS
    from linkwright.model.file.repeat import SECTIONS

    forms = {**SECTION_FORMS, "joints": ref("joints"), **{s: ref(s) for s in elements.SECTIONS}}
    blocks = {key: forms[key] for key in SECTIONS}
    index = {"type": "string", "pattern": r"\.\.", "description": "range of the index, first..last, for example 1..N"}
    repeated = {"type": "object", "properties": blocks, "additionalProperties": index}
    forms["repeat"] = any_of(repeated, {"type": "array", "items": repeated}, {"type": "null"}) | {
        "description": "sections written out for each value of an index: `i: 1..N`, names with `{i}`"
    }
    return {
        "$schema": DRAFT,
        "title": "Linkwright model",
        "type": "object",
        "properties": {key: forms[key] for key in MODEL_KEYS},
        "additionalProperties": False,
        "$defs": {**shared(), **_laws(), "joints": _joints(), **{s: _section(s) for s in elements.SECTIONS}},
    }


def _laws() -> dict[str, Any]:
    """Forms that elements and drives share."""
    from linkwright.model.file.channel_laws import TABLE_KEYS
    from linkwright.model.file.moves import MOVE_KEYS, MOVE_TOGETHER

    table = _keys(table_keys("channel"))
    move = {
        "to": described("number", "position at the end of the move"),
        "in": described("number", "time, angle or length that the move takes"),
        "law": one_of(LAWS, "motion law of the move"),
        "dwell": described("number", "time, angle or length of a rest"),
    }
    over = {"type": "string", "description": "channel, for example t, A or A.v"}
    curve = record({"over": over, **{key: table[key] for key in TABLE_KEYS}}, ("over",))
    curve |= conditions(table_together(needed=True))
    return {
        "curve": curve,
        "varying": any_of(ref("number"), ref("curve")) | {"description": "a number, an expression of channels, or a curve over a channel"},
        "moves": {"type": "array", "minItems": 1, "items": record({key: move[key] for key in MOVE_KEYS}) | conditions(MOVE_TOGETHER)},
        "interpolation": one_of(INTERPOLATIONS, "curve between the rows"),
    }


# -------------------------------------------------------------------- elements
def _section(section: str) -> dict[str, Any]:
    """Entries by name; one of several kinds is chosen by `type:`, else by the keys that are typical of it."""
    kinds = elements.kinds(section)
    first = kinds[0]
    one: dict[str, Any] = _element(first)
    if len(kinds) > 1:
        one = {"type": "object", **_guessed(kinds)}
        if first.type:
            types = {"anyOf": [{"const": x.type, "description": _text(x)} for x in kinds], "description": "kind (default: by its keys)"}
            by_type = [{"if": {"properties": {"type": {"const": x.type}}}, "then": _element(x)} for x in kinds]
            one = {"type": "object", "properties": {"type": types}, "if": {"required": ["type"]}, "then": {"allOf": by_type}}
            one["else"] = _guessed(kinds)
    elif first.ways:
        one = {"type": "object", **_by_keys([(_only(first, name), _way(first, name)) for name in reversed(first.ways)])}
    return mapping(one, _text(first) if len(kinds) == 1 else f"{first.section} by name")


def _guessed(kinds: Sequence[Any]) -> dict[str, Any]:
    """The kind by its typical keys, as the reader guesses it: the kind with most of them."""
    most = sorted((x for x in kinds if x.typical and x.typical != ("type",)), key=lambda x: -len(x.typical))
    choices = [(set(x.typical) - {k for y in most[i + 1 :] for k in y.typical}, _element(x)) for i, x in enumerate(most)]
    return _by_keys([*choices, (set(), _element(elements.default_kind(kinds)))])


def _by_keys(choices: Sequence[tuple[Iterable[str], dict[str, Any]]]) -> dict[str, Any]:
    """The first form one of whose keys is there; the last form otherwise."""
    (keys, form), *rest = choices
    if not rest:
        return form
    return {"if": {"anyOf": [{"required": [key]} for key in sorted(keys)]}, "then": form, "else": _by_keys(rest)}


def _only(kind: Any, way: str) -> set[str]:
    """Keys that one way of writing an element has and the others do not."""
    return set(kind.ways[way].keys) - {key for other, x in kind.ways.items() if other != way for key in x.keys}


def _way(kind: Any, way: str) -> dict[str, Any]:
    keys, required, one = kind.ways[way]
    forms = _forms(kind)
    single = {key: ref("number") | {"description": kind.further[key].meaning} if key in one else forms[key] for key in keys}
    own = filter(None, (rule.within(keys) for rule in elements.together(kind)))
    return record(single, required) | {"title": way, "description": _text(kind)} | conditions(own)


def _element(kind: Any) -> dict[str, Any]:
    typed = {"type": {"const": kind.type}} if kind.type else {}
    forms = _forms(kind)
    out = record({**typed, **{key: forms[key] for key in elements.keys(kind)}}, elements.required(kind))
    out |= {"title": kind.says or (f"{kind.type} {kind.word}" if kind.type else kind.word), "description": _text(kind)}
    return out | conditions(elements.together(kind))


def _text(kind: Any) -> str:
    return " ".join((kind.__doc__ or "").split())


def _forms(kind: Any) -> dict[str, Any]:
    fields = {elements.key_of(name, role): _field(role) for name, role in elements.roles(kind).items() if name not in kind.hidden}
    return {**fields, **_keys(kind.further)}


def _field(role: Any) -> dict[str, Any]:
    if isinstance(role, NumberRole):
        bounds = {"minimum": role.least, "exclusiveMinimum": role.above, "maximum": role.most}
        one = ref("varying" if role.varies else "number") | {k: x for k, x in bounds.items() if x is not None}
        listed = {"type": "array", "items": one, "minItems": 2, "maxItems": 3}
        each = listed if role.axes == "along" and role.varies else any_of(one, listed)  # laws along axes are given one by one
        form = each if role.axes else one
        return form | {"description": f"{role.meaning}; {measure(role.dimension)}" if measure(role.dimension) else role.meaning}
    said = {"description": role.meaning}
    if isinstance(role, EndsRole):
        return ref("ends") | said
    if isinstance(role, PointRole):
        return ref("name" if role.whole else "place") | said
    if isinstance(role, TurnsRole):
        return {"type": "array", "minItems": 2, "maxItems": 2} | said
    if isinstance(role, (JointRole, AxesRole, TiedRole)):
        return ref("name") | said
    return one_of(role.choices, role.meaning)


_NAMES = {"joint": "name", "body": "name", "point": "place", "number": "number", "moves": "moves"}
_ROW = {"type": "array", "items": ref("number"), "minItems": 2, "maxItems": 2}
_PLAIN: dict[str, dict[str, Any]] = {
    "numbers": {"type": "array", "items": ref("number"), "minItems": 1},
    "table": {"type": "array", "minItems": 2, "items": any_of(ref("number"), _ROW)},
    "flag": ref("flag"),
    "text": {"type": "string"},
    "joints": {"type": "array", "items": ref("name"), "minItems": 2, "maxItems": 2},
    "points": any_of(ref("place"), {"type": "array", "items": ref("place"), "minItems": 2}),
    "sides": {"type": "array", "items": any_of(ref("name"), {"type": "array", "items": ref("name")}), "minItems": 2, "maxItems": 2},
    "factors": mapping(ref("number")),
}


def _keys(keys: Mapping[str, Key]) -> dict[str, Any]:
    return {name: _key(key) for name, key in keys.items()}


def _key(key: Key) -> dict[str, Any]:
    said = f"{key.meaning}; {measure(key.dimension)}" if measure(key.dimension) else key.meaning
    if key.form == "word":
        return one_of(key.choices, said)
    if key.form in ("entries", "items"):
        inner = record(_keys(key.of), [name for name, x in key.of.items() if x.required]) | conditions(key.together)
        listed = {"type": "array", "minItems": 2, "items": any_of(ref("place"), inner)}
        form = inner if key.form == "entries" else listed
    elif key.channels:
        form = ref("varying")
    else:
        form = ref(_NAMES[key.form]) if key.form in _NAMES else _PLAIN[key.form]
    return form | ({"description": said} if said else {})


def measure(dimension: str) -> str:
    """The dimension of a number for people, with its unit in SI; of a number relative to its place both."""
    if dimension in OF_PLACE:
        return " or ".join(dict.fromkeys(measured(x) for x in OF_PLACE[dimension]))
    return measured(KINDS[dimension]) if dimension in KINDS and dimension != "pure number" else ""


# -------------------------------------------------------------------- joints
def _joints() -> dict[str, Any]:
    """Joints and chains; the numbers of a type are required if it is named."""
    from linkwright.model.file.chains import OWN
    from linkwright.model.file.joints_section import IN_JOINT, JOINT_KEYS, owners

    types = [{"const": name, "description": " ".join((jt.__doc__ or "").split())} for name, jt in JOINTS.items()]
    dashed = [{"const": name.replace("_", "-")} for name in JOINTS if "_" in name]
    options = {key: o for jt in JOINTS.values() for key, o in jt.options.items()}
    forms: dict[str, Any] = {
        "type": {"anyOf": [*types, *dashed], "description": "type of the joint; a `pin` alone is revolute"},
        "pin": ref("name") | {"description": "pin of both bodies whose hinge this joint replaces"},
        "between": ref("pair") | {"description": "the two bodies"},
        "at": any_of(ref("name"), ref("vector")) | {"description": "a drawn point, or coordinates in the drawing"},
        "connect": ref("ends") | {"description": "the two points that the joint connects"},
        "axis": ref("vector") | {"description": "direction of the axis"},
        "axes": {"type": "array", "items": ref("vector"), "minItems": 2, "maxItems": 2, "description": "both axes of a universal joint"},
        "frames": {"type": "array", "items": ref("pose"), "minItems": 2, "maxItems": 2, "description": "frame in each body"},
        "armature": ref("number") | {"minimum": 0, "description": "inertia added to the coordinate; inertia (kg m^2) or mass (kg)"},
        "stroke": ref("range") | {"description": "shortest and longest travel of a slider: a rigid stop; length (m)"},
    }
    own = {key: ref("vector") | {"description": f"axis of a {' or '.join(kinds)} joint"} for key, kinds in owners().items()}
    own |= {key: ref("number") | {"description": f"{o.meaning}; {measure(o.dimension)}"} for key, o in options.items()}
    needed = [{"if": {"properties": {"type": {"const": n}}, "required": ["type"]}, "then": {"required": [*jt.options]}}
              for n, jt in JOINTS.items() if jt.options]  # fmt: skip
    keys = {key: forms[key] for key in JOINT_KEYS} | own | {key: form for key, form in _forms(Clearance).items() if key in IN_JOINT}
    joint = record(keys) | {"allOf": needed}
    piece = record({**keys, "guess": ref("pose") | {"description": "pose of the link after it"}})
    chain = record({key: forms[key] if key != "chain" else mapping(piece, "joints from the first to the second body") for key in OWN})
    return mapping({"type": "object", "if": {"required": ["chain"]}, "then": chain, "else": joint}, "joints and chains of joints by name")


# -------------------------------------------------------------------- as text
def schema_text() -> str:
    """Return the schema as indented JSON, the same text every time."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


# General sections of the model file as JSON Schema: drawing, bodies, drive, start and the rest; their keys are the readers' lists.


def measured(dimension: Dimension) -> str:
    """`stiffness (N/m)`: a dimension with its unit in SI."""
    unit = display_unit((), dimension)[0]
    return f"{_NAMED[dimension]} ({unit})" if dimension in _NAMED and unit else unit


def described(form: str, text: str, kind: str = "") -> dict[str, Any]:
    """A shared form with its meaning and its dimension."""
    return ref(form) | {"description": f"{text}; {measured(KINDS[kind])}" if kind else text}


def _list(one: dict[str, Any], least: int = 0, most: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": one, "minItems": least} | ({} if most is None else {"maxItems": most})


def _picked(forms: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Forms of the reader's keys, in its order."""
    return {key: forms[key] for key in keys}


POSE = {
    "at": described("vector", "place", "length"),
    "angle": described("number", "rotation about z", "angle"),
    "rpy": _list(ref("number"), 3, 3) | {"description": "roll, pitch and yaw about fixed axes"},
    "quat": _list(ref("number"), 4, 4) | {"description": "quaternion w, x, y, z"},
    "rotation": ref("matrix") | {"description": "rotation matrix"},
}
MATTER = {
    "material": one_of(DENSITIES, "material, in place of `density`"),
    "density": described("number", "in place of `material`", "density"),
}


def shared() -> dict[str, Any]:
    """Forms that several sections use."""
    point = any_of(ref("vector"), record(_picked(POSE, POSE_KEYS), POSE_KEYS[:1]))
    return {
        "number": {"type": ["number", "string"], "description": "a number, a number with a unit (20 mm), or an expression of parameters"},
        "name": {"type": ["string", "number"]},
        "flag": {"enum": [True, False, "yes", "no", "on", "off"]},
        "place": {"type": "string", "pattern": PLACE, "description": "body.point"},
        "ends": _list(ref("place"), 2, 2),
        "pair": _list(ref("name"), 2, 2),
        "names": any_of(_list(ref("name")), {"type": "null"}),
        "range": _list(ref("number"), 2, 2),
        "vector": _list(ref("number"), 2, 3) | {"description": "[x, y] in a plane, [x, y, z] in space"},
        "matrix": _list(_list(ref("number"), 3, 3), 3, 3),
        "pose": record(_picked(POSE, POSE_KEYS)),
        "points": any_of(ref("names"), mapping(point)),
        "body": _body(),
        "drive": any_of(ref("number"), {"type": "null"}, _drive()),
    }


def _body() -> dict[str, Any]:
    section = {
        "width": described("number", "of a rectangle", "length"),
        "height": described("number", "of a rectangle", "length"),
        "diameter": described("number", "outer diameter", "length"),
        "inner": described("number", "inner diameter of a tube", "length"),
    }
    bar = {"section": record(_picked(section, SECTION_KEYS)) | {"description": "cross-section of the bar"}, **MATTER}
    thickness = described("number", "of the plate", "length")
    plate = {"points": ref("names") | {"description": "corners in order"}, "thickness": thickness, **MATTER}
    mesh = {
        "file": {"type": "string", "description": "closed surface, path relative to the model file"},
        "unit": {"type": "string", "description": "unit of its coordinates, for example mm"},
        "scale": described("number", "factor of its coordinates"),
        **MATTER,
    }
    tensor = record({key: described("number", f"moment {key} about the center of mass", "inertia") for key in TENSOR_KEYS})
    forms = {
        "pins": ref("names") | {"description": "hinges: bodies that name the same pin are joined there"},
        "points": ref("points") | {"description": "drawn points, or points with coordinates in the body"},
        "along": mapping(ref("number"), "stations of a straight bar; length (m)"),
        "sides": mapping(ref("number"), "lengths of sides, `A-B: 300`; length (m)"),
        "outline": _list(ref("names")) | {"description": "lines of the picture, each a list of points"},
        "mass": described("number", "mass of the body", "mass") | {"minimum": 0},
        "com": any_of(ref("name"), ref("vector")) | {"description": "center of mass, a point or coordinates"},
        "inertia": any_of(ref("number"), _list(ref("number"), 3, 3), ref("matrix"), tensor)
        | {"description": f"about the center of mass in body axes; {measured(KINDS['inertia'])}"},
        "physical": ref("flag") | {"description": "false accepts an inertia that no body can have"},
        "bar": any_of(record(_picked(bar, BAR_KEYS)), {"type": "null"}) | {"description": "mass of a straight bar between the pins"},
        "bars": _list(ref("pair"), 1) | {"description": "bars between points, `[[A, B], [B, C]]`"},
        "plate": any_of(record(_picked(plate, PLATE_KEYS)), {"type": "null"}) | {"description": "mass of a plate"},
        "mesh": record(_picked(mesh, MESH_KEYS), MESH_KEYS[:1]) | {"description": "mass of a solid from a mesh file"},
        "visuals": _list(_visual()) | {"description": "shapes for pictures, without mass"},
    }
    return {"type": ["object", "null"]} | {k: v for k, v in record(_picked(forms, _flat(BODY_KEYS))).items() if k != "type"}


def _visual() -> dict[str, Any]:
    sizes = {"radius": described("number", "radius", "length"), "length": described("number", "length along z", "length")}
    shape = record(_picked(sizes, ROUND_KEYS), ROUND_KEYS)
    forms = {
        **POSE,
        "mesh": {"type": "string", "description": "mesh file, path relative to the model file"},
        "box": _list(ref("number"), 3, 3) | {"description": "three edges; length (m)"},
        "cylinder": shape | {"description": "round bar about z"},
        "sphere": described("number", "radius", "length"),
        "capsule": shape | {"description": "round bar with round ends"},
        "unit": {"type": "string", "description": "unit of a mesh, for example mm"},
        "scale": any_of(ref("number"), _list(ref("number"), 3, 3)) | {"description": "factor of a mesh"},
        "color": {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$", "description": 'color, "#rrggbb" in quotes'},
    }
    return record(_picked(forms, VISUAL_KEYS))


def _drive() -> dict[str, Any]:
    texts = {"Kt": "torque constant", "Ke": "voltage constant (default: Kt)", "R": "resistance", "L": "inductance", 
             "J": "inertia of the rotor",
             "gear_ratio": "motor speed over joint speed", "supply_voltage": "most that is applied",
             "efficiency": "efficiency of the gear", "friction": "friction torque",
             "friction_speed": "speed over which the friction turns round", "viscous": "viscous friction", "max_current": "largest current",
             "max_speed": "largest speed", "max_torque": "largest torque", "time_constant": "time constant of the current"}  # fmt: skip
    motor = {k: ref("number") | {"description": texts[k] + (f"; {measured(d)}" if d != NONE else "")} for k, d in MOTOR.items()}
    voltage = described("varying", "applied voltage", "voltage")
    forms = {
        "speed": described("varying", "speed; angular speed (rad/s) or speed (m/s)"),
        "position": described("varying", "position over time; angle (rad) or length (m)"),
        "moves": ref("moves") | {"description": "moves one after the other"},
        "torque": described("varying", "torque of a hinge, force of a slider or cylinder"),
        "force": described("varying", "force of a slider or cylinder", "force"),
        "dc_motor": record({**motor, "voltage": voltage}, MOTOR_NEEDS) | {"description": "DC motor"},
        "undriven": {"description": "the joint moves freely; a controller or a call may drive it"},
        "gear_ratio": described("number", "torque at the joint over the torque given"),
        "limits": any_of(ref("number"), ref("range")) | {"description": "largest torque or force, or [least, most]"},
        "play": described("number", "free travel of the joint against its motor in a run, half of it to each side"),
        "restitution": ref("number") | {"minimum": 0, "maximum": 1, "description": "restitution of impacts at the ends of the play"},
    }
    return record(_picked(forms, (*DRIVE_KEYS, *ACTUATOR_KEYS, *GEARBOX_KEYS))) | conditions(DRIVE_TOGETHER)


def _flat(groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(key for group in groups.values() for key in group)


def _report() -> dict[str, Any]:
    texts = {key: {"type": ["string", "number"], "description": f"{key} in the title block"} for key in _flat(REPORT_KEYS)}
    curves = any_of(ref("name"), _list(ref("name"))) | {"description": "channels that the report plots"}
    return record({**texts, "curves": curves})


def _backdrop() -> dict[str, Any]:
    forms = {
        "file": {"type": "string", "description": f"picture or drawing: {', '.join(FILES)}"},
        "at": described("vector", "place of the lower left corner, of a drawing its origin", "length"),
        "scale": described("number", "length of a pixel, or of a millimeter of a drawing", "length"),
        "angle": described("number", "rotation", "angle"),
        "opacity": described("number", "0 to 1") | {"minimum": 0, "maximum": 1},
    }
    return any_of(record(_picked(forms, BACKDROP_KEYS), BACKDROP_KEYS[:1]), {"type": "null"})


def _units(text: str) -> dict[str, Any]:
    return any_of(_list({"type": "string"}), {"type": "null"}) | {"description": f"{text}, for example [mm, kg, deg]"}


_PARAMETER = {
    "value": described("number", "value"),
    "min": described("number", "lower bound of the value"),
    "max": described("number", "upper bound of the value"),
}
_START = any_of(ref("number"), _list(ref("number"), 2))
_MASS = {
    "body": described("name", "body that carries it"),
    "at": any_of(ref("name"), ref("vector")) | {"description": "a point of the body, or coordinates"},
    "mass": described("number", "point mass", "mass") | {"minimum": 0},
}
SECTION_FORMS: dict[str, Any] = {
    "name": {"type": ["string", "number"], "description": "name of the model"},
    "about": {"type": "string", "description": "description of the model"},
    "report": _report() | {"description": "title block and curves of the report"},
    "units": _units("units of numbers without a unit"),
    "show": _units("units of results"),
    "plane": {"enum": ["xy", "xz", "yz"], "description": "plane of a planar model"},
    "space": ref("flag") | {"description": "true: the planar drawing moves in space"},
    "gravity": any_of(ref("vector"), {"enum": [0, "none", None]}) | {"description": f"{measured(KINDS['acceleration'])}; none by default"},
    "backdrop": _backdrop() | {"description": "background picture"},
    "parameters": mapping(any_of(ref("number"), record(_picked(_PARAMETER, PARAMETER_KEYS), PARAMETER_KEYS[:1])), "numbers by name"),
    "let": mapping(ref("number"), "names for expressions"),
    "drawing": mapping(ref("vector"), "points of the drawing by name"),
    "bodies": mapping(ref("body"), "bodies by name; `ground` is the fixed one"),
    "masses": mapping(record(_picked(_MASS, MASS_KEYS), MASS_KEYS), "point masses by name"),
    "guess": mapping(ref("pose"), "rough poses of bodies by name"),
    "drive": any_of(ref("name"), ref("names"), mapping(ref("drive"))) | {"description": "driven joints and cylinders: `A: 45 rpm`"},
    "start": mapping(_START, "positions and speeds at the start: `A: 60 deg`, `A.v: 45 rpm`", ANY),
    "cuts": any_of(ref("names"), {"const": "auto"}) | {"description": "joints at which loops are cut"},
}
