"""The model file as a tree of nodes that know their place in the text.

YAML is read from its event stream: every scalar stays text (our own parser decides what is a
number), every node keeps file:line, and whatever could surprise (duplicate keys, anchors,
aliases, tags, several documents, deep nesting, huge or non-UTF-8 files) is refused. A Python
dict becomes the same tree, with the path of keys as its place.
"""

from __future__ import annotations

import itertools
import numbers
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.errors import ModelError, Source, listing, nearest, nearest_by_group
from linkwright.model.file.key_hints import KEYS, instead, spaced
from linkwright.text.expressions import Expr
from linkwright.text.unit_meaning import halves_of_decimal

MOST_BYTES = 5_000_000
ENCODING = "\ufeff"  # mark of UTF-8 at the begin of a file, which some editors write
DEEPEST = 40
MOST_ENTRIES = 20_000  # of one mapping: a file of nonsense is refused before all of it is read
TOO_MANY = f"a mapping with more than {MOST_ENTRIES} entries is not read. Use `repeat`, or a table in a CSV file."


@dataclass(frozen=True)
class TextSpan:
    """A value's place in the text of a file: its first character, the one behind its last, and how it is written."""

    first: int
    end: int
    style: str = ""  # of a scalar: its quotes, "|" or ">"; of a list or mapping "flow" if it is in brackets
    column: int = 0  # of the first character
    key: int = -1  # first character of its key in a mapping


@dataclass(frozen=True)
class FileNode:
    """A scalar (`text`), a list (`items`) or a mapping (`entries`), with its place."""

    where: Source
    text: str | None = None
    items: tuple[FileNode, ...] | None = None
    entries: dict[str, FileNode] | None = None
    scope: Mapping[str, int] = field(default_factory=dict)  # indices of the repeat block it came from
    si: bool = False  # given in a call: bare numbers are SI and radians
    glued: bool = False  # follows the entry before it in a list at a comma without a space
    span: TextSpan | None = field(default=None, compare=False, repr=False)  # None: not from a text

    @property
    def kind(self) -> str:
        if self.text is not None:
            return f"'{_short(self.text)}'" if self.text else "nothing"
        return "a list" if self.items is not None else "a mapping"

    def error(self, message: str, *more: str, **data: Any) -> ModelError:
        return ModelError(message, self.where, *more, **data)

    def mapping(self, what: str) -> dict[str, FileNode]:
        if self.text == "":
            return {}
        if self.entries is None:
            raise self.error(
                f"{what} must be a mapping, `name: value` a line or {{name: value}}, not {self.kind}.", name=what, value=self.kind
            )
        return self.entries

    def sequence(self, what: str, length: int | None = None) -> tuple[FileNode, ...]:
        if self.items is None:
            raise self.error(f"{what} must be a list in brackets, not {self.kind}.", name=what, value=self.kind)
        if length is not None and len(self.items) != length:
            raise self.error(f"{what} must have {length} entries, not {len(self.items)}.{self.decimal_comma()}", name=what)
        glued = [other.glued for other in self.items[1:]]
        if not any(glued):
            return self.items
        numbers = all(halves_of_decimal(one.text or "", other.text or "") for one, other in list(self._pairs())[::2])
        if len(glued) > 2 and len(glued) % 2 and all(glued[::2]) and not any(glued[1::2]) and numbers:
            raise self.error(
                f"{what}: a space follows every second comma.{self.decimal_comma()} Otherwise write all commas alike.", name=what
            )
        return self.items

    def _pairs(self) -> Iterator[tuple[FileNode, FileNode]]:
        return itertools.pairwise(self.items or ())

    def decimal_comma(self) -> str:
        """A hint where two entries of this list look like one number with a decimal comma; empty if none do."""
        for one, other in self._pairs():
            if other.glued and halves_of_decimal(one.text or "", other.text or ""):
                return f" Decimals are written with a point: {one.text}.{other.text}."
        return ""

    def string(self, what: str) -> str:
        if self.text is None:
            raise self.error(f"{what} must be a single name or number, not {self.kind}.", name=what, value=self.kind)
        return self.text.strip()

    def flag(self, what: str) -> bool:
        text = self.string(what).lower()
        if text in ("true", "yes", "on"):
            return True
        if text in ("false", "no", "off"):
            return False
        raise self.error(f"{what} must be true or false, not {self.kind}.", name=what, value=self.kind)

    def keys(self, what: str, allowed: Sequence[str] | Mapping[str, Sequence[str]], required: Sequence[str] = ()) -> dict[str, FileNode]:
        """A copy of the entries, after a check that every key is known (`allowed`, or by group) and the required ones are there."""
        entries = self.mapping(what)
        known = [k for group in allowed.values() for k in group] if isinstance(allowed, Mapping) else list(allowed)
        for key, node in entries.items():
            if key not in known:
                here = "Keys allowed here"
                grouped = isinstance(allowed, Mapping)
                tail = nearest_by_group(key, allowed, here, KEYS) if grouped else nearest(key, allowed, here, KEYS)
                raise node.error(f"{what} has no key '{_short(key)}'. {spaced(key, known)}{instead(key)}".rstrip(), tail)
        missing = [k for k in required if k not in entries]
        if missing:
            raise self.error(
                f"{what} lacks '{missing[0]}'. Add `{missing[0]}: ...`. Keys allowed here: {listing(known, 40)}.",
                name=missing[0],
                allowed=known,
            )
        return dict(entries)  # the node itself is read again by `with_`


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def text_of(path: Path) -> str:
    """The text of a YAML file, with the mark of its encoding if it has one."""
    name = files.shown(path)
    try:
        data = files.read_regular(path, MOST_BYTES, "keep meshes and data outside a model file")
    except files.Unreadable as error:
        raise ModelError(f"the file cannot be read: {error.reason}.", Source(name, 1)) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ModelError(
            f"the file is not UTF-8 text (byte 0x{data[error.start]:02x}). Save it as UTF-8 in your editor.", Source(name, line)
        ) from error


def from_text(text: str, name: str) -> FileNode:
    """The tree of a YAML text; `name` is used in messages."""
    import yaml

    text = text.removeprefix(ENCODING)
    if len(text) > MOST_BYTES:
        raise ModelError(f"the model has more than {MOST_BYTES // 10**6} million characters. Shorten it.", Source(name, 1))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder(name).build(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ModelError(_not_yaml(text, line, error.problem or error.context or "it cannot be read"), Source(name, line)) from error
    except yaml.YAMLError as error:
        position = getattr(error, "position", None)
        line = text[:position].count("\n") + 1 if isinstance(position, int) else 1
        raise ModelError("this is not YAML: it holds a character that text cannot contain. Remove it.", Source(name, line)) from error


def _not_yaml(text: str, line: int, what: str) -> str:
    """Why a text is no YAML."""
    found = text.splitlines()[line - 1 : line]
    begin = found[0][: len(found[0]) - len(found[0].lstrip())] if found else ""
    if "\t" in begin:
        return f"line {line} begins with a tab, but YAML needs spaces. Replace the tab by spaces, as in the lines around it."
    glued = _glued_colon(text.splitlines()[max(0, line - 2) : line])
    if glued:
        return f"this is not YAML: {what}. A colon needs a space after it: {glued}."
    if found and re.search(r"[\[{,]\s*,", found[0]):
        return f"this is not YAML: an entry is missing before a comma ({what}). Decimals are written with a point, 0.5."
    return f"this is not YAML: {what}. Check brackets, quotes, colons and indentation around this line."


def _glued_colon(lines: Sequence[str]) -> str:
    """`name: wiper` where one of these lines has `name:wiper`; empty if none has."""
    for text in reversed(lines):
        plain = re.sub(r"\"[^\"]*\"|'[^']*'|(^|\s)#.*", " ", text)
        found = re.search(r"(?:^|[{,\s])(\w+):([^\s:,}/][^\s,}]*)", plain)
        if found and not found[2].endswith(":"):  # `A:crank: 45 rpm` is a joint of three bodies at a pin
            return f"`{found[1]}: {'...' if found[2][0] in '[{' else found[2]}`"
    return ""


class _Builder:
    """Nodes from YAML events, with an explicit stack so that nesting cannot exhaust anything."""

    def __init__(self, name: str):
        self.name = name
        self.count = 0
        self.last = (-1, -1)  # line and column where the last scalar ended

    def where(self, event: Any) -> Source:
        return Source(self.name, event.start_mark.line + 1)

    def build(self, events: Iterator[Any]) -> FileNode:
        import yaml

        root: FileNode | None = None
        stack: list[tuple[Any, list[FileNode], list[FileNode]]] = []  # start event, keys (of a mapping), values
        documents = 0
        most_nodes = 1_000_000
        for event in events:
            self.refuse(event)
            finished: FileNode | None = None
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise ModelError(
                        "a second document starts here (---). A model file holds one. Remove it or split the file.", self.where(event)
                    )
            elif isinstance(event, yaml.ScalarEvent):
                begin = event.start_mark
                span = TextSpan(begin.index, event.end_mark.index, event.style or "", begin.column)
                finished = FileNode(self.where(event), text=event.value, glued=self.last == (begin.line, begin.column - 1), span=span)
                self.last = (event.end_mark.line, event.end_mark.column)
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                if len(stack) >= DEEPEST:
                    raise ModelError(
                        f"the file nests deeper than {DEEPEST} levels. Models need about five: check the brackets.", self.where(event)
                    )
                stack.append((event, [], []))
            elif isinstance(event, yaml.SequenceEndEvent):
                start, _, values = stack.pop()
                finished = FileNode(self.where(start), items=tuple(_whole_calls(values)), span=_around(start, event, values))
            elif isinstance(event, yaml.MappingEndEvent):
                start, keys, values = stack.pop()
                entries = self.entries(keys, values, start.flow_style)
                finished = FileNode(self.where(start), entries=entries, span=_around(start, event, values))
            if finished is not None:
                self.count += 1
                if self.count > most_nodes:
                    raise ModelError(f"the file holds more than {most_nodes} values: use `repeat`.", self.where(event))
                if not stack:
                    root = finished
                else:
                    self.attach(stack[-1], finished)
        if root is None:
            raise ModelError(
                "the file is empty. Begin with `name:`, `bodies:` and so on, see 'linkwright docs model-file'.",
                Source(self.name, 1),
                name="name",
            )
        return root

    def attach(self, parent: tuple[Any, list[FileNode], list[FileNode]], node: FileNode) -> None:
        import yaml

        start, keys, values = parent
        if isinstance(start, yaml.MappingStartEvent) and len(keys) == len(values):
            if node.text is None:
                raise node.error(f"{node.kind} cannot be a key. A key is a single name. Put it after a colon.", name=node.kind)
            if len(keys) >= MOST_ENTRIES:
                raise node.error(TOO_MANY)
            keys.append(node)
        else:
            values.append(node)

    def entries(self, keys: list[FileNode], values: list[FileNode], flow: bool) -> dict[str, FileNode]:
        """Values by key. Each is reported at the line of its key, where a person looks for it."""
        found: dict[str, FileNode] = {}
        before, number = "", ""
        for key, value in _whole_entries(keys, values):
            name = (key.text or "").strip()
            if flow and value.text == "" and halves_of_decimal(number, name):
                raise key.error(
                    f"`{before}: {number},{name}`: decimals are written with a point, `{before}: {number}.{name}`. "
                    "Inside braces a comma begins the next entry."
                )
            before, number = name, value.text or ""
            if name in found:
                raise key.error(
                    f"'{_short(name)}' is given twice in one mapping (first in line {found[name].where.line}). Remove or rename one.",
                    name=_short(name),
                )
            at, own = value.span, key.span
            span = None if at is None or own is None else TextSpan(at.first, at.end, at.style, at.column, own.first)
            # `replace` takes five times as long, and files have tens of thousands of entries
            found[name] = FileNode(key.where, value.text, value.items, value.entries, value.scope, value.si, value.glued, span)
        return found

    def refuse(self, event: Any) -> None:
        import yaml

        if isinstance(event, yaml.AliasEvent):
            raise ModelError(
                f"aliases (*{event.anchor}) are not part of the model format. Write the value out, or use parameters.", self.where(event)
            )
        if getattr(event, "anchor", None):
            raise ModelError(
                f"anchors (&{event.anchor}) are not part of the model format. Use parameters or `repeat` instead.", self.where(event)
            )
        if getattr(event, "tag", None):
            raise ModelError(
                f"tags ({_short(event.tag)}) are not part of the model format. Remove it and give the plain value.", self.where(event)
            )


def _around(start: Any, end: Any, values: list[FileNode]) -> TextSpan:
    """The place of a list or mapping; one without brackets ends with its last value, not with the comments behind it."""
    flow = bool(start.flow_style)
    last = end.end_mark.index if flow else max((v.span.end for v in values if v.span), default=start.end_mark.index)
    return TextSpan(start.start_mark.index, last, "flow" if flow else "", start.start_mark.column)


def _open_call(node: FileNode) -> bool:
    return node.text is not None and node.text.count("(") > node.text.count(")")


def _whole_calls(items: list[FileNode]) -> list[FileNode]:
    """`[atan2(1, 2), 0]`: YAML parts the call at its comma; put it together again."""
    whole: list[FileNode] = []
    for item in items:
        if whole and _open_call(whole[-1]) and item.text is not None:
            text = f"{whole[-1].text},{'' if item.glued else ' '}{item.text}"
            whole[-1] = replace(whole[-1], text=text, span=_joined(whole[-1], item))
        else:
            whole.append(item)
    return whole


def _joined(first: FileNode, last: FileNode) -> TextSpan | None:
    return replace(first.span, end=last.span.end) if first.span and last.span else None


def _whole_entries(keys: list[FileNode], values: list[FileNode]) -> list[tuple[FileNode, FileNode]]:
    """`{a: atan2(1, 2), b: 3}`: the same, where the rest of a call looks like a key without value."""
    whole: list[tuple[FileNode, FileNode]] = []
    for key, value in zip(keys, values, strict=True):
        if whole and _open_call(whole[-1][1]) and value.text == "":
            before, opened = whole[-1]
            text = f"{opened.text},{'' if key.glued else ' '}{key.text}"
            whole[-1] = (before, replace(opened, text=text, span=_joined(opened, key)))
        else:
            whole.append((key, value))
    return whole


def from_python(value: Any, path: str, depth: int = 0) -> FileNode:
    """The tree of a dict as `lw.load` takes it: dicts, lists, arrays, numbers, strings."""
    where = Source(path)
    if depth > DEEPEST:
        raise ModelError(f"the model nests deeper than {DEEPEST} levels. Does it contain itself?", where, name=path)
    if isinstance(value, FileNode):
        return value
    if isinstance(value, Mapping):
        if len(value) > MOST_ENTRIES:
            raise ModelError(TOO_MANY, where, name=path)
        entries = {}
        for key, entry in value.items():
            name = _valid(str(key), where).strip()
            if name in entries:
                raise ModelError(f"'{name}' is given twice in one mapping. Remove or rename one.", where, name=name)
            entries[name] = from_python(entry, f"{path}.{name}" if depth else f"{path} {name}", depth + 1)
        return FileNode(where, entries=entries)
    if isinstance(value, (list, tuple)) or (hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0):
        items = value if isinstance(value, (list, tuple)) else value.tolist()
        return FileNode(where, items=tuple(from_python(v, path, depth + 1) for v in items))
    if value is None or isinstance(value, (bool, str, Expr)):
        return FileNode(where, text="" if value is None else _valid(str(value), where))
    if isinstance(value, numbers.Real):
        return FileNode(where, text=repr(int(value)) if isinstance(value, numbers.Integral) else repr(float(value)))
    raise ModelError(f"a {type(value).__name__} is not allowed in a model. Use dicts, lists, numbers and strings.", where, name=path)


def _valid(text: str, where: Source) -> str:
    """The text, if a file can hold it; half of a surrogate pair is no character."""
    if not files.is_text(text):
        raise ModelError(f"'{text}' is not valid Unicode. Write it in letters that UTF-8 has.", where, name=text)
    return text
