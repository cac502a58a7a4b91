"""Uses of names in a model file: every use of a point, body, joint, surface or parameter, with its place in the text.

`references(sheet)` lists them; a rename exchanges the characters of each, a removal takes out the `owner` of each: the entry that makes no
sense without the part that it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from linkwright import elements
from linkwright.elements import AxesRole, EndsRole, JointRole, Key, PointRole, TiedRole
from linkwright.errors import LinkwrightError
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.file.reading_context import expression_names
from linkwright.model.file.text_nodes import FileNode

NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_0-9]+)*")
POINT, BODY, JOINT, PARAMETER, SURFACE = "point", "body", "joint", "parameter", "surface"
# keys whose numbers may be expressions of channels, by section
VARYING = {s: elements.varying_keys(s) for s in elements.SECTIONS}
VARYING["drive"] = ("speed", "position", "torque", "voltage", "dc_motor", "over")
LISTS_OF_POINTS = ("pins", "points")
ROWS_OF_POINTS = ("bars", "outline")


class NameUse(NamedTuple):
    """A use of a name: its characters first to end of the text, and the path of the entry that depends on it."""

    kind: str
    name: str
    first: int
    end: int
    owner: tuple[Any, ...]
    body: str = ""  # of a point: the body it is a point of


def references(sheet: EditSheet) -> list[NameUse]:
    """Every use of a point, body, joint (cylinder), surface or parameter; definitions (keys of `drawing`, `bodies` ...) are none."""
    return list(_Collector(sheet).all())


def _names_used(text: str) -> frozenset[str]:
    """Names in an expression that are neither units nor functions; of a text that is none, everything that looks like a name."""
    try:
        return expression_names(text)
    except LinkwrightError:
        return frozenset(NAME.findall(text))


class _Collector:
    """Walks through the sections."""

    def __init__(self, sheet: EditSheet):
        self.sheet = sheet
        self.bodies = set(sheet.names("bodies"))
        self.parameters = {*sheet.names("parameters"), *sheet.names("let")}

    def all(self) -> Iterator[NameUse]:
        for section, node in (self.sheet.root.entries or {}).items():
            if section == "repeat":
                continue
            special = getattr(self, f"_{section}", None)
            for name in node.entries or {}:
                path = (section, name)
                if special is not None:
                    yield from special(path)
                elif section in elements.SECTIONS:
                    yield from self._element(path)
            if node.items is not None and section in ("cuts", "drive"):
                for i, item in enumerate(node.items):
                    yield from self._scalar(item, JOINT, (section, i))
            yield from self._expressions(section, node)

    # ---------------------------------------------------------------- sections

    def _bodies(self, path: tuple[Any, ...]) -> Iterator[NameUse]:
        body = path[1]
        for key in LISTS_OF_POINTS:
            yield from self._points((*path, key), body)
        for key in ("along", "points"):
            for name in self._entries(*path, key):
                yield from self._key((*path, key, name), POINT, (*path, key, name), body)
        for key in self._entries(*path, "sides"):
            yield from self._side((*path, "sides", key), body)
        yield from self._scalar(self._at(*path, "com"), POINT, (*path, "com"), body)
        for key in ROWS_OF_POINTS:
            rows = self._at(*path, key)
            for i, row in enumerate(rows.items or () if rows is not None else ()):
                for item in row.items or ():
                    yield from self._scalar(item, POINT, (*path, key, i), body)
        plate = self._at(*path, "plate", "points")
        for item in plate.items or () if plate is not None else ():
            yield from self._scalar(item, POINT, (*path, "plate"), body)

    def _masses(self, path: tuple[Any, ...]) -> Iterator[NameUse]:
        body = self._at(*path, "body")
        yield from self._scalar(body, BODY, path)
        yield from self._scalar(self._at(*path, "at"), POINT, path, (body.text or "").strip() if body is not None else "")

    def _guess(self, path: tuple[Any, ...]) -> Iterator[NameUse]:
        yield from self._key(path, BODY, path)

    def _joints(self, path: tuple[Any, ...]) -> Iterator[NameUse]:
        for item in self._items(*path, "between"):
            yield from self._scalar(item, BODY, path)
        for item in self._items(*path, "connect"):
            yield from self._dotted(item, path)
        for key in ("at", "pin"):
            yield from self._scalar(self._at(*path, key), POINT, path)
        for name in self._entries(*path, "chain"):
            yield from self._scalar(self._at(*path, "chain", name, "at"), POINT, path)

    def _element(self, path: tuple[Any, ...]) -> Iterator[NameUse]:
        """Names in an element of `linkwright.elements`, by the roles of its fields."""
        for key, role in elements.named_keys(path[0]).items():
            if isinstance(role, EndsRole):
                for item in self._items(*path, key):
                    yield from self._dotted(item, path)
            elif isinstance(role, PointRole):
                yield from self._dotted(self._at(*path, key), path)
            elif isinstance(role, AxesRole):
                axes = self._at(*path, key)
                if axes is not None and axes.text in self.bodies:
                    yield from self._scalar(axes, BODY, path)
            elif isinstance(role, JointRole):
                named = self._at(*path, key)
                yield from self._key(path, JOINT, path) if named is None and role.named else self._coordinate(named, path)
            elif isinstance(role, TiedRole):
                yield from self._scalar(self._at(*path, key), JOINT, path)
            elif isinstance(role, Key):
                yield from self._formed(role, self._at(*path, key), (*path, key), path)

    def _formed(self, key: Key, node: FileNode | None, path: tuple[Any, ...], owner: tuple[Any, ...]) -> Iterator[NameUse]:
        """Names in the value of a key that is no field."""
        if node is None:
            return
        items = node.items or ()
        if key.form in ("joint", "joints", "body"):
            for x in (node, *items):
                yield from self._scalar(x, BODY if key.form == "body" else JOINT, owner)
        elif key.form in ("point", "points"):
            for x in (node, *items):
                yield from self._dotted(x, owner) if "." in (x.text or "") else self._scalar(x, POINT, owner)
        elif key.form == "sides":
            for x in items:
                for name in (x, *(x.items or ())):
                    yield from self._scalar(name, SURFACE, owner)
        elif key.form == "factors":
            for name in node.entries or {}:
                yield from self._key((*path, name), JOINT, (*path, name))
        elif key.form in ("entries", "items"):
            for x in (node, *items):
                yield from self._dotted(x, owner)
                for name, inner in key.of.items():
                    yield from self._formed(inner, (x.entries or {}).get(name), (*path, name), owner)

    def _drive(self, path: tuple[Any, ...]) -> Iterator[NameUse]:
        yield from self._key(path, JOINT, path)

    _start = _drive

    # ---------------------------------------------------------------- single uses

    def _at(self, *path: Any) -> FileNode | None:
        return self.sheet.node(*path)

    def _items(self, *path: Any) -> tuple[FileNode, ...]:
        node = self._at(*path)
        return () if node is None or node.items is None else node.items

    def _entries(self, *path: Any) -> list[str]:
        node = self._at(*path)
        return [] if node is None or node.entries is None else list(node.entries)

    def _points(self, path: tuple[Any, ...], body: str) -> Iterator[NameUse]:
        for i, item in enumerate(self._items(*path)):
            yield from self._scalar(item, POINT, (*path, i), body)

    def _scalar(self, node: FileNode | None, kind: str, owner: tuple[Any, ...], body: str = "") -> Iterator[NameUse]:
        if node is None or not node.text or node.span is None:
            return
        name = node.text.strip()
        first = self.sheet.text.find(name, node.span.first, node.span.end)
        if first >= 0:
            yield NameUse(kind, name, first, first + len(name), owner, body)

    def _coordinate(self, node: FileNode | None, owner: tuple[Any, ...]) -> Iterator[NameUse]:
        """A joint, or one of its coordinates: `hip.angle2`."""
        for found in self._scalar(node, JOINT, owner):
            name = found.name.partition(".")[0]
            yield found._replace(name=name, end=found.first + len(name))

    def _dotted(self, node: FileNode | None, owner: tuple[Any, ...]) -> Iterator[NameUse]:
        """`body.point`, or a body."""
        for found in self._scalar(node, BODY, owner):
            body, _, point = found.name.partition(".")
            middle = found.first + len(body)
            yield found._replace(name=body, end=middle)
            if point:
                yield NameUse(POINT, point, middle + 1, middle + 1 + len(point), owner, body)

    def _key(self, path: tuple[Any, ...], kind: str, owner: tuple[Any, ...], body: str = "") -> Iterator[NameUse]:
        """A name that is a key; of a channel (`A.v`) its joint."""
        node = self._at(*path)
        if node is None or node.span is None or node.span.key < 0:
            return
        name = str(path[-1]).partition(".")[0]
        first = self.sheet.text.find(name, node.span.key)
        yield NameUse(kind, name, first, first + len(name), owner, body)

    def _side(self, path: tuple[Any, ...], body: str) -> Iterator[NameUse]:
        """`A-B` of a triangle's sides."""
        node, key = self._at(*path), str(path[-1])
        drawn = set(self.sheet.names("drawing"))
        cut = next((i for i, c in enumerate(key) if c == "-" and key[:i] in drawn and key[i + 1 :] in drawn), -1)
        if node is None or node.span is None or cut < 0:
            return
        first = self.sheet.text.find(key, node.span.key)
        yield NameUse(POINT, key[:cut], first, first + cut, path, body)
        yield NameUse(POINT, key[cut + 1 :], first + cut + 1, first + len(key), path, body)

    # ---------------------------------------------------------------- expressions

    def _expressions(self, section: str, node: FileNode) -> Iterator[NameUse]:
        """Parameters in numbers, and channels (`A.v`, `ram.P.x`) where loads, cylinders and drives depend on them."""
        if section in ("name", "about", "report", "plane", "units", "show", "cuts", "backdrop", "space"):
            return
        for owner, scalar, channels in self._numbers((section,), node, False):
            if scalar.span is None or not scalar.text:
                continue
            used = _names_used(scalar.text)
            text = self.sheet.text[scalar.span.first : scalar.span.end]
            for found in NAME.finditer(text):
                if found[0] not in used:  # a unit, a function
                    continue
                head, *rest = found[0].split(".")
                at = scalar.span.first + found.start()
                if not rest and head in self.parameters:
                    yield NameUse(PARAMETER, head, at, at + len(head), owner)
                elif channels and head in self.bodies:
                    yield NameUse(BODY, head, at, at + len(head), owner)
                    if len(rest) > 1:
                        yield NameUse(POINT, rest[0], at + len(head) + 1, at + len(head) + 1 + len(rest[0]), owner, head)
                elif channels:
                    yield NameUse(JOINT, head, at, at + len(head), owner)

    def _numbers(self, path: tuple[Any, ...], node: FileNode, channels: bool) -> Iterator[tuple[tuple[Any, ...], FileNode, bool]]:
        """Scalars that may be numbers, the entry each belongs to, and whether channels may be in it."""
        owner = path[: 4 if path[0] == "bodies" else 2]
        if node.text is not None:
            if not _is_name_place(path):
                yield owner, node, channels or (path[0] == "drive" and len(path) == 2)
            return
        for i, item in enumerate(node.items or ()):
            yield from self._numbers((*path, i), item, channels)
        for key, entry in (node.entries or {}).items():
            allowed = channels or key in VARYING.get(path[0], ())
            yield from self._numbers((*path, key), entry, allowed)


def _is_name_place(path: tuple[Any, ...]) -> bool:
    """True if a scalar at a path is a name, which other rules read."""
    keys = [k for k in path if isinstance(k, str)]
    if path[0] in elements.SECTIONS:
        return elements.is_name(path[0], keys[2:])
    names = ("pins", "outline", "bars", "between", "connect", "at", "pin", "type", "body", "law", "csv", "file", "material", "color",
             "interpolation", "mesh")  # fmt: skip
    last = keys[-1] if len(keys) > 1 else ""
    if last == "at" and isinstance(path[-1], int):
        return False  # coordinates
    if last == "points" and path[0] == "bodies":
        return len(keys) == 3  # a list; with coordinates of its own there is a name behind
    return last in names and path[0] != "parameters"
