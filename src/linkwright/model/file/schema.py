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
from linkwright.elements import AxesRole, EndsRole, JointRole, Key, NumberRole, PointRole, TiedRole, TurnsRole
from linkwright.elements.base import table_keys, table_together
from linkwright.errors import call_explained
from linkwright.joints import JOINTS
from linkwright.model.curves.laws import LAWS
from linkwright.model.curves.tables import INTERPOLATIONS
from linkwright.model.file.schema_parts import any_of, conditions, mapping, one_of, record, ref
from linkwright.model.file.schema_sections import SECTION_FORMS, described, measured, shared
from linkwright.text.units import KINDS, OF_PLACE

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@call_explained
def schema() -> dict[str, Any]:
    """Return the JSON Schema of a model file as a dict."""
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
    from linkwright.model.file.loads import TABLE_KEYS
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
        types = {"anyOf": [{"const": x.type, "description": _text(x)} for x in kinds], "description": "kind; left out: by its keys"}
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
    return _by_keys([*choices, (set(), _element(next(x for x in kinds if not x.typical)))])


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
    "points": any_of(ref("place"), ref("ends")),
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
    from linkwright.model.file.joints_section import JOINT_KEYS, owners

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
        "armature": ref("number")
        | {"minimum": 0, "description": "inertia added to the coordinate; inertia (kg m^2) or mass (kg)"},
        "stroke": ref("range") | {"description": "shortest and longest travel of a slider: a rigid stop; length (m)"},
    }
    own = {key: ref("vector") | {"description": f"axis of a {' or '.join(kinds)} joint"} for key, kinds in owners().items()}
    own |= {key: ref("number") | {"description": f"{o.meaning}; {measure(o.dimension)}"} for key, o in options.items()}
    needed = [{"if": {"properties": {"type": {"const": n}}, "required": ["type"]}, "then": {"required": [*jt.options]}}
              for n, jt in JOINTS.items() if jt.options]  # fmt: skip
    keys = {key: forms[key] for key in JOINT_KEYS} | own
    joint = record(keys) | {"allOf": needed}
    piece = record({**keys, "guess": ref("pose") | {"description": "pose of the link after it"}})
    chain = record({key: forms[key] if key != "chain" else mapping(piece, "joints from the first to the second body") for key in OWN})
    return mapping({"type": "object", "if": {"required": ["chain"]}, "then": chain, "else": joint}, "joints and chains of joints by name")


# -------------------------------------------------------------------- as text


def schema_text() -> str:
    """Return the schema as indented JSON, the same text every time."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
