"""Signature of a description over variables: a text that two models share only if the same code serves both.

Expressions have parts in common, and printed in full they can grow without bound; here every part is listed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from linkwright.model.description import Description
from linkwright.model.parameters import Parameter, any_drawn, with_values
from linkwright.text.expressions import Expr, variable


def signature(described: Description, free: Sequence[Parameter]) -> str:
    """Text of everything that code with these numbers as inputs depends on, beyond the numbers of the model; empty if there are none."""
    if not any_drawn(free):
        return repr([p for p in described.parameters]) + repr(described.bodies) if free else ""
    parts: list[str] = []
    done: dict[Expr, int] = {}
    text = _text(with_values(described, free, [variable(p.name) for p in free]), parts, done)
    return "\n".join([*parts, text])


def _text(value: Any, parts: list[str], done: dict[Expr, int]) -> str:
    if isinstance(value, Expr):
        if value not in done:
            parts.append(f"{value.op} {' '.join(_text(x, parts, done) for x in value.args)}")
            done[value] = len(done)
        return f"#{done[value]}"
    if isinstance(value, tuple):
        return f"({', '.join(_text(x, parts, done) for x in value)})"
    if is_dataclass(value) and not isinstance(value, type):
        inside = [_text(getattr(value, f.name), parts, done) for f in fields(value) if f.compare and f.repr]
        return f"{type(value).__name__}({', '.join(inside)})"
    return repr(value)
