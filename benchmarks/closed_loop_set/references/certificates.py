"""Roots of polynomial systems refined in many digits and proven: Newton's method in mpmath, Krawczyk's test in interval arithmetic.

Krawczyk's operator K(X) = x - C F(x) + (1 - C F'(X)) (X - x), evaluated with outward rounding: if K(X) lies in the interior of the box X,
the box holds exactly one root of F [Moore, Kearfott, Cloud 2009, ch. 8]. Boxes that do not meet hold different roots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from mpmath import iv, lu_solve, matrix, mp, mpf

DIGITS = 40
# Unknowns and the reader of decimal numbers, which are exact as texts, to the residuals; of both only + - * are used.
System = Callable[[Sequence[Any], Callable[[str], Any]], list[Any]]


@dataclass(frozen=True)
class Jet:
    """A value and its derivatives by the unknowns, over any scalar that adds and multiplies."""

    value: Any
    slopes: tuple[Any, ...]

    def __add__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            return Jet(self.value + other.value, tuple(a + b for a, b in zip(self.slopes, other.slopes, strict=True)))
        return Jet(self.value + other, self.slopes)

    def __mul__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            return Jet(
                self.value * other.value, tuple(self.value * b + a * other.value for a, b in zip(self.slopes, other.slopes, strict=True))
            )
        return Jet(self.value * other, tuple(a * other for a in self.slopes))

    def __neg__(self) -> Jet:
        return Jet(-self.value, tuple(-a for a in self.slopes))

    def __sub__(self, other: Any) -> Jet:
        return self + (-other)

    def __rsub__(self, other: Any) -> Jet:
        return (-self) + other

    __radd__, __rmul__ = __add__, __mul__


def total(terms: Sequence[Any]) -> Any:
    """Return the sum of the terms; jets come first, because intervals do not add to them from the left."""
    first, *rest = sorted(terms, key=lambda term: not isinstance(term, Jet))
    return reduce(add, rest, first)


def evaluated(system: System, x: Sequence[Any], number: Callable[[Any], Any] = mpf) -> tuple[list[Any], list[list[Any]]]:
    """Return F(x) and its Jacobian matrix, over the numbers that `number` makes of texts."""
    n = len(x)
    out = system([Jet(value, tuple(number(int(i == k)) for k in range(n))) for i, value in enumerate(x)], number)
    return [y.value for y in out], [list(y.slopes) for y in out]


def refined(system: System, start: Sequence[Any], digits: int = DIGITS, steps: int = 60) -> list[Any]:
    """Return the root that Newton's method reaches from start, in `digits` digits; raise ArithmeticError if it does not converge."""
    mp.dps = digits
    x = [mpf(v) for v in start]
    for _ in range(steps):
        F, J = evaluated(system, x)
        step = lu_solve(matrix(J), matrix(F))
        x = [a - b for a, b in zip(x, step, strict=True)]
        if max(abs(s) for s in step) < mpf(10) ** (5 - digits) * (1 + max(abs(a) for a in x)):
            return x
    raise ArithmeticError("Newton's method does not converge from this start")


def certified(system: System, x: Sequence[Any], radius: Any, digits: int = DIGITS) -> bool:
    """True if the box of this radius around x holds exactly one root of the system, by Krawczyk's test."""
    mp.dps = digits
    iv.dps = digits
    n = len(x)
    interval: Any = iv.mpf
    middle = [interval(v) for v in x]
    spread = interval([-mpf(radius), mpf(radius)])
    _, J = evaluated(system, list(x))
    inverse = matrix(J) ** -1
    C = [[interval(inverse[i, k]) for k in range(n)] for i in range(n)]
    F, _ = evaluated(system, middle, interval)
    _, slopes = evaluated(system, [v + spread for v in middle], interval)
    for i in range(n):
        moved = -total([C[i][k] * F[k] for k in range(n)])
        for col in range(n):
            moved += (int(i == col) - total([C[i][k] * slopes[k][col] for k in range(n)])) * spread
        if not (moved.a > spread.a and moved.b < spread.b):
            return False
    return True


def separation(roots: Sequence[Sequence[Any]]) -> Any:
    """Return the smallest distance between two of the roots, the largest difference of their components."""
    return min(max(abs(a - b) for a, b in zip(x, y, strict=True)) for i, x in enumerate(roots) for y in roots[:i])
