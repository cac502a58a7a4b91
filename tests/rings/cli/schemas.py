"""The field tables of the outputs as something JSON can be held against: strictly, and by JSON Schema."""

from __future__ import annotations

import re
from typing import Any

import jsonschema

from linkwright.rings.cli.schemas import json_schema, table

OPTIONAL, ANY = "optional", "any"
TYPES = {"text": str, "number": (int, float), "integer": int, "true or false": bool, "object": dict}


def documented(command: str) -> dict[str, tuple[str, ...]]:
    """Path of every field of a command's JSON, with its types and perhaps `optional`."""
    fields = {x.path: (*x.types, *((OPTIONAL,) if x.optional else ())) for x in table(command).fields}
    return {"schema": ("text",), **fields}


def disagreements(command: str, data: Any) -> list[str]:
    """What in the data is not as documented: fields nobody describes, other types, and fields that are missing."""
    fields = documented(command)
    seen: set[str] = set()
    problems = list(_walk(fields, "", data, seen))
    if not problems:  # so that the JSON Schema allows all that the table does
        jsonschema.validate(data, json_schema(command))
    roots = {path for path in fields if "." not in path and "[" not in path and OPTIONAL not in fields[path]}
    return problems + [f"'{path}' is missing" for path in sorted(roots - seen)]


def _walk(fields: dict[str, tuple[str, ...]], path: str, value: Any, seen: set[str]) -> Any:
    seen.add(path)
    if ANY in fields.get(path, ()):
        return
    if isinstance(value, dict):
        names = {k for p in fields if p.startswith(f"{path}." if path else "") for k in [_next(p, path)] if k}
        open_ended = f"{path}.*" in fields or any(p.startswith(f"{path}.*.") for p in fields)
        for key, x in value.items():
            child = f"{path}.{key}" if path else key
            yield from _walk(fields, f"{path}.*" if open_ended else child, x, seen)
        if not open_ended:
            required = {n for n in names if not _optional(fields, f"{path}.{n}" if path else n)}
            yield from (f"'{path}.{n}' is missing" for n in sorted(required - set(value)))
        if not names and not open_ended and path not in fields:
            yield f"'{path}' is not documented"
    elif isinstance(value, (list, tuple)):
        for x in value:
            yield from _walk(fields, f"{path}[]", x, seen)
        if not any(p.startswith(f"{path}[]") for p in fields):
            yield f"'{path}' is not documented as a list"
    else:
        yield from _leaf(fields, path, value)


def _next(field: str, path: str) -> str:
    """`channels` of `channels.*.unit` below the path it stands under."""
    tail = field[len(path) + 1 :] if path else field
    return re.split(r"[.\[]", tail, maxsplit=1)[0]


def _optional(fields: dict[str, tuple[str, ...]], path: str) -> bool:
    """A field is optional if it says so, or if it stands below something that need not be there."""
    below = [f for f in fields if f == path or f.startswith((f"{path}.", f"{path}["))]
    return any(OPTIONAL in fields[f] for f in below)


def _leaf(fields: dict[str, tuple[str, ...]], path: str, value: Any) -> Any:
    kinds = fields.get(path)
    if kinds is None:
        yield f"'{path}' is not documented"
        return
    for kind in kinds:
        if kind == "null" and value is None:
            return
        if kind in TYPES and isinstance(value, TYPES[kind]) and (isinstance(value, bool) == (kind == "true or false")):
            return
    yield f"'{path}' is {value!r}, documented as {', '.join(kinds)}"
