"""Surfaces and the contacts between them, in a model file."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from linkwright import elements
from linkwright.elements import Contact, Surface, cannot_touch
from linkwright.errors import listing, nearest
from linkwright.model.file.elements import Elements
from linkwright.model.file.text_nodes import FileNode


def read_surface(reader: Elements, name: str, entry: FileNode) -> Surface:
    """Read a surface: the key of its shape names the body's points, its numbers follow."""
    what = f"surface '{name}'"
    among = elements.kinds(Surface.section)
    if not reader.context.planar:
        raise entry.error(f"{what} is in a plane, and this model is in space. Write `plane: xy`, or take it out.", name=name)
    shapes = {x.type: x for x in among}
    given = [key for key in entry.mapping(what) if key in shapes]
    if len(given) != 1:
        has = f"has {' and '.join(f'`{x}`' for x in given)}. Keep one" if given else "has no shape. Give one"
        raise entry.error(f"{what} {has} of {listing([f'`{x}`' for x in shapes])}.", name=name, allowed=shapes)
    kind = shapes[given[0]]
    named = entry.mapping(what).get("type")
    if named is not None and named.string(f"{what}: type") != kind.type:
        raise named.error(f"{what}: its type is '{named.text}', and it has `{kind.type}`. Leave `type` out.", name=name)

    def further(keys: dict[str, FileNode]) -> dict[str, Any]:
        body, points = _points(reader, kind, keys[kind.type], f"{what}: {kind.type}")
        return {"body": body, "points": points}

    made = reader.element(name, entry, [kind], further)
    turned = {field: reader.shapes[made.body].own_direction(getattr(made, field)) for field in elements.along(kind)}
    if any(not any(map(reader.context.numeric, x)) for x in turned.values()):
        raise entry.error(f"{what}: its normal has no length. Give a direction out of the body, for example [0, 1].", name=name)
    return replace(made, **turned)


def _points(reader: Elements, kind: type[Surface], node: FileNode, what: str) -> tuple[str, tuple[str, ...]]:
    """The body of a surface and its points there."""
    nodes = (node,) if kind.least == 1 else node.sequence(what, None if kind.many else kind.least)
    if len(nodes) < kind.least:
        raise node.error(f"{what} needs {kind.least} points or more, not {len(nodes)}.", name=what)
    refs = [reader.context.point_ref(n, reader.points, what) for n in nodes]
    body = refs[0][0]
    for n, (other, point) in zip(nodes, refs, strict=True):
        if other != body:
            raise n.error(f"{what}: {body}.{refs[0][1]} and {other}.{point} are on two bodies. A surface is on one.", name=other)
    names = tuple(point for _, point in refs)
    twice = next((n for n, p in zip(nodes[1:], pairwise(names), strict=True) if p[0] == p[1]), None)
    if twice is not None:
        raise twice.error(f"{what}: a point follows itself. Name it once.", name=what)
    return body, names


def read_contact(reader: Elements, name: str, entry: FileNode) -> Contact:
    """Read a contact: the surfaces of its two sides, and its numbers."""
    what = f"contact '{name}'"
    known = {x.name: x for x in reader.found.get(Surface.section, ())}

    def further(keys: dict[str, FileNode]) -> dict[str, Any]:
        first, second = (_side(node, known, f"{what}: between") for node in keys["between"].sequence(f"{what}: between", 2))
        return {"first": first, "second": second}

    made = reader.element(name, entry, [Contact], further)
    for a, b in made.pairs:
        if known[a].body == known[b].body:
            raise entry.error(f"{what}: '{a}' and '{b}' are both on body '{known[a].body}'. Name surfaces of two bodies.", name=name)
        if fault := cannot_touch(known[a], known[b]):
            raise entry.error(f"{what}: '{a}' and '{b}' {fault}", name=name)
    return made


def _side(node: FileNode, known: dict[str, Any], what: str) -> tuple[str, ...]:
    names = []
    for n in (node,) if node.items is None else node.sequence(what):
        name = n.string(what)
        if name not in known:
            raise n.error(f"{what}: there is no surface '{name}'.", nearest(name, known, "Surfaces"))
        names.append(name)
    return tuple(names)
