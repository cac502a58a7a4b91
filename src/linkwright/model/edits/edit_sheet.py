"""A model file's text while it is edited: entries are added, exchanged and removed; everything else stays as it is, character by character.

    sheet = EditSheet(text, "my.yaml")
    sheet.add(("drawing", "C"), "[300, 0]")        a new entry, its section too
    sheet.replace(("bodies", "crank", "mass"), "0.4")
    sheet.remove(("springs", "s1"))

Paths are keys and indices. The tree is read again after every change. Entries are written in the style of the mapping that gets them, in
braces or a line each; a comment behind a removed entry goes with it, comments on lines of their own stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from linkwright import elements
from linkwright.errors import ModelError, Source, UsageError
from linkwright.model.file.reader import MODEL_KEYS, PLANES
from linkwright.model.file.reading_context import Context, read_abbreviations, read_parameters
from linkwright.model.file.text_edits import Edit, added, apply, key_text
from linkwright.model.file.text_nodes import FileNode, TextSpan, from_text
from linkwright.model.file.written_values import node_at
from linkwright.properties import cached_property
from linkwright.text.units import UnitSystem

ORDER = (
    "name", "about", "report", "plane", "space", "units", "show", "gravity", "parameters", "let", "backdrop", "drawing", "bodies", "masses",
    "guess", "joints", *elements.SECTIONS, "drive", "start", "cuts", "repeat",
)  # fmt: skip
SECTIONS = (*ORDER, *(key for key in MODEL_KEYS if key not in ORDER))  # of the file, in the order in which new ones are written
BODY_KEYS = ("pins", "points", "along", "sides", "mass", "com", "inertia", "bar", "bars", "plate", "mesh", "outline")  # in their order
Path = Sequence[Any]


class EditSheet:
    """The text of a model file, its tree, and what its numbers mean."""

    def __init__(self, text: str, file: str):
        self.text, self.file = text, file

    # ---------------------------------------------------------------- reading

    @cached_property
    def root(self) -> FileNode:
        """The tree; of a text without any entry an empty mapping."""
        if not any(line.strip() and not line.lstrip().startswith("#") for line in self.text.splitlines()):
            return FileNode(Source(self.file, 1), entries={}, span=TextSpan(len(self.text), len(self.text)))
        found = _tree(self.text, self.file)
        if found.entries is None:
            raise ModelError("a model is a mapping: `name: ...`, `drawing: ...`, one key a line.", found.where, name="name")
        return found

    @cached_property
    def context(self) -> Context:
        """Units and parameters; those that cannot be read are left out."""
        listed = self.node("units")
        try:
            units = UnitSystem([n.text or "" for n in listed.items or ()] if listed is not None else [])
        except UsageError:
            units = UnitSystem([])
        space = self.node("space")
        context = Context(units, None, True, space is None or (space.text or "").strip().lower() not in ("true", "yes", "on"))
        context.root_where = self.root.where
        with suppress(ModelError, UsageError):
            read_parameters(context, self.node("parameters"), {})
            read_abbreviations(context, self.node("let"))
        return context

    @property
    def units(self) -> UnitSystem:
        return self.context.units

    @property
    def axes(self) -> str:
        """The two axes of the plane."""
        plane = self.node("plane")
        text = "" if plane is None or plane.text is None else plane.text.strip()
        return text if text in PLANES else "xy"

    def node(self, *path: Any) -> FileNode | None:
        """The value at a path of keys and indices; None where nothing is."""
        return node_at(self.root, path)

    def names(self, section: str) -> list[str]:
        """Names of the entries of a section."""
        node = self.node(section)
        return [] if node is None or node.entries is None else list(node.entries)

    # ---------------------------------------------------------------- changes

    def apply(self, *edits: Edit) -> None:
        """Exchange characters; the tree is read again at the next look."""
        self.text = apply(self.text, edits)
        for known in ("root", "context"):
            vars(self).pop(known, None)

    def put(self, path: Path, value: str) -> None:
        """Exchange the value at a path, or add it."""
        if self.node(*path) is None:
            self.add(path, value)
        else:
            self.replace(path, value)

    def replace(self, path: Path, value: str) -> None:
        """Exchange the value at a path; one of several lines becomes one of one line."""
        span = self._span(self.node(*path))
        first = span.first
        lead = ""
        if span.style != "flow" and self.text[first : span.end].count("\n") and span.key >= 0:  # a block under its key
            first = self._colon(span) + 1
            lead = " "
        elif first == span.end and not self.text[first - 1 : first].isspace():
            lead = " "
        self.apply(Edit(first, span.end, lead + value))

    def add(self, path: Path, value: str, after: Sequence[str] | None = None) -> None:
        """Add an entry; the mappings above it that are missing, too."""
        *above, key = path
        mapping = self.node(*above)
        if mapping is None:
            if len(above) == 1:
                self._add_section(above[0], str(key), value)
            else:
                self.add(above, f"{{{key_text(str(key), True)}: {value}}}")
            return
        if mapping.entries is None and mapping.text != "":
            raise ModelError(
                f"'{'.'.join(map(str, above))}' is not a mapping, so '{key}' cannot be added. Write it out in the file.",
                mapping.where,
                name=key,
            )
        self._add_entry(mapping, str(key), value, after if after is not None else self._before(above, str(key)))

    def append(self, path: Path, item: str) -> None:
        """Add an item to a list; the list too where there is none."""
        found = self.node(*path)
        if found is None:
            self.add(path, f"[{item}]")
            return
        if found.items is None:
            if found.text != "":
                raise ModelError(f"'{'.'.join(map(str, path))}' is not a list, so '{item}' cannot be added to it.", found.where, name=item)
            self.replace(path, f"[{item}]")
            return
        span = self._span(found)
        if not found.items:
            self.apply(Edit(span.first + 1, span.first + 1, item))
            return
        last = self._span(found.items[-1])
        if span.style == "flow":
            self.apply(Edit(last.end, last.end, f", {item}"))
        else:
            at = self._line_end(last.end)
            self.apply(Edit(at, at, f"{self.newline}{' ' * span.column}- {item}"))

    def remove(self, path: Path) -> None:
        """Remove an entry or an item of a list; a section or a list that becomes empty goes with it."""
        *above, _key = path
        parent = self.node(*above)
        child = self.node(*path)
        if parent is None or child is None:
            return
        siblings = list(parent.items if parent.items is not None else (parent.entries or {}).values())
        if len(siblings) == 1 and above and (len(above) == 1 or parent.items is not None):
            self.remove(above)
            return
        if self._span(parent).style == "flow":
            self._remove_from_braces(siblings, child)
        else:
            self._remove_lines(child)

    def rename_key(self, path: Path, to: str) -> None:
        """Exchange the key of an entry."""
        first, end = self.key_span(path)
        self.apply(Edit(first, end, key_text(to, self.in_braces(path))))

    # ---------------------------------------------------------------- places

    @property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def in_braces(self, path: Path) -> bool:
        """True if an entry is in braces or brackets, or would be."""
        node = self.node(*path[:-1])
        return node is not None and node.span is not None and node.span.style == "flow"

    def key_span(self, path: Path) -> tuple[int, int]:
        """First character of an entry's key and the one behind its last, quotes included."""
        first = self._span(self.node(*path)).key
        mark = self.text[first]
        if mark in "'\"":
            end = first + 1
            while self.text[end] != mark or (mark == "'" and self.text[end + 1 : end + 2] == mark):
                end += 1 + (self.text[end] == "\\" or self.text[end] == mark)
            return first, end + 1
        return first, first + len(str(path[-1]))

    def _colon(self, span: TextSpan) -> int:
        return self.text.index(":", span.key)

    def _span(self, node: FileNode | None) -> TextSpan:
        if node is None or node.span is None:
            raise UsageError(
                "this part of the model has no place of its own in the file: it comes from a `repeat:` block. Change it there."
            )
        return node.span

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - (self.text[end - 1 : end] == "\r")

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _before(self, above: Path, key: str) -> Sequence[str]:
        """Keys behind which a new one belongs."""
        order = SECTIONS if not above else BODY_KEYS if len(above) == 2 and above[0] == "bodies" else ()
        return order[: order.index(key)] if key in order else ()

    @property
    def indent(self) -> str:
        """The indentation of the file's entries."""
        for node in (self.root.entries or {}).values():
            if node.entries and node.span is not None and node.span.style != "flow" and node.span.column:
                return " " * node.span.column
        return "  "

    # ---------------------------------------------------------------- adding

    def _add_section(self, section: str, key: str, value: str) -> None:
        """A section with its first entry, at its place among the others."""
        root = self._span(self.root)
        if root.style == "flow":
            self._add_entry(self.root, section, f"{{{key_text(key, True)}: {value}}}", self._before((), section))
            return
        lines = f"{section}:{self.newline}{self.indent}{key_text(key, False)}: {value}"
        entries = self.root.entries or {}
        earlier = [k for k in self._before((), section) if k in entries]
        if earlier or not entries:
            at = (
                self._line_end(self._span(max((entries[k] for k in earlier), key=lambda n: self._span(n).end)).end)
                if earlier
                else len(self.text)
            )
            fresh = at == 0 or (at == len(self.text) and self.text.endswith("\n"))
            self.apply(Edit(at, at, lines + self.newline if fresh else self.newline + lines))
            return
        at = min(self._span(n).key for n in entries.values())
        self.apply(Edit(at, at, lines + self.newline))

    def _add_entry(self, mapping: FileNode, key: str, value: str, after: Sequence[str]) -> None:
        span, entries = self._span(mapping), mapping.entries
        if entries == {} and span.style != "flow":  # a file without any entry
            fresh = not self.text or self.text.endswith("\n")
            line = f"{key_text(key, False)}: {value}"
            self.apply(Edit(len(self.text), len(self.text), line + self.newline if fresh else self.newline + line))
            return
        self.apply(added(self.text, mapping, key, value, after))

    # ---------------------------------------------------------------- removing

    def _remove_lines(self, child: FileNode) -> None:
        """Whole lines of a block: from the key, or the dash, to the end of the last line and its comment."""
        span = self._span(child)
        begin = self._line_start(span.key if span.key >= 0 else span.first)
        end = self.text.find("\n", max(span.end, begin))
        end = len(self.text) if end < 0 else end + 1
        if end == len(self.text) and not self.text.endswith("\n") and begin:  # the last line of all
            begin -= 2 if self.text[begin - 2 : begin] == "\r\n" else 1
        self.apply(Edit(begin, end, ""))

    def _remove_from_braces(self, siblings: list[FileNode], child: FileNode) -> None:
        span = self._span(child)
        first, end = span.key if span.key >= 0 else span.first, span.end
        i = next(i for i, x in enumerate(siblings) if x.span is not None and x.span.first == span.first)
        edits = []
        if i + 1 < len(siblings):
            end = self.text.index(",", end) + 1
        elif i:
            comma = self.text.index(",", self._span(siblings[i - 1]).end)
            between = self.text[comma + 1 : first]
            if "#" in between:
                edits.append(Edit(comma, comma + 1, ""))
            else:
                first = comma
        alone = not self.text[self._line_start(first) : first].strip()
        rest = re.match(r"[ \t]*(#[^\n]*)?\r?\n?", self.text[end:])
        assert rest is not None
        if alone and rest[0].endswith("\n") and self._line_start(first) > 0:
            first, end = self._line_start(first), end + rest.end()
        elif i + 1 < len(siblings):
            end += len(self.text[end:]) - len(self.text[end:].lstrip(" "))
        self.apply(*edits, Edit(first, end, ""))


@lru_cache(maxsize=16)
def _tree(text: str, file: str) -> FileNode:
    """The tree of a text: an edit looks at the same one several times, and the next edit begins with it."""
    return from_text(text, file)
