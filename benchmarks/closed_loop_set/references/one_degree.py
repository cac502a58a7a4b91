"""Motion of a conservative mechanism with one degree of freedom, by quadrature of its energy: dt = sqrt(M / (2 (E - V))) ds.

M(s) and V(s) belong to any coordinate s. Quadrature is Gauss and Legendre's with 48 nodes a piece; with 24 the result must be the same
to the digits that are claimed. At a position of rest the root has a zero, which the substitution takes away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath as mp
from mpmath.calculus.quadrature import GaussLegendre

Function = Callable[[Any], Any]
AGREED = 1e-19  # of times in s: quadratures of 24 and 48 nodes


@cache
def nodes(level: int, digits: int) -> tuple[tuple[Any, Any], ...]:
    """Return nodes and weights of a level (4: 24, 5: 48) on [-1, 1]."""
    with mp.workdps(digits + 5):
        return tuple(GaussLegendre(mp.mp).calc_nodes(level, mp.mp.prec))


def integral(f: Function, a: Any, b: Any, level: int = 5) -> Any:
    """Return the integral of a smooth function over one piece."""
    half, middle = (b - a) / 2, (a + b) / 2
    return half * mp.fsum(w * f(middle + half * x) for x, w in nodes(level, mp.mp.dps))


def reached(rate: Function, start: Any, piece: Any, time: Any, level: int = 5) -> Any:
    """Return x with the integral of rate = dt/dx from the start equal to the time; pieces of that width, x grows."""
    a, spent = mp.mpf(start), mp.mpf(0)
    while True:
        more = integral(rate, a, a + piece, level)
        if spent + more >= time:
            break
        a, spent = a + piece, spent + more
    x = a + piece * (time - spent) / more
    for _ in range(50):
        step = (time - spent - integral(rate, a, x, level)) / rate(x)
        x += step
        if abs(step) < mp.mpf(10) ** (4 - mp.mp.dps) * (1 + abs(x)):
            return x
    raise ArithmeticError("Newton's method does not converge")


def agreed(find: Callable[[int], Any], rate: Function) -> Any:
    """Return what the finer quadrature finds; the coarser one must find the same within AGREED seconds."""
    coarse, best = find(4), find(5)
    if not abs(coarse - best) * abs(rate(best)) < AGREED:
        raise ArithmeticError(f"quadratures differ by {mp.nstr((coarse - best) * rate(best), 3)} s")
    return best


class Conservative:
    """M(s), V(s) and the energy of the start."""

    def __init__(self, M: Function, V: Function, start: Any, speed: Any):
        self.M, self.V, self.start = M, V, mp.mpf(start)
        self.energy = M(self.start) * mp.mpf(speed) ** 2 / 2 + V(self.start)

    def speed(self, s: Any) -> Any:
        return mp.sqrt(2 * (self.energy - self.V(s)) / self.M(s))

    def acceleration(self, s: Any, speed: Any) -> Any:
        """Return s'' from derivatives of M and V, which are taken numerically at twice the digits."""
        with mp.workdps(2 * mp.mp.dps):
            slope, push = mp.diff(self.M, s), -mp.diff(self.V, s)
        return (push - slope * speed**2 / 2) / self.M(s)

    def turning(self, time: Any, piece: Any, turn: Any = None) -> Any:
        """Return s after a time for a motion that never rests and grows; `turn` after which everything repeats."""

        def rate(s: Any) -> Any:
            return 1 / self.speed(s)

        def find(level: int) -> Any:
            if turn is None:
                return reached(rate, self.start, piece, time, level)
            count = int(mp.nint(turn / piece))
            period = mp.fsum(
                integral(rate, self.start + k * turn / count, self.start + (k + 1) * turn / count, level) for k in range(count)
            )
            turns = mp.floor(time / period)
            return reached(rate, self.start, turn / count, time - turns * period, level) + turns * turn

        return agreed(find, rate)

    def from_rest(self, time: Any, piece: Any) -> Any:
        """Return s after a time for a motion that starts at rest and then grows: s = start + x^2."""

        def rate(x: Any) -> Any:
            return 2 * x / self.speed(self.start + x * x)

        x = agreed(lambda level: reached(rate, 0, piece, time, level), rate)
        return self.start + x * x

    def rest(self, side: int, step: Any) -> Any:
        """Return the next position of rest on a side of the start, where V is again the energy; searched in steps of that size."""
        s = self.start + side * step
        while self.V(s) < self.energy:
            s += side * step
            if abs(s - self.start) > 2 * mp.pi:
                raise ArithmeticError("the mechanism turns over: there is no position of rest")
        return mp.findroot(lambda x: self.V(x) - self.energy, (s - side * step, s), solver="anderson", tol=mp.mpf(10) ** -50)

    def _swing(self, other: Any) -> tuple[Any, Any, Function]:
        """Return middle and half of the way between two positions of rest, and dt/dx of s = middle - half cos(x)."""
        middle, half = (self.start + other) / 2, (other - self.start) / 2
        return middle, half, lambda x: abs(half) * mp.sin(x) / self.speed(middle - half * mp.cos(x))

    def swung(self, s: Any, other: Any, pieces: int) -> Any:
        """Return the time from rest at the start to the first passage of s, on the way to the other position of rest."""
        middle, half, rate = self._swing(other)
        x = mp.acos((middle - s) / half)
        return agreed(
            lambda level: mp.fsum(integral(rate, k * x / pieces, (k + 1) * x / pieces, level) for k in range(pieces)), lambda _: 1
        )

    def swinging(self, time: Any, other: Any, pieces: int) -> tuple[Any, Any]:
        """Return (s, sign of s') after a time between two positions of rest, the start and the other."""
        middle, half, rate = self._swing(other)

        def find(level: int) -> Any:
            way = mp.fsum(integral(rate, k * mp.pi / pieces, (k + 1) * mp.pi / pieces, level) for k in range(pieces))
            rest = time - 2 * way * mp.floor(time / (2 * way))
            return (
                reached(rate, 0, mp.pi / pieces, rest, level) if rest <= way else -reached(rate, 0, mp.pi / pieces, 2 * way - rest, level)
            )

        x = agreed(find, lambda x: rate(abs(x)))
        return middle - half * mp.cos(x), mp.sign(half) * (1 if x > 0 else -1)
