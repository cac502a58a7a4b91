"""Checks of the JSON in a file of a run: every field has its type, its range and its size before anything is made of it.

A check takes a value and the name of its place, and raises `Misfit`. Unknown fields are left alone, so that later versions can
add some without a new format.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from dataclasses import fields as all_fields
from typing import Any, get_type_hints

import numpy as np

from linkwright.files import shown
from linkwright.model.file import MOST_BYTES
from linkwright.results.files.size_limits import MOST_SAMPLES
from linkwright.results.records import DIMENSIONS

DEEPEST = 20  # levels of settings and values of events
Check = Callable[[Any, str], None]


class Misfit(ValueError):
    """A field that is missing or not what it should be."""


def need(condition: bool, where: str, what: str) -> None:
    if not condition:
        raise Misfit(f"'{where}' is not {what}")


def text(x: Any, where: str) -> None:
    need(isinstance(x, str) and len(x) <= MOST_BYTES, where, "a text")
    try:
        x.encode()
    except UnicodeEncodeError as error:
        raise Misfit(f"'{where}' is not a text") from error


def flag(x: Any, where: str) -> None:
    need(isinstance(x, bool), where, "true or false")


def number(x: Any, where: str) -> None:
    """Any float, infinite ones too: a certificate may hold them."""
    need((isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) <= math.inf) or x != x, where, "a number")
    need(isinstance(x, float) or abs(x) < 2**63, where, "a number of that size")


def finite(x: Any, where: str) -> None:
    number(x, where)
    need(math.isfinite(x), where, "a finite number")


def positive(x: Any, where: str) -> None:
    finite(x, where)
    need(1e-100 < x < 1e100, where, "a positive number of reasonable size")


def whole(x: Any, where: str) -> None:
    need(isinstance(x, int) and not isinstance(x, bool) and 0 <= x <= MOST_SAMPLES, where, "a whole number of reasonable size")


def optional(check: Check) -> Check:
    return lambda x, where: None if x is None else check(x, where)


def chosen(*values: Any) -> Check:
    return lambda x, where: need(
        any(x is v or (type(x) is type(v) and x == v) for v in values), where, f"one of {', '.join(map(str, values))}"
    )


def many(check: Check) -> Check:
    """A list."""

    def run(x: Any, where: str) -> None:
        need(isinstance(x, (list, tuple)), where, "a list")
        for i, entry in enumerate(x):
            check(entry, f"{where}[{i}]")

    return run


def named(check: Check) -> Check:
    """A mapping with any names."""

    def run(x: Any, where: str) -> None:
        need(isinstance(x, Mapping), where, "a mapping")
        for key, entry in x.items():
            text(key, where)
            check(entry, f"{where}.{key[:60]}")

    return run


def fields(required: Mapping[str, Check], known: Mapping[str, Check] | None = None) -> Check:
    """A mapping with these fields; those of `known` may be missing."""

    def run(x: Any, where: str) -> None:
        need(isinstance(x, Mapping), where, "a mapping")
        for key, check in required.items():
            if key not in x:
                raise Misfit(f"'{where}.{key}' is missing" if where else f"'{key}' is missing")
            check(x[key], f"{where}.{key}" if where else key)
        for key, check in (known or {}).items():
            if key in x:
                check(x[key], f"{where}.{key}" if where else key)

    return run


def row(*checks: Check) -> Check:
    """A list with one entry for each check."""

    def run(x: Any, where: str) -> None:
        need(isinstance(x, (list, tuple)) and len(x) == len(checks), where, f"a list of {len(checks)}")
        for i, (entry, check) in enumerate(zip(x, checks, strict=True)):
            check(entry, f"{where}[{i}]")

    return run


def plain(x: Any, where: str, depth: int = 0) -> None:
    """Anything that JSON holds, not too deep."""
    need(depth < DEEPEST, where, "that deep")
    if isinstance(x, Mapping):
        for key, entry in x.items():
            text(key, where)
            plain(entry, f"{where}.{key[:60]}", depth + 1)
    elif isinstance(x, list):
        for entry in x:
            plain(entry, where, depth + 1)
    elif isinstance(x, str):
        text(x, where)
    elif x is not None and not isinstance(x, bool):
        number(x, where)


NAMES = many(text)
SETTINGS = fields(
    {},
    {
        "start": finite,
        "end": finite,
        "integrator": text,
        "step": optional(finite),
        "tolerance": optional(finite),
        "stabilizer": named(plain),
        "formulation": text,
        "engine": text,
        "drive": named(text),
        "off": NAMES,
        "events": NAMES,
        "parameters": named(finite),
        "static": flag,
        "interpolated": flag,
        "control": fields(
            {
                "kind": text,
                "drives": NAMES,
                "every": finite,
                "origin": finite,
                "limits": named(number),
                "motors": named(named(optional(number))),
            }
        ),
    },
)


def settings(x: Any, where: str) -> None:
    SETTINGS(x, where)
    plain(x, where)


COLUMN = fields({"dimension": chosen(*DIMENSIONS), "vector": flag, "columns": NAMES})
WHERE = fields({"columns": named(COLUMN), "q": NAMES, "v": NAMES, "a": NAMES, "near": NAMES, "arrays": named(NAMES)})
ABOUT = fields(
    {
        "versions": fields({"linkwright": text}),
        "model": text,
        "parameters": named(finite),
        "cuts": NAMES,
        "cuts_given": flag,
        "length": positive,
        "drives": NAMES,
        "samples": whole,
        "where": WHERE,
        "coordinates": fields({"q": NAMES, "v": NAMES}),
        "units": named(text),
        "settings": settings,
        "certificate": optional(named(plain)),
        "events": many(row(finite, text, named(plain))),
        "passages": many(named(plain)),
        "notes": NAMES,
        "full_turn": optional(flag),
        "drive": text,
        "origin": optional(many(finite)),
        "fingerprint": text,
    },
    {"not_finite": NAMES},
)


def of_class(cls: type[Any], data: Any, where: str) -> dict[str, Any]:
    """The fields of a dataclass or named tuple that JSON holds, each of its annotated type; lists as tuples."""
    kinds: dict[Any, Check] = {str: text, float: number, int: whole, bool: flag, float | None: optional(number)}
    kinds |= {tuple[str, ...]: NAMES, tuple[float, ...]: many(number)}
    hints = get_type_hints(cls)
    defaults = getattr(cls, "_field_defaults", None)
    given = set(defaults) if defaults is not None else {f.name for f in all_fields(cls) if not (f.default is f.default_factory is MISSING)}
    checks = {name: kinds.get(kind, plain) for name, kind in hints.items()}
    fields({n: c for n, c in checks.items() if n not in given}, {n: c for n, c in checks.items() if n in given})(data, where)
    return {n: _shown(x) for n, x in data.items() if n in hints}


def _shown(x: Any) -> Any:
    """Lists as tuples; texts without line feeds and other control characters, which could add lines to a verdict."""
    return tuple(map(_shown, x)) if isinstance(x, list) else shown(x) if isinstance(x, str) else x


def states(where: Mapping[str, Any], table: Mapping[str, Any]) -> None:
    """Times increase, positions and velocities are finite."""
    t = table["t"]
    need(bool(np.isfinite(t).all() and (np.diff(t) >= 0.0).all()), "t", "a row of increasing times")
    for name in (*where["q"], *where["v"]):
        need(bool(np.isfinite(table[name]).all()), name, "finite")


def columns(about: Mapping[str, Any]) -> list[str]:
    """The columns that are the run, in the order they were written; each has a name of its own."""
    where = about["where"]
    for name, block in where["columns"].items():
        need(block["vector"] or len(block["columns"]) == 1, f"where.columns.{name[:60]}", "a single column")
    out = [x for block in where["columns"].values() for x in block["columns"]]
    out += [x for key in ("q", "v", "a", "near") for x in where[key]]
    out += [x for block in where["arrays"].values() for x in block]
    need(len({"t", *out}) == 1 + len(out), "where", "a list of columns with names of their own")
    return out
