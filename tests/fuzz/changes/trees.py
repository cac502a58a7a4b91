"""Random changes of trees: mappings as lists of pairs, so that a key may come twice, lists, and texts. Read from YAML, written as YAML.

A text is written as it is where YAML can hold it plainly, so that numbers stay numbers; `Raw` is written whatever it is.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fuzz import odd

PLAIN = re.compile(r"[\w.+\-/*^()=<>~%°²µ][\w.+\-/*^()=<>~%°²µ ]*", re.ASCII)


@dataclass
class Pairs:
    """A mapping, in order; keys may come twice."""

    items: list[tuple[Any, Any]]


@dataclass(frozen=True)
class Raw:
    """YAML as it is."""

    text: str


@dataclass
class Place:
    """A value in a tree: where it is, so that it can be replaced."""

    holder: Any
    index: int
    key: str

    @property
    def value(self) -> Any:
        held = self.holder.items[self.index][1] if isinstance(self.holder, Pairs) else self.holder[self.index]
        return held

    def put(self, value: Any) -> None:
        if isinstance(self.holder, Pairs):
            self.holder.items[self.index] = (self.holder.items[self.index][0], value)
        else:
            self.holder[self.index] = value


def read_tree(text: str) -> Any:
    """The tree of a YAML text, all scalars as texts."""
    import yaml

    return of_python(yaml.load(text, Loader=yaml.BaseLoader))


def of_python(x: Any) -> Any:
    """A tree of dicts and lists."""
    if isinstance(x, Mapping):
        return Pairs([(k, of_python(v)) for k, v in x.items()])
    return [of_python(v) for v in x] if isinstance(x, Sequence) and not isinstance(x, str) else x


def to_python(x: Any) -> Any:
    """Dicts and lists again; of a key that comes twice the last value."""
    if isinstance(x, Pairs):
        return {str(k): to_python(v) for k, v in x.items}
    return [to_python(v) for v in x] if isinstance(x, list) else x.text if isinstance(x, Raw) else x


def copied(x: Any) -> Any:
    if isinstance(x, Pairs):
        return Pairs([(k, copied(v)) for k, v in x.items])
    return [copied(v) for v in x] if isinstance(x, list) else x


def yaml_text(x: Any, indent: int = 0) -> str:
    """Block style for mappings, flow style within lists."""
    if isinstance(x, Pairs) and x.items:
        pad, lines = " " * indent, []
        for key, value in x.items:
            deep = isinstance(value, Pairs) and value.items and indent < 6
            lines.append(f"{pad}{_scalar(key)}:" + (f"\n{yaml_text(value, indent + 2)}" if deep else f" {_flow(value)}\n"))
        return "".join(lines)
    return _flow(x)


def _flow(x: Any) -> str:
    if isinstance(x, Pairs):
        return "{" + ", ".join(f"{_scalar(k)}: {_flow(v)}" for k, v in x.items) + "}"
    if isinstance(x, list):
        return "[" + ", ".join(map(_flow, x)) + "]"
    return _scalar(x)


def _scalar(x: Any) -> str:
    if isinstance(x, Raw):
        return x.text
    text = "" if x is None else str(x)
    return text if PLAIN.fullmatch(text) and text == text.strip() else json.dumps(text, ensure_ascii=False)


def places(x: Any, key: str = "") -> Iterator[Place]:
    """Every value of a tree."""
    if isinstance(x, Pairs):
        for i, (k, v) in enumerate(x.items):
            yield Place(x, i, str(k))
            yield from places(v, str(k))
    elif isinstance(x, list):
        for i, v in enumerate(x):
            yield Place(x, i, key)
            yield from places(v, key)


def change_tree(rng: random.Random, tree: Any, donors: Sequence[Any], gently: bool = False) -> None:
    """Change a tree in place once; `donors` are other trees from which parts are taken. `gently`: only what may well be sound again."""
    every = list(places(tree))
    if every:
        rng.choice(GENTLE if gently else CHANGES)(rng, rng.choice(every), every, donors)


def _odd_value(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    at.put(odd.scalar(rng))


def _odd_number(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    """A number, its unit left as it is."""
    numbers = [p for p in every if isinstance(p.value, str) and re.match(r"-?[\d.]+(?:e-?\d+)?(?![\w.])", p.value)]
    if not numbers:
        return
    chosen = rng.choice(numbers)
    old = re.match(r"-?[\d.]+(?:e-?\d+)?", chosen.value)
    assert old is not None
    try:
        new = odd.near(rng, float(old[0])) if rng.random() < 0.85 else rng.choice(odd.NUMBERS)
    except ValueError:
        new = rng.choice(odd.NUMBERS)
    chosen.put(new + chosen.value[old.end() :])


def _delete(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    del (at.holder.items if isinstance(at.holder, Pairs) else at.holder)[at.index]


def _twice(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    held = at.holder.items if isinstance(at.holder, Pairs) else at.holder
    times = rng.choice((1, 1, 1, 1, 2, 200))
    if isinstance(at.holder, Pairs):
        key = held[at.index][0]
        held[at.index : at.index] = [(f"{key}{i}" if rng.random() < 0.7 else key, copied(at.value)) for i in range(times)]
    else:
        held[at.index : at.index] = [copied(at.value) for _ in range(times)]


def _swap(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    other = rng.choice(every)
    mine, theirs = copied(at.value), copied(other.value)
    at.put(theirs)
    other.put(mine)


def _rename(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    if isinstance(at.holder, Pairs):
        keys = [p.key for p in every if p.key]
        at.holder.items[at.index] = (rng.choice(keys) if rng.random() < 0.5 else rng.choice(odd.NAMES), at.value)


def _graft(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    """A value of another tree: mostly one with the same key."""
    there = list(places(rng.choice(donors)))
    same = [p for p in there if p.key == at.key and isinstance(p.value, type(at.value))]
    if same or there:
        at.put(copied(rng.choice(same if same and rng.random() < 0.8 else there).value))


def _section(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    """An entry of another tree beside those of this one, at the same depth."""
    donor = rng.choice(donors)
    root = next((p.holder for p in every if isinstance(p.holder, Pairs)), None)
    if root is None or not isinstance(donor, Pairs) or not donor.items:
        return
    key, value = rng.choice(donor.items)
    mine = next((v for k, v in root.items if k == key), None)
    if isinstance(mine, Pairs) and isinstance(value, Pairs) and value.items:
        k, v = rng.choice(value.items)
        mine.items.append((k, copied(v)))
    else:
        root.items.append((key, copied(value)))


def _wrap(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    x = at.value
    at.put(rng.choice(([x], [x, x], [], Pairs([(odd.scalar(rng), x)]), Pairs([]), x[0] if isinstance(x, list) and x else None)))


def _deep(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    n = rng.choice((3, 50, 400, 5000))
    open_, shut = rng.choice((("[", "]"), ("{a: ", "}"), ("{? ", ": 1}")))
    at.put(Raw(open_ * n + "1" + shut * n))


def _alias(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    text = rng.choice(
        ("&a [*a]", "*a", "&a 3", "!!float 3", "!!str 3", "!!python/object:os.system x", "!t 3", "|\n   a\n   b", "<<", "=", "&a {<<: *a}")
    )
    at.put(Raw(text))


def _reference(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    """The name of another entry: also of itself, so that parameters may go round in circles."""
    names = [p.key for p in every if p.key and isinstance(p.holder, Pairs)]
    a, b = rng.choice(names or ["A"]), rng.choice(names or ["A"])
    at.put(rng.choice((a, f"{a}.{b}", f"2 * {a}", f"{a} + {b}", f"{a}.x", f"{a}.v", f"{a}.length", at.key)))


def _shuffle(rng: random.Random, at: Place, every: list[Place], donors: Sequence[Any]) -> None:
    x = at.value
    rng.shuffle(x if isinstance(x, list) else x.items if isinstance(x, Pairs) else [])


CHANGES = (
    _odd_value,
    _odd_value,
    _odd_number,
    _odd_number,
    _odd_number,
    _delete,
    _delete,
    _twice,
    _swap,
    _swap,
    _rename,
    _graft,
    _graft,
    _graft,
    _section,
    _section,
    _section,
    _wrap,
    _deep,
    _alias,
    _reference,
    _reference,
    _shuffle,
)
GENTLE = (_odd_number, _odd_number, _odd_number, _odd_number, _odd_number, _delete, _section, _section, _graft, _reference)
