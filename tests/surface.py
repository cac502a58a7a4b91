"""The public surface: the names of `lw`, of its namespaces and of its classes, as callers see them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

import linkwright as lw

SPACES = ("control", "drives", "events", "exchange", "formulations", "models", "stabilizers")


@cache
def public_names() -> dict[str, Any]:
    """Everything with a public path under `lw`: `load`, `Mechanism`, `control.pd`."""
    spaces = {name: getattr(lw, name) for name in SPACES}
    inner = {f"{name}.{x}": getattr(space, x) for name, space in spaces.items() for x in space.__all__}
    return {**{name: getattr(lw, name) for name in lw.__all__ if name not in SPACES}, **inner}


@cache
def public_calls() -> dict[str, Any]:
    """Public functions, and the methods and properties of public classes, by name: `load`, `Mechanism.cycle`, `control.pd`."""
    found: dict[str, Any] = {}
    for name, thing in public_names().items():
        if inspect.isclass(thing):
            found |= {f"{name}.{member}": function for member, function in members(thing)}
        elif inspect.isroutine(thing):
            found[name] = thing
    return found


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The functions of public methods and properties of a class, with its subscript and the verbs that rings add."""
    dir(kind)  # verbs of rings become members when they are asked for
    seen: set[str] = set()
    for owner in kind.__mro__:
        for name, value in vars(owner).items() if owner.__module__.startswith("linkwright") else ():
            function = function_of(value)
            if function is not None and name not in seen and (not name.startswith("_") or name == "__getitem__"):
                yield name, function
            seen.add(name)


def function_of(value: Any) -> Any:
    """The function of a method or property; None of anything else."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, functools.cached_property):
        return value.func
    if isinstance(value, classmethod | staticmethod):
        return value.__func__
    return value if inspect.isfunction(value) else None
