"""Kinds of values in native loops: whole numbers, floats, truth values, arrays, and named tuples of these as arguments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError

INT, FLOAT, BOOL = "i64", "double", "i1"  # as LLVM names them


class LoopError(LinkwrightError):
    """A function uses something outside the subset that can be made native."""


@dataclass(frozen=True)
class Array:
    element: str
    axes: int

    @property
    def slots(self) -> int:
        return 1 + self.axes


@dataclass(frozen=True)
class Fields:
    """A named tuple; as a value it is the address of its fields."""

    names: tuple[str, ...]
    kinds: tuple[Any, ...]

    @property
    def slots(self) -> int:
        return sum(slots(k) for k in self.kinds)

    @cached_property
    def whole(self) -> bool:
        """True if all fields are whole numbers, as in the plan of a run, which has about a hundred."""
        return all(k == INT for k in self.kinds)

    def place(self, name: str) -> int:
        return sum(slots(k) for k in self.kinds[: self.names.index(name)])


Kind = str | Array | Fields
ARRAYS = {(np.dtype(kind), axes): Array(name, axes) for kind, name in ((np.float64, FLOAT), (np.int64, INT)) for axes in (1, 2)}


@dataclass(frozen=True)
class Value:
    """A value while text is written: the name of a number, or of the address of an array or a tuple."""

    kind: Kind
    text: str
    axes: tuple[str, ...] = ()  # lengths of an array


def slots(kind: Kind) -> int:
    """Number of 8-byte fields of an argument: an array its address and its lengths."""
    return 1 if isinstance(kind, str) else kind.slots


def kind_of(example: Any) -> Kind:
    """The kind of arguments like this one."""
    if isinstance(example, np.ndarray):
        found = ARRAYS.get((example.dtype, example.ndim))
        if found is not None:
            return found
    names: tuple[str, ...] | None = getattr(example, "_fields", None)
    if isinstance(example, tuple) and names is not None:
        if set(map(type, example)) == {int}:
            return _whole_fields(tuple(names))
        return Fields(tuple(names), tuple(kind_of(x) for x in example))
    if isinstance(example, (int, np.integer)):
        return INT
    if isinstance(example, (float, np.floating)):
        return FLOAT
    raise LoopError(f"native loops take numbers, arrays of numbers and named tuples of these, not {type(example).__name__}.")


@cache
def _whole_fields(names: tuple[str, ...]) -> Fields:
    """The kind of a named tuple of whole numbers, made once."""
    return Fields(names, (INT,) * len(names))


def packed(kind: Kind, argument: Any, into: list[int]) -> None:
    """The 8-byte fields of an argument; arrays must have the kind they were compiled for and lie in one piece."""
    if isinstance(kind, Fields) and kind.whole and len(argument) == len(kind.kinds):
        into.extend(map(int, argument))
    elif isinstance(kind, Fields):
        for part, value in zip(kind.kinds, argument, strict=True):
            packed(part, value, into)
    elif isinstance(kind, Array):
        if kind_of(argument) != kind or not argument.flags.c_contiguous:
            raise LoopError("an array has not the kind this loop was compiled for, or is a view with gaps.")
        into += [argument.ctypes.data, *argument.shape]
    elif kind == FLOAT:
        into.append(int(np.float64(argument).view(np.int64)))
    else:
        into.append(int(argument))
