"""Descriptions made from files of other programs, as if they had been model files: values can be changed by name, messages name the
lines of the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkwright import elements, files
from linkwright.errors import Source
from linkwright.model.description import Description
from linkwright.model.file.reader import Document, describe
from linkwright.model.file.text_nodes import FileNode, from_text
from linkwright.model.file.writer import write

SECTIONS = {"bodies": "bodies", "joints": "joints"} | {x.section: elements.held_in(x) for x in elements.ELEMENTS}


def read_converted(made: Description, path: Path, origin: Any, /, **overrides: Any) -> Description:
    """The description again, with a document behind it; `path` is the file it was made from, `origin` goes with the document."""
    file = files.shown(path)
    root = from_text(write(made), file)
    placed = {key: _placed(node, _places(made, key), Source(file)) for key, node in (root.entries or {}).items()}
    root = replace(root, entries=placed, where=Source(file))
    return describe(Document(root, path.parent, made.name, overrides, origin=origin))


def read_made(text: str, path: Path, origin: Any, /, **overrides: Any) -> Description:
    """The description of a model file that was made from the file `path`; `origin` goes with the document."""
    where = f"model of {files.shown(path.name)}"
    return describe(Document(from_text(text, where), path.parent, path.stem, overrides, text, origin=origin))


def _places(made: Description, key: str) -> dict[str, Source]:
    """Lines of the original file by the names in a section."""
    if key == "drive":
        return {x.joint: x.where for x in made.drives if x.where}
    if key == "guess":
        return {x.name: x.where for x in made.bodies if x.where}
    return {x.name: x.where for x in getattr(made, SECTIONS[key]) if x.where} if key in SECTIONS else {}


def _placed(node: FileNode, places: Mapping[str, Source], where: Source) -> FileNode:
    entries = {name: _moved(x, places.get(name, where)) for name, x in node.entries.items()} if node.entries is not None else None
    return replace(_moved(replace(node, entries=None), where), entries=entries)


def _moved(node: FileNode, where: Source) -> FileNode:
    """A node and all in it at one place; it has no place in a text that could be edited."""
    items = None if node.items is None else tuple(_moved(x, where) for x in node.items)
    entries = None if node.entries is None else {name: _moved(x, where) for name, x in node.entries.items()}
    return replace(node, where=where, items=items, entries=entries, span=None)
