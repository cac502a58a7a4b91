"""Pieces of a JSON Schema: references, closed objects, mappings from names, choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from linkwright.elements import Either, Needs, Together

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
