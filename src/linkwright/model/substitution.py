"""Values in the place of expressions, in any part of a description."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from linkwright.errors import Source
from linkwright.text.expressions import Evaluation, Expr, free_variables

ZERO3: tuple[Any, Any, Any] = (0.0, 0.0, 0.0)
EYE3: tuple[tuple[Any, Any, Any], tuple[Any, Any, Any], tuple[Any, Any, Any]] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NO_INERTIA: tuple[tuple[Any, Any, Any], tuple[Any, Any, Any], tuple[Any, Any, Any]] = (ZERO3, ZERO3, ZERO3)


@cache
def compared(kind: type) -> tuple[str, ...]:
    """Names of the fields of a dataclass that may hold numbers; none for other classes."""
    if not is_dataclass(kind) or kind is Source:
        return ()
    return tuple(f.name for f in fields(kind) if f.compare and f.name not in _HOLD_NONE.get(kind.__name__, ("name", "between")))


@cache
def _every_field(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


_PLAIN = frozenset((float, str, int, bool, type(None)))  # types that hold no expression
_CONSTANT = frozenset(map(id, (EYE3, ZERO3, NO_INERTIA)))  # values that hold none
_HOLD_NONE = {  # fields of classes
    "Body": ("name", "start", "outline", "visuals", "chain"),
    "Description": ("name", "units", "drawing", "cuts"),
}


def note_variables(value: Any, found: set[str]) -> None:
    """Add the names that expressions in a part of a description depend on."""
    if isinstance(value, Expr):
        found |= free_variables(value)
    elif isinstance(value, tuple):
        for x in value:
            note_variables(x, found)
    else:
        for name in compared(type(value)):
            note_variables(getattr(value, name), found)


def substitute(value: Any, evaluated: Evaluation) -> Any:
    """The value with expressions evaluated; what holds none is the same object as before."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is Expr:
        return evaluated(value)
    if kind is tuple:
        if id(value) in _CONSTANT:
            return value
        parts = [x if type(x) in _PLAIN else substitute(x, evaluated) for x in value]
        for new, old in zip(parts, value, strict=True):
            if new is not old:
                return tuple(parts)
        return value
    changed = {}
    for name in compared(kind):
        old = getattr(value, name)
        if type(old) is not float and type(old) is not str and old:
            new = substitute(old, evaluated)
            if new is not old:
                changed[name] = new
    if not changed:
        return value
    new = object.__new__(kind)  # as `dataclasses.replace`, which sets every field of frozen data one by one
    held = vars(value)
    vars(new).update({f: held[f] for f in _every_field(kind)}, **changed)
    return new
