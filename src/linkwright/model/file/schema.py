"""JSON Schema of the model file, from the contracts of elements and joints: completion, hover texts and red lines in any editor.

    write_schema("model.schema.json")        # yaml-language-server: $schema=model.schema.json   at the head of a model file

A schema knows keys, shapes of values and texts; names that must exist, dimensions and loops stay with `read`. Numbers may carry a unit or
be expressions, so that a number is a JSON number or a text.
"""

from __future__ import annotations

from typing import Any

from linkwright import elements
from linkwright.elements import AxesRole, EndsRole, JointRole, NumberRole, PointRole, TurnsRole
from linkwright.joints import JOINTS
from linkwright.model.file.units import KINDS, OF_PLACE, describe

NAME = "^[^\\s.]{1,100}$"
PLACE = "^[^\\s.]+\\.[^\\s.]+$"


def schema() -> dict[str, Any]:
    """The schema; sections that no contract describes yet are open."""
    from linkwright.model.file.reader import KEY_GROUPS, PLANES

    properties: dict[str, Any] = {key: {"description": f"one of {group}"} for group, keys in KEY_GROUPS.items() for key in keys}
    properties |= {s: _section([_element(kind) for kind in elements.kinds(s)], elements.kinds(s)[0]) for s in elements.SECTIONS}
    properties["joints"] = {"type": "object", "additionalProperties": _joint()}
    properties["plane"] = {"enum": list(PLANES)}
    properties["name"] = properties["about"] = {"type": "string"}
    properties["parameters"] = {"type": "object", "additionalProperties": {"anyOf": [_ref("number"), {"type": "object"}]}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Linkwright model",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": {
            "number": {"type": ["number", "string"], "description": "a number, `20 mm`, or an expression of parameters"},
            "varying": {"anyOf": [_ref("number"), {"type": "object", "required": ["over"], "properties": {"over": {"type": "string"}}}]},
            "place": {"type": "string", "pattern": PLACE},
            "ends": {"type": "array", "items": _ref("place"), "minItems": 2, "maxItems": 2},
        },
    }


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _section(kinds: list[dict[str, Any]], first: Any) -> dict[str, Any]:
    one = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return {"type": "object", "description": (first.__doc__ or "").strip(), "patternProperties": {NAME: one}, "additionalProperties": False}


def _element(kind: Any) -> dict[str, Any]:
    fields = {elements.key_of(name, role): _field(role) for name, role in elements.roles(kind).items()}
    typed = {"type": {"const": kind.type}} if kind.type else {}
    out = {
        "type": "object",
        "title": kind.says or kind.type or kind.word,
        "description": " ".join((kind.__doc__ or "").split()),
        "properties": {**typed, **fields},
        "additionalProperties": False,
    }
    out |= {"required": list(elements.required(kind))} if elements.required(kind) else {}
    choice = [name for name, r in elements.roles(kind).items() if r.optional and isinstance(r, (EndsRole, JointRole))]
    out |= {"oneOf": [{"required": [name]} for name in choice]} if choice else {}
    return out | ({"anyOf": [{"required": [k]} for k in kind.some_of]} if kind.some_of else {})


def _field(role: Any) -> dict[str, Any]:
    if isinstance(role, NumberRole):
        said = " or ".join(describe(x) for x in OF_PLACE[role.dimension]) if role.dimension in OF_PLACE else describe(KINDS[role.dimension])
        bounds = {"minimum": role.least, "exclusiveMinimum": role.above, "maximum": role.most}
        one = _ref("varying" if role.varies else "number") | {k: x for k, x in bounds.items() if x is not None}
        many = {"type": "array", "items": one, "minItems": 2, "maxItems": 3}
        return ({"anyOf": [one, many]} if role.axes else one) | {"description": f"{role.meaning}; {said}"}
    if isinstance(role, EndsRole):
        return _ref("ends") | {"description": role.meaning}
    if isinstance(role, TurnsRole):
        return {"type": "array", "minItems": 2, "maxItems": 2, "description": role.meaning}
    assert isinstance(role, (JointRole, PointRole, AxesRole))
    return {"type": "string", "description": role.meaning}


def _joint() -> dict[str, Any]:
    """Types with their texts; numbers of a type are required where it is named."""
    said = [{"const": name, "description": " ".join((jt.__doc__ or "").split())} for name, jt in JOINTS.items()]
    needed = [
        {"if": {"properties": {"type": {"const": name}}, "required": ["type"]}, "then": {"required": list(jt.options)}}
        for name, jt in JOINTS.items() if jt.options
    ]  # fmt: skip
    options = {
        key: _ref("number") | {"description": f"{o.meaning}; {describe(KINDS[o.dimension])}"}
        for jt in JOINTS.values() for key, o in jt.options.items()
    }  # fmt: skip
    return {"type": "object", "properties": {"type": {"anyOf": [*said, {"type": "string"}]}, **options}, "allOf": needed}


def grammar() -> str:
    """The lines of docs/model-grammar.md for the elements that have a contract."""
    out = []
    for section in elements.SECTIONS:
        among = elements.kinds(section)
        names = [x.type or x.word for x in among]
        if len(among) > 1:
            out.append(f"{among[0].word:10s} = {' | '.join(names)}")
        for x, name in zip(among, names, strict=True):
            keys = [f"{elements.key_of(n, r)}{'?' if r.optional else ''}: {_said(r)}" for n, r in elements.roles(x).items()]
            out.append(f"{name:10s} = {{{', '.join(([f'type?: {x.type}'] if x.type else []) + keys)}}}")
    return "\n".join(out)


def _said(role: Any) -> str:
    if isinstance(role, NumberRole):
        law = f"varying({role.dimension})" if role.varies else role.dimension
        return {"": law, "along": f"[{law} 2..3]", "about": f"{law} | [{law} 3]"}[role.axes]
    return {
        EndsRole: "[place, place]",
        JointRole: "joint",
        PointRole: "place",
        AxesRole: "world | body",
        TurnsRole: "[rotation, rotation]",
    }[type(role)]
