"""Text of a model file with single values exchanged or entries added: everything else stays as it is, character by character.

Values are written in the unit of their place: the one that was there, else the file's own, else the unit in which the file's results
are shown. Entries are added in the style of the mapping that gets them, in braces or a line each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from linkwright.errors import UsageError
from linkwright.model.file.reading_context import Literal
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.quantities import scaled
from linkwright.text.unit_meaning import LITERAL, unit_size
from linkwright.text.units import Dimension, UnitSystem, display_unit, parse_unit

READS_BACK = 1e-13  # relative: a number is written with as few digits as read back so closely
MOST_DIGITS = 17
SPECIAL = re.compile(r"[\[\]{}#,:'\"]|^[&*!|>%@`]|^[-?](\s|$)|^\s|\s$")  # text that YAML would not take as it is


class Edit(NamedTuple):
    """Characters first to end of a text exchanged for others."""

    first: int
    end: int
    text: str


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits, which do not overlap; those at one place in their order."""
    for _, edit in sorted(enumerate(edits), key=lambda x: (x[1].first, x[0]), reverse=True):
        text = text[: edit.first] + edit.text + text[edit.end :]
    return text


# -------------------------------------------------------------------- numbers


def number(value: float, factor: float = 1.0, digits: int | None = None) -> str:
    """The shortest decimal that means a value in SI, in a unit of this size; or one of so many digits."""
    x = value / factor if factor >= 1.0 or round(1.0 / factor) * factor != 1.0 else value * round(1.0 / factor)
    if digits is not None:
        return _plain(float(f"{x:.{max(1, digits)}g}"))
    for n in range(1, MOST_DIGITS + 1):
        rounded = float(f"{x:.{n}g}")
        if abs(scaled(rounded, factor) - value) <= READS_BACK * abs(value):
            return _plain(rounded)
    return _plain(x)


def _plain(x: float) -> str:
    text = repr(x + 0.0)
    return text.removesuffix(".0") if "e" not in text else text


def quantity(value: float, dimension: Dimension, units: UnitSystem, digits: int | None = None) -> str:
    """A value for a place that has none yet: a bare number where the file's units say what it means, else with a unit."""
    factor = units.bare_factor(dimension)
    if factor is not None or value == 0.0:
        return number(value, factor or 1.0, digits)
    symbol, per_si = display_unit(units, dimension)
    return f"{number(value, 1.0 / per_si, digits)} {symbol}"


def exchanged(literal: Literal, value: float, units: UnitSystem, digits: int | None = None) -> Edit:
    """A number with another value in its place, in the unit it has there; an expression without names becomes a number."""
    node = literal.node
    span = node.span
    assert span is not None and node.text is not None
    text = _with_unit(node.text.strip(), literal, value, units, digits)
    return Edit(span.first, span.end, f"{span.style}{text}{span.style}" if span.style in ("'", '"') else text)


def _with_unit(old: str, literal: Literal, value: float, units: UnitSystem, digits: int | None) -> str:
    found = LITERAL.match(old)
    unit = found["unit"] if found else ""
    if found is None or (unit and not _is_unit(unit)):
        return quantity(value, literal.dimension, units, digits)
    if not unit:
        return quantity(value, literal.dimension, units, digits)
    return f"{number(value, unit_size(unit, literal.dimension, 'the value'), digits)}{found['gap']}{unit}"


def _is_unit(text: str) -> bool:
    try:
        parse_unit(text)
    except UsageError:
        return False
    return True


# -------------------------------------------------------------------- entries


def added(text: str, mapping: FileNode, key: str, value: str, after: Sequence[str] = ()) -> Edit:
    """A new entry of a mapping, behind the last of these keys that it has, else behind all: a line of a block, or in braces, on a new
    line where the last one is long."""
    span = mapping.span
    assert span is not None
    if mapping.entries is None:  # a key without a value
        return Edit(span.end, span.end, f"{'' if text[span.end - 1 : span.end].isspace() else ' '}{{{key_text(key, True)}: {value}}}")
    entries: Mapping[str, FileNode] = mapping.entries
    if not entries:
        return Edit(span.first + 1, span.first + 1, f"{key_text(key, True)}: {value}")
    before = entries[next((k for k in reversed(after) if k in entries), list(entries)[-1])].span
    assert before is not None
    newline = "\r\n" if "\r\n" in text else "\n"
    if span.style != "flow":
        at = text.find("\n", before.end)
        at = len(text) if at < 0 else at
        at -= text[at - 1 : at] == "\r"
        return Edit(at, at, f"{newline}{' ' * _column(text, entries)}{key_text(key, False)}: {value}")
    entry = f"{key_text(key, True)}: {value}"
    wide = before.end - (text.rfind("\n", 0, before.end) + 1)
    widest = 110  # characters of a line to which an entry in braces is still added
    if wide + len(entry) + 2 > widest and wide > widest // 2:
        return Edit(before.end, before.end, f",{newline}{' ' * _column(text, entries)}{entry}")
    return Edit(before.end, before.end, f", {entry}")


def _column(text: str, entries: Mapping[str, FileNode]) -> int:
    first: Any = next(iter(entries.values())).span
    return first.key - (text.rfind("\n", 0, first.key) + 1)


def key_text(name: str, braces: bool) -> str:
    """A name as a key or item, quoted where YAML would take it for something else."""
    plain = not SPECIAL.search(name) or (not braces and re.fullmatch(r"[\w.-]+:[\w.-]+", name) is not None)
    return name if plain else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def put(text: str, mapping: FileNode, key: str, value: str, after: Sequence[str] = ()) -> Edit:
    """An entry of a mapping with this value: exchanged if it is there, else added."""
    there = (mapping.entries or {}).get(key)
    if there is None or there.span is None:
        return added(text, mapping, key, value, after)
    return Edit(there.span.first, there.span.end, value)
