"""Pieces of a JSON Schema: references, closed objects, mappings from names, choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

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


def mapping(one: dict[str, Any], description: str = "", pattern: str = NAME) -> dict[str, Any]:
    """Entries of one form by name; a section without entries is empty."""
    out = {"type": ["object", "null"], "patternProperties": {pattern: one}, "additionalProperties": False}
    return out | ({"description": description} if description else {})


def one_of(choices: Iterable[str], description: str) -> dict[str, Any]:
    """One of some texts; YAML reads a text of digits as a number."""
    found = list(choices)
    return {"enum": [*found, *(int(x) for x in found if x.isdigit())], "description": description}
