"""XML of other programs, read safely: elements that know their line, and messages instead of a parser's errors.

The parser is expat, without a network, without other files: document types and entities are refused where they begin, sizes are
bounded (bytes, elements, depth). Prefixes of names stay as written (`drake:ball_constraint`), declared or not; comments and
processing instructions are passed over.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

from linkwright.api import ModelError, Source, counted, files, memory_and_threads, nearest

MOST_BYTES = 20_000_000
MOST_ELEMENTS = 200_000
DEEPEST = 100
CHUNK = 1 << 16
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z", re.ASCII)
INFINITE = re.compile(r"([-+]?)inf(inity)?\Z", re.IGNORECASE)
NOT_UTF8 = 'it is not UTF-8. Save it as UTF-8, or name its encoding in the first line: <?xml version="1.0" encoding="..."?>'


@dataclass(frozen=True)
class XmlElement:
    """An element of an XML file: its name as written, attributes, the elements in it, its own text and its line."""

    tag: str
    attributes: Mapping[str, str]
    where: Source
    children: tuple[XmlElement, ...] = ()
    text: str = field(default="", repr=False)

    def __iter__(self) -> Iterator[XmlElement]:
        return iter(self.children)

    def error(self, message: str, *more: str, **data: Any) -> ModelError:
        return ModelError(f"{self.shown}: {message}", self.where, *more, **data)

    @property
    def shown(self) -> str:
        """The element as messages name it: <joint name='A'>."""
        name = self.attributes.get("name")
        return f"<{self.tag}>" if name is None else f"<{self.tag} name='{name}'>"

    def all(self, *tags: str) -> list[XmlElement]:
        return [x for x in self.children if x.tag in tags]

    def one(self, tag: str) -> XmlElement | None:
        """The only element of that name, None without one; two are an error."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"a second <{tag}> in {self.shown}. One is allowed.")
        return found[0] if found else None

    def need(self, tag: str) -> XmlElement:
        found = self.one(tag)
        if found is None:
            raise self.error(f"it needs an element <{tag}>.", name=tag)
        return found

    def get(self, name: str, default: str = "") -> str:
        return self.attributes.get(name, default).strip()

    def attribute(self, name: str, values: Sequence[str] = ()) -> str:
        """An attribute that must be there and not empty; `values` are those allowed."""
        found = self.get(name)
        if not found:
            raise self.error(f'it needs an attribute {name}="...".', name=name)
        if values and found not in values:
            raise self.error(f"{name} is '{found}'.", nearest(found, values, "Allowed"))
        return found

    def number(self, name: str, default: float | None = None, *, infinite: bool = False) -> float:
        """An attribute that is a number; one without a default must be there."""
        if default is not None and name not in self.attributes:
            return default
        return self.as_number(self.attribute(name), name, infinite=infinite)

    def numbers(self, name: str, count: int, default: Sequence[float] | None = None) -> tuple[float, ...]:
        """An attribute that is a row of numbers."""
        if default is not None and name not in self.attributes:
            return tuple(default)
        return self.as_numbers(self.get(name), name, count)

    def as_number(self, text: str, what: str = "", *, infinite: bool = False) -> float:
        """A number in a text of this element; `infinite` allows inf and -inf."""
        given, label = text.strip(), f"{what}: " if what else ""
        unbounded = INFINITE.match(given)
        if unbounded and infinite:
            return -math.inf if unbounded[1] == "-" else math.inf
        if not NUMBER.match(given):
            comma = f" Decimals are written with a point: {given.replace(',', '.')}." if NUMBER.match(given.replace(",", ".")) else ""
            finite = " Numbers must be finite." if unbounded or given.lower().lstrip("+-") == "nan" else ""
            raise self.error(f"{label}'{given}' is not a number.{comma}{finite}", name=given)
        value = float(given)
        largest = 1e30  # of a number in SI, as in model files
        if abs(value) > largest:
            if infinite:
                return math.copysign(math.inf, value)
            raise self.error(f"{label}{given} is larger than any machine. Numbers above {largest:g} are refused.")
        smallest = 1e-60  # of a number in SI that is not zero
        return value if abs(value) >= smallest else 0.0

    def as_numbers(self, text: str, what: str, count: int) -> tuple[float, ...]:
        parts = text.split()
        if len(parts) != count:
            commas = " Separate them by spaces, without commas." if "," in text else ""
            raise self.error(f"{what} needs {counted(count, 'number')} separated by spaces, not {len(parts)}.{commas}", name=what)
        return tuple(self.as_number(x, what) for x in parts)

    def content(self, tag: str, default: float | None = None, *, infinite: bool = False) -> float:
        """The number in an element `tag` inside this one: <mass>1.5</mass>."""
        found = self.one(tag) if default is not None else self.need(tag)
        return float(default or 0.0) if found is None else found.as_number(found.text, infinite=infinite)

    def named_text(self, tag: str, default: str | None = None) -> str:
        """The text in an element `tag` inside this one."""
        found = self.one(tag) if default is not None else self.need(tag)
        return (default or "") if found is None else found.text.strip()

    def flag(self, text: str, what: str) -> bool:
        """True or false in a text of this element: true, false, 1, 0."""
        given = text.strip().lower()
        if given not in ("true", "false", "1", "0"):
            raise self.error(f"{what} must be true or false, not '{text.strip()}'.", name=what)
        return given in ("true", "1")


def read_xml(path: str | os.PathLike[str], roots: Sequence[str] = ()) -> XmlElement:
    """The root element of an XML file; `roots` are the names it may have."""
    content = files.read_regular(path, MOST_BYTES, "a model of that size is not read")
    return parse_xml(content, files.shown(path), roots)


def parse_xml(content: bytes | str, file: str, roots: Sequence[str] = ()) -> XmlElement:
    """The root element of an XML text; `file` is used in messages."""
    data = content.encode() if isinstance(content, str) else content
    if len(data) > MOST_BYTES:
        raise ModelError(f"the text is larger than {MOST_BYTES / 1e6:g} MB. A model of that size is not read.", Source(file), name="text")
    with memory_and_threads.all_in_use():  # elements by the hundred thousand
        root = _XmlBuilder(file).read(data)
    if roots and root.tag not in roots:
        every = " or ".join(f"<{x}>" for x in roots)
        raise ModelError(f"the outermost element is <{root.tag}>, not {every}.", root.where, value=every)
    return root


def root_name(path: str | os.PathLike[str]) -> str:
    """The name of the outermost element of an XML file, read no further than that element."""
    content = files.read_regular(path, MOST_BYTES, "a model of that size is not read")
    return _XmlBuilder(files.shown(path)).first(content)


class _Enough(Exception):
    """The parser has found what was asked for."""


class _XmlBuilder:
    """Handlers of expat that build elements and refuse what is not data."""

    def __init__(self, file: str):
        self.file = file
        self.open: list[tuple[str, dict[str, str], Source, list[XmlElement], list[str]]] = []
        self.count = 0
        self.root: XmlElement | None = None
        self.only_first = False
        p = self.parser = expat.ParserCreate()
        p.buffer_text = True
        p.StartElementHandler, p.EndElementHandler, p.CharacterDataHandler = self._start, self._end, self._characters
        p.StartDoctypeDeclHandler = self._doctype
        p.EntityDeclHandler = p.UnparsedEntityDeclHandler = p.ExternalEntityRefHandler = self._entity
        p.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def read(self, data: bytes) -> XmlElement:
        self._feed(data)
        if self.root is None:
            raise ModelError("the file has no XML element in it.", Source(self.file), name="file")
        return self.root

    def first(self, data: bytes) -> str:
        self.only_first = True
        try:
            self._feed(data)
        except _Enough:
            return self.open[0][0]
        raise ModelError("the file has no XML element in it.", Source(self.file), name="file")

    def _feed(self, data: bytes) -> None:
        try:
            for at in range(0, len(data), CHUNK):  # in pieces, so that a refusal comes before the rest is read
                self.parser.Parse(data[at : at + CHUNK], False)
            self.parser.Parse(b"", True)
        except expat.ExpatError as problem:
            raise self._malformed(problem, data) from problem
        except (ValueError, LookupError) as problem:  # an encoding that Python does not have, or has not for XML
            raise ModelError(f"the encoding of the file cannot be read: {problem}. Save it as UTF-8.", Source(self.file, 1)) from problem

    def _malformed(self, problem: expat.ExpatError, data: bytes) -> ModelError:
        where = Source(self.file, problem.lineno)
        reason = expat.ErrorString(problem.code)
        if problem.code == expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN] and b"encoding=" not in data[:200]:
            try:
                data.decode()
            except UnicodeDecodeError:
                return ModelError(NOT_UTF8, where)
        if problem.code == expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS] and not self.open:
            return ModelError("the file has no XML element in it.", where)
        inside = f" inside <{self.open[-1][0]}> of line {self.open[-1][2].line}" if self.open else ""
        return ModelError(f"the XML is malformed{inside}, column {problem.offset + 1}: {reason}.", where)

    @property
    def _here(self) -> Source:
        return Source(self.file, self.parser.CurrentLineNumber)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise ModelError(f"the file has more than {MOST_ELEMENTS} elements. A model of that size is not read.", self._here, name="file")
        if len(self.open) >= DEEPEST:
            raise ModelError(f"elements nest more than {DEEPEST} deep. Such a file is not read.", self._here)
        self.open.append((tag, attributes, self._here, [], []))
        if self.only_first:
            raise _Enough

    def _end(self, tag: str) -> None:
        tag, attributes, where, children, texts = self.open.pop()
        done = XmlElement(tag, attributes, where, tuple(children), "".join(texts).strip())
        if self.open:
            self.open[-1][3].append(done)
        else:
            self.root = done

    def _characters(self, text: str) -> None:
        if self.open:
            self.open[-1][4].append(text)

    def _doctype(self, *_: Any) -> NoReturn:
        raise ModelError("a document type (<!DOCTYPE ...>) is refused. Take it out, a model needs none.", self._here)

    def _entity(self, *_: Any) -> NoReturn:
        raise ModelError("entities (<!ENTITY ...>) are refused. Write the text itself.", self._here)
