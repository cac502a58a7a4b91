"""Traced and compiled laws that a mechanism keeps for later runs, found again by everything they were made from.

A key is made of values, not of objects: numbers, texts, arrays byte by byte, frozen objects field by field. Whatever was changed
since makes another key, so that nothing stale is ever found. What cannot be compared, such as a function of the caller's, which
may do something else tomorrow, has no key (`UnkeyedValue`), and its law is traced anew for every run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from threading import Lock
from types import FunctionType
from typing import Any

import numpy as np

from linkwright.compiler.program import Program
from linkwright.kernels.kernels import Kernels
from linkwright.numerics.stores import Store
from linkwright.text.expressions import Expr

LAWS: Store[str, LawCache] = Store()  # the one cache of a mechanism
MOST = 16  # laws and their codes a mechanism keeps; those not used for longest go


class UnkeyedValue(Exception):
    """An object whose behavior does not follow from its value."""


class Same:
    """An object that is equal to itself only, and lives as long as the key that holds it."""

    def __init__(self, of: Any):
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)


def fingerprint(x: Any) -> Any:
    """A value that two things share only where they do the same; raises `UnkeyedValue` where that is not known."""
    if x is None or isinstance(x, (str, bytes, bool)):
        return x
    if isinstance(x, (int, float, complex, np.generic)):
        return type(x).__name__, repr(x)  # 1, 1.0 and True are different things here, and so are 0.0 and -0.0
    if isinstance(x, np.ndarray):
        values = tuple(fingerprint(e) for e in x.ravel()) if x.dtype == object else x.tobytes()
        return "array", x.dtype.str, x.shape, values
    if isinstance(x, Program):
        return "program", repr(x.ops), x.results, x.inputs, x.outputs
    if isinstance(x, Expr):
        return "expression", x.op, *(fingerprint(a) for a in x.args)
    if isinstance(x, Kernels):
        return Same(x)
    if isinstance(x, (tuple, list)):
        return (type(x).__name__, *(fingerprint(e) for e in x))
    if isinstance(x, Mapping):
        return ("mapping", *((fingerprint(k), fingerprint(v)) for k, v in x.items()))
    return _of_ours(x)


def _of_ours(x: Any) -> Any:
    """Frozen objects and closures of this library: their behavior follows from what they hold."""
    if isinstance(x, FunctionType) and _ours(x.__module__):
        return "function", x.__code__, *(fingerprint(c.cell_contents) for c in x.__closure__ or ()), fingerprint(x.__defaults__)
    if is_dataclass(x) and not isinstance(x, type) and _ours(type(x).__module__):
        own = getattr(x, "fingerprint", None)
        return own() if own is not None else (type(x), *(fingerprint(getattr(x, f.name)) for f in fields(x)))
    raise UnkeyedValue(type(x).__name__)


def _ours(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == __name__.partition(".")[0]


def key_of(*parts: Any) -> Any:
    """A key made of these, or None where one of them is unknown."""
    try:
        return fingerprint(parts)
    except UnkeyedValue:
        return None


class LawCache:
    """The laws of one mechanism, the last used ones."""

    def __init__(self) -> None:
        self._known: OrderedDict[Any, Any] = OrderedDict()
        self._lock = Lock()

    @classmethod
    def of(cls, system: Any) -> LawCache:
        """The store that belongs to a mechanism."""
        return LAWS.of(system).setdefault("laws", cls())

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the law made under this key, or make it; without a key (None) nothing is cached."""
        if key is None:
            return make()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = make()  # outside of the lock: two runs at once may both make it, and either is good
        with self._lock:
            self._known[key] = made
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return made
