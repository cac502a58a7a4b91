"""Gauss collocation at any precision, for stiff equations: order 2 s with s stages, A-stable.

Stages are found by Newton's method with one Jacobian a step, taken by differences: it only decides how fast the iteration converges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp

Rates = Callable[[list[Any]], list[Any]]


class Collocation:
    """A method of `stages` stages for y' = f(y)."""

    def __init__(self, stages: int, f: Rates):
        self.s, self.f = stages, f
        legendre = mp.taylor(lambda x: mp.legendre(stages, 2 * x - 1), 0, stages)
        self.c = sorted(mp.re(x) for x in mp.polyroots(legendre[::-1], maxsteps=400, extraprec=400))
        powers = mp.matrix(stages, stages)
        for i in range(stages):
            for j in range(stages):
                powers[j, i] = self.c[i] ** j
        inverse = powers**-1
        self.A = [
            [mp.fsum(inverse[k, j] * self.c[i] ** (j + 1) / (j + 1) for j in range(stages)) for k in range(stages)] for i in range(stages)
        ]
        self.b = [mp.fsum(inverse[k, j] / (j + 1) for j in range(stages)) for k in range(stages)]

    def run(self, y: list[Any], end: Any, first: Any, growth: Any, largest: Any) -> list[Any]:
        """Return the state at the end, with steps that grow from the first by a factor to the largest."""
        t, h = mp.mpf(0), first
        while t < end:
            step = min(h, end - t)
            if end - t - step < largest / 100:
                step = end - t
            y = self.step(y, step)
            t += step
            h = min(h * growth, largest)
        return y

    def step(self, y: list[Any], h: Any) -> list[Any]:
        n, s = len(y), self.s
        J = self._jacobian(y)
        whole = mp.matrix(n * s, n * s)
        for i in range(s):
            for j in range(s):
                for a in range(n):
                    for b in range(n):
                        whole[n * i + a, n * j + b] = (1 if (i, a) == (j, b) else 0) - h * self.A[i][j] * J[a][b]
        factors = mp.mp.LU_decomp(whole)
        k = [self.f(y)] * s
        offset = [[mp.fsum(h * self.A[i][j] * k[j][a] for j in range(s)) for a in range(n)] for i in range(s)]
        for _ in range(60):
            k = [self.f([x + d for x, d in zip(y, z, strict=True)]) for z in offset]
            wrong = [offset[i][a] - h * mp.fsum(self.A[i][j] * k[j][a] for j in range(s)) for i in range(s) for a in range(n)]
            move = _solved(factors, [-x for x in wrong])
            offset = [[offset[i][a] + move[n * i + a] for a in range(n)] for i in range(s)]
            if max(abs(x) for x in move) < mp.mpf(10) ** (3 - mp.mp.dps):
                k = [self.f([x + d for x, d in zip(y, z, strict=True)]) for z in offset]
                return [y[a] + h * mp.fsum(self.b[i] * k[i][a] for i in range(s)) for a in range(n)]
        raise ArithmeticError(f"Newton's method does not converge in a step of {mp.nstr(h, 3)}")

    def _jacobian(self, y: list[Any]) -> list[list[Any]]:
        tiny = mp.mpf(10) ** (-mp.mp.dps // 2)
        columns = []
        base = self.f(y)
        for b in range(len(y)):
            moved = self.f([x + (tiny if a == b else 0) for a, x in enumerate(y)])
            columns.append([(x - z) / tiny for x, z in zip(moved, base, strict=True)])
        return [list(row) for row in zip(*columns, strict=True)]


def _solved(factors: Any, right: list[Any]) -> list[Any]:
    A, pivots = factors
    lower = mp.mp.L_solve(A, mp.matrix(right), pivots)
    return list(mp.mp.U_solve(A, lower))
