"""Dual arrays: values over (candidates, positions) with exact first derivatives by the dimensions of each candidate.

Forward differentiation with one array for each dimension that has an influence. Lengths and angles are real arrays, points and
directions are complex ones; all derivatives are by real numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray
Slopes = dict[int, Any]


@dataclass(frozen=True, eq=False)
class Dual:
    """A value (N, K) or (N, 1) and its derivatives, by the number of the dimension; dimensions without influence are left out."""

    value: Any
    slope: Mapping[int, Any] = field(default_factory=dict)

    __array_ufunc__ = None  # numpy leaves `array * dual` to this class

    def __add__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value + other, self.slope)
        slope: Slopes = dict(self.slope)
        for k, d in other.slope.items():
            slope[k] = slope[k] + d if k in slope else d
        return Dual(self.value + other.value, slope)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, {k: -d for k, d in self.slope.items()})

    def __sub__(self, other: Any) -> Dual:
        return self + (-other)

    def __rsub__(self, other: Any) -> Dual:
        return -self + other

    def __mul__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value * other, {k: d * other for k, d in self.slope.items()})
        slope: Slopes = {k: d * other.value for k, d in self.slope.items()}
        for k, d in other.slope.items():
            more = self.value * d
            slope[k] = slope[k] + more if k in slope else more
        return Dual(self.value * other.value, slope)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return self * (1.0 / other)
        return self * other.through(1.0 / other.value, -1.0 / other.value**2)

    def __rtruediv__(self, other: Any) -> Dual:
        return self.through(other / self.value, -other / self.value**2)

    def through(self, value: Any, derivative: Any) -> Dual:
        """Return f(self) from f and f' at the value, by the chain rule."""
        return Dual(value, {k: derivative * d for k, d in self.slope.items()})

    def each(self, linear: Callable[[Any], Any]) -> Dual:
        """Return a real-linear function of the value, applied to the derivatives too."""
        return Dual(linear(self.value), {k: linear(d) for k, d in self.slope.items()})

    def conjugate(self) -> Dual:
        return self.each(np.conj)

    @property
    def real(self) -> Dual:
        return self.each(np.real)

    @property
    def imag(self) -> Dual:
        return self.each(np.imag)

    def squared_size(self) -> Dual:
        """Return |z|^2."""
        z = np.conj(self.value)
        return Dual((z * self.value).real, {k: 2.0 * (z * d).real for k, d in self.slope.items()})

    def size(self) -> Dual:
        """Return |z|; the derivative of |0| is 0."""
        length = np.abs(self.value)
        unit = np.conj(self.value) / np.where(length > 0.0, length, 1.0)
        return Dual(length, {k: (unit * d).real for k, d in self.slope.items()})

    def turned(self) -> Dual:
        """Return exp(i angle)."""
        e = np.exp(1j * self.value)
        return self.through(e, 1j * e)

    def angle(self) -> Dual:
        """Return the argument of a complex value, between -pi and pi."""
        return Dual(np.angle(self.value), {k: (d / self.value).imag for k, d in self.slope.items()})

    def at(self, rows: Any, places: Any = slice(None)) -> Dual:
        """Return some candidates and positions; what is the same for all positions stays so."""

        def chosen(a: Any) -> Any:
            return a[rows] if a.shape[1] == 1 else a[rows][:, places]

        return Dual(chosen(self.value), {k: chosen(d) for k, d in self.slope.items()})

    def jacobian(self, count: int) -> Array:
        """Return the derivatives as (N, K, count), by the dimensions 0 .. count - 1."""
        out = np.zeros((*self.value.shape, count), dtype=self.value.dtype)
        for k, d in self.slope.items():
            if 0 <= k < count:
                out[..., k] = d
        return out


def constant(value: Any) -> Dual:
    """Return a dual array without derivatives; a list of N numbers is (N, 1)."""
    array = np.asarray(value)
    return Dual(array.reshape(-1, 1) if array.ndim <= 1 else array)


def dimensions(x: Array, *, slopes: bool = True) -> list[Dual]:
    """Return the columns of x (N, n) as dual arrays (N, 1), each with derivative 1 by itself; without `slopes` as constants."""
    one = np.ones((len(x), 1))
    return [Dual(x[:, k : k + 1], {k: one} if slopes else {}) for k in range(x.shape[1])]
