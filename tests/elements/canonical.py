"""Plain text of descriptions and other data: by names of classes and fields, whatever module holds them and in whatever order.

Fields that have their default are left out, so that a new optional field changes nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.text.expressions import Expr

FOLDER = Path(__file__).parents[1] / "data" / "elements"
DIGITS = 12  # of numbers that are stored: the last ones differ from machine to machine


def rounded(x: float) -> str:
    """A number to as many digits as all machines agree on."""
    return "0" if x == 0.0 else f"{x:.{DIGITS}g}"


def exact(x: float) -> float | str:
    """A number with all its digits."""
    return x if math.isfinite(x) else str(x)


@cache
def _fields(kind: type) -> tuple[dataclasses.Field[Any], ...]:
    return tuple(sorted((f for f in dataclasses.fields(kind) if f.compare and f.name != "where"), key=lambda f: f.name))


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def plain(x: Any, number: Callable[[float], Any] = rounded) -> Any:
    """Lists, mappings and texts in the place of dataclasses, arrays and numbers."""
    if x is None or isinstance(x, (bool, str)):
        return x
    if isinstance(x, (int, np.integer)):
        return number(float(x))
    if isinstance(x, (float, np.floating)):
        return number(float(x))
    if isinstance(x, bytes):
        return hashlib.sha256(x).hexdigest()[:16]
    if isinstance(x, np.ndarray):
        return plain(x.tolist(), number)
    if isinstance(x, Expr):
        return [x.op, *(plain(a, number) for a in x.args)]
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        given = {f.name: getattr(x, f.name) for f in _fields(type(x))}
        kept = {f.name: given[f.name] for f in _fields(type(x)) if not _same(given[f.name], _default(f))}
        return {"": type(x).__name__, **{name: plain(value, number) for name, value in kept.items()}}
    if isinstance(x, Mapping):
        return {str(k): plain(v, number) for k, v in x.items()}
    if isinstance(x, (set, frozenset)):
        return sorted(json.dumps(plain(v, number), sort_keys=True) for v in x)
    if isinstance(x, (list, tuple)):
        return [plain(v, number) for v in x]
    raise TypeError(f"no plain form of a {type(x).__name__}")


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not isinstance(value, (Expr, np.ndarray)) and value == default


def text(x: Any, number: Callable[[float], Any] = rounded) -> str:
    """One line for any data."""
    return json.dumps(plain(x, number), sort_keys=True, ensure_ascii=False)


def short(x: Any) -> str:
    """A line for people: `Damper(coefficient=5, joint=A)`."""
    return _short(plain(x))


def _short(x: Any) -> str:
    if isinstance(x, dict):
        inner = ", ".join(f"{k}={_short(v)}" for k, v in x.items() if k)
        return f"{x.get('', '')}({inner})"
    return f"[{', '.join(map(_short, x))}]" if isinstance(x, list) else str(x)


def digest(x: Any, number: Callable[[float], Any] = rounded) -> str:
    """Sixteen characters that change with the data."""
    return hashlib.sha256(text(x, number).encode()).hexdigest()[:16]
