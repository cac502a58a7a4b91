"""A scalar that counts: what a formulation costs in operations, not in the time of one computer.

`count(function, q, v)` runs a function on arrays whose entries are `Counted`. Plain numbers among them are constants of
the mechanism, and what a compiler folds is free: operations of constants with each other, 0 x, 1 x, x + 0, x / 1,
signs. Comparisons and `float(x)` are free too: they watch the pivots and are no part of the equations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True)
class Counts:
    """Operations by kind; a subtraction is an addition, `trig` is every function but the square root."""

    add: int = 0
    mul: int = 0
    div: int = 0
    sqrt: int = 0
    trig: int = 0

    @property
    def total(self) -> int:
        return self.add + self.mul + self.div + self.sqrt + self.trig

    def __sub__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))


class Tally:
    """Counts in the making; every number of one run writes into the same."""

    __slots__ = ("add", "div", "mul", "sqrt", "trig")

    def __init__(self) -> None:
        self.add = self.mul = self.div = self.sqrt = self.trig = 0

    def counts(self) -> Counts:
        return Counts(self.add, self.mul, self.div, self.sqrt, self.trig)


def _is_number(x: Any) -> bool:
    return isinstance(x, (float, int, np.floating, np.integer))


class Counted:
    """A variable: a float that reports every operation on it to its tally."""

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Tally):
        self.value = value
        self.tally = tally

    def __repr__(self) -> str:
        return f"Counted({self.value!r})"

    def __float__(self) -> float:
        return self.value

    def __bool__(self) -> bool:
        return self.value != 0.0

    # ---------------------------------------------------------------- sums; an array answers entry by entry by itself

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.tally)

    def __pos__(self) -> Counted:
        return self

    def __abs__(self) -> Counted:
        return Counted(abs(self.value), self.tally)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Counted):
            self.tally.add += 1
            return Counted(self.value + other.value, self.tally)
        if not _is_number(other):
            return NotImplemented
        if other == 0:
            return self
        self.tally.add += 1
        return Counted(self.value + float(other), self.tally)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Counted):
            self.tally.add += 1
            return Counted(self.value - other.value, self.tally)
        return self + (-other) if _is_number(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other if _is_number(other) else NotImplemented

    # ---------------------------------------------------------------- products

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Counted):
            self.tally.mul += 1
            return Counted(self.value * other.value, self.tally)
        if not _is_number(other):
            return NotImplemented
        if other == 0:
            return 0.0
        if other == 1:
            return self
        if other == -1:
            return -self
        self.tally.mul += 1
        return Counted(self.value * float(other), self.tally)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Counted):
            self.tally.div += 1
            return Counted(self.value / other.value, self.tally)
        return self * (1.0 / other) if _is_number(other) else NotImplemented  # the reciprocal of a constant is one

    def __rtruediv__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        if other == 0:
            return 0.0
        self.tally.div += 1
        return Counted(float(other) / self.value, self.tally)

    def __pow__(self, exponent: Any) -> Any:
        """Small whole powers by multiplication, one half by the square root."""
        if exponent == 0.5:
            return self.sqrt()
        if not (isinstance(exponent, int) and exponent > 0):
            return NotImplemented
        out = self
        for _ in range(exponent - 1):
            out = out * self
        return out

    # ---------------------------------------------------------------- functions, under the names numpy asks for

    def sqrt(self) -> Counted:
        self.tally.sqrt += 1
        return Counted(math.sqrt(self.value), self.tally)

    def _function(self, value: float) -> Counted:
        self.tally.trig += 1
        return Counted(value, self.tally)

    def sin(self) -> Counted:
        return self._function(math.sin(self.value))

    def cos(self) -> Counted:
        return self._function(math.cos(self.value))

    def tan(self) -> Counted:
        return self._function(math.tan(self.value))

    def exp(self) -> Counted:
        return self._function(math.exp(self.value))

    def tanh(self) -> Counted:
        return self._function(math.tanh(self.value))

    def arctan2(self, x: Any) -> Counted:
        return self._function(math.atan2(self.value, float(x)))

    # ---------------------------------------------------------------- comparisons, by value

    def __eq__(self, other: Any) -> Any:
        return self.value == float(other) if isinstance(other, Counted) or _is_number(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: Any) -> bool:
        return self.value < float(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= float(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > float(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= float(other)


def variables(array: Any, tally: Tally) -> np.ndarray:
    """An array of the same shape whose entries count; those that already do stay."""
    source = np.asarray(array)
    out = np.empty(source.shape, dtype=object)
    for index in np.ndindex(source.shape):
        x = source[index]
        out[index] = x if isinstance(x, Counted) else Counted(float(x), tally)
    return out


def values(array: Any) -> np.ndarray:
    """Back to floats."""
    return np.asarray(array, dtype=object).astype(float)


class CountedRun(NamedTuple):
    """Result of a function, and its cost."""

    result: Any
    counts: Counts


def run(function: Callable[..., Any], *arrays: Any) -> CountedRun:
    """Call a function on arrays of counting numbers."""
    tally = Tally()
    result = function(*(variables(a, tally) for a in arrays))
    return CountedRun(result, tally.counts())


def count(function: Callable[..., Any], *arrays: Any) -> Counts:
    """The operations a function takes for variable entries of these arrays."""
    return run(function, *arrays).counts
