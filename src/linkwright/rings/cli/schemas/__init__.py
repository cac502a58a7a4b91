"""Fields of the JSON that commands print, and their JSON Schema.

A command has a text file here, `cycle.txt`. Its first line is the format, `linkwright.cycle/1`, and perhaps a remark behind a colon. Each
further line is a field: path | type | content. In a path `[]` is every item of a list and `*` every name of an object whose keys are
names. A field that need not be there is `optional`. Another form of the same output has a file of its own, `optimize-front.txt`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from linkwright.api import LinkwrightError

FOLDER = Path(__file__).parent
DRAFT = "https://json-schema.org/draft/2020-12/schema"
TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"}, "number": {"type": "number"}, "integer": {"type": "integer"}, "true or false": {"type": "boolean"},
    "null": {"type": "null"}, "object": {"type": "object"}, "list": {"type": "array"}, "any": {},
}  # fmt: skip
LINK = re.compile(r"\[([^]]+)\]\([^)]*\)")  # of Markdown


@dataclass(frozen=True)
class OutputField:
    """A line of a table."""

    path: str
    types: tuple[str, ...]  # of TYPES, or the name of another table
    optional: bool
    about: str

    @property
    def written(self) -> str:
        """Return the type as the table has it."""
        return " or ".join(self.types) + (", optional" if self.optional else "")


@dataclass(frozen=True)
class OutputTable:
    """Format and fields of an output."""

    format: str
    remark: str
    fields: tuple[OutputField, ...]


@dataclass
class _Node:
    fields: list[OutputField] = field(default_factory=list)
    names: dict[str, _Node] = field(default_factory=dict)
    items: _Node | None = None
    every: _Node | None = None

    @property
    def optional(self) -> bool:
        below = [*self.names.values(), *(x for x in (self.items, self.every) if x is not None)]
        return any(x.optional for x in self.fields) or any(x.optional for x in below)


@cache
def table(name: str) -> OutputTable:
    """Return the table of a command, or of another form of its output."""
    path = FOLDER / f"{name}.txt"
    if not path.is_file():
        raise LinkwrightError(
            f"the JSON of '{name}' has no schema. Write its format and its fields into {path.name} next to the other schemas "
            f"({FOLDER.name}/), then run docs/make/make_command_line.py.",
            name=name,
        )
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    name, _, remark = head.partition(":")
    return OutputTable(name.strip(), remark.strip(), tuple(_field(x) for x in lines if x.strip()))


def tables() -> list[str]:
    """Return the names of all tables."""
    return sorted(x.stem for x in FOLDER.glob("*.txt"))


def forms(command: str) -> list[str]:
    """Return the tables of a command: its own, and those of other forms of its output."""
    return [command, *(x for x in tables() if x.startswith(f"{command}-") and table(x).format == table(command).format)]


def json_schema(command: str) -> dict[str, Any]:
    """Return the JSON Schema of what `linkwright COMMAND --json` prints."""
    every = [_schema_of(table(name)) for name in forms(command)]
    head = {"$schema": DRAFT, "title": f"Linkwright {command}", "description": f"Output of `linkwright {command} --json`."}
    return head | (every[0] if len(every) == 1 else {"anyOf": every})


def _field(line: str) -> OutputField:
    path, written, about = (x.strip() for x in line.split("|", 2))
    kind, _, ending = written.partition(", ")
    types = (kind,) if kind in TYPES else tuple(kind.split(" or "))
    return OutputField(path, types, ending == "optional", about)


def _schema_of(t: OutputTable, *, marked: bool = True) -> dict[str, Any]:
    root = _Node()
    for x in t.fields:
        _place(root, x)
    found = _schema(root)
    if marked:
        found["properties"] = {"schema": {"const": t.format}, **found["properties"]}
        found["required"] = ["schema", *found.get("required", [])]
    return found


def _place(root: _Node, x: OutputField) -> None:
    at = root
    for word in re.findall(r"\[\]|[^.\[]+", x.path):
        if word == "[]":
            at.items = at = at.items or _Node()
        elif word == "*":
            at.every = at = at.every or _Node()
        else:
            at = at.names.setdefault(word, _Node())
    at.fields.append(x)


def _schema(node: _Node) -> dict[str, Any]:
    kinds = [_type(name) for name in dict.fromkeys(t for f in node.fields for t in f.types)]
    about = next((LINK.sub(r"\1", f.about) for f in node.fields if f.about), "")
    if node.names or node.every:
        shape: dict[str, Any] = {"type": "object"}
        if node.names:
            shape["properties"] = {name: _schema(x) for name, x in node.names.items()}
            needed = [name for name, x in node.names.items() if not x.optional]
            shape |= {"required": needed} if needed else {}
        if node.every:
            shape["additionalProperties"] = _schema(node.every)
        kinds = [x for x in kinds if x != TYPES["object"]] + [shape]
    if node.items:
        kinds = [x for x in kinds if x != TYPES["list"]] + [{"type": "array", "items": _schema(node.items)}]
    found = kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if {} not in kinds else {}
    return {"description": about, **found} if about else dict(found)


def _type(name: str) -> dict[str, Any]:
    return TYPES[name] if name in TYPES else _schema_of(table(name), marked=False)
